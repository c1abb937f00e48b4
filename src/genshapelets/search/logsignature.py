r"""Search for the log-signature discrepancy: every window from signatures of beginnings of the path.

By Chen's identity, with r and q the knots at or before the window's ends,

    Sig(s, s + S) = exp(f(r) - f(s)) Sig(0, r)^-1 Sig(0, q) exp(f(s + S) - f(q))

Signatures of beginnings grow with the path, and digits are lost in their quotient. So a path is cut into
overlapping blocks, at most twice as long as the longest window, and a block's signatures begin with it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..discrepancies import Discrepancy, LogSignatureDiscrepancy
from ..evaluation.logsignature import check_finite, shapelet_coordinates
from ..offsets import Offsets
from ..paths import Paths
from ..signatures import (
    State,
    Words,
    append,
    check_memory,
    inverse,
    log_coordinates,
    lyndon_level,
    multiply,
    prefixes,
    prepend,
)
from ..windows import PaddedPaths
from .everywhere import all_offsets
from .generic import best_minima, refine

MAX_ELEMENTS = 2**23  # of the signatures of one chunk of paths
MAX_WINDOWS = 2**18  # coordinates of one chunk of windows, so that they stay in the cache


@torch.no_grad()
def search_logsignature(
    discrepancy: Discrepancy,
    paths: Paths,
    values: Tensor,
    lengths: Tensor,
    search: str,
    n_best: int,
) -> Offsets | None:
    """Best offsets, as `genshapelets.search.best_offsets` describes them; None for an exact search."""
    assert isinstance(discrepancy, LogSignatureDiscrepancy)
    if search == "exact":
        return None
    check_finite(discrepancy, values, lengths)
    values, lengths = values.double(), lengths.double()
    targets = shapelet_coordinates(discrepancy, values, lengths)
    measures: list[Any] = [discrepancy.chosen([k]).double() for k in range(len(values))]
    per_path = int(paths.lengths.max()) * 3 * (discrepancy.n_coordinates + discrepancy.n_letters)
    check_memory(per_path, "the signatures of one path", "Lower the depth.")
    size = max(1, MAX_ELEMENTS // per_path)
    parts = []
    for first in range(0, len(paths), size):
        part = paths[first : first + size]
        windows = Windows(discrepancy, part, float(lengths.max()))

        def cost_at(start: Tensor, series: Tensor, k: int, windows: Windows = windows) -> Tensor:
            """Discrepancies of shapelet k from windows that begin at starts (windows,)."""
            target = targets[k, :, None]
            chunks = windows.in_chunks(series, start, start + lengths[k])
            return torch.cat([measures[k].norm((x - target).T[:, None])[:, 0] for x in chunks])

        tried = all_offsets(discrepancy, part, 0, lengths.numpy(), "grid")
        parts.append(_search_part(part, lengths, tried, search, n_best, cost_at))
    start, slope, count = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    return Offsets(start, slope, count, "signatures")


def _search_part(
    paths: Paths,
    lengths: Tensor,
    tried: Offsets,
    search: str,
    n_best: int,
    cost_at: Callable[[Tensor, Tensor, int], Tensor],
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Start, slope and count of the best offsets, on the grid or refined from there."""
    n_series, n_shapelets = len(paths), len(lengths)
    start, slope, count = (torch.from_numpy(x) for x in tried[:3])

    def costs(start: Tensor, is_tried: Tensor) -> Tensor:
        """Discrepancies at starts (series, shapelets, …), infinite where none is asked for."""
        cost = torch.full(start.shape, torch.inf, dtype=torch.float64)
        for k in range(n_shapelets):
            # Offset by offset: then few chunks hold windows that begin between knots.
            at = is_tried[:, k].T.nonzero(as_tuple=True)
            cost[:, k].T[at] = cost_at(start[:, k].T[at], at[1], k)
        return cost

    cost = costs(start, torch.arange(start.shape[2]) < count[..., None])
    best, found = best_minima(cost.movedim(2, 0).flatten(1), n_best)
    at = best.T.reshape(n_series, n_shapelets, n_best)
    middle, least, move = (x.gather(2, at) for x in (start, cost, slope))
    refined = torch.from_numpy((paths.step == 0) | (search == "refined")) & (search != "grid")
    if refined.any():
        low = start.gather(2, (at - 1).clamp(min=0))
        high = start.gather(2, torch.minimum(at + 1, count[..., None] - 1))
        chosen = refined[:, None, None].expand_as(middle)
        better = refine(
            lambda x: torch.stack([costs(x[0], chosen), costs(x[1], chosen)]),
            (low, middle, high, least),
        )
        room = (torch.from_numpy(paths.spans)[:, None] - lengths).clamp(min=0.0)[..., None]
        middle = torch.where(chosen, better, middle)
        move = torch.where(chosen, -1.0 * ((better == room) & (room > 0)), move)
    return middle.numpy(), move.numpy(), found.reshape(n_series, n_shapelets).numpy()


