"""The few reasons that carry an answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from ..paths import Array, Index
from ..shown import count, few
from .beside import said_value
from .frames import as_frame

if TYPE_CHECKING:
    from .local import Explanation


class Reason(NamedTuple):
    """One thing that an answer rests on: a shapelet, or a covariate.

    Attributes
    ----------
    shapelet : int or None
    contribution : float
        What it adds to the answer; below 0 it speaks against it.
    said : "presence", "absence" or "covariate"
        Whether it counts that the series has the shapelet (it fits better than it usually does), that
        it lacks it, or what is known of the series as a whole.
    start, end : times
        Where the shapelet fits best, in the user's time; of an absence, too: even there it does not fit.
    covariate : str or None
        Its name.
    value : Any
        Its value; None: it is missing.
    """

    shapelet: int | None
    contribution: float
    said: Literal["presence", "absence", "covariate"]
    start: Any = None
    end: Any = None
    covariate: str | None = None
    value: Any = None

    def __str__(self) -> str:
        if self.covariate is not None:
            what = f"has {self.covariate} = {said_value(self.value)}"
        else:
            what = f"{'has' if self.said == 'presence' else 'lacks'} shapelet {self.shapelet}"
        return f"{what}: {self.contribution:+.2f}"


@dataclass(frozen=True, eq=False, repr=False)
class Reasons:
    """The reasons of one answer. They, `rest` and `bias` sum to it.

    Attributes
    ----------
    series : Any
        Name of the series.
    answer : Any
        Class, label or target that the reasons are about; None for the number of a regressor of one.
    total : float
        Its logit, or the number that was predicted.
    is_predicted : bool
        Whether this is what was predicted: the class, or that the series has the label.
    reasons : tuple of Reasons
        Largest first.
    rest : float
        What all other shapelets and covariates add together.
    n_others : int
        How many they are.
    bias : float
        The answer if every shapelet fitted as it usually does.
    kind : "class", "label" or "number"
        What the answer is.
    """

    series: Any
    answer: Any
    total: float
    is_predicted: bool
    reasons: tuple[Reason, ...]
    rest: float
    n_others: int
    bias: float
    kind: Literal["class", "label", "number"] = "class"

    def __repr__(self) -> str:
        what = f"{self.total:.4g}" if self.answer is None else few([self.answer])
        others = f" of {len(self.reasons) + self.n_others}" if self.n_others else ""
        return (
            f"Reasons(series {few([self.series])}, {what}: "
            f"{count(len(self.reasons), 'reason')}{others})"
        )

    def __str__(self) -> str:
        said = f"series {self.series} is predicted {self.statement}, because it"
        if self.kind == "class" and not self.is_predicted:
            said = f"what series {self.series} says of {self.answer}: it"
        lines = [f"  {one}" for one in self.reasons]
        if self.n_others:
            lines.append(f"  {count(self.n_others, 'other')} together: {self.rest:+.2f}")
        return "\n".join([said, *lines])

    @property
    def statement(self) -> str:
        """What is predicted, such as "to be flat", "not to have label up" or "to have height 3.1"."""
        if self.kind == "label":
            return f"{'' if self.is_predicted else 'not '}to have label {self.answer}"
        if self.kind == "class":
            return f"to be {self.answer}"
        return f"to {'be' if self.answer is None else f'have {self.answer}'} {self.total:.4g}"

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
    found, beside = explanation.matches, explanation.covariates
    parts = all_parts(explanation, series)[column]
    order = np.argsort(-np.abs(parts), kind="stable")[: int(n_needed(np.abs(parts), share))]
    alike, classes, names = explanation.alike[series], explanation.classes, explanation.target_names

    def reason(k: int) -> Reason:
        if k < found.n_shapelets:
            where = found.start[series, k], found.end[series, k]
            return Reason(k, float(parts[k]), "presence" if alike[k] else "absence", *where)
        assert beside is not None
        j = k - found.n_shapelets
        fact = beside.names[j], beside.values[series, j]
        return Reason(None, float(parts[k]), "covariate", None, None, *fact)

    answer = None if names is None else names[column]
    is_predicted = True
    kind: Literal["class", "label", "number"] = "number"
    if classes is not None:
        answer, is_predicted, kind = classes[column], column == explanation.chosen(series), "class"
    elif explanation.probabilities is not None:
        is_predicted, kind = bool(explanation.predicted[series, column]), "label"
    return Reasons(
        series=found.names[series],
        answer=answer,
        total=float(explanation.answers[series, column]),
        is_predicted=is_predicted,
        kind=kind,
        reasons=tuple(map(reason, order.tolist())),
        rest=float(parts.sum() - parts[order].sum()),
        n_others=len(parts) - len(order),
        bias=float(explanation.bias[column]),
    )


def all_parts(explanation: Explanation, series: int) -> Array:
    """What each shapelet, then each covariate adds to the answers, (answers, shapelets + names)."""
    parts = explanation.contributions(series)
    if explanation.covariates is None:
        return parts
    return np.concatenate([parts, explanation.covariates.contributions[series]], axis=1)


def n_needed(size: Array, share: float) -> Index:
    """How many of the largest sizes, along the last axis, carry this share of their sum; 0 of zeros."""
    carried = np.cumsum(-np.sort(-size, axis=-1), axis=-1)
    total = carried[..., -1]
    # Less a rounding: of 10 equal sizes, 9 carry 90 %.
    needed = (carried < (share - 1e-12) * total[..., None]).sum(axis=-1) + 1
    return np.where(total > 0, needed, 0)
