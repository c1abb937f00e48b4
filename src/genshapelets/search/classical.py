"""Search for the classical discrepancy: every sample, a plain correlation."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from ..offsets import Offsets
from ..paths import Paths
from ._convolution_torch import CHUNK_BYTES, by_spectra, by_windows
from .lattice import cheaper_form, padded_rows


@torch.no_grad()
def search_classical(paths: Paths, values: Tensor, form: str) -> Offsets:
    """Best sample to start at; ``form`` as in `search_convolution`, or "auto"."""
    if not paths.common_step:
        raise ValueError(
            "the classical discrepancy counts samples, so all series must be regularly sampled with "
            f"one common step; series {paths.odd_one()} is not. Use L2Discrepancy, which works in "
            "continuous time."
        )
    n_shapelets, n_channels, n_samples = values.shape
    longest = max(int(paths.lengths.max()), n_samples)
    if form == "auto":
        form = cheaper_form(longest, longest - n_samples + 1, n_samples, n_channels, n_shapelets)
    dtype = torch.float32 if values.device.type == "mps" else torch.float64
    middle = values.detach().to(dtype).mean(dim=(0, 2))
    taps = (values.detach().to(dtype) - middle[:, None]).transpose(1, 2).contiguous()
    index = torch.zeros((len(paths), n_shapelets), dtype=torch.int64, device=values.device)
    per_path = (
        16 * longest * max(n_channels * (n_samples if form == "convolution" else 1), n_shapelets)
    )
    size = max(1, CHUNK_BYTES // per_path)
    for first in range(0, len(paths), size):
        last = min(first + size, len(paths))
        rows = torch.from_numpy(padded_rows(paths, paths.values, first, last))
        x = rows.to(values.device, dtype) - middle
        n_rows = torch.from_numpy(paths.lengths[first:last]).to(values.device)
        energy = torch.nn.functional.pad(x.square().sum(dim=2).cumsum(dim=1), (1, 0))
        n_offsets = (n_rows - n_samples + 1).clamp(min=1)
        offset = torch.arange(int(n_offsets.max()), device=values.device)
        until = (offset + n_samples).clamp(max=energy.shape[1] - 1)
        cost = (energy[:, until] - energy[:, offset])[:, None]
        found = by_spectra(x, taps) if form == "fft" else by_windows(x, taps, len(offset))
        cost = cost - 2 * found[:, :, : len(offset)].transpose(0, 1)
        cost = torch.where(offset < n_offsets[:, None, None], cost, torch.inf)
        index[first:last] = cost.argmin(dim=2)
    best = index.cpu().numpy()
    return Offsets(best * paths.common_step, np.zeros(best.shape), best, form)
