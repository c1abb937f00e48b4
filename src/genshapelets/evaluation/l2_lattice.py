"""Windows on a sampling lattice: regularly sampled paths, offsets at a sample.

All windows of one shapelet then share their nodes: the samples in the window, and where it ends between
two samples. Let V be the piecewise-linear functions on these nodes and Pw the L2 projection of the
shapelet w onto V. The path f lies in V, so

    int |f - w|^2 = int |f - Pw|^2 + int |w - Pw|^2,

two sums of squares, no cancellation, and the second belongs to the shapelet alone. What remains for
each window is a pass over its samples. Constants and multiples of f lie in V, so ignoring level and
scale changes nothing here.

`l2_union` is the obvious twin.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arrays import offsets_of
from ..kernels import inner_kernel, kernel, run
from ..paths import Array, Index
from .l2_problem import Rows, Shapes
from .l2_union import (
    add_moments,
    add_squares,
    find_difference,
    find_nodes,
    new_nodes,
    scale_of,
)

VECTOR = 8  # numbers that a processor adds at once
ROUNDING = 1e-12  # relative: a length that exceeds n steps by less has n pieces


class Lattice(NamedTuple):
    """Shapelets laid on a lattice of samples.

    Attributes
    ----------
    step : float
    pieces : (shapelets,) array
        Pieces of a window: whole steps, then a last one.
    share : (shapelets,) array
        How much of a step the last piece is.
    hats : (shapelets, nodes, channels) array
        Integrals of the shapelet against the hat functions of the nodes.
    projection : (shapelets, nodes * channels) array
        Pw at the nodes, of the channels that count, node after node.
    residual : (shapelets, channels) array
        int (w - Pw)^2.
    weights : (shapelets, nodes * channels) array
        Weights of the channels that count, once for each node.
    """

    step: float
    pieces: Index
    share: Array
    hats: Array
    projection: Array
    residual: Array
    weights: Array


def lay_on_lattice(shapes: Shapes, step: float, longest_span: float) -> Lattice:
    """Project shapelets. One longer than every path has no window here: it is cut off."""
    lengths = np.minimum(shapes.lengths, longest_span)
    n_steps = lengths / step
    pieces = np.maximum(np.ceil(n_steps - ROUNDING * np.maximum(n_steps, 1.0)), 1.0).astype(
        np.int64
    )
    n_shapelets, _, n_channels = shapes.values.shape
    n_nodes = int(pieces.max()) + 1
    hats = np.zeros((n_shapelets, n_nodes, n_channels))
    projection, weights = np.zeros((2, n_shapelets, n_nodes * n_channels))
    residual = np.zeros((n_shapelets, n_channels))
    lattice = Lattice(step, pieces, n_steps - (pieces - 1), hats, projection, residual, weights)
    shapes = shapes._replace(lengths=lengths)
    run(lambda first, last: _lay_on_lattice(first, last, shapes, lattice), n_shapelets)
    return lattice


def mirrored(shapes: Shapes) -> Shapes:
    """The shapelets backwards in time, in which a window at a path's end is one at its start."""
    return shapes._replace(values=np.ascontiguousarray(shapes.values[:, ::-1]))


def chosen_rows(rows: Rows, members: Index) -> Rows:
    """Some of the paths."""
    if len(members) == len(rows.row_offsets) - 1:
        return rows
    lengths = np.diff(rows.row_offsets)[members]
    row_offsets = offsets_of(lengths)
    row = np.arange(row_offsets[-1]) + np.repeat(
        rows.row_offsets[members] - row_offsets[:-1], lengths
    )
    return Rows(rows.knots[row], rows.values[row], row_offsets)


def mirrored_rows(rows: Rows) -> Rows:
    """The values of paths backwards in time. Their knots stay as they are."""
    first, after = rows.row_offsets[:-1], rows.row_offsets[1:]
    turn = np.repeat(first + after - 1, after - first)
    return rows._replace(values=rows.values[turn - np.arange(len(turn))])


