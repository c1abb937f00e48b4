"""What the searches on a sampling lattice share: taps, rows side by side, the cheaper form."""

from __future__ import annotations

from math import log2

import numpy as np

from ..discrepancies._lattice import find_taps, n_pieces
from ..parallel import Work, queue_of
from ..paths import Array, Paths
from .problem import L2Problem

FEW_OFFSETS, MANY_SHAPELETS = 32, 8


def window_taps(problem: L2Problem) -> tuple[Array, Work]:
    """Taps of windows at a sample and of the last one, and what finds them.

    They are (2, shapelets, taps, channels). The latter are aligned at the end: their last tap meets a
    path's last row.
    """
    n_shapelets, _, n_channels = problem.shapelets.shape
    step = problem.paths.common_step
    # A length beyond every span never meets a window: its taps would only cost memory.
    lengths = np.minimum(problem.lengths, problem.paths.longest_span + step)
    taps = np.zeros((2, n_shapelets, n_pieces(lengths.max(), step) + 1, n_channels))
    shapelets = problem.shapelets
    return taps, (
        lambda queue: find_taps(queue, step, shapelets, lengths, taps), queue_of(n_shapelets)
    )  # fmt: skip


def most_offsets(problem: L2Problem) -> int:
    """Most samples of a path at which a shapelet can start."""
    shortest = n_pieces(problem.lengths.min(), problem.paths.common_step)
    return max(problem.paths.longest - shortest, 1)


def side_by_side_applies(problem: L2Problem) -> bool:
    """Whether all see the same energy, and it is worth while to multiply by four shapelets at once.

    It is not if one loop over many offsets is long enough and the four may differ much in length.
    """
    one_metric = len(problem.weights) == 1 and not problem.level_free.any()
    worth_it = most_offsets(problem) <= FEW_OFFSETS or len(problem.lengths) >= MANY_SHAPELETS
    return one_metric and worth_it


def choose_form(problem: L2Problem) -> str:
    """Choose the cheaper form for a problem, by the mean length of its shapelets."""
    paths, lengths = problem.paths, problem.lengths
    pieces = n_pieces(np.minimum(lengths, paths.longest_span).mean(), paths.common_step)
    n_offsets = max(paths.longest - pieces, 1)
    sizes = paths.longest, n_offsets, pieces + 1, paths.n_channels, len(lengths)
    if side_by_side_applies(problem):
        return cheaper_form(*sizes, per_product=0.035, per_point=0.3)
    return cheaper_form(*sizes)


def cheaper_form(
    n_rows: int,
    n_offsets: int,
    n_taps: int,
    n_channels: int,
    n_shapelets: int,
    per_product: float = 0.12,
    per_point: float = 0.18,
) -> str:
    """Estimate the cheaper form. The constants are nanoseconds measured on one core of a Xeon.

    A product is one of a value and a tap, a point one of a transform, for each doubling of its length.
    """
    windows = per_product * n_shapelets * n_offsets * n_taps * n_channels
    transforms = per_point * (n_channels + n_shapelets) * n_rows * log2(n_rows + 1)
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
