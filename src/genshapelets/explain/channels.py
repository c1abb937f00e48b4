"""How much predictions rest on a channel, or on a covariate."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import cross_entropy

from ..estimators import ShapeletClassifier
from ..estimators.base import ShapeletEstimator
from ..objective import class_scores, label_loss
from ..paths import Array, Index, Paths
from ..transform import GeneralisedShapeletTransform
from .head import to_answers
from .local import Explanation
from .matches import ShapeletMatches

MANY = 500  # series, of which the loss is known well enough
SAME = 1e-6  # of a standard deviation: the channel never varies


def channel_importance(
    explanation: Explanation, labels: NDArray[Any], *, max_series: int = MANY
) -> Array:
    r"""What predictions for given series lose if a channel is that of another series, (channels,).

    .. math:: I_d = \frac{1}{N} \sum_n \ell(f^n \text{ with } f^{m(n)}_d, y_n) - \ell(f^n, y_n)

    The loss is minus the logarithm of the probability of the true class (a mean over labels), or the
    squared error of a number (a mean over several, each in standard deviations of y); m(n) is another of
    the given series, drawn once and for all. Each channel keeps the values that it usually has, so what
    is lost is what the channel says of *this* series. (A channel left out would stand still at its mean
    instead. Where it never does, every shapelet that looks at it fits unusually well or badly, and a
    channel of mere noise seems important.)

    It is 0 for a channel that no shapelet looks at or that never varies, and about 0, of either sign,
    for one that says nothing. Two channels that say the same share their importance: with one of
    another series, the other is still right. Of a single series nothing can be exchanged: all are 0.

    Parameters
    ----------
    explanation : Explanation
        Best of series that the model was not fitted on: training series count what was learnt by heart.
    labels : (series,) array
        Classes or numbers of the series. With the predicted ones, the importance is how much the
        model's certainty rests on the channel.
    max_series : int
        Of more, so many are chosen evenly.
    """
    estimator, found = explanation.estimator, explanation.matches
    chosen = _evenly(len(found.series), max_series)
    with torch.no_grad(), estimator._threads():
        return _importance(estimator, found, chosen, labels)


def _importance(
    estimator: ShapeletEstimator, found: ShapeletMatches, chosen: Index, labels: NDArray[Any]
) -> Array:
    paths = estimator.model_.paths(found.series[chosen])
    true = _as_target(estimator, labels[chosen])
    others = values_of_others(paths)
    differs = np.abs(others - paths.values).max(axis=0) > SAME
    importance = np.zeros(paths.n_channels)
    known = torch.from_numpy(found.discrepancy[chosen])
    loss = _loss(estimator, known, paths.covariates, true)
    for d in np.flatnonzero(differs):
        lookers = np.flatnonzero(np.broadcast_to(found.metric[:, d], found.n_shapelets))
        if len(lookers):
            values = paths.values.copy()
            values[:, d] = others[:, d]
            discrepancy = known.clone()
            some = _of(estimator.model_.transform, lookers)
            matched = some(replace(paths, values=values, _prepared={}))
            discrepancy[:, lookers] = matched.discrepancy.cpu().double()
            importance[d] = _loss(estimator, discrepancy, paths.covariates, true) - loss
    return importance


def covariate_importance(
    explanation: Explanation, labels: NDArray[Any], *, max_series: int = MANY
) -> Array:
    """What predictions for given series lose if a covariate is that of another series.

    As `channel_importance`, whose parameters it has: (covariates,), named by
    ``explanation.covariates.names``; empty if the model knows none. The categories of a covariate, and
    that it is missing, are exchanged together.
    """
    estimator, found = explanation.estimator, explanation.matches
    covariates = estimator.model_.covariates
    if covariates is None:
        return np.zeros(0)
    chosen = _evenly(len(found.series), max_series)
    true = _as_target(estimator, labels[chosen])
    discrepancy = torch.from_numpy(found.discrepancy[chosen])
    own = covariates.values(found.series[chosen])
    others = own[other_of(len(chosen))]
    importance = np.zeros(len(covariates.names))
    with torch.no_grad(), estimator._threads():
        loss = _loss(estimator, discrepancy, own, true)
        for place, name in enumerate(covariates.names):
            exchanged = np.where([one.name == name for one in covariates.each], others, own)
            importance[place] = _loss(estimator, discrepancy, exchanged, true) - loss
    return importance


def _evenly(n_series: int, most: int) -> Index:
    """Positions of at most so many series."""
    return np.unique(np.linspace(0, n_series - 1, min(most, n_series)).round().astype(np.int64))


def _of(transform: GeneralisedShapeletTransform, shapelets: Index) -> GeneralisedShapeletTransform:
    """The transform of some of the shapelets: the others need not be found again."""
    return GeneralisedShapeletTransform.from_shapelets(
        transform.shapelets.values.detach()[shapelets],
        transform.shapelets.lengths.detach()[shapelets],
        discrepancy=transform.discrepancy.chosen(shapelets.tolist()),
        search=transform.search,
        backend=transform.backend,
        minimum=transform.minimum,
    )


def values_of_others(paths: Paths) -> Array:
    """Values (rows, channels) that another path has at each knot, counted from where each path begins.

    A path that is shorter is held at its last value.
    """
    values = np.empty_like(paths.values)
    rows = [slice(*ends) for ends in pairwise(paths.row_offsets)]
    for own, other in zip(rows, (rows[m] for m in other_of(len(paths))), strict=True):
        for d in range(paths.n_channels):
            known = paths.knots[other], paths.values[other, d]
            values[own, d] = np.interp(paths.knots[own], *known)
    return values


def other_of(n_series: int) -> Index:
    """Position of another series for each, the same at every call: a random ring through them all."""
    ring = np.random.default_rng(0).permutation(n_series)
    other = np.empty_like(ring)
    other[ring] = np.roll(ring, 1)
    return other


def _loss(
    estimator: ShapeletEstimator, discrepancy: Tensor, covariates: Array | None, true: Tensor
) -> float:
    """Mean loss over series of given discrepancies and covariates, in float64."""
    model = estimator.model_
    discrepancy = discrepancy.to(model.feature_mean.device)
    outputs = model.outputs(discrepancy, covariates).cpu()
    if isinstance(estimator, ShapeletClassifier):
        if estimator.target_names_ is not None:
            return float(label_loss(outputs, true, torch.ones(len(true))))
        return float(cross_entropy(class_scores(outputs), true))
    unit = 1.0 if estimator.target_names_ is None else torch.from_numpy(estimator.target_scale_)
    numbers = torch.from_numpy(to_answers(estimator, outputs.numpy().T).T)
    return float(((numbers - true) / unit).square().mean())


def _as_target(estimator: ShapeletEstimator, labels: NDArray[Any]) -> Tensor:
    if isinstance(estimator, ShapeletClassifier) and estimator.target_names_ is None:
        return torch.from_numpy(np.searchsorted(estimator.classes_, labels))
    return torch.from_numpy(labels.reshape(len(labels), -1).astype(np.float64))
