"""Why a model predicts what it does for given series."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import nn

from ..estimators import ShapeletClassifier
from ..estimators.base import ShapeletEstimator
from ..estimators.goals import check_one_target
from ..model import check_judged
from ..objective import class_probabilities
from ..paths import Array, Index
from ..shown import count, few, table
from .beside import CovariateParts, covariate_parts
from .counter import WhatIf, turning_points
from .frames import as_frame
from .head import (
    check_predicts,
    head_outputs,
    integrated_gradients,
    to_answers,
    weights,
)
from .matches import ShapeletMatches, find_matches, place
from .reasons import Reasons, reasons_of

SHOWN, SHOWN_REASONS = 5, 3  # series, and reasons of each, in a notebook


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    r"""Predictions taken apart: one contribution for each shapelet, and the bias.

    .. math:: \text{answer}_c = \text{bias}_c + \sum_k w_{ck} (x_k - b_k)

    with :math:`x_k` the logarithm of the discrepancy and b the baseline. (If the model knows covariates,
    what these add comes on top: `covariates`.) An answer is a class's logit (for two classes the log
    odds of the class against the other), a label's, or a regressor's number, in y's unit.

    Attributes
    ----------
    matches : ShapeletMatches
        Where the shapelets were found, and how well they fit.
    classes : (classes,) array, or None for labels and regression
    typical : (shapelets,) array
        Mean features of the training series.
    baseline : (shapelets,) array
        Features from which contributions are counted.
    bias : (answers,) array
        The answers at the baseline.
    answers : (series, answers) array
        Logits of the classes or labels, or predicted numbers.
    probabilities : (series, answers) array, or None for regression
    predicted : (series,) array, or (series, answers) of several targets
        Classes, 0 and 1 for labels, or numbers.
    weight : (answers, shapelets) array, or None if the head is not linear
        On the logarithms: if it is negative, likeness speaks for the class.
    covariates : CovariateParts or None
        What else is known of the series, and what it adds to the answers.
    target_names : tuple of str, or None
        Of labels or of several numbers.
    """

    estimator: ShapeletEstimator
    matches: ShapeletMatches
    classes: NDArray[Any] | None
    typical: Array
    baseline: Array
    bias: Array
    answers: Array
    probabilities: Array | None
    predicted: NDArray[Any]
    weight: Array | None
    covariates: CovariateParts | None = None
    target_names: tuple[str, ...] | None = None

    @property
    def answer_names(self) -> list[Any]:
        """What each of the `answers` is called: classes, labels or numbers."""
        if self.classes is not None:
            return self.classes.tolist()
        return list(self.target_names or ["y"])

    def __repr__(self) -> str:
        what = "numbers" if self.classes is None else f"classes {few(self.classes)}"
        what = what if self.target_names is None else f"targets {few(self.target_names)}"
        n_series, n_shapelets = self.matches.discrepancy.shape
        return f"Explanation({count(n_series, 'series')}, {count(n_shapelets, 'shapelet')}; {what})"

    def _repr_html_(self) -> str:
        rows: list[tuple[str, ...]] = []
        for n, answer in enumerate(self.predicted[:SHOWN]):
            if self.target_names is not None:  # each has reasons of its own
                each = zip(self.target_names, answer.tolist(), strict=True)
                lines = [f"{name}: {value:.4g}" for name, value in each]
                rows.append((few([self.matches.names[n]]), "\n".join(lines)))
                continue
            said = f"{answer:.4g}" if self.classes is None else few([answer])
            if self.probabilities is not None:
                said += f" ({self.probabilities[n].max():.0%})".replace("%", " %")
            reasons = self.reasons(n)
            first = [str(reason) for reason in reasons.reasons[:SHOWN_REASONS]]
            n_more = len(reasons.reasons) - len(first)
            first += [f"and {n_more} more"] if n_more else []
            rows.append((few([self.matches.names[n]]), said, "\n".join(first) or "none"))
        more = len(self.predicted) - len(rows)
        caption = f"{self!r}" + (f": the first {len(rows)}" if more else "")
        return table(rows, ("series", "predicted", "because it")[: len(rows[0])], caption)

    @property
    def alike(self) -> NDArray[np.bool_]:
        """Whether shapelets fit better than they usually do, (series, shapelets).

        A shapelet that fits worse contributes too: by its absence.
        """
        return self.matches.features < self.typical

    def contributions(self, series: int | None = None) -> Array:
        """What each shapelet adds to each answer.

        Parameters
        ----------
        series : int, optional
            Position of one series; default: all.

        Returns
        -------
        (answers, shapelets) or (series, answers, shapelets) array
            Over the shapelets they sum to ``answers - bias``, less what `covariates` add.
        """
        if series is None:
            everyone = range(len(self.predicted))
            if self.weight is None:
                return np.stack([self.contributions(n) for n in everyone])
            return self.weight * (self.matches.features - self.baseline)[:, None, :]
        series = place(series, len(self.predicted), "series")
        features = self.matches.features[series]
        if self.weight is not None:
            return self.weight * (features - self.baseline)
        parts = integrated_gradients(self.estimator.model_, features, self.baseline)
        return to_answers(self.estimator, parts, is_offset=False)

    def chosen(self, series: int) -> int:
        """Column of `answers` that is spoken of for a series, if none is asked for.

        The predicted class; the most likely label; of several numbers the most unusual one, in standard
        deviations of y from `bias`.
        """
        return int(self.every_chosen[place(series, len(self.predicted), "series")])

    @property
    def every_chosen(self) -> Index:
        """`chosen` of all series."""
        if self.probabilities is not None or self.answers.shape[1] == 1:
            return self.answers.argmax(axis=1)
        spread: Any = self.estimator
        return np.abs((self.answers - self.bias) / spread.target_scale_).argmax(axis=1)

    def top(self, series: int, count: int | None = None, answer: int | None = None) -> Index:
        """Shapelets that contribute most to one answer, by default the predicted one; most first."""
        parts = self.contributions(series)[self.column(series, answer)]
        return np.argsort(-np.abs(parts), kind="stable")[:count]

    def column(self, series: int, answer: int | None = None) -> int:
        """Column of `answers`, checked; by default that of what was predicted for a series."""
        if answer is None:
            return self.chosen(series)
        return place(answer, self.answers.shape[1], "answer")

    def reasons(self, series: int, answer: int | None = None, share: float = 0.9) -> Reasons:
        """Name the reasons of one prediction: the fewest that carry most of an answer.

        They are shapelets and, if the model knows any, covariates.

        Parameters
        ----------
        series : int
        answer : int, optional
            Index of a class, label or number; default: see `chosen`.
        share : float
            Of the sum of the sizes of all contributions, what the reasons carry together.

        Examples
        --------
        >>> import numpy as np
        >>> from genshapelets import ShapeletClassifier, explain_series
        >>> X = np.random.default_rng(0).normal(scale=0.1, size=(20, 1, 30))
        >>> X[10:, 0, 12:18] += 1.0
        >>> y = np.repeat(["flat", "bump"], 10)
        >>> model = ShapeletClassifier(n_shapelets=4, max_epochs=30, random_state=0).fit(X, y)
        >>> print(explain_series(model, X).reasons(series=0))
        series 0 is predicted to be flat, because it
        ...
        """
        return reasons_of(self, series, self.column(series, answer), share)

    def what_if(self, series: int, shapelet: int, to: Any = None) -> WhatIf:
        """Ask what would have to be true of a match for the prediction to be another.

        It is asked of one shapelet: all other matches stay as they are, and so do covariates. In closed
        form, as a linear head's answers are linear in the logarithm.

        Parameters
        ----------
        series, shapelet : int
        to : class label, or number for regression
            What is to be predicted instead; default: any other class.

        Examples
        --------
        >>> import numpy as np
        >>> from genshapelets import ShapeletClassifier, explain_series
        >>> X = np.random.default_rng(0).normal(scale=0.1, size=(20, 1, 30))
        >>> X[10:, 0, 12:18] += 1.0
        >>> y = np.repeat(["flat", "bump"], 10)
        >>> model = ShapeletClassifier(n_shapelets=4, max_epochs=30, random_state=0).fit(X, y)
        >>> print(explain_series(model, X[:1]).what_if(series=0, shapelet=1))
        series 0 is predicted to be flat with shapelet 1 at ...
        """
        check_one_target(self.estimator, "explain(X).what_if(series, shapelet)")
        if self.weight is None:
            self.estimator.model_.linear()  # refuses, with the reason
        series = place(series, len(self.predicted), "series")
        shapelet = place(shapelet, self.matches.n_shapelets, "shapelet")
        return turning_points(self, series, shapelet, to)

    def to_frame(self, series: int | ArrayLike | None = None, top: int | None = None) -> Any:
        """Table with a row for each series and shapelet, as a ``pandas.DataFrame``.

        Parameters
        ----------
        series : int or list of ints, optional
            Positions of series; default: all.
        top : int, optional
            Only this number of shapelets of each series: those that contribute most to what was
            predicted, most first.
        """
        if top is not None and top < 1:
            raise ValueError(f"top must be at least 1; got {top}.")
        chosen = range(len(self.predicted)) if series is None else np.atleast_1d(series).tolist()
        if not len(chosen):
            raise ValueError("series must name at least one series; got none.")
        rows, columns, parts, own = [], [], [], []
        for n in chosen:
            contributions = self.contributions(n)
            column = self.chosen(n)
            order = np.arange(contributions.shape[1])
            if top is not None:
                order = np.argsort(-np.abs(contributions[column]), kind="stable")[:top]
            rows.append(np.full(len(order), n))
            columns.append(order)
            parts.append(contributions[:, order])
            own.append(contributions[column, order])
        n, k = np.concatenate(rows), np.concatenate(columns)
        found = self.matches
        table = {
            "series": found.names[n],
            **(
                {"predicted": self.predicted[n]}
                if self.target_names is None
                else {"answer": np.array(self.target_names, dtype=object)[self.every_chosen[n]]}
            ),
            "shapelet": k,
            "start": found.start[n, k],
            "end": found.end[n, k],
            "discrepancy": found.discrepancy[n, k],
            "alike": self.alike[n, k],
            "contribution": np.concatenate(own),
        }
        if self.answers.shape[1] > 1:
            every = np.concatenate(parts, axis=1)
            table |= {f"to {name}": row for name, row in zip(self.answer_names, every, strict=True)}
        return as_frame(table)


def explain_series(
    estimator: ShapeletEstimator,
    X: Any,
    *,
    baseline: Literal["typical", "zero"] | ArrayLike = "typical",
) -> Explanation:
    """Explain the predictions of a fitted model for given series.

    Parameters
    ----------
    estimator : ShapeletClassifier or ShapeletRegressor
        If its head is not linear, contributions are integrated gradients on the features. They sum
        to the answer less that at the baseline all the same.
    X : series
        Anything that the estimator predicts.
    baseline : "typical", "zero" or (shapelets,) array
        From where contributions are counted. A discrepancy's logarithm has no natural origin, so
        "typical" takes the mean over the training series: a positive contribution says that this
        match speaks for the class more than a usual one. "zero" gives the plain products of weights
        and logarithms.

    Returns
    -------
    Explanation

    Examples
    --------
    >>> import numpy as np
    >>> from genshapelets import ShapeletClassifier, explain_series
    >>> X = np.random.default_rng(0).normal(scale=0.1, size=(20, 1, 30))
    >>> X[10:, 0, 12:18] += 1.0
    >>> y = np.repeat(["flat", "bump"], 10)
    >>> model = ShapeletClassifier(n_shapelets=4, max_epochs=30, random_state=0).fit(X, y)
    >>> explanation = explain_series(model, X[:3])
    >>> logits = explanation.contributions().sum(axis=2) + explanation.bias
    >>> np.allclose(logits[:, 1], model.decision_function(X[:3]))
    True
    """
    check_predicts(estimator)
    matches = find_matches(estimator, X)
    model = estimator.model_
    # Files of earlier versions hold only the mean that features were standardised by at the start.
    typical = getattr(estimator, "typical_features_", model.feature_mean.double().cpu().numpy())
    start = _baseline(baseline, typical)
    classes = probabilities = None
    names = estimator.target_names_
    with torch.no_grad(), estimator._threads():
        discrepancy = torch.from_numpy(matches.discrepancy).to(model.feature_mean.device)
        outputs = model.outputs(discrepancy, estimator._covariates(matches.series))
        if isinstance(estimator, ShapeletClassifier):
            turned = class_probabilities if names is None else torch.sigmoid
            probabilities = turned(outputs).cpu().numpy()
    with np.errstate(over="ignore", invalid="ignore"):
        answers = to_answers(estimator, outputs.cpu().numpy().T).T
        reach = np.abs(matches.features - start).max(axis=1)
        weight = None
        if type(model.head) is nn.Linear:
            weight, bias = weights(estimator)
            bias = bias + weight @ start
            reach = reach * np.abs(weight).max()
        else:
            bias = to_answers(estimator, head_outputs(model, start[None]))[:, 0]
        covariates = covariate_parts(estimator, matches.series)
        if covariates is not None:
            reach = reach + np.abs(covariates.contributions).max(axis=(1, 2))
        check_judged(np.isfinite(reach[:, None] + answers + bias), matches.series)
    predicted = answers[:, 0] if names is None else answers
    if isinstance(estimator, ShapeletClassifier) and names is not None:
        predicted = (answers > 0).astype(np.int64)
    elif isinstance(estimator, ShapeletClassifier):
        classes = estimator.classes_
        predicted = classes[answers.argmax(axis=1)]
    return Explanation(
        estimator=estimator,
        matches=matches,
        classes=classes,
        typical=typical,
        baseline=start,
        bias=bias,
        answers=answers,
        probabilities=probabilities,
        predicted=predicted,
        weight=weight,
        covariates=covariates,
        target_names=names,
    )


def _baseline(given: Any, typical: Array) -> Array:
    if isinstance(given, str):
        if given not in ("typical", "zero"):
            raise ValueError(
                f'baseline must be "typical", "zero" or one number for each shapelet; got {given!r}.'
            )
        return typical if given == "typical" else np.zeros_like(typical)
    values = np.asarray(given, dtype=np.float64)
    if values.shape != typical.shape or not np.isfinite(values).all():
        raise ValueError(
            f"baseline must hold one finite number for each of the {len(typical)} shapelets; got "
            f"shape {values.shape}."
        )
    return values
