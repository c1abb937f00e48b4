"""The rest of the convolution search on short paths: all shapelets of about one length at once.

Where there are few offsets to try, a loop over them for each shapelet is mostly its own beginning and
end. Shapelets that span the same pieces of a path try the same offsets and share all but four numbers,
so the inner loop goes over them instead.
"""

from __future__ import annotations

import numpy as np

from ..discrepancies._lattice import ROUNDING, n_pieces
from ..offsets import AT_END, FREE
from ..parallel import kernel, strict_kernel, u
from ..paths import Array, Index
from .problem import energy_density
from .sums import running_sum, sum_between


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


@strict_kernel
def pick_side_by_side(
    first, last, correlation, end_correlation, rows, row_offsets, longest, step, shift, weights,
    lengths, order, runs, start, slope, index,
):  # fmt: skip
    """As `_pick`; correlations are (series, offsets, shapelets) with the shapelets in ``order``."""
    n_shapelets = len(lengths)
    partial, share = np.empty(n_shapelets), np.empty(n_shapelets)
    for k in range(n_shapelets):
        length = lengths[order[k]]
        partial[k] = length - (n_pieces(length, step) - 1) * step
        share[k] = partial[k] / step
    of_e, of_b, of_d = partial, partial * share, partial * share * share / 3.0
    with_level = np.ones(1)
    terms, density, sums = np.empty(longest), np.empty((3, 1, longest)), np.empty((1, 2, longest))
    best, best_cost, end_cost = np.empty(n_shapelets), np.empty(n_shapelets), np.empty(n_shapelets)
    for series in range(first, last):
        local = series - first
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
                for k in range(low, high):
                    cost = whole + (
                        of_e[k] * e
                        + of_b[k] * b
                        + of_d[k] * d
                        - 2.0 * correlation[local, offset, k]
                    )
                    better = cost < best_cost[k]
                    best[k] = offset if better else best[k]
                    best_cost[k] = cost if better else best_cost[k]
            row = last_row - pieces
            if row >= 0:
                whole = sum_between(sums, 0, row, last_row)
                e, b, d = density[0, 0, row], density[1, 0, row], density[2, 0, row]
                for k in range(low, high):
                    rest, rest_share = step - partial[k], 1.0 - share[k]
                    end_cost[k] = (
                        whole - 2.0 * end_correlation[local, k]
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
