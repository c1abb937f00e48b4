r"""Search for dynamic time warping: every offset of the grid, most of them given up early.

Each point of a window is compared with some point of the shapelet within the band, the first with the
first and the last with the last. So (Keogh and Ratanamahatana 2005)

    least sum over warping paths >= sum_i |distance of A f(s + t_i) from [lower_i, upper_i]|^2,

lower_i and upper_i the least and the greatest of the shapelet within the band around i. A window whose
bound is no less than the best sum so far is not warped; another one only while the sums of a row, and
the bound of the rows that follow, are less.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from scipy.ndimage import maximum_filter1d, minimum_filter1d
from torch import Tensor, nn

from ..discrepancies import Discrepancy, DTWDiscrepancy, L2Discrepancy
from ..evaluation.dtw import sample_shapelets
from ..evaluation.l2_problem import pose
from ..evaluation.l2_union import longest_path
from ..kernels import inner_kernel, kernel, run
from ..offsets import Offsets
from ..paths import Array, Paths
from .generic import GOLDEN, N_REFINEMENTS
from .l2_scan import Found, best_minima


class Envelope(NamedTuple):
    """What lies within the band around each point of the shapelets.

    Attributes
    ----------
    band : int
        How many points a warping path may leave the diagonal by.
    lower, upper : (shapelets, points, channels) arrays
        At the first and the last point just the shapelet: they must be met there.
    """

    band: int
    lower: Array
    upper: Array


class Pair(NamedTuple):
    """A path and a shapelet: (rows,), (rows, channels) and (points, channels) arrays."""

    knots: Array
    path: Array
    shapelet: Array
    lower: Array
    upper: Array
    length: float
    weight: Array
    band: int


class Scratch(NamedTuple):
    """A window (points, channels), bounds (points + 1,) and two rows of sums (2, points + 1)."""

    window: Array
    bound: Array
    sums: Array


@torch.no_grad()
def search_dtw(
    discrepancy: Discrepancy,
    paths: Paths,
    values: Tensor,
    lengths: Tensor,
    search: str,
    n_best: int,
) -> Offsets | None:
    """Best offsets, those of the generic search: see `genshapelets.search.best_offsets`."""
    assert isinstance(discrepancy, DTWDiscrepancy)
    if search == "exact":
        return None
    refined = np.full(len(paths), search == "refined") | ((paths.step == 0) & (search == "auto"))
    shape = (len(paths), len(values), n_best)
    found = Found(np.zeros(shape), np.zeros(shape), np.ones(shape[:2], np.int64))
    metric = L2Discrepancy(discrepancy.n_channels, discrepancy.metric)
    if discrepancy.weight is not None:
        metric.weight = nn.Parameter(discrepancy.weight)
    points = sample_shapelets(values.double(), discrepancy.n_points).mT
    for problem in pose(metric, paths, points, lengths):
        own = Found(*(np.ascontiguousarray(x[:, problem.chosen]) for x in found))  # type: ignore[arg-type]
        envelope = _envelope(problem.shapes.values, discrepancy.n_band)
        shapes = problem.shapes._replace(weights=np.ascontiguousarray(problem.shapes.weights))
        arrays = (problem.rows, paths.step, refined, shapes, envelope, own)
        run(lambda first, last, arrays=arrays: search_paths(first, last, *arrays), len(paths))  # type: ignore[misc]
        for whole, part in zip(found, own, strict=True):
            whole[:, problem.chosen] = part
    return Offsets(*found, "warping")


def _envelope(points: Array, band: int) -> Envelope:
    size = 2 * min(band, points.shape[1] - 1) + 1
    lower = minimum_filter1d(points, size, axis=1, mode="nearest")
    upper = maximum_filter1d(points, size, axis=1, mode="nearest")
    for edge in (lower, upper):
        edge[:, [0, -1]] = points[:, [0, -1]]
    return Envelope(band, lower, upper)


@kernel
def search_paths(first, last, rows, step, refined, shapes, envelope, found):
    """Best offsets of some of the paths.

    Only one candidate lets windows be given up: others must be known to tell local minima.
    """
    n_best = found.start.shape[2]
    _, n_points, n_channels = shapes.values.shape
    tried, cost = np.empty((2, longest_path(rows.row_offsets)))
    order = np.empty(n_best, np.int64)
    scratch = Scratch(
        np.empty((n_points, n_channels)), np.empty(n_points + 1), np.empty((2, n_points + 1))
    )
    for series in range(first, last):
        begin, end = rows.row_offsets[series], rows.row_offsets[series + 1]
        for k in range(len(shapes.lengths)):
            pair = Pair(
                rows.knots[begin:end], rows.values[begin:end], shapes.values[k],
                envelope.lower[k], envelope.upper[k], shapes.lengths[k], shapes.weights[k],
                envelope.band,
            )  # fmt: skip
            room = max(pair.knots[-1] - pair.length, 0.0)
            n_tried = offsets_to_try(len(pair.knots), step[series], room, tried)
            cutoff = np.inf
            for s in range(n_tried):
                # From its own sample, not from the first: windows that are equal must tie.
                row = s if step[series] > 0.0 and tried[s] < room else 0
                start = tried[s] if row == 0 else 0.0
                cost[s] = least_sum(pair, row, start, cutoff, scratch)
                if n_best == 1:
                    cutoff = min(cutoff, cost[s])
            found.count[series, k] = best_minima(cost[:n_tried], order)
            for c in range(n_best):
                s = order[c]
                start, slope = tried[s], 0.0
                if refined[series]:
                    low, high = tried[max(s - 1, 0)], tried[min(s + 1, n_tried - 1)]
                    start = refine(pair, low, start, high, cost[s], scratch)
                elif step[series] == 0.0 and n_tried > 1:
                    slope = -s / (n_tried - 1)
                if start == room and room > 0.0:
                    slope = -1.0
                found.start[series, k, c], found.slope[series, k, c] = start, slope


@inner_kernel
def offsets_to_try(n_rows, step, room, tried):
    """Write the grid of `genshapelets.search.generic` without repetitions; returns their number."""
    if room == 0.0:
        tried[0] = 0.0
        return 1
    for s in range(n_rows):
        tried[s] = s * step if step > 0.0 else s / (n_rows - 1) * room
        if tried[s] >= room or s == n_rows - 1:
            tried[s] = room
            return s + 1
    return n_rows


@inner_kernel
def least_sum(pair, row, start, cutoff, scratch):
    """Least sum over warping paths of a window; infinite if it is no less than the cutoff.

    The window starts at a time ``start`` after a row; unless it is the first, the path is regular.
    """
    knots = pair.knots[: len(pair.knots) - row]
    sample_window(knots, pair.path[row:], start, pair.length, scratch.window)
    bound_rows(scratch.window, pair.lower, pair.upper, pair.weight, scratch.bound)
    if scratch.bound[0] >= cutoff:
        return np.inf
    return warp(
        scratch.window, pair.shapelet, pair.weight, pair.band, scratch.bound, cutoff, scratch.sums
    )


@inner_kernel
def sample_window(knots, path, start, length, window):
    """Write a path's values at evenly spaced times from start to start + length."""
    n_points, last = len(window), len(knots) - 1
    row = max(np.searchsorted(knots, start, side="right") - 1, 0)
    for i in range(n_points):
        t = start + i / (n_points - 1) * length
        while row < last and knots[row + 1] <= t:
            row += 1
        after = min(row + 1, last)
        part = (t - knots[row]) / (knots[after] - knots[row]) if row < last else 0.0
        for d in range(window.shape[1]):
            window[i, d] = path[row, d] + part * (path[after, d] - path[row, d])


