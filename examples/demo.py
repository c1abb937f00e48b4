"""Who is speaking? Shapelets learnt from vowels, 30 % of whose values are missing: ``make demo``.

JapaneseVowels comes with the package aeon, nothing is downloaded: nine men say two vowels, and each
utterance is a series of 7 to 29 samples of 12 cepstral coefficients. Values are dropped at random,
in each channel at places of its own. A ShapeletClassifier with default settings learns from what is
left; then we draw some of its shapelets over the training series they have come to resemble.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from aeon.datasets import load_japanese_vowels

from genshapelets import RaggedSeries, ShapeletClassifier, explain_model
from genshapelets.explain import plot_shapelet

DROPPED = 0.3
COEFFICIENTS = [f"coefficient {c}" for c in range(1, 13)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path(), help="folder to write to")
    parser.add_argument("--epochs", type=int, help="train for fewer, for a quick look")
    arguments = parser.parse_args()
    begun = time.perf_counter()

    complete, speakers = load_japanese_vowels(split="train")
    complete_test, speakers_test = load_japanese_vowels(split="test")
    random = np.random.default_rng(0)
    dropped, dropped_test = (drop_values(x, random) for x in (complete, complete_test))

    accuracies = []
    for name, train, test in (
        ("complete data", complete, complete_test),
        (f"{percent(DROPPED)} of the values dropped", dropped, dropped_test),
    ):
        series = RaggedSeries.from_arrays(train, channel_names=COEFFICIENTS)
        print(f"{name}: {series}", flush=True)
        model = ShapeletClassifier(random_state=0, max_epochs=arguments.epochs, verbose=1)
        model.fit(series, speakers)
        accuracies.append((name, model.score(test, speakers_test)))

    print(f"\naccuracy on the {len(speakers_test)} test series, nine speakers")
    for name, accuracy in accuracies:
        print(f"  {name:30}{percent(accuracy, 1)}")

    picture, file, page = (
        arguments.output / f"demo.{suffix}" for suffix in ("png", "safetensors", "html")
    )
    draw(model, series, complete, speakers, picture)
    model.save(file)
    unseen = RaggedSeries.from_arrays(dropped_test, channel_names=COEFFICIENTS)
    model.report(page, unseen, speakers_test, title="Who is speaking?")
    print(f"\nWritten: {picture} (learnt shapelets over the training series they match best)")
    print(f"         {file} (the model; genshapelets info {file})")
    print(f"         {page} (what the model looks for, and why it says what it says)")
    print(f"Open the page in a browser: {page.resolve().as_uri()}")
    print(f"{time.perf_counter() - begun:.0f} seconds in all")


def percent(share: float, digits: int = 0) -> str:
    return f"{100 * share:.{digits}f} %"


def drop_values(arrays: list[np.ndarray], random: np.random.Generator) -> list[np.ndarray]:
    """Replace a part of the values of each channel by NaN."""
    return [np.where(random.random(x.shape) < DROPPED, np.nan, x) for x in arrays]


def draw(
    model: ShapeletClassifier,
    series: RaggedSeries,
    complete: list[np.ndarray],
    speakers: np.ndarray,
    output: Path,
) -> None:
    """Draw six shapelets over the training series that they match best.

    For each speaker the one that speaks loudest for him among those at home in his own series.
    """
    learnt = explain_model(model, series, speakers)
    # Negative: to be like this shapelet speaks for this speaker.
    weight = np.where(learnt.nearest_label == model.classes_[:, None], learnt.weight, np.inf)
    figure, axes = plt.subplots(2, 3, figsize=(11, 6.4), layout="constrained")
    for ax, speaker in zip(axes.flat, sorted(weight.min(axis=1).argsort()[:6]), strict=True):
        k = int(weight[speaker].argmin())
        n, channel = int(learnt.nearest[k]), int(learnt.matches.channels(k)[0])
        plot_shapelet(learnt, k, series=n, channel=channel, ax=ax)
        times, seen = series[n]
        lost = np.where(np.isnan(seen[channel]), complete[n][channel], np.nan)
        ax.plot(times, lost, "o", color="#767676", mfc="white", ms=4, label="dropped: never seen")
        ax.set_title(
            f"shapelet {k} speaks for speaker {model.classes_[speaker]}\n"
            f"{learnt.lengths[k]:.1f} samples long, over series {n}",
            fontsize="medium",
            loc="left",
        )
        ax.set_xlabel("time (samples)")
        ax.locator_params(axis="x", integer=True)
        ax.get_legend().remove()
    handles, names = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=len(names), frameon=False)
    figure.suptitle(
        f"Learnt shapelets where they match best. {percent(DROPPED)} of the values are missing; "
        "one of twelve channels shown"
    )
    figure.savefig(output, dpi=100)
    plt.close(figure)


if __name__ == "__main__":
    main()
