"""How good the predictions are."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...paths import Array, Index
from .numbers import short

MANY_CLASSES = 20  # more make no readable matrix: the commonest mistakes are listed instead


def class_scores(true: Index, predicted: Index, n_classes: int) -> dict[str, Any]:
    """Accuracy, its 95 % interval (Wilson's), and which class is taken for which.

    Parameters
    ----------
    true, predicted : (series,) arrays
        Codes of the classes.
    n_classes : int
    """
    pairs, counts = np.unique(true * n_classes + predicted, return_counts=True)
    row, column = pairs // n_classes, pairs % n_classes
    right = np.bincount(row[row == column], counts[row == column], n_classes)
    there = np.bincount(true, minlength=n_classes)
    said = np.bincount(predicted, minlength=n_classes)
    present = there > 0
    recall = right / np.maximum(there, 1)
    order = np.flatnonzero(present | (said > 0))
    if len(order) > MANY_CLASSES:
        order = np.flatnonzero(present)
        order = order[np.argsort(recall[order], kind="stable")][:MANY_CLASSES]
    scores = {
        "accuracy": short(right.sum() / len(true), 9),
        "interval": short(interval(right.sum(), len(true))),
        "guess": short(there.max() / len(true)),
        "balanced": short(recall[present].mean(), 9),
        "classes": [
            [int(c), int(there[c]), int(said[c]), int(right[c])] for c in order
        ],  # how often it was there, was said, and both
        "cut": bool(present.sum() > MANY_CLASSES),
    }
    if n_classes <= MANY_CLASSES:
        matrix = np.zeros((n_classes, n_classes), np.int64)
        matrix[row, column] = counts
        scores["matrix"] = matrix.tolist()
    else:
        wrong = np.flatnonzero(row != column)
        worst = wrong[np.argsort(-counts[wrong], kind="stable")][:MANY_CLASSES]
        scores["pairs"] = np.stack([row, column, counts], axis=1)[worst].tolist()
    return scores


def number_scores(true: Array, predicted: Array) -> dict[str, Any]:
    """Errors, against those of always saying the mean; no R² where all numbers are the same."""
    same = np.ptp(true) == 0
    size = max(float(np.abs([true, predicted]).max()), 1e-300)  # squares of large numbers overflow
    true, predicted = true / size, predicted / size
    error = predicted - true
    spread = true - true.mean()
    known = np.square(spread).sum()
    return {
        "r2": None if same else short(1.0 - np.square(error).sum() / known),
        "error": short(size * np.abs(error).mean()),
        "rmse": short(size * np.sqrt(np.square(error).mean())),
        "guess": 0 if same else short(size * np.abs(spread).mean()),
    }


def interval(right: float, count: int) -> NDArray[Any]:
    """Wilson's 95 % interval of a share."""
    z = 1.96
    share, widening = right / count, z * z / count
    middle = (share + widening / 2) / (1 + widening)
    reach = z * np.sqrt(share * (1 - share) / count + widening / count / 4) / (1 + widening)
    return np.clip([middle - reach, middle + reach], 0.0, 1.0)
