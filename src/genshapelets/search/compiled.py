"""Grid search on any paths, in compiled code.

An offset's cost is the window's energy less twice its correlation with the shapelet. The correlation is
a sum over the shapelet's knots (`knots`) or over the path's corners (`corners`), whichever is faster.
"""

from __future__ import annotations

import numpy as np

from ..offsets import AT_END, FREE, Offsets
from ..parallel import items_of, kernel, one_blas_thread, run_together, u
from ..paths import longest_path
from .corners import (
    CORNERS_PER_KNOT,
    corner_weights,
    corners_pay,
    find_corners,
    group_of_corners,
    subtract_corners,
)
from .knots import contract_channels, knot_weights, subtract_knots
from .problem import L2Problem
from .rows import BINS, integrate_density, list_offsets, move_ends, prepare_rows
from .sums import sum_between


def search_compiled(problem: L2Problem, corners_per_knot: float = CORNERS_PER_KNOT) -> Offsets:
    """Best offset among as many as the path has observations, evenly spaced, both ends included.

    On a regularly sampled path: among every sample and the last possible start. ``corners_per_knot``
    says up to how many corners in a window for each knot the sum is over corners.
    """
    paths = problem.paths
    shape = (len(paths), len(problem.lengths))
    start, slope, index = np.empty(shape), np.empty(shape), np.empty(shape, np.int64)
    with one_blas_thread:
        run_together(
            _grid_search, len(paths), paths.knots, problem.rows, paths.row_offsets, paths.step,
            knot_weights(problem.shapelets, problem.lengths),
            *corner_weights(problem.shapelets, problem.lengths), problem.lengths, problem.energy,
            problem.column, problem.level_free, problem.weights, corners_per_knot, start, slope, index,
        )  # fmt: skip
    return Offsets(start, slope, index, "compiled")


@kernel
def window_energies(
    knots, inverse_gap, sums, energy, begin, column, length, offsets, n_offsets, out
):
    """Energy of each window."""
    left, right = 0, 0
    for offset in range(n_offsets):
        s = offsets[offset]
        left, right = move_ends(knots, s, length, left, right)
        a, b = s - knots[left], s + length - knots[right]
        a_share, b_share = a * inverse_gap[left], b * inverse_gap[right]
        x, y = begin + left, begin + right
        out[offset] = (
            sum_between(sums, 0, left, right)
            + b * (energy[y, column, 0]
                   + b_share * (energy[y, column, 1] + b_share * energy[y, column, 2] / 3.0))
            - a * (energy[x, column, 0]
                   + a_share * (energy[x, column, 1] + a_share * energy[x, column, 2] / 3.0))
        )  # fmt: skip


@kernel
def subtract_levels(knots, path, integral, weight, length, offsets, n_offsets, cost):
    """Subtract |int A f|^2 / S over each window."""
    n_channels = path.shape[1]
    left, right = 0, 0
    for offset in range(n_offsets):
        s = offsets[offset]
        left, right = move_ends(knots, s, length, left, right)
        a, b = s - knots[left], s + length - knots[right]
        a_share = 0.5 * a / (knots[left + 1] - knots[left])
        b_share = 0.5 * b / (knots[right + 1] - knots[right])
        square = 0.0
        x, y = u(left), u(right)
        for channel in range(u(n_channels)):
            f, g = path[x, channel], path[y, channel]
            level = (
                integral[y, channel] + b * (g + b_share * (path[y + u(1), channel] - g))
                - integral[x, channel] - a * (f + a_share * (path[x + u(1), channel] - f))
            )  # fmt: skip
            square += weight[channel] * level * level
        cost[offset] -= square / length


@kernel
def _grid_search(
    queue, knots_of_all, rows, row_offsets, steps, of_knots, of_corners, of_ends, lengths,
    energy, column, level_free, weights, corners_per_knot, start, slope, index,
):  # fmt: skip
    n_shapelets, n_columns, n_channels = of_knots.shape
    n_knots = n_columns - 2
    longest = longest_path(row_offsets)
    fence, inverse_gap = np.empty(longest), np.empty(longest)
    all_bins = np.empty(longest * BINS, np.int32)
    integral = np.empty((longest, n_channels))
    terms, sums = np.empty(longest), np.empty((1, 2, longest))
    transposed = np.empty(longest * n_channels)
    corners, end_values = np.empty((longest, n_channels)), np.empty((longest, 2))
    table = np.empty(n_columns * max(longest, group_of_corners(n_knots)))
    polynomials = np.empty(4 * max(longest, n_knots))
    offsets, slopes, cost = np.empty(longest + 1), np.empty(longest + 1), np.empty(longest + 1)
    pieces, shares = np.empty(longest + 1, np.int64), np.empty(longest + 1)
    for series in items_of(queue):
        begin, end = row_offsets[series], row_offsets[series + 1]
        knots, path = knots_of_all[begin:end], rows[begin:end]
        n_rows = end - begin
        start[series], slope[series], index[series] = 0.0, 0.0, FREE
        if n_rows == 1:
            continue
        bins = all_bins[: n_rows * BINS]
        scale = prepare_rows(knots, path, inverse_gap, fence, bins, integral, transposed)
        steepness = find_corners(knots, path, inverse_gap, corners)
        for k in range(n_shapelets):
            length = lengths[k]
            if k == 0 or column[k] != column[k - 1]:
                integrate_density(knots, energy, begin, column[k], terms, sums)
            if knots[n_rows - 1] <= length:
                continue
            n_offsets = list_offsets(knots, steps[series], length, offsets, slopes)
            window_energies(
                knots, inverse_gap, sums, energy, begin, column[k], length, offsets, n_offsets, cost
            )
            if level_free[k]:
                weight = weights[min(k, len(weights) - 1)]
                subtract_levels(knots, path, integral, weight, length, offsets, n_offsets, cost)
            if corners_pay(knots, steepness, length, n_knots, corners_per_knot):
                np.dot(path, of_ends[k], end_values[:n_rows])
                subtract_corners(
                    knots, inverse_gap, corners, end_values, of_corners[k], length, offsets,
                    n_offsets, table, polynomials, pieces, shares, cost,
                )  # fmt: skip
            else:
                contract_channels(transposed, of_knots[k], n_rows, table)
                subtract_knots(
                    knots, inverse_gap, fence, bins, scale, length, n_knots, offsets, n_offsets,
                    table, polynomials[: 4 * n_rows].reshape(4, n_rows), cost,
                )  # fmt: skip
            best = 0
            for offset in range(1, n_offsets):
                if cost[offset] < cost[best]:
                    best = offset
            start[series, k] = offsets[best]
            slope[series, k] = slopes[best]
            if steps[series] > 0.0:
                index[series, k] = AT_END if best == n_offsets - 1 else best
