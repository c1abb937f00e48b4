r"""The true minimum of the L2 discrepancy over continuous offsets, by branch and bound.

With r the difference over a window (less its mean if level-free) and L the L2 norm of A f' over all that
an interval of offsets can see,

    |sigma(s) - sigma(s')| <= |s - s'| L,

and (sigma^2)'' = 2 [r f']_0^S + 2 int f' w' is at most

    B = 4 R (F + M) + 2 L |A w'|,    M = L / sqrt(S) if level-free, else 0,

R the largest |A r| at either end of a window in the interval and F the largest |A f'| that they meet.
From the value and the slope in an interval's middle both bound it from below; an interval that could
hold a smaller value is halved. What is left may be below the answer by 1e-9 of it, or by 1e-12 of the
shapelet's own norm.
"""

from __future__ import annotations

import numpy as np

from ..evaluation.l2_union import lay_window, longest_path, new_nodes, offset_slope, squared_norm
from ..kernels import inner_kernel, kernel

RELATIVE, ABSOLUTE = 1e-9, 1e-12
MAX_DEPTH = 60


@kernel
def certify_paths(first, last, rows, shapes, room, found):
    """Replace the best starts, near the minimum, by the true one, for paths first..last."""
    _, n_knots, n_channels = shapes.values.shape
    nodes = new_nodes(longest_path(rows.row_offsets) + n_knots + 2, n_channels)
    for series in range(first, last):
        begin, end = rows.row_offsets[series], rows.row_offsets[series + 1]
        knots, path = rows.knots[begin:end], rows.values[begin:end]
        for k in range(len(shapes.lengths)):
            if room[series, k] > 0.0:
                start = certify(found.start[series, k, 0], knots, path, k, shapes, nodes)
                found.start[series, k, 0] = start
                found.slope[series, k, 0] = -1.0 if start == room[series, k] else 0.0


@inner_kernel
def certify(start, knots, path, k, shapes, nodes):
    """Offset of least discrepancy, given a good one."""
    shapelet, length, weight = shapes.values[k], shapes.lengths[k], shapes.weights[k]
    level_free = shapes.level_free[k]
    room = knots[-1] - length
    steepness, energy = slope_norms(knots, path, weight)
    shapelet_slope, shapelet_norm = shapelet_norms(shapelet, length, weight)
    n_nodes = lay_window(knots, path, shapelet, length, level_free, start, nodes)
    best = np.sqrt(squared_norm(nodes, n_nodes, weight))
    if not best < np.inf:  # overflow, or a shapelet that has diverged
        return start
    slack = ABSOLUTE * (shapelet_norm + best)
    low, high = np.empty(2 * MAX_DEPTH), np.empty(2 * MAX_DEPTH)
    low[0], high[0], n_open = 0.0, room, 1
    while n_open > 0:
        n_open -= 1
        a, b = low[n_open], high[n_open]
        middle, half = 0.5 * (a + b), 0.5 * (b - a)
        n_nodes = lay_window(knots, path, shapelet, length, level_free, middle, nodes)
        value = squared_norm(nodes, n_nodes, weight)
        sigma = np.sqrt(value)
        if sigma < best:
            best, start = sigma, middle
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
        slope = abs(offset_slope(knots, path, nodes, n_nodes, weight))
        if value - half * (slope + 0.5 * half * bend) >= wanted * wanted:
            continue
        if half <= 1e-15 * (room + length) or n_open + 2 > len(low):
            continue
        low[n_open], high[n_open] = a, middle
        low[n_open + 1], high[n_open + 1] = middle, b
        n_open += 2
    return start


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
