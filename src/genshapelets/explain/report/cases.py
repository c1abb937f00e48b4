"""One series explained: what was predicted, by which shapelets, and the curves to draw."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...paths import Array, Index
from ...series import RaggedSeries
from ..beside import said_value
from ..counter import Turn
from ..local import Explanation
from ..matches import ShapeletMatches
from ..measures import CARRIED
from ..reasons import all_parts, n_needed
from .cards import FEW_CHANNELS, few, own_channels, window_of
from .numbers import pack_curve, said, short

MANY = 20  # shapelets shown one by one, even if it takes more to carry an answer
MANY_BESIDE = 10  # covariates shown one by one
MANY_CLASSES = 50  # of more it is not asked how well a shapelet would have to fit for each
FEWEST, MOST = 24, 2000  # points of a curve
SCORE = 12  # digits: small parts may decide what is predicted
CHARACTERS, BESIDES = 5.4, 48  # that a point, and a whole curve, take up


def case(
    explanation: Explanation, series: int, name: Any, code: int | None, parts: Array
) -> dict[str, Any]:
    """Explain what was predicted for one series, and the answer next to it.

    Parameters
    ----------
    explanation : Explanation
    series : int
        Position in the explanation.
    name : Any
        What the series is called.
    code : int, optional
        Of its true class.
    parts : (answers, shapelets) array
        Contributions of its shapelets.
    """
    found = explanation.matches
    answers = explanation.answers[series]
    tops = []
    for answer in _asked(answers, code):
        order = reasons(parts[answer], few(found, MANY))
        top = [[int(k), short(parts[answer, k])] for k in order]
        beside, n_beside = _beside(explanation, series, answer)
        shown = sum(part for *_, part in top + beside)
        rest = answers[answer] - explanation.bias[answer] - shown
        tops.append({"answer": answer, "score": short(answers[answer], SCORE), "parts": top})
        n_others = found.n_shapelets - len(top) + n_beside - len(beside)
        tops[-1] |= {
            "beside": beside,
            "others": n_others,
            "rest": short(rest) if n_others else None,
        }
        listed = np.abs([part for *_, part in top + beside]).sum()
        every = np.abs(all_parts(explanation, series)[answer]).sum()
        tops[-1]["carried"] = short(float(listed) / max(float(every), 1e-300), 4)
        if explanation.probabilities is not None:
            tops[-1]["probability"] = short(explanation.probabilities[series, answer], 4)
    used = sorted({k for top in tops for k, _ in top["parts"]})
    nearness = np.exp(found.features[series, used] - explanation.typical[used])
    alike, own = explanation.alike[series], found.series[series].times
    return {
        "name": said(name),
        "first": _first(found.series, series),
        "span": short(own[-1] - own[0], 9),
        "channels": _drawn(explanation, used, np.abs(parts).max(axis=0)).tolist(),
        "answers": tops,
        "whatIf": _what_if(explanation, series, tops[0]["parts"][0][0]),
        "windows": {
            k: [short(near, 3), bool(alike[k]), *_placed(found, k, series)]
            for k, near in zip(used, nearness, strict=True)
        },
    }


def _beside(explanation: Explanation, series: int, answer: int) -> tuple[list[Any], int]:
    """Covariates that add something to an answer, most first, and how many there are in all."""
    known = explanation.covariates
    if known is None:
        return [], 0
    parts = known.contributions[series, answer]
    order = np.argsort(-np.abs(parts), kind="stable")[:MANY_BESIDE]
    listed = [
        [said(known.names[j]), said(said_value(known.values[series, j])), short(parts[j])]
        for j in order.tolist()
        if parts[j]
    ]
    return listed, int((parts != 0).sum())


def reasons(parts: Array, most: int) -> Index:
    """The fewest shapelets that carry nine tenths of an answer, most first; but no more than these."""
    size = np.abs(parts)
    needed = max(int(n_needed(size, CARRIED)), 1)
    return np.argsort(-size, kind="stable")[: min(needed, most)]


def curves(
    series: RaggedSeries, shown: list[list[int]], room: float
) -> tuple[list[list[Any]], int]:
    """Observed values of every series in the channels that are shown of it, thinned to fit the room.

    Returns
    -------
    curves : list of lists
        Of each series, of each channel; packed.
    n_points : int
        The most points that a curve has.
    """
    n_points = int((room / sum(map(len, shown)) - BESIDES) / CHARACTERS)
    n_points = min(max(n_points, FEWEST), MOST)
    drawn = []
    for one, channels in zip(series, shown, strict=True):
        places = (one.times - one.times[0]) / max(float(one.times[-1] - one.times[0]), 1e-300)
        values = one.values[channels]
        seen = ~np.isnan(values)
        drawn.append(
            [
                pack_curve(places[here], row[here], n_points)
                for row, here in zip(values, seen, strict=True)
            ]
        )
    return drawn, n_points


def _what_if(explanation: Explanation, series: int, shapelet: int) -> dict[str, Any] | None:
    """How well one shapelet would have to fit for another class, in usual distances."""
    if explanation.weight is None or explanation.classes is None:
        return None
    if len(explanation.classes) > MANY_CLASSES:
        return None
    found, asked = explanation.matches, explanation.what_if(series, shapelet)
    near = np.exp(found.features[series, shapelet] - explanation.typical[shapelet])
    classes = explanation.classes.tolist()

    def said(turn: Turn) -> list[Any]:
        times = near * turn.discrepancy / max(asked.discrepancy, 1e-300)
        return [short(times, 3), classes.index(turn.predicted)]

    return {
        "shapelet": shapelet,
        "closer": said(asked.closer) if asked.closer else None,
        "further": said(asked.further) if asked.further else None,
        "never": [said(turn) for turn in asked.out_of_reach],
    }


def _placed(found: ShapeletMatches, shapelet: int, series: int) -> list[Any]:
    return window_of(found, shapelet, series, own_channels(found, shapelet))


def _drawn(explanation: Explanation, shapelets: list[int], sizes: Array) -> Index:
    """Channels of a series that are drawn: all, or of many those that its shapelets look at most."""
    found = explanation.matches
    looked = sum(sizes[k] * found.metric_of(k) for k in shapelets)
    return np.sort(np.argsort(-looked, kind="stable")[:FEW_CHANNELS])


def _asked(answers: Array, code: int | None) -> list[int]:
    """Answers worth explaining: the predicted one; then the true one, or else the second best."""
    order = np.argsort(-answers, kind="stable").tolist()
    best = int(answers.argmax())
    if len(order) < 3:  # of two classes the other has the opposite contributions
        return [best]
    return [best, code if code is not None and code != best else order[1]]


def _first(series: RaggedSeries, position: int) -> Any:
    """First time of a series: a number, or milliseconds since 1970."""
    first: NDArray[Any] = series.to_user_time(series[position].times[0])
    if series.time_origin is None:
        return short(first, 15)
    return short((first - np.datetime64(0, "ms")) / np.timedelta64(1, "ms"), 17)
