"""The correlation as a sum over the shapelet's knots.

With F1 = int f, F2 = int F1 and c_j the change of slope of w at its knot u_j, twice integrating by parts

    int f(s + t).w(t) dt = sum_j c_j.F2(s + u_j) + w(S).F1(s + S) - w(0).F1(s),

so one offset costs as much as the shapelet has knots, however many observations lie in the window. The
channels are contracted first: c_j.f is one piecewise-linear function of time for each j, and what
follows does not depend on the number of channels.
"""

from __future__ import annotations

import numpy as np

from ..parallel import kernel, u
from ..paths import Array
from .rows import block_rows

# F2 grows with the square of the time since its origin, and digits are lost in its second difference.
# Offsets are therefore taken in blocks of so many lengths, each with its own origin.
BLOCK_LENGTHS = 3.0


def knot_weights(shapelets: Array, lengths: Array) -> Array:
    """Weights of the channels: c_j for all knots, w(S), w(0); (shapelets, knots + 2, channels)."""
    n_knots = shapelets.shape[1]
    slopes = np.diff(shapelets, axis=1) * ((n_knots - 1) / lengths)[:, None, None]
    changes = np.diff(slopes, axis=1, prepend=0.0, append=0.0)
    return np.concatenate([changes, shapelets[:, -1:], shapelets[:, :1]], axis=1)


@kernel
def contract_channels(transposed, weights, n_rows, table):
    """Table of c_j.f, w(S).f, w(0).f for one shapelet, (knots + 2, rows)."""
    n_columns, n_channels = weights.shape
    np.dot(
        weights,
        transposed[: n_channels * n_rows].reshape(n_channels, n_rows),
        table[: n_columns * n_rows].reshape(n_columns, n_rows),
    )


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
def subtract_knots(
    knots, inverse_gap, fence, bins, scale, length, n_knots, offsets, n_offsets, table, polynomials,
    cost,
):  # fmt: skip
    """Subtract twice the correlation from the cost of all offsets; ``table`` of `contract_channels`."""
    n_rows = len(knots)
    block_first, first_row = 0, 0
    while block_first < n_offsets:
        block_end = offsets[block_first] + BLOCK_LENGTHS * length
        block_last = block_first + 1
        while block_last < n_offsets and offsets[block_last] <= block_end:
            block_last += 1
        first_row, last_row = block_rows(
            knots, first_row, offsets[block_first], offsets[block_last - 1] + length
        )
        for j in range(n_knots + 2):
            at = 0.0 if j > n_knots else length
            if j < n_knots:
                integrate_twice(
                    knots, inverse_gap, first_row, last_row, table, j * n_rows, polynomials
                )
                if j < n_knots - 1:
                    at = j * (length / (n_knots - 1))
            else:
                sign = 2.0 if j == n_knots else -2.0
                integrate_once(
                    knots, inverse_gap, first_row, last_row, table, j * n_rows, sign, polynomials
                )
            subtract_polynomials(
                fence, bins, scale, polynomials, at, offsets, block_first, block_last, cost
            )
        block_first = block_last
