"""The true minimum over continuous offsets.

The squared discrepancy is a piecewise polynomial in the offset s: cubic (quartic if level-free) between
the places t_i - u_j where a knot of the path meets a knot of the shapelet. Walk them in order, carrying
the derivatives in s along, and take each piece's minimum in closed form.

The shapelet's knots are evenly spaced, so in any stretch of s as long as their spacing each path knot
meets at most one of them, and the order in which they meet is the same in every stretch: sort once, by
t_i modulo the spacing. The derivatives are computed afresh at the start of every stretch, so errors do
not add up.

A stretch is passed over if it cannot hold the minimum: moving a window by r changes the discrepancy by
at most r times the L2 norm of f' over all it moves through.
"""

from __future__ import annotations

import numpy as np
import torch

from ..offsets import FREE, Offsets
from ..parallel import kernel, one_blas_thread, run_blocks, u
from .compiled import (
    BINS,
    BLOCK_LENGTHS,
    TABLE_SIZE,
    block_rows,
    contract_channels,
    contracting_weights,
    integrate_density,
    integrate_once,
    integrate_twice,
    longest_path,
    prepare_rows,
)
from .problem import L2Problem

SLACK = 1e-9  # of the squared discrepancy: keeps rounding from passing over the minimum


def search_exact(problem: L2Problem) -> Offsets:
    """Offset of least discrepancy among all real ones."""
    paths = problem.paths
    shape = (len(paths), len(problem.lengths))
    start, slope = np.empty(shape), np.empty(shape)
    with one_blas_thread():
        run_blocks(
            _exact_search, len(paths), paths.knots, problem.rows, paths.row_offsets,
            contracting_weights(problem.shapelets, problem.lengths), problem.lengths, problem.energy,
            problem.column, problem.level_free, problem.weights, problem.constant, start, slope,
        )  # fmt: skip
    index = torch.full(shape, FREE)
    return Offsets(torch.from_numpy(start), torch.from_numpy(slope), index, "compiled")


@kernel
def minimise_piece(q0, q1, q2, q3, q4, width, best):
    """Smallest value below ``best`` on [0, width) of the polynomial with these derivatives at 0.

    Returns the value and its place; ``best`` and -1 if there is none.
    """
    place = -1.0
    if q0 < best:
        best, place = q0, 0.0
    reach = width * (
        abs(q1) + width * (0.5 * abs(q2) + width * (abs(q3) / 6.0 + width * (abs(q4) / 24.0)))
    )
    if q0 - reach >= best:
        return best, place
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
def advance(derivatives, width):
    """Move a quartic's derivatives along by a width."""
    d0, d1, d2 = derivatives[0], derivatives[1], derivatives[2]
    d3, d4 = derivatives[3], derivatives[4]
    derivatives[0] = d0 + width * (d1 + width / 2.0 * (d2 + width / 3.0 * (d3 + width / 4.0 * d4)))
    derivatives[1] = d1 + width * (d2 + width / 2.0 * (d3 + width / 3.0 * d4))
    derivatives[2] = d2 + width * (d3 + width / 2.0 * d4)
    derivatives[3] = d3 + width * d4


@kernel
def level_derivatives(knots, path, integral, weight, length, s, left, right, out):
    """|int A f|^2 / S over [s, s + S] and its four derivatives in s, given the rows of both ends."""
    a, b = s - knots[left], s + length - knots[right]
    a_gap, b_gap = 1.0 / (knots[left + 1] - knots[left]), 1.0 / (knots[right + 1] - knots[right])
    out[:] = 0.0
    for channel in range(path.shape[1]):
        f, g = path[left, channel], path[right, channel]
        f_slope = (path[left + 1, channel] - f) * a_gap
        g_slope = (path[right + 1, channel] - g) * b_gap
        level = (
            integral[right, channel] + b * (g + 0.5 * b * g_slope)
            - integral[left, channel] - a * (f + 0.5 * a * f_slope)
        )  # fmt: skip
        first = g + b * g_slope - f - a * f_slope
        second = g_slope - f_slope
        scaled = weight[channel] / length
        out[0] += scaled * level * level
        out[1] += 2.0 * scaled * level * first
        out[2] += 2.0 * scaled * (first * first + level * second)
        out[3] += 6.0 * scaled * first * second
        out[4] += 6.0 * scaled * second * second


@kernel
def add_derivatives(polynomials, sign, rows, times, shift, n_anchors, out):
    """Add a piecewise polynomial's value and three derivatives, at lattice point anchor + shift."""
    for anchor in range(n_anchors):
        row, t = rows[anchor + shift], times[anchor + shift]
        c1, c2, c3 = polynomials[1, row], polynomials[2, row], polynomials[3, row]
        out[anchor, 0] += sign * (polynomials[0, row] + t * (c1 + t * (c2 + t * c3)))
        out[anchor, 1] += sign * (c1 + t * (2.0 * c2 + 3.0 * t * c3))
        out[anchor, 2] += sign * (2.0 * c2 + 6.0 * t * c3)
        out[anchor, 3] += sign * 6.0 * c3


