"""Which of many features a linear model needs: backward elimination by ridge regression."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .paths import Array, Index

DROPPED = 0.15  # share of the features that goes at a time
RIDGE = 0.1  # penalty, relative to the number of series


def eliminate(
    features: Array,
    target: Array,
    n_kept: int,
    always: Sequence[int] = (),
    beside: Array | None = None,
) -> Index:
    """Fit, drop the features of the smallest weights, and fit again until few are left.

    Parameters
    ----------
    features : (series, features) array
    target : (series, outputs) array
        Numbers; classes as indicators.
    n_kept : int
    always : sequence of int
        Columns that are never dropped.
    beside : (series, others) array, optional
        Features that the linear model has anyway: those that only say the same are not needed.

    Returns
    -------
    (n_kept,) int array
        Columns of the features, in order.

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(size=(50, 10))
    >>> eliminate(x, x[:, [2]] - x[:, [7]], 2).tolist()
    [2, 7]
    """
    deviation = features.std(axis=0)
    x = (features - features.mean(axis=0)) / np.where(deviation > 1e-3, deviation, 1.0)
    y = target - target.mean(axis=0)
    kept = np.arange(x.shape[1])
    while len(kept) > n_kept:
        some = x[:, kept] if beside is None else np.concatenate([x[:, kept], beside], axis=1)
        size = np.linalg.norm(_ridge(some, y)[: len(kept)], axis=1)
        size[np.isin(kept, always)] = np.inf
        n_left = max(n_kept, int(len(kept) * (1 - DROPPED)))
        kept = kept[np.sort(np.argsort(-size, kind="stable")[:n_left])]
    return kept


def _ridge(x: Array, y: Array) -> Array:
    """Weights (features, outputs), by the smaller of two systems of equations."""
    n_series, n_features = x.shape
    penalty = RIDGE * n_series
    if n_features <= n_series:
        return np.linalg.solve(x.T @ x + penalty * np.eye(n_features), x.T @ y)
    return x.T @ np.linalg.solve(x @ x.T + penalty * np.eye(n_series), y)
