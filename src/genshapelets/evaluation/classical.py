"""The classical discrepancy at given samples."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from ..discrepancies import Discrepancy
from ..offsets import Offsets
from ..paths import Paths
from ..windows import wide_dtype
from .generic import in_chunks


def evaluate_classical(
    discrepancy: Discrepancy, paths: Paths, values: Tensor, lengths: Tensor, offsets: Offsets
) -> Tensor:
    """Sum of squared differences; starts are samples, and lengths play no part."""
    device, dtype = values.device, wide_dtype(values.device)
    n_shapelets, n_channels, n_samples = values.shape
    step = np.where(paths.step > 0, paths.step, 1.0)[:, None, None]
    start = torch.from_numpy(np.rint(offsets.start / step).astype(np.int64)).transpose(1, 2)
    origin, end = (torch.from_numpy(row) for row in (paths.row_offsets[:-1], paths.row_offsets[1:]))
    sample = torch.arange(n_samples)
    rows = torch.from_numpy(paths.values).to(device, dtype)

    def chunk(first: int, last: int, start: Tensor, values: Tensor) -> Tensor:
        row = (origin[first:last, None, None] + start)[..., None] + sample
        row = torch.minimum(row, end[first:last, None, None, None] - 1)
        windows = rows[row.to(device)]
        times = lengths.new_zeros(windows.shape[:-1])
        return discrepancy(times, windows, values.transpose(1, 2))

    per_offset = n_shapelets * n_samples * n_channels
    found = in_chunks(chunk, start, (values.to(dtype),), per_offset)
    return found.transpose(1, 2).to(values.dtype)
