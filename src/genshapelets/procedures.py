"""Ways from training series to a model ready to train: the default one, the paper's, that of 2014."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from .cepstrum import MelFrequencyCepstrum
from .covariates import Covariates
from .discrepancies import ClassicalDiscrepancy, Discrepancy, L2Discrepancy, MixedDiscrepancy
from .elimination import eliminate
from .initial import kmeans_windows, random_windows
from .kinds import Metric, kinds_of, make_discrepancy
from .minimum import MINIMA, Minimum
from .model import ShapeletModel
from .paths import Array, Paths
from .search import has_fast_search
from .selection import choose_shapelets, draw_candidates
from .shapelets import FAMILIES, ShapeletFamily
from .sizes import Stage, sizes_between
from .training import OneCycle, Plan, Plateau
from .transform import GeneralisedShapeletTransform


@dataclass(frozen=True)
class Procedure:
    """Everything that a procedure decides unless the user does.

    Attributes
    ----------
    n_shapelets : int or None
        At the end of training; None: chosen by the loss of series held out.
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
    initial : str
        How shapelets start: "windows" of random series, centres of "kmeans", or those that separate the
        targets best ("search").
    length_is_bound : bool
        Whether one initial length of a user is the paper's hyperparameter: that plus 0.1 becomes the
        longest allowed length, and lengths start from half of it up.
    epsilon, per_length, log
        As in `ShapeletModel`.
    standardise_features : bool
        Whether the head sees features of mean 0 and deviation 1, as they are before training.
    plan : Plan
    min_steps : int
        Epochs are added until training takes this number of steps.
    most : int
        At the end of training, if their number is chosen.
    first : int
        How many shapelets training starts with, if that is more than it ends with.
    candidates : int
        For each of these, so many random windows, of which a linear model chooses.
    later : Plan, optional
        How models are trained that were cut from a larger one; None: none are.
    max_epochs : int or None
        Epochs of all models together, if a user has said so.
    max_channels : int or None
        How many channels a shapelet sees at most, where each has a diagonal metric of its own.
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
    scale_free : float
        Share of the shapelets that ignore a window's level and its scale: first of those that are not
        level-free.
    search : str
    minimum : str or Minimum
        One of `MINIMA`, or one to be copied.
    """

    n_shapelets: int | None
    n_knots: int | None
    initial_length: tuple[float, float]
    max_length: float
    level_free: float
    shared_metric: bool
    initial: str
    length_is_bound: bool
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
    scale_free: float = 0.0
    search: str = "auto"
    log: bool = True
    minimum: str | Minimum = "min"
    most: int = 0
    first: int = 0
    candidates: int = 1
    later: Plan | None = None
    max_epochs: int | None = None
    max_channels: int | None = None

    def adapted(self, choices: dict[str, Any]) -> Procedure:
        """Take a user's choices, where they are not None."""
        chosen = {name: value for name, value in choices.items() if value is not None}
        kinds = kinds_of(chosen.get("discrepancy", self.discrepancy))
        if "n_knots" not in chosen and any(kind.needs_samples for kind in kinds):
            chosen["n_knots"] = None
        of_plan = {"batch_size", "gamma", "own_class", "learn"} & chosen.keys()
        for_plan = {name: chosen.pop(name) for name in of_plan}
        faster = chosen.pop("learning_rate", self.plan.schedule.rate) / self.plan.schedule.rate
        length = chosen.pop("initial_length", None)
        if length is not None:
            chosen |= self._lengths(length)
        plan, later = (
            plan and replace(plan, schedule=plan.schedule.faster(faster), **for_plan)
            for plan in (self.plan, self.later)
        )
        assert plan is not None
        return replace(self, plan=plan, later=later, **chosen)

    def for_classes(self, n_classes: int) -> Procedure:
        """Start with more shapelets where there are many classes, if some are dropped later."""
        first = max(self.first, FIRST_PER_CLASS * n_classes)
        return self if self.later is None else replace(self, first=first)

    def stages(self, n_series: int, fewest: int | None) -> list[Stage]:
        """From many shapelets to few, how each number of them is trained.

        The path ends at the number that was asked for, or else at ``fewest``. None: shapelets cannot be
        dropped, because the head is not linear or the discrepancy is made for just so many, and there
        is one stage.
        """
        few = self.n_shapelets or fewest or self.first
        sizes = self._sizes(few) if self.later is not None and fewest else [few]
        n_batches = math.ceil(n_series / self.plan.batch_size)
        stages = []
        for number, size in enumerate(sizes):
            plan, steps = self.plan, float(self.min_steps)
            if number and self.later is not None:
                plan, steps = self.later, min(LATER_STEPS, LATER_BUDGET / size)
            if size > self.largest:
                plan = replace(plan, near=False, n_reasons=0)
            epochs = max(plan.max_epochs, math.ceil(steps / n_batches))
            stages.append(Stage(size, replace(plan, max_epochs=epochs)))
        if self.max_epochs is None:
            return stages
        shown = np.linspace(len(stages) - 1, 0, min(self.max_epochs, len(stages)))
        stages = [stages[place] for place in sorted(shown.round().astype(int).tolist())]
        shares = _shared([stage.plan.max_epochs for stage in stages], self.max_epochs)
        return [
            Stage(size, replace(plan, max_epochs=share))
            for (size, plan), share in zip(stages, shares, strict=True)
        ]

    @property
    def largest(self) -> int:
        """Size above which models are only on the way to smaller ones."""
        return max(self.most, self.n_shapelets or 0)

    def _sizes(self, few: int) -> list[int]:
        """Numbers of shapelets on the way to few, ``most`` among them."""
        wider = WIDER if _all_l2(self.discrepancy) else SLOW_WIDER
        many = min(self.first, wider * self.n_shapelets) if self.n_shapelets else self.first
        between = [self.most] if few < self.most < many else []
        sizes = [max(many, few)]
        for end in [*between, few]:
            sizes += sizes_between(sizes[-1], end)[1:]
        return sizes

    def _lengths(self, length: float | tuple[float, float]) -> dict[str, Any]:
        """Range of initial lengths and bound from what the user gave: one fraction or two."""
        if isinstance(length, tuple):
            return {"initial_length": length, "max_length": max(self.max_length, length[1])}
        if self.length_is_bound:
            longest = min(length + 0.1, 1.0)
            return {"initial_length": (0.5 * longest, longest), "max_length": longest}
        return {"initial_length": (length, length)}