@inner_kernel
def bound_rows(window, lower, upper, weight, bound):
    """Write how much each point of a window, and all that follow it, cost at least."""
    n_points = len(window)
    bound[n_points] = 0.0
    for i in range(n_points - 1, -1, -1):
        cost = 0.0
        for d in range(len(weight)):
            r = max(window[i, d] - upper[i, d], lower[i, d] - window[i, d], 0.0)
            cost += weight[d] * r * r
        bound[i] = bound[i + 1] + cost


@inner_kernel
def warp(window, shapelet, weight, band, bound, cutoff, sums):
    """Least sum over warping paths, row by row; infinite if it is no less than the cutoff.

    ``sums`` holds two rows, least sums up to (i - 1, j) and (i, j), each behind a border of infinity.
    """
    n_points = len(window)
    sums[:] = np.inf
    before, here = sums[0], sums[1]
    before[0] = 0.0
    for i in range(n_points):
        least = left = np.inf
        for j in range(max(i - band, 0), min(i + band + 1, n_points)):
            cost = 0.0
            for d in range(len(weight)):
                r = window[i, d] - shapelet[j, d]
                cost += weight[d] * r * r
            left = cost + min(left, before[j], before[j + 1])
            here[j + 1] = left
            least = min(least, left)
        if least + bound[i + 1] >= cutoff:
            return np.inf
        before[0] = np.inf
        before, here = here, before
    return before[n_points]


@inner_kernel
def refine(pair, low, best, high, least, scratch):
    """Minimise over continuous offsets by golden sections: the best one seen."""
    left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    at_left, at_right = (
        least_sum(pair, 0, left, np.inf, scratch),
        least_sum(pair, 0, right, np.inf, scratch),
    )
    for _ in range(N_REFINEMENTS):
        if at_left < least:
            best, least = left, at_left
        if at_right < least:
            best, least = right, at_right
        if at_left <= at_right:
            high, right, at_right = right, left, at_left
            left = high - GOLDEN * (high - low)
            at_left = least_sum(pair, 0, left, np.inf, scratch)
        else:
            low, left, at_left = left, right, at_right
            right = low + GOLDEN * (high - low)
            at_right = least_sum(pair, 0, right, np.inf, scratch)
    return best
