"""What an L2 search has to minimise, stripped of metric, level and large numbers.

With the path's mean c_n taken off, f = c_n + f~, and the shapelets' common mean c, w = c + w~:

    int |A(f - w)|^2 = int |A f~|^2 + 2 int (A f~).(A (c_n - c)) - 2 int (A f~).(A w~) + constant,

so digits go to what varies with the offset. The first two terms together are the window's energy, an
integral of a function of the path alone; the third is a correlation. The level-free discrepancy drops
the second, takes each shapelet's own mean for c, and subtracts |int A f~|^2 / S.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ..discrepancies._l2_arrays import L2Arrays
from ..parallel import items_of, kernel, run_together
from ..paths import Array, Paths, see_through


class L2Problem:
    """Arrays for the searching kernels, all float64.

    Attributes
    ----------
    paths : Paths
    rows : (rows, channels) array
        f~, seen through a full metric if there is one.
    shift : (series, channels) array
        c_n - c, likewise.
    arrays : L2Arrays
        The shapelets, likewise.
    lengths : (shapelets,) array
    level_free : (shapelets,) array
    weights : (1 or shapelets, channels) array
        Squared weights of the channels of `rows`.
    column_weights, column_level : (columns, channels) and (columns,) arrays
        The metrics and treatments of the level that the energy is wanted for: squared weights of the
        channels, and 0 where the level is free, else 1.
    column : (shapelets,) array
        The shapelet's column.
    """

    def __init__(self, paths: Paths, rows: Array, shift: Array, arrays: L2Arrays) -> None:
        self.paths, self.rows, self.shift, self.arrays = paths, rows, shift, arrays
        self.lengths, self.weights = arrays.lengths, arrays.weights
        self.level_free = arrays.level_free
        self.any_level_free = np.count_nonzero(self.level_free) > 0  # faster than `any`
        if len(self.weights) > 1:
            self.column, self.column_weights = np.arange(len(self.lengths)), self.weights
            self.column_level = np.where(self.level_free, 0.0, 1.0)
        elif self.any_level_free:
            self.column = self.level_free.astype(int)
            self.column_weights = np.repeat(self.weights, 2, axis=0)
            self.column_level = np.array([1.0, 0.0])
        else:
            self.column, self.column_weights = np.zeros(len(self.lengths), int), self.weights
            self.column_level = np.ones(1)

    @cached_property
    def centred_shapelets(self) -> Array:
        """w~, (shapelets, knots, channels)."""
        return self.arrays.shapelets - self.arrays.level[:, None]

    @cached_property
    def shapelets(self) -> Array:
        """A^T A w~, (shapelets, knots, channels): what to correlate with `rows`."""
        return self.weights[:, None] * self.centred_shapelets

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
    rows, centre = paths.centred
    shift, matrix = centre - arrays.common, arrays.matrix
    if matrix is None or matrix.ndim == 2:
        return [L2Problem(paths, rows, shift, arrays)]
    # Levels are taken off before: after the map their difference would have fewer digits.
    centred = arrays._replace(
        shapelets=arrays.shapelets - arrays.level[:, None], level=np.zeros_like(arrays.level)
    )
    return [
        L2Problem(paths, see_through(A, rows), see_through(A, shift), part)
        for part, A in zip(centred.seen_through_metric(), matrix, strict=True)
    ]


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
