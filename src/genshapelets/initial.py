"""How shapelets start: as pieces of the training series."""

from __future__ import annotations

import numpy as np

from .paths import Array, Index, Paths

MOST_WINDOWS = 10_000  # that k-means looks at


def random_windows(
    paths: Paths, lengths: Array, n_knots: int, labels: Index | None, random: np.random.Generator
) -> Array:
    """Cut a window of each given length from a random path at a random place.

    Parameters
    ----------
    paths : Paths
    lengths : (shapelets,) array
    n_knots : int
    labels : (series,) int array, optional
        Classes take turns, so that a rare one gets its shapelets too.

    Returns
    -------
    (shapelets, channels, knots) array
    """
    groups = [np.arange(len(paths))] if labels is None else _groups(labels)
    chosen = np.empty(len(lengths), np.int64)
    for k in range(len(lengths)):
        chosen[k] = random.choice(groups[k % len(groups)])
    return _windows(paths, chosen, random.random(len(lengths)), lengths, n_knots)


def kmeans_windows(
    paths: Paths, n_shapelets: int, length: float, n_knots: int, random: np.random.Generator
) -> Array:
    """Centres of k-means over windows of one length, as the paper starts; (shapelets, channels, knots).

    Of windows that start at each observation, at most ten thousand, drawn at random.
    """
    from sklearn.cluster import KMeans  # slow to import, and the default procedure needs none

    room = np.maximum(paths.spans - length, 0.0)
    position = np.arange(len(paths.knots))
    series = np.searchsorted(paths.row_offsets, position, side="right") - 1
    fits = paths.knots <= room[series]
    position, series = position[fits], series[fits]
    if len(position) > MOST_WINDOWS:
        drawn = np.sort(random.choice(len(position), MOST_WINDOWS, replace=False))
        position, series = position[drawn], series[drawn]
    share = paths.knots[position] / np.where(room > 0, room, 1.0)[series]
    windows = _windows(paths, series, share, np.full(len(series), length), n_knots)
    flat = windows.reshape(len(windows), -1)
    n_different = len(np.unique(flat, axis=0))
    seed = int(random.integers(2**31))
    kmeans = KMeans(min(n_shapelets, n_different), n_init=1, random_state=seed).fit(flat)
    centres = kmeans.cluster_centers_[np.arange(n_shapelets) % len(kmeans.cluster_centers_)]
    return np.ascontiguousarray(centres.reshape(n_shapelets, *windows.shape[1:]))


def windows_at(paths: Paths, series: Index, start: Array, lengths: Array, n_knots: int) -> Array:
    """Windows of paths, each from a start in the path's own time; (windows, channels, knots)."""
    times = start[:, None] + lengths[:, None] * np.linspace(0.0, 1.0, n_knots)
    return paths[series].evaluate(times)


def _groups(labels: Index) -> list[Index]:
    return [np.flatnonzero(labels == label) for label in np.unique(labels)]


def _windows(paths: Paths, chosen: Index, share: Array, lengths: Array, n_knots: int) -> Array:
    """Values at evenly spaced knots; a window starts at a share of the room that its path leaves."""
    start = paths.origin[chosen] + share * np.maximum(paths.spans[chosen] - lengths, 0.0)
    return windows_at(paths, chosen, start, lengths, n_knots)
