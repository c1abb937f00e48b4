"""The rest of the convolution search where channels must be kept apart.

If each shapelet has a metric of its own, or ignores the level, a window's cost is a sum over channels
of its energy q and its integral l, w (q + 2 c l) or w (q - l^2 / S), w being the squared weight and c
the shift of `problem`. Both come from running sums of the path that all shapelets share.
"""

from __future__ import annotations

import numpy as np

from ..discrepancies._lattice import ROUNDING, n_pieces
from ..offsets import AT_END, FREE
from ..parallel import strict_kernel, u
from .sums import running_sum, sum_between


@strict_kernel
def pick_by_channel(
    first, last, correlation, end_correlation, rows, row_offsets, longest, step, shift,
    weights, lengths, level_free, start, slope, index,
):  # fmt: skip
    """Add the window's energy to the correlations and take the earliest smallest cost."""
    n_channels = rows.shape[1]
    terms, cost = np.empty(longest), np.empty(longest)
    x, integral = np.empty((n_channels, longest)), np.zeros((n_channels, longest))
    sums = np.empty((n_channels, 2, longest))
    for series in range(first, last):
        local = series - first
        begin = row_offsets[series]
        n_rows = row_offsets[series + 1] - begin
        last_row = n_rows - 1
        span = last_row * step
        for channel in range(n_channels):
            for row in range(n_rows):
                x[channel, row] = rows[begin + row, channel]
            for row in range(last_row):
                p, q = x[channel, row], x[channel, row + 1]
                terms[row] = step * (p * p + p * q + q * q) / 3.0
                integral[channel, row + 1] = integral[channel, row] + 0.5 * step * (p + q)
            running_sum(terms, last_row, sums, channel)
        for k in range(len(lengths)):
            length = lengths[k]
            if span <= length:
                start[series, k], slope[series, k], index[series, k] = 0.0, 0.0, FREE
                continue
            weight = weights[min(k, len(weights) - 1)]
            pieces = n_pieces(length, step)
            partial = length - (pieces - 1) * step
            share = partial / step
            n_offsets = n_rows - pieces
            if share > 1.0 - ROUNDING:
                n_offsets -= 1  # the last one is the last possible start
            end_row = last_row - pieces
            end_cost = -2.0 * end_correlation[local, k]
            for offset in range(u(n_offsets)):
                cost[offset] = -2.0 * correlation[k, local, offset]
            for channel in range(n_channels):
                if weight[channel] == 0.0:
                    continue
                linear, square = 2.0 * shift[series, channel], 0.0
                if level_free[k]:
                    linear, square = 0.0, 1.0 / length
                add_windows(
                    x[channel], sums[channel], integral[channel], n_offsets, pieces - 1, partial,
                    share, weight[channel], linear, square, cost,
                )  # fmt: skip
                rest, rest_share = partial - step, 1.0 - share
                here = x[channel, end_row]
                rise = x[channel, end_row + 1] - here
                energy = sum_between(sums, channel, end_row, last_row) + rest * (
                    here * here + rest_share * rise * (here + rest_share * rise / 3.0)
                )
                level = (
                    integral[channel, last_row] - integral[channel, end_row]
                    + rest * (here + 0.5 * rest_share * rise)
                )  # fmt: skip
                end_cost += weight[channel] * (energy + linear * level - square * level * level)
            best, best_cost = -1, np.inf
            for offset in range(n_offsets):
                if cost[offset] < best_cost:
                    best, best_cost = offset, cost[offset]
            if best >= 0 and best_cost <= end_cost:
                start[series, k], slope[series, k], index[series, k] = best * step, 0.0, best
            else:
                start[series, k], slope[series, k] = span - length, -1.0
                index[series, k] = AT_END


@strict_kernel
def add_windows(
    x, sums, integral, n_offsets, whole, partial, share, weight, linear, square, cost
):  # fmt: skip
    """Add one channel's part of the cost of the windows that start at each row."""
    of_square, of_product, of_rise = partial, partial * share, partial * share * share / 3.0
    for offset in range(u(n_offsets)):
        row = offset + u(whole)
        here = x[row]
        rise = x[row + u(1)] - here
        energy = ((sums[0, row] - sums[0, offset]) + (sums[1, row] - sums[1, offset])) + (
            here * (of_square * here + of_product * rise) + of_rise * rise * rise
        )
        level = integral[row] - integral[offset] + partial * (here + 0.5 * share * rise)
        cost[offset] += weight * (energy + level * (linear - square * level))
