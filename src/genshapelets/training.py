"""Training: one loop that can be watched, interrupted and resumed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import one_hot

from .model import ShapeletModel
from .objective import interpretable_regularisation
from .owners import Owners
from .paths import Index, Paths
from .search import prepare_paths


@dataclass(frozen=True)
class OneCycle:
    """Learning rate that rises for a quarter of the training and falls to zero like a cosine."""

    rate: float
    rising: float = 0.25

    def faster(self, times: float) -> OneCycle:
        """The same with a higher rate."""
        return replace(self, rate=self.rate * times)

    def rate_at(self, share: float, lowered: int) -> float:  # noqa: ARG002
        """Rate when this share of all steps has been taken."""
        if share < self.rising:
            return self.rate * (0.04 + 0.96 * share / self.rising)
        return self.rate * 0.5 * (1 + math.cos(math.pi * (share - self.rising) / (1 - self.rising)))

    def stop(self, stale: int) -> bool:  # noqa: ARG002
        """Never stop early."""
        return False

    def lower(self, stale: int, lowered: int) -> bool:  # noqa: ARG002
        """Never lower the rate out of turn."""
        return False


@dataclass(frozen=True)
class Plateau:
    """Learning rate divided by ten when the validation loss stalls; the paper's."""

    rate: float
    factor: float = 0.1
    floor: float = 1e-3
    patience: int = 20
    stop_after: int = 60

    def faster(self, times: float) -> Plateau:
        """The same with a higher rate."""
        return replace(self, rate=self.rate * times)

    def rate_at(self, share: float, lowered: int) -> float:  # noqa: ARG002
        """Rate after it was lowered ``lowered`` times."""
        return max(self.rate * self.factor**lowered, self.floor)

    def lower(self, stale: int, lowered: int) -> bool:
        """Whether to lower the rate after ``stale`` epochs without a smaller validation loss."""
        return stale >= self.patience and self.rate * self.factor**lowered > self.floor

    def stop(self, stale: int) -> bool:
        """Whether to stop after ``stale`` epochs with neither smaller loss nor higher accuracy."""
        return stale >= self.stop_after


@dataclass(frozen=True)
class Plan:
    """How a model is trained.

    Attributes
    ----------
    schedule : OneCycle or Plateau
    max_epochs, batch_size : int
    gamma : float
        Strength of the interpretable regularisation.
    own_class : bool or "training"
        Whether a linear head is held to let likeness to a shapelet speak only for its `Owners`.
        "training": the head that is solved for in the end need not.
    dropout : float
        Share of the features that a training step does not see.
    metric_rate, length_rate : float
        Learning rates of the metric and of the logarithms of the lengths, relative to that of the
        shapelets' values and the head.
    ridge : float
        Strength of the L2 penalty on a linear head: this times the sum of its squared weights, divided
        by the number of training series.
    learn : "all" or "head"
        "head": shapelets, lengths and metric stay as they start.
    near : bool
        Whether at the end shapelets that have gone too far from training windows are moved back.
    n_reasons : int
        How many weights for each output the head has, on average, when it is solved for once more at the
        end; 0: it is not. See `genshapelets.readable`.
    """

    schedule: OneCycle | Plateau
    max_epochs: int
    batch_size: int
    gamma: float
    own_class: bool | Literal["training"]
    dropout: float = 0.0
    metric_rate: float = 1.0
    length_rate: float = 1.0
    ridge: float = 0.0
    learn: Literal["all", "head"] = "all"
    near: bool = False
    n_reasons: int = 0


