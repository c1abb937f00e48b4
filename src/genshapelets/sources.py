"""The training window that each shapelet stands for, and shapelets held near theirs."""

from __future__ import annotations

import copy
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from .evaluation import evaluate
from .initial import windows_at
from .model import ShapeletModel
from .offsets import Offsets
from .paths import Array, Paths
from .shapelets import Shapelets
from .shown import count, few

FARTHEST = 0.3  # from its own window, relative to random windows of its length
N_WINDOWS = 64  # random ones


class Sources(NamedTuple):
    """The window of the training series that is most like each shapelet.

    Attributes
    ----------
    series : (shapelets,) array
        Its position in the batch, or of a fitted estimator its id if series have such.
    start : (shapelets,) array
        As the series count time, or of a fitted estimator as the user does.
    values : (shapelets, channels, knots) array
        At even knots, as the model sees them: standardised; or in the units of the data.
    discrepancy : (shapelets,) array
    """

    series: NDArray[Any]
    start: NDArray[Any]
    values: Array
    discrepancy: Array

    def __repr__(self) -> str:
        return f"Sources({count(len(self.series), 'window')} of series {few(self.series)})"


@torch.no_grad()
def find_sources(model: ShapeletModel, paths: Paths, size: int = 512) -> Sources:
    """Look for the nearest window of each shapelet, ``size`` paths at a time."""
    shapelets = model.transform.shapelets
    every = np.arange(shapelets.n_shapelets)
    series, start = np.zeros(len(every), np.int64), np.zeros(len(every))
    least = np.full(len(every), np.inf)
    for first in range(0, len(paths), size):
        matches = model.transform(paths[first : first + size])
        discrepancy = matches.discrepancy.double().cpu().numpy()
        nearest = discrepancy.argmin(axis=0)
        nearer = discrepancy[nearest, every] < least
        series[nearer] = first + nearest[nearer]
        start[nearer] = matches.start.cpu().numpy()[nearest, every][nearer]
        least[nearer] = discrepancy[nearest, every][nearer]
    lengths = shapelets.lengths.double().cpu().numpy()
    values = windows_at(paths, series, start, lengths, shapelets.n_knots)
    return Sources(series, start, values, least)


@torch.no_grad()
def hold_near(model: ShapeletModel, paths: Paths, random: np.random.Generator) -> None:
    """Move shapelets that have gone too far back to their training windows, into the data's range.

    Shapelets that are straight lines between knots; those that ignore level or scale take these from
    their window, too, so that they are drawn where they could have been seen.
    """
    shapelets, measure = model.transform.shapelets, model.transform.discrepancy
    if type(shapelets) is not Shapelets or measure.counts_samples:
        return
    sources = find_sources(model, paths)
    window = torch.from_numpy(sources.values)
    lengths = shapelets.lengths.double().cpu()
    times = lengths[:, None] * torch.linspace(0, 1, shapelets.n_knots, dtype=torch.float64)
    seen = shapelets.values.double().cpu()
    values = copy.deepcopy(measure).cpu().drawn(times, window.mT, seen.mT).mT
    usual = random_discrepancy(model, paths, N_WINDOWS, random).mean(axis=0)
    too_far = sources.discrepancy > FARTHEST * usual
    share = np.where(too_far, FARTHEST * usual / np.maximum(sources.discrepancy, 1e-300), 1.0)
    low, high = (torch.from_numpy(end(paths.values, axis=0))[:, None] for end in (np.min, np.max))
    values = window + torch.from_numpy(share)[:, None, None] * (values - window)
    shapelets.values.copy_(values.clamp(low, high))


@torch.no_grad()
def random_discrepancy(
    model: ShapeletModel, paths: Paths, n_windows: int, random: np.random.Generator
) -> Array:
    """Discrepancies from random windows of the paths, (windows, shapelets)."""
    shapelets, measure = model.transform.shapelets, model.transform.discrepancy
    some = paths[random.integers(len(paths), size=n_windows)]
    shape = (n_windows, shapelets.n_shapelets)
    lengths = shapelets.lengths.double().cpu().numpy()
    start = np.maximum(some.spans[:, None] - lengths, 0.0) * random.random(shape)
    if measure.counts_samples:
        n_places = np.maximum(some.lengths - shapelets.n_knots + 1, 1)
        start = random.integers(n_places[:, None], size=shape) * some.step[:, None]
    offsets = Offsets(
        start[..., None], np.zeros((*shape, 1)), np.ones(shape, np.int64), backend="random"
    )
    found = evaluate(measure, some, shapelets.values, shapelets.lengths, offsets)
    return found[..., 0].double().cpu().numpy()
