"""Counter-questions: how well a shapelet would have to fit for another prediction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..paths import Array
from ..shown import few
from .head import feature_spread

if TYPE_CHECKING:
    from .local import Explanation


FAR = 5.0  # standard deviations above a usual feature: no series is further from a shapelet


class Turn(NamedTuple):
    """From this discrepancy on, this would be predicted."""

    discrepancy: float
    predicted: Any


@dataclass(frozen=True, repr=False)
class WhatIf:
    """What would have to be true of one match for the prediction to be another.

    Attributes
    ----------
    series : Any
        Name of the series.
    shapelet : int
    discrepancy : float
        As it is.
    predicted : Any
        As it is.
    asked : Any
        What was to be predicted instead; None: any other class.
    closer, further : Turn or None
        The largest smaller discrepancy and the smallest larger one at which the prediction turns;
        None if it never does in that direction, or only out of reach.
    largest : float
        No series is thought to be further from this shapelet: the largest discrepancy of the series
        explained, or what is five standard deviations above the mean of the training series.
    out_of_reach : tuple of Turns
        Those of a formula only: a discrepancy below 0, better than a perfect fit, or above `largest`.
    """

    series: Any
    shapelet: int
    discrepancy: float
    predicted: Any
    asked: Any
    closer: Turn | None
    further: Turn | None
    largest: float
    out_of_reach: tuple[Turn, ...]

    def __repr__(self) -> str:
        said = {
            name: few([_said(turn.predicted)])
            for name, turn in (("closer", self.closer), ("further", self.further))
            if turn is not None
        }
        turns = ", ".join(f"{name}: {what}" for name, what in said.items()) or "out of reach"
        return (
            f"WhatIf(series {few([self.series])}, shapelet {self.shapelet} at {self.discrepancy:.3g}, "
            f"predicted {few([_said(self.predicted)])}; {turns})"
        )

    @property
    def reachable(self) -> bool:
        """Whether some fit of this shapelet alone would turn the prediction."""
        return self.closer is not None or self.further is not None

    def __str__(self) -> str:
        said = (
            f"series {self.series} is predicted to be {_said(self.predicted)} with shapelet "
            f"{self.shapelet} at a discrepancy of {self.discrepancy:.3g}; "
        )
        turns = [
            f"{_said(turn.predicted)} if it were {what} than {turn.discrepancy:.3g}"
            for turn, what in ((self.closer, "less"), (self.further, "more"))
            if turn is not None
        ]
        never = "no other fit of it alone would change that"
        if self.out_of_reach:
            ways = " or ".join(self._needed(turn) for turn in self.out_of_reach)
            never = f"no fit of it alone can change that: {ways}"
        if self.asked is not None and self.asked == self.predicted:
            never = "that is what was asked for"
        return said + (", ".join(turns) or never) + "."

    def _needed(self, turn: Turn) -> str:
        """What a turn that is out of reach would need."""
        to = _said(turn.predicted)
        if turn.discrepancy < 0:
            return f"for {to} it would have to fit better than perfectly"
        return (
            f"for {to} it would have to be more than {turn.discrepancy:.3g}, and no series is "
            f"expected to be further from it than {self.largest:.3g}"
        )


def turning_points(explanation: Explanation, series: int, shapelet: int, to: Any) -> WhatIf:
    """Solve for the discrepancies at which the prediction turns; see `Explanation.what_if`."""
    found = explanation.matches
    assert explanation.weight is not None
    slopes, answers = explanation.weight[:, shapelet], explanation.answers[series]
    turns: list[tuple[float, Any]] = []  # how far the feature moves, and what is predicted then
    if explanation.classes is None:
        if to is None or not np.isfinite(to):
            raise ValueError(f"to must be a number that the model is to predict; got {to!r}.")
        if slopes[0] != 0 and answers[0] != to:
            turns = [(float((to - answers[0]) / slopes[0]), float(to))]
    else:
        labels = explanation.classes.tolist()
        if to is not None and to not in labels:
            raise ValueError(
                f"to must be one of the classes {', '.join(map(str, labels))}; got {to!r}."
            )
        for c, label in enumerate(explanation.classes):
            if c != explanation.chosen(series) and (to is None or label == to):
                turns += [(move, label) for move in _enters(slopes, answers, c)]
    model = explanation.estimator.model_
    unit = float(model.units()[shapelet])
    features = found.features[:, shapelet]

    def discrepancy(feature: float) -> float:
        with np.errstate(over="ignore"):
            return float((np.exp(feature) - model.epsilon if model.log else feature) * unit)

    usual = explanation.typical[shapelet] + FAR * feature_spread(explanation.estimator)[shapelet]
    largest = discrepancy(max(float(usual), float(features.max())))
    closer = max((item for item in turns if item[0] < 0), key=lambda item: item[0], default=None)
    further = min((item for item in turns if item[0] > 0), key=lambda item: item[0], default=None)
    reached: dict[bool, Turn] = {}
    out_of_reach = []
    for is_further, item in ((False, closer), (True, further)):
        if item is not None:
            turn = Turn(discrepancy(float(features[series]) + item[0]), item[1])
            if 0.0 <= turn.discrepancy <= largest:
                reached[is_further] = turn
            else:
                out_of_reach.append(turn)
    return WhatIf(
        series=found.names[series],
        shapelet=shapelet,
        discrepancy=float(found.discrepancy[series, shapelet]),
        predicted=explanation.predicted[series],
        asked=to,
        closer=reached.get(False),
        further=reached.get(True),
        largest=largest,
        out_of_reach=tuple(out_of_reach),
    )


def _enters(slopes: Array, answers: Array, c: int) -> list[float]:
    """Where answer c becomes the largest when all move along their slopes: at most one place."""
    gap, rise = answers - answers[c], slopes[c] - slopes
    if (gap[rise == 0] > 0).any():
        return []
    # It is the largest where move * rise >= gap for all others: between these two.
    low = max((gap[rise > 0] / rise[rise > 0]).tolist(), default=-np.inf)
    high = min((gap[rise < 0] / rise[rise < 0]).tolist(), default=np.inf)
    if low > high:
        return []
    return [low] if low > 0 else [high] if high < 0 else []


def _said(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
