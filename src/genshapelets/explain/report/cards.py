"""A card for each shapelet: its shape over its best match, what it speaks for, where it occurs."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...estimators.base import ShapeletEstimator
from ...paths import Array, Index
from ..areas import in_plane, loops, senses, signed_area
from ..drawing import kind_of
from ..hearing import cepstra_of, cepstrum_of
from ..kinds import LOG_SIGNATURE
from ..local import Explanation
from ..matches import ShapeletMatches, Window
from ..overall import ModelExplanation
from .numbers import pack, pack_curve, resampled, said, said_length, short

FEW_CHANNELS = 6  # of a shapelet that are drawn; of more, those that say most
KNOTS = 40  # of a shapelet
POINTS, FEWER = 48, 24  # of the series that it is most similar to, and of the others
MOST_LOOPS = 12  # of an area, the largest
REACH = 3.0  # of a heat map's colours, in standard deviations
CLOSEST = 8  # series
MANY_SHAPELETS = 60  # of more, less is said of each, so that the page stays small
FEW_CLASSES, EACH_WAY = 12, 3  # of more, those that a shapelet speaks most for and against
SLIGHT = 1e-3  # of the largest claim: as good as none
BINS = 20


def card(
    explanation: Explanation,
    learnt: ModelExplanation | None,
    shapelet: int,
    weight: float,
    time_unit: str = "",
) -> dict[str, Any]:
    """All that a card shows. A sound of the shapelet is elsewhere: see `sounds`.

    Parameters
    ----------
    explanation : Explanation
    learnt : ModelExplanation, or None if the head is not linear
    shapelet : int
    weight : float
        Share of all contributions that come from this shapelet.
    time_unit : str
    """
    found = explanation.matches
    n = int(found.nearest[shapelet])
    claim = None if learnt is None else _claim(learnt, shapelet)
    hears = cepstrum_of(explanation.estimator) is not None
    alike = explanation.alike[:, shapelet]
    usual_span = float(np.median(found.series.spans))
    channels = own_channels(found, shapelet)
    looked = found.metric_of(shapelet)
    where = np.clip(found.position[alike, shapelet], 0.0, 1.0)
    length, dated = float(found._length[shapelet]), found.series.time_origin is not None
    return {
        "number": shapelet,
        "weight": short(weight),
        "length": said_length(length, dated, time_unit),
        "duration": short(length, 9),
        "share": short(length / usual_span) if usual_span else None,
        "kind": said(found.kinds[shapelet]),
        "tag": said(kind_of(found, shapelet)),
        "levelFree": bool(found.level_free[shapelet]),
        "scaleFree": bool(found.scale_free[shapelet]),
        "alike": int(alike.sum()),
        "claim": claim,
        "pulls": None if learnt is None else _pulls(learnt, shapelet),
        "where": np.histogram(where, BINS, (0.0, 1.0))[0].tolist(),
        "mostly": short(np.quantile(where, [0.25, 0.75]), 3) if len(where) else None,
        "map": _map(found, shapelet, n, hears),
        "area": _area(found, shapelet, n) if found.kinds[shapelet] == LOG_SIGNATURE else None,
        "channels": channels.tolist(),
        "looked": short(looked[channels], 3),
        "strength": short(looked[channels] / max(float(looked.max()), 1e-300), 3),
        "shape": [pack(row) for row in resampled(found.shapelets[shapelet][channels], KNOTS)],
        "source": source_of(explanation.estimator, found, shapelet, channels),
        "closest": [
            match(found, shapelet, m, channels, FEWER if rank else POINTS)
            for rank, m in enumerate(found.closest(shapelet, few(found, CLOSEST)).tolist())
        ],
        "own": _in_own_class(learnt, shapelet, channels),
    }


def few(found: ShapeletMatches, count: int) -> int:
    """So many, or half of them if there are many shapelets."""
    return count if found.n_shapelets <= MANY_SHAPELETS else count // 2


def own_channels(found: ShapeletMatches, shapelet: int) -> Index:
    """Channels that a shapelet looks at, or the first; of many, those that say most. In their order."""
    most = found.channels(shapelet, few(found, FEW_CHANNELS))
    return np.sort(most) if len(most) else np.array([0])


def match(
    found: ShapeletMatches, shapelet: int, series: int, channels: Index, points: int
) -> dict[str, Any]:
    """A series around the window where a shapelet was found; times are from the series' first."""
    times = _times_around(found, shapelet, series)
    first, span = times[0], max(float(times[-1] - times[0]), 1e-300)
    begin, *places = window_of(found, shapelet, series, channels)
    ends = found._offset[series, shapelet] + np.array([0.0, found._length[shapelet]])
    return {
        "series": series,
        "distance": short(found.discrepancy[series, shapelet], 4),
        "first": short(first - found.series[series].times[0], 7),
        "span": short(span, 7),
        "window": short((ends - first) / span),
        "begin": begin,
        "places": places,
        "paths": [
            pack_curve((times - first) / span, row, points)
            for row in found.path_at(series, times)[channels]
        ],
        "seen": [_seen(found, series, d, first, span) for d in channels],
    }


