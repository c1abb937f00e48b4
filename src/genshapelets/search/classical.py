"""Search for the classical discrepancy: every sample by a convolution, what is close exactly."""

from __future__ import annotations

import numpy as np
import torch
from scipy.fft import next_fast_len
from torch import Tensor

from ..discrepancies import Discrepancy
from ..offsets import Offsets
from ..paths import Paths
from ..windows import PaddedPaths, wide_dtype
from .generic import best_minima

MAX_ELEMENTS = 2**22  # of one chunk of paths, or of windows
TOLERANCE = 64  # roundings of the energies that a cost is made of


@torch.no_grad()
def search_classical(
    discrepancy: Discrepancy,  # noqa: ARG001
    paths: Paths,
    values: Tensor,
    lengths: Tensor,  # noqa: ARG001
    search: str,
    n_best: int,
) -> Offsets:
    """Best samples to start at: sum |f - w|^2 = sum |f|^2 - 2 sum f.w + constant."""
    if search not in ("auto", "grid"):
        raise ValueError(
            f'the classical discrepancy is searched with search="grid"; got {search!r}.'
        )
    check_samples(paths)
    device, dtype = values.device, wide_dtype(values.device)
    n_shapelets, n_channels, n_samples = values.shape
    taps = values.to(dtype)
    centre = taps.mean(dim=(0, 2))
    taps = taps - centre[:, None]
    start = np.zeros((len(paths), n_shapelets, n_best))
    count = np.ones((len(paths), n_shapelets), np.int64)
    longest = max(int(paths.lengths.max()), n_samples)
    period = next_fast_len(longest, real=True)
    spectra = torch.fft.rfft(taps, period).conj()
    shapelet_energy = taps.square().sum(dim=(1, 2))
    size = max(1, MAX_ELEMENTS // (period * max(n_shapelets, n_channels)))
    for first in range(0, len(paths), size):
        chunk = slice(first, first + size)
        x = PaddedPaths.of(paths[chunk], device).values - centre
        spectrum = torch.fft.rfft(x, period, dim=1)
        product = torch.einsum("nfd,kdf->nkf", spectrum, spectra)
        energy = torch.nn.functional.pad(x.square().sum(dim=2).cumsum(dim=1), (1, 0))
        offset = torch.arange(max(x.shape[1] - n_samples + 1, 1), device=device)
        until = (offset + n_samples).clamp(max=x.shape[1])
        cost = (energy[:, until] - energy[:, offset])[:, None]
        cost = cost - 2 * torch.fft.irfft(product, period)[:, :, : len(offset)]
        n_rows = torch.from_numpy(paths.lengths[chunk]).to(device)
        last = (n_rows - n_samples).clamp(min=0)
        cost = torch.where(offset <= last[:, None, None], cost, torch.inf)
        if n_best == 1:
            rounding = TOLERANCE * torch.finfo(dtype).eps * (energy[:, -1:] + shapelet_energy)
            cost = _settled(cost, rounding[..., None], x, taps)
        best, found = best_minima(cost.movedim(2, 0).flatten(1), n_best)
        index = best.T.reshape(len(x), n_shapelets, n_best).cpu().numpy()
        step = np.where(paths.step[chunk] > 0, paths.step[chunk], 1.0)
        start[chunk] = index * step[:, None, None]
        count[chunk] = found.reshape(len(x), n_shapelets).cpu().numpy()
    return Offsets(start, np.zeros_like(start), count, "convolution")


def check_samples(paths: Paths) -> None:
    """Refuse paths that are not regularly sampled with one common step."""
    steps = paths.step[paths.lengths > 1]
    if not (steps == steps[:1]).all() or (steps == 0).any():
        several = np.flatnonzero(paths.lengths > 1)
        odd = several[np.argmax(steps == 0 if (steps == 0).any() else steps != steps[0])]
        raise ValueError(
            "the classical discrepancy counts samples, so all series must be regularly sampled with "
            f"one common step; series {odd} is not. Use L2Discrepancy (in an estimator "
            'discrepancy="l2"), which works in continuous time.'
        )


def _settled(cost: Tensor, rounding: Tensor, x: Tensor, taps: Tensor) -> Tensor:
    """Costs within rounding of the least as exact sums of squares, so that ties are ties.

    All others become infinite. Where a cost has overflowed, all are within rounding.
    """
    close = ~(cost > cost.amin(dim=2, keepdim=True) + rounding) & (cost != torch.inf)
    series, shapelet, offset = close.nonzero(as_tuple=True)
    settled = torch.full_like(cost, torch.inf)
    sample = torch.arange(taps.shape[2], device=x.device)
    for n, k, s in zip(
        *(index.split(MAX_ELEMENTS // taps[0].numel() + 1) for index in (series, shapelet, offset)),
        strict=True,
    ):
        row = (s[:, None] + sample).clamp(max=x.shape[1] - 1)
        difference = x[n[:, None], row] - taps[k].transpose(1, 2)
        settled[n, k, s] = difference.square().sum(dim=(1, 2))
    return settled
