"""The correlation as a sum over the path's corners.

With W1 an integral of w and W2 an integral of W1 that is 0 at both ends, twice integrating by parts the
other way round than in `knots` gives

    int f(s + t).w(t) dt = f(s + S).W1(S) - f(s).W1(0) + sum_i d_i.W2(t_i - s),

d_i the change of slope of f at its knot t_i, the sum over the knots inside the window. The shapelet's
knots are evenly spaced, so the piece of W2 at t_i - s need not be looked for. Observations very close
together have steep slopes between them, and digits are lost in the sum.
"""

from __future__ import annotations

import numpy as np

from ..parallel import kernel, strict_kernel, u
from ..paths import Array
from .rows import move_ends

# Up to so many corners in a window for each knot of the shapelet, the sum over corners is the faster.
CORNERS_PER_KNOT = 2.0
# How steep slopes may be: the sum over all gaps between observations of the length over the gap.
STEEPEST = 1e7
# Corners are contracted in groups whose table has about so many entries, to stay in the cache.
TABLE_SIZE = 2**14


def corner_weights(shapelets: Array, lengths: Array) -> tuple[Array, Array]:
    """What to contract with a path's corners and with its values, to correlate twice.

    Returns twice w at the knots and W1(0), times powers of the knots' spacing that suit a time counted
    in spacings, (shapelets, channels, knots + 1); and twice W1(S), W1(0), (shapelets, channels, 2).
    """
    n_knots = shapelets.shape[1]
    here, there = shapelets[:, :-1], shapelets[:, 1:]
    once = np.cumsum(0.5 * (here + there), axis=1)
    # W2(S) = 0 says what W1 begins with.
    twice = once[:, :-1].sum(axis=1) + (here / 3.0 + there / 6.0).sum(axis=1)
    begin = -twice / (n_knots - 1)
    spacing = lengths[:, None, None] / (n_knots - 1)
    of_corners = np.concatenate([shapelets, begin[:, None]], axis=1).transpose(0, 2, 1)
    of_ends = np.stack([begin + once[:, -1], begin], axis=2)
    return np.ascontiguousarray(2.0 * spacing**2 * of_corners), 2.0 * spacing * of_ends


@kernel
def find_corners(knots, path, inverse_gap, corners):
    """Changes of slope at the inner rows, (rows - 2, channels); returns the sum of 1 / gap."""
    steepness = inverse_gap[0]
    for row in range(u(1), u(len(knots) - 1)):
        before, after = inverse_gap[row - u(1)], inverse_gap[row]
        steepness += after
        for channel in range(u(path.shape[1])):
            f = path[row, channel]
            corners[row - u(1), channel] = (path[row + u(1), channel] - f) * after - (
                f - path[row - u(1), channel]
            ) * before
    return steepness


@kernel
def corners_pay(knots, steepness, length, n_knots, corners_per_knot):
    """Whether to sum over the corners inside a window rather than over the shapelet's knots."""
    n_inside = len(knots) * length / knots[len(knots) - 1]
    return n_inside < corners_per_knot * n_knots and steepness * length < STEEPEST


@kernel
def group_of_corners(n_knots):
    """How many corners to contract at once."""
    return max(1, TABLE_SIZE // (n_knots + 1))


@strict_kernel
def integrate_shapelet(table, begin, n_knots, n_pieces, out):
    """d_i.W2 on the first pieces, as polynomials of the time since the knot, the constant term first.

    d_i.w at the knots is ``table[begin:]``, followed by d_i.W1(0). Four numbers for each piece.
    """
    once, twice = table[u(begin) + u(n_knots)], 0.0
    here = table[u(begin)]
    for knot in range(u(n_pieces)):
        there = table[u(begin) + knot + u(1)]
        rise = (there - here) * (1.0 / 6.0)
        out[u(4) * knot] = twice
        out[u(4) * knot + u(1)] = once
        out[u(4) * knot + u(2)] = 0.5 * here
        out[u(4) * knot + u(3)] = rise
        twice += once + (0.5 * here + rise)
        once += 0.5 * (here + there)
        here = there


@kernel
def subtract_ends(knots, inverse_gap, values, length, offsets, n_offsets, cost):
    """Subtract one function of time at each window's end, and add another at its start."""
    left, right = 0, 0
    for offset in range(n_offsets):
        s = offsets[offset]
        left, right = move_ends(knots, s, length, left, right)
        a = (s - knots[left]) * inverse_gap[left]
        b = (s + length - knots[right]) * inverse_gap[right]
        x, y = u(left), u(right)
        cost[offset] -= values[y, 0] + b * (values[y + u(1), 0] - values[y, 0])
        cost[offset] += values[x, 1] + a * (values[x + u(1), 1] - values[x, 1])


@kernel
def subtract_corners(
    knots, inverse_gap, corners, end_values, weights, length, offsets, n_offsets, table, polynomials,
    pieces, shares, cost,
):  # fmt: skip
    """Subtract twice the correlation from the cost of all offsets.

    ``end_values`` are twice f.W1(S) and f.W1(0) at the rows.
    """
    subtract_ends(knots, inverse_gap, end_values, length, offsets, n_offsets, cost)
    n_corners, n_columns = len(knots) - 2, weights.shape[1]
    n_knots = n_columns - 1
    inverse_spacing = (n_knots - 1) / length
    group_size = group_of_corners(n_knots)
    # On the piece after the last lies a time that rounding brings to S.
    polynomials[4 * (n_knots - 1) : 4 * n_knots] = 0.0
    begun, ended = 0, 0  # how many windows have begun before a corner, how many have ended
    begin = 0
    for corner in range(n_corners):
        begin += n_columns
        if corner % group_size == 0:
            begin = 0
            group = corners[corner : min(corner + group_size, n_corners)]
            np.dot(group, weights, table[: len(group) * n_columns].reshape(-1, n_columns))
        knot = knots[corner + 1]
        while begun < n_offsets and offsets[begun] < knot:
            begun += 1
        while ended < begun and offsets[ended] + length <= knot:
            ended += 1
        if ended == begun:
            continue
        # One piece more than the first window reaches, for a time that rounding brings to its end.
        furthest = int((knot - offsets[ended]) * inverse_spacing)
        integrate_shapelet(table, begin, n_knots, min(furthest + 2, n_knots - 1), polynomials)
        for offset in range(u(ended), u(begun)):
            t = (knot - offsets[offset]) * inverse_spacing
            whole = np.floor(t)
            pieces[offset], shares[offset] = np.int64(whole), t - whole
        for offset in range(u(ended), u(begun)):
            piece, t = u(4) * u(pieces[offset]), shares[offset]
            cost[offset] -= polynomials[piece] + t * (
                polynomials[piece + u(1)]
                + t * (polynomials[piece + u(2)] + t * polynomials[piece + u(3)])
            )
