"""Which few channels each shapelet sees."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from .model import ShapeletModel
from .paths import Paths
from .training import Task

FAINT = 0.5  # weight of a channel, relative to that which counts most, below which it is left out
SEEN = 500  # series that tell whether a channel is needed


@torch.no_grad()
def narrow(model: ShapeletModel, paths: Paths, task: Task, n_channels: int) -> None:
    """Leave to each shapelet at most so many channels, as far as its discrepancy can leave out any.

    Those of its largest weights, none much fainter than the largest. Of these, one after another goes
    without which the loss of the model, as it is, does not rise; each shapelet is judged by itself.
    """
    weights = _weights(model)
    largest = weights.argsort(dim=1, descending=True, stable=True)
    left_out = weights < FAINT * weights.amax(dim=1, keepdim=True)
    measure = model.transform.discrepancy
    measure.leave_out(left_out.scatter(1, largest[:, n_channels:], True))
    order = np.lexsort(task.truth.cpu().numpy().T)  # so that each class keeps its share
    some = order[:: math.ceil(len(order) / SEEN)]
    index = torch.from_numpy(some).to(task.target.device)
    task = replace(task, target=task.target[index], weight=task.weight[index])
    while (idle := _idle(model, paths[some], task)).any():
        measure.leave_out(idle)


def _idle(model: ShapeletModel, paths: Paths, task: Task) -> Tensor:
    """Of each shapelet the channel that it needs least, if it needs it not, (shapelets, channels) bool.

    Without a channel it finds its best places anew, and its feature keeps its mean and deviation.
    """
    weights = _weights(model)
    idle = torch.zeros_like(weights, dtype=torch.bool)
    several = (weights != 0).sum(dim=1, keepdim=True) > 1
    pairs = ((weights != 0) & several).nonzero()
    if not len(pairs):
        return idle
    fewer, row = model.chosen(pairs[:, 0].tolist()), torch.arange(len(pairs))
    left_out = torch.zeros(len(pairs), weights.shape[1], dtype=torch.bool)
    left_out[row, pairs[:, 1]] = True
    fewer.transform.discrepancy.leave_out(left_out)
    can_be_left_out = _weights(fewer)[row, pairs[:, 1]] == 0
    discrepancy = model.discrepancies(paths)
    output = model.outputs(discrepancy, paths.covariates)
    features = model.features(discrepancy.double())
    others = fewer.features(fewer.discrepancies(paths).double())
    spread, weight = features.std(dim=0, correction=0), model.linear()[0]
    change = _standardised(others) - _standardised(features)[:, pairs[:, 0]]
    least = torch.full((len(weights),), float(task.loss(output.float(), task.target, task.weight)))
    for (shapelet, channel), by, able in zip(
        pairs.tolist(), change.T, can_be_left_out, strict=True
    ):
        without = output + by[:, None] * spread[shapelet] * weight[:, shapelet]
        loss = float(task.loss(without.float(), task.target, task.weight))
        if able and loss <= least[shapelet]:
            least[shapelet] = loss
            idle[shapelet] = False
            idle[shapelet, channel] = True
    return idle


def _standardised(features: Tensor) -> Tensor:
    deviation = features.std(dim=0, correction=0)
    return (features - features.mean(dim=0)) / deviation.clamp(min=1e-9)


def _weights(model: ShapeletModel) -> Tensor:
    """How much each channel counts, (shapelets, channels), on the CPU."""
    weights = model.transform.discrepancy.channel_weights(len(model.centre))
    return weights.detach().cpu().expand(len(model.feature_mean), -1)