def source_of(
    estimator: ShapeletEstimator, found: ShapeletMatches, shapelet: int, channels: Index
) -> dict[str, Any] | None:
    """The training window that a shapelet stands for, if the model keeps it.

    It has the level and the scale of the shapelet where these do not count.
    """
    kept = getattr(estimator, "sources_", None)
    if kept is None:
        return None
    values = np.asarray(kept.values[shapelet], np.float64)[channels]
    own = found.shapelets[shapelet][channels]
    if found.level_free[shapelet]:
        values = values - values.mean(axis=1, keepdims=True)
        if found.scale_free[shapelet]:
            height = np.ptp(values, axis=1, keepdims=True)
            values = values * np.ptp(own, axis=1, keepdims=True) / np.where(height > 0, height, 1.0)
        values = values + own.mean(axis=1, keepdims=True)
    start = np.asarray(kept.start)[shapelet]
    return {
        "series": said(np.asarray(kept.series)[shapelet]),
        "start": said(start) if found.series.time_origin is not None else short(start, 6),
        "values": [pack(row) for row in resampled(values, KNOTS)],
    }


def window_of(found: ShapeletMatches, shapelet: int, series: int, channels: Index) -> list[Any]:
    """Start of a window, from the series' first time; where a shapelet that ignores them is drawn.

    That is, for each of the channels, how far it is lifted and, if it is scale-free, how much enlarged.
    """
    begin = found._offset[series, shapelet] - found.series[series].times[0]
    if not found.level_free[shapelet]:
        return [short(begin, 7)]
    drawn, own = found.window(shapelet, series).shapelet, found.shapelets[shapelet]
    placed = [short(begin, 7), *short((drawn - own[:, :1])[channels, 0], 4)]
    if not found.scale_free[shapelet]:
        return placed
    height = np.ptp(own, axis=1)
    scale = np.where(height > 0, np.ptp(drawn, axis=1) / np.where(height > 0, height, 1.0), 1.0)
    return [*placed, *short(scale[channels], 4)]


def _claim(learnt: ModelExplanation, shapelet: int) -> list[Any] | None:
    """(Class, 1 if it speaks for it, else -1), or None if it says next to nothing."""
    answer, against, size = learnt.claims()
    if size[shapelet] <= SLIGHT * size.max():
        return None
    return [int(answer[shapelet]), -1 if against[shapelet] else 1]


def _in_own_class(
    learnt: ModelExplanation | None, shapelet: int, channels: Index
) -> dict[str, Any] | None:
    """The closest series of the class that a shapelet raises most, unless it is the closest of all."""
    if learnt is None or learnt.classes is None:
        return None
    raised = learnt.classes[learnt.effect[:, shapelet].argmin()]
    everyone = learnt.matches.closest(shapelet)
    own = everyone[learnt.labels[everyone] == raised]
    if not len(own) or own[0] == everyone[0]:
        return None
    return match(learnt.matches, shapelet, int(own[0]), channels, POINTS)