class Windows:
    """Log-signatures of any windows of some paths.

    Parameters
    ----------
    discrepancy : LogSignatureDiscrepancy
    paths : Paths
    longest : float
        Length of the longest window that will be asked for.
    """

    def __init__(self, discrepancy: LogSignatureDiscrepancy, paths: Paths, longest: float) -> None:
        knots, rows = PaddedPaths.of(paths, torch.device("cpu"))
        if discrepancy.include_time:
            rows = torch.cat([rows, knots[..., None]], dim=2)
        ends = torch.searchsorted(knots, knots + longest, right=True)
        n_inside = int((ends - torch.arange(knots.shape[1])).max())
        self.is_timed, self.knots, self.rows = discrepancy.include_time, knots, rows
        n_rows = knots.shape[1]
        # Rows of a path in which the windows of one block begin; one block if that is hardly longer.
        self.size = n_rows if n_rows <= 2 * n_inside + 2 else n_inside + 1
        self.n_blocks = math.ceil(n_rows / self.size)
        sizes = discrepancy.n_letters, discrepancy.depth
        self.words = lyndon_level(*sizes)
        self.n_coordinates = discrepancy.n_coordinates
        # (letters, rows of a block, series * blocks), the last row of a path repeated.
        inside = torch.arange(min(2 * self.size + 1, n_rows))
        row = (torch.arange(self.n_blocks)[:, None] * self.size + inside).clamp(max=n_rows - 1)
        blocks = rows[:, row].flatten(0, 1).permute(2, 1, 0)
        increments = blocks.diff(dim=1)
        forwards = prefixes(increments, self.words)
        backwards = Words(self.words.letters.flip(1).tolist(), *sizes)
        inverses = inverse(forwards, prefixes(increments, backwards)[-1])
        # A row for each beginning: whole rows are copied much faster than columns.
        self.prefix, self.inverse = (
            [level.flatten(1).T.contiguous() for level in state] for state in (forwards, inverses)
        )

    def coordinates(self, series: Tensor, since: Tensor, until: Tensor) -> Tensor:
        """Log-signatures (coordinates, windows) of windows (windows,) of series, from and until when."""
        return torch.cat(list(self.in_chunks(series, since, until)), dim=1)

    def in_chunks(self, series: Tensor, since: Tensor, until: Tensor) -> Iterator[Tensor]:
        """The same, a few windows at a time."""
        size = max(1, MAX_WINDOWS // self.n_coordinates)
        begin, end = (_last_row(self.knots, series, t) for t in (since, until))
        for chunk in zip(*(x.split(size) for x in (series, since, until, begin, end)), strict=True):
            yield self._coordinates(*chunk)

    def _coordinates(
        self, series: Tensor, since: Tensor, until: Tensor, begin: Tensor, end: Tensor
    ) -> Tensor:
        before, after = self._rise(series, since, begin), self._rise(series, until, end)
        block = torch.div(begin, self.size, rounding_mode="floor")
        own = series * self.n_blocks + block
        n_paths = len(self.knots) * self.n_blocks
        begin, end = ((row - block * self.size) * n_paths + own for row in (begin, end))
        state = multiply(_at(self.inverse, begin), _at(self.prefix, end), self.words)
        if before.any():
            state = prepend(-before, state, self.words)
        return log_coordinates(append(state, after, self.words), self.words)

    def _rise(self, series: Tensor, t: Tensor, row: Tensor) -> Tensor:
        """Increment (letters, windows) of series from a row on until a time after it."""
        n_rows = self.knots.shape[1]
        after = (row + 1).clamp(max=n_rows - 1)
        gap = self.knots[series, after] - self.knots[series, row]
        share = (t - self.knots[series, row]) / torch.where(gap > 0, gap, 1.0)
        rise = self.rows[series, after] - self.rows[series, row]
        increment = torch.where(gap > 0, share, 0.0)[:, None] * rise
        if self.is_timed:  # goes on where a path is held
            increment[:, -1] = t - self.knots[series, row]
        return increment.T


def _at(state: State, row: Tensor) -> State:
    """Signatures (words, windows) of beginnings, from tables (beginnings, words)."""
    return [level.index_select(0, row).T for level in state]


def _last_row(knots: Tensor, series: Tensor, t: Tensor) -> Tensor:
    """Last row of a series at or before a time, (windows,); the first if none is.

    By bisection. To gather each window's knots for `torch.searchsorted` would cost time and memory in
    proportion to the length of the series.
    """
    n_rows = knots.shape[1]
    flat, base, row = knots.flatten(), series * n_rows, torch.zeros_like(series)
    for power in range((n_rows - 1).bit_length() - 1, -1, -1):
        ahead = row + 2**power
        is_before = flat[base + ahead.clamp(max=n_rows - 1)] <= t
        row = torch.where(is_before & (ahead < n_rows), ahead, row)
    return row
