"""A twin of a trained model that can be read: possible shapes and few reasons."""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from .model import ShapeletModel
from .owners import Owners
from .paths import Array, Paths
from .sources import hold_near
from .training import Plan, Task

RIDGES = (0.1, 0.03, 0.01, 0.003, 0.001)
FOLDS = 4
DROPPED = 0.3  # share of the weights that goes at a time
KEPT = 0.98  # share of what the features gain over a guess that must stay
PRECISION = 1e-5  # of the head that is kept
MAX_STEPS = 1000
SEEN = 1000  # series that the ridge is chosen by


@torch.no_grad()
def readable_twin(
    model: ShapeletModel,
    paths: Paths,
    task: Task,
    plan: Plan,
    random: np.random.Generator,
    ridge: float | None = None,
) -> tuple[ShapeletModel, float | None]:
    """A copy with shapelets near training windows and a head of few weights, and its ridge.

    Each as far as the plan asks for it; shapelets that were not learnt stay as they are. None: the ridge
    is chosen.
    """
    twin = copy.deepcopy(model)
    if plan.near and plan.learn == "all":
        hold_near(twin, paths, random)
    if plan.n_reasons:
        discrepancy = twin.discrepancies(paths)
        ridge = give_few_reasons(twin, discrepancy, paths.covariates, task, plan, ridge)
    return twin, ridge


def give_few_reasons(
    model: ShapeletModel,
    discrepancy: Tensor,
    covariates: Array | None,
    task: Task,
    plan: Plan,
    ridge: float | None = None,
) -> float:
    r"""Solve for the linear head once more, and let it have few weights; return its ridge.

    .. math:: \min_W D(W) + \rho \sum_{ck} W_{ck}^2

    in features of mean 0 and deviation 1. D is the mean cross entropy, or squared difference. The ridge
    :math:`\rho` is the one, of `RIDGES`, whose loss in cross-validation is least. Then the smallest
    weights are set to 0, three tenths of them at a time, and the others solved for again, until as few
    are left as the plan wants; or until D has lost a fiftieth of what it gained over a guess, where
    many features tell a little each.

    Parameters
    ----------
    model : ShapeletModel
    discrepancy : (series, shapelets) tensor
        Of the model's shapelets.
    covariates : (series, covariates) array, or None
        As in `Paths`.
    task : Task
        Of these series.
    plan : Plan
        `n_reasons` is the number of weights for each output, on average. If `own_class` is True, weights
        of shapelets have the signs that `Owners` allow.
    ridge : float, optional
        Default: it is chosen.
    """
    features = model.features(discrepancy.double()).detach().cpu()
    if not features.isfinite().all():
        raise ValueError(
            "training has diverged: a discrepancy is not finite. Lower learning_rate or gamma; should "
            "it have gone on from a checkpoint, delete that file."
        )
    mean, deviation = features.mean(dim=0), features.std(dim=0, correction=0)
    deviation = torch.where(deviation > 1e-3, deviation, 1.0)
    x, n_shapelets = (features - mean) / deviation, features.shape[1]
    owners = task.owners(model.linear()[0].cpu())
    if plan.own_class is True and task.probability:
        owners.see(discrepancy, task.target)
        owners.settle()
    if covariates is not None and model.covariates is not None:
        x = torch.cat([x, torch.from_numpy(covariates).to(x)], dim=1)
    problem = HeadProblem(x, task.truth.cpu().double(), task.weight.cpu().double(), task, owners)
    ridge = chosen_ridge(problem) if ridge is None else ridge
    problem = replace(problem, ridge=ridge)
    weight, bias = few_weights(problem, plan.n_reasons)
    plain = weight[:, :n_shapelets] / deviation
    head: Any = model.head
    with torch.no_grad():
        head.weight.copy_(plain * model.feature_scale.cpu())
        head.bias.copy_(bias + plain @ (model.feature_mean.cpu() - mean))
        if x.shape[1] > n_shapelets:
            assert model.covariates is not None
            model.covariates.weight.copy_(weight[:, n_shapelets:])
    return ridge


def chosen_ridge(problem: HeadProblem) -> float:
    """The ridge whose loss in cross-validation is least."""
    order = np.lexsort(problem.truth.numpy().T)  # of like targets, every fourth is in a fold
    problem = problem.of(order[:: math.ceil(len(order) / SEEN)])
    losses, rank = np.zeros(len(RIDGES)), np.arange(len(problem.x))
    for fold in range(FOLDS):
        held_out = rank % FOLDS == fold
        if held_out.all() or not held_out.any():
            return RIDGES[-1]
        head, left = None, problem.of(held_out)
        for number, ridge in enumerate(RIDGES):
            head = replace(problem.of(~held_out), ridge=ridge).solved(start=head)
            losses[number] += float(left.importance.sum()) * left.loss(head)
    return RIDGES[int(losses.argmin())]


