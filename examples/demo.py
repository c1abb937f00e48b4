"""Who is speaking? Shapelets learnt from vowels, 30 % of whose values are missing: ``make demo``.

JapaneseVowels comes with the package aeon, nothing is downloaded: nine men say two vowels, and each
utterance is a series of 7 to 29 samples of 12 cepstral coefficients. Values are dropped at random,
in each channel at places of its own. We learn shapelets, their lengths, a weight for each channel
and a linear head, then draw some shapelets over the training series they have come to resemble.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import torch
from aeon.datasets import load_japanese_vowels
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator
from torch import nn

from genshapelets import (
    GeneralisedShapeletTransform,
    L2Discrepancy,
    Paths,
    RaggedSeries,
    interpolate,
    interpretable_regularisation,
)

Split = tuple[list[np.ndarray], np.ndarray]  # series (channels, times), labels

N_SHAPELETS, N_KNOTS = 60, 12
N_STEPS = 120
DROPPED = 0.3

# Okabe and Ito's colours, which everybody can tell apart: blue, vermilion, green.
COLOURS = ("#0072B2", "#D55E00", "#009E73")
YELLOW = "#F0E442"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("demo.png"), help="where to draw")
    output = parser.parse_args().output
    begun = time.perf_counter()

    complete = [load_japanese_vowels(split=split) for split in ("train", "test")]
    random = np.random.default_rng(0)
    dropped = [(drop_values(x, random), y) for x, y in complete]

    print("complete data")
    on_complete = train_and_test(*complete)
    print(f"\n{percent(DROPPED)} of the values dropped")
    on_dropped = train_and_test(*dropped)

    print(f"\naccuracy on the {len(complete[1][1])} test series, nine speakers")
    print(f"  complete data               {percent(on_complete.accuracy, 1)}")
    print(f"  {percent(DROPPED)} of the values dropped  {percent(on_dropped.accuracy, 1)}")

    draw(on_dropped, *complete[0], output)
    print(f"\nWritten: {output} (learnt shapelets over the training series they match best)")
    print(f"{time.perf_counter() - begun:.0f} seconds in all")


def percent(share: float, digits: int = 0) -> str:
    return f"{100 * share:.{digits}f} %"


def drop_values(arrays: list[np.ndarray], random: np.random.Generator) -> list[np.ndarray]:
    """Replace a part of the values of each channel by NaN."""
    return [np.where(random.random(x.shape) < DROPPED, np.nan, x) for x in arrays]


# Data


class Standardised:
    """Series with channels of mean 0 and variance 1, judged by the observed training values."""

    def __init__(self, arrays: list[np.ndarray]) -> None:
        observed = RaggedSeries.from_arrays(arrays).values
        self.mean, self.scale = np.nanmean(observed, axis=0), np.nanstd(observed, axis=0)

    def __call__(self, arrays: list[np.ndarray]) -> list[np.ndarray]:
        return [(x - self.mean[:, None]) / self.scale[:, None] for x in arrays]


def random_windows(paths: Paths, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Shapelets to start from: windows of the training paths, values and lengths."""
    chosen = random.integers(len(paths), size=N_SHAPELETS)
    lengths = paths.spans[chosen] * random.uniform(0.3, 0.8, N_SHAPELETS)
    starts = random.uniform(0.0, paths.spans[chosen] - lengths)
    times = (paths.origin[chosen] + starts)[:, None] + np.linspace(0.0, lengths, N_KNOTS).T
    return paths[chosen].evaluate(times), lengths


# Model


class ShapeletClassifier(nn.Module):
    """A linear head on the logarithms of the discrepancies."""

    def __init__(self, transform: GeneralisedShapeletTransform, n_classes: int) -> None:
        super().__init__()
        self.transform = transform
        self.scale = nn.BatchNorm1d(transform.shapelets.n_shapelets, affine=False)
        self.head = nn.Linear(transform.shapelets.n_shapelets, n_classes)

    def forward(self, paths: Paths) -> tuple[torch.Tensor, torch.Tensor]:
        discrepancy = self.transform(paths).discrepancy
        features = self.scale(torch.log(discrepancy + 1e-5))
        return self.head(nn.functional.dropout(features, 0.3, self.training)), discrepancy


@dataclass(frozen=True)
class Trained:
    model: ShapeletClassifier
    standardise: Standardised
    series: RaggedSeries
    paths: Paths
    classes: np.ndarray
    accuracy: float


