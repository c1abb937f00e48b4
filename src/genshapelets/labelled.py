"""Series that name what they hold: frames with times down the rows, nested frames, xarray's arrays."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .columns import (
    as_array,
    as_floats,
    as_instants,
    check_hashable,
    names_series,
    names_times,
    nulls_of,
    read_columns,
)
from .shown import cut
from .tables import has_levels, name_series, read_long

CHANNEL = {"channel", "channels", "feature", "features", "variable", "variables"}
TIME = {"date", "dates", "datetime", "time", "timepoint", "timepoints", "times", "timestamp",
        "timestamps"}  # fmt: skip  # an hour, say, may be measured, too
NO_NUMBERS = ("str", "large_str", "cat", "dict", "enum", "date", "time", "period", "dur", "list",
              "array", "struct")  # fmt: skip  # how the names of other types begin
CURE = "RaggedSeries.from_long(frame, series=…, time=…, channels=[…])"


class Labelled(NamedTuple):
    """Arrays as `RaggedSeries.from_arrays` takes them, and the names that came with them."""

    values: Any
    times: Any
    channel_names: tuple[str, ...] | None
    series_ids: NDArray[Any] | None


def is_labelled(data: Any) -> bool:
    """Tell whether `read_labelled` reads this: no plain arrays, no frames with a series in each row."""
    is_dict = isinstance(data, Mapping) and not hasattr(data, "shape")  # which a sparse matrix has
    if is_dict or has_levels(data) or _has_dims(data) or _is_nested(data):
        return True
    is_list = isinstance(data, list | tuple) or (
        getattr(data, "ndim", 0) == 1 and str(getattr(data, "dtype", "")) == "object"
    )
    return is_list and any(_has_labels(item) for item in data)


def read_labelled(data: Any) -> Labelled:
    """Read an array of xarray, a nested or MultiIndex frame, or frames in a list or, by id, a dict."""
    if _has_dims(data):
        return _read_dims(data)
    if has_levels(data):
        table = read_long(data)
        ends = np.cumsum(table.lengths)[:-1]
        values = [part.T for part in np.split(table.values, ends)]
        names = _as_channels(table.channels)
        return Labelled(values, np.split(table.instants, ends), names, table.series_ids)
    ids = None
    if isinstance(data, Mapping):
        ids, data = as_ids(data), list(data.values())
        if not any(np.ndim(item) == 2 or _has_labels(item) for item in data):
            raise TypeError(
                "a dict holds one series for each id, as a dataframe or a (n_channels, n_times) "
                f"array. The columns of a table become series by {CURE}."
            )
    elif _is_nested(data):
        ids, data = as_ids(data.index), _unnested(data)
    if not any(_has_labels(item) for item in data):
        return Labelled(list(data), None, None, ids)
    read: list[Labelled] = []
    for n, item in enumerate(data):
        what = name_series(n, ids)
        if not _has_labels(item):
            raise TypeError(
                f"series must be all dataframes or all arrays; {what} is a {type(item).__name__}. "
                "Convert those that differ."
            )
        one = _read_one(item, what)
        own, names = one.channel_names, (read[0] if read else one).channel_names
        if own != names:
            if own is None or names is None or set(own) != set(names):
                raise ValueError(
                    f"all series must have the same channels; those of {what} are "
                    f"{', '.join(own or ['not named'])}, those of {name_series(0, ids)} "
                    f"{', '.join(names or ['not named'])}. Fill a channel that was not observed with "
                    "NaN, for example by frame.reindex(columns=[…])."
                )
            one = one._replace(values=one.values[[own.index(name) for name in names]])
        read.append(one)
    return Labelled([one.values for one in read], [one.times for one in read], names, ids)


def refuse_long(frame: Any) -> None:
    """Refuse a frame whose rows are observations, or hold more than the values of a series."""
    refuse_lazy(frame)
    if not hasattr(frame, "columns"):
        return
    names = _names(frame)
    for name, kind in zip(names, _types(frame), strict=True):
        if is_wide(kind):
            raise TypeError(f"column {name!r} is {kind}, which NumPy lacks. Cast it to Int64.")
    strange = [
        name
        for place, (name, kind) in enumerate(zip(names, _types(frame), strict=True))
        if names_series(name)
        or (names_times(name) and str(name).lower() != "t")
        or str(kind).lower().startswith(NO_NUMBERS)
        or (str(kind) == "object" and any(map(_is_no_number, frame.iloc[:1, place])))
    ]
    index: Any = getattr(frame, "index", None)
    if hasattr(index, "to_numpy") and (hasattr(index, "freq") or names_times(index.name)):
        raise TypeError(
            "a dataframe given as it is has a univariate series in each row, but the index of this one "
            "holds times. If it is one series, give it in a list, [frame]; if it is many, make them by "
            f"{CURE}, after frame.reset_index(). If each row is a series, use "
            "frame.reset_index(drop=True)."
        )
    if strange:
        reason = f"column {strange[0]!r} does not hold values of a series"
    elif len(names) > 2 and _rises_within_blocks(frame):
        reason = f"{names[0]!r} repeats and {names[1]!r} rises within each, as in a long table"
    elif hasattr(index, "to_numpy") and _repeats_with_others(frame):
        reason = "its index repeats with other values, as in a long table"
    else:
        return
    raise TypeError(
        f"a dataframe given as it is has a univariate series in each row; {reason}. If a row is an "
        f"observation, make series by {CURE}. If it is a series, keep its values only: other columns "
        "belong into the index."
    )


def refuse_lazy(frame: Any) -> None:
    """Refuse a frame of polars that is still to be computed."""
    if type(frame).__name__ == "LazyFrame":
        raise TypeError("a lazy frame has no rows yet. Give frame.collect().")


def _is_no_number(cell: Any) -> bool:
    return isinstance(cell, str | datetime.date)


def _repeats_with_others(frame: Any) -> bool:
    """Tell whether rows of one label differ: in a bootstrap sample they are the same."""
    if frame.index.is_unique:
        return False
    labelled = frame.set_axis(range(1, 1 + len(frame.columns)), axis=1)
    rows = labelled.rename_axis(0).reset_index()
    return bool((rows.duplicated([0]) & ~rows.duplicated()).any())


def _rises_within_blocks(frame: Any, least: int = 8) -> bool:
    """Tell whether the first two columns are, by all appearance, series and time."""
    columns = frame.iloc[:, :2] if hasattr(frame, "iloc") else frame.select(_names(frame)[:2])
    head = np.asarray(columns)
    if head.dtype.kind not in "iuf" or len(head) < least:
        return False
    same = head[1:, 0] == head[:-1, 0]
    n_blocks = len(head) - np.count_nonzero(same)
    is_sorted = len(np.unique(head[:, 0])) == n_blocks and 2 * n_blocks <= len(head)
    rises = np.diff(head[:, 1])[same] > 0
    return bool(is_sorted and len(rises) >= least and rises.all())


def as_ids(labels: Iterable[Any]) -> NDArray[Any]:
    """Return labels of series as a vector that keeps the type of each."""
    if not isinstance(labels, Iterable):
        raise TypeError(
            f"ids must be a list with one for each series; got {cut(repr(labels), 60)}."
        )
    if hasattr(labels, "detach"):
        labels = as_array(labels, "ids").tolist()
    entries = list(labels)
    check_hashable(entries, "ids")
    array = np.empty(len(entries), object)
    array[:] = entries
    missing = nulls_of(array)
    if missing.any():
        raise ValueError(
            f"ids must not be missing; that of series {missing.argmax()} is "
            f"{cut(repr(array[missing][0]), 60)}. Name it, or leave out series without an id."
        )
    if len({type(entry) for entry in entries}) == 1 and np.ndim(entries[0]) == 0:
        return np.asarray(entries)
    return array


def _has_labels(item: Any) -> bool:
    """Tell whether one series is of pandas, polars, pyarrow or xarray."""
    return _has_dims(item) or hasattr(item, "columns") or hasattr(item, "to_frame")


def _read_one(item: Any, what: str) -> Labelled:
    """Read one series: (n_channels, n_times) values, its times, names of its channels."""
    refuse_lazy(item)
    if _has_dims(item):
        one = _read_dims(item.expand_dims("case"))
        times = np.arange(one.values.shape[2]) if one.times is None else one.times
        return one._replace(values=one.values[0], times=times)
    if has_levels(item):
        raise ValueError(
            f"{what} has an index of several levels. Leave one, the times, by frame.droplevel(0), or "
            "give all series as one frame."
        )
    index: Any = getattr(item, "index", None)
    index = index if hasattr(index, "dtype") else None  # of pandas
    if not hasattr(item, "columns"):  # a vector; its name may be that of the series
        values = as_floats(_columns(item.to_frame(name="x"), ["x"])[0], f"values of {what}")
        return Labelled(values[None], _times_of(index, len(values), what), None, None)
    names = _names(item)
    for name in names:
        if names_series(name):
            raise ValueError(
                f"column {name!r} of {what} looks like the name of the series, not like a channel. "
                f"Leave it out, or make series of one table by {CURE}."
            )
    columns = dict(zip(names, _columns(item, names), strict=True))
    when = [name for name in names if _is_time(name, columns[name])]
    if len(when) > 1 or (when and index is not None and _is_time(index.name, index)):
        others = [f"column {name!r}" for name in when[1:]] or ["its index"]
        raise ValueError(
            f"column {when[0]!r} and {others[0]} of {what} both look like times. Leave one out."
        )
    if when:
        times = as_instants(columns.pop(when[0]), f"column {when[0]!r} of {what}")
    else:
        times = _times_of(index, len(item), what)
    floats = [as_floats(x, f"column {name!r} of {what}") for name, x in columns.items()]
    values = np.stack(floats) if floats else np.empty((0, len(item)))
    return Labelled(values, times, _as_channels(columns), None)


def _is_time(name: Any, column: Any) -> bool:
    """Tell whether a column is the times: by its type, or by a name that no measurement has."""
    return column.dtype.kind == "M" or str(name).lower() in TIME


def _times_of(index: Any, n_times: int, what: str) -> NDArray[Any]:
    return np.arange(n_times) if index is None else as_instants(index, f"the index of {what}")


def _columns(frame: Any, names: list[Any]) -> list[NDArray[Any]]:
    are_numbers = all(
        str(kind).lower().startswith(("float", "int", "uint")) and not is_wide(kind)
        for kind in _types(frame)
    )
    if are_numbers and hasattr(frame, "to_numpy") and len(set(names)) == len(names):
        array = frame.to_numpy()
        if array.dtype.kind in "iuf":  # the usual case, and fast
            return list(array.T)
    return [column.array for column in read_columns(frame, names)]


def _names(frame: Any) -> list[Any]:
    """Names of the columns; those of pyarrow are the columns' own."""
    return list(getattr(frame, "column_names", frame.columns))


