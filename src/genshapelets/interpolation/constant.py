"""The last value carried forward."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..paths import observed
from ..series import RaggedSeries
from .base import Interpolation, positive
from .mesh import observation_before


class Constant(Interpolation):
    r"""Piecewise constant: each value holds until the next one.

    .. math:: \iota(f)(t) = x_a \quad \text{for} \quad t_a \le t < t_b

    So that a path stays continuous, a jump is a steep line over the last part of the gap before it: a
    share `jump` of that gap. The last value is held for as long as the series' median gap: of regularly
    sampled series each sample holds for one step. So at offsets on the samples, a shapelet that is
    constant on each of S steps has the squared L2 discrepancy of the classical one times the step, but
    for a share of about `jump`.

    A regularly sampled series does not stay so, because of the jumps; searches take the time that they
    take on irregular ones.

    Parameters
    ----------
    jump : float
        Share of a gap, below 1.

    Examples
    --------
    >>> from genshapelets import RaggedSeries
    >>> one = Constant(jump=0.01)(RaggedSeries.from_arrays([[[5.0, 7.0, 7.0]]]))[0]
    >>> one.times, one.values
    (array([0. , 0.99, 1. , 2. , 3. ]), array([[5., 5., 7., 7., 7.]]))
    """

    def __init__(self, jump: float = 1e-4) -> None:
        self.jump = positive(jump, "jump")
        if self.jump >= 1.0:
            raise ValueError(f"jump must be a share of a gap, below 1; got {jump!r}.")

    def __call__(self, series: RaggedSeries) -> RaggedSeries:
        """The series with a knot before each jump, and one more at its end."""
        series = observed(series)
        offsets, times = series.row_offsets, series.times
        values = series.values.astype(np.float64)
        before = observation_before(values, offsets)
        held = np.where(before < 0, np.nan, np.take_along_axis(values, before, axis=0))
        # In place of a row come: the value before, just before it; the row; the end of the series.
        gap = np.diff(times, prepend=times[:1])
        gap[offsets[:-1]] = 0.0
        previous = np.concatenate([held[:1], held[:-1]])
        jumps = ((held != previous) & ~np.isnan(held)).any(axis=1)
        just_before = times - self.jump * gap
        jumps &= (just_before > times - gap) & (just_before < times)  # not lost in rounding
        last = offsets[1:] - 1
        end = times.copy()
        end[last] += [
            float(np.median(gaps[1:])) if len(gaps) > 1 else 0.0
            for gaps in np.split(gap, last[:-1] + 1)
        ]
        kept = np.stack([jumps, np.ones_like(jumps), end > times], axis=1)
        return replace(
            series,
            times=np.stack([just_before, times, end], axis=1)[kept],
            values=np.stack([previous, held, held], axis=1)[kept],
            row_offsets=np.concatenate([[0], np.cumsum(kept.sum(axis=1))[last]]),
        )
