"""Which few channels each shapelet sees."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor

from .model import ShapeletModel
from .paths import Paths
from .training import Task

FAINT = 0.5  # weight of a channel, relative to that which counts most, below which it is left out
AS_TELLING = 0.98  # share of what a shapelet tells that it must still tell without a channel
SEEN = 1000  # series that this is judged by


@torch.no_grad()
def narrow(model: ShapeletModel, paths: Paths, task: Task, n_channels: int) -> None:
    """Leave to each shapelet at most so many channels, as far as its discrepancy can leave out any.

    Those of its largest weights, none much fainter than the largest. Of these, one after another goes
    without which the shapelet tells as much of the targets.
    """
    measure = model.transform.discrepancy
    size = _weights(model)
    largest = size.argsort(dim=1, descending=True, stable=True)
    left_out = size < FAINT * size.amax(dim=1, keepdim=True)
    measure.leave_out(left_out.scatter(1, largest[:, n_channels:], True))
    truth = task.truth.double()
    order = np.lexsort(truth.cpu().numpy().T)
    some = order[:: math.ceil(len(order) / SEEN)]
    paths, truth, importance = paths[some], truth[some], task.weight.double()[some]
    told = telling(model, paths, truth, importance)
    unsettled = torch.ones(len(told), dtype=torch.bool)
    while True:
        seen = _weights(model) != 0
        several = unsettled & (seen.sum(dim=1) > 1)
        pairs = (seen & several[:, None]).nonzero()
        if not len(pairs):
            break
        without = _without(model, pairs)
        able = _weights(without)[torch.arange(len(pairs)), pairs[:, 1]] == 0
        if not able.any():
            break
        pairs, without = pairs[able], without.chosen(able.nonzero()[:, 0].tolist())
        tells = torch.zeros_like(seen, dtype=torch.float64)
        tells[pairs[:, 0], pairs[:, 1]] = telling(without, paths, truth, importance)
        most, channel = tells.max(dim=1)
        unsettled = several & (most > 0) & (most >= AS_TELLING * told)
        left_out = torch.zeros_like(seen)
        left_out[unsettled, channel[unsettled]] = True
        measure.leave_out(left_out)
        told = torch.where(unsettled, most, told)


def telling(model: ShapeletModel, paths: Paths, truth: Tensor, importance: Tensor) -> Tensor:
    """Variance of the targets that each feature explains alone, (shapelets,)."""
    share = (importance / importance.sum())[:, None]
    features = model.features(model.discrepancies(paths).double()).cpu()
    features = features - (share * features).sum(dim=0)
    truth = truth - (share * truth).sum(dim=0)
    variance = (share * features.square()).sum(dim=0)
    joint = (features.T @ (share * truth)).square().sum(dim=1)
    return torch.where(variance > 0, joint / variance, 0.0)


def _weights(model: ShapeletModel) -> Tensor:
    n_shapelets = len(model.feature_mean)
    weights = model.transform.discrepancy.channel_weights(len(model.centre))
    return weights.detach().cpu().expand(n_shapelets, -1)


def _without(model: ShapeletModel, pairs: Tensor) -> ShapeletModel:
    """A model of a shapelet for each pair, which leaves out a channel."""
    probe = model.chosen(pairs[:, 0].tolist())
    left_out = torch.zeros(len(pairs), len(model.centre), dtype=torch.bool)
    left_out[torch.arange(len(pairs)), pairs[:, 1]] = True
    probe.transform.discrepancy.leave_out(left_out)
    return probe
