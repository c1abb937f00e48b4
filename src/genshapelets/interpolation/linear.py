"""Straight lines from observation to observation."""

from __future__ import annotations

from ..series import RaggedSeries
from .base import Interpolation


class Linear(Interpolation):
    r"""Straight lines: the paper's choice, and the default.

    .. math:: \iota(f)(t) = x_a + (x_b - x_a) \frac{t - t_a}{t_b - t_a}

    between neighbouring observations a and b of a channel. Series are returned as they are, because
    `genshapelets.interpolate`, which comes next, does just this.
    """

    def __call__(self, series: RaggedSeries) -> RaggedSeries:
        """The series itself."""
        return series
