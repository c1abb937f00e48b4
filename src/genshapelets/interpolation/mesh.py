"""Where curves are evaluated: each gap of a series in even pieces. And what they go through."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import DOUBLE_EPS, offsets_of
from ..paths import Array, Index, knots_of
from ..series import RaggedSeries

CLOSEST = 1024 * DOUBLE_EPS  # of the largest time: a shorter gap is not divided


class Mesh(NamedTuple):
    """Points at which the channels of a batch are evaluated: all times of each series, and more.

    Attributes
    ----------
    series : RaggedSeries
        What was observed.
    knots : (rows,) array
        Its times, since the first of each series; of regularly sampled ones exactly regular.
    regular : (series,) array of bool
    row : (points,) array
        Row of the series at or before each point.
    points : (points,) array
        Their times, since the first of each series.
    offsets : (series + 1,) array
        Points of each series.
    """

    series: RaggedSeries
    knots: Array
    regular: NDArray[np.bool_]
    row: Index
    points: Array
    offsets: Index

    @classmethod
    def of(cls, series: RaggedSeries) -> Mesh:
        """The times of the series alone."""
        knots, step = knots_of(series)
        row = np.arange(len(knots))
        return cls(series, knots, step > 0, row, knots, series.row_offsets)

    def gaps(self) -> Array:
        """Time from each row to the next, (rows,); 0 after the last row of a series."""
        gaps = np.diff(self.knots, append=0.0)
        gaps[self.series.row_offsets[1:] - 1] = 0.0
        return gaps

    def n_observed(self) -> Index:
        """Observations of each series and channel, (series, channels)."""
        seen = ~np.isnan(self.series.values)
        return np.add.reduceat(seen, self.series.row_offsets[:-1], dtype=np.int64)

    def typical_gap(self, channel: int) -> float:
        """Median time between neighbouring observations of a channel; or, if it has none, of all."""
        asked = self.asked(channel, self.n_observed()[:, channel] > 0)
        gaps = np.diff(asked.times)[asked.neighbours()]
        if not len(gaps):
            gaps = self.gaps()[self.gaps() > 0]
        return float(np.median(gaps)) if len(gaps) else 1.0

    def divided(self, pieces: Index) -> Mesh:
        """The gap after each row, (rows,), in so many even pieces, if it is not too short for them."""
        series, gaps = self.series, self.gaps()
        largest = np.maximum(
            *(
                np.abs(series.times[i])
                for i in (series.row_offsets[:-1], series.row_offsets[1:] - 1)
            )
        )
        pieces = np.where(gaps > CLOSEST * np.repeat(largest, series.lengths), pieces, 1)
        first = offsets_of(pieces)
        row = np.repeat(np.arange(len(gaps)), pieces)
        part = (np.arange(first[-1]) - first[row]) / pieces[row]
        return self._replace(
            row=row,
            points=self.knots[row] + part * gaps[row],
            offsets=first[series.row_offsets],
        )

    def filled(self, values: Array) -> RaggedSeries:
        """The batch with its points as times, and these values (points, channels)."""
        series = self.series
        since = np.repeat(series.times[series.row_offsets[:-1]], np.diff(self.offsets))
        # The times of irregular series to the last bit; those of others exactly regular.
        kept = (self.points == self.knots[self.row]) & ~self.points_of(self.regular)
        times = np.where(kept, series.times[self.row], since + self.points)
        return replace(series, times=times, values=values, row_offsets=self.offsets)

    def asked(self, channel: int, chosen: NDArray[np.bool_]) -> Asked:
        """What chosen series, each with an observation of the channel, are asked for."""
        series = self.series
        values = series.values[:, channel].astype(np.float64)
        rows = np.flatnonzero(~np.isnan(values) & np.repeat(chosen, series.lengths))
        times = self.knots[rows]
        here, n_points = self.points_of(chosen), np.diff(self.offsets)[chosen]
        offsets = np.append(np.searchsorted(rows, series.row_offsets[:-1][chosen]), len(rows))
        before = observation_before(values[:, None], series.row_offsets)[self.row[here], 0]
        start, stop = np.repeat(offsets[:-1], n_points), np.repeat(offsets[1:] - 1, n_points)
        return Asked(
            times=times,
            values=values[rows],
            offsets=offsets,
            points=np.clip(self.points[here], times[start], times[stop]),
            point_offsets=offsets_of(n_points),
            left=np.maximum(np.minimum(np.searchsorted(rows, before), stop - 1), start),
        )

    def points_of(self, chosen: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which points are of chosen series, (points,)."""
        return np.repeat(chosen, np.diff(self.offsets))


class Asked(NamedTuple):
    """Observations of one channel, and points at which its curve is asked for.

    Attributes
    ----------
    times, values : (observations,) arrays
        Times since the first of each series.
    offsets : (series + 1,) array
        Observations of each series.
    points : (points,) array
        Times, from the first to the last observation: those outside are moved there, where a curve goes
        on as a constant.
    point_offsets : (series + 1,) array
        Points of each series.
    left : (points,) array
        Observation at or before each point, but not the last of several.
    """

    times: Array
    values: Array
    offsets: Index
    points: Array
    point_offsets: Index
    left: Index

    def right(self) -> Index:
        """Observation after `left`, or the same if it is the only one of its series."""
        only = np.repeat(np.diff(self.offsets) == 1, np.diff(self.point_offsets))
        return self.left + ~only

    def neighbours(self) -> NDArray[np.bool_]:
        """Whether an observation and the next are of the same series, (observations - 1,)."""
        same = np.ones(max(len(self.times) - 1, 0), np.bool_)
        same[self.offsets[1:-1] - 1] = False
        return same

    def lines(self) -> Array:
        """Values of straight lines at the points."""
        a, b = self.left, self.right()
        gap = self.times[b] - self.times[a]
        part = (self.points - self.times[a]) / np.where(gap > 0, gap, 1.0)
        return self.values[a] + part * (self.values[b] - self.values[a])


def observation_before(values: Array, offsets: Index) -> Index:
    """Row of the last observation at or before each row, (rows, channels); or else of the first one.

    -1 in a series that does not observe the channel.
    """
    rows = np.arange(len(values))[:, None]
    seen = ~np.isnan(values)
    lengths = np.diff(offsets)
    after = np.where(seen, rows, len(values))
    first = np.repeat(np.minimum.reduceat(after, offsets[:-1], axis=0), lengths, axis=0)
    before = np.maximum.accumulate(np.where(seen, rows, -1), axis=0)
    before = np.maximum(before, first)  # not one of the series before
    return np.where(first >= np.repeat(offsets[1:], lengths)[:, None], -1, before)