def few_weights(problem: HeadProblem, n_reasons: int) -> Head:
    """A head of so many weights for each output, or more if the loss needs them."""
    guess = problem.solved(torch.zeros_like(problem.all_kept))
    head = problem.solved()
    enough = problem.loss(guess) - KEPT * (problem.loss(guess) - problem.loss(head))
    n_left = problem.all_kept.numel()
    fewest = n_reasons * len(head[1])
    while n_left > fewest:
        n_left = max(fewest, int(n_left * (1 - DROPPED)))
        size = head[0].abs()
        for most in [head[0].argmin, head[0].argmax][: 2 if len(size) == 1 else 1]:
            size.scatter_(1, most(dim=1, keepdim=True), torch.inf)  # every class is spoken for
        kept = torch.zeros_like(size, dtype=torch.bool)
        kept.view(-1)[size.flatten().argsort(descending=True, stable=True)[:n_left]] = True
        fewer = problem.solved(kept & (head[0] != 0), head)
        if problem.loss(fewer) > enough:
            break
        head = fewer
    return problem.solved(head[0] != 0, head, PRECISION)


Head = tuple[Tensor, Tensor]  # weights (outputs, features) and bias (outputs,)


@dataclass(frozen=True)
class HeadProblem:
    """A linear head to be solved for.

    Attributes
    ----------
    x : (series, features) tensor
    truth : (series, columns) tensor
    importance : (series,) tensor
    task : Task
    owners : Owners
        Of the first features, those of shapelets: which signs their weights may have.
    ridge : float
    """

    x: Tensor
    truth: Tensor
    importance: Tensor
    task: Task
    owners: Owners
    ridge: float = 0.0

    def of(self, series: NDArray[Any]) -> HeadProblem:
        """The same with some of the series."""
        some = torch.from_numpy(series)
        x, truth, importance = self.x[some], self.truth[some], self.importance[some]
        return replace(self, x=x, truth=truth, importance=importance)

    def judged(self, head: Head) -> tuple[Tensor, Tensor]:
        """Cross entropy, or squared difference, of each series, and its derivative in the outputs."""
        output = self.x @ head[0].T + head[1]
        if self.task.probability is None:
            off = output - self.truth
            return off.square().sum(dim=1), 2.0 * off
        said = self.task.probability(output)
        terms = self.truth * said.clamp(min=1e-12).log()
        if not self.task.n_classes:
            terms = terms + (1.0 - self.truth) * (1.0 - said).clamp(min=1e-12).log()
        return -terms.sum(dim=1), (said - self.truth)[:, -output.shape[1] :]

    def loss(self, head: Head) -> float:
        """Mean over the series, by importance."""
        return float((self.importance * self.judged(head)[0]).sum() / self.importance.sum())

    @property
    def all_kept(self) -> Tensor:
        """True for every weight."""
        return torch.ones(len(self.owners.weight), self.x.shape[1], dtype=torch.bool)

    def solved(
        self, kept: Tensor | None = None, start: Head | None = None, precision: float = 1e-3
    ) -> Head:
        """The best head of which only some weights may differ from 0, looked for from another one.

        By accelerated projected gradients, started anew when they turn back, until no weight moves by
        more than a share of the largest, the ``precision``. (By torch alone, which is held to one
        thread: those of the library beneath NumPy and SciPy cost more than they bring.)
        """
        kept = self.all_kept if kept is None else kept
        n_outputs, n_shapelets = len(kept), len(self.owners.owner)
        low, high = (sign * torch.inf * torch.ones(kept.shape).double() for sign in (-1, 1))
        low[:, :n_shapelets] = self.owners.least_weight
        high[:, :n_shapelets] = self.owners.largest_weight
        low, high = torch.where(kept, low, 0.0), torch.where(kept, high, 0.0)
        share = (self.importance / self.importance.sum())[:, None]
        curvature = 0.5 if self.task.probability else 2.0
        largest = float(torch.linalg.eigvalsh((share * self.x).T @ self.x)[-1])
        step = 1.0 / (curvature * (largest + 1.0) + 2 * self.ridge)
        start = (torch.zeros_like(low), low.new_zeros(n_outputs)) if start is None else start
        weight, bias = start[0].clamp(low, high), start[1]
        ahead, momentum = (weight, bias), 1.0
        for _ in range(MAX_STEPS):
            slope = share * self.judged(ahead)[1]
            moved = ahead[0] - step * (slope.T @ self.x + 2 * self.ridge * ahead[0])
            moved, moved_bias = moved.clamp(low, high), ahead[1] - step * slope.sum(dim=0)
            change, change_of_bias = moved - weight, moved_bias - bias
            if float(((ahead[0] - moved) * change).sum()) > 0:  # it turns back
                momentum = 1.0
            following = (1.0 + (1.0 + 4.0 * momentum**2) ** 0.5) / 2.0
            further = (momentum - 1.0) / following
            ahead = moved + further * change, moved_bias + further * change_of_bias
            weight, bias, momentum = moved, moved_bias, following
            if float(change.abs().max()) <= precision * max(float(weight.abs().max()), 1e-9):
                break
        return weight, bias