def held_rows(rows: Rows, n_rows: int) -> Rows:
    """Paths of at least ``n_rows`` rows, the last one repeated where there were fewer, but no knots."""
    lengths = np.diff(rows.row_offsets)
    held = np.maximum(lengths, n_rows)
    row_offsets = offsets_of(held)
    row = np.arange(row_offsets[-1]) - np.repeat(row_offsets[:-1], held)
    row = np.minimum(row, np.repeat(lengths - 1, held)) + np.repeat(rows.row_offsets[:-1], held)
    return Rows(rows.knots[:0], rows.values[row], row_offsets)


@kernel
def _lay_on_lattice(first, last, shapes, lattice):
    _, n_knots, n_channels = shapes.values.shape
    longest = lattice.hats.shape[1]
    nodes, times = new_nodes(longest + n_knots + 2, n_channels), np.empty(longest)
    for k in range(first, last):
        pieces, n_active = lattice.pieces[k], shapes.n_active[k]
        for node in range(pieces):
            times[node] = lattice.step * node
        times[pieces] = shapes.lengths[k]
        own, size = times[: pieces + 1], (pieces + 1) * n_active
        projected = lattice.projection[k, :size].reshape(pieces + 1, n_active)
        lattice.weights[k, :size].reshape(pieces + 1, n_active)[:] = shapes.weights[k, :n_active]
        n_nodes = find_nodes(own, 0.0, shapes.lengths[k], n_knots, nodes)
        # The projection is still 0, so this is int w against the hats.
        find_difference(projected, shapes.values[k], nodes, n_nodes, n_active)
        cells = np.zeros((pieces, 2, n_active))
        add_moments(nodes, n_nodes, n_active, nodes.row, nodes.part, -1.0, cells)
        for piece in range(pieces):
            for d in range(n_active):
                lattice.hats[k, piece, d] += cells[piece, 0, d]
                lattice.hats[k, piece + 1, d] += cells[piece, 1, d]
        solve_mass(own, lattice.hats[k], projected)
        find_difference(projected, shapes.values[k], nodes, n_nodes, n_active)
        add_squares(nodes, n_nodes, n_active, 1.0, lattice.residual[k])


@inner_kernel
def solve_mass(times, hats, out):
    """Solve for the function with these integrals against hats; the mass matrix is tridiagonal."""
    last, n_channels, before, pivot = len(times) - 1, out.shape[1], 0.0, 1.0
    ratio = np.empty(len(times))
    for node in range(last + 1):
        after = times[node + 1] - times[node] if node < last else 0.0
        coupling = before / 6.0
        pivot = (before + after) / 3.0 - (coupling * ratio[node - 1] if node > 0 else 0.0)
        ratio[node], before = after / 6.0 / pivot, after
        for d in range(n_channels):
            carried = coupling * out[node - 1, d] if node > 0 else 0.0
            out[node, d] = (hats[node, d] - carried) / pivot
    for node in range(last - 1, -1, -1):
        for d in range(n_channels):
            out[node, d] -= ratio[node] * out[node + 1, d]


@inner_kernel
def new_difference(lattice):
    """Room for the differences of a window on the lattice."""
    return np.empty(lattice.projection.shape[1] + lattice.residual.shape[1])


