"""Grid search on any paths, in compiled code.

With F1 = int f, F2 = int F1 and c_j the change of slope of w at its knot u_j, twice integrating by parts

    int f(s + t).w(t) dt = sum_j c_j.F2(s + u_j) + w(S).F1(s + S) - w(0).F1(s),

so one offset costs as much as the shapelet has knots, however many observations lie in the window. The
channels are contracted first: c_j.f is one piecewise-linear function of time for each j, and what
follows does not depend on the number of channels.
"""

from __future__ import annotations

import numpy as np
import torch

from ..discrepancies._lattice import ROUNDING, n_pieces
from ..offsets import AT_END, FREE, Offsets
from ..parallel import kernel, one_blas_thread, run_blocks, u
from ..paths import Array, longest_path
from .problem import L2Problem
from .sums import running_sum, sum_between

# F2 grows with the square of the time since its origin, and digits are lost in its second difference.
# Offsets are therefore taken in blocks of so many lengths, each with its own origin.
BLOCK_LENGTHS = 3.0
# Shapelets are contracted in groups whose table has about so many entries, to stay in the cache.
TABLE_SIZE = 2**17
BINS = 16  # for each row of a path, to find the row of a time


def search_compiled(problem: L2Problem) -> Offsets:
    """Best offset among as many as the path has observations, evenly spaced, both ends included.

    On a regularly sampled path: among every sample and the last possible start.
    """
    paths = problem.paths
    shape = (len(paths), len(problem.lengths))
    start, slope, index = np.empty(shape), np.empty(shape), np.empty(shape, np.int64)
    with one_blas_thread():
        run_blocks(
        _grid_search, len(paths), paths.knots, problem.rows, paths.row_offsets, paths.step,
        contracting_weights(problem.shapelets, problem.lengths), problem.lengths, problem.energy,
        problem.column, problem.level_free, problem.weights, start, slope, index,
    )  # fmt: skip
    return Offsets(
        torch.from_numpy(start), torch.from_numpy(slope), torch.from_numpy(index), "compiled"
    )


def contracting_weights(shapelets: Array, lengths: Array) -> Array:
    """Weights of the channels: c_j for all knots, w(S), w(0); (shapelets, knots + 2, channels)."""
    n_knots = shapelets.shape[1]
    slopes = np.diff(shapelets, axis=1) * ((n_knots - 1) / lengths)[:, None, None]
    changes = np.diff(slopes, axis=1, prepend=0.0, append=0.0)
    return np.concatenate([changes, shapelets[:, -1:], shapelets[:, :1]], axis=1)


@kernel
def list_offsets(knots, step, length, out, slope):
    """Offsets to try on a path longer than the shapelet, the end last; returns their number."""
    n_rows = len(knots)
    end = knots[n_rows - 1] - length
    if step > 0.0:
        pieces = n_pieces(length, step)
        n_offsets = n_rows - pieces
        if (length - (pieces - 1) * step) / step > 1.0 - ROUNDING:
            n_offsets -= 1
        for offset in range(n_offsets):
            out[offset] = offset * step
            slope[offset] = 0.0
    else:
        n_offsets = n_rows - 1
        for offset in range(n_offsets):
            share = offset / n_offsets
            out[offset] = share * end
            slope[offset] = -share
    out[n_offsets] = end
    slope[n_offsets] = -1.0
    return n_offsets + 1


@kernel
def fill_bins(fence, scale, bins):
    """bins[b] = the row whose piece holds the time b / scale: a first guess when looking for a row."""
    row = 0
    for b in range(len(bins)):
        while fence[row + 1] * scale <= b:
            row += 1
        bins[b] = row


@kernel
def block_rows(knots, first_row, first_time, last_time):
    """First and last (exclusive) row of those whose pieces cover [first_time, last_time]."""
    n_rows = len(knots)
    while first_row + 2 < n_rows and knots[first_row + 1] <= first_time:
        first_row += 1
    last_row = first_row + 2
    while last_row < n_rows and knots[last_row - 1] <= last_time:
        last_row += 1
    return first_row, last_row


