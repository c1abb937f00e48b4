"""Offsets: where each shapelet is laid against each path."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from .paths import Array, Index

AT_END = -1
FREE = -2


class Offsets:
    """The best offset of every shapelet in every path, as a search found it.

    Parameters
    ----------
    start : (series, shapelets) array
        Offset s, counted from the path's first time.
    slope : (series, shapelets) array
        ds/dS, how the offset moves with the shapelet's length: 0 at a fixed place, -1 at the moving
        end, in between on a grid that shrinks.
    index : (series, shapelets) int64 array
        Index of the sample at which the window starts, on a regularly sampled path; `AT_END` for the
        last possible window of such a path; `FREE` for any other offset, or a path shorter than the
        shapelet.
    backend : str
        What found them.
    """

    def __init__(self, start: Array, slope: Array, index: Index, backend: str) -> None:
        self.start, self.slope, self.index, self.backend = start, slope, index, backend

    @classmethod
    def concatenate(cls, parts: list[Offsets]) -> Offsets:
        """Put the offsets of some shapelets beside those of others."""
        return cls(
            np.concatenate([part.start for part in parts], axis=1),
            np.concatenate([part.slope for part in parts], axis=1),
            np.concatenate([part.index for part in parts], axis=1),
            parts[0].backend,
        )

    def of_shapelet(self, k: int) -> Offsets:
        """The offsets of one shapelet."""
        return Offsets(
            np.ascontiguousarray(self.start[:, [k]]),
            np.ascontiguousarray(self.slope[:, [k]]),
            np.ascontiguousarray(self.index[:, [k]]),
            self.backend,
        )

    @cached_property
    def n_free(self) -> int:
        """Windows that are not on a lattice."""
        return int(np.count_nonzero(self.index == FREE))
