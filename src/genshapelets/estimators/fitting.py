"""From series and a goal to fitted models: many shapelets first, then fewer and fewer."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from ..checkpoints import Checkpoint
from ..covariates import Summary, find_covariates
from ..discrepancies import Discrepancy
from ..interpolation import Interpolation, make_interpolation
from ..model import ShapeletModel, check_judged, observed_moments, standardise
from ..pace import Leg, Pace
from ..paths import Array, Index, Paths, interpolate
from ..procedures import Given, Procedure, build
from ..progress import Progress
from ..series import RaggedSeries
from ..shown import count, few
from ..sizes import (
    FEWEST_HELD_OUT,
    Cut,
    Descent,
    Part,
    SizeChoice,
    SizePath,
    Stage,
)
from ..sources import Sources, find_sources
from .goals import Goal

TYPICAL = 1000  # training series that say how well a shapelet usually fits
HELD_OUT = 0.25  # share of the series that a number of shapelets is chosen by
FEWEST = 3  # shapelets that are tried, and half as many as there are classes
FEWEST_UNCHOSEN = 30  # the same, if there are too few series to choose their number


@dataclass(frozen=True, eq=False, repr=False)
class Fitted:
    """A model, and what training says about its shapelets.

    Attributes
    ----------
    model : ShapeletModel
    initial_lengths : (shapelets,) array
        As the series count time. None, and likewise below, for a model of an older file.
    typical_features, feature_spread : (shapelets,) arrays
        Mean and deviation of the features over (at most a thousand of) the training series.
    sources : Sources
        In the user's units. None if they were not kept in a file.
    """

    model: ShapeletModel
    initial_lengths: Array | None
    typical_features: Array | None
    feature_spread: Array | None
    sources: Sources | None = None

    def __repr__(self) -> str:
        shapelets, known = self.model.transform.shapelets, self.model.covariates
        beside = "" if known is None else f", covariates {few(known.names)}"
        return (
            f"Fitted({count(shapelets.n_shapelets, 'shapelet')}, "
            f"{count(shapelets.n_channels, 'channel')}, {count(shapelets.n_knots, 'knot')}{beside})"
        )


@dataclass(frozen=True, eq=False)
class Fit:
    """All models of a fit by their size, the path along them if there are several, and the history.

    ``shortened`` says what a limit of time has cut, if anything.
    """

    fitted: dict[int, Fitted]
    chosen: int
    path: SizePath | None = None
    history: dict[str, list[float]] = field(default_factory=dict)
    shortened: str | None = None


class Run(NamedTuple):
    """Models trained on some series, from many shapelets to few; the first one as it started."""

    cuts: list[Cut]
    first: ShapeletModel
    series: RaggedSeries
    paths: Paths
    history: dict[str, list[float]]


class Fitter:
    """Fit models to series.

    Parameters
    ----------
    procedure : Procedure
    interpolation : str or Interpolation
    head : nn.Module, optional
    summaries : names of `SUMMARIES`
        Of each channel, which the head knows, too.
    seed : int
    device : str, optional
    """

    def __init__(
        self,
        procedure: Procedure,
        interpolation: str | Interpolation,
        head: nn.Module | None,
        summaries: Collection[Summary],
        seed: int,
        device: str | None,
    ) -> None:
        self.procedure, self.interpolation, self.head = procedure, interpolation, head
        self.summaries, self.seed, self.device = summaries, seed, device

    def fit(
        self,
        series: RaggedSeries,
        goal: Goal | None,
        checkpoint: Checkpoint | None = None,
        verbose: bool = False,
        limit: float | None = None,
    ) -> Fit:
        """Fit models to all series and choose one; without a goal the shapelets stay as they start.

        ``limit`` are seconds to which the training is fitted.
        """
        parts = self._parts(goal)
        fewest = None
        if goal is not None and self.head is None and self._takes_any_number(series):
            fewest = FEWEST_UNCHOSEN if parts is None else max(FEWEST, goal.n_answers // 2)
        stages = self.procedure.stages(len(series), fewest)
        if goal is None:
            model, paths = self._start(series, None, np.arange(len(series)), stages[0].n_shapelets)
            only = Cut(model, np.arange(stages[0].n_shapelets))
            return Fit(_by_size(Run([only], model, series, paths, {})), len(only.origin))
        if len(stages) == 1:
            parts = None
        n_series = {} if parts is None else {"part": len(parts[0])}
        n_series["all"] = len(series)
        pace = self._pace(stages, n_series, limit)
        if checkpoint is not None and "pace" in checkpoint.contents:
            with checkpoint.understood():
                pace.restore(checkpoint.contents["pace"])
            stages = [stage for stage in stages if stage.n_shapelets not in pace.left_out]
        progress = Progress(pace, verbose)
        descent = Descent(stages, self.procedure.max_channels, self.seed, checkpoint, progress)
        try:
            with pace.listening():
                if parts is None:
                    run = self._descend(descent, "all", series, goal)
                    path = self._unmeasured(descent.stages, goal)
                else:
                    run, path = self._measured(descent, series, goal, parts)
                    if path is not None:
                        last = path.n_shapelets[-1]
                        descent.stages = [s for s in descent.stages if s.n_shapelets >= last]
                        pace.keep_only(lambda leg: leg.run == "all" and leg.n_shapelets >= last)
                        run = self._descend(descent, "all", series, goal)
        except (KeyboardInterrupt, SystemExit):
            if checkpoint is not None:
                checkpoint.write()
            raise
        finally:
            progress.close()
        if checkpoint is not None:
            checkpoint.write()
        if descent.interrupted:
            path = None
            warnings.warn(
                f"training was interrupted after {descent.n_epochs} of {pace.n_epochs} epochs; the "
                "model is the best one so far.",
                stacklevel=4,
            )
        if (needed := pace.too_short()) is not None:
            warnings.warn(
                "max_time is too short for this fit: there was time for a single step of training with "
                f"some numbers of shapelets. All that was planned would take about {needed}.",
                stacklevel=4,
            )
        chosen = len(run.cuts[-1].origin) if path is None else path.chosen
        return Fit(_by_size(run), chosen, path, run.history, pace.shortened())

    def _pace(self, stages: list[Stage], n_series: dict[str, int], limit: float | None) -> Pace:
        """What is to be trained in each run, on so many series."""
        largest, validation = self.procedure.largest, self.procedure.validation
        legs = [
            Leg(
                run,
                n_shapelets,
                plan.max_epochs,
                max(round((1 - validation) * number), 1),
                plan.batch_size,
                readable=n_shapelets <= largest and bool(plan.near or plan.n_reasons),
            )
            for run, number in n_series.items()
            for n_shapelets, plan in stages
        ]
        sizes = [stage.n_shapelets for stage in stages]
        kept = sizes[-1]
        if self.procedure.n_shapelets is None:
            kept = next((size for size in sizes if size <= largest), kept)
        return Pace(legs, limit, always=[sizes[0], kept])

    def _takes_any_number(self, series: RaggedSeries) -> bool:
        """Whether the discrepancy, if one is given, goes with more shapelets than it will have."""
        given = self.procedure.discrepancy
        if not isinstance(given, Discrepancy):
            return True
        try:
            given.check(
                max(self.procedure.first, self.procedure.n_shapelets or 0), series.n_channels
            )
        except ValueError:
            return False
        return True

    def _start(
        self, series: RaggedSeries, goal: Goal | None, training: Index, n_shapelets: int
    ) -> tuple[ShapeletModel, Paths]:
        """The first model, made for some of the series, and the paths of all."""
        centre, scale = observed_moments(series[training])
        standard = standardise(series, centre, scale)
        interpolation = make_interpolation(self.interpolation).fit(standard[training])
        paths = interpolate(interpolation(standard))
        n_outputs = 1 if goal is None else goal.n_outputs
        covariates = None
        if goal is not None:
            covariates = find_covariates(series, self.summaries, n_outputs)
        if covariates is not None:
            paths = replace(paths, covariates=covariates.values(series))
        given = Given(
            paths if len(training) == len(series) else paths[training],
            None if goal is None else goal.told_apart[training],
            None if goal is None else goal.truth[training],
            (centre, scale),
            self.head,
            n_outputs,
            covariates,
        )
        procedure = replace(self.procedure, n_shapelets=n_shapelets)
        model = build(procedure, given, np.random.default_rng(self.seed)).to(self.device)
        model.interpolation = interpolation
        return model, paths

    def _descend(
        self,
        descent: Descent,
        name: str,
        series: RaggedSeries,
        goal: Goal,
        enough: Callable[[ShapeletModel], bool] = lambda _: False,
    ) -> Run:
        """Train on series, down the stages until it is enough."""
        descent.progress.pace.start_run()
        training, stopping = np.arange(len(series)), None
        if self.procedure.validation and len(series) > 2:
            random = np.random.default_rng([self.seed, 1])
            training, stopping = goal.split(self.procedure.validation, random)
            stopping = stopping if len(stopping) else None
        model, paths = self._start(series, goal, training, descent.stages[0].n_shapelets)
        model.check_head(goal.n_outputs)
        if stopping is not None:
            _check_held_out(model.discrepancies(paths[stopping]), stopping, series)
        first = copy.deepcopy(model)
        parts = [
            None
            if chosen is None
            else Part(paths[chosen], goal.task(chosen, self.procedure.smoothing, self.device))
            for chosen in (training, stopping)
        ]
        assert parts[0] is not None
        cuts, history = descent.run(name, model, parts[0], parts[1], enough)
        cuts = [cut for cut in cuts if len(cut.origin) <= self.procedure.largest] or cuts[-1:]
        return Run(cuts, first, series, paths, history)

    def _parts(self, goal: Goal | None) -> tuple[Index, Index] | None:
        """Series to train on and to choose a size by; None if it is known, or if there are too few."""
        if goal is None or self.procedure.n_shapelets is not None:
            return None
        parts = goal.split(HELD_OUT, np.random.default_rng([self.seed, 2]))
        return None if len(parts[1]) < FEWEST_HELD_OUT else parts

    def _unmeasured(self, stages: Sequence[Stage], goal: Goal) -> SizePath | None:
        """A path of which nothing was held out."""
        if len(stages) == 1:
            return None
        sizes = np.array(
            [stage.n_shapelets for stage in stages if stage.n_shapelets <= self.procedure.largest]
        )
        chosen, rule = int(sizes[-1]), "it was asked for"
        if self.procedure.n_shapelets is None:
            chosen = int(sizes[0])
            rule = (
                f"the most that are kept: of {len(goal.target)} series too few can be held out to "
                f"choose by their loss ({FEWEST_HELD_OUT} are needed)"
            )
        unknown = np.full(len(sizes), np.nan)
        return SizePath(sizes, unknown, unknown, unknown, goal.score_name, chosen, rule)

    def _measured(
        self, descent: Descent, series: RaggedSeries, goal: Goal, parts: tuple[Index, Index]
    ) -> tuple[Run, SizePath | None]:
        """Train on one part and choose a size by the other."""
        training, held_out = parts
        others, their_goal = series[held_out], goal.of(held_out)

        @torch.no_grad()
        def judge(model: ShapeletModel) -> tuple[Array, float]:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a category of these alone is none of the user's
                paths = model.paths(others)
            discrepancies = model.discrepancies(paths)
            _check_held_out(discrepancies, held_out, series)
            return their_goal.judge(model.outputs(discrepancies, paths.covariates).cpu())

        def enough(model: ShapeletModel) -> bool:
            n_shapelets = model.transform.shapelets.n_shapelets
            return n_shapelets <= self.procedure.largest and choice.is_hopeless(model)

        choice = SizeChoice(judge, their_goal.guess())
        run = self._descend(descent, "part", series[training], goal.of(training), enough)
        if descent.interrupted:
            return run, None
        sizes = np.array([len(cut.origin) for cut in run.cuts])
        losses = np.stack(choice.losses)
        path = SizePath(
            sizes,
            losses.mean(axis=1),
            losses.std(axis=1, ddof=1) / np.sqrt(len(held_out)),
            np.array(choice.scores),
            goal.score_name,
            int(sizes[choice.smallest()]),
            f"the fewest whose loss on {len(held_out)} series held out is within one standard error of "
            f"the least, or within {choice.negligible:.2g}",
        )
        return run, path


def _check_held_out(discrepancies: Tensor, held_out: Index, series: RaggedSeries) -> None:
    """Refuse series that are not trained on and are too far from those that are."""
    judged = np.ones(len(series), bool)
    judged[held_out] = discrepancies.isfinite().all(dim=1).cpu().numpy()
    check_judged(judged, series)


@torch.no_grad()
def _by_size(run: Run) -> dict[int, Fitted]:
    """Each model with what its training series say about it."""
    series, paths = run.series, run.paths
    lengths = run.first.transform.shapelets.lengths.detach().cpu().numpy().astype(np.float64)
    chosen = np.unique(np.linspace(0, len(paths) - 1, TYPICAL).round().astype(np.int64))
    ids = np.arange(len(series)) if series.series_ids is None else series.series_ids
    fitted = {}
    for model, origin in run.cuts:
        model.requires_grad_(False).eval()
        features = model.features(model.discrepancies(paths[chosen]).double()).cpu().numpy()
        sources = find_sources(model, paths)
        centre, scale = (x.cpu().numpy()[:, None] for x in (model.centre, model.scale))
        fitted[len(origin)] = Fitted(
            model,
            lengths[origin],
            features.mean(axis=0),
            features.std(axis=0),
            sources._replace(
                series=ids[sources.series],
                start=series.to_user_time(sources.start),
                values=sources.values * scale + centre,
            ),
        )
    return fitted
