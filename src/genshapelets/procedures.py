"""Two ways from training series to a model ready to train: the default one and the paper's."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from .cepstrum import MelFrequencyCepstrum
from .discrepancies import (
    ClassicalDiscrepancy,
    Discrepancy,
    L2Discrepancy,
    MixedDiscrepancy,
)
from .initial import kmeans_windows, random_windows
from .model import ShapeletModel
from .paths import Array, Index, Paths
from .shapelets import FAMILIES, ShapeletFamily
from .training import OneCycle, Plan, Plateau
from .transform import GeneralisedShapeletTransform

Metric = Literal["none", "diagonal", "full"]


@dataclass(frozen=True)
class Procedure:
    """Everything that a procedure decides unless the user does.

    Attributes
    ----------
    n_shapelets : int
    n_knots : int or None
        None: as many as there are samples in the longest allowed length, at least 7.
    initial_length : (low, high)
        Lengths start between these fractions of the longest training span.
    max_length : float
        Longest allowed length, as such a fraction.
    level_free : float
        Share of the shapelets that ignore a window's level.
    shared_metric : bool
        One metric for all shapelets, or one for each.
    start : function of (paths, lengths, longest length, n_knots, labels, random)
        First values of the shapelets, (shapelets, channels, knots).
    epsilon, per_length
        As in `ShapeletModel`.
    standardise_features : bool
        Whether the head sees features of mean 0 and deviation 1, as they are before training.
    plan : Plan
    min_steps : int
        Epochs are added until training takes this number of steps.
    validation : float
        Share of the series held out to stop by; 0: none.
    smoothing : float
        Label smoothing.
    discrepancy : str, dict or Discrepancy
        One of `DISCREPANCIES`; shares of several of them; or a discrepancy to be copied.
    metric : str
        What discrepancies given by name learn.
    shapelets : str or function of (values, lengths, longest length)
        One of `genshapelets.shapelets.FAMILIES`, or what makes shapelets.
    search : str
    """

    n_shapelets: int
    n_knots: int | None
    initial_length: tuple[float, float]
    max_length: float
    level_free: float
    shared_metric: bool
    start: Callable[..., Array]
    epsilon: float
    per_length: bool
    standardise_features: bool
    plan: Plan
    min_steps: int
    validation: float
    smoothing: float
    discrepancy: str | dict[str, float] | Discrepancy = "l2"
    metric: Metric = "diagonal"
    shapelets: str | Callable[..., ShapeletFamily] = "knots"
    search: str = "auto"

    def adapted(self, choices: dict[str, Any], n_series: int) -> Procedure:
        """Take a user's choices, where they are not None, and fit the plan to the number of series."""
        plan = self.plan
        n_batches = math.ceil(n_series / (choices.get("batch_size") or plan.batch_size))
        plan = replace(plan, max_epochs=max(plan.max_epochs, math.ceil(self.min_steps / n_batches)))
        of_plan = {"max_epochs", "batch_size", "gamma", "own_class"}
        chosen = {name: value for name, value in choices.items() if value is not None}
        rate = chosen.pop("learning_rate", None)
        if rate is not None:
            plan = replace(plan, schedule=replace(plan.schedule, rate=rate))
        plan = replace(plan, **{name: chosen.pop(name) for name in of_plan & chosen.keys()})
        length = chosen.pop("initial_length", None)
        if length is not None:
            chosen |= self._lengths(length)
        return replace(self, plan=plan, **chosen)

    @property
    def counts_samples(self) -> bool:
        """Whether shapelets are numbers of samples."""
        if isinstance(self.discrepancy, dict):
            return False
        if isinstance(self.discrepancy, str):
            return DISCREPANCIES[self.discrepancy].of.counts_samples
        return self.discrepancy.counts_samples

    def n_metrics(self, n_shapelets: int) -> int | None:
        """How many metrics shapelets have: one each, or None: they share one, or learn none."""
        return None if self.shared_metric or self.metric == "none" else n_shapelets

    def _lengths(self, length: float | tuple[float, float]) -> dict[str, Any]:
        """Range of initial lengths and bound from what the user gave: one fraction or two."""
        if isinstance(length, tuple):
            return {"initial_length": length}
        if self.start is _start_kmeans:
            longest = min(length + 0.1, 1.0)
            return {"initial_length": (0.5 * longest, longest), "max_length": longest}
        return {"initial_length": (length, length)}


