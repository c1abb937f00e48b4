"""One series explained: what was predicted, by which shapelets, and the curves to draw."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...paths import Array, Index
from ...series import RaggedSeries
from ..local import Explanation
from .cards import window_of
from .numbers import pack_curve, said, short

TOP = 10  # shapelets whose contributions are shown one by one
FEWEST, MOST = 24, 2000  # points of a curve
SCORE = 12  # digits: small parts may decide what is predicted
CHARACTERS, BESIDES = 5.4, 48  # that a point, and a whole curve, take up


def case(
    explanation: Explanation, series: int, name: Any, code: int | None, shown: Index, parts: Array
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
    shown : (channels,) array
        Channels that are drawn.
    parts : (answers, shapelets) array
        Contributions of its shapelets.
    """
    found = explanation.matches
    answers = explanation.answers[series]
    tops = []
    for answer in _asked(answers, code):
        order = np.argsort(-np.abs(parts[answer]), kind="stable")[:TOP]
        top = [[int(k), short(parts[answer, k])] for k in order]
        rest = answers[answer] - explanation.bias[answer] - sum(part for _, part in top)
        tops.append({"answer": answer, "score": short(answers[answer], SCORE), "parts": top})
        tops[-1]["rest"] = short(rest) if found.n_shapelets > TOP else None
        if explanation.probabilities is not None:
            tops[-1]["probability"] = short(explanation.probabilities[series, answer], 4)
    used = sorted({k for top in tops for k, _ in top["parts"]})
    nearness = np.exp(found.features[series, used] - explanation.typical[used])
    alike, own = explanation.alike[series], found.series[series].times
    return {
        "name": said(name),
        "first": _first(found.series, series),
        "span": short(own[-1] - own[0], 9),
        "answers": tops,
        "windows": {
            k: [short(near, 3), bool(alike[k]), *window_of(found, k, series, shown)]
            for k, near in zip(used, nearness, strict=True)
        },
    }


def curves(series: RaggedSeries, shown: Index, room: float) -> tuple[list[list[Any]], int]:
    """Observed values of every series and channel shown, thinned so that they fit the room.

    Returns
    -------
    curves : list of lists
        Of each series, of each channel; packed.
    n_points : int
        The most points that a curve has.
    """
    n_points = int((room / (len(series) * len(shown)) - BESIDES) / CHARACTERS)
    n_points = min(max(n_points, FEWEST), MOST)
    drawn = []
    for one in series:
        places = (one.times - one.times[0]) / max(float(one.times[-1] - one.times[0]), 1e-300)
        values = one.values[shown]
        seen = ~np.isnan(values)
        drawn.append(
            [
                pack_curve(places[here], row[here], n_points)
                for row, here in zip(values, seen, strict=True)
            ]
        )
    return drawn, n_points


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
