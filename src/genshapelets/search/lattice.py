"""What the searches on a sampling lattice share: taps, rows side by side, the cheaper form."""

from __future__ import annotations

import numpy as np

from ..discrepancies._lattice import find_taps, n_pieces
from ..parallel import run_together
from ..paths import Array, Paths
from .problem import L2Problem


def window_taps(problem: L2Problem) -> Array:
    """Taps of windows at a sample and of the last one, (2, shapelets, taps, channels).

    The latter are aligned at the end: their last tap meets a path's last row.
    """
    n_shapelets, _, n_channels = problem.shapelets.shape
    step = problem.paths.common_step
    # A length beyond every span never meets a window: its taps would only cost memory.
    lengths = np.minimum(problem.lengths, problem.paths.longest_span + step)
    taps = np.zeros((2, n_shapelets, n_pieces(lengths.max(), step) + 1, n_channels))
    run_together(find_taps, n_shapelets, step, problem.shapelets, lengths, taps)
    return taps


def most_offsets(problem: L2Problem) -> int:
    """Most samples of a path at which a shapelet can start."""
    shortest = n_pieces(problem.lengths.min(), problem.paths.common_step)
    return max(problem.paths.longest - shortest, 1)


def choose_form(problem: L2Problem) -> str:
    """Choose the cheaper form for a problem."""
    paths, lengths = problem.paths, problem.lengths
    n_taps = min(n_pieces(lengths.max(), paths.common_step) + 1, paths.longest)
    return cheaper_form(
        paths.longest, most_offsets(problem), n_taps, paths.n_channels, len(lengths)
    )


def cheaper_form(
    n_rows: int, n_offsets: int, n_taps: int, n_channels: int, n_shapelets: int
) -> str:
    """Estimate the cheaper form. The constants are nanoseconds measured on one core of a Xeon."""
    windows = 0.12 * n_shapelets * n_offsets * n_taps * n_channels
    transforms = 0.18 * (n_channels + n_shapelets) * n_rows * np.log2(n_rows + 1)
    products = 0.35 * n_channels * n_shapelets * n_rows
    spectra = transforms + products + 60.0 * n_shapelets
    return "fft" if spectra < windows else "convolution"


def padded_rows(paths: Paths, rows: Array, first: int, last: int) -> Array:
    """Rows of paths first..last, (series, longest, channels), zeros as padding."""
    own = rows[paths.row_offsets[first] : paths.row_offsets[last]]
    if len(own) == (last - first) * paths.longest:
        return own.reshape(last - first, paths.longest, -1)
    out = np.zeros((last - first, paths.longest, rows.shape[1]))
    out[np.arange(paths.longest) < paths.lengths[first:last, None]] = own
    return out


def last_rows(paths: Paths, rows: Array, first: int, last: int, count: int) -> Array:
    """The last ``count`` rows of paths first..last, (series, count * channels).

    Where a path has fewer, its first row stands in; no candidate window reaches there.
    """
    begin, end = paths.row_offsets[first], paths.row_offsets[last]
    if end - begin == (last - first) * paths.longest and count <= paths.longest:
        return rows[begin:end].reshape(last - first, -1)[:, -count * rows.shape[1] :]
    row = paths.row_offsets[first + 1 : last + 1, None] + np.arange(-count, 0)
    row = np.maximum(row, paths.row_offsets[first:last, None])
    return rows[row].reshape(last - first, -1)


def fast_length(n: int) -> int:
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
