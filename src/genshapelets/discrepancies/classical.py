"""The classical discrepancy: discrete time, a plain sum of squares."""

from __future__ import annotations

from functools import partial

import numpy as np
import torch
from torch import Tensor

from ..offsets import Offsets
from ..paths import Paths
from .base import Discrepancy, Evaluation


class ClassicalDiscrepancy(Discrepancy):
    r"""Equation (2) of the paper, for comparison and as a baseline.

    .. math:: \sigma(f, w) = \min_{s \in \{0, \dots, T - S\}} \sum_{t=0}^{S-1} |f_{s+t} - w_t|^2

    A shapelet's knots are its S samples; its length is not learnt. Paths must be regularly sampled;
    missing values are interpolated beforehand, and a path of fewer than S samples is held at its last
    value.
    """

    def check(self, n_shapelets: int, n_channels: int) -> None:
        """Take any shapelets."""

    def prepare(
        self,
        paths: Paths,
        values: Tensor,
        lengths: Tensor,  # noqa: ARG002
    ) -> Evaluation:
        """Sum of squared differences at the given samples; lengths play no part."""
        return Evaluation(partial(_sum_of_squares, paths, values))


def _sum_of_squares(paths: Paths, values: Tensor, offsets: Offsets) -> Tensor:
    n_samples = values.shape[2]
    first = paths.row_offsets[:-1, None] + offsets.index
    last = paths.row_offsets[1:] - 1
    row = np.minimum(first[..., None] + np.arange(n_samples), last[:, None, None])
    # In float64 and rounded once; mps has no float64.
    wide = values if values.device.type == "mps" else values.double()
    windows = torch.from_numpy(paths.values).to(wide)[torch.from_numpy(row).to(values.device)]
    return (windows - wide.transpose(1, 2)).square().sum(dim=(2, 3)).to(values.dtype)
