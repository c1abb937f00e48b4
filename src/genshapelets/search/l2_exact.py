r"""The true minimum of the L2 discrepancy over continuous offsets, by branch and bound.

With r the difference over a window (less its mean if level-free) and L the L2 norm of A f' over all that
an interval of offsets can see,

    |sigma(s) - sigma(s')| <= |s - s'| L,

and (sigma^2)'' = 2 [r f']_0^S + 2 int f' w' is at most

    B = 4 R (F + M) + 2 L |A w'|,    M = L / sqrt(S) if level-free, else 0,

R the largest |A r| at either end of a window in the interval and F the largest |A f'| that they meet.
From the value and the slope inside an interval both bound it from below. While no knot of the path meets
one of the shapelet, sigma^2 is a polynomial in s, of degree 4 at most, and not below the least of its
Bernstein coefficients. An interval that could hold a smaller value is split. What is left may be below
the answer by 1e-11 of it, or by 1e-12 of the shapelet's own norm.
"""

from __future__ import annotations

import numpy as np

from ..evaluation.l2_union import (
    lay_window,
    longest_path,
    new_nodes,
    norm_and_slope,
    pair_of,
    room_for_path,
    squared_norm,
)
from ..kernels import inner_kernel, kernel

RELATIVE, ABSOLUTE = 1e-11, 1e-12
MAX_OPEN = 256  # intervals at once: each is at most half as wide as the last but one


@kernel
def certify_paths(first, last, rows, shapes, room, found):
    """Replace the best starts, near the minimum, by the true one, for paths first..last."""
    _, n_knots, n_channels = shapes.values.shape
    nodes = new_nodes(longest_path(rows.row_offsets) + n_knots + 2, n_channels)
    path = room_for_path(rows, shapes)
    for series in range(first, last):
        for k in range(len(shapes.lengths)):
            if room[series, k] > 0.0:
                pair = pair_of(rows, series, shapes, k, path)
                start = certify(found.start[series, k, 0], pair, nodes)
                for c in range(found.start.shape[2]):
                    if c == 0 or c >= found.count[series, k]:
                        found.start[series, k, c] = start
                        found.slope[series, k, c] = -1.0 if start == room[series, k] else 0.0


@inner_kernel
def certify(start, pair, nodes):
    """Offset of least discrepancy, given a good one."""
    knots, path, shapelet, length, weight, level_free, _ = pair
    room = knots[-1] - length
    steepness, energy = slope_norms(knots, path, weight)
    shapelet_slope, shapelet_norm = shapelet_norms(shapelet, length, weight)
    best = np.sqrt(squared_norm(nodes, lay_window(pair, start, nodes), weight))
    if not best < np.inf:  # overflow, or a shapelet that has diverged
        return start
    for end in (0.0, room):
        sigma = np.sqrt(squared_norm(nodes, lay_window(pair, end, nodes), weight))
        if sigma < best:
            best, start = sigma, end
    slack = ABSOLUTE * (shapelet_norm + best)
    low, high = np.empty(MAX_OPEN), np.empty(MAX_OPEN)
    low[0], high[0], n_open = 0.0, room, 1
    while n_open > 0:
        n_open -= 1
        a, b = low[n_open], high[n_open]
        split, is_smooth = nearest_event(pair, a, b)
        n_nodes = lay_window(pair, split, nodes)
        value, slope = norm_and_slope(pair, nodes, n_nodes)
        sigma, half = np.sqrt(value), max(split - a, b - split)
        if sigma < best:
            best, start = sigma, split
        wanted = best * (1.0 - RELATIVE) - slack
        if wanted <= 0.0:
            break
        norm = np.sqrt(max(integral_to(b + length, knots, energy, steepness)
                           - integral_to(a, knots, energy, steepness), 0.0))  # fmt: skip
        if sigma - half * norm >= wanted:
            continue
        steepest = largest_between(a, b, knots, steepness)
        steepest = max(steepest, largest_between(a + length, b + length, knots, steepness))
        if level_free:
            steepest += norm / np.sqrt(length)
        at_ends = end_norm(nodes, n_nodes, weight) + half * steepest
        bend = 4.0 * at_ends * steepest + 2.0 * norm * shapelet_slope
        if value - half * (abs(slope) + 0.5 * half * bend) >= wanted * wanted:
            continue
        if half <= 1e-15 * (room + length) or n_open + 2 > MAX_OPEN:
            continue
        if is_smooth:
            bound, split = polynomial_bound(pair, a, b, value, nodes)
            if bound >= wanted * wanted:
                continue
        low[n_open], high[n_open] = a, split
        low[n_open + 1], high[n_open + 1] = split, b
        n_open += 2
    return start


