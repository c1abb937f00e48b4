"""To which class each shapelet belongs, and a head that respects it."""

from __future__ import annotations

import torch
from torch import Tensor


class Owners:
    """The class of the training series that each shapelet resembles most.

    A linear head on many features is free to let likeness to a shapelet of one class speak for
    another: the classes that are far from a shapelet still differ in how far. Such a weight predicts
    well and reads badly. Held by `constrain`, likeness to a shapelet speaks for the class that owns
    it, and for no other. As softmax sees only differences between classes, that says: no class gains
    more by the likeness than the owner.

    Parameters
    ----------
    weight : (outputs, shapelets) tensor
        Of the head, on the logarithms of discrepancies. A negative one means that likeness speaks for
        the class; one logit for two classes speaks for the second.

    Attributes
    ----------
    owner : (shapelets,) int64 tensor
        Codes of classes, as of the last epoch; -1 before the first has ended.
    """

    def __init__(self, weight: Tensor) -> None:
        self.weight = weight
        self.owner = torch.full((weight.shape[1],), -1, device=weight.device)
        self._forget()

    def _forget(self) -> None:
        self._least = torch.full(self.owner.shape, torch.inf, device=self.owner.device)
        self._nearest = self.owner.clone()

    def see(self, discrepancy: Tensor, target: Tensor) -> None:
        """Look through a batch, (series, shapelets), for series nearer than those of this epoch."""
        least, series = discrepancy.min(dim=0)
        nearer = least < self._least
        self._least = torch.where(nearer, least.to(self._least), self._least)
        self._nearest = torch.where(nearer, target[series], self._nearest)

    def settle(self) -> None:
        """End an epoch: the series seen in it decide."""
        self.owner = self._nearest
        self._forget()

    @torch.no_grad()
    def constrain(self) -> None:
        """Set to zero the weights that have the wrong sign."""
        weight = self.weight
        if len(weight) == 1:
            own = self.owner == 1
        else:
            own = self.owner == torch.arange(len(weight), device=weight.device)[:, None]
        wrong = torch.where(own, weight > 0, weight < 0)
        weight.masked_fill_(wrong & (self.owner >= 0), 0.0)
