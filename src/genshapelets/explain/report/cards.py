"""A card for each shapelet: its shape over its best match, what it speaks for, where it occurs."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...paths import Array, Index
from ..areas import in_plane, loops, senses, signed_area
from ..drawing import kind_of
from ..hearing import cepstra_of, cepstrum_of
from ..kinds import LOG_SIGNATURE
from ..local import Explanation
from ..matches import ShapeletMatches, Window
from ..overall import ModelExplanation
from .numbers import pack, pack_curve, resampled, said, said_length, short

FEW_CHANNELS = 6  # that are drawn; of more, those that say most
POINTS, KNOTS = 48, 40  # of a curve on a card, and of a shapelet
MOST_LOOPS = 12  # of an area, the largest
REACH = 3.0  # of a heat map's colours, in standard deviations
CLOSEST = 8  # series
FEW_CLASSES, EACH_WAY = 12, 3  # of more, those that a shapelet speaks most for and against
BINS = 20


def card(
    explanation: Explanation,
    learnt: ModelExplanation | None,
    shapelet: int,
    shown: Index,
    weight: float,
) -> dict[str, Any]:
    """All that a card shows. A sound of the shapelet is elsewhere: see `sounds`.

    Parameters
    ----------
    explanation : Explanation
    learnt : ModelExplanation, or None if the head is not linear
    shapelet : int
    shown : (channels,) array
        Channels in which whole series are drawn.
    weight : float
        Share of all contributions that come from this shapelet.
    """
    found = explanation.matches
    n = int(found.nearest[shapelet])
    hears = cepstrum_of(explanation.estimator) is not None
    alike = explanation.alike[:, shapelet]
    usual_span = float(np.median(found.series.spans))
    looked = found.metric_of(shapelet)
    strength = looked / max(float(looked.max()), 1e-300)
    times = _times_around(found, shapelet, n)
    where = np.clip(found.position[alike, shapelet], 0.0, 1.0)
    return {
        "number": shapelet,
        "weight": short(weight),
        "length": said_length(float(found._length[shapelet]), found.series.time_origin is not None),
        "duration": short(found._length[shapelet], 9),
        "share": short(found._length[shapelet] / usual_span) if usual_span else None,
        "kind": said(found.kinds[shapelet]),
        "tag": said(kind_of(found, shapelet)),
        "levelFree": bool(found.level_free[shapelet]),
        "scaleFree": bool(found.scale_free[shapelet]),
        "alike": int(alike.sum()),
        "pulls": None if learnt is None else _pulls(learnt, shapelet),
        "where": np.histogram(where, BINS, (0.0, 1.0))[0].tolist(),
        "mostly": short(np.quantile(where, [0.25, 0.75]), 3) if len(where) else None,
        "nearest": n,
        "window": _share_of_picture(found, shapelet, n, times),
        "curves": [] if hears else _curves(found, shapelet, n, times, strength),
        "map": _map(found, shapelet, n, hears),
        "area": _area(found, shapelet, n) if found.kinds[shapelet] == LOG_SIGNATURE else None,
        "strength": short(strength[shown], 3),
        "shape": [pack(row) for row in resampled(found.shapelets[shapelet][shown], KNOTS)],
        "closest": [
            [
                int(m),
                short(found.discrepancy[m, shapelet], 4),
                *window_of(found, shapelet, m, shown),
            ]
            for m in found.closest(shapelet, CLOSEST).tolist()
        ],
    }


def window_of(found: ShapeletMatches, shapelet: int, series: int, shown: Index) -> list[Any]:
    """Start of a window, from the series' first time; where a shapelet that ignores them is drawn.

    That is, for each channel shown, how far it is lifted and, if it is scale-free, how much enlarged.
    """
    begin = found._offset[series, shapelet] - found.series[series].times[0]
    if not found.level_free[shapelet]:
        return [short(begin, 7)]
    drawn, own = found.window(shapelet, series).shapelet, found.shapelets[shapelet]
    placed = [short(begin, 7), *short((drawn - own[:, :1])[shown, 0], 4)]
    if not found.scale_free[shapelet]:
        return placed
    height = np.ptp(own, axis=1)
    scale = np.where(height > 0, np.ptp(drawn, axis=1) / np.where(height > 0, height, 1.0), 1.0)
    return [*placed, *short(scale[shown], 4)]


def _pulls(learnt: ModelExplanation, shapelet: int) -> list[list[Any]]:
    """(Class, effect of fitting better, weight), for first: the head's signs are those of distance."""
    effect, weight = -learnt.effect[:, shapelet], learnt.weight[:, shapelet]
    order = np.argsort(-effect, kind="stable")
    if len(order) > FEW_CLASSES:
        spoken_for, against = order[effect[order] > 0], order[effect[order] < 0]
        order = np.concatenate([spoken_for[:EACH_WAY], against[-EACH_WAY:]])
    return [[int(c), short(effect[c], 4), short(weight[c], 4)] for c in order]


def _curves(
    found: ShapeletMatches, shapelet: int, series: int, times: Array, strength: Array
) -> list[dict[str, Any]]:
    """The channels that say most: the series around the window, and the shapelet in it."""
    path = found.path_at(series, times)
    places = (times - times[0]) / max(float(times[-1] - times[0]), 1e-300)
    window = found.window(shapelet, series)
    drawn = _evenly(window, window.shapelet, min(found.shapelets.shape[2], KNOTS))
    looked = found.metric_of(shapelet)
    observed = ~np.isnan(found.series[series].values).all(axis=1)
    return [
        {
            "channel": int(d),
            "looked": short(looked[d], 3),
            "strength": short(strength[d], 3),
            "observed": bool(observed[d]),
            "path": pack_curve(places, path[d], POINTS),
            "shape": pack(drawn[d]),
        }
        for d in np.sort(found.channels(shapelet, FEW_CHANNELS))
    ]


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


def _share_of_picture(
    found: ShapeletMatches, shapelet: int, series: int, times: Array
) -> list[float]:
    """Begin and end of the window, as shares of the picture's width."""
    begin = found._offset[series, shapelet]
    ends = np.array([begin, begin + found._length[shapelet]])
    return short((ends - times[0]) / max(float(times[-1] - times[0]), 1e-300))
