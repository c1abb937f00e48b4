"""The true minimum over continuous offsets.

Windows between two knots of the path see a straight line: their best is at hand (`lines`).

Elsewhere a knot of the path lies inside the window, and the squared discrepancy is a piecewise
polynomial in the offset s: cubic (quartic if level-free) between the places t_i - u_j where a knot of
the path meets a knot of the shapelet. Walk them in order, carrying the derivatives in s along, and take
each piece's minimum in closed form. All walks together are no longer than S times the number of the
path's knots, however short the shapelet. They go in blocks of a few lengths (`blocks`).

The shapelet's knots are evenly spaced, so in any stretch of s as long as their spacing each path knot
meets at most one of them, and the order in which they meet is the same in every stretch: sort once, by
t_i modulo the spacing.

Only the correlation is carried along; whatever depends on the window's two ends alone is computed
afresh when a knot passes one of them. The correlation is computed afresh at anchors, the starts of
every stretch or of equal parts of it. What was carried to an anchor is compared with what is computed
there: if too much was lost on the way (observations very close together have steep slopes), the block
is walked again with more anchors, as long as that helps.

A stretch is passed over if it cannot hold the minimum: moving a window by r changes the discrepancy by
at most r times the L2 norm of f' over all it moves through.
"""

from __future__ import annotations

import numpy as np

from ..offsets import FREE, Offsets
from ..parallel import inlined_kernel, items_of, kernel, one_blas_thread, run_together, u
from ..paths import longest_path
from .blocks import cut_block, new_block
from .knots import BLOCK_LENGTHS, contract_channels, integrate_twice, knot_weights
from .lines import match_lines, nearest_lines, next_walk
from .problem import L2Problem
from .rows import transpose
from .sums import sum_between

SLACK = 1e-9  # of the squared discrepancy: keeps rounding from passing over the minimum
TOLERANCE = 1e-11  # of the cost's scale: how much may be lost between two anchors
MAX_ROUNDS = 5


def search_exact(problem: L2Problem) -> Offsets:
    """Offset of least discrepancy among all real ones."""
    paths = problem.paths
    shape = (len(paths), len(problem.lengths))
    start, slope = np.empty(shape), np.empty(shape)
    with one_blas_thread:
        run_together(
            _exact_search, len(paths), paths.knots, problem.rows, paths.row_offsets,
            knot_weights(problem.shapelets, problem.lengths), problem.lengths, problem.energy,
            problem.column, problem.level_free, problem.weights, problem.constant, problem.shift,
            *nearest_lines(problem), start, slope,
        )  # fmt: skip
    return Offsets(start, slope, np.full(shape, FREE), "compiled")


@inlined_kernel
def advance(d0, d1, d2, d3, d4, width):
    """A quartic and its first two derivatives, moved along by a width."""
    return (
        d0 + width * (d1 + width / 2.0 * (d2 + width / 3.0 * (d3 + width / 4.0 * d4))),
        d1 + width * (d2 + width / 2.0 * (d3 + width / 3.0 * d4)),
        d2 + width * (d3 + width / 2.0 * d4),
    )


@inlined_kernel
def reach(d1, d2, d3, d4, width):
    """How far the quartic with these derivatives can fall within a width."""
    return width * (
        abs(d1) + width * (0.5 * abs(d2) + width * (abs(d3) / 6.0 + width * (abs(d4) / 24.0)))
    )


@kernel
def minimise_piece(q0, q1, q2, q3, q4, width, best):
    """Smallest value below ``best`` on [0, width) of the polynomial with these derivatives at 0.

    Returns the value and its place; ``best`` and -1 if there is none.
    """
    place = -1.0
    if q0 < best:
        best, place = q0, 0.0
    # Between the roots of the second derivative the first is monotone.
    low, high = width, width
    if q4 != 0.0:
        discriminant = q3 * q3 - 2.0 * q4 * q2
        if discriminant > 0.0:
            root = -(q3 + np.sqrt(discriminant) * (1.0 if q3 > 0.0 else -1.0))
            low, high = root / q4, (2.0 * q2 / root if root != 0.0 else width)
    elif q3 != 0.0:
        low = -q2 / q3
    low, high = min(max(low, 0.0), width), min(max(high, 0.0), width)
    low, high = min(low, high), max(low, high)
    for segment in range(3):
        left = 0.0 if segment == 0 else (low if segment == 1 else high)
        right = low if segment == 0 else (high if segment == 1 else width)
        if right <= left:
            continue
        falling = q1 + left * (q2 + left / 2.0 * (q3 + left / 3.0 * q4))
        rising = q1 + right * (q2 + right / 2.0 * (q3 + right / 3.0 * q4))
        if falling >= 0.0 or rising <= 0.0:
            continue
        x = left + (right - left) * falling / (falling - rising)
        for _ in range(60):
            gradient = q1 + x * (q2 + x / 2.0 * (q3 + x / 3.0 * q4))
            if gradient < 0.0:
                left = x
            else:
                right = x
            curvature = q2 + x * (q3 + x / 2.0 * q4)
            step = gradient / curvature if curvature > 0.0 else np.inf
            following = x - step
            if not left <= following <= right:
                following = 0.5 * (left + right)
            if abs(following - x) <= 1e-16 * width:
                break
            x = following
        value = q0 + x * (q1 + x / 2.0 * (q2 + x / 3.0 * (q3 + x / 4.0 * q4)))
        if value < best:
            best, place = value, x
    return best, place


