"""Checkpoints: files from which a training that was ended goes on."""

from __future__ import annotations

import copy
import os
import time
import warnings
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from .model import ShapeletModel, check_scales
from .saving import check_saving, matched, read_file, understood, write_file
from .shown import cut
from .training import State, Trainer, check_history

ROUNDING = 1e-6  # by which another machine may find another centre


class Checkpoint:
    """A file from which a killed training goes on as if nothing had happened.

    A training has one stage or several; the file holds the models of those that are over and the state
    of the one that is not.

    Parameters
    ----------
    path : path
    fingerprint : dict
        What the training depends on. A file with another one is refused.
    interval : float
        Seconds between two writings. They happen between epochs.
    """

    def __init__(
        self, path: str | os.PathLike, fingerprint: dict[str, Any], interval: float
    ) -> None:
        check_saving(path)
        self.path = Path(path)
        self.interval = interval
        self.kept = time.monotonic()
        self.contents: dict[str, Any] = {"fingerprint": fingerprint, "over": {}}
        self.tensors: dict[str, Tensor] = {}
        self.noted: tuple[dict[str, Any], dict[str, Tensor]] | None = None
        if self.path.exists():
            self.contents, self.tensors = read_file(self.path, "checkpoint")
            self._check(fingerprint)

    def understood(self) -> AbstractContextManager[None]:
        """Within this, whatever is wrong with what the file says is told with its name."""
        return understood(self.path, "Delete it, or choose another path.")

    def _check(self, fingerprint: dict[str, Any]) -> None:
        with self.understood():
            found = dict(self.contents["fingerprint"])
            if not all(isinstance(value, dict) for value in self.contents["over"].values()):
                raise ValueError("what is over has no history")
        for name, value in fingerprint.items():
            if name not in found or found[name] != value:
                there, here = (cut(repr(x), 60) for x in (found.get(name, "unknown"), value))
                raise ValueError(
                    f"the checkpoint {self.path} belongs to another fit: its {name} differs (there "
                    f"{there}, here {here}). Delete it, or choose another path."
                )

    def settle_seed(self, seed: int) -> int:
        """Seed of this training: the file's if there is one, else the given one."""
        found = self.contents.setdefault("seed", seed)
        with self.understood():
            if type(found) is not int or not 0 <= found < 2**31:
                raise ValueError(f"{found!r} is no seed")
        return found

    def over(
        self, stage: str, model: ShapeletModel
    ) -> tuple[dict[str, Tensor], dict[str, list[float]]] | None:
        """Tensors of a model and history of a stage, if it is over."""
        history = self.contents["over"].get(stage)
        if history is None:
            return None
        with self.understood():
            check_history(history)
            return self._model(f"over/{stage}", model.state_dict()), history

    def restore(self, trainer: Trainer, stage: str) -> None:
        """Put a trainer where the file left off, if that was in this stage."""
        if self.contents.get("stage") != stage:
            return
        with self.understood():
            state = State(**self.contents["state"])
            state.check(trainer.plan.max_epochs, trainer.figure_names)
            trainer.state = state
            trainer.model.load_state_dict(self._model("model", trainer.best))
            trainer.best = self._model("best", trainer.best)
            own = {"random/state": trainer.generator.get_state()}
            if trainer.owners is not None:
                own["owners/owner"] = trainer.owners.owner
            own = matched({name: self.tensors[name] for name in own}, own)
            trainer.generator.set_state(own["random/state"])
            if trainer.owners is not None:
                trainer.owners.owner = own["owners/owner"]
            trainer.optimiser.load_state_dict(
                {
                    "state": _slots(self._part("optimiser"), trainer.optimiser),
                    "param_groups": trainer.optimiser.state_dict()["param_groups"],
                }
            )

    def _model(self, name: str, like: dict[str, Tensor]) -> dict[str, Tensor]:
        """Tensors of a model that may take the place of others."""
        tensors = matched(self._part(name), like)
        check_scales(tensors)
        off = (tensors["centre"] - like["centre"]).abs()
        off = torch.maximum(off, (tensors["scale"] - like["scale"]).abs())
        if (off > ROUNDING * (like["centre"].abs() + like["scale"])).any():
            raise ValueError("it standardises other series")
        return tensors

    def _part(self, name: str) -> dict[str, Tensor]:
        head = f"{name}/"
        return {
            key.removeprefix(head): x for key, x in self.tensors.items() if key.startswith(head)
        }

    def keep(self, trainer: Trainer, stage: str) -> None:
        """Note the state of a stage; write it, if the interval has passed."""
        tensors = {"random/state": trainer.generator.get_state()}
        tensors |= {f"model/{name}": value for name, value in trainer.model.state_dict().items()}
        tensors |= {f"best/{name}": value for name, value in trainer.best.items()}
        if trainer.owners is not None:
            tensors["owners/owner"] = trainer.owners.owner
        for index, slots in trainer.optimiser.state_dict()["state"].items():
            tensors |= {f"optimiser/{index}/{name}": value for name, value in slots.items()}
        self._take(tensors, {"stage": stage, "state": copy.deepcopy(vars(trainer.state))})
        if self._is_time():
            self.write()

    def end(self, stage: str, tensors: dict[str, Tensor], history: dict[str, list[float]]) -> None:
        """Keep what a stage has come to; write it, if the interval has passed."""
        over = self.contents["over"] | {stage: history}
        tensors = {f"over/{stage}/{name}": tensor for name, tensor in tensors.items()}
        self._take(tensors, {"stage": None, "over": over})
        if self._is_time():
            self.write()

    def _is_time(self) -> bool:
        return time.monotonic() - self.kept >= self.interval

    def _take(self, tensors: dict[str, Tensor], contents: dict[str, Any]) -> None:
        """Replace all but what is over."""
        self.contents |= contents
        over = {name: x for name, x in self.tensors.items() if name.startswith("over/")}
        self.tensors = over | {name: x.detach().clone() for name, x in tensors.items()}
        self.noted = dict(self.contents), self.tensors  # at once: a signal may come at any time

    def write(self) -> None:
        """Write what was noted. If that fails, as on a full disk, the older file stays."""
        if self.noted is None:
            return
        try:
            write_file(self.path, "checkpoint", *self.noted)
        except OSError as error:
            reason = str(error).rstrip(".")
            warnings.warn(
                f"the checkpoint {self.path} could not be written ({reason}). Training goes on.",
                stacklevel=2,
            )
        self.kept = time.monotonic()


def _slots(
    found: dict[str, Tensor], optimiser: torch.optim.Optimizer
) -> dict[int, dict[str, Tensor]]:
    """State of Adam as the optimiser takes it up, for each of its parameters that has one."""
    parameters = [each for group in optimiser.param_groups for each in group["params"]]
    numbers = {int(name.partition("/")[0]) for name in found}
    if numbers - set(range(len(parameters))):
        raise ValueError(f"the optimiser has {len(parameters)} parameters, not {max(numbers) + 1}")
    own = {n: {slot: parameters[n].detach() for slot in ("exp_avg", "exp_avg_sq")} for n in numbers}
    flat = {f"{n}/{slot}": like for n, slots in own.items() for slot, like in slots.items()}
    taken = matched(found, flat | {f"{n}/step": torch.zeros(()) for n in numbers})
    for name, values in taken.items():
        if not name.endswith("exp_avg") and not (values >= 0).all():
            raise ValueError(f"{name} of the optimiser must not be below 0")
    return {n: {slot: taken[f"{n}/{slot}"] for slot in (*own[n], "step")} for n in numbers}