def train_and_test(train: Split, test: Split) -> Trained:
    """Learn from the training part, score on the test part, which decides nothing."""
    torch.manual_seed(0)
    standardise = Standardised(train[0])
    series = RaggedSeries.from_arrays(standardise(train[0]))
    paths = interpolate(series)
    print(series)

    classes, target = np.unique(train[1], return_inverse=True)
    values, lengths = random_windows(paths, np.random.default_rng(0))
    transform = GeneralisedShapeletTransform.from_shapelets(
        values.astype(np.float32),
        lengths,
        discrepancy=L2Discrepancy(series.n_channels),
        max_length=paths.spans.max(),
    )
    model = ShapeletClassifier(transform, len(classes))
    fit(model, paths, torch.from_numpy(target))

    learnt = transform.shapelets.lengths.detach().numpy()
    change = np.abs(learnt / lengths - 1.0)
    print(
        f"  lengths went from {lengths.min():.1f} .. {lengths.max():.1f} samples to "
        f"{learnt.min():.1f} .. {learnt.max():.1f}; each moved by {percent(np.median(change))} "
        f"in the median, {percent(change.max())} at most"
    )
    model.eval()
    with torch.no_grad():
        scores, _ = model(interpolate(RaggedSeries.from_arrays(standardise(test[0]))))
    accuracy = float((classes[scores.argmax(dim=1)] == test[1]).mean())
    return Trained(model, standardise, series, paths, classes, accuracy)


def fit(model: ShapeletClassifier, paths: Paths, target: torch.Tensor) -> None:
    """Train on all series at once. The settings were chosen on folds of the training part."""
    shapelets = model.transform.shapelets
    optimiser = torch.optim.Adam(
        [
            {"params": shapelets.values, "lr": 0.005},
            {"params": shapelets.raw_lengths, "lr": 0.02},
            {"params": model.transform.discrepancy.parameters(), "lr": 0.005},
            {"params": model.head.parameters(), "lr": 0.03, "weight_decay": 1e-3},
        ]
    )
    for step in range(N_STEPS):
        scores, discrepancy = model(paths)
        loss = nn.functional.cross_entropy(scores, target, label_smoothing=0.1)
        close = interpretable_regularisation(discrepancy, gamma=1e-3)
        optimiser.zero_grad()
        (loss + close).backward()
        optimiser.step()
        if step % 30 == 0 or step == N_STEPS - 1:
            right = (scores.argmax(dim=1) == target).float().mean()
            terms = f"loss {loss:.3f}  regularisation {close:.3f}"
            print(f"  step {step:3}  {terms}  train {percent(right, 1)}")


# Picture


def draw(trained: Trained, complete: list[np.ndarray], speakers: np.ndarray, output: Path) -> None:
    """Draw six shapelets over the training series that they match best.

    For each speaker the one that speaks loudest for him among those at home in his own series.
    """
    transform, paths = trained.model.transform, trained.paths
    with torch.no_grad():
        matches = transform(paths)
        values, lengths = transform.shapelets.values.numpy(), transform.shapelets.lengths.numpy()
        metric = transform.discrepancy.weight[0].abs().numpy()
        head = trained.model.head.weight.numpy()  # negative: likeness speaks for this speaker
    truth = trained.standardise(complete)
    closest = matches.discrepancy.argmin(dim=0).numpy()  # the series each shapelet matches best
    weight = np.where(speakers[closest] == trained.classes[:, None], head, np.inf)
    chosen = sorted(np.argsort(weight.min(axis=1))[:6])

    plt.rcParams.update({"font.size": 10, "axes.spines.top": False, "axes.spines.right": False})
    figure, axes = plt.subplots(2, 3, figsize=(11, 6.6), sharey=True, layout="constrained")
    for axis, speaker in zip(axes.flat, chosen, strict=True):
        k = weight[speaker].argmin()
        n = closest[k]
        start, length = float(matches.start[n, k]), float(lengths[k])
        seen = trained.series[n]
        lost = np.where(np.isnan(seen.values), truth[n], np.nan)
        axis.axvspan(start, start + length, color=YELLOW, alpha=0.25, lw=0)
        # The channels that say most: heavy in the metric, and not flat within the shapelet.
        channels = np.argsort(-metric * np.ptp(values[k], axis=1))[:3]
        ends = {}
        for channel, colour, marker in zip(sorted(channels), COLOURS, "osD", strict=True):
            path = paths.evaluate(seen.times)[n, channel]
            axis.plot(seen.times, path, color=colour, lw=1, alpha=0.6)
            axis.plot(seen.times, seen.values[channel], marker, color=colour, ms=4)
            axis.plot(seen.times, lost[channel], marker, color=colour, ms=4, mfc="white", alpha=0.6)
            knots = np.linspace(start, start + length, values.shape[2])
            axis.plot(knots, values[k, channel], color=colour, lw=3.5, alpha=0.85)
            ends[f"c{channel + 1}"] = path[-1], colour
        for (name, (_, colour)), height in zip(ends.items(), spread(ends), strict=True):
            place = (seen.times[-1] + 0.4, height)
            axis.annotate(name, place, color=colour, va="center", fontweight="bold")
        axis.set_title(
            f"shapelet {k} speaks for speaker {trained.classes[speaker]}\n"
            f"{float(lengths[k]):.1f} samples long, over training series {n}",
            fontsize=10,
            loc="left",
        )
        axis.set_xlim(-0.7, seen.times[-1] + 2.4)
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
