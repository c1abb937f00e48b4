"""How long a fit will take: the work left, at the pace measured so far, within a limit of time."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba.core import event

from .durations import about
from .shown import few

FIXED = 25  # shapelets that a step costs besides its own
# Epochs that cost what comes after a stage: dropping shapelets, a readable twin, its training windows.
CUTTING, TWIN, READING = 1.5, 3.5, 1.0
ENOUGH = 3  # steps by which the pace is known
DECAY = 0.95  # of the weight of older steps in the pace


@dataclass
class Leg:
    """A part of the way: a number of shapelets, trained for some epochs on the series of a run.

    Attributes
    ----------
    run : str
    n_shapelets, n_epochs, n_series, batch_size : int
    readable : bool
        Whether its model is one of those that a fit gives, not only on the way to smaller ones.
    n_done : int
        Steps taken.
    trained : bool
        Whether no more are to come.
    cut : bool
        Whether fewer are taken than planned, for want of time.
    """

    run: str
    n_shapelets: int
    n_epochs: int
    n_series: int
    batch_size: int
    readable: bool
    n_done: int = 0
    trained: bool = False
    cut: bool = False

    @property
    def name(self) -> str:
        """What the checkpoint calls it."""
        return f"{self.run}-{self.n_shapelets}"

    @property
    def n_batches(self) -> int:
        """Steps of an epoch."""
        return math.ceil(self.n_series / self.batch_size)

    @property
    def n_steps(self) -> int:
        """Steps that are planned."""
        return self.n_epochs * self.n_batches

    @property
    def n_left(self) -> int:
        """Of these, how many are to come."""
        return 0 if self.trained else max(self.n_steps - self.n_done, 0)

    @property
    def epoch(self) -> int:
        """Epochs begun."""
        return math.ceil(self.n_done / self.n_batches)

    @property
    def of_epoch(self) -> float:
        """Work of an epoch, in shapelets times series."""
        return float((self.n_shapelets + FIXED) * self.n_series)

    @property
    def of_step(self) -> float:
        """Work of a step."""
        return self.of_epoch / self.n_batches

    @property
    def of_end(self) -> float:
        """Work after the last step."""
        return (CUTTING + TWIN * self.readable) * self.of_epoch


class Pace:
    """Measure how long steps take, say how long the rest will, and fit it to a limit.

    Steps in which something is done for the first time, and the time in which code is compiled, say
    nothing about the steps to come and are not counted. They do count against the limit.

    Parameters
    ----------
    legs : sequence of Leg
        In the order in which they are gone.
    limit : float, optional
        Seconds that the whole may take.
    always : sequence of int
        Numbers of shapelets that are gone through however little time there is.
    """

    def __init__(
        self, legs: Sequence[Leg], limit: float | None = None, always: Sequence[int] = ()
    ) -> None:
        self.legs, self.limit, self.always = list(legs), limit, set(always)
        self.begun = self.marked = time.monotonic()
        self.compiling = _Compiling()
        self.at: Leg | None = None
        self.between: Leg | None = None
        self.first = True
        self.n_counted = 0
        self.start = 0.0
        self.rate: float | None = None
        self.end_rate: float | None = None
        self.sums = (0.0, 0.0)
        self.spent = 0.0
        self.factor = 1.0
        self.starved = False
        self.left_out: list[int] = []
        self.settled = limit is None

    def listening(self) -> AbstractContextManager[Any]:
        """Within this, compiling is noticed."""
        return event.install_listener("numba:compile", self.compiling)

    # What happens

    def start_run(self) -> None:
        """What comes after a leg is done; next is another, or the first model of a run."""
        passed = self._passed()
        if self.between is not None:
            self.end_rate = passed / self.between.of_end
        self.between = None

    def begin(self, leg: Leg) -> None:
        """Training of a leg begins, or goes on."""
        if self.at is None or self.at.run != leg.run:
            self.start = self._passed()
        else:
            self.start_run()
        self.at, self.first = leg, True

    def step(self) -> int | None:
        """A step has been taken; return how many are left of this leg if they are cut, else None."""
        leg, passed = self._here(), self._passed()
        leg.n_done += 1
        if self.first and not self.n_counted:
            self.rate = passed / leg.of_step
        elif not self.first:
            seconds, work = self.sums
            self.sums = DECAY * seconds + passed, DECAY * work + leg.of_step
            self.rate = self.sums[0] / self.sums[1]
            self.n_counted += 1
        self.first = False
        return self._steps_left()

    def end(self) -> None:
        """The leg is trained."""
        leg = self._here()
        leg.trained, self.between = True, leg
        self._settle_sizes()

    def keep_only(self, wanted: Callable[[Leg], bool]) -> None:
        """Forget legs that will not be gone."""
        self.legs = [leg for leg in self.legs if leg.trained or wanted(leg)]

    # What is to come

    @property
    def elapsed(self) -> float:
        """Seconds since the beginning, those of an earlier process included."""
        return self.spent + time.monotonic() - self.begun

    @property
    def share(self) -> float:
        """How much of the work is done."""
        done = sum(leg.n_done * leg.of_step + leg.of_end * leg.trained for leg in self.legs)
        left = sum(
            self._to_come(leg) * leg.of_step + leg.of_end * (not leg.trained) for leg in self.legs
        )
        return done / (done + left)

    @property
    def n_epochs(self) -> int:
        """Epochs of the whole fit, as far as can be said."""
        return sum(
            math.ceil((leg.n_done + self._to_come(leg)) / leg.n_batches) for leg in self.legs
        )

    @property
    def epoch(self) -> int:
        """Epochs begun so far."""
        return sum(leg.epoch for leg in self.legs)

    def seconds_left(self) -> float | None:
        """How long the rest will take; None before the first step."""
        if self.rate is None:
            return None
        training, ends = self._left()
        if self.limit is None:
            return training + ends
        return max(min(training + ends, self.limit - self.elapsed), ends)

    def _to_come(self, leg: Leg) -> float:
        """Steps of a leg that there is time for."""
        return max(min(self.factor * leg.n_steps - leg.n_done, leg.n_left), 0.0)

    def _left(self) -> tuple[float, float]:
        """Seconds of steps, and of all else."""
        rate = self.rate or 0.0
        training = sum(leg.n_left * leg.of_step for leg in self.legs) * rate
        return training, self._ends(self.legs)

    def _ends(self, legs: Sequence[Leg]) -> float:
        rate = (self.rate if self.end_rate is None else self.end_rate) or 0.0
        work = sum(leg.of_end for leg in legs if not leg.trained or leg is self.between)
        last = self.legs[-1].run
        work += sum(READING * leg.of_epoch for leg in legs if leg.readable and leg.run == last)
        here = self.at
        starts = {leg.run for leg in legs if not leg.trained} - {here.run if here else None}
        return work * rate + len(starts) * self.start

    # The limit

    def _steps_left(self) -> int | None:
        if self.limit is None:
            return None
        leg, remaining = self._here(), self.limit - self.elapsed
        if self.n_counted < ENOUGH and remaining > 0 and not leg.cut:
            return None
        self._settle_sizes()
        training, ends = self._left()
        done = leg.n_done * leg.of_step * (self.rate or 0.0)  # of a leg all steps are cut alike
        self.factor = 1.0
        if remaining < training + ends:
            self.factor = max((remaining - ends + done) / (training + done), 0.0)
        if self.factor == 1.0 and not leg.cut:
            return None
        n_left = int(self._to_come(leg))
        self.starved |= self.factor == 0.0 and leg.n_done == 1
        leg.cut |= n_left < leg.n_left
        return n_left

    def _settle_sizes(self) -> None:
        """Leave out sizes, once, until what comes after each takes less than half of the time."""
        if self.settled or self.limit is None:
            return
        self.settled = True
        training, ends = self._left()
        remaining = self.limit - self.elapsed
        if training + ends <= remaining:
            return
        sizes = list(dict.fromkeys(leg.n_shapelets for leg in self.legs))
        always = {self._here().n_shapelets} | self.always
        others = [size for size in sizes if size not in always]
        kept = others
        while kept and self._ends(self._of(always.union(kept))) > remaining / 2:
            places = np.linspace(0, len(others) - 1, len(kept) + 1)[1:-1].tolist()
            kept = list(dict.fromkeys(others[round(place)] for place in places))
        self.left_out = [size for size in others if size not in kept]
        self.legs = self._of(always.union(kept))

    def _of(self, sizes: set[int]) -> list[Leg]:
        return [leg for leg in self.legs if leg.n_shapelets in sizes]

    def shortened(self) -> str | None:
        """What the limit has cut, in words; None: nothing."""
        said = []
        if any(leg.cut for leg in self.legs):
            done = sum(leg.n_done for leg in self.legs)
            planned = sum(leg.n_steps if leg.cut else leg.n_done for leg in self.legs)
            said.append(f"{done} of {planned} steps were trained")
        if self.left_out:
            said.append(f"there was no time for models of {few(self.left_out)} shapelets")
        return "; ".join(said) or None

    def too_short(self) -> str | None:
        """If there was time for hardly a step, how long all that was planned would take, in words."""
        if not self.starved:
            return None
        missed = sum((leg.n_steps - leg.n_done) * leg.of_step for leg in self.legs)
        return about(self.elapsed + missed * (self.rate or 0.0))

    # Checkpoints

    def state(self) -> dict[str, Any]:
        """What has to be known to go on in another process."""
        steps = {leg.name: [leg.n_done, leg.cut] for leg in self.legs}
        sizes = {"settled": self.settled, "left_out": self.left_out}
        return {"spent": self.elapsed, **sizes, "steps": steps}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on where another process was."""
        self.spent, self.settled = float(state["spent"]), bool(state["settled"])
        self.left_out = list(state["left_out"])
        if not 0 <= self.spent < math.inf or self.always.intersection(self.left_out):
            raise ValueError("there is no such pace")
        self.legs = [leg for leg in self.legs if leg.n_shapelets not in self.left_out]
        for leg in self.legs:
            leg.n_done, leg.cut = state["steps"].get(leg.name, (0, False))
            if type(leg.n_done) is not int or leg.n_done < 0 or type(leg.cut) is not bool:
                raise ValueError(f"there is no such pace of {leg.name}")

    # Time

    def _here(self) -> Leg:
        assert self.at is not None
        return self.at

    def _passed(self) -> float:
        """Seconds since the last call in which nothing was compiled."""
        now = time.monotonic()
        passed = now - self.marked - self.compiling.seconds
        self.marked, self.compiling.seconds = now, 0.0
        return max(passed, 0.0)


class _Compiling(event.Listener):  # type: ignore[misc]
    """Seconds in which numba compiled."""

    def __init__(self) -> None:
        self.seconds, self.depth, self.begun = 0.0, 0, 0.0

    def on_start(self, event: Any) -> None:  # noqa: ARG002
        if not self.depth:
            self.begun = time.monotonic()
        self.depth += 1

    def on_end(self, event: Any) -> None:  # noqa: ARG002
        self.depth -= 1
        if not self.depth:
            self.seconds += time.monotonic() - self.begun
