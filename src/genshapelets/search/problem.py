"""What an L2 search has to minimise, stripped of metric, level and large numbers.

With the path's mean c_n taken off, f = c_n + f~, and the shapelets' common mean c, w = c + w~:

    int |A(f - w)|^2 = int |A f~|^2 + 2 int (A f~).(A (c_n - c)) - 2 int (A f~).(A w~) + constant,

so digits go to what varies with the offset. The first two terms together are the window's energy, an
integral of a function of the path alone; the third is a correlation. The level-free discrepancy drops
the second, takes each shapelet's own mean for c, and subtracts |int A f~|^2 / S.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..discrepancies._l2_arrays import L2Arrays
from ..parallel import items_of, kernel, run_together
from ..paths import Array, Index, Paths, see_through


@dataclass(frozen=True)
class L2Problem:
    """Arrays for the searching kernels, all float64.

    Attributes
    ----------
    paths : Paths
    rows : (rows, channels) array
        f~, seen through a full metric if there is one.
    shapelets : (shapelets, knots, channels) array
        A^T A w~: what to correlate with `rows`.
    lengths : (shapelets,) array
    column_weights, column_level : (columns, channels) and (columns,) arrays
        The metrics and treatments of the level that the energy is wanted for: squared weights of the
        channels, and 0 where the level is free, else 1.
    column : (shapelets,) array
        The shapelet's column.
    level_free : (shapelets,) array
    weights : (1 or shapelets, channels) array
        Squared weights of the channels of `rows`.
    shift : (series, channels) array
        c_n - c, seen through a full metric if there is one.
    centred_shapelets : (shapelets, knots, channels) array
        w~, likewise.
    """

    paths: Paths
    rows: Array
    shapelets: Array
    lengths: Array
    column_weights: Array
    column_level: Array
    column: Index
    level_free: NDArray[np.bool_]
    weights: Array
    shift: Array
    centred_shapelets: Array

    @cached_property
    def energy(self) -> Array:
        """Density of the energy on the piece after each row, (rows, columns, 3).

        It is e + 2 b x + d x^2, x the share of the piece that has passed; the last axis holds (e, b, d).
        """
        energy = np.empty((len(self.rows), len(self.column_weights), 3))
        run_together(
            _energy_of_paths, len(self.paths), self.rows, self.paths.row_offsets, self.shift,
            self.column_weights, self.column_level, energy,
        )  # fmt: skip
        return energy

    @cached_property
    def constant(self) -> Array:
        """What does not vary with the offset, (series, shapelets): sigma^2 = cost + constant."""
        spacing = self.lengths / (self.shapelets.shape[1] - 1)
        w, weighted = self.centred_shapelets, self.shapelets
        p, q = w[:, :-1], w[:, 1:]
        integral = (weighted[:, :-1] + weighted[:, 1:]).sum(axis=1) * spacing[:, None] / 2
        with np.errstate(over="ignore", invalid="ignore"):  # a square too large is infinite
            squares = weighted[:, :-1] * (p + q) + weighted[:, 1:] * q
            energy = squares.sum(axis=(1, 2)) * spacing / 3
            level = self.lengths * (self.shift**2 @ self.weights.T) - 2 * self.shift @ integral.T
            return energy + np.where(self.level_free, 0.0, level)


def pose_l2(paths: Paths, arrays: L2Arrays) -> list[L2Problem]:
    """Pose the search.

    One problem, except that shapelets with a full metric each get one for themselves.
    """
    shapelets, lengths, matrix, weights, level_free = arrays
    if matrix is None or matrix.ndim == 2:
        return [_pose(paths, None, weights, shapelets, lengths, level_free)]
    if len(matrix) == 1:
        return [_pose(paths, matrix[0], weights, shapelets, lengths, level_free)]
    return [
        _pose(paths, matrix[k], weights, shapelets[[k]], lengths[[k]], level_free[[k]])
        for k in range(len(shapelets))
    ]


def _pose(
    paths: Paths,
    matrix: Array | None,
    weights: Array,
    shapelets: Array,
    lengths: Array,
    level_free: NDArray[np.bool_],
) -> L2Problem:
    rows, centre = paths.centred
    n_shapelets, _, n_channels = shapelets.shape
    common, (centred, weighted) = np.empty(n_channels), np.empty((2, *shapelets.shape))
    _centre(shapelets, level_free, weights, common, centred, weighted)
    shift = centre - common
    if matrix is not None:
        rows, shift = see_through(matrix, rows), see_through(matrix, shift)
        centred = weighted = centred @ matrix.T
    if len(weights) > 1:
        column, column_weights = np.arange(n_shapelets), weights
        column_level = np.where(level_free, 0.0, 1.0)
    else:
        column, column_weights, column_level = level_free.astype(np.int64), weights, np.ones(1)
        if level_free.any():
            column_weights, column_level = np.repeat(weights, 2, axis=0), np.array([1.0, 0.0])
    return L2Problem(
        paths=paths,
        rows=rows,
        shapelets=weighted,
        lengths=lengths,
        column_weights=column_weights,
        column_level=column_level,
        column=column,
        level_free=level_free,
        weights=weights,
        shift=shift,
        centred_shapelets=centred,
    )


@kernel
def _centre(shapelets, level_free, weights, common, centred, weighted):
    """Take off the mean of all shapelets, or its own integral mean if the level does not count."""
    n_shapelets, n_knots, n_channels = shapelets.shape
    common[:] = 0.0
    for k in range(n_shapelets):
        for knot in range(n_knots):
            for channel in range(n_channels):
                common[channel] += shapelets[k, knot, channel]
    common /= n_shapelets * n_knots
    for k in range(n_shapelets):
        metric = min(k, len(weights) - 1)
        for channel in range(n_channels):
            level = common[channel]
            if level_free[k]:
                level = -0.5 * shapelets[k, 0, channel] - 0.5 * shapelets[k, n_knots - 1, channel]
                for knot in range(n_knots):
                    level += shapelets[k, knot, channel]
                level /= n_knots - 1
            for knot in range(n_knots):
                centred[k, knot, channel] = shapelets[k, knot, channel] - level
                weighted[k, knot, channel] = weights[metric, channel] * centred[k, knot, channel]


@kernel
def _energy_of_paths(queue, rows, row_offsets, shift, weights, level, energy):
    for series in items_of(queue):
        begin, end = row_offsets[series], row_offsets[series + 1]
        own = energy[begin:end].transpose(2, 1, 0)
        energy_density(rows, begin, end, shift[series], weights, level, own)


@kernel
def energy_density(rows, begin, end, shift, weights, level, out):
    """Write (e, b, d) of `L2Problem.energy` for one path into out (3, columns, rows)."""
    for row in range(begin, end):
        following = row + 1 if row + 1 < end else row
        for column in range(len(weights)):
            e, b, d, here, there = 0.0, 0.0, 0.0, 0.0, 0.0
            for channel in range(rows.shape[1]):
                weight = weights[column, channel]
                f = rows[row, channel]
                rise = rows[following, channel] - f
                e += weight * f * f
                b += weight * f * rise
                d += weight * rise * rise
                here += weight * shift[channel] * f
                there += weight * shift[channel] * rise
            out[0, column, row - begin] = e + 2.0 * level[column] * here
            out[1, column, row - begin] = b + level[column] * there
            out[2, column, row - begin] = d
