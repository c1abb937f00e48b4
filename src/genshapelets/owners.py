"""To which class each shapelet belongs, and a head that respects it."""

from __future__ import annotations

import numpy as np
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
    of_labels : bool
        Whether outputs are logits of labels, of which a series may have several or none: likeness to a
        shapelet then speaks for the labels of that series, and for no others.

    Attributes
    ----------
    owner : (shapelets,) int64 tensor, or (shapelets, labels)
        Codes of classes, or 1 for every label that owns it and 0 for the others, as of the last epoch;
        -1 before the first has ended.
    least_weight, largest_weight : (outputs, shapelets) tensors
        Which weights the owners allow.
    """

    def __init__(self, weight: Tensor, *, of_labels: bool = False) -> None:
        self.weight = weight
        n_labels = weight.shape[:1] if of_labels else ()
        self.owner = torch.full((weight.shape[1], *n_labels), -1, device=weight.device)
        self._forget()

    @property
    def owner(self) -> Tensor:
        """Codes of classes, (shapelets,), or labels, (shapelets, labels): see the class."""
        return self._owner

    @owner.setter
    def owner(self, owner: Tensor) -> None:
        self._owner = owner
        classes = torch.arange(len(self.weight), device=owner.device)[:, None]
        of_one = owner.ndim == 2 or len(self.weight) == 1
        own, known = owner.t() == (1 if of_one else classes), owner.t() >= 0
        free = torch.tensor(torch.inf, device=owner.device)
        self.least_weight = torch.where(known & ~own, 0.0, -free)
        self.largest_weight = torch.where(known & own, 0.0, free)

    def _forget(self) -> None:
        self._least = np.full(len(self.owner), np.inf)
        self._nearest = self.owner.cpu().numpy().copy()

    def see(self, discrepancy: Tensor, target: Tensor) -> None:
        """Look through a batch, (series, shapelets), for series nearer than those of this epoch."""
        distance = discrepancy.cpu().numpy()
        series = distance.argmin(axis=0)
        least = distance[series, np.arange(len(series))]
        nearer = least < self._least
        self._least[nearer] = least[nearer]
        self._nearest[nearer] = target.cpu().numpy()[series[nearer]]

    def settle(self) -> None:
        """End an epoch: the series seen in it decide."""
        self.owner = torch.from_numpy(self._nearest).to(self.owner)
        self._forget()

    @torch.no_grad()
    def constrain(self) -> None:
        """Set to zero the weights that have the wrong sign."""
        self.weight.clamp_(self.least_weight, self.largest_weight)
