"""Long tables: rows of any order into series."""

from __future__ import annotations

import datetime
import warnings
from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .columns import (
    as_floats,
    as_instants,
    check_name,
    factorise,
    names_series,
    names_times,
    read_columns,
)
from .names import CHOICES
from .shown import few


class LongTable(NamedTuple):
    """A long table, sorted by series and time; one row for each (series, time)."""

    instants: NDArray[Any]  # (n_rows,) numbers or datetime64[ns]
    values: NDArray[Any]  # (n_rows, n_channels)
    lengths: NDArray[np.int64]  # (n_series,) rows of each series
    series_ids: NDArray[Any]  # (n_series,)
    channels: tuple[Any, ...]


def read_long(
    frame: Any,
    series: Hashable | None = None,
    time: Hashable | None = None,
    channels: tuple[Any, ...] | None = None,
    variable: Hashable | None = None,
    value: Hashable | None = None,
    aggregate: str | None = None,
) -> LongTable:
    """Read a long table of either form; see `RaggedSeries.from_long`."""
    for what, name in (
        ("series", series),
        ("time", time),
        ("variable", variable),
        ("value", value),
    ):
        check_name(name, what)
    frame, series, time, others = _with_index(frame, series, time)
    known = CHOICES["aggregate"]
    if aggregate is not None and aggregate not in known:
        raise ValueError(f"aggregate must be one of {', '.join(known)}; got {aggregate!r}.")
    if variable is None and value is None and channels is None:
        channels = others
    if variable is None and value is None and channels is not None:
        keys, measured = [series, time], list(channels)
    elif variable is not None and value is not None:
        keys, measured = [series, time, variable], [value]
    else:
        raise TypeError(
            "from_long needs either channels=[…] (one column for each channel) "
            "or both variable= and value= (one row for each observation)."
        )
    columns = read_columns(frame, keys + measured)
    if columns[0].array.size == 0:
        raise ValueError("a batch needs at least one series; the table has no rows.")
    for name, column in zip(keys, columns, strict=False):
        if column.nulls.any():
            raise ValueError(
                f"column {name!r} must not have nulls; got one in row {column.nulls.argmax()} "
                "(counted from 0). Drop or fill such rows first."
            )
    codes, series_ids = factorise(columns[0].array, f"column {series!r}")
    instants = as_instants(columns[1].array, f"column {time!r}")
    floats = [
        as_floats(column.array, f"column {name!r}")
        for name, column in zip(measured, columns[len(keys) :], strict=True)
    ]
    sort_keys = [codes, instants]  # most important first
    if variable is not None:
        codes_of_variable, variables = factorise(columns[2].array, f"column {variable!r}")
        if channels is None:  # numbers before strings
            channels = tuple(sorted(variables.tolist(), key=lambda v: (isinstance(v, str), v)))
        place = {name: i for i, name in enumerate(channels)}
        channel = np.array([place.get(v, -1) for v in variables.tolist()])[codes_of_variable]
        kept = channel >= 0
        sort_keys = [key[kept] for key in (codes, instants, channel)]
        floats = [floats[0][kept]]
    assert channels is not None

    order = np.lexsort(sort_keys[::-1])
    sort_keys = [key[order] for key in sort_keys]
    changes = [key[1:] != key[:-1] for key in sort_keys]
    repeated = ~np.logical_or.reduce(changes)
    if repeated.any() and aggregate is None:
        at = repeated.argmax()
        what = name_series(sort_keys[0][at], series_ids)
        if variable is not None:
            what += f", variable {channels[sort_keys[2][at]]!r},"
        raise ValueError(
            f"{what} has more than one row at time {sort_keys[1][at]}. Merge them by "
            'RaggedSeries.from_long(…, aggregate="mean"), or "median", "first", "last", "min", "max", '
            '"sum".'
        )
    is_new = np.ones(order.size, bool)
    is_new[1:] = changes[0] | changes[1]
    row = np.cumsum(is_new) - 1
    shape = (np.count_nonzero(is_new), len(channels))
    values = np.full(shape, np.nan, np.result_type(np.float32, *floats))
    if variable is None:
        for i, column_of_floats in enumerate(floats):
            _merge(column_of_floats[order], row, values[:, i], aggregate)
    else:
        cell = row * len(channels) + sort_keys[2]
        _merge(floats[0][order], cell, values.reshape(-1), aggregate)
    lengths = np.bincount(sort_keys[0][is_new], minlength=series_ids.size)
    return LongTable(sort_keys[1][is_new], values, lengths, series_ids, channels)


