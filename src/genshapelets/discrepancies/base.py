"""What every discrepancy offers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from torch import Tensor, nn

from ..offsets import Offsets
from ..paths import Index, Paths
from ._l2_arrays import L2Arrays
from ._lattice_windows import LatticeWindows


class Ahead(NamedTuple):
    """What a search need not do again, and what it may do ahead of the evaluation.

    Attributes
    ----------
    arrays : L2Arrays
        The numbers of shapelets and metric.
    lattices : list of LatticeWindows
        On which shapelets are to be projected before `some`.
    some : callable
        Evaluates some paths, as soon as and on the thread where their offsets are found. Takes the
        (series, shapelets) array of indices (see `Offsets`) and the numbers of the paths.
    """

    arrays: L2Arrays
    lattices: list[LatticeWindows]
    some: Callable[[Index, Index], None]


@dataclass(frozen=True)
class Evaluation:
    """What a discrepancy has prepared.

    Attributes
    ----------
    at : callable
        Takes the `Offsets` and returns the (series, shapelets) tensor of discrepancies.
    ahead : Ahead, optional
        For the search.
    """

    at: Callable[[Offsets], Tensor]
    ahead: Ahead | None = None


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
        """Prepare what does not depend on the offsets, before they are searched for.

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
