"""What the searches on a sampling lattice share: taps, padded rows, the cheaper form."""

from __future__ import annotations

from math import log2

import numpy as np

from ..discrepancies._lattice import NOT_WANTED, n_pieces, project
from ..discrepancies.base import Ahead
from ..parallel import Queue, Work, queue_of
from ..paths import Array, Paths
from .problem import L2Problem

FEW_OFFSETS, MANY_SHAPELETS = 32, 8


def window_taps(problem: L2Problem, ahead: Ahead | None = None) -> tuple[Array, Work]:
    """Taps of windows at a sample and of the last one, (2, shapelets, taps, channels): see `project`.

    Returns also what finds them, and with them what the evaluation ahead wants.
    """
    arrays, step = problem.arrays, problem.paths.common_step
    n_shapelets, _, n_channels = arrays.shapelets.shape
    if ahead is not None and ahead.lattices:
        (lattice,) = ahead.lattices
        taps = np.zeros((2, n_shapelets, lattice.n_nodes, n_channels))
        return taps, (lambda queue: lattice.project(queue, taps), lattice.queue)
    # A length beyond every span never meets a window: its taps would only cost memory.
    lengths = np.minimum(arrays.lengths, max(problem.paths.longest_span, step))
    taps = np.zeros((2, n_shapelets, n_pieces(max(lengths.tolist()), step) + 1, n_channels))

    def find_taps(queue: Queue) -> None:
        project(
            queue, step, arrays.shapelets, arrays.level, lengths, arrays.weights, taps,
            NOT_WANTED, np.empty((0, 0, 0)), NOT_WANTED, NOT_WANTED,
        )  # fmt: skip

    return taps, (find_taps, queue_of(n_shapelets))


def most_offsets(problem: L2Problem) -> int:
    """Most samples of a path at which a shapelet can start."""
    shortest = n_pieces(min(problem.lengths.tolist()), problem.paths.common_step)
    return max(problem.paths.longest - shortest, 1)


def side_by_side_applies(problem: L2Problem) -> bool:
    """Whether all see the same energy, and it is worth while to multiply by four shapelets at once.

    It is not if one loop over many offsets is long enough and the four may differ much in length.
    """
    one_metric = len(problem.weights) == 1 and not problem.any_level_free
    worth_it = most_offsets(problem) <= FEW_OFFSETS or len(problem.lengths) >= MANY_SHAPELETS
    return one_metric and worth_it


def choose_form(problem: L2Problem) -> str:
    """Choose the cheaper form for a problem, by the mean length of its shapelets."""
    paths, lengths = problem.paths, problem.lengths.tolist()
    mean = sum(min(length, paths.longest_span) for length in lengths) / len(lengths)
    pieces = n_pieces(mean, paths.common_step)
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