def _types(frame: Any) -> Iterable[Any]:
    """Types of the columns; those of pyarrow are in the schema."""
    return frame.dtypes if hasattr(frame, "dtypes") else frame.schema.types


def is_wide(kind: Any) -> bool:
    """Tell whether a type of a column has whole numbers that NumPy lacks, Int128 of polars."""
    return str(kind).lower().endswith("int128")


def _as_channels(names: Iterable[Any]) -> tuple[str, ...] | None:
    """Names as text; None if they only number the channels."""
    names = list(names)
    return None if names == list(range(len(names))) else tuple(map(str, names))


# Nested frames: each cell is a channel of a series


def _is_nested(frame: Any) -> bool:
    """Tell whether a pandas frame holds vectors in its cells."""
    if not (hasattr(frame, "iloc") and hasattr(frame, "columns") and len(frame)):
        return False
    return "object" in map(str, frame.dtypes) and any(map(_is_vector, frame.iloc[0]))


def _is_vector(cell: Any) -> bool:
    return hasattr(cell, "__len__") and not isinstance(cell, str | bytes | Mapping)


def _unnested(frame: Any) -> list[Any]:
    """Return one frame for each row, the cells of which are joined by their times."""
    import pandas

    rows = []
    for label, row in zip(frame.index, frame.itertuples(index=False, name=None), strict=True):
        for name, cell in zip(frame.columns, row, strict=True):
            if not _is_vector(cell):
                raise TypeError(
                    f"each cell of a nested dataframe must hold a series; that of row {label!r}, "
                    f"column {name!r} holds {cell!r}. Leave out other columns."
                )
        cells = {name: pandas.Series(cell) for name, cell in zip(frame.columns, row, strict=True)}
        try:
            rows.append(pandas.DataFrame(cells))
        except ValueError as error:
            raise ValueError(f"the cells of row {label!r} cannot be joined: {error}.") from error
    return rows


