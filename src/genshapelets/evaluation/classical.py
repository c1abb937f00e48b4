"""The classical discrepancy at given samples."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from ..discrepancies import ClassicalDiscrepancy, Discrepancy
from ..offsets import Offsets
from ..paths import Paths
from ..windows import wide_dtype
from .generic import in_chunks


def evaluate_classical(
    discrepancy: Discrepancy, paths: Paths, values: Tensor, lengths: Tensor, offsets: Offsets
) -> Tensor:
    """Sum of squared differences; starts are samples, and lengths play no part.

    Where all shapelets are laid at the same several places, as for a minimum over all of them, each
    window is multiplied with all shapelets at once.
    """
    assert isinstance(discrepancy, ClassicalDiscrepancy)
    device, dtype = values.device, wide_dtype(values.device)
    n_shapelets, n_channels, n_samples = values.shape
    step = np.where(paths.step > 0, paths.step, 1.0)[:, None, None]
    start = torch.from_numpy(np.rint(offsets.start / step).astype(np.int64)).transpose(1, 2)
    origin, end = (torch.from_numpy(row) for row in (paths.row_offsets[:-1], paths.row_offsets[1:]))
    rows = torch.from_numpy(paths.values).to(device, dtype)

    def windows(first: int, last: int, start: Tensor) -> Tensor:
        """Values (series, offsets, …, samples, channels) at starts (series, offsets, …)."""
        each = (-1, *[1] * start.ndim)  # an axis for the series, the others for it to repeat
        row = origin[first:last].reshape(each) + start[..., None] + torch.arange(n_samples)
        return rows[torch.minimum(row, end[first:last].reshape(each) - 1).to(device)]

    def differences(first: int, last: int, start: Tensor, values: Tensor) -> Tensor:
        path = windows(first, last, start)
        return discrepancy(lengths.new_zeros(path.shape[:-1]), path, values.transpose(1, 2))

    def products(first: int, last: int, start: Tensor, values: Tensor) -> Tensor:
        """|f - w|^2 = |f|^2 - 2 f.w + |w|^2, about the middle of the shapelets to lose few digits."""
        centre = values.detach().mean(dim=(0, 2))
        path = (windows(first, last, start) - centre).flatten(2)
        taps = (values.transpose(1, 2) - centre).flatten(1)
        energy = path.square().sum(dim=-1, keepdim=True) + taps.square().sum(dim=-1)
        total = (energy - 2 * path @ taps.T).clamp(min=0.0)
        return total / n_samples if discrepancy.mean else total

    wide = values.to(dtype)
    if start.shape[1] > 1 and bool((start == start[..., :1]).all()):
        per_offset = n_samples * n_channels + n_shapelets
        found = in_chunks(products, start[..., 0], (wide,), per_offset)
    else:
        found = in_chunks(differences, start, (wide,), n_shapelets * n_samples * n_channels)
    return found.transpose(1, 2).to(values.dtype)
