"""A twin of a trained model that can be read: possible shapes, few reasons, much the same answers."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .model import ShapeletModel
from .owners import Owners
from .paths import Array, Paths
from .sources import hold_near
from .training import Plan, Task

RIDGE = 3e-4
MAX_STEPS = 400
PRECISION = 1e-5  # of the largest weight


@torch.no_grad()
def readable_twin(
    model: ShapeletModel, paths: Paths, task: Task, plan: Plan, random: np.random.Generator
) -> ShapeletModel:
    """A copy with shapelets near training windows and a sparse head that gives much the same answers.

    Each as far as the plan asks for it; shapelets that were not learnt stay as they are.
    """
    twin = copy.deepcopy(model)
    if plan.near and plan.learn == "all":
        hold_near(twin, paths, random)
    if plan.sparsity:
        answers = model.outputs(model.discrepancies(paths), paths.covariates)
        give_few_reasons(twin, twin.discrepancies(paths), paths.covariates, answers, task, plan)
    return twin


def give_few_reasons(
    model: ShapeletModel,
    discrepancy: Tensor,
    covariates: Array | None,
    answers: Tensor,
    task: Task,
    plan: Plan,
) -> None:
    r"""Solve for the linear head once more, so that most of its weights are 0.

    .. math::
        \min_W D(W) + \frac{\lambda}{C} \sum_{ck} \frac{m}{|V_{ck}| + m / 10} |W_{ck}|
        + \rho \sum_{ck} W_{ck}^2

    in features of mean 0 and deviation 1. D is the mean cross entropy, or squared difference, from what
    is half way between the given answers and the truth. V are the weights as trained, m is the mean of
    their sizes, C the number of classes (1 for labels and numbers, each of which is a sum of its own):
    what was small costs most, as in the adaptive lasso. Weights of shapelets keep the signs that
    `Owners` allow; those of covariates are free.

    Parameters
    ----------
    model : ShapeletModel
    discrepancy : (series, shapelets) tensor
        Of the model's shapelets.
    covariates : (series, covariates) array, or None
        As in `Paths`.
    answers : (series, outputs) tensor
        Outputs of the model as it was trained.
    task : Task
        Of these series.
    plan : Plan
        Whose `sparsity` is :math:`\lambda`.
    """
    features = model.features(discrepancy.double()).detach()
    mean, deviation = features.mean(dim=0), features.std(dim=0, correction=0)
    deviation = torch.where(deviation > 1e-3, deviation, 1.0)
    weight, bias = model.linear()
    x, start = (features - mean) / deviation, weight * deviation
    n_shapelets = x.shape[1]
    owners = task.owners(start)
    if plan.own_class and task.probability:
        owners.see(discrepancy, task.target)
        owners.settle()
        owners.constrain()
    if model.covariates is not None and covariates is not None:
        x = torch.cat([x, torch.from_numpy(covariates).to(x)], dim=1)
        start = torch.cat([start, model.covariates.weight.to(start)], dim=1)
    penalty = plan.sparsity / max(task.n_classes, 1)
    start_bias = bias + weight @ mean
    found, bias = _solve(x, _wanted(answers, task), owners, start, start_bias, task, penalty)
    head: Any = model.head
    with torch.no_grad():
        plain = found[:, :n_shapelets] / deviation
        head.weight.copy_(plain * model.feature_scale)
        head.bias.copy_(bias + plain @ (model.feature_mean - mean))
        if model.covariates is not None:
            model.covariates.weight.copy_(found[:, n_shapelets:])


def _solve(
    x: Tensor,
    wanted: Tensor,
    owners: Owners,
    weight: Tensor,
    bias: Tensor,
    task: Task,
    penalty: float,
) -> tuple[Tensor, Tensor]:
    """Weights and bias by accelerated proximal gradients, from given ones.

    The owners constrain the first columns, those of the shapelets.
    """
    n_shapelets = len(owners.owner)
    importance = task.weight.double() / task.weight.sum()
    curvature = 0.5 if task.probability else 2.0
    largest = torch.linalg.matrix_norm(importance.sqrt()[:, None] * x, ord=2) ** 2
    step = 1.0 / (curvature * (float(largest) + 1.0) + 2 * RIDGE)
    ahead, size = weight, weight.abs()
    cost = step * penalty * size.mean() / (size + 0.1 * size.mean()).clamp(min=1e-12)
    bias_ahead, momentum = bias, 1.0
    for _ in range(MAX_STEPS):
        slope = importance[:, None] * _slope(x @ ahead.T + bias_ahead, wanted, task)
        moved = ahead - step * (slope.T @ x + 2 * RIDGE * ahead)
        moved = moved.sign() * (moved.abs() - cost).clamp(min=0.0)
        owners.weight = moved[:, :n_shapelets]
        owners.constrain()  # in place
        moved_bias = bias_ahead - step * slope.sum(dim=0)
        next_momentum = (1.0 + (1.0 + 4.0 * momentum**2) ** 0.5) / 2.0
        share = (momentum - 1.0) / next_momentum
        ahead = moved + share * (moved - weight)
        bias_ahead = moved_bias + share * (moved_bias - bias)
        change = float((moved - weight).abs().max())
        weight, bias, momentum = moved, moved_bias, next_momentum
        if change <= PRECISION * float(weight.abs().max()):
            break
    return weight, bias


def _wanted(answers: Tensor, task: Task) -> Tensor:
    """Half of the answers and half of the truth: probabilities of classes or labels, or numbers."""
    said = task.probability(answers) if task.probability else answers
    return (said + task.truth) / 2


def _slope(output: Tensor, wanted: Tensor, task: Task) -> Tensor:
    """Derivative of the cross entropy, or of the squared difference, in the output."""
    if not task.probability:
        return 2.0 * (output - wanted)
    return (task.probability(output) - wanted)[:, -output.shape[1] :]