@inner_kernel
def copy_channels(window, channels, n_channels, out):
    """Copy some of the channels of a flat window."""
    n_active = len(channels)
    for d in range(n_active):
        own, to = window[channels[d] :], out[d:]
        for node in range(len(window) // n_channels):
            to[node * n_active] = own[node * n_channels]


# The following see a window of one path and shapelet, flat: (nodes * channels) numbers. They take its
# arrays one by one: to pass all of a lattice would take longer than the work.


@inner_kernel
def lattice_difference(window, projected, pieces, share, n_channels, level_free, out):
    """Write path minus projected shapelet at the nodes; out needs room for one more node."""
    size = pieces * n_channels
    for x in range(size):
        out[x] = window[x] - projected[x]
    last, f, g = out[size:], window[size - n_channels :], window[size:]
    for d in range(n_channels):
        last[d] = f[d] + share * (g[d] - f[d]) - projected[size + d]
    if level_free and n_channels < VECTOR:
        subtract_mean_by_channel(out, size, share, n_channels)
    elif level_free:
        subtract_mean_by_node(out, size, share, n_channels)


@inner_kernel
def lattice_scaled_difference(window, projected, weight, pieces, share, n_channels, out):
    """Write it for a scale-free shapelet: the path less its mean, of norm 1, comes first.

    Returns what the path was multiplied by.
    """
    size = pieces * n_channels
    for x in range(size):
        out[x] = window[x]
    last, f, g = out[size:], window[size - n_channels :], window[size:]
    for d in range(n_channels):
        last[d] = f[d] + share * (g[d] - f[d])
    if n_channels < VECTOR:
        subtract_mean_by_channel(out, size, share, n_channels)
    else:
        subtract_mean_by_node(out, size, share, n_channels)
    level = 0.0
    for d in range(n_channels):
        level += weight[d] * (window[d] - out[d]) ** 2
    square = lattice_squared_norm(out, weight, pieces, share, n_channels)
    scale = scale_of(square / (3.0 * (pieces - 1 + share)), level)
    for x in range(size + n_channels):
        out[x] = scale * out[x] - projected[x]
    return scale


# The mean over a window weighs all nodes alike, but for the first and, as the last piece is a share of a
# step, the last two.


@inner_kernel
def subtract_mean_by_channel(out, size, share, n_channels):
    """Take the mean off the difference, channel by channel: nodes of few channels fill no vector."""
    for d in range(n_channels):
        before, last = out[size - n_channels + d], out[size + d]
        mean = 0.5 * ((share - 2.0) * last + (share - 1.0) * before - out[d])
        for x in range(d, size + n_channels, n_channels):
            mean += out[x]
        mean /= size // n_channels - 1 + share
        for x in range(d, size + n_channels, n_channels):
            out[x] -= mean


@inner_kernel
def subtract_mean_by_node(out, size, share, n_channels):
    """Take the mean off the difference, node by node."""
    n_nodes = size // n_channels + 1
    before, last, mean = out[size - n_channels :], out[size:], out[size + n_channels :]
    for d in range(n_channels):
        mean[d] = 0.5 * ((share - 2.0) * last[d] + (share - 1.0) * before[d] - out[d])
    for node in range(n_nodes):
        p = out[node * n_channels :]
        for d in range(n_channels):
            mean[d] += p[d]
    for d in range(n_channels):
        mean[d] /= n_nodes - 2 + share
    for node in range(n_nodes):
        p = out[node * n_channels :]
        for d in range(n_channels):
            p[d] -= mean[d]


@inner_kernel
def lattice_squared_norm(difference, weight, pieces, share, n_channels):
    """Integral of the weighted squared difference, over 3 / step, without the residual."""
    following, whole, edge = difference[n_channels:], 0.0, 0.0
    for x in range((pieces - 1) * n_channels):
        p, q = difference[x], following[x]
        whole += weight[x] * (p * p + p * q + q * q)
    last, end = difference[(pieces - 1) * n_channels :], difference[pieces * n_channels :]
    for d in range(n_channels):
        edge += weight[d] * (last[d] * last[d] + last[d] * end[d] + end[d] * end[d])
    return whole + share * edge


@inner_kernel
def weighted_residual(lattice, k, n_active):
    """What the projection of shapelet k misses of every squared discrepancy."""
    rest = 0.0
    for d in range(n_active):
        rest += lattice.weights[k, d] * lattice.residual[k, d]
    return rest
