"""Offsets: where each shapelet is laid against each path."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

AT_END = -1
FREE = -2

# What to do with some paths as soon as their offsets are found: takes the (series, shapelets) array of
# indices and the numbers of the paths.
Then = Callable[[NDArray[np.int64], NDArray[np.int64]], None]


@dataclass(frozen=True, eq=False)
class Offsets:
    """The best offset of every shapelet in every path, as a search found it.

    Attributes
    ----------
    start : (series, shapelets) tensor
        Offset s, counted from the path's first time.
    slope : (series, shapelets) tensor
        ds/dS, how the offset moves with the shapelet's length: 0 at a fixed place, -1 at the moving
        end, in between on a grid that shrinks.
    index : (series, shapelets) int64 tensor
        Index of the sample at which the window starts, on a regularly sampled path; `AT_END` for the
        last possible window of such a path; `FREE` for any other offset, or a path shorter than the
        shapelet.
    backend : str
        What found them.
    """

    start: Tensor
    slope: Tensor
    index: Tensor
    backend: str
