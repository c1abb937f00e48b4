"""Discrepancies by name: what each name stands for, given training series."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple, Protocol

import numpy as np
import torch

from .discrepancies import (
    ClassicalDiscrepancy,
    Discrepancy,
    DTWDiscrepancy,
    L2Discrepancy,
    LogSignatureDiscrepancy,
    MFCDiscrepancy,
    MixedDiscrepancy,
)
from .paths import Array, Paths

Metric = Literal["none", "diagonal", "full"]
TO_CHOOSE_FROM = 2  # times as many channels as a shapelet may see in the end are seen at first
SAMPLE_RATE = 16_000.0  # of sound whose times count samples


class Settings(Protocol):
    """What is decided about discrepancies that have a name: see `genshapelets.procedures.Procedure`."""

    @property
    def metric(self) -> Metric:
        """What they learn."""

    @property
    def shared_metric(self) -> bool:
        """One metric for all shapelets, or one for each."""

    @property
    def max_channels(self) -> int | None:
        """How many channels a shapelet sees at most, by L2 with a diagonal metric of its own."""

    @property
    def level_free(self) -> float:
        """Share of the shapelets that, by L2, ignore a window's level."""

    @property
    def scale_free(self) -> float:
        """Share of those that ignore its level and scale."""


Make = Callable[[Settings, Paths, int, np.random.Generator], Discrepancy]


class Kind(NamedTuple):
    """A discrepancy that has a name.

    Attributes
    ----------
    of : type
        Its class.
    make : function of (settings, training paths, number of shapelets, random)
    needs_samples : bool
        Whether shapelets need a knot for each sample, as those of sound do.
    """

    of: type[Discrepancy]
    make: Make
    needs_samples: bool = False


def make_discrepancy(
    names: str | dict[str, float],
    settings: Settings,
    paths: Paths,
    n_shapelets: int,
    random: np.random.Generator,
) -> Discrepancy:
    """What a name stands for, or several names with their shares of the shapelets."""
    if isinstance(names, str):
        return DISCREPANCIES[names].make(settings, paths, n_shapelets, random)
    counts = _counts(list(names.values()), n_shapelets)
    parts = [
        DISCREPANCIES[name].make(settings, paths, count, random)
        for name, count in zip(names, counts, strict=True)
    ]
    return MixedDiscrepancy(parts, counts)


def kinds_of(discrepancy: str | dict[str, float] | Discrepancy) -> list[Kind]:
    """The kinds that names stand for; of a discrepancy, its class."""
    if isinstance(discrepancy, Discrepancy):
        kind = type(discrepancy)
        return [Kind(kind, lambda *_: discrepancy, kind is MFCDiscrepancy)]
    return [
        DISCREPANCIES[n] for n in ([discrepancy] if isinstance(discrepancy, str) else discrepancy)
    ]


def _counts(shares: list[float], n_shapelets: int) -> list[int]:
    """Share out shapelets, at least one to each share."""
    if n_shapelets < len(shares):
        raise ValueError(
            f"{n_shapelets} shapelets cannot be shared by {len(shares)} discrepancies. Raise "
            "n_shapelets."
        )
    ends = np.round(np.cumsum(shares) / np.sum(shares) * n_shapelets).astype(int)
    counts = np.maximum(np.diff(ends, prepend=0), 1)
    while counts.sum() > n_shapelets:
        counts[counts.argmax()] -= 1
    return counts.tolist()


def _n_metrics(settings: Settings, n_shapelets: int) -> int | None:
    """How many metrics shapelets have: one each, or None: they share one, or learn none."""
    return None if settings.shared_metric or settings.metric == "none" else n_shapelets


def _l2(
    settings: Settings, paths: Paths, n_shapelets: int, random: np.random.Generator
) -> Discrepancy:
    place = random.permutation(n_shapelets)
    level_free = place < round(settings.level_free * n_shapelets)
    scale_free = place >= n_shapelets - round(settings.scale_free * n_shapelets)
    n_metrics = _n_metrics(settings, n_shapelets)
    measure = L2Discrepancy(
        paths.n_channels, settings.metric, n_shapelets=n_metrics,
        level_free=level_free.tolist(), scale_free=scale_free.tolist(),
    )  # fmt: skip
    most = settings.max_channels
    if measure.weight is not None and n_metrics and most and settings.metric == "diagonal":
        weight = _few_channels(n_shapelets, paths, TO_CHOOSE_FROM * most, random)
        with torch.no_grad():
            measure.weight.copy_(torch.from_numpy(weight.astype(np.float32)))
    return measure


def _few_channels(n_shapelets: int, paths: Paths, most: int, random: np.random.Generator) -> Array:
    """First scales of the channels: one for a random few of them, at most so many, 0 for the others.

    From 0 no gradient leads away: these are the channels among which a shapelet can choose. One that
    never varies is none of them.
    """
    weight = np.zeros((n_shapelets, paths.n_channels))
    varying = np.flatnonzero(np.ptp(paths.values, axis=0) > 0)
    if not len(varying):
        varying = np.arange(paths.n_channels)
    for own in weight:
        few = random.integers(1, min(most, len(varying)) + 1)
        own[random.choice(varying, few, replace=False)] = 1.0
    return weight


def _classical(*_: object) -> Discrepancy:
    return ClassicalDiscrepancy()


def _logsignature(settings: Settings, paths: Paths, n_shapelets: int, _: object) -> Discrepancy:
    n_metrics = _n_metrics(settings, n_shapelets)
    return LogSignatureDiscrepancy(paths.n_channels, metric=settings.metric, n_shapelets=n_metrics)


def _dtw(settings: Settings, paths: Paths, n_shapelets: int, _: object) -> Discrepancy:
    n_metrics = _n_metrics(settings, n_shapelets)
    return DTWDiscrepancy(paths.n_channels, settings.metric, n_shapelets=n_metrics)


def _mfc(settings: Settings, paths: Paths, n_shapelets: int, _: object) -> Discrepancy:
    step = float(paths.step[0])
    if not step or (paths.step != step).any():
        raise ValueError(
            'discrepancy="mfc" is for sound: series sampled regularly, all at one rate. Resample them.'
        )
    return MFCDiscrepancy(
        1.0 / step if step < 0.5 else SAMPLE_RATE, settings.metric, step=step,
        n_channels=paths.n_channels, n_shapelets=_n_metrics(settings, n_shapelets),
    )  # fmt: skip


DISCREPANCIES = {
    "l2": Kind(L2Discrepancy, _l2),
    "logsignature": Kind(LogSignatureDiscrepancy, _logsignature),
    "dtw": Kind(DTWDiscrepancy, _dtw),
    "mfc": Kind(MFCDiscrepancy, _mfc, needs_samples=True),
    "classical": Kind(ClassicalDiscrepancy, _classical),
}
