"""Arrays of a user, one for each series, put one after another and checked against one another."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .columns import as_array, as_floats, as_instants

DOUBLE_EPS = float(np.finfo(np.float64).eps)


def offsets_of(lengths: NDArray[Any]) -> NDArray[np.int64]:
    """Return where each series starts, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def listed(data: Any, what: str) -> list[Any] | None:
    """Return a sequence of arrays (a list, tuple, or object array of them) as a list, else None."""
    if not isinstance(data, list | tuple):
        data = as_array(data, what)
        if data.dtype != object or data.ndim != 1:
            return None
    return list(data)


def flatten(arrays: list[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Put (n_channels, n_times_i) arrays one after another, channels last; and their n_times."""
    floats = [as_floats(array, f"values of series {i}") for i, array in enumerate(arrays)]
    for i, array in enumerate(floats):
        if array.ndim != 2:
            cure = "Use x[None, :] for a univariate series." if array.ndim == 1 else ""
            raise ValueError(
                f"values of series {i} must be a (n_channels, n_times) array; "
                f"got shape {array.shape}. {cure}".rstrip()
            )
    counts = [array.shape[0] for array in floats]
    usual = max(set(counts), key=counts.count, default=0)
    for i, count in enumerate(counts):
        if count != usual:
            raise ValueError(
                f"all series must have the same channels; series {i} has {count}, others have "
                f"{usual}. Fill a channel that was not observed with NaN."
            )
    lengths = np.array([array.shape[1] for array in floats], np.int64)
    dtype = np.result_type(*floats) if floats else np.dtype(np.float64)
    flat = np.empty((lengths.sum(), usual), dtype)
    if floats:
        np.concatenate([array.T for array in floats], out=flat)
    return flat, lengths


def match_times(times: Any, lengths: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the times of all series one after another, (n_rows,), and their precision."""
    n_series = len(lengths)
    if times is None:
        starts = offsets_of(lengths)
        counted = np.arange(starts[-1]) - np.repeat(starts[:-1], lengths)
        return counted, precision_of(n_series, counted)
    vectors = listed(times, "times")
    if not vectors or as_array(vectors[0], "times of series 0").ndim == 0:
        shared = as_instants(times, "times")
        if shared.ndim == 1:
            wrong = lengths != shared.size
            if wrong.any():
                i = wrong.argmax()
                raise ValueError(
                    f"times and values of series {i} must have the same length; got "
                    f"{shared.size} times (shared by all series) and {lengths[i]} values. "
                    "Give one vector of times for each series if they differ."
                )
            return np.tile(shared, n_series), precision_of(n_series, shared)
        if shared.ndim != 2:
            raise ValueError(
                "times must be one shared vector or one vector for each series; "
                f"got shape {shared.shape}. Give them as (n_times,) or ({n_series}, n_times)."
            )
        vectors = list(shared)
    if len(vectors) != n_series:
        raise ValueError(
            f"times must hold one vector for each of the {n_series} series; got {len(vectors)}. "
            "Give the vector itself, not a list of it, if all series share it."
        )
    instants = [as_instants(vector, f"times of series {i}") for i, vector in enumerate(vectors)]
    for i, vector in enumerate(instants):
        if vector.shape != (lengths[i],):
            raise ValueError(
                f"times and values of series {i} must have the same length; got times of shape "
                f"{vector.shape} and {lengths[i]} values. Give one time for each value, and NaN as "
                "the value if nothing was observed then."
            )
        if (vector.dtype.kind == "M") != (instants[0].dtype.kind == "M"):
            raise TypeError(
                f"times must be all numbers or all datetimes; series 0 has {instants[0].dtype}, "
                f"series {i} has {vector.dtype}. Convert one of them first."
            )
    return np.concatenate(instants), precision_of(n_series, *instants)


def precision_of(n_series: int, *instants: NDArray[Any]) -> NDArray[np.float64]:
    """Return the relative rounding of times as given, (n_series,), for one vector or one for each."""
    eps = [
        float(np.finfo(array.dtype).eps) if array.dtype.kind == "f" else DOUBLE_EPS
        for array in instants
    ]
    return np.maximum(np.broadcast_to(eps, (n_series,)), DOUBLE_EPS)
