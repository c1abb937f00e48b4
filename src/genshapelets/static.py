"""What is known of each series as a whole, from the tables that users bring."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .columns import (
    Column,
    as_array,
    as_floats,
    check_name,
    each_column,
    is_default,
    names_series,
    read_columns,
)
from .shown import count, few

FEWEST = 5  # series: of fewer, what is known may differ in all, or equal their ids, by chance


def read_static(
    static: Any, by: Hashable | None, n_series: int, series_ids: NDArray[Any] | None
) -> dict[str, NDArray[Any]]:
    """Read what is known of each series as a whole; see `RaggedSeries.with_static`."""
    if isinstance(static, np.ndarray | list | tuple) or hasattr(static, "detach"):
        array = _as_objects(static)
        if array.ndim != 2:
            raise ValueError(
                "static must be a table, or an array (n_series, n_covariates); got an array of shape "
                f"{array.shape}."
            )
        static = {f"static {place}": column for place, column in enumerate(array.T)}
    if hasattr(static, "to_frame"):  # a single column of pandas or polars
        static = static.to_frame()
    ids = None
    index: Any = getattr(static, "index", None)
    check_name(by, "by")
    if by is not None:
        if series_ids is None:
            raise ValueError(
                f"static is to be found by its column {by!r}, but the series have no ids. Make them by "
                "RaggedSeries.from_long, or give rows in the order of the series without by=."
            )
        ids = read_columns(static, [by])[0].array
    elif hasattr(index, "to_numpy") and not (is_default(index) and len(index) == n_series):
        ids = index.to_numpy()
        if hasattr(index, "step") and len(index) == n_series and series_ids is not None:
            # It counts, though not from 0: the rows were cut from a larger frame.
            ids = ids if set(ids.tolist()) & set(series_ids.tolist()) else None
    static = each_column(static)
    names = [name for name in static if name != by]
    if not names:
        raise ValueError("static must have at least one column; got none.")
    if "" in names:
        raise ValueError("a static covariate must have a name; got an empty one. Name its column.")
    read = read_columns(static, names)
    columns = dict(zip(map(str, names), map(_as_static, names, read), strict=True))
    for name, column in zip(names, read, strict=True):
        if names_series(name) or _equals(column.array, series_ids):
            refuse_names(name, "")
    n_rows = len(next(iter(columns.values())))
    rows = np.arange(n_series)
    if ids is not None and series_ids is not None:
        rows = _rows_of(series_ids, ids)
    elif n_rows != n_series:
        raise ValueError(
            f"static must have one row for each series; got {count(n_rows, 'row')} for {n_series} "
            "series."
        )
    return {name: column[rows] for name, column in columns.items()}


def as_categories(column: NDArray[Any]) -> NDArray[Any]:
    """A static column as text, None = missing: one without any entry may have come as NaN."""
    is_empty = column.dtype.kind == "f" and bool(np.isnan(column).all())
    return np.full(len(column), None, dtype=object) if is_empty else column


def refuse_names(name: Hashable, why: str) -> None:
    """Refuse a column that says which series a row is of."""
    raise ValueError(
        f"the static column {name!r} looks like the name of a series, not like a covariate{why}. Find "
        f"rows by it: static.set_index({name!r}) of pandas, or series.with_static(static, by={name!r}). "
        "Or leave it out; if it is a covariate, rename it or merge categories."
    )


def _equals(column: NDArray[Any], series_ids: NDArray[Any] | None) -> bool:
    """Tell whether a column holds the ids of all series, each entry once."""
    if series_ids is None or len(series_ids) < FEWEST:
        return False
    entries = set(column.tolist())
    return len(entries) == len(column) and set(series_ids.tolist()) <= entries


def _as_objects(static: Any) -> NDArray[Any]:
    """An array of numbers as floats; one in which there is text as it was given, as objects."""
    array = as_array(static, "static")
    if array.dtype.kind == "U" and isinstance(static, list | tuple):
        array = np.array(static, dtype=object)  # numbers beside text have become text
    if array.dtype.kind == "U":
        raise TypeError(
            "static must hold numbers or text as they are; in an array of text numbers are text, too. "
            'Give a table, such as {"age": [61, 47], "sex": ["F", "M"]}.'
        )
    return array if array.dtype == object else as_floats(array, "static")


def _as_static(name: Hashable, column: Column) -> NDArray[Any]:
    """Numbers as float64, NaN = missing; text as objects, None = missing."""
    array, nulls = column
    entries = [None if null else entry for entry, null in zip(array.tolist(), nulls, strict=True)]
    entries = [entry.item() if isinstance(entry, np.generic) else entry for entry in entries]
    kinds = {type(entry) for entry in entries if entry is not None}
    if kinds <= {int, float, bool}:
        try:
            numbers = np.array(entries, dtype=np.float64)  # of None: NaN
        except OverflowError:
            raise ValueError(
                f"the static covariate {name!r} must fit float64; got a whole number beyond."
            ) from None
        if np.isinf(numbers).any():
            row = int(np.isinf(numbers).argmax())
            raise ValueError(f"the static covariate {name!r} must be finite; row {row} is not.")
        return numbers
    if kinds != {str}:
        found = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise TypeError(
            f"the static covariate {name!r} must hold numbers or text; got {found}. Convert it: a date "
            "to a number of years, say."
        )
    return np.array(entries, dtype=object)


def _rows_of(wanted: NDArray[Any], ids: NDArray[Any]) -> NDArray[np.int64]:
    """Where in ids each of the wanted ones is."""
    place = {label: row for row, label in enumerate(ids.tolist())}
    if len(place) < len(ids):
        twice = next(label for label, count in Counter(ids.tolist()).items() if count > 1)
        raise ValueError(f"static has more than one row for series {twice!r}. Keep one.")
    lacking = [label for label in wanted.tolist() if label not in place]
    if lacking:
        raise ValueError(
            f"static has no row for {len(lacking)} of {len(wanted)} series: {few(lacking, repr)}. Add "
            "them, with missing values where nothing is known."
        )
    return np.array([place[label] for label in wanted.tolist()])