@dataclass(frozen=True)
class Task:
    """What is to be learnt: targets, weights, a loss and a score to be high.

    Attributes
    ----------
    target : (series,) or (series, outputs) tensor
        Codes of classes; else floats: 0 and 1 for labels, or numbers.
    weight : (series,) tensor
    n_classes : int
        0 for labels and numbers.
    loss : function of (output, target, weight)
    score : function of (output, target, weight)
    score_name : str
    probability : function of output, or None
        Of each class, or label; None: outputs are numbers.
    """

    target: Tensor
    weight: Tensor
    n_classes: int
    loss: Callable[[Tensor, Tensor, Tensor], Tensor]
    score: Callable[[Tensor, Tensor, Tensor], Tensor]
    score_name: str
    probability: Callable[[Tensor], Tensor] | None

    @property
    def truth(self) -> Tensor:
        """0 and 1 for each class or label, or numbers; (series, columns)."""
        return one_hot(self.target, self.n_classes) if self.n_classes else self.target

    def owners(self, weight: Tensor) -> Owners:
        """Who owns the shapelets that a head weighs: classes, or labels."""
        return Owners(weight, of_labels=not self.n_classes)


@dataclass
class State:
    """What a training has come to, apart from tensors; goes to the checkpoint as JSON."""

    epoch: int = 0
    lowered: int = 0
    stale_loss: int = 0
    stale: int = 0
    least_loss: float = math.inf
    best_rank: list[float] = field(default_factory=lambda: [-math.inf, -math.inf])
    stopped: bool = False
    share: float | None = None  # of the schedule, once the training is cut short
    history: dict[str, list[float]] = field(default_factory=dict)

    def check(self, max_epochs: int, figures: Sequence[str]) -> None:
        """Refuse, with a ValueError, what no training with these figures comes to."""
        counts = (self.epoch, self.lowered, self.stale_loss, self.stale)
        if not all(type(count) is int and 0 <= count <= max_epochs for count in counts):
            raise ValueError(f"it counts to {max(counts)} in a training of {max_epochs} epochs")
        share = 0.0 if self.share is None else self.share
        if type(self.stopped) is not bool or not 0 <= share <= 1 or len(self.best_rank) != 2:
            raise ValueError("its state is none of a training")
        if math.isnan(sum([self.least_loss, *map(abs, self.best_rank)])):
            raise ValueError("its best loss is NaN")
        check_history(self.history, self.epoch)
        if self.epoch and set(self.history) != set(figures):
            raise ValueError(f"its history holds {', '.join(self.history)}")


def check_history(history: dict[str, list[float]], n_epochs: int | None = None) -> None:
    """Refuse, with a ValueError, what is no number for each figure and epoch."""
    lengths = {len(values) for values in history.values()}
    if len(lengths) > 1 or (n_epochs is not None and lengths - {n_epochs}):
        raise ValueError("its history has not one number for each epoch")
    for name, values in history.items():
        if not all(type(value) in (int, float) and math.isfinite(value) for value in values):
            raise ValueError(f"its history of {name} must hold finite numbers")


