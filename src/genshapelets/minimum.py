"""From the discrepancies of candidates to one number: their minimum, or a soft one."""

from __future__ import annotations

from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from .described import Described


class Minimum(Described, nn.Module):
    r"""The least discrepancy, :math:`\sigma = \min_i \pi_i`.

    Attributes
    ----------
    n_best : int or None
        Number of candidates that a search must find: the best local minima over the offsets. None: no
        search, all offsets of the grid are candidates.
    """

    family = "minimum"
    _classes: ClassVar[dict[str, type[Any]]] = {}
    n_best: int | None = 1

    def forward(self, candidates: Tensor, count: Tensor) -> Tensor:  # noqa: ARG002
        """Combine discrepancies (series, shapelets, candidates), of which ``count`` are given."""
        return candidates[..., 0] if candidates.shape[-1] == 1 else candidates.min(dim=-1).values

    def extra_repr(self) -> str:
        """Describe the settings for `repr`."""
        return ", ".join(f"{name}={value:g}" for name, value in self.config().items())


Minimum._classes["Minimum"] = Minimum  # the head of its family, and one of it


class SoftMinimum(Minimum):
    r"""A weighted mean of the best candidates, whose gradient reaches all of them.

    .. math:: \sigma = \sum_i p_i \pi_i, \qquad p_i \propto \pi_i^{-\alpha}

    The weights do not depend on the unit of the discrepancy.

    Parameters
    ----------
    n_best : int
        Number of candidates: the best local minima over the offsets.
    sharpness : float
        :math:`\alpha`; the larger, the closer to the minimum.

    Examples
    --------
    >>> import torch
    >>> SoftMinimum(2, sharpness=1.0)(torch.tensor([[[1.0, 3.0]]]), torch.tensor([[2]]))
    tensor([[1.5000]])
    """

    def __init__(self, n_best: int = 4, sharpness: float = 4.0) -> None:
        super().__init__()
        if n_best < 1:
            raise ValueError(f"n_best must be at least 1; got {n_best}.")
        if not 0.0 < sharpness < float("inf"):
            raise ValueError(f"sharpness must be a positive number; got {sharpness!r}.")
        self.n_best, self.sharpness = n_best, sharpness

    def forward(self, candidates: Tensor, count: Tensor) -> Tensor:
        """Combine discrepancies (series, shapelets, candidates), of which ``count`` are given."""
        given = torch.arange(candidates.shape[-1], device=count.device) < count[..., None]
        scores = torch.where(given, self.log_weights(candidates), -torch.inf)
        return (scores.softmax(dim=-1) * candidates).sum(dim=-1)

    def log_weights(self, candidates: Tensor) -> Tensor:
        """Logarithm of each candidate's weight, up to a constant."""
        tiny = torch.finfo(candidates.dtype).tiny
        return -self.sharpness * candidates.clamp(min=tiny).log()


class Softmin(SoftMinimum):
    r"""The soft minimum of Learning Shapelets (Grabocka et al. 2014), over all offsets of the grid.

    .. math:: \sigma = \frac{\sum_j \pi_j e^{\alpha \pi_j}}{\sum_j e^{\alpha \pi_j}}

    There :math:`\pi_j` is the mean of squares, ``ClassicalDiscrepancy(mean=True)``. Other than those of
    `SoftMinimum` the weights depend on the unit of the discrepancy.

    Parameters
    ----------
    alpha : float
        :math:`\alpha < 0`; the lower, the closer to the minimum. The paper of 2014 has -100.

    Examples
    --------
    >>> import torch
    >>> Softmin(alpha=-1.0)(torch.tensor([[[1.0, 1.0, 3.0]]]), torch.tensor([[2]]))
    tensor([[1.]])
    """

    def __init__(self, alpha: float = -100.0) -> None:
        Minimum.__init__(self)
        if not -float("inf") < alpha < 0.0:
            raise ValueError(f"alpha must be a negative number; got {alpha!r}.")
        self.n_best, self.alpha = None, alpha

    def log_weights(self, candidates: Tensor) -> Tensor:
        """Logarithm of each candidate's weight, up to a constant."""
        return self.alpha * candidates


MINIMA: dict[str, type[Minimum]] = {"min": Minimum, "soft": SoftMinimum, "softmin": Softmin}
