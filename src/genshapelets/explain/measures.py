"""Interpretability in numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..estimators.base import ShapeletEstimator
from ..shown import count
from ..sources import random_discrepancy
from .matches import ShapeletMatches
from .overall import ModelExplanation, Order, explain_model
from .reasons import n_needed

CARRIED = 0.9  # of an answer, or of a metric
ROUNDING = 1e-5  # of a channel's standard deviation


@dataclass(frozen=True, repr=False)
class Interpretability:
    """How readable a model is.

    Attributes
    ----------
    n_classes : int
        0 for labels, which `ShapeletClassifier.for_target` measures one by one, and regression.
    unique : float or None
        Share of the classes whose top shapelet is the top shapelet of no other class.
    own : float or None
        Share of the classes, of those that are in y, whose top shapelet is most similar to a training
        series of that class.
    closeness : float
        Discrepancy of a shapelet from its nearest training segment, divided by the mean from random
        segments of its length; mean over shapelets. 0: shapelets are pieces of the data, 1: they are
        no more alike than chance. (Of roots, for the classical discrepancy, which is a sum of squares.)
    sparsity : float
        How many shapelets and covariates carry 90 % of the predicted answer, the sizes of all
        contributions taken together; mean over series.
    channels : float
        How many channels hold 90 % of a shapelet's metric, that is of the squares of its weights on
        the (standardised) channels; mean over shapelets.
    outside : float
        Share of the shapelets' knots, in channels that they look at, outside the range of what the
        training series have observed in that channel. A level-free or scale-free shapelet counts as
        it is compared with its nearest training segment.
    n_shapelets : int
    n_covariates : int
        Facts that are weighed beside the shapelets.
    """

    n_classes: int
    unique: float | None
    own: float | None
    closeness: float
    sparsity: float
    channels: float
    outside: float
    n_shapelets: int
    n_covariates: int = 0

    def __repr__(self) -> str:
        names = [name for name in vars(self) if getattr(self, name) is not None]
        return (
            f"Interpretability({', '.join(f'{name}={getattr(self, name):.3g}' for name in names)})"
        )

    def __str__(self) -> str:
        all_of = count(self.n_shapelets, "shapelet")
        if self.n_covariates:
            all_of += f" and {count(self.n_covariates, 'covariate')}"
        said = (
            f"a shapelet is {self.closeness:.2f} times as far from its nearest training segment as from "
            f"a random one\n{self.sparsity:.1f} of {all_of} carry 90 % of an answer"
            f"\n{self.channels:.1f} channels hold 90 % of a shapelet's metric\n"
            f"{100 * self.outside:.1f} % of its knots are outside the range of the training series"
        )
        if self.unique is None or self.own is None:
            return said
        unique, own = round(self.unique * self.n_classes), round(self.own * self.n_classes)
        return (
            f"{unique} of {self.n_classes} classes have a top shapelet of their own\n"
            f"{own} of {self.n_classes} classes have a top shapelet whose nearest training series is of "
            f"that class\n{said}"
        )


def interpretability(
    estimator: ShapeletEstimator,
    X: Any,
    y: Any,
    *,
    by: Order = "effect",
    n_windows: int = 256,
    random_state: int = 0,
) -> Interpretability:
    """Measure how readable a fitted model is.

    Parameters
    ----------
    estimator : ShapeletClassifier or ShapeletRegressor
    X : series
        The training series.
    y : (series,) array
        Their classes or numbers.
    by : "effect" or "weight"
        What makes a shapelet a class's top one; see `ModelExplanation`.
    n_windows : int
        Random segments that each shapelet is compared with.
    random_state : int

    Examples
    --------
    >>> import numpy as np
    >>> from genshapelets import ShapeletClassifier, interpretability
    >>> X = np.random.default_rng(0).normal(scale=0.1, size=(20, 1, 30))
    >>> X[10:, 0, 12:18] += 1.0
    >>> y = np.repeat(["flat", "bump"], 10)
    >>> model = ShapeletClassifier(n_shapelets=4, max_epochs=30, random_state=0).fit(X, y)
    >>> interpretability(model, X, y).n_shapelets
    4
    """
    learnt = explain_model(estimator, X, y)
    return measure(learnt, by=by, n_windows=n_windows, random_state=random_state)


def measure(
    learnt: ModelExplanation, *, by: Order = "effect", n_windows: int = 256, random_state: int = 0
) -> Interpretability:
    """Do as `interpretability` does, from what `explain_model` found."""
    if n_windows < 1:
        raise ValueError(f"n_windows must be at least 1; got {n_windows}.")
    unique = own = None
    if learnt.classes is not None:
        top = learnt.ranking(by)[:, 0]
        # A class of which no weight is negative is known by what is absent: it has no top shapelet.
        there = learnt.weight[np.arange(len(top)), top] < 0
        unique = float(
            (there & (np.bincount(top[there], minlength=top.max() + 1)[top] == 1)).mean()
        )
        present = np.isin(learnt.classes, learnt.labels)
        own = float((there & (learnt.nearest_label[top] == learnt.classes))[present].mean())
    estimator, known = learnt.explanation.estimator, learnt.explanation.covariates
    model, some = estimator.model_, np.random.default_rng(random_state)
    with estimator._threads():
        random = random_discrepancy(
            model, model.paths(learnt.matches.series, covariates=False), n_windows, some
        )
    nearest = learnt.nearest_discrepancy
    squares = model.transform.discrepancy.squares(learnt.matches.n_shapelets).cpu().numpy()
    random, nearest = (np.where(squares, np.sqrt(x), x) for x in (random, nearest))
    usual = random.mean(axis=0)
    return Interpretability(
        n_classes=0 if learnt.classes is None else len(learnt.classes),
        unique=unique,
        own=own,
        closeness=float(np.divide(nearest, usual, out=np.ones_like(usual), where=usual > 0).mean()),
        sparsity=_sparsity(learnt),
        channels=_channels(learnt.matches),
        outside=_outside(learnt.matches),
        n_shapelets=learnt.matches.n_shapelets,
        n_covariates=0 if known is None else len(known.names),
    )


def _sparsity(learnt: ModelExplanation) -> float:
    explanation = learnt.explanation
    found = learnt.matches
    chosen = explanation.every_chosen
    size = np.abs(learnt.weight[chosen] * (found.features - explanation.baseline))
    if explanation.covariates is not None:
        beside = explanation.covariates.contributions[np.arange(len(chosen)), chosen]
        size = np.concatenate([size, np.abs(beside)], axis=1)
    return float(n_needed(size, CARRIED).mean())


def _channels(found: ShapeletMatches) -> float:
    # One row, if all share a metric, stands for all.
    return float(n_needed(np.square(found.metric), CARRIED).mean())


def _outside(found: ShapeletMatches) -> float:
    values = found.series.values.astype(np.float64)
    # A channel that is never observed is at its centre.
    seen = np.where(np.isnan(values).all(axis=0), found.centre, values)
    slack = ROUNDING * found.scale
    low, high = np.nanmin(seen, axis=0) - slack, np.nanmax(seen, axis=0) + slack
    outside = [np.zeros(0, dtype=bool)]
    for k in range(found.n_shapelets):
        own = found.own_channels(k)
        knots = found.knots_drawn(k)[own]
        outside.append(((knots < low[own, None]) | (knots > high[own, None])).ravel())
    every = np.concatenate(outside)
    return float(every.mean()) if len(every) else 0.0
