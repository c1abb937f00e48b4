"""The few reasons that carry an answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from ..paths import Array, Index
from ..shown import count, few
from .frames import as_frame

if TYPE_CHECKING:
    from .local import Explanation


class Reason(NamedTuple):
    """One shapelet that an answer rests on.

    Attributes
    ----------
    shapelet : int
    contribution : float
        What it adds to the answer; below 0 it speaks against it.
    said : "presence" or "absence"
        Whether it counts that the series has the shapelet (it fits better than it usually does) or
        that it lacks it.
    start, end : times
        Where it fits best, in the user's time; of an absence, too: even there it does not fit.
    """

    shapelet: int
    contribution: float
    said: Literal["presence", "absence"]
    start: Any
    end: Any

    def said_shortly(self) -> str:
        """As in "has shapelet 3: +1.20"."""
        has = "has" if self.said == "presence" else "lacks"
        return f"{has} shapelet {self.shapelet}: {self.contribution:+.2f}"


@dataclass(frozen=True, eq=False, repr=False)
class Reasons:
    """The reasons of one answer. They, `rest` and `bias` sum to it.

    Attributes
    ----------
    series : Any
        Name of the series.
    answer : Any
        Class that the reasons are about; None for regression.
    total : float
        Its logit, or the number that was predicted.
    is_predicted : bool
        Whether this is what was predicted.
    reasons : tuple of Reasons
        Largest first.
    rest : float
        What all other shapelets add together.
    n_others : int
        How many they are.
    bias : float
        The answer if every shapelet fitted as it usually does.
    """

    series: Any
    answer: Any
    total: float
    is_predicted: bool
    reasons: tuple[Reason, ...]
    rest: float
    n_others: int
    bias: float

    def __repr__(self) -> str:
        what = f"{self.total:.4g}" if self.answer is None else few([self.answer])
        others = f" of {len(self.reasons) + self.n_others}" if self.n_others else ""
        return (
            f"Reasons(series {few([self.series])}, {what}: "
            f"{count(len(self.reasons), 'shapelet')}{others})"
        )

    def __str__(self) -> str:
        what = f"{self.total:.4g}" if self.answer is None else str(self.answer)
        said = f"series {self.series} is predicted to be {what}, because it"
        if not self.is_predicted:
            said = f"what series {self.series} says of {what}: it"
        lines = [f"  {one.said_shortly()}" for one in self.reasons]
        if self.n_others:
            lines.append(f"  {self.n_others} other shapelets together: {self.rest:+.2f}")
        return "\n".join([said, *lines])

    def to_frame(self) -> Any:
        """Table with a row for each reason, as a ``pandas.DataFrame``."""
        columns = zip(*self.reasons, strict=True) if self.reasons else [[]] * len(Reason._fields)
        return as_frame(
            {name: list(column) for name, column in zip(Reason._fields, columns, strict=True)}
        )


def reasons_of(explanation: Explanation, series: int, column: int, share: float) -> Reasons:
    """The reasons of one answer of one series; see `Explanation.reasons`."""
    if not 0.0 < share <= 1.0:
        raise ValueError(f"share must be above 0 and at most 1; got {share!r}.")
    found = explanation.matches
    parts = explanation.contributions(series)[column]
    order = explanation.top(series, answer=column)
    order = order[: int(n_needed(np.abs(parts), share))]
    alike, classes = explanation.alike[series], explanation.classes
    return Reasons(
        series=found.names[series],
        answer=None if classes is None else classes[column],
        total=float(explanation.answers[series, column]),
        is_predicted=column == explanation.chosen(series),
        reasons=tuple(
            Reason(
                shapelet=int(k),
                contribution=float(parts[k]),
                said="presence" if alike[k] else "absence",
                start=found.start[series, k],
                end=found.end[series, k],
            )
            for k in order
        ),
        rest=float(parts.sum() - parts[order].sum()),
        n_others=len(parts) - len(order),
        bias=float(explanation.bias[column]),
    )


def n_needed(size: Array, share: float) -> Index:
    """How many of the largest sizes, along the last axis, carry this share of their sum; 0 of zeros."""
    carried = np.cumsum(-np.sort(-size, axis=-1), axis=-1)
    total = carried[..., -1]
    # Less a rounding: of 10 equal sizes, 9 carry 90 %.
    needed = (carried < (share - 1e-12) * total[..., None]).sum(axis=-1) + 1
    return np.where(total > 0, needed, 0)
