"""The head once more, when the shapelets stay: few reasons for each answer."""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch import Tensor

from .model import ShapeletModel
from .owners import Owners
from .training import Task

FEWEST_SERIES = (
    6  # of a class, on average: with fewer, a head that was trained with dropout does better
)
RIDGE = 3e-4
N_STEPS = 400


def refitted(
    model: ShapeletModel, discrepancy: Tensor, task: Task, penalty: float, own_class: bool
) -> ShapeletModel:
    r"""A copy whose linear head solves a convex problem: most of its weights are 0.

    .. math:: \min_W \text{loss}(W) + \frac{\lambda}{C} \sum |W_{ck}| + \rho \sum W_{ck}^2

    in features of mean 0 and deviation 1, C the number of outputs; by accelerated proximal gradients.
    Weights keep the signs that `Owners` allow.

    Parameters
    ----------
    model : ShapeletModel
    discrepancy : (series, shapelets) tensor
    task : Task
        Of these series.
    penalty : float
        :math:`\lambda`.
    own_class : bool
        Whether likeness to a shapelet speaks only for the class that owns it.
    """
    twin = copy.deepcopy(model)
    if task.n_classes and len(task.target) < FEWEST_SERIES * task.n_classes:
        return twin
    features = model.features(discrepancy.double()).detach()
    mean, deviation = features.mean(dim=0), features.std(dim=0, correction=0)
    deviation = torch.where(deviation > 1e-3, deviation, 1.0)
    x = (features - mean) / deviation
    weight, bias = model.linear()
    owners = Owners(weight * deviation)
    if own_class and task.n_classes:
        owners.see(discrepancy, task.target)
        owners.settle()
    found, bias = _solve(x, owners, bias + weight @ mean, task, penalty / len(weight))
    head: Any = twin.head
    with torch.no_grad():
        plain = found / deviation
        head.weight.copy_(plain * model.feature_scale)
        head.bias.copy_(bias + plain @ (model.feature_mean - mean))
    return twin


def _solve(
    x: Tensor, owners: Owners, bias: Tensor, task: Task, penalty: float
) -> tuple[Tensor, Tensor]:
    """Weights and bias by FISTA; the curvature of the loss is bounded by that of its largest part."""
    curvature = 0.5 if task.n_classes else 2.0
    largest = torch.linalg.matrix_norm(task.weight.double().sqrt()[:, None] * x, ord=2) ** 2
    step = 1.0 / (curvature * (float(largest) / len(x) + float(task.weight.max())) + 2 * RIDGE)
    weight = ahead = owners.weight
    bias_ahead, momentum = bias, 1.0
    for _ in range(N_STEPS):
        ahead, bias_ahead = ahead.detach().requires_grad_(), bias_ahead.detach().requires_grad_()
        loss = task.loss(x @ ahead.T + bias_ahead, task.target, task.weight)
        slope, slope_bias = torch.autograd.grad(
            loss + RIDGE * ahead.square().sum(), [ahead, bias_ahead]
        )
        moved = (ahead - step * slope).detach()
        owners.weight = moved.sign() * (moved.abs() - step * penalty).clamp(min=0.0)
        owners.constrain()
        moved_bias = (bias_ahead - step * slope_bias).detach()
        next_momentum = (1.0 + (1.0 + 4.0 * momentum**2) ** 0.5) / 2.0
        share = (momentum - 1.0) / next_momentum
        ahead = owners.weight + share * (owners.weight - weight)
        bias_ahead = moved_bias + share * (moved_bias - bias)
        weight, bias, momentum = owners.weight, moved_bias, next_momentum
    return weight, bias
