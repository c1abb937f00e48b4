"""All offsets of the grid, for a minimum that looks at every one: nothing is searched."""

from __future__ import annotations

import numpy as np

from ..discrepancies import Discrepancy
from ..offsets import Offsets
from ..paths import Array, Paths
from .classical import check_samples


def all_offsets(
    discrepancy: Discrepancy, paths: Paths, n_samples: int, lengths: Array, search: str
) -> Offsets:
    """Every offset that a grid search would try, in order of time, each once.

    A discrepancy that counts samples is laid at each sample from which ``n_samples`` follow. For any
    other the grid is that of `genshapelets.search.generic`.
    """
    if search not in ("auto", "grid"):
        raise ValueError(
            "a soft minimum over all offsets takes those of the grid: use search='auto' or 'grid'; "
            f"got {search!r}."
        )
    row = np.arange(int(paths.lengths.max()))
    n_rows, step = paths.lengths[:, None, None], paths.step[:, None, None]
    if discrepancy.counts_samples:
        check_samples(paths)
        last = np.maximum(n_rows - n_samples, 0) + np.zeros((len(lengths), 1), np.int64)
        start, slope = row * np.where(step > 0, step, 1.0) + 0.0 * last, np.zeros(1)
    else:
        room = np.maximum(paths.spans[:, None] - lengths, 0.0)[..., None]
        sample, share = row * step, row / np.maximum(n_rows - 1, 1)
        start = np.where(step > 0, np.minimum(sample, room), share * room)
        slope = np.where(step > 0, -1.0 * (sample >= room), -share) * (room > 0)
        # On a regular path the first sample at or after the last possible start stands for it.
        n_before = (sample < room).sum(axis=2, keepdims=True)
        last = np.minimum(np.where(step > 0, n_before, n_rows), n_rows - 1) * (room > 0)
    given = row <= last
    start, slope = (np.where(given, x, x[..., :1]) for x in (start, slope))
    used = slice(int(last.max()) + 1)
    return Offsets(
        np.ascontiguousarray(start[..., used]),
        np.ascontiguousarray(slope[..., used]),
        last[..., 0] + 1,
        "grid",
    )