@kernel
def integrate_twice(knots, inverse_gap, first_row, last_row, value, begin, out):
    """Twice the double integral of c_j.f on the pieces of a block, as polynomials of the time passed.

    c_j.f at a row is ``value[begin + row]``; integrals start at the block's first row. ``out`` is
    (4, rows), the constant term first.
    """
    once, twice = 0.0, 0.0
    for row in range(u(first_row), u(last_row - 1)):
        gap = knots[row + u(1)] - knots[row]
        here, there = value[u(begin) + row], value[u(begin) + row + u(1)]
        rise = (there - here) * (1.0 / 3.0)
        out[0, row] = twice
        out[1, row] = once
        out[2, row] = here
        out[3, row] = rise * inverse_gap[row]
        twice += gap * (once + gap * (here + rise))
        once += gap * (here + there)


@kernel
def integrate_once(knots, inverse_gap, first_row, last_row, value, begin, scale, out):
    """The integral of w.f times a number, likewise."""
    once = 0.0
    for row in range(u(first_row), u(last_row - 1)):
        gap = knots[row + u(1)] - knots[row]
        here, there = scale * value[u(begin) + row], scale * value[u(begin) + row + u(1)]
        out[0, row] = once
        out[1, row] = here
        out[2, row] = 0.5 * (there - here) * inverse_gap[row]
        out[3, row] = 0.0
        once += 0.5 * gap * (here + there)


@kernel
def subtract_polynomials(fence, bins, scale, polynomials, at, offsets, first, last, cost):
    """Subtract piecewise polynomials at s + u_j from the cost of the offsets first..last."""
    last_bin = u(len(bins) - 1)
    for offset in range(u(first), u(last)):
        x = offsets[offset] + at
        row = u(bins[min(u(x * scale), last_bin)])
        while fence[row + u(1)] <= x:
            row += u(1)
        t = x - fence[row]
        cost[offset] -= polynomials[0, row] + t * (
            polynomials[1, row] + t * (polynomials[2, row] + t * polynomials[3, row])
        )


@kernel
def contract_channels(transposed, weights, first, last, n_rows, table):
    """Table of c_j.f for the shapelets first..last, (shapelets, knots + 2, rows)."""
    n_columns, n_channels = (last - first) * weights.shape[1], weights.shape[2]
    np.dot(
        weights[first:last].reshape(n_columns, n_channels),
        transposed[: n_channels * n_rows].reshape(n_channels, n_rows),
        table[: n_columns * n_rows].reshape(n_columns, n_rows),
    )


@kernel
def move_ends(knots, s, length, left, right):
    """Rows of a window's start and end, looking on from those of an earlier window."""
    n_rows = len(knots)
    while left + 2 < n_rows and knots[left + 1] <= s:
        left += 1
    while right + 2 < n_rows and knots[right + 1] <= s + length:
        right += 1
    return left, right


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
def integrate_rows(knots, path, out):
    """Running integral of every channel, (rows, channels)."""
    out[0] = 0.0
    for row in range(1, len(knots)):
        half = 0.5 * (knots[row] - knots[row - 1])
        for channel in range(path.shape[1]):
            out[row, channel] = out[row - 1, channel] + half * (
                path[row - 1, channel] + path[row, channel]
            )


@kernel
def integrate_density(knots, energy, begin, column, terms, sums):
    """Running integral of the energy's density."""
    n_pieces = len(knots) - 1
    for row in range(n_pieces):
        terms[row] = (knots[row + 1] - knots[row]) * (
            energy[begin + row, column, 0]
            + energy[begin + row, column, 1]
            + energy[begin + row, column, 2] / 3.0
        )
    running_sum(terms, n_pieces, sums, 0)


