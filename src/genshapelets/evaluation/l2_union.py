"""Any window against any shapelet: walk the union of their knots.

Between neighbouring knots of the union both the path and the shapelet are straight, and so is their
difference. If it goes from p to q in a time h, then int |p..q|^2 = h/3 (p^2 + p q + q^2) exactly, a sum
without cancellation however close the match.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..discrepancies.l2 import FLAT
from ..kernels import inner_kernel
from ..paths import Array, Index


class Nodes(NamedTuple):
    """The union of knots of a path and a shapelet over a window, in arrays to be written on.

    Attributes
    ----------
    time : (nodes,) array
        Since the window's start.
    row, part : (nodes,) arrays
        A node lies a share ``part`` of the way from the path's row ``row`` to the next one.
    segment, share : (nodes,) arrays
        It lies a share ``share`` of the way through the shapelet's piece ``segment``.
    difference : (nodes, channels) array
        Path minus shapelet, less its mean over the window if the shapelet is level-free. If it is
        scale-free: what remains of the path, of norm 1, minus the shapelet.
    mean : (channels,) array
        The mean that was taken off.
    scale : (1,) array
        What a scale-free shapelet multiplies the path by.
    """

    time: Array
    row: Index
    part: Array
    segment: Index
    share: Array
    difference: Array
    mean: Array
    scale: Array


class Pair(NamedTuple):
    """A path and a shapelet, in the channels that count for it.

    Attributes
    ----------
    knots, path : (rows,) and (rows, channels) arrays
    shapelet : (knots, channels) array
        It may have more of them.
    length : float
    weight : (channels,) array
        Squared weights of the channels.
    level_free, scale_free : bool
    """

    knots: Array
    path: Array
    shapelet: Array
    length: float
    weight: Array
    level_free: bool
    scale_free: bool


@inner_kernel
def pair_of(rows, series, shapes, k, room):
    """Path ``series`` and shapelet k. Channels that count are copied to ``room`` if there are others."""
    begin, end = rows.row_offsets[series], rows.row_offsets[series + 1]
    path, n_active = rows.values[begin:end], shapes.n_active[k]
    if n_active < path.shape[1]:
        path = room[: end - begin]
        for d in range(n_active):
            channel = shapes.channels[k, d]
            for row in range(end - begin):
                path[row, d] = rows.values[begin + row, channel]
    return Pair(
        rows.knots[begin:end], path, shapes.values[k], shapes.lengths[k],
        shapes.weights[k, :n_active], shapes.level_free[k], shapes.scale_free[k],
    )  # fmt: skip


@inner_kernel
def room_for_path(rows, shapes):
    """Room for the channels of any path that count."""
    return np.empty((longest_path(rows.row_offsets), shapes.values.shape[2]))


@inner_kernel
def longest_path(row_offsets):
    """Most rows that a path has."""
    longest = 0
    for series in range(len(row_offsets) - 1):
        longest = max(longest, row_offsets[series + 1] - row_offsets[series])
    return longest


@inner_kernel
def new_nodes(size, n_channels):
    """Room for the nodes of a window."""
    return Nodes(
        np.empty(size), np.empty(size, np.int64), np.empty(size), np.empty(size, np.int64),
        np.empty(size), np.empty((size, n_channels)), np.empty(n_channels), np.ones(1),
    )  # fmt: skip


@inner_kernel
def find_nodes(knots, start, length, n_knots, nodes):
    """Write the nodes of the window [start, start + length]; returns their number.

    Places at a knot of the path or of the shapelet are exact, so that steep slopes do no harm.
    """
    last = len(knots) - 1
    row = min(max(np.searchsorted(knots, start, side="right") - 1, 0), last)
    spacing = length / (n_knots - 1)
    nodes.time[0], nodes.row[0], nodes.part[0] = 0.0, row, 0.0
    nodes.segment[0], nodes.share[0] = 0, 0.0
    if row < last:
        nodes.part[0] = (start - knots[row]) / (knots[row + 1] - knots[row])
    node, segment = 1, 0
    while segment < n_knots - 1:
        next_knot = length if segment == n_knots - 2 else (segment + 1) * spacing
        arrival = knots[row + 1] - start if row < last else np.inf
        part = 0.0
        if arrival < next_knot:
            row += 1
            nodes.time[node], nodes.segment[node] = arrival, segment
            nodes.share[node] = (arrival - segment * spacing) / spacing
        else:
            segment += 1
            nodes.time[node], nodes.segment[node] = next_knot, min(segment, n_knots - 2)
            nodes.share[node] = 1.0 if segment == n_knots - 1 else 0.0
            if arrival == next_knot:
                row += 1
            elif row < last:
                part = (next_knot - (knots[row] - start)) / (knots[row + 1] - knots[row])
        nodes.row[node], nodes.part[node] = row, part
        node += 1
    return node


@inner_kernel
def find_difference(path, shapelet, nodes, n_nodes, n_channels):
    """Write the difference of a path (rows, channels) and a shapelet (knots, channels) at the nodes."""
    last = len(path) - 1
    for node in range(n_nodes):
        f, g = path[nodes.row[node]], path[min(nodes.row[node] + 1, last)]
        w, v = shapelet[nodes.segment[node]], shapelet[nodes.segment[node] + 1]
        part, share, out = nodes.part[node], nodes.share[node], nodes.difference[node]
        for d in range(n_channels):
            out[d] = f[d] + part * (g[d] - f[d]) - (w[d] + share * (v[d] - w[d]))


@inner_kernel
def find_path(path, nodes, n_nodes, n_channels):
    """Write the path alone at the nodes."""
    last = len(path) - 1
    for node in range(n_nodes):
        f, g = path[nodes.row[node]], path[min(nodes.row[node] + 1, last)]
        part, out = nodes.part[node], nodes.difference[node]
        for d in range(n_channels):
            out[d] = f[d] + part * (g[d] - f[d])


@inner_kernel
def scale_and_add(scale, factor, shapelet, nodes, n_nodes, n_channels):
    """Multiply what is at the nodes by a scale, and add a multiple of a shapelet."""
    for node in range(n_nodes):
        w, v = shapelet[nodes.segment[node]], shapelet[nodes.segment[node] + 1]
        share, out = nodes.share[node], nodes.difference[node]
        for d in range(n_channels):
            out[d] = scale * out[d] + factor * (w[d] + share * (v[d] - w[d]))


@inner_kernel
def subtract_mean(nodes, n_nodes, n_channels):
    """Take its mean over the window off the difference."""
    mean = nodes.mean
    for d in range(n_channels):
        mean[d] = 0.0
    for node in range(n_nodes - 1):
        half = 0.5 * (nodes.time[node + 1] - nodes.time[node]) / nodes.time[n_nodes - 1]
        p, q = nodes.difference[node], nodes.difference[node + 1]
        for d in range(n_channels):
            mean[d] += half * (p[d] + q[d])
    for node in range(n_nodes):
        out = nodes.difference[node]
        for d in range(n_channels):
            out[d] -= mean[d]


@inner_kernel
def lay_window(pair, start, nodes):
    """Nodes of the shapelet laid over the path at ``start``, and the difference there; their number."""
    n_nodes = find_nodes(pair.knots, start, pair.length, len(pair.shapelet), nodes)
    n_channels = len(pair.weight)
    if pair.scale_free:
        find_path(pair.path, nodes, n_nodes, n_channels)
        subtract_mean(nodes, n_nodes, n_channels)
        square, level = squared_norm(nodes, n_nodes, pair.weight) / pair.length, 0.0
        for d in range(n_channels):
            level += pair.weight[d] * nodes.mean[d] * nodes.mean[d]
        nodes.scale[0] = scale_of(square, level)
        scale_and_add(nodes.scale[0], -1.0, pair.shapelet, nodes, n_nodes, n_channels)
        return n_nodes
    find_difference(pair.path, pair.shapelet, nodes, n_nodes, n_channels)
    if pair.level_free:
        subtract_mean(nodes, n_nodes, n_channels)
    return n_nodes


@inner_kernel
def scale_of(square, level):
    """Inverse of the norm of what varies, from its square and that of the level; 0 if that is flat."""
    return 1.0 / np.sqrt(square) if FLAT * FLAT * level < square < np.inf else 0.0


@inner_kernel
def squared_norm(nodes, n_nodes, weight):
    """Integral of the weighted squared difference."""
    total = 0.0
    for node in range(n_nodes - 1):
        p, q = nodes.difference[node], nodes.difference[node + 1]
        energy = 0.0
        for d in range(len(weight)):
            energy += weight[d] * (p[d] * p[d] + p[d] * q[d] + q[d] * q[d])
        total += energy * (nodes.time[node + 1] - nodes.time[node])
    return total / 3.0


@inner_kernel
def norm_and_slope(pair, nodes, n_nodes):
    """That integral, and its derivative by the window's start: 2 int r f', r the difference.

    The scale of a scale-free shapelet moves too: see `genshapelets.evaluation.l2`.
    """
    knots, path, weight = pair.knots, pair.path, pair.weight
    last, norm, slope = len(knots) - 1, 0.0, 0.0
    for node in range(n_nodes - 1):
        row = min(nodes.row[node], last - 1)
        p, q, f, g = nodes.difference[node], nodes.difference[node + 1], path[row], path[row + 1]
        energy, work = 0.0, 0.0
        for d in range(len(weight)):
            energy += weight[d] * (p[d] * p[d] + p[d] * q[d] + q[d] * q[d])
            work += weight[d] * (p[d] + q[d]) * (g[d] - f[d])
        width = nodes.time[node + 1] - nodes.time[node]
        norm += energy * width
        if nodes.row[node] < last:
            slope += work * width / (knots[row + 1] - knots[row])
    norm /= 3.0
    if pair.scale_free:
        slope *= nodes.scale[0]
        slope -= scale_share(pair, norm) * rise_of_square(pair, nodes, n_nodes)
    return norm, slope


@inner_kernel
def scale_share(pair, norm):
    """1/S int A r . A f, f the path of norm 1, r = f - w: half of 1/S int |A r|^2, or all if w = 0."""
    for w in pair.shapelet.flat:
        if w != 0.0:
            return 0.5 * norm / pair.length
    return norm / pair.length


@inner_kernel
def rise_of_square(pair, nodes, n_nodes):
    """|A f|^2 at the end of a window less that at its start, f the path of norm 1."""
    p, q, rise = nodes.difference[0], nodes.difference[n_nodes - 1], 0.0
    for d in range(len(pair.weight)):
        first, last = p[d] + pair.shapelet[0, d], q[d] + pair.shapelet[-1, d]
        rise += pair.weight[d] * (last * last - first * first)
    return rise


@inner_kernel
def add_moments(nodes, n_nodes, n_channels, cell, share, factor, moments):
    """Add factor * int f (1 - x) and factor * int f x over each cell to moments (cells, 2, channels).

    The function f is what is called the difference; node i lies a share x of the way through a cell.
    """
    time, values = nodes.time, nodes.difference
    for node in range(n_nodes - 1):
        sixth = factor * (time[node + 1] - time[node]) / 6.0
        own = cell[node]
        left = share[node]
        right = share[node + 1] if cell[node + 1] == own else 1.0
        p, q = values[node], values[node + 1]
        falling, rising = moments[own, 0], moments[own, 1]
        for d in range(n_channels):
            at_p, at_q = sixth * (2.0 * p[d] + q[d]), sixth * (p[d] + 2.0 * q[d])
            falling[d] += (1.0 - left) * at_p + (1.0 - right) * at_q
            rising[d] += left * at_p + right * at_q


@inner_kernel
def add_squares(nodes, n_nodes, n_channels, factor, squares):
    """Add factor * int r^2 for each channel."""
    for node in range(n_nodes - 1):
        third = factor * (nodes.time[node + 1] - nodes.time[node]) / 3.0
        p, q = nodes.difference[node], nodes.difference[node + 1]
        for d in range(n_channels):
            squares[d] += third * (p[d] * p[d] + p[d] * q[d] + q[d] * q[d])