def build(
    procedure: Procedure,
    paths: Paths,
    labels: Index | None,
    moments: tuple[Array, Array],
    head: nn.Module | None,
    n_outputs: int,
    random: np.random.Generator,
) -> ShapeletModel:
    """Make the model that training starts from.

    Parameters
    ----------
    procedure : Procedure
    paths : Paths
        Standardised training series.
    labels : (series,) int array, optional
        Classes, so that each gets its share of the first shapelets.
    moments : (channels,) and (channels,) arrays
        Centre and scale, what the series were standardised by.
    head : nn.Module, optional
        Default: a linear map.
    n_outputs : int
    random : numpy.random.Generator
    """
    counts_samples = procedure.counts_samples
    longest_span = float(paths.spans.max())
    gap = longest_span / max(int(paths.lengths.max()) - 1, 1)
    longest = procedure.max_length * longest_span
    low, high = (fraction * longest_span for fraction in procedure.initial_length)
    n_knots = procedure.n_knots or max(7, round(longest / gap) + 1)
    if counts_samples:
        # As in equation (2): all shapelets have one length for ever.
        low = longest = high
        n_knots = max(2, min(round(high / gap) + 1, int(paths.lengths.max())))
    # A window of less than two gaps would hold hardly an observation.
    low = min(max(low, 2 * gap), high)
    n_shapelets = procedure.n_shapelets
    if procedure.start is _start_kmeans:
        lengths = random.uniform(low, high, n_shapelets)
    else:
        lengths = np.exp(random.uniform(math.log(low), math.log(high), n_shapelets))
    values = procedure.start(paths, lengths, longest, n_knots, labels, random)
    family = procedure.shapelets
    make = FAMILIES[family] if isinstance(family, str) else family
    shapelets = make(_single(values), _single(lengths), longest * (1 + 1e-6))
    if not isinstance(shapelets, ShapeletFamily):
        raise TypeError(
            f"what is given as shapelets must make shapelets, instances of ShapeletFamily; got "
            f"{type(shapelets).__name__}."
        )
    if counts_samples:
        shapelets.raw_lengths.requires_grad_(False)
    measure = _discrepancy(procedure, paths, random)
    transform = GeneralisedShapeletTransform(shapelets, measure, search=procedure.search)
    model = ShapeletModel(
        transform,
        _linear(n_shapelets, n_outputs) if head is None else copy.deepcopy(head),
        *moments,
        epsilon=procedure.epsilon,
        per_length=procedure.per_length,
    )
    if procedure.standardise_features:
        model.standardise_features(paths)
    return model


def _discrepancy(procedure: Procedure, paths: Paths, random: np.random.Generator) -> Discrepancy:
    """What the user gave, copied; or what a name, or several with their shares, stand for."""
    given, n_shapelets = procedure.discrepancy, procedure.n_shapelets
    if isinstance(given, Discrepancy):
        return copy.deepcopy(given).float()
    if isinstance(given, str):
        return DISCREPANCIES[given].make(procedure, paths, n_shapelets, random)
    counts = _counts(list(given.values()), n_shapelets)
    parts = [
        DISCREPANCIES[name].make(procedure, paths, count, random)
        for name, count in zip(given, counts, strict=True)
    ]
    return MixedDiscrepancy(parts, counts)


def _counts(shares: list[float], n_shapelets: int) -> list[int]:
    """Share out shapelets, at least one to each share."""
    if n_shapelets < len(shares):
        raise ValueError(
            f"{n_shapelets} shapelets cannot be shared by {len(shares)} discrepancies. Raise "
            "n_shapelets."
        )
    ends = np.round(np.cumsum(shares) / np.sum(shares) * n_shapelets).astype(int)
    counts = np.maximum(np.diff(ends, prepend=0), 1)
    while counts.sum() > n_shapelets:
        counts[counts.argmax()] -= 1
    return counts.tolist()


