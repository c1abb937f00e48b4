"""The obvious search: lay the shapelet at every offset and integrate over the union of knots.

Slow, in float64, and written to be read. It judges everything else.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from genshapelets.paths import Array, Paths


def l2_distance(
    knots: Array,
    path: Array,
    s: float,
    shapelet: Array,
    length: float,
    metric: Array,
    level_free: bool = False,
    scale_free: bool = False,
) -> float:
    """L2 discrepancy of path (channels, rows) on [s, s + length] from shapelet (channels, knots).

    ``metric`` is the matrix A.
    """
    own = np.linspace(0.0, length, shapelet.shape[1])
    inside = knots[(knots > s) & (knots < s + length)] - s
    nodes = np.union1d(own, inside)
    f = np.stack([np.interp(nodes, knots - s, channel) for channel in path])
    w = np.stack([np.interp(nodes, own, channel) for channel in shapelet])
    width = np.diff(nodes)

    def centred(g: Array) -> Array:
        return g - (width * (g[:, 1:] + g[:, :-1]) / 2).sum(axis=1, keepdims=True) / length

    def norm(g: Array) -> float:
        mapped = metric @ g
        p, q = mapped[:, :-1], mapped[:, 1:]
        return float(np.sqrt((width * (p * p + p * q + q * q)).sum() / 3))

    def unit(g: Array) -> Array:
        size = norm(centred(g)) / np.sqrt(length)
        is_flat = size <= 1e-11 * norm(g - centred(g)) / np.sqrt(length)
        return 0.0 * g if is_flat else centred(g) / size

    if scale_free:
        return norm(unit(f) - unit(w))
    return norm(centred(f - w) if level_free else f - w)


def grid(paths: Paths, i: int, length: float) -> Array:
    """Offsets that a grid search tries on path i."""
    n_rows, span, step = paths.lengths[i], paths.spans[i], paths.step[i]
    if span <= length:
        return np.zeros(1)
    if step > 0:
        samples = step * np.arange(n_rows)
        return np.append(samples[samples < span - length], span - length)
    return np.linspace(0.0, span - length, n_rows)


def search_reference(
    paths: Paths,
    values: Array,
    lengths: Array,
    metrics: Array,
    level_free: NDArray[np.bool_],
    scale_free: NDArray[np.bool_],
    offsets: Callable[[Paths, int, float], Array] = grid,
) -> tuple[Array, Array]:
    """Smallest discrepancy and its offset, each (series, shapelets).

    Parameters
    ----------
    paths : Paths
    values : (shapelets, channels, knots) array
    lengths : (shapelets,) array
    metrics : (shapelets, channels, channels) array
    level_free, scale_free : (shapelets,) arrays
    offsets : function
        Gives the offsets to try for path i and a length.
    """
    shape = (len(paths), len(values))
    flags = np.stack([level_free, scale_free], axis=1).tolist()
    discrepancy, start = np.empty(shape), np.empty(shape)
    for i in range(len(paths)):
        rows = slice(paths.row_offsets[i], paths.row_offsets[i + 1])
        knots, path = paths.knots[rows], paths.values[rows].T
        for k, length in enumerate(lengths):
            tried = offsets(paths, i, length)
            found = [
                l2_distance(knots, path, s, values[k], length, metrics[k], *flags[k]) for s in tried
            ]
            best = int(np.argmin(found))
            discrepancy[i, k], start[i, k] = found[best], tried[best]
    return discrepancy, start