class Trainer:
    """Train a model on paths.

    Parameters
    ----------
    model : ShapeletModel
    paths : Paths
        Training series.
    task : Task
        Of the same series.
    plan : Plan
    generator : torch.Generator
        Source of all randomness: the order of series and the dropout.
    held_out : (paths, task), optional
        Validation part. With it the model ends at its best validation score, without at its last
        epoch; interrupted, at the best score on the validation part or the least training loss.
    """

    def __init__(
        self,
        model: ShapeletModel,
        paths: Paths,
        task: Task,
        plan: Plan,
        generator: torch.Generator,
        held_out: tuple[Paths, Task] | None = None,
    ) -> None:
        self.model, self.paths, self.task, self.plan = model, paths, task, plan
        self.generator, self.held_out = generator, held_out
        self.state = State()
        self.figures: dict[str, float] = {}  # of the epoch so far
        self.after_step: Callable[[Trainer], int | None] = lambda _: None
        self.best = _copy(model)
        shapelets, measure = model.transform.shapelets, model.transform.discrepancy
        prepare_paths(measure, paths, model.transform.search)
        self.known: Tensor | None = None  # discrepancies of all paths, those held out last
        if plan.learn == "head":
            model.transform.requires_grad_(False)
            every = [paths, *([held_out[0]] if held_out else [])]
            self.known = torch.cat([model.discrepancies(some) for some in every])
        of_head = [*model.head.parameters(), *(model.covariates or nn.Module()).parameters()]
        self.optimiser = torch.optim.Adam(
            [
                {"params": [*shapelets.of_values(), *of_head], "ratio": 1.0},
                {"params": [shapelets.raw_lengths], "ratio": plan.length_rate},
                {"params": list(measure.parameters()), "ratio": plan.metric_rate},
            ],
            lr=plan.schedule.rate,
            fused=True,
        )
        self.owners: Owners | None = None
        if plan.own_class and task.probability and type(model.head) is nn.Linear:
            self.owners = task.owners(model.head.weight)

    @property
    def figure_names(self) -> list[str]:
        """What the history says of each epoch."""
        score = self.task.score_name
        of_validation = [] if self.held_out is None else ["validation_loss", f"validation_{score}"]
        return ["loss", "regularisation", score, "rate", *of_validation]

    @property
    def history(self) -> dict[str, list[float]]:
        """A list for each figure, one number an epoch."""
        return self.state.history

    def run(
        self,
        after_epoch: Callable[[Trainer], None] = lambda _: None,
        after_step: Callable[[Trainer], int | None] = lambda _: None,
    ) -> bool:
        """Train to the end; return whether it was reached.

        Ctrl-C ends the training, not the program: the model is left at the best it has been.

        Parameters
        ----------
        after_epoch : function of the trainer
        after_step : function of the trainer
            Returns how many steps are left, or None: as many as planned. The schedule goes to its end in
            those that are left.
        """
        self.after_step = after_step
        self.model.train()
        try:
            while self.state.epoch < self.plan.max_epochs and not self.state.stopped:
                self._epoch()
                after_epoch(self)
        except KeyboardInterrupt:
            self.model.load_state_dict(self.best)
            self._settle_owners()
            return False
        if not all(torch.isfinite(value).all() for value in self.model.parameters()):
            raise ValueError(
                "training has diverged in its last step. Lower learning_rate or gamma."
            )
        if self.held_out is not None:
            self.model.load_state_dict(self.best)
        self._settle_owners()
        return True

    def _epoch(self) -> None:
        state, plan = self.state, self.plan
        sums = {"loss": 0.0, "regularisation": 0.0, self.task.score_name: 0.0}
        # For heads with randomness of their own, such as dropout: the same after a resumption.
        torch.default_generator.manual_seed(self.generator.initial_seed() + state.epoch)
        batches = list(self._batches())
        first_rate, n_seen = 0.0, 0
        for step, batch in enumerate(batches):
            share = state.share
            if share is None:
                share = (state.epoch + step / len(batches)) / plan.max_epochs
            rate = plan.schedule.rate_at(share, state.lowered)
            first_rate = first_rate if step else rate
            for group in self.optimiser.param_groups:
                group["lr"] = group["ratio"] * rate
            for name, value in self._step(batch).items():
                sums[name] += value * len(batch) / len(self.paths)
            n_seen += len(batch)
            self.figures |= {
                name: sums[name] * len(self.paths) / n_seen
                for name in ("loss", self.task.score_name)
            }
            n_left = self.after_step(self)
            if n_left is not None:
                state.share = share + (1 - share) / (n_left + 1)
                state.stopped = n_left == 0
            if state.stopped:
                break
        if n_seen < len(self.paths):
            sums = {name: value * len(self.paths) / n_seen for name, value in sums.items()}
        if self.owners is not None:
            self.owners.settle()
            self.owners.constrain()
        figures = dict(sums, rate=first_rate)
        loss, rank = sums["loss"] + sums["regularisation"], [-sums["loss"], 0.0]
        if self.held_out is not None:
            loss, score = self._validate()
            of_validation = {"validation_loss": loss, f"validation_{self.task.score_name}": score}
            figures |= of_validation
            self.figures |= of_validation
            rank = [score, -loss]
        self._judge(loss, rank)
        for name, value in figures.items():
            state.history.setdefault(name, []).append(value)
        state.epoch += 1

    def _batches(self) -> Iterator[Index]:
        n_batches = math.ceil(len(self.paths) / self.plan.batch_size)
        order = torch.randperm(len(self.paths), generator=self.generator).numpy()
        yield from np.array_split(order, n_batches) if n_batches > 1 else [np.sort(order)]

    def _step(self, batch: Index) -> dict[str, float]:
        paths, target, weight = self.paths, self.task.target, self.task.weight
        if len(batch) < len(paths):
            index = torch.from_numpy(batch)
            paths, target, weight = paths[batch], target[index], weight[index]
        if self.known is None:
            output, matches = self.model(paths, self._keep(len(batch)))
            discrepancy = matches.discrepancy
        else:
            discrepancy = self.known[torch.from_numpy(batch).to(self.known.device)]
            output = self.model.apply_head(discrepancy, paths.covariates, self._keep(len(batch)))
        loss = self.task.loss(output, target, weight)
        regularisation = interpretable_regularisation(discrepancy, self.plan.gamma)
        if self.plan.ridge and type(self.model.head) is nn.Linear:
            squares = self.model.head.weight.square().sum()
            regularisation = regularisation + self.plan.ridge / len(self.paths) * squares
        self.optimiser.zero_grad()
        (loss + regularisation).backward()  # type: ignore[no-untyped-call]
        self.optimiser.step()
        output, discrepancy = output.detach(), discrepancy.detach()
        if self.owners is not None:
            self.owners.see(discrepancy, target)
            self.owners.constrain()
        figures = {
            "loss": loss.item(),
            "regularisation": regularisation.item(),
            self.task.score_name: self.task.score(output, target, weight).item(),
        }
        if not math.isfinite(figures["loss"] + figures["regularisation"]):
            raise ValueError(
                f"training has diverged: the loss of epoch {self.state.epoch + 1} is "
                f"{figures['loss']}. Lower learning_rate or gamma."
            )
        return figures

    @torch.no_grad()
    def _settle_owners(self) -> None:
        """Let all series decide once more, those held out too, now that the shapelets stay."""
        if self.owners is None:
            return
        owners = self.task.owners(self.owners.weight)
        for paths, task in [(self.paths, self.task), *filter(None, [self.held_out])]:
            owners.see(self.model.discrepancies(paths), task.target)
        owners.settle()
        owners.constrain()

    def _keep(self, n_series: int) -> Tensor | None:
        dropout = self.plan.dropout
        if not dropout:
            return None
        scale = self.model.feature_scale
        chance = torch.rand(n_series, len(scale), generator=self.generator).numpy()
        kept = (chance >= dropout) * np.float32(1 / (1 - dropout))
        return torch.from_numpy(kept).to(scale)

    @torch.no_grad()
    def _validate(self) -> tuple[float, float]:
        assert self.held_out is not None
        paths, task = self.held_out
        self.model.eval()
        output = (
            self.model(paths)[0]
            if self.known is None
            else self.model.apply_head(self.known[-len(paths) :], paths.covariates)
        )
        self.model.train()
        of_this = (output, task.target, task.weight)
        return task.loss(*of_this).item(), task.score(*of_this).item()

    def _judge(self, loss: float, rank: list[float]) -> None:
        """Remember the best model; count epochs without progress."""
        state, schedule = self.state, self.plan.schedule
        smaller, higher = loss < state.least_loss, rank[0] > state.best_rank[0]
        state.least_loss = min(loss, state.least_loss)
        if rank > state.best_rank:
            state.best_rank, self.best = rank, _copy(self.model)
        state.stale_loss = 0 if smaller else state.stale_loss + 1
        state.stale = 0 if smaller or higher else state.stale + 1
        if schedule.lower(state.stale_loss, state.lowered):
            state.lowered += 1
            state.stale_loss = 0
        state.stopped |= schedule.stop(state.stale)


def _copy(model: ShapeletModel) -> dict[str, Tensor]:
    return {name: value.detach().clone() for name, value in model.state_dict().items()}
