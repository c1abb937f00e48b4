"""What a model has learnt: shapelets that speak for each class, where they come from, the metric."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..estimators import ShapeletRegressor
from ..estimators.base import ShapeletEstimator
from ..estimators.by_id import in_order
from ..estimators.goals import checked_indicators, named, targets_of
from ..kernels import once
from ..paths import Array, Index
from ..shown import count, few
from .channels import channel_importance, covariate_importance
from .frames import as_frame
from .head import feature_spread
from .local import Explanation, explain_series
from .matches import ShapeletMatches, place

Order = Literal["effect", "weight"]


class Claims(NamedTuple):
    """What likeness to each shapelet says most: for which class, or against which.

    Attributes
    ----------
    answer : (shapelets,) int array
        Index of the class, label or number.
    against : (shapelets,) bool array
        Whether it speaks against this class; for regression: lowers the number.
    size : (shapelets,) array
        How much; 0: the shapelet says nothing. Of several numbers, in standard deviations of each.
    """

    answer: Index
    against: NDArray[np.bool_]
    size: Array


@dataclass(frozen=True, eq=False, repr=False)
class ModelExplanation:
    r"""What a fitted model looks for.

    Shapelets can be ranked by two numbers. The weight :math:`w_{ck}` is that of the head on the
    logarithm of the discrepancy. The effect :math:`w_{ck} \cdot \text{std}_n(x_{nk})` is what one
    standard deviation of that logarithm over the training series does to the answer: a large weight
    on a feature that hardly varies decides nothing. The most negative comes first: to be like this
    shapelet speaks for this class.

    Attributes
    ----------
    explanation : Explanation
        Of the given series; its ``matches`` say where each shapelet was found in each of them.
    labels : (series,) array, or (series, answers) of several targets
        y as it was given.
    weight, effect : (answers, shapelets) arrays
        Answers are the classes, labels, or numbers.
    nearest : (shapelets,) int array
        Position of the series that each shapelet is most similar to.
    nearest_label : (shapelets,) array, or (shapelets, answers) of several targets
        Its class or number.
    nearest_start, nearest_end : (shapelets,) arrays
        Where in it the shapelet was found, in the user's time.
    nearest_discrepancy : (shapelets,) array
    lengths : (shapelets,) array
        In the unit of the times; timedelta64 if they are datetimes.
    initial_lengths : (shapelets,) array, or None
        Before training; None for a model that was saved before they were kept.
    """

    explanation: Explanation
    labels: NDArray[Any]
    weight: Array
    effect: Array
    nearest: Index
    nearest_label: NDArray[Any]
    nearest_start: NDArray[Any]
    nearest_end: NDArray[Any]
    nearest_discrepancy: Array
    lengths: NDArray[Any]
    initial_lengths: NDArray[Any] | None

    def __repr__(self) -> str:
        what = "a number" if self.classes is None else f"classes {few(self.classes)}"
        n_channels = len(self.matches.channel_names)
        n_series, n_shapelets = self.matches.discrepancy.shape
        return (
            f"ModelExplanation({count(n_shapelets, 'shapelet')} for {what}; "
            f"{count(n_series, 'series')}, {count(n_channels, 'channel')})"
        )

    @once
    def channel_importance(self) -> Array:
        """How much worse predictions are with a channel of another series, (channels,).

        The mean over the given series of what the logarithm of the true class's probability falls by, or
        the squared error of a number rises by; a mean over labels, or over several numbers, each in
        standard deviations of y. Computed when it is first asked for: see
        `genshapelets.explain.channel_importance`.
        """
        return channel_importance(self.explanation, self.labels)

    @once
    def covariate_importance(self) -> Array:
        """The same of each static covariate and count, (covariates,): ``explanation.covariates.names``.

        Empty if the model knows none. See `genshapelets.explain.covariate_importance`.
        """
        return covariate_importance(self.explanation, self.labels)

    @property
    def matches(self) -> ShapeletMatches:
        """Where the shapelets were found in the given series."""
        return self.explanation.matches

    @property
    def classes(self) -> NDArray[Any] | None:
        """The classes; None for labels and regression."""
        return self.explanation.classes

    def ranking(self, by: Order = "effect") -> Index:
        """Shapelets of each answer, (answers, shapelets); those whose likeness speaks for it first.

        For regression: those whose likeness raises the number.
        """
        return np.argsort(self._sizes(by), axis=1, kind="stable")

    def claims(self, by: Order = "effect") -> Claims:
        """What likeness to each shapelet says: for one class, or against one.

        What is added to all classes alike changes no probability. So the mean over the classes is taken
        off first; the class that is then moved most is the one that a shapelet speaks of. One that adds
        0.016 to a class and takes 0.169 from another speaks against the other. (Of two classes, to
        speak against one is to speak for the other: the latter is said.)

        Parameters
        ----------
        by : "effect" or "weight"
            What sizes are: see above.
        """
        pull = -self._sizes(by)
        if self.classes is not None:
            pull = pull - pull.mean(axis=0)
        elif self.explanation.probabilities is None and len(pull) > 1:
            spread: Any = self.explanation.estimator
            pull = pull / spread.target_scale_[:, None]
        most, least = pull.max(axis=0), -pull.min(axis=0)
        against = least > most * (1 + 1e-9)  # rounding breaks no tie
        answer = np.where(against, pull.argmin(axis=0), pull.argmax(axis=0))
        return Claims(answer, against, np.maximum(most, least))

    def claim(self, shapelet: int) -> str:
        """What likeness to one shapelet says, in words, such as "speaks for bump"; see `claims`."""
        shapelet = place(shapelet, self.matches.n_shapelets, "shapelet")
        claims = self.claims()
        answer, against, size = (column[shapelet] for column in claims)
        if size <= 1e-9 * claims.size.max():
            return "says nothing"
        name = self.explanation.answer_names[answer]
        if self.explanation.probabilities is None:
            return f"{'lowers' if against else 'raises'} {name}"
        return f"speaks {'against' if against else 'for'} {name}"

    def label_of(self, series: int) -> str:
        """What is true of a series, in words: its class, its labels or its numbers."""
        names, own = self.explanation.target_names, self.labels[series]
        if names is None:
            return str(own)
        if self.explanation.probabilities is None:
            return ", ".join(f"{name} {x:.4g}" for name, x in zip(names, own, strict=True))
        return ", ".join(name for name, has in zip(names, own, strict=True) if has) or "no label"

    def to_frame(self, by: Order = "effect", top: int | None = None) -> Any:
        """Table with a row for each class and shapelet, ranked, as a ``pandas.DataFrame``.

        Parameters
        ----------
        by : "effect" or "weight"
        top : int, optional
            Only this number of shapelets of each class.
        """
        order = self.ranking(by)[:, :top]
        n_answers, count = order.shape
        k, answer = order.ravel(), np.repeat(np.arange(n_answers), count)
        targets = self.explanation.target_names
        names = np.array(targets or ["y"], dtype=object) if self.classes is None else self.classes
        said = np.array([self.claim(i) for i in range(self.matches.n_shapelets)], dtype=object)
        labels = {"nearest_label": self.nearest_label[k]}
        if targets is not None:
            columns = zip(targets, self.nearest_label[k].T, strict=True)
            labels = {f"nearest_{name}": column for name, column in columns}
        table = {
            "class" if targets is None else "target": names[answer],
            "rank": np.tile(np.arange(1, count + 1), n_answers),
            "shapelet": k,
            "weight": self.weight[answer, k],
            "effect": self.effect[answer, k],
            "claim": said[k],
            "length": self.lengths[k],
            "kind": np.array(self.matches.kinds)[k],
            "level_free": self.matches.level_free[k],
            "scale_free": self.matches.scale_free[k],
            "nearest_series": self.matches.names[self.nearest[k]],
            **labels,
            "nearest_start": self.nearest_start[k],
            "nearest_end": self.nearest_end[k],
            "nearest_discrepancy": self.nearest_discrepancy[k],
        }
        if n_answers == 1:
            del table["class"]
        return as_frame(table)

    def _sizes(self, by: Order) -> Array:
        if by not in ("effect", "weight"):
            raise ValueError(f'by must be "effect" or "weight"; got {by!r}.')
        return self.effect if by == "effect" else self.weight

    def importance_to_frame(self) -> Any:
        """Table of how much predictions rest on each channel and covariate: a ``pandas.DataFrame``."""
        channels, known = self.matches.channel_names, self.explanation.covariates
        covariates = () if known is None else known.names
        return as_frame(
            {
                "name": [*channels, *covariates],
                "kind": ["channel"] * len(channels) + ["covariate"] * len(covariates),
                "importance": np.concatenate([self.channel_importance, self.covariate_importance]),
            }
        )


def explain_model(estimator: ShapeletEstimator, X: Any, y: Any) -> ModelExplanation:
    """Explain what a fitted model has learnt, with the series that it was trained on.

    Parameters
    ----------
    estimator : ShapeletClassifier or ShapeletRegressor
        With a linear head: another has no one weight for each shapelet and class.
    X : series
        The training series, which a model does not keep.
    y : (series,) array, or (series, targets)
        Their classes, labels or numbers.

    Returns
    -------
    ModelExplanation

    Examples
    --------
    >>> import numpy as np
    >>> from genshapelets import ShapeletClassifier, explain_model
    >>> X = np.random.default_rng(0).normal(scale=0.1, size=(20, 1, 30))
    >>> X[10:, 0, 12:18] += 1.0
    >>> y = np.repeat(["flat", "bump"], 10)
    >>> model = ShapeletClassifier(n_shapelets=4, max_epochs=30, random_state=0).fit(X, y)
    >>> learnt = explain_model(model, X, y)
    >>> bump = learnt.ranking()[0, 0]  # the shapelet that speaks most for the class "bump"
    >>> str(learnt.nearest_label[bump])
    'bump'
    """
    explanation = explain_series(estimator, X)
    if explanation.weight is None:
        estimator.model_.linear()  # refuses, with the reason
    y = in_order(y, explanation.matches.series)
    return learnt_from(explanation, checked_labels(y, len(explanation.predicted), estimator))


def learnt_from(explanation: Explanation, labels: NDArray[Any]) -> ModelExplanation:
    """Do as `explain_model` does, from predictions explained already and labels that are checked."""
    assert explanation.weight is not None
    estimator, found = explanation.estimator, explanation.matches
    nearest = found.nearest
    everyone = np.arange(found.n_shapelets)
    effect = explanation.weight * feature_spread(estimator)
    return ModelExplanation(
        explanation=explanation,
        labels=labels,
        weight=explanation.weight,
        effect=effect,
        nearest=nearest,
        nearest_label=labels[nearest],
        nearest_start=found.start[nearest, everyone],
        nearest_end=found.end[nearest, everyone],
        nearest_discrepancy=found.discrepancy[nearest, everyone],
        lengths=found.lengths,
        initial_lengths=getattr(estimator, "initial_lengths_", None),
    )


def checked_labels(y: Any, n_series: int, estimator: ShapeletEstimator) -> NDArray[Any]:
    """One label for each series, all of which the model must know."""
    if y is None:
        raise ValueError("y must be given: the classes, or numbers, of the training series X.")
    labels = targets_of(y, n_series)[0]
    names = estimator.target_names_
    n_columns = labels.shape[1] if labels.ndim == 2 else 1
    if n_columns != (1 if names is None else len(names)):
        raise ValueError(
            f"y must have the targets that the model was fitted to, {len(names or 'y')} of them; got "
            f"{n_columns}."
        )
    if names is not None:
        is_regressor = isinstance(estimator, ShapeletRegressor)
        return labels.astype(float) if is_regressor else checked_indicators(labels).astype(int)
    classes = getattr(estimator, "classes_", None)
    if classes is not None:
        known = set(classes.tolist())
        strange = [n for n, label in enumerate(labels.tolist()) if label not in known]
        if strange:
            n = strange[0]
            raise ValueError(
                f"y must hold classes of the model ({few(classes)}); got {named(labels[n])} for "
                f"series {n}. Leave out series of other classes."
            )
    return labels
