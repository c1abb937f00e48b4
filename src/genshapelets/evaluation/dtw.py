"""Dynamic time warping at given offsets: a kernel finds the best warping path, autograd the rest.

By the envelope theorem the gradient of the least sum is that of the sum along the best path, held fixed.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from ..discrepancies import Discrepancy, DTWDiscrepancy, safe_sqrt
from ..kernels import kernel, run
from ..offsets import Offsets
from ..paths import Paths
from ..windows import PaddedPaths, sample_paths
from .generic import checked, evaluate_generic

NONE = -1


def evaluate_dtw(
    discrepancy: Discrepancy, paths: Paths, values: Tensor, lengths: Tensor, offsets: Offsets
) -> Tensor:
    """Discrepancies (series, shapelets, candidates): see `genshapelets.evaluation.evaluate`."""
    assert isinstance(discrepancy, DTWDiscrepancy)
    n_nodes = 4 * discrepancy.n_points  # pairs of points along a path, two numbers each
    return evaluate_generic(discrepancy, paths, values, lengths, offsets, along_best_paths, n_nodes)


def along_best_paths(
    discrepancy: Discrepancy, paths: PaddedPaths, start: Tensor, values: Tensor, lengths: Tensor
) -> Tensor:
    """Discrepancies (series, offsets, shapelets) at starts of that shape."""
    assert isinstance(discrepancy, DTWDiscrepancy)
    n_points = discrepancy.n_points
    share = torch.linspace(0, 1, n_points, dtype=start.dtype)
    f = sample_paths(paths, start[..., None] + share * lengths[:, None])
    w = sample_shapelets(values, n_points)
    i, j = _best_paths(discrepancy, f, w)

    def at(points: Tensor, index: Tensor) -> Tensor:
        row = index.clamp(min=0)[..., None].expand(*index.shape, points.shape[-1])
        return points.expand(*start.shape, -1, -1).gather(-2, row)

    squares = discrepancy.mapped(at(f, i) - at(w, j)).square().sum(dim=-1)
    least = torch.where(i == NONE, 0.0, squares).sum(dim=-1)
    found = safe_sqrt(lengths / n_points * least)
    if found.isnan().any():  # says what is wrong
        return checked(discrepancy, paths, start, values, lengths)
    return found


def sample_shapelets(values: Tensor, n_points: int) -> Tensor:
    """Shapelets (shapelets, channels, knots) at evenly spaced points, (shapelets, points, channels)."""
    n_pieces = values.shape[2] - 1
    place = torch.linspace(0, n_pieces, n_points, dtype=values.dtype)
    piece = place.long().clamp(max=n_pieces - 1)
    w, v = values[..., piece], values[..., piece + 1]
    return (w + (place - piece) * (v - w)).mT


@torch.no_grad()
def _best_paths(discrepancy: DTWDiscrepancy, f: Tensor, w: Tensor) -> tuple[Tensor, Tensor]:
    """Points i of windows (…, shapelets, points, channels) and j of shapelets along the best paths.

    Both (…, shapelets, steps), NONE behind the end of a path.
    """
    n_points = discrepancy.n_points
    windows = discrepancy.mapped(f).flatten(0, -3).contiguous().numpy()
    shapelets = discrepancy.mapped(w).contiguous().numpy()
    pairs = np.full((2, len(windows), 2 * n_points - 1), NONE)
    run(
        lambda first, last: find_paths(first, last, windows, shapelets, discrepancy.n_band, pairs),
        len(windows),
    )
    longest = int((pairs[0] != NONE).any(axis=0).sum())
    i, j = torch.from_numpy(pairs[..., :longest]).reshape(2, *f.shape[:-2], longest)
    return i, j


@kernel
def find_paths(first, last, windows, shapelets, band, pairs):
    """Write the best warping paths, from their ends to their beginnings."""
    _, n, n_channels = shapelets.shape
    sums = np.full((n + 1, n + 1), np.inf)  # least ones up to (i, j) at [i + 1, j + 1]
    sums[0, 0] = 0.0
    for window in range(first, last):
        f, w = windows[window], shapelets[window % len(shapelets)]
        for i in range(n):
            for j in range(max(i - band, 0), min(i + band + 1, n)):
                cost = 0.0
                for d in range(n_channels):
                    cost += (f[i, d] - w[j, d]) ** 2
                least = min(sums[i, j], sums[i, j + 1], sums[i + 1, j])
                sums[i + 1, j + 1] = cost + least
        i, j, step = n - 1, n - 1, 0
        while i >= 0 and j >= 0:
            pairs[0, window, step], pairs[1, window, step] = i, j
            step += 1
            before, above, left = sums[i, j], sums[i, j + 1], sums[i + 1, j]
            if j == 0 or (i > 0 and above < before and above <= left):
                i -= 1
            elif i == 0 or left < before:
                j -= 1
            else:
                i, j = i - 1, j - 1