def _l2(
    procedure: Procedure, paths: Paths, n_shapelets: int, random: np.random.Generator
) -> Discrepancy:
    metric, n_channels = procedure.metric, paths.n_channels
    n_level_free = round(procedure.level_free * n_shapelets)
    level_free = random.permutation(np.arange(n_shapelets) < n_level_free)
    n_metrics = procedure.n_metrics(n_shapelets)
    measure = L2Discrepancy(
        n_channels, metric, n_shapelets=n_metrics, level_free=level_free.tolist()
    )
    if n_metrics is not None and metric == "diagonal" and measure.weight is not None:
        weight = _few_channels(n_shapelets, n_channels, random)
        with torch.no_grad():
            measure.weight.copy_(_single(weight))
    return measure


def _classical(*_: Any) -> Discrepancy:
    return ClassicalDiscrepancy()


class Kind(NamedTuple):
    """A discrepancy that has a name: its class, and what makes one for given training paths."""

    of: type[Discrepancy]
    make: Callable[[Procedure, Paths, int, np.random.Generator], Discrepancy]


DISCREPANCIES = {
    "l2": Kind(L2Discrepancy, _l2),
    "classical": Kind(ClassicalDiscrepancy, _classical),
}


PREPROCESSING: dict[str, type[Any]] = {"mfc": MelFrequencyCepstrum}


def _few_channels(n_shapelets: int, n_channels: int, random: np.random.Generator) -> Array:
    """First scales of the channels: most shapelets look at a random few of them."""
    weight = np.ones((n_shapelets, n_channels))
    for k in range(n_shapelets):
        if random.random() < LOOK_AT_FEW:
            few = random.integers(1, max(math.ceil(n_channels / 2), 1) + 1)
            weight[k] = FAINT
            weight[k, random.choice(n_channels, few, replace=False)] = 1.0
    return weight / np.sqrt((weight**2).mean(axis=1, keepdims=True))


LOOK_AT_FEW = 0.7  # share of the shapelets that start on some of the channels
FAINT = 0.1  # scale of the other channels: not 0, from where no gradient leads away


def _linear(n_inputs: int, n_outputs: int) -> nn.Linear:
    """Linear map that starts at zero: no randomness, and no class is preferred."""
    head = nn.Linear(n_inputs, n_outputs)
    nn.init.zeros_(head.weight)
    nn.init.zeros_(head.bias)
    return head


def _single(array: Array) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(array, dtype=np.float32))


def _start_windows(
    paths: Paths,
    lengths: Array,
    longest: float,  # noqa: ARG001
    n_knots: int,
    labels: Index | None,
    random: np.random.Generator,
) -> Array:
    return random_windows(paths, lengths, n_knots, labels, random)


def _start_kmeans(
    paths: Paths,
    lengths: Array,
    longest: float,
    n_knots: int,
    labels: Index | None,  # noqa: ARG001
    random: np.random.Generator,
) -> Array:
    return kmeans_windows(paths, len(lengths), longest, n_knots, random)


PROCEDURES = {
    "default": Procedure(
        n_shapelets=200,
        n_knots=24,
        initial_length=(0.05, 0.8),
        max_length=1.0,
        level_free=0.5,
        shared_metric=False,
        start=_start_windows,
        epsilon=1e-2,
        per_length=True,
        standardise_features=True,
        plan=Plan(
            OneCycle(0.02),
            max_epochs=60,
            batch_size=256,
            gamma=1e-4,
            own_class=True,
            dropout=0.5,
        ),
        min_steps=300,
        validation=0.0,
        smoothing=0.05,
    ),
    "paper": Procedure(
        n_shapelets=30,
        n_knots=None,
        initial_length=(0.3, 0.6),
        max_length=0.6,
        level_free=0.0,
        shared_metric=True,
        start=_start_kmeans,
        epsilon=1e-5,
        per_length=False,
        standardise_features=False,
        plan=Plan(
            Plateau(0.05),
            max_epochs=250,
            batch_size=1024,
            gamma=1e-4,
            own_class=False,
            metric_rate=0.05,
            length_rate=0.1,
        ),
        min_steps=0,
        validation=0.2,
        smoothing=0.0,
    ),
}
