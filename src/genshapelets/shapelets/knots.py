"""Shapelets that are straight lines between learnt points."""

from __future__ import annotations

from numpy.typing import ArrayLike
from torch import Tensor, nn

from .base import ShapeletFamily, as_tensor


class Shapelets(ShapeletFamily):
    """Straight lines between learnt values at evenly spaced knots: the paper's choice, and the default.

    Parameters
    ----------
    values, lengths, max_length
        As for `ShapeletFamily`; they start exactly as these values.
    """

    def __init__(
        self,
        values: ArrayLike | Tensor,
        lengths: ArrayLike | Tensor,
        max_length: float | None = None,
    ) -> None:
        values = as_tensor(values, "values")
        super().__init__(values, lengths, max_length)
        self.values = nn.Parameter(values.detach().clone())
