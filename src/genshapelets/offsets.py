"""Offsets: where each shapelet is laid against each path."""

from __future__ import annotations

from typing import NamedTuple

from .paths import Array, Index


class Offsets(NamedTuple):
    """The best offsets of every shapelet in every path, as a search found them.

    Attributes
    ----------
    start : (series, shapelets, candidates) array
        Offset s, counted from the path's first time; the best candidate first.
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
