"""From the discrepancies of the best candidates to one number: their minimum, or a soft one."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class Minimum(nn.Module):
    r"""The least discrepancy, :math:`\sigma = \min_i \pi_i`."""

    n_best = 1  # candidates that a search must find

    def forward(self, candidates: Tensor, count: Tensor) -> Tensor:  # noqa: ARG002
        """Combine discrepancies (series, shapelets, candidates), of which ``count`` are given."""
        return candidates[..., 0] if candidates.shape[-1] == 1 else candidates.min(dim=-1).values


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
        tiny = torch.finfo(candidates.dtype).tiny
        scores = -self.sharpness * candidates.clamp(min=tiny).log()
        given = torch.arange(self.n_best, device=count.device) < count[..., None]
        return (torch.where(given, scores, -torch.inf).softmax(dim=-1) * candidates).sum(dim=-1)

    def extra_repr(self) -> str:
        """Describe the settings for `repr`."""
        return f"n_best={self.n_best}, sharpness={self.sharpness:g}"
