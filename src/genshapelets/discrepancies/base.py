"""What every discrepancy offers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor, nn

from ..offsets import Offsets, Then
from ..paths import Paths


@dataclass(frozen=True)
class Evaluation:
    """What a discrepancy has prepared.

    Attributes
    ----------
    at : callable
        Takes the `Offsets` and returns the (series, shapelets) tensor of discrepancies.
    some : callable, optional
        Begins with some paths, as soon as and on the thread where their offsets are found.
    """

    at: Callable[[Offsets], Tensor]
    some: Then | None = None


class Discrepancy(nn.Module, ABC):
    """How far a window of a path is from a shapelet: a (learnt) pseudometric.

    A discrepancy evaluates, with gradients, at given offsets. Where the best offsets are is the job
    of `genshapelets.search`.
    """

    @abstractmethod
    def check(self, n_shapelets: int, n_channels: int) -> None:
        """Refuse shapelets that this discrepancy was not made for, with a ValueError."""

    @abstractmethod
    def prepare(self, paths: Paths, values: Tensor, lengths: Tensor) -> Evaluation:
        """Begin what does not depend on the offsets, before they are searched for.

        Parameters
        ----------
        paths : Paths
        values : (shapelets, channels, knots) tensor
        lengths : (shapelets,) tensor
        """

    def evaluate(self, paths: Paths, values: Tensor, lengths: Tensor, offsets: Offsets) -> Tensor:
        """Discrepancy of every shapelet from its window of every path.

        Parameters
        ----------
        paths, values, lengths
            As for `prepare`.
        offsets : Offsets

        Returns
        -------
        (series, shapelets) tensor
        """
        return self.prepare(paths, values, lengths).at(offsets)