@kernel
def prepare_rows(knots, path, inverse_gap, fence, bins, integral, transposed):
    """Fill what the search needs of a path; returns the scale of the bins."""
    n_rows, n_channels = path.shape
    for row in range(n_rows - 1):
        inverse_gap[row] = 1.0 / (knots[row + 1] - knots[row])
        fence[row] = knots[row]
    fence[n_rows - 1] = np.inf
    scale = len(bins) / knots[n_rows - 1]
    fill_bins(fence, scale, bins)
    integrate_rows(knots, path, integral)
    for row in range(n_rows):
        for channel in range(n_channels):
            transposed[channel * n_rows + row] = path[row, channel]
    return scale


@kernel
def _grid_search(
    first, last, knots_of_all, rows, row_offsets, steps, contracting, lengths, energy, column,
    level_free, weights, start, slope, index,
):  # fmt: skip
    n_shapelets, n_columns, n_channels = contracting.shape
    n_knots = n_columns - 2
    longest = longest_path(first, last, row_offsets)
    table = np.empty(max(TABLE_SIZE, longest * n_columns))
    polynomials = np.empty((4, longest))
    fence, inverse_gap = np.empty(longest), np.empty(longest)
    all_bins = np.empty(longest * BINS, np.int32)
    integral = np.empty((longest, n_channels))
    terms, sums = np.empty(longest), np.empty((1, 2, longest))
    transposed = np.empty(longest * n_channels)
    offsets, slopes, cost = np.empty(longest + 1), np.empty(longest + 1), np.empty(longest + 1)
    for series in range(first, last):
        begin, end = row_offsets[series], row_offsets[series + 1]
        knots, path = knots_of_all[begin:end], rows[begin:end]
        n_rows = end - begin
        start[series], slope[series], index[series] = 0.0, 0.0, FREE
        if n_rows == 1:
            continue
        bins = all_bins[: n_rows * BINS]
        scale = prepare_rows(knots, path, inverse_gap, fence, bins, integral, transposed)
        group_size = max(1, TABLE_SIZE // (n_rows * n_columns))
        for k in range(n_shapelets):
            if k % group_size == 0:
                contract_channels(
                    transposed, contracting, k, min(k + group_size, n_shapelets), n_rows, table
                )
            if k == 0 or column[k] != column[k - 1]:
                integrate_density(knots, energy, begin, column[k], terms, sums)
            length = lengths[k]
            if knots[n_rows - 1] <= length:
                continue
            n_offsets = list_offsets(knots, steps[series], length, offsets, slopes)
            window_energies(
                knots,
                inverse_gap,
                sums,
                energy,
                begin,
                column[k],
                length,
                offsets,
                n_offsets,
                cost,
            )
            if level_free[k]:
                weight = weights[min(k, len(weights) - 1)]
                subtract_levels(knots, path, integral, weight, length, offsets, n_offsets, cost)
            block_first, first_row = 0, 0
            while block_first < n_offsets:
                block_end = offsets[block_first] + BLOCK_LENGTHS * length
                block_last = block_first + 1
                while block_last < n_offsets and offsets[block_last] <= block_end:
                    block_last += 1
                first_row, last_row = block_rows(
                    knots, first_row, offsets[block_first], offsets[block_last - 1] + length
                )
                for j in range(n_columns):
                    place = (k % group_size * n_columns + j) * n_rows
                    at = 0.0 if j > n_knots else length
                    if j < n_knots:
                        integrate_twice(
                            knots, inverse_gap, first_row, last_row, table, place, polynomials
                        )
                        if j < n_knots - 1:
                            at = j * (length / (n_knots - 1))
                    else:
                        sign = 2.0 if j == n_knots else -2.0
                        integrate_once(
                            knots, inverse_gap, first_row, last_row, table, place, sign, polynomials
                        )
                    subtract_polynomials(
                        fence, bins, scale, polynomials, at, offsets, block_first, block_last, cost
                    )
                block_first = block_last
            best = 0
            for offset in range(1, n_offsets):
                if cost[offset] < cost[best]:
                    best = offset
            start[series, k] = offsets[best]
            slope[series, k] = slopes[best]
            if steps[series] > 0.0:
                index[series, k] = AT_END if best == n_offsets - 1 else best
