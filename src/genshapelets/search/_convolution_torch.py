"""The convolution search in plain torch: the twin of `convolution`, for other devices."""

from __future__ import annotations

import torch
from torch import Tensor

from ..discrepancies._lattice import is_whole, last_share, n_pieces
from ..offsets import AT_END, FREE, Offsets
from ..parallel import run_in_turn
from .lattice import fast_length, last_rows, most_offsets, padded_rows, window_taps
from .problem import L2Problem

CHUNK_BYTES = 2**25


def search_torch(problem: L2Problem, form: str, device: torch.device) -> Offsets:
    """Best offset among every sample and the last possible start; see `search_convolution`."""
    paths = problem.paths
    dtype = torch.float32 if device.type == "mps" else torch.float64
    both, finding_taps = window_taps(problem)
    run_in_turn(finding_taps)
    taps, end_taps = torch.from_numpy(both).to(device, dtype)
    n_shapelets, n_taps, n_channels = taps.shape
    n_offsets = most_offsets(problem)
    if form == "fft":
        per_path = 16 * paths.longest * max(n_shapelets, n_channels)
    else:
        per_path = 8 * n_offsets * max(n_shapelets, n_taps * n_channels)
    size = max(1, CHUNK_BYTES // per_path)
    start = torch.empty((len(paths), n_shapelets), dtype=dtype, device=device)
    slope = torch.empty_like(start)
    index = torch.empty(start.shape, dtype=torch.int64, device=device)
    for first in range(0, len(paths), size):
        last = min(first + size, len(paths))
        x = torch.from_numpy(padded_rows(paths, problem.rows, first, last)).to(device, dtype)
        correlation = by_spectra(x, taps) if form == "fft" else by_windows(x, taps, n_offsets)
        ends = torch.from_numpy(last_rows(paths, problem.rows, first, last, n_taps))
        end_correlation = ends.to(device, dtype) @ end_taps.reshape(n_shapelets, -1).T
        out = (start[first:last], slope[first:last], index[first:last])
        _pick(problem, first, last, correlation, end_correlation, *out)
    return Offsets(
        start.cpu().double().numpy(), slope.cpu().double().numpy(), index.cpu().numpy(), form
    )


def by_windows(x: Tensor, taps: Tensor, n_offsets: int) -> Tensor:
    """Correlation (shapelets, series, offsets) of x (series, rows, channels), window by window."""
    n_series, n_rows, n_channels = x.shape
    n_shapelets, n_taps, _ = taps.shape
    beyond = n_offsets + n_taps - 1 - n_rows
    x = torch.nn.functional.pad(x, (0, 0, 0, beyond)) if beyond > 0 else x.contiguous()
    windows = x.as_strided(
        (n_series, n_offsets, n_taps * n_channels), (x.stride(0), n_channels, 1)
    ).reshape(n_series * n_offsets, -1)
    return (taps.reshape(n_shapelets, -1) @ windows.T).reshape(n_shapelets, n_series, n_offsets)


def by_spectra(x: Tensor, taps: Tensor) -> Tensor:
    """Correlation (shapelets, series, offsets) of x (series, rows, channels), by FFT.

    Circular: a period of at least the longest path suffices, as a window that would wrap around ends
    beyond its path and is no candidate.
    """
    period = fast_length(max(x.shape[1], taps.shape[1]))
    spectrum = torch.fft.rfft(x.transpose(1, 2), period)  # (series, channels, frequencies)
    of_taps = torch.fft.rfft(taps.transpose(1, 2), period).conj()
    product = torch.bmm(of_taps.permute(2, 0, 1), spectrum.permute(2, 1, 0))
    return torch.fft.irfft(product.permute(1, 2, 0), period)


def _pick(
    problem: L2Problem,
    first: int,
    last: int,
    correlation: Tensor,
    end_correlation: Tensor,
    start: Tensor,
    slope: Tensor,
    index: Tensor,
) -> None:
    """Add the window's energy to the correlations and take the earliest smallest cost."""
    paths = problem.paths
    step = paths.common_step
    x = torch.from_numpy(padded_rows(paths, problem.rows, first, last)).to(correlation)
    columns = problem.energy.shape[1]
    energy = padded_rows(paths, problem.energy.reshape(-1, columns * 3), first, last)
    density = torch.from_numpy(energy).to(correlation).unflatten(-1, (columns, 3))
    lengths = torch.from_numpy(paths.lengths[first:last]).to(correlation.device)
    row = torch.arange(x.shape[1], device=correlation.device)
    piece = step * (density[..., 0] + density[..., 1] + density[..., 2] / 3)
    piece = torch.where((row < lengths[:, None] - 1)[..., None], piece, 0.0)
    prefix = torch.nn.functional.pad(piece.cumsum(dim=1), (0, 0, 1, 0))[:, :-1]
    trapezia = step / 2 * (x[:, 1:] + x[:, :-1])
    integral = torch.nn.functional.pad(trapezia.cumsum(dim=1), (0, 0, 1, 0))
    span = (lengths - 1).to(correlation.dtype) * step
    everyone = torch.arange(last - first, device=correlation.device)

    def running(at: Tensor, time: float, c: int) -> tuple[Tensor, Tensor]:
        """Energy and integral of the path up to a time after the given rows."""
        share = time / step
        chosen = density[everyone[:, None], at, c]
        energy = prefix[everyone[:, None], at, c] + time * (
            chosen[..., 0] + share * (chosen[..., 1] + share * chosen[..., 2] / 3)
        )
        here, there = (
            x[everyone[:, None], at],
            x[everyone[:, None], (at + 1).clamp(max=len(row) - 1)],
        )
        level = integral[everyone[:, None], at] + time * (here + share / 2 * (there - here))
        return energy, level

    for k, length in enumerate(problem.lengths.tolist()):
        c = int(problem.column[k])
        pieces = n_pieces(length, step)
        partial = length - (pieces - 1) * step
        weight = torch.from_numpy(problem.weights[min(k, len(problem.weights) - 1)]).to(correlation)
        end_row = (lengths - 1 - pieces).clamp(min=0)
        finish = (row + pieces - 1).clamp(max=len(row) - 1).expand(last - first, -1)
        to_finish = running(finish, partial, c)
        to_end = running((lengths - 1)[:, None], 0.0, c)
        to_end_start = running(end_row[:, None], step - partial, c)
        tried = correlation[k, :, : len(row)]
        tried = torch.nn.functional.pad(tried, (0, len(row) - tried.shape[1]))
        cost = to_finish[0] - prefix[:, :, c] - 2 * tried
        end_cost = (to_end[0] - to_end_start[0])[:, 0] - 2 * end_correlation[:, k]
        if problem.level_free[k]:
            level = to_finish[1] - integral
            cost = cost - (weight * level**2).sum(dim=-1) / length
            end_level = (to_end[1] - to_end_start[1])[:, 0]
            end_cost = end_cost - (weight * end_level**2).sum(dim=-1) / length
        n_offsets = lengths - pieces - int(is_whole(last_share(length, step, pieces), pieces))
        cost = torch.where(row < n_offsets[:, None], cost, torch.inf)
        best_cost, best = cost.min(dim=1)
        short = span <= length
        at_end = ~short & ((end_cost < best_cost) | ~(best_cost < torch.inf))
        best = torch.where(short | at_end, 0, best)
        start[:, k] = torch.where(at_end, span - length, best.to(correlation.dtype) * step)
        slope[:, k] = torch.where(at_end, -1.0, 0.0)
        index[:, k] = torch.where(at_end, AT_END, torch.where(short, FREE, best))