@inner_kernel
def nearest_event(pair, a, b):
    """Offset nearest to the middle of (a, b) at which knots of path and shapelet meet, and False.

    If there is none in between, the middle, and True.
    """
    middle, last = 0.5 * (a + b), len(pair.shapelet) - 1
    spacing, nearest, is_smooth = pair.length / last, middle, True
    row = np.searchsorted(pair.knots, a, side="right")
    while row < len(pair.knots) and pair.knots[row] < b + pair.length:
        knot = min(max(np.rint((pair.knots[row] - middle) / spacing), 0.0), float(last))
        event = pair.knots[row] - knot * spacing
        if a < event < b and (is_smooth or abs(event - middle) < abs(nearest - middle)):
            nearest, is_smooth = event, False
        row += 1
    return nearest, is_smooth


@inner_kernel
def polynomial_bound(pair, a, b, middle, nodes):
    """Lower bound of a polynomial of degree 4 on [a, b], given its middle; and where to split."""
    width = b - a
    p, slope_p = norm_and_slope(pair, nodes, lay_window(pair, a, nodes))
    q, slope_q = norm_and_slope(pair, nodes, lay_window(pair, b, nodes))
    after, before = p + 0.25 * width * slope_p, q - 0.25 * width * slope_q
    inner = (16.0 * middle - p - 4.0 * after - 4.0 * before - q) / 6.0
    share = 0.5
    if slope_p < 0.0 < slope_q:  # where a line through both slopes is 0
        share = min(max(slope_p / (slope_p - slope_q), 0.02), 0.98)
    return min(p, after, inner, before, q), a + share * width


@inner_kernel
def slope_norms(knots, path, weight):
    """|A f'| on each piece of a path, and the integral of its square up to each knot."""
    n_rows = len(knots)
    steepness, energy = np.zeros(n_rows), np.zeros(n_rows)
    for row in range(n_rows - 1):
        total, gap = 0.0, knots[row + 1] - knots[row]
        for d in range(len(weight)):
            slope = (path[row + 1, d] - path[row, d]) / gap
            total += weight[d] * slope * slope
        steepness[row] = np.sqrt(total)
        energy[row + 1] = energy[row] + total * gap
    return steepness, energy


@inner_kernel
def shapelet_norms(shapelet, length, weight):
    """L2 norms of A w' and A w."""
    spacing, slope, norm = length / (len(shapelet) - 1), 0.0, 0.0
    for knot in range(len(shapelet) - 1):
        for d in range(len(weight)):
            p, q = shapelet[knot, d], shapelet[knot + 1, d]
            slope += weight[d] * (q - p) * (q - p) / spacing
            norm += weight[d] * (p * p + p * q + q * q) * spacing / 3.0
    return np.sqrt(slope), np.sqrt(norm)


@inner_kernel
def integral_to(t, knots, energy, steepness):
    """Integral of |A f'|^2 up to a time."""
    row = min(np.searchsorted(knots, t, side="right") - 1, len(knots) - 1)
    return energy[row] + (t - knots[row]) * steepness[row] ** 2


@inner_kernel
def largest_between(a, b, knots, steepness):
    """Largest |A f'| between two times."""
    row, largest = max(np.searchsorted(knots, a, side="right") - 1, 0), 0.0
    while row < len(knots) and knots[row] <= b:
        largest = max(largest, steepness[row])
        row += 1
    return largest


@inner_kernel
def end_norm(nodes, n_nodes, weight):
    """Larger of |A r| at both ends of a window."""
    first, last = 0.0, 0.0
    p, q = nodes.difference[0], nodes.difference[n_nodes - 1]
    for d in range(len(weight)):
        first += weight[d] * p[d] * p[d]
        last += weight[d] * q[d] * q[d]
    return np.sqrt(max(first, last))