class Given(NamedTuple):
    """What a model is made for.

    Attributes
    ----------
    paths : Paths
        Standardised training series.
    target : (series,) ints, (series, outputs) floats or None
        Integers: classes, so that each gets its share of the first shapelets. Floats: numbers.
    truth : (series, columns) array or None
        0 and 1 for each class or label, or numbers.
    moments : (channels,) and (channels,) arrays
        Centre and scale, what the series were standardised by.
    head : nn.Module or None
        None: a linear map.
    n_outputs : int
    covariates : Covariates or None
        What is known of the series beside their paths, which hold the values.
    """

    paths: Paths
    target: NDArray[Any] | None
    truth: Array | None
    moments: tuple[Array, Array]
    head: nn.Module | None
    n_outputs: int
    covariates: Covariates | None = None


def build(procedure: Procedure, given: Given, random: np.random.Generator) -> ShapeletModel:
    """Make the model that training starts from, of ``procedure.n_shapelets`` shapelets."""
    paths, truth = given.paths, given.truth
    if truth is None or given.head is not None or not _can_choose(procedure):
        return _drawn(procedure, given, random)
    n_shapelets = procedure.n_shapelets or procedure.first
    many = procedure.candidates * n_shapelets
    model = _drawn(replace(procedure, n_shapelets=many, standardise_features=False), given, random)
    seen = np.unique(np.linspace(0, len(paths) - 1, SEEN).round().astype(np.int64))
    features = model.features(model.discrepancies(paths[seen])).detach().double().cpu().numpy()
    beside = None if paths.covariates is None else paths.covariates[seen]
    model = model.chosen(eliminate(features, truth[seen], n_shapelets, beside=beside).tolist())
    if procedure.standardise_features:
        model.standardise_features(paths)
    return model


