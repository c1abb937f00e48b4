"""Two classes: what a threshold of the probability gives, and whether probabilities are frequencies."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...paths import Array, Index
from .numbers import short
from .scores import interval

MOST = 300  # thresholds, of as many as there are different probabilities
BINS, FEWEST = 10, 15  # of a calibration curve, and the series in each


def two_class_scores(true: Index, probabilities: Array) -> dict[str, Any]:
    """Curves and areas, with either class as the one that is looked for.

    Parameters
    ----------
    true : (series,) array
        0 or 1.
    probabilities : (series, 2) array
    """
    sides = [_side(true == c, probabilities[:, c]) for c in (0, 1)]
    return {
        "sides": sides,
        "sought": int(2 * true.sum() < len(true)),  # the rarer one
        "brier": short(np.square(probabilities[:, 1] - true).mean()),
        "calibration": _calibration(true, probabilities[:, 1]),
    }


def _side(there: NDArray[np.bool_], probability: Array) -> dict[str, Any]:
    """Series of a class, and others, whose probability of it reaches each threshold."""
    thresholds = np.unique(np.append(probability, 0.5))
    found, mistaken = (
        len(group) - np.searchsorted(np.sort(group), thresholds)
        for group in (probability[there], probability[~there])
    )
    kept = np.linspace(0, len(thresholds) - 1, MOST).round().astype(int)
    kept = np.unique(np.append(kept, np.searchsorted(thresholds, 0.5)))
    return {
        "thresholds": short(thresholds[kept], 6),
        "found": found[kept].tolist(),
        "mistaken": mistaken[kept].tolist(),
        "there": int(there.sum()),
        "others": int((~there).sum()),
        "auroc": short(_auroc(found, mistaken)),
        "auprc": short(_auprc(found, mistaken)),
    }


def _auroc(found: Index, mistaken: Index) -> float:
    """Share of the pairs of a series of the class and another in which the former is ranked first."""
    up, across = (np.append(counts, 0) for counts in (found, mistaken))
    if not up[0] or not across[0]:
        return np.nan
    return float(-np.trapezoid(up, across) / (up[0] * across[0]))


def _auprc(found: Index, mistaken: Index) -> float:
    """Average precision: that at each threshold, weighted by what is found in addition there."""
    more = found - np.append(found[1:], 0)
    if not found[0]:
        return np.nan
    return float((more * found / np.maximum(found + mistaken, 1)).sum() / found[0])


def _calibration(true: Index, probability: Array) -> list[list[float]]:
    """Mean probability, share that is of the class with its 95 % interval, and number of series."""
    order = np.argsort(probability, kind="stable")
    bins = np.array_split(order, int(np.clip(len(order) // FEWEST, 1, BINS)))
    return [
        [
            short(probability[own].mean(), 4),
            short(true[own].mean(), 4),
            *short(interval(true[own].sum(), len(own)), 4),
            len(own),
        ]
        for own in bins
    ]
