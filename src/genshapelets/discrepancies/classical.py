"""The classical discrepancy: discrete time, a plain sum of squares."""

from __future__ import annotations

from torch import Tensor

from .base import Discrepancy


class ClassicalDiscrepancy(Discrepancy):
    r"""Equation (2) of the paper, for comparison and as a baseline.

    .. math:: \sigma(f, w) = \min_{s \in \{0, \ldots, T - S\}} \sum_{t=0}^{S-1} |f_{s+t} - w_t|^2

    A shapelet's knots are its S samples; its length is not learnt. Paths must be regularly sampled;
    missing values are interpolated beforehand, and a path of fewer than S samples is held at its last
    value.

    Parameters
    ----------
    mean : bool
        Divide by S, a mean over samples, as Learning Shapelets does (Grabocka et al. 2014).
    """

    title = "classical"
    counts_samples = True
    squared = True

    def __init__(self, mean: bool = False) -> None:
        super().__init__()
        self.mean = mean

    def forward(self, times: Tensor, path: Tensor, shapelet: Tensor) -> Tensor:  # noqa: ARG002
        """Sum the squared differences over samples, which are the knots of both."""
        total = (path - shapelet).square().sum(dim=(-2, -1))
        return total / path.shape[-2] if self.mean else total
