"""What every discrepancy offers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

from torch import Tensor, nn

from ..offsets import Offsets
from ..paths import Paths


class Discrepancy(nn.Module, ABC):
    """How far a window of a path is from a shapelet: a (learnt) pseudometric.

    A discrepancy evaluates, with gradients, at given offsets. Where the best offsets are is the job
    of `genshapelets.search`.
    """

    @abstractmethod
    def check(self, n_shapelets: int, n_channels: int) -> None:
        """Refuse shapelets that this discrepancy was not made for, with a ValueError."""

    @abstractmethod
    def prepare(self, paths: Paths, values: Tensor, lengths: Tensor) -> Callable[[Offsets], Tensor]:
        """Begin what does not depend on the offsets, before they are searched for.

        Parameters
        ----------
        paths : Paths
        values : (shapelets, channels, knots) tensor
        lengths : (shapelets,) tensor

        Returns
        -------
        What `evaluate` is without its first three arguments.
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
        return self.prepare(paths, values, lengths)(offsets)
