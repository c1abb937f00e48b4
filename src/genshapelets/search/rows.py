"""The rows of one path: which offsets to try on it, on which piece a time falls, running integrals."""

from __future__ import annotations

import numpy as np

from ..discrepancies._lattice import is_whole, last_share, n_pieces
from ..parallel import kernel
from .sums import running_sum

BINS = 16  # for each row of a path, to find the row of a time


@kernel
def list_offsets(knots, step, length, out, slope):
    """Offsets to try on a path longer than the shapelet, the end last; returns their number."""
    n_rows = len(knots)
    end = knots[n_rows - 1] - length
    if step > 0.0:
        pieces = n_pieces(length, step)
        n_offsets = n_rows - pieces
        if is_whole(last_share(length, step, pieces), pieces):
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
def move_ends(knots, s, length, left, right):
    """Rows of a window's start and end, looking on from those of an earlier window."""
    n_rows = len(knots)
    while left + 2 < n_rows and knots[left + 1] <= s:
        left += 1
    while right + 2 < n_rows and knots[right + 1] <= s + length:
        right += 1
    return left, right


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
def transpose(path, out):
    """Write a path channel by channel."""
    n_rows, n_channels = path.shape
    for row in range(n_rows):
        for channel in range(n_channels):
            out[channel * n_rows + row] = path[row, channel]


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
    transpose(path, transposed)
    return scale
