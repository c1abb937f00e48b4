"""From many shapelets to few: each model is cut from the one before it and trained on."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch

from .checkpoints import Checkpoint
from .elimination import eliminate
from .few_channels import narrow
from .model import ShapeletModel
from .paths import Array, Index, Paths
from .progress import Progress
from .readable import readable_twin
from .training import Plan, Task, Trainer

FEWEST_HELD_OUT = 100  # series, below which their loss says too little to choose a size by
CUT = 0.72  # share of the shapelets that stay when some are dropped


@dataclass(frozen=True, eq=False, repr=False)
class SizePath:
    """How good models of fewer and fewer shapelets are, and which one was chosen.

    Attributes
    ----------
    n_shapelets : (sizes,) int array
        From many to few.
    loss, loss_error, score : (sizes,) arrays
        Mean loss of series held out, with its standard error, and their score; of models that were
        trained, in the same way, on the other series. NaN if none were held out.
    score_name : str
    chosen : int
        The size of the model.
    rule : str
        How it was chosen, in words.
    """

    n_shapelets: Index
    loss: Array
    loss_error: Array
    score: Array
    score_name: str
    chosen: int
    rule: str

    def __repr__(self) -> str:
        scores = dict(zip(self.n_shapelets.tolist(), self.score.tolist(), strict=True))
        score = scores.get(self.chosen, math.nan)
        known = "" if math.isnan(score) else f", {self.score_name} {score:.3f} on series held out"
        first, last = self.n_shapelets[0], self.n_shapelets[-1]
        return (
            f"SizePath({first} to {last} shapelets in {len(scores)} sizes, "
            f"chosen: {self.chosen}{known})"
        )


class Stage(NamedTuple):
    """So many shapelets, trained by this plan."""

    n_shapelets: int
    plan: Plan


class Part(NamedTuple):
    """Paths and what is to be learnt from them."""

    paths: Paths
    task: Task


class Cut(NamedTuple):
    """A model, and which of the first shapelets are left in it."""

    model: ShapeletModel
    origin: Index


def sizes_between(many: int, few: int) -> list[int]:
    """Sizes from many to few, each about `CUT` of the one before."""
    sizes = [many]
    while (fewer := min(math.ceil(sizes[-1] * CUT), sizes[-1] - 1)) > 1.15 * few:
        sizes.append(fewer)
    return sizes if many == few else [*sizes, few]


class Descent:
    """Train models of fewer and fewer shapelets, watched and kept in a file.

    Parameters
    ----------
    stages : sequence of Stage
        From many shapelets to few.
    max_channels : int or None
        How many channels a shapelet sees after the first stage.
    seed : int
    checkpoint : Checkpoint, optional
    progress : Progress
    """

    def __init__(
        self,
        stages: Sequence[Stage],
        max_channels: int | None,
        seed: int,
        checkpoint: Checkpoint | None,
        progress: Progress,
    ) -> None:
        self.stages, self.max_channels, self.seed = stages, max_channels, seed
        self.checkpoint, self.progress = checkpoint, progress
        self.n_epochs = 0
        self.interrupted = False

    def run(
        self,
        name: str,
        model: ShapeletModel,
        part: Part,
        held_out: Part | None = None,
        enough: Callable[[ShapeletModel], bool] = lambda _: False,
    ) -> tuple[list[Cut], dict[str, list[float]]]:
        """Train on a part, under a name of its own; return the model of each stage, and the history.

        It goes on until it is ``enough``. Ctrl-C ends it: the last model is then the best that its
        stage had come to.
        """
        cuts: list[Cut] = []
        ridge = None  # chosen for the largest model that is kept, and taken for the smaller ones
        history: dict[str, list[float]] = {}
        origin = np.arange(self.stages[0].n_shapelets)
        while len(cuts) < len(self.stages):  # which may be fewer after the first
            number, stage = len(cuts), self.stages[len(cuts)]
            if number:
                kept = strongest(model, part, stage.n_shapelets)
                model, origin = model.chosen(kept), origin[kept]
                if self.max_channels is not None and stage.plan.learn == "all":
                    narrow(model, *part, self.max_channels)
            of_stage = self._trained(name, number, model, part, held_out)
            for figure, values in of_stage.items():
                history.setdefault(figure, []).extend(values)
            random = np.random.default_rng(self.seed)
            twin, ridge = readable_twin(model, *part, stage.plan, random, ridge)
            cuts.append(Cut(twin, origin))
            if self.interrupted or enough(cuts[-1].model):
                break
        return cuts, history

    def _trained(
        self, run: str, number: int, model: ShapeletModel, part: Part, held_out: Part | None
    ) -> dict[str, list[float]]:
        """Train a model in place, or take it from the checkpoint; return the history."""
        name = f"{run}-{number}"
        over = None if self.checkpoint is None else self.checkpoint.over(name, model)
        stage, pace = self.stages[number], self.progress.pace
        leg = next(leg for leg in pace.legs if leg.name == f"{run}-{stage.n_shapelets}")
        if over is not None:
            pace.begin(leg)
            model.load_state_dict(over[0])
            n_epochs = len(over[1].get("loss", []))
            self.n_epochs += n_epochs
            leg.n_done = leg.n_done or n_epochs * leg.n_batches
            pace.end()
            return over[1]
        plan = stage.plan
        generator = torch.Generator().manual_seed(self.seed + number)
        trainer = Trainer(model, *part, plan, generator, held_out)
        if self.checkpoint is not None:
            self.checkpoint.restore(trainer, name)
        before = self.n_epochs
        leg.n_series = len(part.paths)
        leg.n_done = trainer.state.epoch * leg.n_batches
        leg.cut = trainer.state.share is not None
        pace.begin(leg)

        def after_step(trainer: Trainer) -> int | None:
            n_left = pace.step()
            self.progress.update(trainer.figures)
            return n_left

        def after_epoch(trainer: Trainer) -> None:
            self.n_epochs = before + trainer.state.epoch
            if self.checkpoint is not None:
                self._note_pace()
                self.checkpoint.keep(trainer, name)

        self.interrupted = not trainer.run(after_epoch, after_step)
        if self.interrupted:
            return trainer.history
        pace.end()
        self.stages = [stage for stage in self.stages if stage.n_shapelets not in pace.left_out]
        if self.checkpoint is not None:
            self._note_pace()
            self.checkpoint.end(name, model.state_dict(), trainer.history)
        return trainer.history

    def _note_pace(self) -> None:
        if self.checkpoint is not None and self.progress.pace.limit is not None:
            self.checkpoint.contents["pace"] = self.progress.pace.state()


@torch.no_grad()
def strongest(model: ShapeletModel, part: Part, n_shapelets: int) -> list[int]:
    """Which shapelets a linear model needs, in order.

    Every class, label or number first gets the one that says most of it, if there are enough.
    """
    features = model.features(model.discrepancies(part.paths).double())
    weight, _ = model.linear()
    effect = weight * features.std(dim=0, correction=0)
    speaking = effect if part.task.probability else -effect.abs()
    always = speaking.argmin(dim=1).tolist() if 1 < len(effect) <= n_shapelets else []
    outputs, beside = part.task.truth.double().cpu().numpy(), part.paths.covariates
    return eliminate(features.cpu().numpy(), outputs, n_shapelets, always, beside).tolist()


class SizeChoice:
    """Judge models of fewer and fewer shapelets by series held out, and choose one.

    Losses are compared in pairs: the error of a mean difference is that of the two losses of each
    series. Differences that are small against what the best model gains over a guess are none.

    Parameters
    ----------
    judge : function of a model
        Loss of each series held out, and the score of all.
    guess : float
        Mean loss of one who knows no series, only how frequent the classes are.

    Examples
    --------
    >>> losses = {30: [0.1, 0.3, 0.2], 10: [0.3, 0.1, 0.2], 3: [0.9, 0.8, 0.9]}
    >>> choice = SizeChoice(lambda size: (np.array(losses[size]), 1.0), guess=0.7)
    >>> [choice.is_hopeless(size) for size in losses], choice.smallest()
    ([False, False, True], 1)
    """

    HOPELESS = 2.0  # standard errors above the least loss
    NEGLIGIBLE = 0.01  # difference of losses at most: as good, however small its error
    NEGLIGIBLE_GAIN = 0.015  # the same, as a share of what is gained over a guess

    def __init__(self, judge: Callable[[Any], tuple[Array, float]], guess: float) -> None:
        self.judge, self.guess = judge, guess
        self.losses: list[Array] = []
        self.scores: list[float] = []

    def is_hopeless(self, model: Any) -> bool:
        """Judge the next model: whether it is so much worse than the best that smaller ones are, too."""
        loss, score = self.judge(model)
        self.losses.append(loss)
        self.scores.append(score)
        worse, error = self._worse()
        return bool(worse[-1] > self.HOPELESS * max(error[-1], self.negligible))

    def smallest(self) -> int:
        """Which is the last whose loss is within one standard error of the least, or as good."""
        worse, error = self._worse()
        return int(np.flatnonzero(worse <= np.maximum(error, self.negligible))[-1])

    @property
    def negligible(self) -> float:
        """A difference of mean losses that counts as none."""
        gain = self.guess - min(float(loss.mean()) for loss in self.losses)
        return min(self.NEGLIGIBLE, self.NEGLIGIBLE_GAIN * max(gain, 0.0))

    def _worse(self) -> tuple[Array, Array]:
        losses = np.stack(self.losses)
        worse = losses - losses[losses.mean(axis=1).argmin()]
        return worse.mean(axis=1), worse.std(axis=1, ddof=1) / np.sqrt(losses.shape[1])