def _pulls(learnt: ModelExplanation, shapelet: int) -> list[list[Any]]:
    """(Class, effect of fitting better, weight), for first: the head's signs are those of distance.

    What is added to all classes alike changes no probability: their mean effect is taken off.
    """
    effect, weight = -learnt.effect[:, shapelet], learnt.weight[:, shapelet]
    if learnt.classes is not None:
        effect = effect - effect.mean()
    order = np.argsort(-effect, kind="stable")
    if len(order) > FEW_CLASSES:
        spoken_for, against = order[effect[order] > 0], order[effect[order] < 0]
        order = np.concatenate([spoken_for[:EACH_WAY], against[-EACH_WAY:]])
    return [[int(c), short(effect[c], 4), short(weight[c], 4)] for c in order]


def _area(found: ShapeletMatches, shapelet: int, series: int) -> dict[str, Any]:
    """A shapelet and its segment in the plane, and the loops that they enclose with their signs."""
    curves = in_plane(found, shapelet, series)
    shape, segment = (resampled(curve, 2 * POINTS) for curve in (curves.shapelet, curves.segment))
    sized = [(signed_area(*loop.T), loop) for loop in loops(*shape)]
    sized.sort(key=lambda one: -abs(one[0]))
    return {
        "channels": curves.axes,
        "names": [said(name) for name in curves.names],
        "sameScale": curves.same_scale,
        "shape": [pack(row) for row in shape],
        "segment": [pack(row) for row in segment],
        "areas": short([signed_area(*curves.shapelet), signed_area(*curves.segment)], 4),
        "senses": senses(curves.axes),
        "loops": [
            [1 if size > 0 else -1, [pack(row) for row in loop.T]]
            for size, loop in sized[:MOST_LOOPS]
        ],
    }


def _map(found: ShapeletMatches, shapelet: int, series: int, hears: bool) -> dict[str, Any] | None:
    """Cepstra of a shapelet and of its segment, in standard deviations, if they are what it compares."""
    if hears:
        window = found.window(shapelet, series)
        centre, scale = found.centre[:, None], found.scale[:, None]
        pair = [
            (_evenly(window, values, KNOTS) - centre) / scale
            for values in (window.shapelet, window.path)
        ]
    else:
        cepstra = cepstra_of(found, shapelet, series)
        if cepstra is None:
            return None
        frames = np.concatenate(cepstra, axis=1)
        centre, scale = frames.mean(axis=1)[:, None], frames.std(axis=1)[:, None]
        pair = [resampled((x - centre) / np.maximum(scale, 1e-9), KNOTS) for x in cepstra[:2]]
    shape, segment = (np.clip(values, -REACH, REACH) for values in pair)
    return {
        "rows": shape.shape[0],
        "columns": shape.shape[1],
        "reach": REACH,
        "shape": pack(shape.ravel()),
        "segment": pack(segment.ravel()),
    }


def _evenly(window: Window, values: Array, count: int) -> Array:
    """Values (channels, count) at evenly spaced times of a window."""
    since = window.times - window.times[0]
    places = since / since[-1] if len(since) > 1 else np.zeros(1)
    return np.array([np.interp(np.linspace(0, 1, count), places, row) for row in values])


def _times_around(found: ShapeletMatches, shapelet: int, series: int) -> Array:
    """Times of a series in a window and half its length on both sides, as far as there are any."""
    own = found.corners(series)
    begin, length = found._offset[series, shapelet], found._length[shapelet]
    first = max(float(own[0]), begin - 0.5 * length)
    last = max(min(float(own[-1]), begin + 1.5 * length), begin + length)
    return np.union1d([first, last], own[(own > first) & (own < last)])


def _seen(
    found: ShapeletMatches, series: int, channel: int, first: float, span: float
) -> list[float] | None:
    """Between which shares of a picture a channel was observed; outside, its path is held."""
    own = found.series[series]
    times = own.times[~np.isnan(own.values[channel])]
    if not len(times):
        return None
    return short(np.clip((times[[0, -1]] - first) / span, 0.0, 1.0), 4)