def _can_choose(procedure: Procedure) -> bool:
    """Whether first shapelets are chosen from many windows: those of L2, whose search is fast."""
    return (
        procedure.candidates > 1
        and procedure.initial == "windows"
        and not isinstance(procedure.discrepancy, Discrepancy)
        and _all_l2(procedure.discrepancy)
    )


def _all_l2(discrepancy: str | dict[str, float] | Discrepancy) -> bool:
    return all(kind.of is L2Discrepancy for kind in kinds_of(discrepancy))


def _drawn(procedure: Procedure, given: Given, random: np.random.Generator) -> ShapeletModel:
    """A model whose shapelets start as the procedure says."""
    paths, target = given.paths, given.target
    counts_samples = any(kind.of.counts_samples for kind in kinds_of(procedure.discrepancy))
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
    n_shapelets = procedure.n_shapelets or procedure.first
    if procedure.initial == "search":
        tried = np.geomspace(low, high, N_LENGTHS)
        if counts_samples:  # the very samples
            tried = np.array([(n_knots - 1) * gap])
        values, lengths, measure = _searched(procedure, paths, target, tried, n_knots, random)
        longest = max(longest, float(lengths.max()))
    elif procedure.initial == "kmeans":
        lengths = random.uniform(low, high, n_shapelets)
        length = longest if procedure.length_is_bound else high
        values = kmeans_windows(paths, n_shapelets, length, n_knots, random)
        measure = _measure(procedure, paths, n_shapelets, random)
    else:
        lengths = np.exp(random.uniform(math.log(low), math.log(high), n_shapelets))
        classes = target if target is not None and target.dtype.kind == "i" else None
        values = random_windows(paths, lengths, n_knots, classes, random)
        measure = _measure(procedure, paths, n_shapelets, random)
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
    minimum = procedure.minimum
    transform = GeneralisedShapeletTransform(
        shapelets,
        measure,
        search=procedure.search,
        minimum=MINIMA[minimum]() if isinstance(minimum, str) else copy.deepcopy(minimum),
    )
    model = ShapeletModel(
        transform,
        _linear(n_shapelets, given.n_outputs) if given.head is None else copy.deepcopy(given.head),
        *given.moments,
        epsilon=procedure.epsilon,
        per_length=procedure.per_length,
        log=procedure.log,
    )
    model.covariates = given.covariates
    if procedure.standardise_features:
        model.standardise_features(paths)
    return model


