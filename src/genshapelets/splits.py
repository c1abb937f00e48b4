r"""How well numbers tell targets apart: the gain of the best split, and a bound of it.

Series are split at a threshold. The gain is what that takes away from the impurity of the targets,

.. math:: \frac{1}{N} \Big( I(\text{all}) - I(\text{below}) - I(\text{above}) \Big).

For classes :math:`I = -\sum_c n_c \log_2(n_c / n)`, the entropy in bits times the number of series, and
this is the information gain; for numbers :math:`I = \sum (y - \bar{y})^2`, and it is the reduction of
variance.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .paths import Array, Index

FEW_CLASSES = 3  # for which every placement of the series to come is tried
ROUNDING = 1e-9  # of gains


class Splits:
    """How well discrepancies split targets.

    Sums over series decide: how many there are of each class, or number, sum and squares of targets.

    Parameters
    ----------
    target : (series,) array, or (series, outputs)
        Integers: classes. Floats: numbers; of several, variances are summed.
    """

    def __init__(self, target: NDArray[Any]) -> None:
        self.of_classes = np.issubdtype(target.dtype, np.integer)
        if self.of_classes:
            self.each = (target[:, None] == np.unique(target)).astype(np.int64)
            self.xlogx = np.arange(len(target) + 1) * np.log2(
                np.maximum(np.arange(len(target) + 1), 1)
            )
        else:
            centred = np.stack([x - x.mean() for x in target.reshape(len(target), -1).T], axis=1)
            squares = (centred**2).sum(axis=1, keepdims=True)
            self.each = np.concatenate([np.ones_like(squares), centred, squares], axis=1)

    def impurity(self, sums: Array) -> Array:
        """I of (…, sums)."""
        if self.of_classes:
            return self.xlogx[sums.sum(axis=-1)] - self.xlogx[sums].sum(axis=-1)
        count, total, squares = sums[..., 0], sums[..., 1:-1], sums[..., -1]
        return squares - (total**2).sum(axis=-1) / np.maximum(count, 1.0)

    def best(self, found: Array, series: Index) -> tuple[Array, Array, Array]:
        """Gain, gap and threshold of discrepancies (series, candidates), of the best split of each."""
        n_series, n_candidates = found.shape
        zero = np.zeros(n_candidates)
        if n_series < 2:
            return zero, zero, found[0]
        ranked = np.sort(found, axis=0)
        left = self._left(found, series)[1:-1]
        whole = self.each[series].sum(axis=0)
        gain = (self.impurity(whole) - self.impurity(left) - self.impurity(whole - left)) / n_series
        below = np.arange(1, n_series)[:, None]
        mean = ranked.mean(axis=0)
        low = ranked.cumsum(axis=0)[:-1] / below
        high = (mean * n_series - low * below) / (n_series - below)
        gap = (high - low) / np.where(mean > 0, mean, 1.0)
        # Equal discrepancies cannot be split.
        gain = np.where(ranked[1:] > ranked[:-1], gain, -np.inf)
        top = gain.max(axis=0)
        at = np.where(gain >= top - ROUNDING, gap, -np.inf).argmax(axis=0), np.arange(n_candidates)
        middle = (ranked[:-1][at] + ranked[1:][at]) / 2
        splits = top > -np.inf
        return np.where(splits, gain[at], 0.0), np.where(splits, gap[at], 0.0), middle

    def bound(self, found: Array, series: Index) -> Array:
        """Gain that candidates cannot exceed whatever their discrepancies from all other series are.

        Impurity is concave in the sums, so the best place for the others of a class is all on one
        side: with few classes every such placement is tried. In general the impurity of two sets
        together is not less than that of each on its own, so the others cost at least what the best
        split of them would leave.
        """
        left = self._left(found, series)
        seen = self.each[series].sum(axis=0)
        others = np.delete(self.each, series, axis=0)
        unseen = others.sum(axis=0)
        if self.of_classes and self.each.shape[1] <= FEW_CLASSES:
            sides = [unseen * np.array(side) for side in product((0, 1), repeat=len(unseen))]
            cost = [
                self.impurity(left + side) + self.impurity(seen - left + unseen - side)
                for side in sides
            ]
            least = np.min(cost, axis=(0, 1))
        else:
            least = (self.impurity(left) + self.impurity(seen - left)).min(axis=0)
            least = least + self._least(others)
        return (self.impurity(seen + unseen) - least) / len(self.each)

    def _left(self, found: Array, series: Index) -> Array:
        """Sums over the 0, 1, … series of least discrepancy, (series + 1, candidates, sums)."""
        order = found.argsort(axis=0, kind="stable")
        sums = self.each[series][order].cumsum(axis=0)
        return np.concatenate([np.zeros_like(sums[:1]), sums])

    def _least(self, each: Array) -> float:
        """What the best conceivable split leaves at least of the impurity of some series."""
        whole = each.sum(axis=0)
        if self.of_classes:  # one question answers one bit
            return max(float(self.impurity(whole)) - len(each), 0.0)
        if each.shape[1] > 3:  # of several numbers no order is known to be the best
            return 0.0
        left = np.concatenate(
            [np.zeros_like(whole)[None], each[each[:, 1].argsort()].cumsum(axis=0)]
        )
        return float((self.impurity(left) + self.impurity(whole - left)).min())
