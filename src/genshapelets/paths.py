"""Series become paths: continuous, piecewise linear, known everywhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arrays import offsets_of
from .checks import in_seconds
from .columns import as_instants
from .kernels import kernel, once, run
from .series import RaggedSeries
from .shown import count

Array = NDArray[np.float64]
Index = NDArray[np.int64]


class Sampling(NamedTuple):
    """Paths sampled by one step, or irregularly if it is 0."""

    step: float
    members: Index


class Prepared(Protocol):
    """What is made of a batch of paths, path by path."""

    def __getitem__(self, chosen: Index) -> Prepared:
        """Choose what belongs to some of the paths."""


P = TypeVar("P", bound=Prepared)


@dataclass(frozen=True, eq=False)
class Paths:
    r"""A batch of piecewise-linear paths, one for each series, in float64.

    Each channel runs in straight lines through its own observations and is held constant before its
    first and after its last one:
    :math:`f_d(t) = x_{a} + (x_{b} - x_{a})(t - t_a)/(t_b - t_a)` between neighbouring observations
    :math:`a, b` of channel :math:`d`. A channel that a series never observes takes the fill value.

    Make one with `interpolate`. It is the slow part of preparing data and does not depend on the
    shapelets, so prepare once and pass it to a transform as often as you like.

    Attributes
    ----------
    knots : (rows,) array
        Times of the knots, counted from the origin of their own series.
    values : (rows, channels) array
        Values at the knots.
    row_offsets : (series + 1,) array
        Series i owns the rows ``row_offsets[i]:row_offsets[i + 1]``.
    origin : (series,) array
        First time of each series at which something is observed.
    step : (series,) array
        Sampling step of the regularly sampled series; 0 for all others.
    time_origin : numpy.datetime64 (ns), or None
        What times are counted from, in seconds, if those of the series are datetimes.
    covariates : (series, covariates) array, or None
        What a model knows of each series beside its path; see `genshapelets.covariates`.
    """

    knots: Array
    values: Array
    row_offsets: Index
    origin: Array
    step: Array
    time_origin: np.datetime64 | None = None
    covariates: Array | None = None
    _prepared: dict[Callable, Any] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return len(self.origin)

    def __repr__(self) -> str:
        regular = int((self.step > 0).sum())
        return (
            f"Paths({count(len(self), 'path')}, {count(self.n_channels, 'channel')}, "
            f"{count(len(self.knots), 'knot')}, "
            f"{regular} regularly sampled)"
        )

    @property
    def n_channels(self) -> int:
        """Number of channels."""
        return self.values.shape[1]

    @once
    def lengths(self) -> Index:
        """Number of knots of each path."""
        return np.diff(self.row_offsets)

    @once
    def spans(self) -> Array:
        """Last minus first time of each path."""
        return self.knots[self.row_offsets[1:] - 1]

    @once
    def samplings(self) -> list[Sampling]:
        """The paths in groups, one for each step; the irregular ones first, if there are any."""
        return [
            Sampling(float(step), np.flatnonzero(self.step == step))
            for step in np.unique(self.step)
        ]

    def prepared(self, prepare: Callable[[Paths], P]) -> P:
        """Result of ``prepare(self)``, made once; a selection of the paths keeps its part of it."""
        if prepare not in self._prepared:
            self._prepared[prepare] = prepare(self)
        return self._prepared[prepare]

    def __getstate__(self) -> dict[str, Any]:
        """State for pickle and copy: the paths, without what can be made of them again."""
        fields = self.__dataclass_fields__
        return {name: value for name, value in vars(self).items() if name in fields} | {
            "_prepared": {}
        }

    def __getitem__(self, selection: slice | Sequence[int] | NDArray[Any]) -> Paths:
        """Choose paths by slice, indices or mask."""
        chosen = np.arange(len(self))[selection]
        if chosen.ndim != 1:
            raise TypeError(
                "Paths are chosen by a slice, a list of indices or a mask; got a number."
            )
        if not len(chosen):
            raise ValueError("a batch needs at least one path; the selection is empty.")
        lengths = self.lengths[chosen]
        row_offsets = np.concatenate([[0], np.cumsum(lengths)])
        rows = np.arange(row_offsets[-1]) + np.repeat(
            self.row_offsets[chosen] - row_offsets[:-1], lengths
        )
        return Paths(
            self.knots[rows],
            self.values[rows],
            row_offsets,
            self.origin[chosen],
            self.step[chosen],
            self.time_origin,
            None if self.covariates is None else self.covariates[chosen],
            {prepare: known[chosen] for prepare, known in self._prepared.items()},
        )

    def evaluate(self, t: ArrayLike) -> Array:
        """Values of every path at the given times.

        Parameters
        ----------
        t : number, (n_times,) or (series, n_times) array
            Times, in the series' own unit; datetimes, or seconds since `time_origin`, if those of the
            series are datetimes. Outside its span a path is constant.

        Returns
        -------
        (series, channels, n_times) array
            (series, channels) for a single time.

        Examples
        --------
        >>> from genshapelets import RaggedSeries, interpolate
        >>> paths = interpolate(RaggedSeries.from_arrays([[[0.0, float("nan"), 4.0]]]))
        >>> paths.evaluate([0.0, 0.5, 1.0, 9.0])
        array([[[0., 1., 2., 4.]]])
        """
        times = self._in_own_time(t)
        if times.ndim > 2 or (times.ndim == 2 and len(times) != len(self)):
            raise ValueError(
                f"t must be one time, (n_times,) or ({len(self)}, n_times), one row for each path; "
                f"got shape {times.shape}."
            )
        if not np.isfinite(times).all():
            raise ValueError("t must be finite; got NaN or infinity.")
        n_times = times.shape[-1] if times.ndim else 1
        points = np.broadcast_to(times, (len(self), n_times)) - self.origin[:, None]
        out = np.empty((len(self), self.n_channels, n_times))
        rows = self.knots, self.values, self.row_offsets, np.ascontiguousarray(points)
        run(lambda first, last: _evaluate(first, last, *rows, out), len(self))
        return out if times.ndim else out[..., 0]

    def _in_own_time(self, t: ArrayLike) -> Array:
        """Times as numbers, datetimes as seconds since the origin; NaT as NaN."""
        instants = as_instants(t, "t")
        if instants.dtype.kind != "M":
            return instants.astype(np.float64)
        if self.time_origin is None:
            raise TypeError(
                "t holds datetimes, but the times of the series are numbers. Give numbers in the "
                "unit of the series' times."
            )
        return np.where(np.isnat(instants), np.nan, in_seconds(instants - self.time_origin))


def interpolate(series: RaggedSeries, fill: ArrayLike = 0.0) -> Paths:
    """Join the observations of each channel of each series by straight lines.

    A time at which nothing is observed is no observation: see `observed`.

    Parameters
    ----------
    series : RaggedSeries
    fill : number or (channels,) array
        Value of a channel in a series that never observes it. The training mean is a good choice:
        0 if channels are standardised.
    """
    fill_values = check_fill(fill, series.n_channels)
    series = observed(series)
    offsets = series.row_offsets.copy()  # writable, as all arrays that kernels are compiled for
    knots, step = knots_of(series)
    values = np.array(series.values, dtype=np.float64, order="C")
    if np.isnan(values).any():
        run(
            lambda first, last: _fill_gaps(first, last, knots, values, offsets, fill_values),
            len(series),
        )
    return Paths(knots, values, offsets, series.times[offsets[:-1]], step, series.time_origin)


_known: WeakKeyDictionary[RaggedSeries, tuple[bytes, Paths]] = WeakKeyDictionary()


def paths_of(series: RaggedSeries, fill: ArrayLike = 0.0) -> Paths:
    """Answer as `interpolate`, and remember the answer as long as the series live."""
    key = np.asarray(fill, dtype=np.float64).tobytes()
    known = _known.get(series)
    if known is None or known[0] != key:
        known = _known[series] = key, interpolate(series, fill)
    return known[1]


def check_fill(fill: ArrayLike, n_channels: int) -> Array:
    """Return the fill of each channel, (channels,), or refuse it."""
    try:
        values = np.asarray(fill, dtype=np.float64)
    except (TypeError, ValueError):
        values = np.array(np.nan)
    if values.shape not in ((), (n_channels,)) or not np.isfinite(values).all():
        raise ValueError(
            f"fill must be one finite number or one for each of the {n_channels} channels; "
            f"got {fill!r}."
        )
    return np.ascontiguousarray(np.broadcast_to(values, (n_channels,)))


def observed(series: RaggedSeries) -> RaggedSeries:
    """Leave out the times at which a series observes nothing, so that padding by NaN means nothing.

    Those before its first and after its last observation always; those in between unless the series
    is regularly sampled without the former: there they are points of its lattice. A batch without
    such times is returned as it is.

    Examples
    --------
    >>> import numpy as np
    >>> padded = RaggedSeries.from_arrays([[[np.nan, 1.0, np.nan, 3.0, np.nan, np.nan]]])
    >>> observed(padded)[0].times
    array([1., 2., 3.])
    """
    missing = np.isnan(series.values)
    if not missing.any():
        return series
    seen = ~missing.all(axis=1)
    if seen.all():
        return series
    rows = np.flatnonzero(seen)
    first = rows[np.searchsorted(rows, series.row_offsets[:-1])]
    last = rows[np.searchsorted(rows, series.row_offsets[1:]) - 1]
    position = np.arange(len(seen))
    inside = position >= np.repeat(first, series.lengths)
    inside &= position <= np.repeat(last, series.lengths)
    series = _rows(series, inside)
    _, step = knots_of(series)
    return _rows(series, seen[inside] | np.repeat(step > 0, series.lengths))


def _rows(series: RaggedSeries, kept: NDArray[np.bool_]) -> RaggedSeries:
    """Choose rows, at least one of each series."""
    if kept.all():
        return series
    return replace(
        series,
        times=series.times[kept],
        values=series.values[kept],
        row_offsets=offsets_of(np.add.reduceat(kept, series.row_offsets[:-1], dtype=np.int64)),
    )


def knots_of(series: RaggedSeries) -> tuple[Array, Array]:
    """Times since the first of each series, those of the regularly sampled ones exactly on i * step.

    Regular means: on a lattice up to the rounding of the times as they were given. The step keeps 40
    bits, so that series whose steps differ by rounding alone share one step to the last bit. It is 0
    for all others.
    """
    offsets, lengths = series.row_offsets, series.lengths
    last = offsets[1:] - 1
    origin = series.times[offsets[:-1]]
    knots = series.times - np.repeat(origin, lengths)
    span = knots[last]
    mantissa, exponent = np.frexp(span / np.maximum(lengths - 1, 1))
    step = np.ldexp(np.round(np.ldexp(mantissa, 40)), exponent - 40)
    position = np.arange(len(knots)) - np.repeat(offsets[:-1], lengths)
    lattice = position * np.repeat(step, lengths)
    largest = np.maximum(np.abs(origin), np.abs(series.times[last]))
    tolerance = np.minimum(4 * series.time_precision * largest + 2.0**-40 * span, 1e-3 * step)
    off_lattice = np.abs(knots - lattice) > np.repeat(tolerance, lengths)
    regular = (np.add.reduceat(off_lattice, offsets[:-1]) == 0) & (lengths > 1)
    return (
        np.where(np.repeat(regular, lengths), lattice, knots),
        np.where(regular, step, 0.0),
    )


@kernel
def _fill_gaps(first, last, knots, values, row_offsets, fill):
    """Replace NaN by their channel's straight lines."""
    for series in range(first, last):
        begin, end = row_offsets[series], row_offsets[series + 1]
        for channel in range(values.shape[1]):
            before = -1
            for row in range(begin, end):
                if np.isnan(values[row, channel]):
                    continue
                if before < 0:
                    values[begin:row, channel] = values[row, channel]
                elif row - before > 1:
                    rise = values[row, channel] - values[before, channel]
                    for gap in range(before + 1, row):
                        part = (knots[gap] - knots[before]) / (knots[row] - knots[before])
                        values[gap, channel] = values[before, channel] + part * rise
                before = row
            if before < 0:
                values[begin:end, channel] = fill[channel]
            else:
                values[before + 1 : end, channel] = values[before, channel]


@kernel
def _evaluate(first, last, knots, values, row_offsets, points, out):
    for series in range(first, last):
        begin, end = row_offsets[series], row_offsets[series + 1]
        for point in range(points.shape[1]):
            t = points[series, point]
            row = begin + np.searchsorted(knots[begin:end], t, side="right") - 1
            if row < begin or row == end - 1:
                row = max(row, begin)
                for channel in range(values.shape[1]):
                    out[series, channel, point] = values[row, channel]
            else:
                part = (t - knots[row]) / (knots[row + 1] - knots[row])
                for channel in range(values.shape[1]):
                    rise = values[row + 1, channel] - values[row, channel]
                    out[series, channel, point] = values[row, channel] + part * rise
