"""Curves that are not straight, and how many knots they need."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from typing import Any, ClassVar, TypeVar

import numpy as np

from ..paths import Array, Index, observed
from ..series import RaggedSeries
from .base import Interpolation, positive
from .mesh import Asked, Mesh

SAMPLE = 256  # training series that settings are learnt from, evenly chosen
PROBES = 4, 64  # least and most pieces of a gap in which the bend of a curve is looked for
BLOCK = 2**14  # rows that are probed at once
MOST_PIECES = 10**4  # of a gap, on average
MANY = 10**6  # pieces that no gap needs

S = TypeVar("S", bound="SmoothInterpolation")


class SmoothInterpolation(Interpolation):
    r"""Curves through, or near, each channel's own observations, on a mesh of knots.

    With n pieces in a gap of width h, straight lines differ from a curve f by at most
    :math:`h^2 \max |f''| / 8 n^2`. So many pieces are taken that this is at most `tolerance` times the
    channel's standard deviation in the training series, but on average no more than `max_pieces` a gap.
    In regularly sampled series every gap gets the same number, which `fit` learns, so that they stay
    regularly sampled; in others each gap gets what it needs, if the series' sum allows.

    A subclass writes `curve`.

    Attributes
    ----------
    least : int
        Observations that a curve needs. Where a series has fewer of a channel, lines join them.
    scale_ : list of float
        Standard deviation of each channel in the training series.
    pieces_ : int
        In each gap of regularly sampled series.
    """

    least: ClassVar[int] = 1
    tolerance: float
    max_pieces: int
    scale_: list[float]
    pieces_: int

    _told = False  # that there were too few observations somewhere: said once

    def __init__(self, tolerance: float, max_pieces: int) -> None:
        self.tolerance = positive(tolerance, "tolerance")
        if isinstance(max_pieces, bool) or not isinstance(max_pieces, int | np.integer):
            raise TypeError(f"max_pieces must be a whole number; got {max_pieces!r}.")
        if not 1 <= max_pieces <= MOST_PIECES:
            raise ValueError(f"max_pieces must be from 1 to {MOST_PIECES}; got {max_pieces}.")
        self.max_pieces = int(max_pieces)

    @abstractmethod
    def curve(self, channel: int, asked: Asked) -> Array:
        """Values of a channel's curves, (points,): smooth between the times of a series."""

    def learn(self, mesh: Mesh) -> None:
        """Learn settings from training series."""

    def bends_over(self) -> float:
        """Shortest time over which a curve may bend and bend back; a gap is probed more finely."""
        return np.inf

    def fit(self: S, series: RaggedSeries) -> S:
        """Learn from up to 256 of the training series, and each channel's deviation from all.

        Parameters
        ----------
        series : RaggedSeries
            With standardised channels, best.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # a channel that is never observed
            deviation = np.nanstd(series.values.astype(np.float64), axis=0)
        varies = np.isfinite(deviation) & (deviation > 0)
        self.scale_ = np.where(varies, deviation, 1.0).tolist()
        chosen = np.unique(np.linspace(0, len(series) - 1, SAMPLE).round().astype(np.int64))
        mesh = Mesh.of(observed(series[chosen]))
        self.learn(mesh)
        pieces = self._pieces_needed(mesh.series)
        regular = np.repeat(mesh.regular, mesh.series.lengths)
        if regular.any():
            pieces = pieces[regular]
        self.pieces_ = int(min(pieces.max(), self.max_pieces))
        return self

    def __call__(self, series: RaggedSeries) -> RaggedSeries:
        """Series with as many knots as their curves need, one value of each channel at every knot."""
        self._check(series)
        mesh = Mesh.of(observed(series))
        pieces = np.full(len(mesh.knots), self.pieces_)
        irregular = ~mesh.regular
        if irregular.any():
            some = mesh.series[irregular]
            rows = np.repeat(irregular, mesh.series.lengths)
            pieces[rows] = _within_budget(self._pieces_needed(some), some, self.max_pieces)
        mesh = mesh.divided(pieces)
        self._tell_of_lines(mesh)
        return mesh.filled(self._values(mesh))

    def _values(self, mesh: Mesh) -> Array:
        """Values of all channels at the points of a mesh, (points, channels)."""
        values = np.full((len(mesh.points), mesh.series.n_channels), np.nan)
        for channel, n_seen in enumerate(mesh.n_observed().T):
            few, enough = (n_seen > 0) & (n_seen < self.least), n_seen >= self.least
            if few.any():
                values[mesh.points_of(few), channel] = mesh.asked(channel, few).lines()
            if enough.any():
                curve = self.curve(channel, mesh.asked(channel, enough))
                values[mesh.points_of(enough), channel] = curve
        return values

    def _pieces_needed(self, series: RaggedSeries) -> Index:
        """Pieces of the gap after each row with which lines are close enough to curves, (rows,)."""
        starts = np.flatnonzero(np.diff(series.row_offsets[:-1] // BLOCK, prepend=-1))
        stops = np.append(starts[1:], len(series))
        blocks = [series[start:stop] for start, stop in zip(starts, stops)]
        return np.concatenate([self._probed(Mesh.of(block)) for block in blocks])

    def _probed(self, mesh: Mesh) -> Index:
        """Pieces needed, of a block of series."""
        gaps = mesh.gaps()
        probes = np.clip(np.ceil(PROBES[0] * gaps / self.bends_over()), *PROBES).astype(np.int64)
        probed = mesh.divided(probes)
        values = self._values(probed)
        probes = np.bincount(probed.row, minlength=len(gaps))  # one where a gap is too short
        first = np.searchsorted(probed.row, np.arange(len(gaps)))
        # h^2 f'' / probes^2 at the points inside each gap; at its two ends extrapolated.
        bend = np.zeros_like(values)
        bend[1:-1] = np.nan_to_num(values[2:] - 2 * values[1:-1] + values[:-2])
        bend[first] = 0.0
        most = np.maximum.reduceat(np.abs(bend), first)
        inside = probes > 1
        for end, inwards in ((first, 1), (first + probes, -1)):
            beside = (end + inwards)[inside]
            at_end = np.abs(2 * bend[beside] - bend[beside + inwards])
            most[inside] = np.maximum(most[inside], at_end)
        worst = (most / np.array(self.scale_)).max(axis=1)
        pieces = np.ceil(probes * np.sqrt(worst / (8 * self.tolerance)))
        return np.clip(pieces, 1, MANY).astype(np.int64)

    def _check(self, series: RaggedSeries) -> None:
        name = type(self).__name__
        if not hasattr(self, "pieces_"):
            raise ValueError(
                f"{name} is not fitted: it has to know how much each channel varies. Call fit with "
                "training series first."
            )
        if series.n_channels != len(self.scale_):
            raise ValueError(
                f"the series have {series.n_channels} channels, but {name} was fitted on "
                f"{len(self.scale_)}. Give the same channels in the same order."
            )

    def _tell_of_lines(self, mesh: Mesh) -> None:
        n_seen = mesh.n_observed()
        few = (n_seen > 0) & (n_seen < self.least)
        if few.any() and not self._told:
            self._told = True
            warnings.warn(
                f"{type(self).__name__} needs {self.least} observations of a channel in a series; "
                f"there are fewer {few.sum()} times, in {few.any(axis=1).sum()} of {len(few)} "
                "series. There, straight lines join them, and a single one makes a constant.",
                stacklevel=3,
            )


def per_channel(value: Any, name: str) -> float | list[float] | None:
    """Return a number above 0, a list of them, or None; refuse all else."""
    if value is None:
        return None
    if np.ndim(value) == 0:
        return positive(value, name)
    return [positive(one, name) for one in value]


def spread(
    value: float | list[float] | None, n_channels: int, name: str
) -> list[float] | list[None]:
    """Spread a setting over the channels."""
    if isinstance(value, list):
        if len(value) != n_channels:
            raise ValueError(
                f"{name} must be one number, or one for each of the {n_channels} channels; got "
                f"{len(value)}."
            )
        return value
    return [None] * n_channels if value is None else [value] * n_channels


def _within_budget(pieces: Index, series: RaggedSeries, most: int) -> Index:
    """Fewer pieces in the gaps of a series whose sum would be more than so many a gap."""
    first, lengths = series.row_offsets[:-1], series.lengths
    more = pieces - 1  # of the rows that end a series: 0
    share = (most - 1) * (lengths - 1) / np.maximum(np.add.reduceat(more, first), 1)
    return 1 + (more * np.minimum(np.repeat(share, lengths), 1.0)).astype(np.int64)
