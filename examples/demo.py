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
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from genshapelets import RaggedSeries, ShapeletClassifier

DROPPED = 0.3

# Okabe and Ito's colours, which everybody can tell apart: blue, vermilion, green.
COLOURS = ("#0072B2", "#D55E00", "#009E73")
YELLOW = "#F0E442"


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
        series = RaggedSeries.from_arrays(train)
        print(f"{name}: {series}", flush=True)
        model = ShapeletClassifier(random_state=0, max_epochs=arguments.epochs, verbose=1)
        model.fit(series, speakers)
        accuracies.append((name, model.score(test, speakers_test)))

    print(f"\naccuracy on the {len(speakers_test)} test series, nine speakers")
    for name, accuracy in accuracies:
        print(f"  {name:30}{percent(accuracy, 1)}")

    picture, file = arguments.output / "demo.png", arguments.output / "demo.safetensors"
    draw(model, dropped, complete, speakers, picture)
    model.save(file)
    print(f"\nWritten: {picture} (learnt shapelets over the training series they match best)")
    print(f"         {file} (the model; genshapelets info {file})")
    print(f"{time.perf_counter() - begun:.0f} seconds in all")


def percent(share: float, digits: int = 0) -> str:
    return f"{100 * share:.{digits}f} %"


def drop_values(arrays: list[np.ndarray], random: np.random.Generator) -> list[np.ndarray]:
    """Replace a part of the values of each channel by NaN."""
    return [np.where(random.random(x.shape) < DROPPED, np.nan, x) for x in arrays]


# Picture


def draw(
    model: ShapeletClassifier,
    seen_values: list[np.ndarray],
    true_values: list[np.ndarray],
    speakers: np.ndarray,
    output: Path,
) -> None:
    """Draw six shapelets over the training series that they match best.

    For each speaker the one that speaks loudest for him among those at home in his own series.
    """
    network = model.model_
    series = RaggedSeries.from_arrays(seen_values)
    paths = network.paths(series)
    matches = network.transform(paths)
    shapelets = network.transform.shapelets
    values, lengths = shapelets.values.numpy(), shapelets.lengths.numpy()
    metric = network.transform.discrepancy.weight.abs().numpy()
    level_free = network.transform.discrepancy.level_free.numpy()
    head = network.linear()[0].numpy()  # negative: likeness speaks for this speaker
    centre, scale = network.centre.numpy()[:, None], network.scale.numpy()[:, None]
    closest = matches.discrepancy.argmin(dim=0).numpy()  # the series each shapelet matches best
    weight = np.where(speakers[closest] == model.classes_[:, None], head, np.inf)
    chosen = sorted(np.argsort(weight.min(axis=1))[:6])

    plt.rcParams.update({"font.size": 10, "axes.spines.top": False, "axes.spines.right": False})
    figure, axes = plt.subplots(2, 3, figsize=(11, 6.6), sharey=True, layout="constrained")
    for axis, speaker in zip(axes.flat, chosen, strict=True):
        k = weight[speaker].argmin()
        n = closest[k]
        start, length = float(matches.start[n, k]), float(lengths[k])
        times = series[n].times
        seen, truth = ((x[n] - centre) / scale for x in (seen_values, true_values))
        lost = np.where(np.isnan(seen), truth, np.nan)
        knots = np.linspace(start, start + length, values.shape[2])
        drawn = values[k]
        if level_free[k]:  # it asks for the shape alone: draw it at the window's level
            window = paths[[n]].evaluate(knots)[0]
            drawn = drawn + (window - drawn).mean(axis=1, keepdims=True)
        axis.axvspan(start, start + length, color=YELLOW, alpha=0.25, lw=0)
        # The channels that say most: heavy in the metric, and not flat within the shapelet.
        channels = np.argsort(-metric[k] * np.ptp(values[k], axis=1))[:3]
        ends = {}
        for channel, colour, marker in zip(sorted(channels), COLOURS, "osD", strict=True):
            path = paths[[n]].evaluate(times)[0, channel]
            axis.plot(times, path, color=colour, lw=1, alpha=0.6)
            axis.plot(times, seen[channel], marker, color=colour, ms=4)
            axis.plot(times, lost[channel], marker, color=colour, ms=4, mfc="white", alpha=0.6)
            axis.plot(knots, drawn[channel], color=colour, lw=3.5, alpha=0.85)
            ends[f"c{channel + 1}"] = path[-1], colour
        for (name, (_, colour)), height in zip(ends.items(), spread(ends), strict=True):
            place = (times[-1] + 0.4, height)
            axis.annotate(name, place, color=colour, va="center", fontweight="bold")
        axis.set_title(
            f"shapelet {k} speaks for speaker {model.classes_[speaker]}\n"
            f"{float(lengths[k]):.1f} samples long, over training series {n}",
            fontsize=10,
            loc="left",
        )
        axis.set_xlim(-0.7, times[-1] + 2.4)
        axis.xaxis.set_major_locator(MaxNLocator(integer=True))
    for axis in axes[-1]:
        axis.set_xlabel("time (samples)")
    for axis in axes[:, 0]:
        axis.set_ylabel("coefficient c (standard deviations)")
    figure.suptitle(
        f"Learnt shapelets where they match best. {percent(DROPPED)} of the values are missing; "
        "three of twelve channels shown",
        fontsize=12,
    )
    line = {"color": "#444444", "lw": 1}
    legend = [
        Line2D([], [], color="#444444", lw=3.5, label="shapelet"),
        Line2D([], [], marker="o", ms=4, **line, label="observed, and the path through it"),
        Line2D(
            [],
            [],
            marker="o",
            ms=4,
            color="#444444",
            ls="",
            mfc="white",
            label="dropped: never seen",
        ),
        Patch(color=YELLOW, alpha=0.25, lw=0, label="best window"),
    ]
    figure.legend(handles=legend, loc="outside lower center", ncols=4, frameon=False)
    figure.savefig(output, dpi=100)
    plt.close(figure)


def spread(ends: dict[str, tuple[float, str]], gap: float = 0.32) -> np.ndarray:
    """Heights for labels beside the ends of lines, moved apart where they would overlap."""
    heights = np.array([height for height, _ in ends.values()])
    order = np.argsort(heights)
    apart = np.maximum.accumulate(heights[order] - gap * np.arange(len(order)))
    heights[order] = apart + gap * np.arange(len(order))
    return heights


if __name__ == "__main__":
    main()
