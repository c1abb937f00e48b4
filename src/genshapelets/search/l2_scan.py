"""Kernels of the L2 search: costs of all offsets on a lattice, and what to make of the least of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..evaluation.l2_lattice import (
    ROUNDING,
    Lattice,
    copy_channels,
    lattice_difference,
    lattice_scaled_difference,
    lattice_squared_norm,
    new_difference,
    weighted_residual,
)
from ..evaluation.l2_problem import Rows, Shapes
from ..evaluation.l2_union import (
    add_moments,
    find_difference,
    find_nodes,
    lay_window,
    longest_path,
    new_nodes,
    norm_and_slope,
    pair_of,
    room_for_path,
    squared_norm,
)
from ..kernels import inner_kernel, kernel
from ..paths import Array, Index

TOLERANCE = 8 * 2.0**-24  # of the energies that the scan adds up: its rounding
N_MINIMA = 3  # local minima that are followed on the true path,
SLACK = 0.02  # if the scan puts them within this share of the best one's squared discrepancy
MAX_STEPS = 4  # of the descent,
GAIN = 1e-4  # while a step promises to gain this share
SHORTEST, SHORTEST_SCALE_FREE = 4.0, 12.0  # steps: shorter shapelets are not searched by the scan
PARTS, PARTS_SCALE_FREE = 2, 4  # into which pieces of the true path are then divided
NOISE = 1e-2  # rounding of the scan, relative to a squared discrepancy, that may hide a minimum
DOUBT = 2e-3  # rounding of a scale-free cost, relative to the length, that is too much
TINY = 1e-30  # energy of a window, of whose digits float32 may have lost some

Single = NDArray[np.float32]


class Scanned(NamedTuple):
    """Shapelets on the lattice that is scanned.

    Attributes
    ----------
    step : float
    pieces, share : (shapelets,) arrays
        As in `Lattice`.
    room : (series, shapelets) array
        Last possible start.
    energy : (shapelets,) array
        About int |A (w - mean of w)|^2.
    weights : (shapelets, channels) array
        Of all channels.
    """

    step: float
    pieces: Index
    share: Array
    room: Array
    energy: Array
    weights: Array


class Costs(NamedTuple):
    """Costs of a chunk of paths.

    Attributes
    ----------
    cost : (paths, shapelets, points) array
        Of the windows that begin at each point, for level-free shapelets apart from the level; for
        scale-free ones the correlation alone.
    ends : (paths, shapelets) array
        Of the last possible windows; empty if the paths are irregular.
    values, integral : (paths, channels, points) arrays
        The paths, and their integrals up to each point.
    moments : two (paths, channels, points) arrays
        In float64: these integrals, and those of squares, which are empty if no shapelet is scale-free.
    tolerance : (paths, shapelets) array
        How far rounding may put a cost from the truth; for scale-free shapelets, an energy.
    n_rows : (paths,) array
        Points of each path.
    """

    cost: Single
    ends: Single
    values: Single
    integral: Single
    moments: tuple[Array, Array]
    tolerance: Array
    n_rows: Index


class Samples(NamedTuple):
    """Paths whose samples are the offsets to choose from.

    Attributes
    ----------
    rows, mirrored : Rows
        The paths, and those backwards in time.
    flat_until : (rows,) array
        Last row of its path, counted in the path, up to which the values stay those of a row.
    """

    rows: Rows
    mirrored: Rows
    flat_until: Index


class Exact(NamedTuple):
    """What windows of regular paths are evaluated by exactly.

    Attributes
    ----------
    samples : Samples
    shapes : Shapes
    lattice, backwards : Lattice
        The shapelets on the paths' samples, and those backwards in time.
    """

    samples: Samples
    shapes: Shapes
    lattice: Lattice
    backwards: Lattice


class Found(NamedTuple):
    """Results, as in `Offsets`."""

    start: Array
    slope: Array
    count: Index  # type: ignore[assignment]  # tuple has a method of this name


@kernel
def correlate_few(features, taps, channels, n_active, weights, out):
    """Sum features times taps over the channels that count, for each path and shapelet.

    Features (paths, 3 * channels, points) are values, cells and squares, as in
    `genshapelets.search.l2`; taps (shapelets, channels + 2, points) end with those of cells and squares.
    """
    n_channels = features.shape[1] // 3
    for j in range(len(out)):
        for k in range(out.shape[1]):
            total, of_cells, of_squares = out[j, k], taps[k, -2], taps[k, -1]
            total[:] = 0.0
            for i in range(n_active[k]):
                value, tap, weight = features[j, channels[k, i]], taps[k, i], weights[k, i]
                cell = features[j, n_channels + channels[k, i]]
                square = features[j, 2 * n_channels + channels[k, i]]
                for f in range(len(total)):
                    energy = cell[f] * of_cells[f] + square[f] * of_squares[f]
                    total[f] += value[f] * tap[f] + weight * energy


@kernel
def search_samples(members, exact, shapes, scanned, costs, found):
    """Best samples of a chunk of regular paths, ``members`` of the batch."""
    n_best = found.start.shape[2]
    order = np.empty(n_best, np.int64)
    room_for = new_difference(exact.lattice), new_difference(exact.lattice)
    energies = np.empty(costs.cost.shape[2])
    for j in range(len(members)):
        series, values, integral = members[j], costs.values[j], costs.integral[j]
        last = costs.n_rows[j] - 1
        for k in range(len(shapes.lengths)):
            room = scanned.room[series, k]
            if room <= 0.0:
                continue  # the path is shorter: its first time is the offset
            window = scanned.pieces[k] - 1, scanned.share[k], scanned.step
            cost = costs.cost[j, k, : n_offsets_before(room, scanned.step) + 1]
            cost[-1], tolerance = costs.ends[j, k], costs.tolerance[j, k]
            if shapes.scale_free[k]:
                energy, paths = (
                    energies[: len(cost)],
                    (values, costs.moments[0][j], costs.moments[1][j]),
                )
                find_energies(paths, scanned.weights[k], window, energy[:-1])
                energy[-1] = end_energy(paths, scanned.weights[k], window, last)
                tolerance = scale_costs(cost, energy, shapes.lengths[k], tolerance)
            elif shapes.level_free[k]:
                subtract_level(values, integral, scanned.weights[k], window, cost[:-1])
                cost[-1] -= end_level(values, integral, scanned.weights[k], window, last)
            if n_best > 1:
                if shapes.scale_free[k]:
                    for s in range(len(cost)):
                        if np.isnan(cost[s]):
                            cost[s] = exact_square(s, len(cost), series, k, exact, room_for)
                count = best_minima(cost, order)
                least = exact_square(order[0], len(cost), series, k, exact, room_for)
                if tolerance > NOISE * max(least, NOISE * scanned.energy[k]):
                    squares = np.empty(len(cost))
                    for s in range(len(cost)):
                        squares[s] = exact_square(s, len(cost), series, k, exact, room_for)
                    count = best_minima(squares, order)
            else:
                bound = least_of(cost) + tolerance
                order[0], count = count_close(cost, bound)
                if count > 1:
                    order[0], count = settle(cost, bound, series, k, exact, room_for), 1
            found.count[series, k] = count
            for c in range(n_best):
                at_end = order[c] == len(cost) - 1
                found.start[series, k, c] = room if at_end else order[c] * scanned.step
                found.slope[series, k, c] = -1.0 if at_end else 0.0


@kernel
def search_minima(members, rows, shapes, scanned, costs, found):
    """Best local minima over continuous offsets, of a chunk of paths, ``members`` of the batch.

    The best few minima of the scan are followed on the true path. Where the scan is too coarse, or its
    rounding hides what is to be found, the true path is scanned instead.
    """
    n_best, step = found.start.shape[2], scanned.step
    _, n_knots, n_channels = shapes.values.shape
    longest = longest_path(rows.row_offsets)
    nodes, path = new_nodes(longest + n_knots + 2, n_channels), room_for_path(rows, shapes)
    events = np.empty((2, PARTS_SCALE_FREE * (2 * longest + 1) + 1))
    least, order = np.empty(n_best), np.empty(max(N_MINIMA, n_best), np.int64)
    energies = np.empty(costs.cost.shape[2])
    for j in range(len(members)):
        series, values, integral = members[j], costs.values[j], costs.integral[j]
        for k in range(len(shapes.lengths)):
            room = scanned.room[series, k]
            if room <= 0.0:
                continue
            pair = pair_of(rows, series, shapes, k, path)
            starts, count = found.start[series, k], 0
            tolerance = costs.tolerance[j, k]
            shortest = SHORTEST_SCALE_FREE if pair.scale_free else SHORTEST
            if pair.length >= shortest * step:
                window = scanned.pieces[k] - 1, scanned.share[k], step
                cost = costs.cost[j, k, : n_offsets_before(room, step) + 1]
                if pair.scale_free:
                    energy, paths = (
                        energies[: len(cost)],
                        (values, costs.moments[0][j], costs.moments[1][j]),
                    )
                    find_energies(paths, scanned.weights[k], window, energy)
                    tolerance = scale_costs(cost, energy, pair.length, tolerance)
                    lay_in_doubt(pair, cost, step, nodes)
                elif pair.level_free:
                    subtract_level(values, integral, scanned.weights[k], window, cost)
                if len(cost) > 1:
                    interpolate_end(cost, room / step)
                count = follow_scan(pair, cost, step, room, order, nodes, (starts, least))
            hidden = tolerance > NOISE * max(least[0], NOISE * scanned.energy[k])
            if count == 0 or hidden:
                count = follow_events(pair, room, order, events, nodes, (starts, least))
            found.count[series, k] = count
            for c in range(n_best):
                if c >= count:
                    starts[c] = starts[0]
                found.slope[series, k, c] = -1.0 if starts[c] == room else 0.0


@inner_kernel
def follow_scan(pair, cost, step, room, order, nodes, best):
    """Follow the best local minima of a scan; writes the best (starts, values) found, how many."""
    starts, least = best
    count = 0
    for c in range(best_minima(cost, order)):
        if c >= len(least) and cost[order[c]] - cost[order[0]] > SLACK * least[0]:
            break
        bracket = parabola(cost, order[c], step, room)
        start, value = descend(pair, bracket, nodes)
        count = insert(start, value, starts, least, count)
    return count


@inner_kernel
def follow_events(pair, room, order, events, nodes, best):
    """Do the same after a scan of the true path, at all events and a few places between them.

    Events are offsets at which the window begins or ends at a knot of the path. ``events`` is room for
    them and for the squared discrepancies there. Minima of scale-free discrepancies may be narrower.
    """
    n_parts = PARTS_SCALE_FREE if pair.scale_free else PARTS
    tried, cost, (starts, least) = events[0], events[1], best
    n_tried, begin, end, tried[0] = 1, 0, 0, 0.0
    while tried[n_tried - 1] < room:
        before, following = tried[n_tried - 1], room
        while begin < len(pair.knots) and pair.knots[begin] <= before:
            begin += 1
        while end < len(pair.knots) and pair.knots[end] - pair.length <= before:
            end += 1
        if begin < len(pair.knots):
            following = min(following, pair.knots[begin])
        if end < len(pair.knots):
            following = min(following, pair.knots[end] - pair.length)
        for part in range(1, n_parts):
            tried[n_tried] = before + (following - before) * part / n_parts
            n_tried += 1
        tried[n_tried], n_tried = following, n_tried + 1
    for s in range(n_tried):
        cost[s] = squared_norm(nodes, lay_window(pair, tried[s], nodes), pair.weight)
    count = 0
    for c in range(best_minima(cost[:n_tried], order)):
        s = order[c]
        bracket = tried[s], tried[max(s - 1, 0)], tried[min(s + 1, n_tried - 1)], 0.0
        start, value = descend(pair, bracket, nodes)
        count = insert(start, value, starts, least, count)
    return count


@inner_kernel
def n_offsets_before(room, step):
    """How many points lie before the last possible start."""
    return int(np.ceil(room / step - ROUNDING * (room / step + 1.0)))


@inner_kernel
def interpolate_end(cost, last):
    """Replace the last cost, of a point beyond the last possible start, by that at the latter."""
    z = last - (len(cost) - 2)
    here, after = cost[-2], cost[-1]
    before = cost[-3] if len(cost) > 2 else here + here - after
    cost[-1] = here + 0.5 * z * (after - before + z * (after - here - here + before))


# What a level-free discrepancy ignores: l^2 a^2 / S for each channel, l = int f over the window.
# ``window`` is (whole cells, share of a cell that follows them, width of a cell). Channels of weight 0
# are left out.


@inner_kernel
def subtract_level(values, integral, weight, window, cost):
    """Subtract it from the costs of the windows that begin at each point."""
    whole, z, step = window
    of_here, of_next = np.float32(step * (z - 0.5 * z * z)), np.float32(step * 0.5 * z * z)
    for d in range(len(weight)):
        if weight[d] == 0.0:
            continue
        f, since, until = values[d, whole:], integral[d], integral[d, whole:]
        factor = np.float32(weight[d] / (step * (whole + z)))
        for s in range(len(cost)):
            level = until[s] - since[s] + of_here * f[s] + of_next * f[s + 1]
            cost[s] -= factor * level * level


@inner_kernel
def end_level(values, integral, weight, window, last):
    """It for the window that ends at the last point."""
    whole, z, step = window
    before, row, total = 1.0 - z, last - whole - 1, 0.0
    for d in range(len(weight)):
        f, g = values[d, row], values[d, row + 1]
        level = integral[d, last] - integral[d, row]
        level -= step * before * (f + 0.5 * before * (g - f))
        total += weight[d] * level * level
    return np.float32(total / (step * (whole + z)))


# What a scale-free discrepancy divides by: int a^2 f^2 - l^2 a^2 / S, summed over channels. ``paths`` is
# (values, integral, integral of squares).


@inner_kernel
def find_energies(paths, weight, window, out):
    """Write it for the windows that begin at each point."""
    values, integral, squares = paths
    whole, z, step = window
    half, third, inverse = 0.5 * step * z, step * z / 3.0, 1.0 / (step * (whole + z))
    for s in range(len(out)):
        out[s] = 0.0
    for d in range(len(weight)):
        if weight[d] == 0.0:
            continue
        f, since, until = values[d, whole:], integral[d], integral[d, whole:]
        before, after, factor = squares[d], squares[d, whole:], weight[d]
        for s in range(len(out)):
            p, q = f[s], f[s] + z * (f[s + 1] - f[s])
            level = until[s] - since[s] + half * (p + q)
            square = after[s] - before[s] + third * (p * p + p * q + q * q)
            out[s] += factor * (square - inverse * level * level)


@inner_kernel
def end_energy(paths, weight, window, last):
    """It for the window that ends at the last point."""
    values, integral, squares = paths
    whole, z, step = window
    row, total = last - whole, 0.0
    for d in range(len(weight)):
        q, p = values[d, row], values[d, row] + z * (values[d, row - 1] - values[d, row])
        level = integral[d, last] - integral[d, row] + 0.5 * step * z * (p + q)
        square = squares[d, last] - squares[d, row] + step * z / 3.0 * (p * p + p * q + q * q)
        total += weight[d] * (square - level * level / (step * (whole + z)))
    return total


@inner_kernel
def scale_costs(cost, energy, length, tolerance):
    """Turn C and E of windows into squared discrepancies; NaN where rounding leaves doubt.

    ``tolerance`` is that of the energy of the whole path. Returns how far rounding may put the others
    from the truth: that of C and of the path's values count as the root of the energy does.
    """
    rounding, once, twice = TOLERANCE * tolerance, np.float32(length), np.float32(2.0 * length)
    least = max(rounding * (3.0 / DOUBT) ** 2, TINY)
    for s in range(len(cost)):
        here = twice + cost[s] * np.sqrt(np.divide(once, np.float32(energy[s])))
        cost[s] = here if energy[s] > least else np.float32(np.nan)
    return 3.0 * length * np.sqrt(rounding / max(least_of(energy), least))


@inner_kernel
def lay_in_doubt(pair, cost, step, nodes):
    """Replace costs that are NaN by those on the true path."""
    for s in range(len(cost)):
        if np.isnan(cost[s]):
            cost[s] = squared_norm(nodes, lay_window(pair, s * step, nodes), pair.weight)


@inner_kernel
def least_of(cost):
    """The least cost, infinite if there is none."""
    least = cost.dtype.type(np.inf)
    for s in range(len(cost)):
        least = cost[s] if cost[s] < least else least
    return least


@inner_kernel
def count_close(cost, bound):
    """Position of the first cost within the bound, and how many there are. NaN is within it."""
    first, n_close = 0, 0
    for s in range(len(cost)):
        if not cost[s] > bound:
            first, n_close = s if n_close == 0 else first, n_close + 1
    return first, n_close


@inner_kernel
def exact_square(s, n_offsets, series, k, exact, room_for):
    """Squared discrepancy of the window at sample s, or at the last possible start if s is last."""
    values, row = exact.samples.rows.values, exact.samples.rows.row_offsets[series] + s
    lattice, shapes = exact.lattice, exact.shapes
    if s == n_offsets - 1:
        values, row, lattice = exact.samples.mirrored.values, row - s, exact.backwards
    pieces, share, n_channels = lattice.pieces[k], lattice.share[k], shapes.n_active[k]
    channels, projected = shapes.channels[k, :n_channels], lattice.projection[k]
    difference, window = room_for
    if n_channels < values.shape[1]:
        copy_channels(values[row : row + pieces + 1].ravel(), channels, values.shape[1], window)
    else:
        window = values.ravel()[row * n_channels :]
    if shapes.scale_free[k]:
        lattice_scaled_difference(
            window, projected, lattice.weights[k], pieces, share, n_channels, difference
        )
    else:
        lattice_difference(
            window, projected, pieces, share, n_channels, shapes.level_free[k], difference
        )
    square = lattice_squared_norm(difference, lattice.weights[k], pieces, share, n_channels)
    return square * lattice.step / 3.0 + weighted_residual(lattice, k, n_channels)


@inner_kernel
def settle(cost, bound, series, k, exact, room_for):
    """Evaluate exactly what is within the bound: position of the least, the earliest of equal ones.

    Where float32 has overflowed all are within the bound.
    """
    lowest, best = np.inf, 0
    flat_until = exact.samples.flat_until[exact.samples.rows.row_offsets[series] :]
    flat = -1  # until where the path is constant, as an earlier window has seen
    for s in range(len(cost)):
        if cost[s] > bound or (s + exact.lattice.pieces[k] <= flat and s < len(cost) - 1):
            continue
        flat = flat_until[s]
        value = exact_square(s, len(cost), series, k, exact, room_for)
        if value < lowest:
            best, lowest = s, value
    return best


@inner_kernel
def best_minima(cost, order):
    """Write positions of the best local minima, repeating the first where there are fewer; how many."""
    n_best, n_found = len(order), 0
    order[0] = 0
    for s in range(len(cost)):
        if (s > 0 and cost[s - 1] <= cost[s]) or (s < len(cost) - 1 and cost[s + 1] < cost[s]):
            continue
        place = min(n_found, n_best - 1)
        if n_found == n_best and not cost[s] < cost[order[place]]:
            continue
        n_found = min(n_found + 1, n_best)
        while place > 0 and cost[order[place - 1]] > cost[s]:
            order[place] = order[place - 1]
            place -= 1
        order[place] = s
    for place in range(n_found, n_best):
        order[place] = order[0]
    return max(n_found, 1)


@inner_kernel
def insert(start, value, starts, values, count):
    """Put a candidate among the best so far, if it is one of them; returns how many there are."""
    place = min(count, len(values) - 1)
    if count == len(values) and not value < values[place]:
        return count
    while place > 0 and values[place - 1] > value:
        starts[place], values[place] = starts[place - 1], values[place - 1]
        place -= 1
    starts[place], values[place] = start, value
    return min(count + 1, len(values))


@inner_kernel
def parabola(cost, s, step, room):
    """Where to look for a minimum between the neighbours of point s: place, least, most, curvature.

    The place is the vertex of a parabola. Place and curvature are rounded to a few bits: those that
    follow are noise, which depends on the batch.
    """
    low, high, curvature = max((s - 1) * step, 0.0), min((s + 1) * step, room), 0.0
    start = room if s == len(cost) - 1 else s * step
    if 0 < s < len(cost) - 2:  # where the neighbours are as far on both sides
        before, here, after = float(cost[s - 1]), float(cost[s]), float(cost[s + 1])
        bend = before - 2.0 * here + after
        if bend > 0.0:
            start += step * np.round(8.0 * (before - after) / bend) / 16.0
            unit = 2.0 ** np.floor(np.log2(bend)) / 4.0
            curvature = unit * np.round(bend / unit) / step**2
    return min(max(start, low), high), low, high, curvature


@inner_kernel
def descend(pair, bracket, nodes):
    """Minimise over the offsets in a bracket: place and squared discrepancy.

    By Newton's method, with the curvature of the last two slopes; without one, by a quarter of the
    bracket, which is (place, least, most, curvature).
    """
    start, low, high, curvature = bracket
    reach = 0.25 * (high - low)
    value, slope = norm_and_slope(pair, nodes, lay_window(pair, start, nodes))
    for _ in range(MAX_STEPS):
        move = -slope / curvature if curvature > 0.0 else -np.sign(slope) * reach
        following = min(max(start + move, low), high)
        if not 0.5 * abs(slope * (following - start)) > GAIN * value:
            if curvature > 0.0:  # a last step, so small that its value need not be seen
                start = following
            break
        next_value, next_slope = norm_and_slope(pair, nodes, lay_window(pair, following, nodes))
        secant = (next_slope - slope) / (following - start)
        curvature = secant if secant > 0.0 else 4.0 * abs(curvature)
        if next_value < value:
            start, value, slope = following, next_value, next_slope
        elif following > start:
            high = following
        else:
            low = following
    return start, value


@kernel
def resample(first, last, knots, values, row_offsets, step, hats, energy):
    """Integrals of paths against the hat functions of a lattice, and of their squares over its cells.

    Both (series, points, channels).
    """
    n_points, n_channels = hats.shape[1:]
    nodes = new_nodes(longest_path(row_offsets) + n_points + 2, n_channels)
    zero = np.zeros((n_points, n_channels))
    for series in range(first, last):
        own = slice(row_offsets[series], row_offsets[series + 1])
        n_nodes = find_nodes(knots[own], 0.0, (n_points - 1) * step, n_points, nodes)
        find_difference(values[own], zero, nodes, n_nodes, n_channels)
        cells = np.zeros((n_points - 1, 2, n_channels))
        add_moments(nodes, n_nodes, n_channels, nodes.segment, nodes.share, 1.0, cells)
        for cell in range(n_points - 1):
            for d in range(n_channels):
                hats[series, cell, d] += cells[cell, 0, d]
                hats[series, cell + 1, d] += cells[cell, 1, d]
        for node in range(n_nodes - 1):
            third = (nodes.time[node + 1] - nodes.time[node]) / 3.0
            for d in range(n_channels):
                p, q = nodes.difference[node, d], nodes.difference[node + 1, d]
                energy[series, nodes.segment[node], d] += third * (p * p + p * q + q * q)
