"""Grid search on regularly sampled paths: it is a convolution.

With samples h apart, f = sum_i x_i hat_i, and int f(s + t).w(t) dt = sum_m x_{s/h + m}.v_m: the same
taps v for every offset s on the lattice and every path, exact in continuous time for any length. The
window's energy comes from prefix sums. The last possible offset, which lies between samples, is one
more product, with taps counted from the end.

Chunks of paths, small enough for a core's cache, go through all of it one after the other, several at
the same time if there are threads. Numpy does it here; `_convolution_torch` is the twin for other
devices.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch

from ..discrepancies._lattice import ROUNDING, n_pieces
from ..offsets import AT_END, FREE, Offsets
from ..parallel import kernel, one_blas_thread, run_blocks, scratch, u
from ..paths import Array
from ._convolution_torch import search_torch
from .by_channel import pick_by_channel
from .lattice import fast_length, last_rows, most_offsets, padded_rows, window_taps
from .problem import L2Problem, energy_density
from .side_by_side import pick_side_by_side, similar_lengths
from .sums import running_sum, sliding_sums, sum_between

CHUNK_BYTES = 2**19  # of the largest array; four of them share a core's cache


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
    if device.type != "cpu":
        return search_torch(problem, form, device)
    paths, lengths = problem.paths, problem.lengths
    start, slope = np.empty((2, len(paths), len(lengths)))
    index = np.empty((len(paths), len(lengths)), np.int64)
    out = (start, slope, index)
    taps, end_taps = window_taps(problem)
    n_shapelets, n_taps, _ = taps.shape
    channels_apart = len(problem.weights) > 1 or bool(problem.level_free.any())
    side_by_side = form == "convolution" and not channels_apart
    if side_by_side:
        order, runs = similar_lengths(lengths, paths.common_step)
        taps, end_taps = taps[order], end_taps[order]
    if form == "fft":
        correlate, per_path = by_spectra(taps, paths.longest)
    else:
        correlate, per_path = by_windows(taps, most_offsets(problem), shapelets_last=side_by_side)
    flat_end_taps = end_taps.reshape(n_shapelets, -1).T

    def one_chunk(first: int, last: int) -> None:
        found = (
            first, last, correlate(padded_rows(paths, problem.rows, first, last)),
            last_rows(paths, problem.rows, first, last, n_taps) @ flat_end_taps,
            problem.rows, paths.row_offsets, paths.longest, paths.common_step, problem.shift,
            problem.weights, lengths,
        )  # fmt: skip
        if channels_apart:
            pick_by_channel(*found, problem.level_free, *out)
        elif side_by_side:
            pick_side_by_side(*found, order, runs, *out)
        else:
            _pick(*found, *out)

    with one_blas_thread():
        run_blocks(one_chunk, len(paths), n_blocks=1 + len(paths) * per_path // CHUNK_BYTES)
    return Offsets(torch.from_numpy(start), torch.from_numpy(slope), torch.from_numpy(index), form)


def by_windows(
    taps: Array, n_offsets: int, *, shapelets_last: bool
) -> tuple[Callable[[Array], Array], int]:
    """Correlate window by window.

    Returns what makes of rows (series, rows, channels) correlations (shapelets, series, offsets), or
    (series, offsets, shapelets), and the bytes it needs for a path.
    """
    n_shapelets, n_taps, n_channels = taps.shape
    flat_taps = taps.reshape(n_shapelets, -1)

    def correlate(x: Array) -> Array:
        n_series, n_rows, _ = x.shape
        beyond = n_offsets + n_taps - 1 - n_rows
        if beyond > 0:
            x = np.concatenate([x, np.zeros((n_series, beyond, n_channels))], axis=1)
        windows = scratch("windows", (n_series, n_offsets, n_taps * n_channels))
        windows[:] = np.ndarray(windows.shape, x.dtype, x, strides=x.strides)  # overlapping
        flat = windows.reshape(n_series * n_offsets, -1)
        product = scratch("correlation", (n_series * n_offsets * n_shapelets,))
        if shapelets_last:
            np.matmul(flat, flat_taps.T, out=product.reshape(-1, n_shapelets))
            return product.reshape(n_series, n_offsets, n_shapelets)
        np.matmul(flat_taps, flat.T, out=product.reshape(n_shapelets, -1))
        return product.reshape(n_shapelets, n_series, n_offsets)

    return correlate, 8 * n_offsets * max(n_shapelets, n_taps * n_channels)


def by_spectra(taps: Array, longest: int) -> tuple[Callable[[Array], Array], int]:
    """Correlate by FFT, paths of at most ``longest`` rows; else as `by_windows`.

    Circular: a period of at least the longest path suffices, as a window that would wrap around ends
    beyond its path and is no candidate.
    """
    n_shapelets, n_taps, n_channels = taps.shape
    period = fast_length(max(longest, n_taps))
    spectrum_of_taps = np.fft.rfft(taps, period, axis=1).transpose(1, 0, 2)
    spectrum_of_taps = np.ascontiguousarray(spectrum_of_taps)  # (frequencies, shapelets, channels)
    np.conjugate(spectrum_of_taps, out=spectrum_of_taps)
    n_frequencies = len(spectrum_of_taps)

    def correlate(x: Array) -> Array:
        n_series = len(x)
        spectrum = scratch("spectrum", (n_series, n_frequencies, n_channels), np.complex128)
        product = scratch("product", (n_frequencies, n_shapelets, n_series), np.complex128)
        in_rows = scratch("rows", (n_shapelets, n_series, n_frequencies), np.complex128)
        correlation = scratch("correlation", (n_shapelets, n_series, period))
        np.fft.rfft(x, period, axis=1, out=spectrum)
        np.matmul(spectrum_of_taps, spectrum.transpose(1, 2, 0), out=product)
        in_rows[:] = product.transpose(1, 2, 0)  # faster to transform than columns
        np.fft.irfft(in_rows, period, out=correlation)
        return correlation

    return correlate, 16 * n_frequencies * max(n_shapelets, n_channels)


@kernel
def _pick(
    first, last, correlation, end_correlation, rows, row_offsets, longest, step, shift, weights,
    lengths, start, slope, index,
):  # fmt: skip
    """Add the window's energy to the correlations and take the earliest smallest cost.

    For one metric and no level-free shapelet: all see the same energy.
    """
    pieces_of, partial_of = np.empty(len(lengths), np.int64), np.empty(len(lengths))
    for k in range(len(lengths)):
        pieces_of[k] = n_pieces(lengths[k], step)
        partial_of[k] = lengths[k] - (pieces_of[k] - 1) * step
    per_step, with_level = 1.0 / step, np.ones(1)
    terms, window_sums = np.empty(longest), np.empty(longest)
    density, sums = np.empty((3, 1, longest)), np.empty((1, 2, longest))
    for series in range(first, last):
        local = series - first
        begin, end = row_offsets[series], row_offsets[series + 1]
        n_rows = end - begin
        last_row = n_rows - 1
        span = last_row * step
        energy_density(rows, begin, end, shift[series], weights, with_level, density)
        for row in range(n_rows):
            terms[row] = step * (density[0, 0, row] + density[1, 0, row] + density[2, 0, row] / 3.0)
        running_sum(terms, last_row, sums, 0)
        for k in range(len(lengths)):
            length = lengths[k]
            if span <= length:
                start[series, k], slope[series, k], index[series, k] = 0.0, 0.0, FREE
                continue
            pieces, partial = pieces_of[k], partial_of[k]
            share = partial * per_step
            n_offsets = n_rows - pieces
            if share > 1.0 - ROUNDING:
                n_offsets -= 1  # the last one is the last possible start
            e_part, b_part, d_part = partial, partial * share, partial * share * share * (1.0 / 3.0)
            whole = u(pieces - 1)
            # In a loop of its own: added up here, the compiler may reorder it and lose the digits.
            sliding_sums(sums, 0, whole, n_offsets, window_sums)
            best, best_cost = -1, np.inf
            for offset in range(u(n_offsets)):
                row = offset + whole
                cost = window_sums[offset] + (
                    -2.0 * correlation[k, local, offset]
                    + e_part * density[0, 0, row] + b_part * density[1, 0, row]
                    + d_part * density[2, 0, row]
                )  # fmt: skip
                if cost < best_cost:
                    best, best_cost = offset, cost
            row = last_row - pieces
            rest = step - partial
            rest_share = rest * per_step
            end_cost = (
                sum_between(sums, 0, row, last_row) - 2.0 * end_correlation[local, k]
                - rest * density[0, 0, row]
                - rest * rest_share * (density[1, 0, row] + rest_share * density[2, 0, row] / 3.0)
            )  # fmt: skip
            if best >= 0 and best_cost <= end_cost:
                start[series, k], slope[series, k], index[series, k] = best * step, 0.0, best
            else:
                start[series, k], slope[series, k] = span - length, -1.0
                index[series, k] = AT_END