@kernel
def end_derivatives(
    sums, ending, starting, knots, path, integral, weight, level_free, length, s, left, right
):
    """What depends on a window's ends alone, and its four derivatives in s.

    ``ending`` and ``starting`` are piecewise cubic in s + S and in s, on the rows right and left; the
    energy between these rows is added, |int A f|^2 / S subtracted if the level is free.
    """
    x, y = u(left), u(right)
    a, b = s - knots[x], s + length - knots[y]
    a1, a2, a3 = starting[1, x], starting[2, x], starting[3, x]
    b1, b2, b3 = ending[1, y], ending[2, y], ending[3, y]
    d0 = (
        sum_between(sums, 0, left, right)
        + ending[0, y] + b * (b1 + b * (b2 + b * b3))
        - starting[0, x] - a * (a1 + a * (a2 + a * a3))
    )  # fmt: skip
    d1 = b1 + b * (2.0 * b2 + 3.0 * b * b3) - a1 - a * (2.0 * a2 + 3.0 * a * a3)
    d2 = 2.0 * b2 + 6.0 * b * b3 - 2.0 * a2 - 6.0 * a * a3
    d3, d4 = 6.0 * (b3 - a3), 0.0
    if level_free:
        a_gap, b_gap = 1.0 / (knots[x + u(1)] - knots[x]), 1.0 / (knots[y + u(1)] - knots[y])
        for channel in range(u(path.shape[1])):
            f, g = path[x, channel], path[y, channel]
            f_slope = (path[x + u(1), channel] - f) * a_gap
            g_slope = (path[y + u(1), channel] - g) * b_gap
            level = (
                integral[y, channel] + b * (g + 0.5 * b * g_slope)
                - integral[x, channel] - a * (f + 0.5 * a * f_slope)
            )  # fmt: skip
            first = g + b * g_slope - f - a * f_slope
            second = g_slope - f_slope
            scaled = weight[channel] / length
            d0 -= scaled * level * level
            d1 -= 2.0 * scaled * level * first
            d2 -= 2.0 * scaled * (first * first + level * second)
            d3 -= 6.0 * scaled * first * second
            d4 -= 6.0 * scaled * second * second
    return d0, d1, d2, d3, d4


@inlined_kernel
def subtract_derivatives(polynomials, rows, times, shift, n_anchors, out):
    """Subtract a piecewise cubic and its derivatives, at the lattice points shifted from the anchors."""
    for anchor in range(u(n_anchors)):
        row, t = u(rows[anchor + u(shift)]), times[anchor + u(shift)]
        c1, c2, c3 = polynomials[u(1), row], polynomials[u(2), row], polynomials[u(3), row]
        out[anchor, u(0)] -= polynomials[u(0), row] + t * (c1 + t * (c2 + t * c3))
        out[anchor, u(1)] -= c1 + t * (2.0 * c2 + 3.0 * t * c3)
        out[anchor, u(2)] -= 2.0 * c2 + 6.0 * t * c3
        out[anchor, u(3)] -= 6.0 * c3