def _merge(
    floats: NDArray[Any], place: NDArray[np.int64], into: NDArray[Any], aggregate: str | None
) -> None:
    """Write numbers to their places, which are sorted; merge those observed at the same place."""
    if aggregate is None:
        into[place] = floats
        return
    seen = ~np.isnan(floats)
    floats, place = floats[seen].astype(np.float64), place[seen]
    if aggregate == "median":
        floats = floats[np.lexsort([floats, place])]
    place, start, count = np.unique(place, return_index=True, return_counts=True)
    if not len(place):
        return
    if aggregate in ("first", "last"):
        merged = floats[start + (0 if aggregate == "first" else count - 1)]
    elif aggregate == "median":
        merged = (floats[start + (count - 1) // 2] + floats[start + count // 2]) / 2
    elif aggregate in ("min", "max"):
        merged = (np.minimum if aggregate == "min" else np.maximum).reduceat(floats, start)
    else:
        merged = np.add.reduceat(floats, start) / (count if aggregate == "mean" else 1)
    into[place] = merged


def only_observed(table: LongTable) -> LongTable:
    """Leave out series without any observation, and say so; if there is no other, leave all."""
    owner = np.repeat(np.arange(len(table.lengths)), table.lengths)
    seen = np.bincount(owner, ~np.isnan(table.values).all(axis=1), len(table.lengths)) > 0
    if seen.all() or not seen.any():
        return table
    warnings.warn(
        f"{np.count_nonzero(~seen)} of {len(seen)} series have no observation and are left out: "
        f"{few(table.series_ids[~seen].tolist(), repr)}. `series_ids` says who is "
        "there; labels given by id, in a pandas Series or a dict, find their series.",
        stacklevel=4,
    )
    rows = seen[owner]
    return table._replace(
        instants=table.instants[rows],
        values=table.values[rows],
        lengths=table.lengths[seen],
        series_ids=table.series_ids[seen],
    )


def has_levels(frame: Any) -> bool:
    """Tell whether this is of pandas and has an index of several levels."""
    return len(getattr(getattr(frame, "index", None), "names", ())) > 1


def _with_index(
    frame: Any, series: Hashable | None, time: Hashable | None
) -> tuple[Any, Hashable, Hashable, tuple[Any, ...] | None]:
    """Put an index of pandas beside the columns; what is not given of series and time is taken from it.

    If both are, all other columns are channels, and the last of what is returned.
    """
    index: Any = getattr(frame, "index", None)
    levels: list[Any] = []
    others = None
    if hasattr(index, "nlevels"):  # of pandas
        frame = frame.to_frame() if frame.ndim == 1 else frame
        others = tuple(frame.columns)
        says_nothing = index.names == [None] and index.dtype.kind != "M"
        if not says_nothing and not {series, time} <= {*others}:
            frame = frame.reset_index()
            levels = list(frame.columns[: index.nlevels])
    left = [level for level in levels if level not in (series, time)]
    missing = (series is None) + (time is None)
    if missing and len(left) != missing:
        raise TypeError(
            "from_long needs series= and time=, names of columns, unless a pandas index holds both; "
            f"the levels of the index are {levels}. Name the two."
        )
    if missing == 2 and _says_time_first(frame, *left):
        left.reverse()
    series = left.pop(0) if series is None else series
    time = left.pop(0) if time is None else time
    return frame, series, time, others if missing == 2 else None


def _says_time_first(frame: Any, first: Any, second: Any) -> bool:
    """Tell whether, by types or else by names, the first level is the time and the second the series."""
    times = [_holds_dates(frame[level]) or names_times(level) for level in (first, second)]
    who = [names_series(level) for level in (first, second)]
    return times == [True, False] or (times[0] == times[1] and who == [False, True])


def _holds_dates(column: Any) -> bool:
    if column.dtype.kind == "O" and len(column):
        return hasattr(column.dtype, "freq") or isinstance(column.iloc[0], datetime.date)
    return column.dtype.kind == "M"


def name_series(index: int, series_ids: NDArray[Any] | None) -> str:
    """Name a series in an error message."""
    return f"series {index}" + ("" if series_ids is None else f" (id {series_ids[index]})")
