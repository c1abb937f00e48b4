"""Offsets: where each shapelet is laid against each path."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .paths import Array, Index


class Offsets(NamedTuple):
    """The best offsets of every shapelet in every path, as a search found them.

    Attributes
    ----------
    start : (series, shapelets, candidates) array
        Offset s, counted from the path's first time; the best candidate first, or if all
        offsets are candidates the earliest.
    slope : (series, shapelets, candidates) array
        ds/dS, how the offset moves with the shapelet's length: 0 at a fixed place or at a minimum over
        continuous offsets, -1 at the last possible start, in between on a grid that shrinks.
    count : (series, shapelets) array
        How many candidates there are; further ones repeat the first.
    backend : str
        What found them.
    """

    start: Array
    slope: Array
    count: Index  # type: ignore[assignment]  # tuple has a method of this name
    backend: str

    def of(self, shapelets: slice) -> Offsets:
        """Those of some shapelets."""
        return Offsets(
            self.start[:, shapelets],
            self.slope[:, shapelets],
            self.count[:, shapelets],
            self.backend,
        )

    @classmethod
    def joined(cls, parts: Sequence[Offsets]) -> Offsets:
        """Those of several groups of shapelets, side by side."""
        return cls(
            np.concatenate([part.start for part in parts], axis=1),
            np.concatenate([part.slope for part in parts], axis=1),
            np.concatenate([part.count for part in parts], axis=1),
            "+".join(dict.fromkeys(part.backend for part in parts)),
        )