@kernel
def search_block(
    block, n_rows, n_knots, weight, level_free, constant, length, end, parts, polynomials, best
):
    """Walk the offsets 0 to ``end`` of a block, ``parts`` anchors for each stretch.

    Returns the smallest cost below ``best`` and its place (-1 if there is none), and how much was lost
    between anchors.
    """
    knots, inverse_gap, table, sums, ending, starting, path, integral = block
    place = -1.0
    spacing = length / (n_knots - 1)
    part = spacing / parts
    # A knot lies ``phase`` after the lattice point cell * spacing + residue * part, and is passed at
    # all later points: one rule for anchors and crossings alike.
    cell, residue = np.empty(n_rows, np.int64), np.empty(n_rows, np.int64)
    phase = np.empty(n_rows)
    for row in range(1, n_rows - 1):
        cell[row] = int(np.floor(knots[row] / spacing))
        phase[row] = max(knots[row] - cell[row] * spacing, 0.0)
        residue[row] = min(int(phase[row] / part), parts - 1)
    order = np.argsort(phase[1 : n_rows - 1])
    ordered_cell, segment = np.empty(len(order), np.int64), np.zeros(parts + 1, np.int64)
    for item in range(len(order)):
        row = order[item] + 1
        order[item] = row
        ordered_cell[item] = cell[row]
        segment[residue[row] + 1] = item + 1
        phase[row] = max(phase[row] - residue[row] * part, 0.0)
    for item in range(parts):
        segment[item + 1] = max(segment[item + 1], segment[item])
    n_anchors = max(1, int(np.ceil(end / part)))
    lattice_row = np.empty(n_anchors + n_knots * parts + 1, np.int64)
    lattice_time = np.empty(len(lattice_row))
    row = 0
    for point in range(len(lattice_row)):
        while row + 2 < n_rows and cell[row + 1] * parts + residue[row + 1] < point:
            row += 1
        lattice_row[point] = row
        lattice_time[point] = (point // parts) * spacing + (point % parts) * part - knots[row]
    # The correlation at the anchors, then the whole cost.
    anchors, cost = np.zeros((n_anchors, 4)), np.empty(n_anchors)
    for j in range(n_knots):
        integrate_twice(knots, inverse_gap, 0, n_rows, table, j * n_rows, polynomials)
        subtract_derivatives(polynomials, lattice_row, lattice_time, j * parts, n_anchors, anchors)
    to_end = (n_knots - 1) * parts
    scale, lost = abs(constant), 0.0
    for anchor in range(n_anchors):
        origin = (anchor // parts) * spacing + (anchor % parts) * part
        ends = end_derivatives(
            sums, ending, starting, knots, path, integral, weight, level_free, length, origin,
            lattice_row[anchor], lattice_row[anchor + to_end],
        )  # fmt: skip
        cost[anchor] = anchors[anchor, 0] + ends[0]
        scale = max(scale, abs(cost[anchor]))
        if cost[anchor] < best:
            best, place = cost[anchor], origin
    crossings = np.empty(len(order) + 1, np.int64)
    for anchor in range(n_anchors):
        origin = (anchor // parts) * spacing + (anchor % parts) * part
        stretch = min(part, end - origin)
        last_stretch = anchor == n_anchors - 1
        left, right = lattice_row[anchor], lattice_row[anchor + to_end]
        # Pass over it if it cannot hold the minimum.
        through = lattice_row[anchor + to_end + 1] + 1
        variation = stretch * np.sqrt(max(sum_between(sums, 1, left, through), 0.0))
        bound = np.sqrt(max(cost[anchor] + constant, 0.0)) - variation
        if not last_stretch:
            following = np.sqrt(max(cost[anchor + 1] + constant, 0.0))
            bound = 0.5 * (bound + following)
        if bound > 0.0 and bound * bound * (1.0 - SLACK) > best + constant:
            continue
        n_crossings = 0
        for item in range(segment[anchor % parts], segment[anchor % parts + 1]):
            crossings[n_crossings] = order[item]
            n_crossings += u(ordered_cell[item] - anchor // parts) < u(n_knots)
        q0, q1 = anchors[anchor, 0], anchors[anchor, 1]
        q2, q3 = anchors[anchor, 2], anchors[anchor, 3]
        e0, e1, e2, e3, e4 = end_derivatives(
            sums, ending, starting, knots, path, integral, weight, level_free, length, origin,
            left, right,
        )  # fmt: skip
        now = 0.0
        for item in range(n_crossings + 1):
            until = stretch
            if item < n_crossings:
                until = min(phase[u(crossings[u(item)])], stretch)
            width = until - now
            if width > 0.0:
                c0, c1, c2, c3 = q0 + e0, q1 + e1, q2 + e2, q3 + e3
                if c0 - reach(c1, c2, c3, e4, width) < best:
                    found, x = minimise_piece(c0, c1, c2, c3, e4, width, best)
                    if x >= 0.0:
                        best, place = found, origin + now + x
                q0, q1, q2 = advance(q0, q1, q2, q3, 0.0, width)
                e0, e1, e2 = advance(e0, e1, e2, e3, e4, width)
                e3 += width * e4
                now = until
            if until >= stretch:
                break
            row = crossings[u(item)]
            j = cell[u(row)] - anchor // parts
            here = u(j * n_rows + row)
            q3 -= 2.0 * (
                (table[here + u(1)] - table[here]) * inverse_gap[u(row)]
                - (table[here] - table[here - u(1)]) * inverse_gap[u(row - 1)]
            )
            if j == 0 or j == n_knots - 1:
                if j == 0:
                    left = row
                else:
                    right = row
                e0, e1, e2, e3, e4 = end_derivatives(
                    sums, ending, starting, knots, path, integral, weight, level_free, length,
                    origin + now, left, right,
                )  # fmt: skip
        if last_stretch:
            if q0 + e0 < best:
                best, place = q0 + e0, end
        else:
            lost = max(lost, abs(q0 - anchors[anchor + 1, 0]))
    return best, place, lost / scale if scale > 0.0 else 0.0


@kernel
def walk_block(
    block, n_rows, n_knots, weight, level_free, constant, length, end, polynomials, best
):
    """Walk a block, with as many anchors as it takes, for a cost below ``best``: it and its place."""
    # About as many crossings between two anchors as an anchor costs.
    parts = 1 + int(n_rows * (length / (n_knots - 1) / (end + length)) / 2.0)
    lost_before = np.inf
    for _ in range(MAX_ROUNDS):
        found, place, lost = search_block(
            block, n_rows, n_knots, weight, level_free, constant, length, end, parts, polynomials, best
        )  # fmt: skip
        if lost <= TOLERANCE or lost > 0.5 * lost_before:
            break
        lost_before = lost
        parts *= 8
    return found, place


@kernel
def _exact_search(
    queue, knots_of_all, rows, row_offsets, of_knots, lengths, energy, column, level_free,
    weights, constant, shift, mean, tilt, rest, start, slope,
):  # fmt: skip
    n_shapelets, n_columns, n_channels = of_knots.shape
    n_knots = n_columns - 2
    longest = longest_path(row_offsets)
    transposed, inverse_gap = np.empty(longest * n_channels), np.empty(longest)
    table = np.empty(longest * n_columns)
    block = new_block(longest, n_columns, n_channels)
    density, terms = np.empty((longest, 1, 3)), np.empty(longest)
    polynomials = np.empty((4, longest))
    for series in items_of(queue):
        begin, end = row_offsets[series], row_offsets[series + 1]
        knots, path, own_energy = knots_of_all[begin:end], rows[begin:end], energy[begin:end]
        n_rows = end - begin
        start[series], slope[series] = 0.0, 0.0
        for row in range(n_rows - 1):
            inverse_gap[row] = 1.0 / (knots[row + 1] - knots[row])
        transpose(path, transposed)
        for k in range(n_shapelets):
            length = lengths[k]
            final = knots[n_rows - 1] - length
            if final <= 0.0:
                continue
            weight = weights[min(k, len(weights) - 1)]
            best, best_start = match_lines(
                knots, path, inverse_gap, shift[series], weight, level_free[k], length, mean[k], tilt[k]
            )  # fmt: skip
            best += rest[k] - constant[series, k]
            contract_channels(transposed, of_knots[k], n_rows, table)
            row, first_row = 1, 0
            while row < n_rows - 1:
                block_start, walk_end, row = next_walk(knots, length, row)
                while block_start < walk_end:
                    block_end = block_start + BLOCK_LENGTHS * length
                    if block_end + 0.5 * length > walk_end:
                        block_end = walk_end
                    first_row, last_row = cut_block(
                        knots, path, own_energy, column[k], table, n_columns, level_free[k], first_row,
                        block_start, block_end + length, density, terms, block,
                    )  # fmt: skip
                    found, place = walk_block(
                        block, last_row - first_row + 1, n_knots, weight, level_free[k],
                        constant[series, k], length, block_end - block_start, polynomials, best,
                    )  # fmt: skip
                    if place >= 0.0:
                        best, best_start = found, min(block_start + place, block_end)
                    block_start = block_end
            start[series, k] = min(best_start, final)
            slope[series, k] = -1.0 if best_start >= final else 0.0
