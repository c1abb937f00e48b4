"""Shapelets that are small neural networks."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor, nn

from .base import ShapeletFamily, as_tensor


class NetworkShapelets(ShapeletFamily):
    r"""A small neural network for each shapelet, from [0, 1] to the channels.

    .. math:: w(u) = V \tanh(a u + b) + c

    Parameters
    ----------
    values, lengths, max_length
        As for `ShapeletFamily`. The hidden units start as steps spread over [0, 1]; V and c start at the
        (ridge) least-squares fit to these values. No randomness.
    width : int
        Number of hidden units.

    Examples
    --------
    >>> import torch
    >>> from genshapelets import NetworkShapelets
    >>> bump = torch.linspace(0, 3.14, 20).sin()[None, None]
    >>> shapelets = NetworkShapelets(bump, lengths=5.0, width=8)
    >>> bool((shapelets.values - bump).abs().max() < 0.05)
    True
    """

    def __init__(
        self,
        values: ArrayLike | Tensor,
        lengths: ArrayLike | Tensor,
        max_length: float | None = None,
        *,
        width: int = 16,
    ) -> None:
        values = as_tensor(values, "values").detach()
        super().__init__(values, lengths, max_length)
        if width < 1:
            raise ValueError(f"width must be at least 1; got {width}.")
        self.width = width
        centres = (np.arange(width) + 0.5) / width
        slope = np.full((self.n_shapelets, width), max(2.0, width / 2.0))
        u = np.linspace(0.0, 1.0, self.n_knots)
        hidden = np.tanh(slope[0] * (u[:, None] - centres))
        design = np.column_stack([hidden, np.ones(self.n_knots)])
        gram = design.T @ design + RIDGE * self.n_knots * np.eye(width + 1)
        start = values.double().cpu().numpy() @ np.linalg.solve(gram, design.T).T
        self.slope = nn.Parameter(torch.from_numpy(slope).to(values))
        self.shift = nn.Parameter(torch.from_numpy(-slope * centres).to(values))
        self.outgoing = nn.Parameter(torch.from_numpy(start[..., :-1]).to(values))
        self.bias = nn.Parameter(torch.from_numpy(start[..., -1:]).to(values))

    @property
    def values(self) -> Tensor:  # type: ignore[override]
        """Values at even knots, (shapelets, channels, knots)."""
        return self(torch.linspace(0, 1, self.n_knots).to(self.slope))

    def forward(self, u: Tensor) -> Tensor:
        """Values at points u of [0, 1], (shapelets, channels, points)."""
        hidden = torch.tanh(self.slope[..., None] * u + self.shift[..., None])
        return self.outgoing @ hidden + self.bias


RIDGE = 1e-6  # on V and c at the start, so that they stay small
