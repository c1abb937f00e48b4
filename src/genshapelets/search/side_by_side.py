"""The convolution search on short paths: all shapelets of about one length at once.

Where there are few offsets to try, a loop over them for each shapelet is mostly its own beginning and
end. Shapelets that span the same pieces of a path try the same offsets and share all but four numbers,
so the inner loop goes over them instead.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from ..discrepancies._lattice import ROUNDING, n_pieces
from ..offsets import AT_END, FREE
from ..parallel import items_of, kernel, u
from ..paths import Array, Index
from .lattice import most_offsets
from .problem import L2Problem, energy_density
from .sums import running_sum, sum_between

FEW_OFFSETS = 32


def side_by_side_applies(problem: L2Problem) -> bool:
    """Whether there are few offsets, one metric and no level-free shapelet: all see the same energy."""
    one_metric = len(problem.weights) == 1 and not problem.level_free.any()
    return one_metric and most_offsets(problem) <= FEW_OFFSETS


def side_by_side(
    problem: L2Problem, taps: Array, start: Array, slope: Array, index: Index
) -> Callable[[Index, Index], int]:
    """Prepare to write the best offsets, given `window_taps`.

    Returns what searches the paths of a queue, writes which they were to its second argument, and
    returns their number.
    """
    paths = problem.paths
    order, runs = similar_lengths(problem.lengths, paths.common_step)
    n_shapelets = len(order)
    beside = np.ascontiguousarray(taps[:, order].reshape(2, n_shapelets, -1).transpose(0, 2, 1))
    return partial(
        _search_paths, problem.rows, paths.row_offsets, paths.longest, paths.common_step,
        problem.shift, problem.weights, problem.lengths, order, runs, beside, start, slope, index,
    )  # fmt: skip


def similar_lengths(lengths: Array, step: float) -> tuple[Index, Index]:
    """Order of the shapelets in which those that try the same offsets stand together.

    Returns also where each such run begins, and the end of the last.
    """
    kind = np.empty(len(lengths), np.int64)
    _kinds(lengths, step, kind)
    order = np.argsort(kind, kind="stable")
    begins = np.flatnonzero(np.diff(kind[order])) + 1
    return order, np.concatenate([[0], begins, [len(lengths)]])


@kernel
def _kinds(lengths, step, kind):
    for k in range(len(lengths)):
        pieces = n_pieces(lengths[k], step)
        kind[k] = 2 * pieces + (1 if _is_whole(lengths[k], pieces, step) else 0)


@kernel
def _is_whole(length, pieces, step):
    """Whether a length is a whole number of pieces: its last possible start is then a sample."""
    return (length - (pieces - 1) * step) / step > 1.0 - ROUNDING


@kernel
def _search_paths(
    rows, row_offsets, longest, step, shift, weights, lengths, order, runs, taps, start, slope, index,
    queue, found,
):  # fmt: skip
    """Search paths of a queue; writes which they were to ``found`` and returns their number.

    Taps are (2, taps * channels, shapelets), these in ``order``.
    """
    n_shapelets = len(lengths)
    partial, share = np.empty(n_shapelets), np.empty(n_shapelets)
    for k in range(n_shapelets):
        length = lengths[order[k]]
        partial[k] = length - (n_pieces(length, step) - 1) * step
        share[k] = partial[k] / step
    of_e, of_b, of_d = partial, partial * share, partial * share * share / 3.0
    with_level, n_channels, flat_rows = np.ones(1), rows.shape[1], rows.ravel()
    correlation = np.empty(n_shapelets)
    terms, density, sums = np.empty(longest), np.empty((3, 1, longest)), np.empty((1, 2, longest))
    best, best_cost, end_cost = np.empty(n_shapelets), np.empty(n_shapelets), np.empty(n_shapelets)
    n_found = 0
    for series in items_of(queue):
        found[n_found] = series
        n_found += 1
        begin, end = row_offsets[series], row_offsets[series + 1]
        last_row = end - begin - 1
        span = last_row * step
        energy_density(rows, begin, end, shift[series], weights, with_level, density)
        for row in range(last_row + 1):
            terms[row] = step * (density[0, 0, row] + density[1, 0, row] + density[2, 0, row] / 3.0)
        running_sum(terms, last_row, sums, 0)
        for run in range(len(runs) - 1):
            low, high = u(runs[run]), u(runs[run + 1])
            pieces = n_pieces(lengths[order[low]], step)
            n_offsets = last_row + 1 - pieces
            if _is_whole(lengths[order[low]], pieces, step):
                n_offsets -= 1  # the last one is the last possible start
            for k in range(low, high):
                best[k], best_cost[k] = -1.0, np.inf
            for offset in range(n_offsets):
                row = offset + pieces - 1
                whole = sum_between(sums, 0, offset, row)
                e, b, d = density[0, 0, row], density[1, 0, row], density[2, 0, row]
                correlate(
                    flat_rows, (begin + offset) * n_channels, taps, 0, 0, (pieces + 1) * n_channels,
                    low, high, correlation,
                )  # fmt: skip
                for k in range(low, high):
                    cost = whole + (of_e[k] * e + of_b[k] * b + of_d[k] * d - 2.0 * correlation[k])
                    better = cost < best_cost[k]
                    best[k] = offset if better else best[k]
                    best_cost[k] = cost if better else best_cost[k]
            row = last_row - pieces
            if row >= 0:
                whole = sum_between(sums, 0, row, last_row)
                e, b, d = density[0, 0, row], density[1, 0, row], density[2, 0, row]
                size = (pieces + 1) * n_channels
                correlate(
                    flat_rows, end * n_channels - size, taps, 1, taps.shape[1] - size, size,
                    low, high, correlation,
                )  # fmt: skip
                for k in range(low, high):
                    rest, rest_share = step - partial[k], 1.0 - share[k]
                    end_cost[k] = (
                        whole - 2.0 * correlation[k]
                        - rest * (e + rest_share * (b + rest_share * d / 3.0))
                    )  # fmt: skip
            for k in range(low, high):
                shapelet = order[k]
                if span <= lengths[shapelet]:
                    start[series, shapelet], slope[series, shapelet] = 0.0, 0.0
                    index[series, shapelet] = FREE
                elif best[k] >= 0.0 and best_cost[k] <= end_cost[k]:
                    start[series, shapelet], slope[series, shapelet] = best[k] * step, 0.0
                    index[series, shapelet] = np.int64(best[k])
                else:
                    start[series, shapelet] = span - lengths[shapelet]
                    slope[series, shapelet] = -1.0
                    index[series, shapelet] = AT_END
    return n_found


@kernel
def correlate(rows, row, taps, at_end, tap, size, low, high, out):
    """Multiply the numbers of a path from ``row`` on by the taps of shapelets low..high."""
    for k in range(low, high):
        out[k] = 0.0
    four = size - size % 4
    for i in range(0, four, 4):
        x0, x1, x2, x3 = rows[row + i], rows[row + i + 1], rows[row + i + 2], rows[row + i + 3]
        t0 = u(tap + i)
        t1, t2, t3 = t0 + u(1), t0 + u(2), t0 + u(3)
        for k in range(low, high):
            out[k] += (
                x0 * taps[at_end, t0, k] + x1 * taps[at_end, t1, k]
                + x2 * taps[at_end, t2, k] + x3 * taps[at_end, t3, k]
            )  # fmt: skip
    for i in range(four, size):
        for k in range(low, high):
            out[k] += rows[row + i] * taps[at_end, u(tap + i), k]
