"""Grid search on regularly sampled paths: it is a convolution.

With samples h apart, f = sum_i x_i hat_i, and int f(s + t).w(t) dt = sum_m x_{s/h + m}.v_m: the same
taps v for every offset s on the lattice and every path, exact in continuous time for any length. The
window's energy comes from prefix sums. The last possible offset, which lies between samples, is one
more product, with taps counted from the end.

Runs on any device. On the CPU the correlation is torch's, what follows it a compiled kernel.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from ..discrepancies._lattice import ROUNDING, find_taps, n_pieces
from ..offsets import AT_END, FREE, Offsets
from ..parallel import kernel, run_blocks, u
from ..paths import Array, Paths
from .problem import L2Problem
from .sums import running_sum, sliding_sums, sum_between

CHUNK_BYTES = 2**25


def search_convolution(problem: L2Problem, form: str, device: torch.device) -> Offsets:
    """Best offset among every sample and the last possible start.

    Parameters
    ----------
    problem : L2Problem
        Its paths share one sampling step.
    form : "convolution" or "fft"
        Multiply windows by taps, or spectra by spectra.
    device : torch.device
    """
    paths = problem.paths
    step = paths.common_step
    dtype = torch.float32 if device.type == "mps" else torch.float64
    taps, end_taps = (
        torch.from_numpy(_taps(problem, at_end, step)).to(device, dtype) for at_end in (0, 1)
    )  # (shapelets, taps, channels)
    n_shapelets, n_taps, n_channels = taps.shape
    longest = int(paths.lengths.max())
    n_offsets = max(longest - n_pieces(problem.lengths.min(), step), 1)
    if form == "fft":
        per_path = 16 * longest * max(n_shapelets, n_channels)
    else:
        per_path = 8 * n_offsets * max(n_shapelets, n_taps * n_channels)
    size = max(1, CHUNK_BYTES // per_path)
    start = torch.empty((len(paths), n_shapelets), dtype=dtype, device=device)
    slope, index = (
        torch.empty_like(start),
        torch.empty(start.shape, dtype=torch.int64, device=device),
    )
    pick = _pick_compiled if device.type == "cpu" else pick_torch
    for first in range(0, len(paths), size):
        last = min(first + size, len(paths))
        x = padded_rows(paths, problem.rows, first, last).to(device, dtype)
        correlation = by_spectra(x, taps) if form == "fft" else by_windows(x, taps, n_offsets)
        at_end = last_rows(paths, problem.rows, first, last, n_taps).to(device, dtype)
        end_correlation = at_end @ end_taps.flip(1).reshape(n_shapelets, -1).T
        out = (start[first:last], slope[first:last], index[first:last])
        pick(problem, first, last, correlation, end_correlation, *out)
    return Offsets(start, slope, index, form)


def choose_form(problem: L2Problem) -> str:
    """Choose the cheaper form for a problem."""
    paths, lengths, step = problem.paths, problem.lengths, problem.paths.common_step
    longest = int(paths.lengths.max())
    n_taps = min(n_pieces(lengths.max(), step) + 1, longest)
    n_offsets = max(longest - n_pieces(lengths.min(), step), 1)
    return cheaper_form(longest, n_offsets, n_taps, paths.n_channels, len(lengths))


def cheaper_form(
    n_rows: int, n_offsets: int, n_taps: int, n_channels: int, n_shapelets: int
) -> str:
    """Estimate the cheaper form. The constants are nanoseconds measured on one core of a Xeon."""
    windows = n_offsets * n_taps * n_channels * (1.0 + 0.06 * n_shapelets)
    spectra = 1.7 * (n_channels + n_shapelets) * n_rows * np.log2(n_rows + 1)
    return "fft" if spectra < windows else "convolution"


def _taps(problem: L2Problem, at_end: int, step: float) -> Array:
    n_shapelets, _, n_channels = problem.shapelets.shape
    # A length beyond every span never meets a window: its taps would only cost memory.
    lengths = np.minimum(problem.lengths, problem.paths.spans.max() + step)
    taps = np.zeros((n_shapelets, n_pieces(lengths.max(), step) + 1, n_channels))
    find_taps(0, n_shapelets, at_end, step, problem.shapelets, lengths, taps)
    return taps


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
    period = _fast_length(max(x.shape[1], taps.shape[1]))
    spectrum = torch.fft.rfft(x.transpose(1, 2), period)  # (series, channels, frequencies)
    of_taps = torch.fft.rfft(taps.transpose(1, 2), period).conj()
    product = torch.bmm(of_taps.permute(2, 0, 1), spectrum.permute(2, 1, 0))
    return torch.fft.irfft(product.permute(1, 2, 0), period)


def _fast_length(n: int) -> int:
    """Smallest even number from n on without prime factors above 5."""
    n += n % 2
    while True:
        rest = n
        for factor in (2, 3, 5):
            while rest % factor == 0:
                rest //= factor
        if rest == 1:
            return n
        n += 2


def padded_rows(paths: Paths, rows: Array, first: int, last: int) -> Tensor:
    """Rows of paths first..last, (series, longest, channels), zeros as padding."""
    lengths = paths.lengths[first:last]
    begin, end = paths.row_offsets[first], paths.row_offsets[last]
    longest = int(paths.lengths.max())
    if lengths.min() == longest:
        return torch.from_numpy(rows[begin:end]).reshape(last - first, longest, -1)
    out = np.zeros((last - first, longest, rows.shape[1]))
    out[np.arange(longest) < lengths[:, None]] = rows[begin:end]
    return torch.from_numpy(out)


def last_rows(paths: Paths, rows: Array, first: int, last: int, count: int) -> Tensor:
    """The last ``count`` rows of paths first..last, the last one first, (series, count * channels).

    Where a path has fewer, its first row stands in; no candidate window reaches there.
    """
    row = paths.row_offsets[first + 1 : last + 1, None] - 1 - np.arange(count)
    row = np.maximum(row, paths.row_offsets[first:last, None])
    return torch.from_numpy(rows[row].reshape(last - first, -1))


def _pick_compiled(
    problem: L2Problem,
    first: int,
    last: int,
    correlation: Tensor,
    end_correlation: Tensor,
    start: Tensor,
    slope: Tensor,
    index: Tensor,
) -> None:
    paths = problem.paths
    run_blocks(
        _pick, last - first, first, int(paths.lengths.max()), correlation.numpy(),
        end_correlation.numpy(), problem.rows,
        problem.energy, problem.column, paths.row_offsets, paths.common_step,
        problem.lengths, problem.level_free, problem.weights,
        start.numpy(), slope.numpy(), index.numpy(),
    )  # fmt: skip


@kernel
def _pick(
    block_first, block_last, first, longest, correlation, end_correlation, rows, energy, column,
    row_offsets, step, lengths, level_free, weights, start, slope, index,
):  # fmt: skip
    """Add the window's energy to the correlations and take the earliest smallest cost."""
    n_columns, n_channels = energy.shape[1], rows.shape[1]
    any_level_free = False
    pieces_of, partial_of = np.empty(len(lengths), np.int64), np.empty(len(lengths))
    for k in range(len(lengths)):
        any_level_free = any_level_free or level_free[k]
        pieces_of[k] = n_pieces(lengths[k], step)
        partial_of[k] = lengths[k] - (pieces_of[k] - 1) * step
    per_step = 1.0 / step
    terms, density = np.empty(longest), np.empty((3, n_columns, longest))
    sums = np.empty((n_columns, 2, longest))
    integral = np.zeros((longest if any_level_free else 1, n_channels))
    cost = np.empty(longest)
    for local in range(block_first, block_last):
        begin, end = row_offsets[first + local], row_offsets[first + local + 1]
        n_rows = end - begin
        last_row = n_rows - 1
        span = last_row * step
        for c in range(n_columns):
            for row in range(n_rows):
                e, b, d = (
                    energy[begin + row, c, 0],
                    energy[begin + row, c, 1],
                    energy[begin + row, c, 2],
                )
                density[0, c, row], density[1, c, row], density[2, c, row] = e, b, d
                terms[row] = step * (e + b + d / 3.0)
            running_sum(terms, last_row, sums, c)
        if any_level_free:
            for row in range(1, n_rows):
                for channel in range(n_channels):
                    integral[row, channel] = integral[row - 1, channel] + 0.5 * step * (
                        rows[begin + row - 1, channel] + rows[begin + row, channel]
                    )
        for k in range(len(lengths)):
            length = lengths[k]
            start[local, k] = 0.0
            slope[local, k] = 0.0
            index[local, k] = FREE
            if span <= length:
                continue
            c = column[k]
            pieces, partial = pieces_of[k], partial_of[k]
            share = partial * per_step
            n_offsets = n_rows - pieces
            if share > 1.0 - ROUNDING:
                n_offsets -= 1  # the last one is the last possible start
            e_part, b_part, d_part = partial, partial * share, partial * share * share * (1.0 / 3.0)
            whole = pieces - 1
            sliding_sums(sums, c, whole, n_offsets, cost)
            for offset in range(u(n_offsets)):
                row = offset + u(whole)
                cost[offset] += (
                    -2.0 * correlation[k, local, offset]
                    + e_part * density[0, c, row] + b_part * density[1, c, row]
                    + d_part * density[2, c, row]
                )  # fmt: skip
            row = last_row - pieces
            rest = step - partial
            rest_share = rest * per_step
            end_cost = (
                sum_between(sums, c, row, last_row) - 2.0 * end_correlation[local, k]
                - rest * density[0, c, row]
                - rest * rest_share * (density[1, c, row] + rest_share * density[2, c, row] / 3.0)
            )  # fmt: skip
            if level_free[k]:
                weight = weights[min(k, len(weights) - 1)]
                for offset in range(u(n_offsets)):
                    row = offset + u(whole)
                    square = 0.0
                    for channel in range(u(n_channels)):
                        here = rows[u(begin) + row, channel]
                        rise = rows[u(begin) + row + u(1), channel] - here
                        level = (
                            integral[row, channel] - integral[offset, channel]
                            + partial * (here + 0.5 * share * rise)
                        )  # fmt: skip
                        square += weight[channel] * level * level
                    cost[offset] -= square / length
                row = last_row - pieces
                square = 0.0
                for channel in range(n_channels):
                    here = rows[begin + row, channel]
                    rise = rows[begin + row + 1, channel] - here
                    level = (
                        integral[last_row, channel] - integral[row, channel]
                        - rest * (here + 0.5 * rest_share * rise)
                    )  # fmt: skip
                    square += weight[channel] * level * level
                end_cost -= square / length
            best, best_cost = -1, np.inf
            for offset in range(n_offsets):
                if cost[offset] < best_cost:
                    best, best_cost = offset, cost[offset]
            if best >= 0 and best_cost <= end_cost:
                start[local, k] = best * step
                index[local, k] = best
            else:
                start[local, k] = span - length
                slope[local, k] = -1.0
                index[local, k] = AT_END


def pick_torch(
    problem: L2Problem,
    first: int,
    last: int,
    correlation: Tensor,
    end_correlation: Tensor,
    start: Tensor,
    slope: Tensor,
    index: Tensor,
) -> None:
    """Twin of `_pick` in plain torch, for other devices."""
    paths = problem.paths
    step = paths.common_step
    x = padded_rows(paths, problem.rows, first, last).to(correlation)
    columns = problem.energy.shape[1]
    density = padded_rows(paths, problem.energy.reshape(-1, columns * 3), first, last).to(
        correlation
    )
    density = density.unflatten(-1, (columns, 3))
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
        n_offsets = lengths - pieces - int(partial / step > 1 - ROUNDING)
        cost = torch.where(row < n_offsets[:, None], cost, torch.inf)
        best_cost, best = cost.min(dim=1)
        short = span <= length
        at_end = ~short & ~(best_cost <= end_cost)
        best = torch.where(short | at_end, 0, best)
        start[:, k] = torch.where(at_end, span - length, best.to(correlation.dtype) * step)
        slope[:, k] = torch.where(at_end, -1.0, 0.0)
        index[:, k] = torch.where(at_end, AT_END, torch.where(short, FREE, best))
