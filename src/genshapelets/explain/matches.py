"""Where shapelets were found, in the user's units."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from ..discrepancies import Discrepancy
from ..estimators.base import ShapeletEstimator
from ..model import ShapeletModel
from ..paths import Array, Index
from ..series import RaggedSeries
from ..shown import count, few


class Window(NamedTuple):
    """A shapelet over the piece of a series that it was laid against.

    Both are piecewise linear; the points are the corners of either, so straight lines between them
    are the very functions that were compared.

    Attributes
    ----------
    times : (points,) array
        In the user's time.
    path : (channels, points) array
        The series, interpolated.
    shapelet : (channels, points) array
        As it was compared: a level-free shapelet, say, is lifted to the level of the window, and a
        scale-free one has its scale, too.
    """

    times: NDArray[Any]
    path: Array
    shapelet: Array

    def __repr__(self) -> str:
        n_channels, n_points = self.path.shape
        return (
            f"Window({self.times[0]} to {self.times[-1]}, {count(n_points, 'point')}, "
            f"{count(n_channels, 'channel')})"
        )


@dataclass(frozen=True, eq=False, repr=False)
class ShapeletMatches:
    """Every shapelet of a fitted model in every series of a batch.

    Attributes
    ----------
    series : RaggedSeries
    start, end : (series, shapelets) arrays
        The best window, in the user's time: datetime64 if the series have datetimes. A window of a
        series shorter than the shapelet ends after the series.
    discrepancy : (series, shapelets) array
        How far the window is from the shapelet.
    features : (series, shapelets) array
        Their logarithms (or themselves, see `ShapeletModel`), which the head weighs.
    shapelets : (shapelets, channels, knots) array
        In the units of the data.
    lengths : (shapelets,) array
        In the unit of the times; timedelta64 if they are datetimes. For the classical
        discrepancy: what this number of samples spans in these series.
    kinds : tuple of str
        By which discrepancy each shapelet is compared, such as "L2" or "log-signature".
    level_free : (shapelets,) bool array
        Which shapelets see only the shape of a window, not its level.
    scale_free : (shapelets,) bool array
        Which of them do not see its scale either.
    metric : (1 or shapelets, channels) array
        How much the discrepancy of each shapelet looks at each channel, after standardising them:
        lengths of the columns of A, divided by their sum. One row if all share a metric.
    channel_names : tuple of str
        "channel 0", … if they have none.
    centre, scale : (channels,) arrays
        What the model standardises the channels by.
    """

    series: RaggedSeries
    start: NDArray[Any]
    end: NDArray[Any]
    discrepancy: Array
    features: Array
    shapelets: Array
    lengths: NDArray[Any]
    kinds: tuple[str, ...]
    level_free: NDArray[np.bool_]
    scale_free: NDArray[np.bool_]
    metric: Array
    channel_names: tuple[str, ...]
    centre: Array
    scale: Array
    _offset: Array  # start, in the batch's own time
    _length: Array
    _model: ShapeletModel

    def __repr__(self) -> str:
        n_series, n_shapelets = self.discrepancy.shape
        return (
            f"ShapeletMatches({count(n_series, 'series')}, {count(n_shapelets, 'shapelet')}, "
            f"{few(self.channel_names)}, by {few(dict.fromkeys(self.kinds))})"
        )

    @property
    def n_shapelets(self) -> int:
        """Number of shapelets."""
        return len(self.shapelets)

    @property
    def names(self) -> NDArray[Any]:
        """Names of the series: their ids, or 0, 1, …."""
        ids = self.series.series_ids
        return np.arange(len(self.series)) if ids is None else np.asarray(ids)

    @property
    def nearest(self) -> Index:
        """The series that each shapelet is most similar to, (shapelets,)."""
        return self.discrepancy.argmin(axis=0)

    @property
    def position(self) -> Array:
        """Where in its series the middle of each window is: 0 at the first time, 1 at the last."""
        first = self.series.times[self.series.row_offsets[:-1], None]
        span = np.where(self.series.spans > 0, self.series.spans, 1.0)[:, None]
        return (self._offset + 0.5 * self._length - first) / span

    def series_of(self, shapelet: int, series: int | None = None) -> int:
        """Position of a series, checked; by default of the one a shapelet is most similar to."""
        shapelet = place(shapelet, self.n_shapelets, "shapelet")
        if series is None:
            return int(self.nearest[shapelet])
        return place(series, len(self.series), "series")

    def closest(self, shapelet: int, count: int | None = None) -> Index:
        """Positions of the series that a shapelet is most similar to, most similar first."""
        shapelet = place(shapelet, self.n_shapelets, "shapelet")
        return np.argsort(self.discrepancy[:, shapelet], kind="stable")[:count]

    def metric_of(self, shapelet: int) -> Array:
        """How much one shapelet looks at each channel, (channels,)."""
        shapelet = place(shapelet, self.n_shapelets, "shapelet")
        return self.metric[shapelet if len(self.metric) > 1 else 0]

    def own_channels(self, shapelet: int) -> Index:
        """Channels that a shapelet looks at: all whose weight in its metric is not 0."""
        return np.flatnonzero(self.metric_of(shapelet))

    def channels(self, shapelet: int, count: int | None = None) -> Index:
        """Own channels that say most: heavy in the metric, not flat in the shapelet; most first."""
        own = self.own_channels(shapelet)
        height = np.ptp(self.shapelets[shapelet], axis=1) / self.scale
        said = (self.metric_of(shapelet) * height)[own]
        return own[np.argsort(-said, kind="stable")[:count]]

    def window(self, shapelet: int, series: int | None = None) -> Window:
        """A shapelet over its best window of one series; by default of the most similar one."""
        times, path, drawn, _ = self._laid(shapelet, self.series_of(shapelet, series))
        return Window(self.series.to_user_time(times), path, drawn)

    def knots_drawn(self, shapelet: int, series: int | None = None) -> Array:
        """Values (channels, knots) of a shapelet as it is compared with that window."""
        times, _, drawn, knots = self._laid(shapelet, self.series_of(shapelet, series))
        return drawn[:, np.searchsorted(times, knots)]

    def _laid(self, shapelet: int, n: int) -> tuple[Array, Array, Array, Array]:
        """Times, path and shapelet of a window as it is compared, and the times of its knots."""
        begin, length = self._offset[n, shapelet], self._length[shapelet]
        knots = np.linspace(begin, begin + length, self.shapelets.shape[2])
        own = self.corners(n)
        inside = own[(own > knots[0]) & (own < knots[-1])]
        times = np.union1d(knots, inside)
        values = self.path_at(n, times)
        drawn = np.array([np.interp(times, knots, row) for row in self.shapelets[shapelet]])
        return times, values, self._drawn(shapelet, times, values, drawn), knots

    def _drawn(self, shapelet: int, times: Array, path: Array, values: Array) -> Array:
        """Values (channels, times) of a shapelet as the discrepancy compares it with a path."""
        centre, scale = self.centre[:, None], self.scale[:, None]

        def windows(x: Array) -> torch.Tensor:  # the same for every shapelet
            return torch.from_numpy(((x - centre) / scale).T).expand(self.n_shapelets, -1, -1)

        since = torch.from_numpy(times - times[0]).expand(self.n_shapelets, -1)
        with torch.no_grad():
            drawn = self._model.transform.discrepancy.drawn(since, windows(path), windows(values))[
                shapelet
            ]
        return drawn.numpy().T * scale + centre

    def path(self, series: int) -> tuple[NDArray[Any], Array]:
        """Times and values of a whole series, (channels, times), gaps interpolated."""
        series = place(series, len(self.series), "series")
        own = self.corners(series)
        return self.series.to_user_time(own), self.path_at(series, own)

    def corners(self, series: int) -> Array:
        """Times, as the batch counts them, between which the path of a series is straight."""
        path = self._model.paths(self.series[[series]], covariates=False)
        return path.knots + path.origin[0]

    def path_at(self, series: int, times: Array) -> Array:
        """Values (channels, times) of the path of a series, at times as the batch counts them."""
        values = self._model.paths(self.series[[series]], covariates=False).evaluate(times)[0]
        return values * self.scale[:, None] + self.centre[:, None]


def place(value: Any, count: int, what: str) -> int:
    """Check a position that a user asks for."""
    if isinstance(value, int | np.integer) and 0 <= value < count:
        return int(value)
    raise IndexError(f"{what} must be a whole number from 0 to {count - 1}; got {value!r}.")


def find_matches(estimator: ShapeletEstimator, X: Any) -> ShapeletMatches:
    """Look for every shapelet of a fitted estimator in every series.

    Parameters
    ----------
    estimator : ShapeletClassifier, ShapeletRegressor or ShapeletTransformer
    X : series
        Anything that the estimator predicts.

    Examples
    --------
    >>> import numpy as np
    >>> from genshapelets import ShapeletTransformer
    >>> from genshapelets.explain import find_matches
    >>> X = np.random.default_rng(0).normal(size=(6, 1, 30))
    >>> found = find_matches(ShapeletTransformer(n_shapelets=2, random_state=0).fit(X), X)
    >>> found.start.shape, found.window(shapelet=1).path.shape[0]
    ((6, 2), 1)
    """
    matches, series = estimator._matches(X)
    model = estimator.model_
    shapelets = model.transform.shapelets
    measure = model.transform.discrepancy
    n_shapelets = shapelets.n_shapelets
    start = matches.start.cpu().numpy().astype(np.float64)
    lengths = estimator.lengths_
    length = shapelets.lengths.detach().cpu().numpy().astype(np.float64)
    if measure.counts_samples:
        n = int(series.lengths.argmax())
        step = series.spans[n] / max(int(series.lengths[n]) - 1, 1)
        length = np.full(n_shapelets, step * (shapelets.n_knots - 1))
        lengths = series.to_user_time(length) - series.to_user_time(0.0)
    names = estimator.channel_names_ or series.channel_names
    with torch.no_grad(), estimator._threads():
        discrepancy = matches.discrepancy.double()
        features = model.features(discrepancy).cpu().numpy()
    return ShapeletMatches(
        series=series,
        start=series.to_user_time(start),
        end=series.to_user_time(start + length),
        discrepancy=discrepancy.cpu().numpy(),
        features=features,
        shapelets=estimator.shapelets_,
        lengths=lengths,
        kinds=tuple(measure.titles(n_shapelets)),
        level_free=measure.ignores_level(n_shapelets).cpu().numpy().copy(),
        scale_free=measure.ignores_scale(n_shapelets).cpu().numpy().copy(),
        metric=_metric(measure, series.n_channels),
        channel_names=names or tuple(f"channel {d}" for d in range(series.n_channels)),
        centre=model.centre.cpu().numpy().astype(np.float64),
        scale=model.scale.cpu().numpy().astype(np.float64),
        _offset=start,
        _length=length,
        _model=copy.deepcopy(model).cpu(),
    )


def _metric(measure: Discrepancy, n_channels: int) -> Array:
    size = measure.channel_weights(n_channels).detach().cpu().double().numpy()
    return size / np.maximum(size.sum(axis=1, keepdims=True), np.finfo(float).tiny)