def _shared(counts: list[int], total: int) -> list[int]:
    """Share out a total in proportion to counts, at least 1 to each."""
    spare = total - len(counts)
    shares = [1 + spare * count // sum(counts) for count in counts]
    return [shares[0] + total - sum(shares), *shares[1:]]


def _searched(
    procedure: Procedure,
    paths: Paths,
    target: NDArray[Any] | None,
    lengths: Array,
    n_knots: int,
    random: np.random.Generator,
) -> tuple[Array, Array, Discrepancy]:
    """Values and lengths of the windows that separate targets best, and the discrepancy of those.

    Each candidate sees what a shapelet sees at the start: its level or not, its own few channels.
    """
    if target is None:
        raise ValueError(
            'initial="search" chooses shapelets by how well they separate targets, and there are '
            'none. Give y, or use initial="windows" or "kmeans".'
        )
    n_shapelets = procedure.n_shapelets or procedure.first
    some = _measure(procedure, paths, n_shapelets, random)
    some.check(n_shapelets, paths.n_channels)
    if isinstance(some, MixedDiscrepancy):  # each part chooses as many as it measures
        given = procedure.discrepancy
        parts: list[Any] = list(given) if isinstance(given, dict) else list(some.parts)
        found = [
            _searched(
                replace(procedure, discrepancy=part, n_shapelets=count),
                paths, target, lengths, n_knots, random,
            )
            for part, count in zip(parts, some.counts, strict=True)
        ]  # fmt: skip
        each_values, each_lengths, measures = zip(*found, strict=True)
        return (
            np.concatenate(each_values),
            np.concatenate(each_lengths),
            MixedDiscrepancy(measures, some.counts),
        )
    per_shapelet = CANDIDATES if has_fast_search(some) else SLOW_CANDIDATES
    candidates = draw_candidates(paths, lengths, per_shapelet * n_shapelets, target, random)
    if isinstance(procedure.discrepancy, Discrepancy):
        measure = some.chosen([k % n_shapelets for k in range(len(candidates))])
    else:
        measure = _measure(procedure, paths, len(candidates), random)
    chosen = choose_shapelets(
        paths, target, measure, candidates, n_shapelets, n_knots, search=procedure.search
    )
    again = np.arange(n_shapelets) % len(chosen.index)  # if there are fewer windows than shapelets
    return (
        chosen.values[again],
        chosen.lengths[again],
        measure.chosen(chosen.index[again].tolist()),
    )


FIRST_PER_CLASS = 10  # of the first shapelets
WIDER = 10  # times as many shapelets as are asked for are trained at first, at most
SLOW_WIDER = 2  # the same, by another discrepancy than L2
LATER_STEPS = 150  # of a model that was cut from a larger one, at most
LATER_BUDGET = 4000  # such steps times shapelets
SEEN = 2000  # series that choose the first shapelets
N_LENGTHS = 8  # of the windows that a search chooses from
CANDIDATES = 20  # windows for each shapelet
SLOW_CANDIDATES = 3  # the same, where no fast search is known


def _measure(
    procedure: Procedure, paths: Paths, n_shapelets: int, random: np.random.Generator
) -> Discrepancy:
    """What the user gave, copied; or what a name, or several with their shares, stand for."""
    given = procedure.discrepancy
    if isinstance(given, Discrepancy):
        return copy.deepcopy(given).float()
    return make_discrepancy(given, procedure, paths, n_shapelets, random)


PREPROCESSING: dict[str, type[Any]] = {"mfc": MelFrequencyCepstrum}


def _linear(n_inputs: int, n_outputs: int) -> nn.Linear:
    """Linear map that starts at zero: no randomness, and no class is preferred."""
    head = nn.Linear(n_inputs, n_outputs)
    nn.init.zeros_(head.weight)
    nn.init.zeros_(head.bias)
    return head


def _single(array: Array) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(array, dtype=np.float32))


PROCEDURES = {
    "default": Procedure(
        n_shapelets=None,
        n_knots=24,
        initial_length=(0.05, 0.8),
        max_length=1.0,
        level_free=0.5,
        shared_metric=False,
        initial="windows",
        length_is_bound=False,
        epsilon=1e-2,
        per_length=True,
        standardise_features=True,
        plan=Plan(
            OneCycle(0.02),
            max_epochs=15,
            batch_size=256,
            gamma=1e-4,
            own_class="training",
            dropout=0.5,
            near=True,
        ),
        later=Plan(
            OneCycle(0.01, rising=0.1),
            max_epochs=2,
            batch_size=256,
            gamma=1e-4,
            own_class="training",
            dropout=0.15,
            near=True,
            n_reasons=13,
        ),
        most=60,
        first=100,
        candidates=10,
        max_channels=3,
        min_steps=150,
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
        initial="kmeans",
        length_is_bound=True,
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
    # Learning Shapelets (Grabocka et al. 2014): the mean of squares over samples, a soft minimum over
    # all offsets, k-means centres of the segments at the start, a linear head on the soft minima
    # themselves, an L2 penalty on its weights. What differs: all shapelets have one length (classical
    # ones share their number of knots), not several scales; classes compete in one softmax, not in a
    # logistic loss for each; Adam and a cycle of rates, not AdaGrad; channels are standardised.
    "learning_shapelets": Procedure(
        n_shapelets=30,
        n_knots=None,
        initial_length=(0.2, 0.2),
        max_length=0.2,
        level_free=0.0,
        shared_metric=True,
        initial="kmeans",
        length_is_bound=False,
        epsilon=0.0,
        per_length=False,
        standardise_features=False,
        plan=Plan(
            OneCycle(0.05),
            max_epochs=300,
            batch_size=256,
            gamma=0.0,
            own_class=False,
            ridge=0.01,
        ),
        min_steps=1000,
        validation=0.0,
        smoothing=0.0,
        discrepancy=ClassicalDiscrepancy(mean=True),
        log=False,
        minimum="softmin",
    ),
}
