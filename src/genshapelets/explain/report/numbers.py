"""Numbers and names as the page takes them: short, thinned, packed."""

from __future__ import annotations

import base64
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...paths import Array, Index
from ..drawing import in_numbers

LEVELS = 65535  # of a packed number


def short(value: Any, digits: int = 5) -> Any:
    """Numbers with few digits, in lists as arrays are; None where there is none."""
    if isinstance(value, np.ndarray):
        return [short(item, digits) for item in value.tolist()]
    if isinstance(value, list):
        return [short(item, digits) for item in value]
    if value is None or not np.isfinite(value):
        return None
    rounded = float(f"{value:.{digits}g}")
    return int(rounded) if rounded.is_integer() and abs(rounded) < 1e15 else rounded


def said(value: Any, width: int = 200) -> str:
    """A name or label as text, cut if it is longer than `width`."""
    text = str(value.item() if isinstance(value, np.generic) else value)
    return text if len(text) <= width else text[: width - 1] + "…"


def said_length(value: float, dated: bool, unit: str = "") -> str:
    """A length of time: in the unit of the times or, as seconds of dates, in one that suits it."""
    number, unit = value, unit or "time units"
    if dated:
        (number,), unit = in_numbers(np.array([value * 1e9]).astype("m8[ns]"))
    figure = f"{number:.{3 if dated else 4}g}"
    one = figure == "1" and unit.endswith("s") and len(unit) > 2
    return f"{figure} {unit.removesuffix('s') if one else unit}"


def thin(values: Array, count: int) -> Index:
    """Positions of a limited number of points: the ends, and the extremes of equal stretches between."""
    if len(values) <= count:
        return np.arange(len(values))
    edges = np.linspace(0, len(values), max((count - 2) // 2, 1) + 1).astype(np.int64)
    kept = [0, len(values) - 1]
    for begin, end in pairwise(edges):
        stretch = values[begin:end]
        kept += [begin + stretch.argmin(), begin + stretch.argmax()]
    return np.unique(kept)


def pack(values: NDArray[Any]) -> list[Any]:
    """Numbers in few characters: the lowest, the highest, and where each is between, in 16 bits."""
    values = values.astype(np.float64)
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 0.0)
    height = (values - low) / (high - low) if high > low else np.zeros_like(values)
    return [short(low, 9), short(high, 9), _coded(height)]


def pack_curve(places: Array, values: NDArray[Any], count: int) -> list[Any]:
    """As `pack`, of no more than `count` points, with their places between 0 and 1."""
    kept = thin(values, count)
    return [*pack(values[kept]), _coded(places[kept])]


def resampled(values: Array, count: int) -> Array:
    """Evenly spaced values, (channels, points), at no more than `count` places."""
    n_points = values.shape[1]
    if n_points <= count:
        return values
    places = np.linspace(0, n_points - 1, count)
    return np.array([np.interp(places, np.arange(n_points), row) for row in values])


def _coded(share: Array) -> str:
    levels = np.rint(np.clip(share, 0.0, 1.0) * LEVELS).astype("<u2")
    return base64.b64encode(levels.tobytes()).decode("ascii")
