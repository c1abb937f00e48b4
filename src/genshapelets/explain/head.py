"""How the head weighs the shapelets: in columns that people ask for, one for each class."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from ..estimators import ShapeletClassifier, ShapeletRegressor
from ..estimators.base import ShapeletEstimator
from ..model import ShapeletModel
from ..paths import Array

N_STEPS = 64  # of the integral of the gradients


def check_predicts(estimator: ShapeletEstimator) -> None:
    """Refuse what predicts nothing."""
    if not isinstance(estimator, ShapeletClassifier | ShapeletRegressor):
        raise TypeError(
            f"{type(estimator).__name__} predicts nothing that could be explained. Use a "
            "ShapeletClassifier or ShapeletRegressor, or find_matches to see where shapelets are found."
        )


def to_answers(estimator: ShapeletEstimator, values: Array, *, is_offset: bool = True) -> Array:
    """Turn outputs of the head, along the first axis, into logits of all classes or numbers.

    The one logit of two classes speaks for the second: for the first it counts with the opposite
    sign. Numbers get the unit of y; its centre too, unless ``is_offset`` is false as for weights.
    """
    if isinstance(estimator, ShapeletRegressor):
        each = (-1,) + (1,) * (values.ndim - 1)
        centre, scale = (
            np.reshape(x, each) for x in (estimator.target_centre_, estimator.target_scale_)
        )
        return values * scale + is_offset * centre
    return np.concatenate([-values, values]) if len(values) == 1 else values


def weights(estimator: ShapeletEstimator) -> tuple[Array, Array]:
    """Weights (answers, shapelets) and bias (answers,) of a linear head on plain logarithms."""
    weight, bias = (tensor.cpu().numpy() for tensor in estimator.model_.linear())
    return to_answers(estimator, weight, is_offset=False), to_answers(estimator, bias)


def feature_spread(estimator: ShapeletEstimator) -> Array:
    """Standard deviation of the features over the training series, (shapelets,)."""
    # Files of earlier versions hold only the deviation before training.
    before = estimator.model_.feature_scale.double().cpu().numpy()
    return getattr(estimator, "feature_spread_", before)


def head_outputs(model: ShapeletModel, features: Array) -> Array:
    """What the head makes of plain logarithms, (outputs, series)."""
    with torch.no_grad():
        standard = (_tensor(model, features) - model.feature_mean) / model.feature_scale
        return model.head(standard.to(model.feature_mean)).double().cpu().numpy().T


def integrated_gradients(model: ShapeletModel, features: Array, baseline: Array) -> Array:
    r"""Contributions of the features of one series to the outputs of any head.

    .. math:: (x_k - b_k) \int_0^1 \partial_k \text{head}(b + \alpha (x - b)) \, d\alpha

    They sum to the head's output at x less that at b; what the numerical integral leaves over is
    shared out in proportion to the contributions' sizes.

    Parameters
    ----------
    model : ShapeletModel
    features, baseline : (shapelets,) arrays
        Plain logarithms.

    Returns
    -------
    (outputs, shapelets) array
    """
    share = (torch.arange(N_STEPS, dtype=torch.float64) + 0.5) / N_STEPS
    begin, way = _tensor(model, baseline), _tensor(model, features - baseline)
    with torch.enable_grad():
        points = (begin + share[:, None].to(way) * way).requires_grad_()
        standard = (points - model.feature_mean) / model.feature_scale
        outputs = model.head(standard.to(model.feature_mean)).double()
        gradients = [
            torch.autograd.grad(column.sum(), points, retain_graph=True)[0].mean(dim=0)
            for column in outputs.T
        ]
    contributions = (torch.stack(gradients) * way).cpu().numpy()
    both = head_outputs(model, np.stack([baseline, features]))
    left_over = both[:, 1] - both[:, 0] - contributions.sum(axis=1)
    size = np.abs(contributions) + np.finfo(float).tiny
    return contributions + left_over[:, None] * size / size.sum(axis=1, keepdims=True)


def _tensor(model: ShapeletModel, array: NDArray[np.float64]) -> torch.Tensor:
    return torch.from_numpy(np.ascontiguousarray(array)).to(model.feature_mean.device)