@kernel
def energy_polynomials(inverse_gap, prefix, energy, begin, column, first_row, last_row, out):
    """The energy's running integral on each piece, as polynomials of the time passed."""
    for row in range(first_row, last_row - 1):
        out[0, row] = prefix[row]
        out[1, row] = energy[begin + row, column, 0]
        out[2, row] = energy[begin + row, column, 1] * inverse_gap[row]
        out[3, row] = energy[begin + row, column, 2] * inverse_gap[row] * inverse_gap[row] / 3.0


@kernel
def second_jump(polynomials, knots, row):
    """Jump of the second derivative at a row's knot."""
    gap = knots[row] - knots[row - 1]
    before = 2.0 * polynomials[2, row - 1] + 6.0 * gap * polynomials[3, row - 1]
    return 2.0 * polynomials[2, row] - before


@kernel
def third_jump(polynomials, row):
    """Jump of the third derivative at a row's knot."""
    return 6.0 * (polynomials[3, row] - polynomials[3, row - 1])


@kernel
def _exact_search(
    first, last, knots_of_all, rows, row_offsets, contracting, lengths, energy, column, level_free,
    weights, constant, start, slope,
):  # fmt: skip
    n_shapelets, n_columns, n_channels = contracting.shape
    n_knots = n_columns - 2
    longest = longest_path(first, last, row_offsets)
    table = np.empty(max(TABLE_SIZE, longest * n_columns))
    polynomials, energies = np.empty((4, longest)), np.empty((4, longest))
    fence, inverse_gap = np.empty(longest), np.empty(longest)
    all_bins = np.empty(longest * BINS, np.int32)
    integral, prefix = np.empty((longest, n_channels)), np.empty(longest)
    roughness = np.empty(longest)
    transposed = np.empty(longest * n_channels)
    # Jumps of the cost's third derivative where path knot i meets shapelet knot j, and of its second
    # where path knot i meets the window's end or start.
    jumps = np.empty((n_knots, longest))
    end_jumps, start_jumps = np.empty(longest), np.empty(longest)
    cell, phase = np.empty(longest, np.int64), np.empty(longest)
    ordered_cell, crossings = np.empty(longest, np.int64), np.empty(longest, np.int64)
    n_anchors_max = int(np.ceil((BLOCK_LENGTHS + 1.0) * n_knots)) + 2
    lattice_row = np.empty(n_anchors_max + n_knots + 1, np.int64)
    lattice_time = np.empty(n_anchors_max + n_knots + 1)
    anchors, anchor_cost = np.empty((n_anchors_max, 4)), np.empty(n_anchors_max)
    level = np.zeros(5)
    for series in range(first, last):
        begin, end = row_offsets[series], row_offsets[series + 1]
        knots, path = knots_of_all[begin:end], rows[begin:end]
        n_rows = end - begin
        start[series], slope[series] = 0.0, 0.0
        if n_rows == 1:
            continue
        bins = all_bins[: n_rows * BINS]
        prepare_rows(knots, path, inverse_gap, fence, bins, integral, transposed)
        group_size = max(1, TABLE_SIZE // (n_rows * n_columns))
        for k in range(n_shapelets):
            if k % group_size == 0:
                contract_channels(
                    transposed, contracting, k, min(k + group_size, n_shapelets), n_rows, table
                )
            length = lengths[k]
            final = knots[n_rows - 1] - length
            if final <= 0.0:
                continue
            spacing = length / (n_knots - 1)
            weight, free = weights[min(k, len(weights) - 1)], level_free[k]
            integrate_density(knots, energy, begin, n_rows, column[k], prefix)
            roughness[0] = 0.0
            for row in range(n_rows - 1):
                rise = energy[begin + row, column[k], 2] * inverse_gap[row]
                roughness[row + 1] = roughness[row] + rise
            best, best_start = np.inf, 0.0
            block_start, first_row = 0.0, 0
            while block_start < final:
                block_end = block_start + BLOCK_LENGTHS * length
                if block_end + 0.5 * length > final:
                    block_end = final
                first_row, last_row = block_rows(knots, first_row, block_start, block_end + length)
                # Where the lattice block_start + l * spacing lies among the path's knots. A knot is
                # passed at l if its cell is below l: one rule for anchors and crossings alike.
                n_anchors = max(1, int(np.ceil((block_end - block_start) / spacing)))
                for row in range(first_row + 1, last_row - 1):
                    position = (knots[row] - block_start) / spacing
                    cell[row] = int(np.floor(position))
                    phase[row] = max(knots[row] - (block_start + cell[row] * spacing), 0.0)
                row = first_row
                for point in range(n_anchors + n_knots):
                    while row + 2 < last_row and cell[row + 1] < point:
                        row += 1
                    lattice_row[point] = row
                    lattice_time[point] = block_start + point * spacing - knots[row]
                order = np.argsort(phase[first_row + 1 : last_row - 1])
                for place in range(len(order)):
                    order[place] += first_row + 1
                    ordered_cell[place] = cell[order[place]]
                # The cost and its derivatives at the start of every stretch.
                anchors[:n_anchors] = 0.0
                energy_polynomials(
                    inverse_gap, prefix, energy, begin, column[k], first_row, last_row, energies
                )
                add_derivatives(
                    energies, 1.0, lattice_row, lattice_time, n_knots - 1, n_anchors, anchors
                )
                add_derivatives(energies, -1.0, lattice_row, lattice_time, 0, n_anchors, anchors)
                for j in range(n_columns):
                    place = (k % group_size * n_columns + j) * n_rows
                    if j < n_knots:
                        integrate_twice(
                            knots, inverse_gap, first_row, last_row, table, place, polynomials
                        )
                        for row in range(u(first_row + 1), u(last_row - 1)):
                            jumps[j, row] = -6.0 * (
                                polynomials[3, row] - polynomials[3, row - u(1)]
                            )
                        shift = j
                    else:
                        sign = 2.0 if j == n_knots else -2.0
                        integrate_once(
                            knots, inverse_gap, first_row, last_row, table, place, sign, polynomials
                        )
                        which = end_jumps if j == n_knots else start_jumps
                        for row in range(first_row + 1, last_row - 1):
                            which[row] = -second_jump(polynomials, knots, row)
                        shift = n_knots - 1 if j == n_knots else 0
                    add_derivatives(
                        polynomials, -1.0, lattice_row, lattice_time, shift, n_anchors, anchors
                    )
                for row in range(first_row + 1, last_row - 1):
                    second, third = second_jump(energies, knots, row), third_jump(energies, row)
                    end_jumps[row] += second
                    start_jumps[row] -= second
                    jumps[n_knots - 1, row] += third
                    jumps[0, row] -= third
                for anchor in range(n_anchors):
                    value = anchors[anchor, 0]
                    if free:
                        level_derivatives(
                            knots, path, integral, weight, length, block_start + anchor * spacing,
                            lattice_row[anchor], lattice_row[anchor + n_knots - 1], level,
                        )  # fmt: skip
                        value -= level[0]
                    anchor_cost[anchor] = value
                    if value < best:
                        best, best_start = value, block_start + anchor * spacing
                # Walk.
                for anchor in range(n_anchors):
                    origin = block_start + anchor * spacing
                    stretch = min(spacing, block_end - origin)
                    last_stretch = anchor == n_anchors - 1
                    through = lattice_row[anchor + n_knots] + 1
                    variation = np.sqrt(roughness[through] - roughness[lattice_row[anchor]])
                    bound = np.sqrt(max(anchor_cost[anchor] + constant[series, k], 0.0))
                    if last_stretch:
                        bound -= stretch * variation
                    else:
                        following = np.sqrt(max(anchor_cost[anchor + 1] + constant[series, k], 0.0))
                        bound = 0.5 * (bound + following - stretch * variation)
                    if bound > 0.0 and bound * bound * (1.0 - SLACK) > best + constant[series, k]:
                        continue
                    q0, q1 = anchors[anchor, 0], anchors[anchor, 1]
                    q2, q3 = anchors[anchor, 2], anchors[anchor, 3]
                    left, right = lattice_row[anchor], lattice_row[anchor + n_knots - 1]
                    if free:
                        level_derivatives(
                            knots, path, integral, weight, length, origin, left, right, level
                        )
                    n_crossings = 0
                    for place in range(len(order)):
                        crossings[n_crossings] = order[place]
                        n_crossings += u(ordered_cell[place] - anchor) < u(n_knots)
                    now = 0.0
                    for place in range(n_crossings + 1):
                        crossing, j = -1, -1
                        until = stretch
                        if place < n_crossings:
                            crossing = crossings[place]
                            j = cell[crossing] - anchor
                            until = min(phase[crossing], stretch)
                        width = until - now
                        if width > 0.0:
                            if free:
                                found, x = minimise_piece(
                                    q0 - level[0], q1 - level[1], q2 - level[2], q3 - level[3],
                                    -level[4], width, best,
                                )  # fmt: skip
                                advance(level, width)
                            else:
                                found, x = minimise_piece(q0, q1, q2, q3, 0.0, width, best)
                            if x >= 0.0:
                                best, best_start = found, origin + now + x
                            q0 += width * (q1 + width / 2.0 * (q2 + width / 3.0 * q3))
                            q1 += width * (q2 + width / 2.0 * q3)
                            q2 += width * q3
                            now = until
                        if crossing < 0 or until >= stretch:
                            break
                        q3 += jumps[j, crossing]
                        if j == 0 or j == n_knots - 1:
                            if j == 0:
                                q2 += start_jumps[crossing]
                                left = crossing
                            else:
                                q2 += end_jumps[crossing]
                                right = crossing
                            if free:
                                level_derivatives(
                                    knots, path, integral, weight, length, origin + now, left, right,
                                    level,
                                )  # fmt: skip
                    if last_stretch and block_end == final and q0 - level[0] < best:
                        best, best_start = q0 - level[0], final
                level[:] = 0.0
                block_start = block_end
            start[series, k] = min(best_start, final)
            slope[series, k] = -1.0 if best_start >= final else 0.0
