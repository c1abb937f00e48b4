"""The classical discrepancy at given samples."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from ..discrepancies import Discrepancy
from ..offsets import Offsets
from ..paths import Paths
from ..windows import wide_dtype


def evaluate_classical(
    discrepancy: Discrepancy, paths: Paths, values: Tensor, lengths: Tensor, offsets: Offsets
) -> Tensor:
    """Sum of squared differences; starts are samples, and lengths play no part."""
    n_samples = values.shape[2]
    step = np.where(paths.step > 0, paths.step, 1.0)[:, None, None]
    first = paths.row_offsets[:-1, None, None] + np.rint(offsets.start / step).astype(np.int64)
    last = paths.row_offsets[1:] - 1
    row = np.minimum(first[..., None] + np.arange(n_samples), last[:, None, None, None])
    wide = values.to(wide_dtype(values.device))
    windows = torch.from_numpy(paths.values).to(wide)[torch.from_numpy(row).to(values.device)]
    shapelets = wide.transpose(1, 2)[:, None]
    times = lengths.new_zeros(windows.shape[:-1])
    return discrepancy(times, windows, shapelets).to(values.dtype)