# Arrays of xarray: dimensions have names


def _has_dims(data: Any) -> bool:
    return hasattr(data, "dims") and hasattr(data, "coords")


def _read_dims(data: Any) -> Labelled:
    """Read a DataArray by the names of its dimensions; of a Dataset the variables are channels."""
    if hasattr(data, "data_vars"):
        data = data.to_array("channel")
    series, time, channel = _roles(data.dims)
    order = [series, time] if channel is None else [series, channel, time]
    values = np.asarray(data.transpose(*order))

    def labels(dim: Any) -> NDArray[Any] | None:
        return np.asarray(data.coords[dim]) if dim in data.coords else None

    channels = None if channel is None else labels(channel)
    return Labelled(
        values[:, None] if channel is None else values,
        labels(time),
        None if channels is None else _as_channels(channels.tolist()),
        labels(series),
    )


def _roles(dims: Sequence[Any]) -> tuple[Any, Any, Any]:
    """Return the dimensions of series, of time and, if there is one, of channels."""
    kinds = (names_series, names_times, lambda dim: str(dim).lower() in CHANNEL)
    known = [[dim for dim in dims if is_it(dim)] for is_it in kinds]
    unknown = [dim for dim in dims if not any(dim in found for found in known)]
    if len(dims) == 3 and len(unknown) == 1:
        known = [found or unknown for found in known]  # it is what the others are not
    series, time, channel = (found[0] if len(found) == 1 else None for found in known)
    if None in (series, time) or len(dims) != 2 + (channel is not None):
        raise ValueError(
            "the dimensions of an xarray must be named case, time and channel, in any order, or case "
            f"and time; got {', '.join(map(repr, dims))}. Rename them by X.rename(…); a single series "
            "gets a case by X.expand_dims('case')."
        )
    return series, time, channel
