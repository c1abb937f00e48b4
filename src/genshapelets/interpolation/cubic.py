"""Cubic pieces from observation to observation."""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy.linalg import solveh_banded

from ..paths import Array
from .mesh import Asked
from .smooth import SmoothInterpolation

KINDS = ("hermite", "natural")


class Cubic(SmoothInterpolation):
    r"""Cubic pieces through the observations, with a continuous slope.

    .. math:: \iota(f)(t) = x_a + (t - t_a)
        \big(m_a + u (3\delta - 2m_a - m_b) + u^2 (m_a + m_b - 2\delta)\big)

    between neighbouring observations a and b of a channel, where :math:`u = (t - t_a)/(t_b - t_a)`,
    :math:`\delta = (x_b - x_a)/(t_b - t_a)`, and m are the slopes at the observations.

    Parameters
    ----------
    kind : "hermite" or "natural"
        "hermite": the slope at an observation is that of the line from the one before (at the first: to
        the next), so that the curve up to an observation does not depend on later ones (Morrill et al.
        2021). "natural": the slopes that make the second derivative continuous, and 0 at both ends: of
        all curves through the observations the one with the least :math:`\int f''^2`.
    tolerance : float
        How far the straight lines that a path is made of may be from the curve, as a share of the
        channel's standard deviation in the training series.
    max_pieces : int
        At most so many knots for each observation, whatever the tolerance.

    Examples
    --------
    >>> from genshapelets import RaggedSeries
    >>> series = RaggedSeries.from_arrays([[[0.0, 1.0, 0.0, 0.0]]])
    >>> Cubic(max_pieces=2).fit(series)(series)[0].values.round(4)
    array([[ 0. , 0.5 , 1. , 0.75 , 0. , -0.125, 0. ]])
    """

    least = 3  # two are joined by a line

    def __init__(
        self,
        kind: Literal["hermite", "natural"] = "hermite",
        *,
        tolerance: float = 1e-2,
        max_pieces: int = 8,
    ) -> None:
        if kind not in KINDS:
            raise ValueError(f'kind must be "hermite" or "natural"; got {kind!r}.')
        self.kind = kind
        super().__init__(tolerance, max_pieces)

    def curve(self, channel: int, asked: Asked) -> Array:  # noqa: ARG002
        """Values of the cubics at the points asked for."""
        times, values, same = asked.times, asked.values, asked.neighbours()
        gap = np.where(same, np.diff(times), 1.0)
        rise = np.where(same, np.diff(values), 0.0) / gap
        find = _backward_slopes if self.kind == "hermite" else _natural_slopes
        slope = find(asked, gap, rise)
        a, b = asked.left, asked.right()
        since, delta = asked.points - times[a], rise[a]
        u = since / gap[a]
        bend = 3 * delta - 2 * slope[a] - slope[b] + u * (slope[a] + slope[b] - 2 * delta)
        return values[a] + since * (slope[a] + u * bend)


def _backward_slopes(asked: Asked, gap: Array, rise: Array) -> Array:  # noqa: ARG001
    first = asked.offsets[:-1]
    slope = np.append(0.0, rise)
    slope[first] = rise[first]
    return slope


def _natural_slopes(asked: Asked, gap: Array, rise: Array) -> Array:
    """Solve for all series at once: no equation has slopes of two of them.

    At an observation between gaps g and h with rises c and d: the second derivatives of both cubics
    agree, m_before / g + 2 m (1 / g + 1 / h) + m_after / h = 3 (c / g + d / h). At an end one of the
    gaps is missing.
    """
    inverse = np.where(asked.neighbours(), 1 / gap, 0.0)
    diagonal = 2 * (np.append(inverse, 0.0) + np.append(0.0, inverse))
    pull = 3 * rise * inverse
    both = np.stack([np.append(0.0, inverse), diagonal])
    return solveh_banded(both, np.append(pull, 0.0) + np.append(0.0, pull))
