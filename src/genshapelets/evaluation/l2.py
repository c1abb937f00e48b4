r"""The L2 discrepancy at given offsets, by compiled kernels behind one autograd function.

With r = path - shapelet over the window (less its mean if level-free), sigma^2 = int |A r|^2 and, by the
envelope theorem, the level and an interior offset add no gradient:

    d sigma^2 / d w_j = -2 a^2 int r hat_j            (hat_j: 1 at the shapelet's knot j, 0 at others)
    d sigma^2 / d a   =  2 a int r^2
    d sigma^2 / d S   =  |A r(S)|^2 + (2/S) int t A r . A w' + (ds/dS) 2 int A r . A f'

The first and the integral of the last follow from int r (1 - x) and int r x over each of the shapelet's
pieces, x the share of the piece that has passed: sums over paths, made once for all gradients.

A scale-free shapelet comes with mean 0 and norm 1, by `L2Discrepancy.normalised`. Let f be the path over
the window, less its mean, divided by its norm phi, and r = f - w. Then phi adds to d sigma^2
-2 S kappa d phi / phi, with kappa = 1/S int A r . A f = sigma^2 / (2 S), or sigma^2 / S if w is flat:

    d sigma^2 / d a   +=  -kappa 2 a int f^2
    d sigma^2 / d S   +=   kappa (1 - |A f(S)|^2) - (ds/dS) kappa 2 int A f . A f'

the same sums, of f instead of r.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from ..discrepancies import Discrepancy, L2Discrepancy
from ..kernels import inner_kernel, kernel, run
from ..offsets import Offsets
from ..paths import Array, Index, Paths
from .l2_lattice import (
    Lattice,
    chosen_rows,
    copy_channels,
    held_rows,
    lattice_difference,
    lattice_scaled_difference,
    lattice_squared_norm,
    lay_on_lattice,
    mirrored,
    mirrored_rows,
    new_difference,
    weighted_residual,
)
from .l2_problem import Problem, Rows, Shapes, as_array, narrowed, pose, spread
from .l2_union import (
    add_moments,
    add_squares,
    find_difference,
    find_nodes,
    find_path,
    lay_window,
    longest_path,
    new_nodes,
    norm_and_slope,
    pair_of,
    room_for_path,
    scale_and_add,
    squared_norm,
    subtract_mean,
)

SKIP = -1
MAX_HELD_ROWS = 64  # to which a path that a window outlasts is prolonged


class Windows(NamedTuple):
    """Windows of one kind, of the paths that have such.

    Attributes
    ----------
    rows : Rows
    shapes : Shapes
    start, slope : (paths, shapelets, candidates) arrays
        As in `Offsets`.
    index : (paths, shapelets, candidates) array
        Sample at which the window starts, if it does at one; SKIP if it is of another kind.
    """

    rows: Rows
    shapes: Shapes
    start: Array
    slope: Array
    index: Index  # type: ignore[assignment]  # tuple has a method of this name


class Sums(NamedTuple):
    """Sums over windows of upstream times what the gradients are made of.

    Attributes
    ----------
    moments : (shapelets, pieces, 2, channels) array
        int r (1 - x) and int r x.
    squares : (shapelets, channels) array
        int r^2.
    ends : (shapelets, channels) array
        r(S)^2.
    lengths : (shapelets,) array
        (ds/dS) 2 int A r . A f'.
    """

    moments: Array
    squares: Array
    ends: Array
    lengths: Array


def evaluate_l2(
    discrepancy: Discrepancy, paths: Paths, values: Tensor, lengths: Tensor, offsets: Offsets
) -> Tensor:
    """Discrepancies (series, shapelets, candidates): see `genshapelets.evaluation.evaluate`."""
    assert isinstance(discrepancy, L2Discrepancy)
    shapes = discrepancy.normalised(values)
    found = _L2.apply(shapes, lengths, discrepancy.weight, discrepancy, paths, offsets)
    return found.to(values.dtype)  # type: ignore[no-any-return]


class _L2(torch.autograd.Function):
    """The backward pass walks the windows once more; nothing of their size is kept."""

    @staticmethod
    def forward(
        ctx: Any,
        values: Tensor,
        lengths: Tensor,
        weight: Tensor | None,
        discrepancy: L2Discrepancy,
        paths: Paths,
        offsets: Offsets,
    ) -> Tensor:
        problems = [
            problem._replace(shapes=narrowed(problem.shapes))
            for problem in pose(discrepancy, paths, values, lengths)
        ]
        groups = [list(_groups(problem, paths, offsets)) for problem in problems]
        squared, scale = np.empty((2, *offsets.start.shape))
        for problem, own in zip(problems, groups, strict=True):
            chosen = problem.chosen
            squared[:, chosen], scale[:, chosen] = _squared(own, len(paths))
        ctx.problems, ctx.groups, ctx.offsets = problems, groups, offsets
        ctx.squared, ctx.scale = squared, scale
        ctx.weight = None if weight is None else as_array(weight)
        if discrepancy.metric == "full":
            # For int r r^T, the shapelets as they were before the map.
            ctx.plain = pose(L2Discrepancy(discrepancy.n_channels, "none"), paths, values, lengths)[
                0
            ]
            ctx.plain = ctx.plain._replace(
                shapes=ctx.plain.shapes._replace(
                    level_free=np.concatenate([one.shapes.level_free for one in problems])
                )
            )
        ctx.dtypes = values.dtype, lengths.dtype, None if weight is None else weight.dtype
        return torch.from_numpy(np.sqrt(squared)).to(values.dtype)

    @staticmethod
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        if torch.is_grad_enabled():
            raise RuntimeError(
                "the shapelet transform has no second derivatives. Leave out create_graph=True."
            )
        sigma = np.sqrt(ctx.squared)
        # The square root has no derivative at 0; 0 is the subgradient that leaves a perfect match be.
        by_square = as_array(upstream) * (0.5 / np.where(sigma > 0, sigma, np.inf))
        by_scale = np.zeros(by_square.shape)
        for problem in ctx.problems:
            by_scale[:, problem.chosen] = _scale_shares(
                problem.shapes, ctx.squared[:, problem.chosen]
            )
        by_scale *= by_square * (ctx.scale > 0)
        by_problem = [
            _gradients(problem, groups, by_square, by_scale)
            for problem, groups in zip(ctx.problems, ctx.groups, strict=True)
        ]
        values, lengths, squares = (
            np.concatenate(parts) for parts in zip(*by_problem, strict=True)
        )
        weight = ctx.weight
        if weight is not None:
            if weight.ndim == 2:
                own = squares
            else:
                own = _outer_products(ctx.plain, ctx.offsets, by_square, ctx.scale)
                if by_scale.any():
                    zero = ctx.plain.shapes._replace(values=np.zeros_like(ctx.plain.shapes.values))
                    path_alone = ctx.plain._replace(shapes=zero)
                    own -= _outer_products(path_alone, ctx.offsets, by_scale, ctx.scale)
            if len(weight) == 1:
                own = own.sum(axis=0, keepdims=True)
            weight = 2.0 * (weight * own if weight.ndim == 2 else weight @ own)
        return *(
            None if grad is None else torch.from_numpy(grad).to(dtype)
            for grad, dtype in zip((values, lengths, weight), ctx.dtypes, strict=True)
        ), None, None, None  # fmt: skip


def _scale_shares(shapes: Shapes, squared: Array) -> Array:
    """What is called kappa above, (series, shapelets, candidates); 0 if the scale counts."""
    has_shape = shapes.values.any(axis=(1, 2))
    share = np.where(has_shape, 0.5, 1.0) / shapes.lengths
    return share[:, None] * np.where(shapes.scale_free[:, None], squared, 0.0)


class Group(NamedTuple):
    """Windows of one kind.

    Attributes
    ----------
    members : (paths,) array
        Positions in the batch of the paths that have such windows.
    windows : Windows
    lattice : Lattice, optional
        The shapelets on the samples at which the windows start; None: they start anywhere.
    backwards : bool
        Whether time runs backwards.
    """

    members: Index
    windows: Windows
    lattice: Lattice | None
    backwards: bool


def _groups(problem: Problem, paths: Paths, offsets: Offsets) -> Iterator[Group]:
    """Sort the windows: at a sample, the last possible ones of regular paths, and all others.

    The last possible windows are the first ones of mirrored paths.
    """
    shapes = problem.shapes
    starts, slopes = (x[:, problem.chosen] for x in offsets[:2])
    free = np.zeros(starts.shape, np.int64)
    for step, members in paths.samplings:
        if not step:
            continue
        rows = chosen_rows(problem.rows, members)
        start, slope = starts[members], slopes[members]
        spans, lengths = paths.spans[members, None, None], shapes.lengths[:, None]
        longest = max(float(spans.max()), MAX_HELD_ROWS * step) + step
        lattice = lay_on_lattice(shapes, step, longest)
        own = rows
        if lengths.max() > spans.min():
            own = held_rows(rows, min(lattice.hats.shape[1], MAX_HELD_ROWS))
        sample = np.rint(start / step).astype(np.int64)
        at_end = (start == spans - lengths) & (slope == -1) & (lengths < spans)
        n_rows = np.diff(own.row_offsets)[:, None, None]
        at_sample = (sample * step == start) & (sample + lattice.pieces[:, None] < n_rows) & ~at_end
        at_sample &= lengths <= longest
        index = np.where(at_sample, sample, SKIP)
        yield Group(members, Windows(own, shapes, start, slope, index), lattice, backwards=False)
        free[members] = np.where(at_sample | at_end, SKIP, 0)
        if at_end.any():
            index = np.where(at_end, 0, SKIP)
            backwards = mirrored(shapes)
            lattice = lay_on_lattice(backwards, step, longest)
            windows = Windows(mirrored_rows(rows), backwards, start, slope, index)
            yield Group(members, windows, lattice, backwards=True)
    members = np.flatnonzero((free != SKIP).any(axis=(1, 2)))
    if len(members):
        rows = chosen_rows(problem.rows, members)
        windows = Windows(rows, shapes, starts[members], slopes[members], free[members])
        yield Group(members, windows, None, backwards=False)


def _squared(groups: list[Group], n_series: int) -> Array:
    """Squared discrepancies and scales of paths, (2, series, shapelets, candidates)."""
    found = np.empty((2, n_series, *groups[0].windows.start.shape[1:]))
    for members, windows, lattice, _ in groups:
        out, scale = np.empty(windows.start.shape), np.ones(windows.start.shape)
        if lattice is None:
            run(partial(_free_forward, windows, out, scale), len(members))
        else:
            run(partial(_lattice_forward, windows, lattice, out, scale), len(members))
        found[:, members] = np.where(windows.index == SKIP, found[:, members], (out, scale))
    return found


@kernel
def _lattice_forward(windows, lattice, out, scale, first, last):
    """Windows that start at a sample, of paths first..last."""
    values, row_offsets, shapes = (
        windows.rows.values.ravel(), windows.rows.row_offsets, windows.shapes,
    )  # fmt: skip
    n_all = windows.rows.values.shape[1]
    difference, room = new_difference(lattice), new_difference(lattice)
    for k in range(out.shape[1]):
        pieces, share, n_channels = lattice.pieces[k], lattice.share[k], shapes.n_active[k]
        level_free, scale_free = shapes.level_free[k], shapes.scale_free[k]
        projected, weight = lattice.projection[k], lattice.weights[k]
        channels = shapes.channels[k, :n_channels]
        residual = weighted_residual(lattice, k, n_channels)
        for series in range(first, last):
            for candidate in range(out.shape[2]):
                index = windows.index[series, k, candidate]
                if index == SKIP:
                    continue
                window = values[(row_offsets[series] + index) * n_all :]
                if n_channels < n_all:
                    copy_channels(window[: (pieces + 1) * n_all], channels, n_all, room)
                    window = room
                if scale_free:
                    scale[series, k, candidate] = lattice_scaled_difference(
                        window, projected, weight, pieces, share, n_channels, difference
                    )
                else:
                    lattice_difference(
                        window, projected, pieces, share, n_channels, level_free, difference
                    )
                squared = lattice_squared_norm(difference, weight, pieces, share, n_channels)
                out[series, k, candidate] = squared * lattice.step / 3.0 + residual


@kernel
def _free_forward(windows, out, scale, first, last):
    """All other windows, of paths first..last."""
    rows, shapes = windows.rows, windows.shapes
    _, n_knots, n_channels = shapes.values.shape
    nodes = new_nodes(longest_path(rows.row_offsets) + n_knots + 2, n_channels)
    path = room_for_path(rows, shapes)
    for series in range(first, last):
        for k in range(out.shape[1]):
            pair = pair_of(rows, series, shapes, k, path)
            for candidate in range(out.shape[2]):
                if windows.index[series, k, candidate] != SKIP:
                    n_nodes = lay_window(pair, windows.start[series, k, candidate], nodes)
                    out[series, k, candidate] = squared_norm(nodes, n_nodes, pair.weight)
                    if pair.scale_free:
                        scale[series, k, candidate] = nodes.scale[0]


def _gradients(
    problem: Problem, groups: list[Group], upstream: Array, by_scale: Array
) -> tuple[Array, Array, Array]:
    """Gradients of sum(upstream * squared): values (shapelets, channels, knots), lengths, squares.

    ``by_scale`` is upstream times what is called kappa above.
    """
    n_shapelets, n_knots, n_channels = problem.shapes.values.shape
    to_values = np.zeros((n_shapelets, n_knots, n_channels))
    to_lengths = by_scale[:, problem.chosen].sum(axis=(0, 2))
    squares = np.zeros((n_shapelets, n_channels))
    for members, windows, lattice, backwards in groups:
        sums = Sums(
            np.zeros((n_shapelets, n_knots - 1, 2, n_channels)),
            squares,
            np.zeros((n_shapelets, n_channels)),
            to_lengths,
        )
        own, scale = (
            np.ascontiguousarray(x[members][:, problem.chosen]) for x in (upstream, by_scale)
        )
        if lattice is None:
            run(partial(_free_backward, windows, own, scale, sums), n_shapelets)
        else:
            run(partial(_lattice_backward, windows, lattice, own, scale, sums), n_shapelets)
        shapes = windows.shapes
        by_knot = np.zeros((n_shapelets, n_knots, n_channels))
        by_knot[:, :-1] += sums.moments[:, :, 0]
        by_knot[:, 1:] += sums.moments[:, :, 1]
        to_values -= 2.0 * shapes.weights[:, None] * (by_knot[:, ::-1] if backwards else by_knot)
        # t w' is (j (1 - x) + (j + 1) x) times the rise of the shapelet on its piece j.
        knot = np.arange(n_knots)[:, None]
        weighted_time = knot[:-1] * sums.moments[:, :, 0] + knot[1:] * sums.moments[:, :, 1]
        stretch = (np.diff(shapes.values, axis=1) * weighted_time).sum(axis=1)
        by_channel = sums.ends + 2.0 / shapes.lengths[:, None] * stretch
        to_lengths += (shapes.weights * by_channel).sum(axis=1)
    if problem.matrix is not None:
        to_values = to_values @ problem.matrix
    to_values, squares = (
        spread(x, problem.shapes, problem.rows.values.shape[1]) for x in (to_values, squares)
    )
    return to_values.transpose(0, 2, 1), to_lengths, squares


@kernel
def _free_backward(windows, upstream, by_scale, sums, first, last):
    """Add the free windows of shapelets first..last, path after path."""
    rows, shapes = windows.rows, windows.shapes
    _, n_knots, n_channels = shapes.values.shape
    nodes = new_nodes(longest_path(rows.row_offsets) + n_knots + 2, n_channels)
    path = room_for_path(rows, shapes)
    for k in range(first, last):
        n_active = shapes.n_active[k]
        for series in range(len(upstream)):
            pair = pair_of(rows, series, shapes, k, path)
            for candidate in range(upstream.shape[2]):
                g = upstream[series, k, candidate]
                if g == 0.0 or windows.index[series, k, candidate] == SKIP:
                    continue
                n_nodes = lay_window(pair, windows.start[series, k, candidate], nodes)
                add_moments(
                    nodes, n_nodes, n_active, nodes.segment, nodes.share, g, sums.moments[k]
                )
                add_squares(nodes, n_nodes, n_active, g, sums.squares[k])
                for d in range(n_active):
                    sums.ends[k, d] += g * nodes.difference[n_nodes - 1, d] ** 2
                slope = g * windows.slope[series, k, candidate]
                if slope != 0.0:
                    sums.lengths[k] += slope * norm_and_slope(pair, nodes, n_nodes)[1]
                pull = by_scale[series, k, candidate]
                if pull != 0.0:
                    scale_and_add(1.0, 1.0, pair.shapelet, nodes, n_nodes, n_active)
                    add_squares(nodes, n_nodes, n_active, -pull, sums.squares[k])
                    for d in range(n_active):
                        sums.ends[k, d] -= pull * nodes.difference[n_nodes - 1, d] ** 2


@kernel
def _lattice_backward(windows, lattice, upstream, by_scale, sums, first, last):
    """Add the windows at a sample of shapelets first..last, path after path."""
    rows, shapes = windows.rows, windows.shapes
    values, n_all = rows.values.ravel(), rows.values.shape[1]
    own, room = new_difference(lattice), new_difference(lattice)
    for k in range(first, last):
        pieces, share, n_channels = lattice.pieces[k], lattice.share[k], shapes.n_active[k]
        projected, size = lattice.projection[k], pieces * n_channels
        channels, sum_upstream = shapes.channels[k, :n_channels], 0.0
        difference, square = np.zeros(size + n_channels), np.zeros(size + n_channels)
        beyond = projected[size : size + n_channels] - shapes.values[k, -1, :n_channels]
        for series in range(len(upstream)):
            for candidate in range(upstream.shape[2]):
                g, index = upstream[series, k, candidate], windows.index[series, k, candidate]
                if g == 0.0 or index == SKIP:
                    continue
                window = values[(rows.row_offsets[series] + index) * n_all :]
                if n_channels < n_all:
                    copy_channels(window[: (pieces + 1) * n_all], channels, n_all, room)
                    window = room
                if shapes.scale_free[k]:
                    lattice_scaled_difference(
                        window, projected, lattice.weights[k], pieces, share, n_channels, own
                    )
                else:
                    lattice_difference(
                        window, projected, pieces, share, n_channels, shapes.level_free[k], own
                    )
                sum_upstream += g
                _add_lattice_window(own, size, n_channels, g, difference, square)
                for d in range(n_channels):
                    end = own[size + d] + beyond[d]
                    sums.ends[k, d] += g * end * end
                pull = by_scale[series, k, candidate]
                if pull != 0.0:
                    _subtract_lattice_path(own, projected, size, n_channels, pull, square)
                    for d in range(n_channels):
                        sums.ends[k, d] -= pull * (own[size + d] + projected[size + d]) ** 2
        _add_lattice_sums(shapes, k, lattice, sum_upstream, difference, square, sums)


@inner_kernel
def _add_lattice_window(own, size, n_channels, g, difference, square):
    """Add one window to the sums of f - Pw at the nodes, and of its squares over pieces of width 3."""
    following = own[n_channels:]
    for x in range(size):
        p, q = own[x], following[x]
        difference[x] += g * p
        square[x] += g * (p * p + p * q + q * q)
    for x in range(size, size + n_channels):
        difference[x] += g * own[x]


@inner_kernel
def _subtract_lattice_path(own, projected, size, n_channels, pull, square):
    """Subtract the squares of the path alone."""
    for x in range(size):
        p, q = own[x] + projected[x], own[x + n_channels] + projected[x + n_channels]
        square[x] -= pull * (p * p + p * q + q * q)


@inner_kernel
def _add_lattice_sums(shapes, k, lattice, sum_upstream, sum_difference, sum_square, sums):
    """Add the moments of sum g (f - w) = sum g (f - Pw) + (sum g) (Pw - w), and the squares."""
    n_knots, n_channels = shapes.values.shape[1], shapes.n_active[k]
    pieces, length = lattice.pieces[k], shapes.lengths[k]
    times, path = np.empty(pieces + 1), np.empty((pieces + 1, n_channels))
    nodes = new_nodes(pieces + n_knots + 2, n_channels)
    for node in range(pieces + 1):
        times[node] = lattice.step * node if node < pieces else length
        for d in range(n_channels):
            path[node, d] = sum_difference[node * n_channels + d]
            path[node, d] += sum_upstream * lattice.projection[k, node * n_channels + d]
    n_nodes = find_nodes(times, 0.0, length, n_knots, nodes)
    find_difference(path, sum_upstream * shapes.values[k], nodes, n_nodes, n_channels)
    add_moments(nodes, n_nodes, n_channels, nodes.segment, nodes.share, 1.0, sums.moments[k])
    for piece in range(pieces):
        third = (times[piece + 1] - times[piece]) / 3.0
        for d in range(n_channels):
            sums.squares[k, d] += third * sum_square[piece * n_channels + d]
    for d in range(n_channels):
        sums.squares[k, d] += sum_upstream * lattice.residual[k, d]


def _outer_products(problem: Problem, offsets: Offsets, upstream: Array, scale: Array) -> Array:
    """Sum over windows of upstream * int r r^T, (shapelets, channels, channels).

    ``scale``, as upstream, is what the paths are multiplied by.
    """
    n_channels = problem.rows.values.shape[1]
    out = np.zeros((len(problem.shapes.lengths), n_channels, n_channels))
    rows, shapes = problem.rows, problem.shapes
    run(partial(_outer, rows, shapes, offsets.start, upstream, scale, out), len(out))
    return out


@kernel
def _outer(rows, shapes, starts, upstream, scale, out, first, last):
    _, n_knots, n_channels = shapes.values.shape
    nodes = new_nodes(longest_path(rows.row_offsets) + n_knots + 2, n_channels)
    path = room_for_path(rows, shapes)
    for k in range(first, last):
        for series in range(len(starts)):
            pair = pair_of(rows, series, shapes, k, path)
            for candidate in range(starts.shape[2]):
                start = starts[series, k, candidate]
                n_nodes = find_nodes(pair.knots, start, pair.length, n_knots, nodes)
                find_path(pair.path, nodes, n_nodes, n_channels)
                scale_and_add(
                    scale[series, k, candidate], -1.0, pair.shapelet, nodes, n_nodes, n_channels
                )
                if pair.level_free:
                    subtract_mean(nodes, n_nodes, n_channels)
                for node in range(n_nodes - 1):
                    sixth = upstream[series, k, candidate] / 6.0
                    sixth *= nodes.time[node + 1] - nodes.time[node]
                    p, q = nodes.difference[node], nodes.difference[node + 1]
                    for one in range(n_channels):
                        at_p, at_q = (
                            sixth * (2.0 * p[one] + q[one]),
                            sixth * (p[one] + 2.0 * q[one]),
                        )
                        for two in range(n_channels):
                            out[k, one, two] += at_p * p[two] + at_q * q[two]
