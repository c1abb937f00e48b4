"""Reading what users bring, dataframes above all, into NumPy arrays: the border of `series`."""

from __future__ import annotations

import datetime
import warnings
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .names import CHOICES

TIME = {"date", "dates", "datetime", "t", "time", "timepoint", "timepoints", "times", "timestamp",
        "timestamps"}  # fmt: skip


class LongTable(NamedTuple):
    """A long table, sorted by series and time; one row for each (series, time)."""

    instants: NDArray[Any]  # (n_rows,) numbers or datetime64[ns]
    values: NDArray[Any]  # (n_rows, n_channels)
    lengths: NDArray[np.int64]  # (n_series,) rows of each series
    series_ids: NDArray[Any]  # (n_series,)
    channels: tuple[Any, ...]


class Column(NamedTuple):
    """One column: its entries, and which of them are null (null, None, NaN or NaT)."""

    array: NDArray[Any]
    nulls: NDArray[np.bool_]


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
    codes, series_ids = factorise(columns[0].array)
    instants = as_instants(columns[1].array, f"column {time!r}")
    floats = [
        as_floats(column.array, f"column {name!r}")
        for name, column in zip(measured, columns[len(keys) :], strict=True)
    ]
    sort_keys = [codes, instants]  # most important first
    if variable is not None:
        codes_of_variable, variables = factorise(columns[2].array)
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
        f"{some(table.series_ids[~seen])}. `series_ids` says who is there; labels given by id, in a "
        "pandas Series or a dict, find their series.",
        stacklevel=4,
    )
    rows = seen[owner]
    return table._replace(
        instants=table.instants[rows],
        values=table.values[rows],
        lengths=table.lengths[seen],
        series_ids=table.series_ids[seen],
    )


def some(labels: NDArray[Any], most: int = 5) -> str:
    """Name labels in a message: a few of them, and how many more there are."""
    text = ", ".join(map(repr, labels[:most].tolist()))
    return text if len(labels) <= most else f"{text} and {len(labels) - most} more"


def has_levels(frame: Any) -> bool:
    """Tell whether this is of pandas and has an index of several levels."""
    return len(getattr(getattr(frame, "index", None), "names", ())) > 1


def is_default(index: Any) -> bool:
    """Tell whether an index of pandas only counts rows from 0 on."""
    return (getattr(index, "start", None), getattr(index, "step", None)) == (0, 1)


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
    if missing == 2 and _is_time_level(frame, left[0]) and not _is_time_level(frame, left[1]):
        left.reverse()
    series = left.pop(0) if series is None else series
    time = left.pop(0) if time is None else time
    return frame, series, time, others if missing == 2 else None


def _is_time_level(frame: Any, name: Any) -> bool:
    return frame[name].dtype.kind == "M" or str(name).lower() in TIME


def read_columns(frame: Any, names: Sequence[Hashable]) -> list[Column]:
    """Read the named columns of a dataframe or dict of vectors, all of one length.

    Numbers and datetimes (in UTC) keep a NumPy dtype, anything else may be an object array.
    """
    if not isinstance(frame, Mapping):
        frame = _open(frame, names)
        known, get = frame.columns, frame.get_column
    else:
        known, get = list(frame), lambda name: _recognise(frame[name])
    for name in names:
        if name not in known:
            raise ValueError(f"there is no column {name!r}; the table's columns are {known}.")
    columns = [_read(get(name)) for name in names]
    for name, column in zip(names, columns, strict=True):
        if column.array.shape != (columns[0].array.size,):
            raise ValueError(
                f"columns must be vectors of one length; got shape {columns[0].array.shape} for "
                f"{names[0]!r} and {column.array.shape} for {name!r}."
            )
    return columns


def read_static(
    static: Any, by: Hashable | None, n_series: int, series_ids: NDArray[Any] | None
) -> dict[str, NDArray[Any]]:
    """Read what is known of each series as a whole; see `RaggedSeries.with_static`."""
    if isinstance(static, np.ndarray | list | tuple):
        array = as_floats(static, "static")
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
    if isinstance(static, Mapping):
        static = {name: _as_text_if_coded(_recognise(column)) for name, column in static.items()}
        known = list(static)
    else:
        known = getattr(static, "column_names", None) or list(getattr(static, "columns", ()))
        static = _open(static, known)
        known = static.columns
        static = {name: _as_text_if_coded(static.get_column(name)) for name in known}
    names = [name for name in known if name != by]
    if not names:
        raise ValueError("static must have at least one column; got none.")
    columns = dict(
        zip(map(str, names), map(_as_static, names, read_columns(static, names)), strict=True)
    )
    n_rows = len(next(iter(columns.values())))
    rows = np.arange(n_series)
    if ids is not None and series_ids is not None:
        rows = _rows_of(series_ids, ids)
    elif n_rows != n_series:
        raise ValueError(
            f"static must have one row for each series; got {n_rows} rows for {n_series} series."
        )
    return {name: column[rows] for name, column in columns.items()}


def _as_text_if_coded(column: Any) -> Any:
    """A column of a categorical type as text, any other as it is."""
    if isinstance(column, np.ndarray):
        return column
    nw = _narwhals()
    return column.cast(nw.String) if column.dtype in (nw.Categorical, nw.Enum) else column


def as_categories(column: NDArray[Any]) -> NDArray[Any]:
    """A static column as text, None = missing: one without any entry may have come as NaN."""
    is_empty = column.dtype.kind == "f" and bool(np.isnan(column).all())
    return np.full(len(column), None, dtype=object) if is_empty else column


def _as_static(name: Hashable, column: Column) -> NDArray[Any]:
    """Numbers as float64, NaN = missing; text as objects, None = missing."""
    array, nulls = column
    entries = [None if null else entry for entry, null in zip(array.tolist(), nulls, strict=True)]
    entries = [entry.item() if isinstance(entry, np.generic) else entry for entry in entries]
    kinds = {type(entry) for entry in entries if entry is not None}
    if kinds <= {int, float, bool}:
        numbers = np.array(entries, dtype=np.float64)  # of None: NaN
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
        some = ", ".join(map(repr, lacking[:5])) + (", …" if len(lacking) > 5 else "")
        raise ValueError(
            f"static has no row for {len(lacking)} of {len(wanted)} series: {some}. Add them, with "
            "missing values where nothing is known."
        )
    return np.array([place[label] for label in wanted.tolist()])


def factorise(array: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Return codes and distinct labels, by first appearance: ``labels[codes]`` is the array.

    A dict does it for labels of any type, without sorting them.

    >>> codes, labels = factorise(np.array(["b", "a", "b"]))
    >>> codes.tolist(), labels.tolist()
    ([0, 1, 0], ['b', 'a'])
    """
    entries = array.tolist()
    lookup = {label: code for code, label in enumerate(dict.fromkeys(entries))}
    codes = np.fromiter(map(lookup.__getitem__, entries), np.int64, len(entries))
    first = np.empty(len(lookup), np.int64)
    first[codes[::-1]] = np.arange(len(entries))[::-1]  # the last assignment stays
    labels = np.asarray(array)[first]
    if labels.dtype == object and all(isinstance(label, str) for label in labels):
        text = labels.astype(str)
        labels = text if (text == labels).all() else labels  # a trailing NUL would be lost
    return codes, labels


def as_array(data: Any) -> NDArray[Any]:
    """Return anything as an array: a masked one stays so, pandas times with a zone are in UTC."""
    if isinstance(data, np.ndarray):
        return data
    if hasattr(data, "detach"):  # a tensor, perhaps with a gradient or on a device
        return np.asarray(data.detach().cpu())
    return np.asarray(data, dtype=f"M8[{data.dtype.unit}]" if _has_zone(data) else None)


def as_floats(values: Any, what: str) -> NDArray[Any]:
    """Return numbers as float32 or float64, masked ones as NaN; `what` names them in an error."""
    array = as_array(values)
    if array.dtype.kind not in "biuf":
        raise TypeError(
            f"{what} must be real numbers; got dtype {array.dtype}. Convert them to floats first."
        )
    is_single = array.dtype.kind == "f" and array.dtype.itemsize <= 4
    array = array.astype(np.float32 if is_single else np.float64, copy=False)
    return np.asarray(array.filled(np.nan) if isinstance(array, np.ma.MaskedArray) else array)


def as_instants(times: Any, what: str) -> NDArray[Any]:
    """Return times as an array of numbers, or of datetime64[ns]; masked ones as NaN or NaT."""
    array = _dates_in_numpy(as_array(times))
    if array.dtype.kind not in "iufM":
        raise TypeError(
            f"{what} must be numbers or datetime64; got dtype {array.dtype}. Convert them first, "
            "for example by pd.to_datetime(times), np.asarray(times, dtype='datetime64[ns]') or "
            "durations / np.timedelta64(1, 's')."
        )
    is_date = array.dtype.kind == "M"
    if isinstance(array, np.ma.MaskedArray):
        gap: Any = np.datetime64("NaT") if is_date else np.nan
        dtype = array.dtype if is_date else np.result_type(array, np.float16)
        array = np.where(array.mask, gap, array.data.astype(dtype))
    if is_date and array.dtype != np.dtype("M8[ns]"):
        exact = array.astype("M8[ns]")
        lost = (exact.astype(array.dtype) != array) & ~np.isnat(array)
        if lost.any():
            raise ValueError(
                f"{what} must fit datetime64[ns], the years 1678 to 2262; got {array[lost][0]}. "
                "Use numbers as times instead."
            )
        array = exact
    return array


def _dates_in_numpy(array: NDArray[Any]) -> NDArray[Any]:
    """Return dates of Python or pandas, in UTC if they have a zone, as datetime64; else as it is."""
    if array.dtype != object or isinstance(array, np.ma.MaskedArray):
        return array
    entries = array.ravel().tolist()
    # A period is the time at which it starts.
    entries = [e.to_timestamp() if hasattr(e, "to_timestamp") else e for e in entries]
    are_dates = all(isinstance(entry, datetime.date | np.datetime64) for entry in entries)
    zones = {getattr(entry, "tzinfo", None) is None for entry in entries}
    if not are_dates or len(zones) != 1:
        return array
    return np.array([_date_in_numpy(entry) for entry in entries]).reshape(array.shape)


def _date_in_numpy(entry: Any) -> np.datetime64:
    if hasattr(entry, "to_datetime64"):  # of pandas, which keeps nanoseconds
        return entry.to_datetime64()
    if getattr(entry, "tzinfo", None) is not None:
        entry = entry.astimezone(datetime.timezone.utc).replace(tzinfo=None)
    return np.datetime64(entry)


def name_series(index: int, series_ids: NDArray[Any] | None) -> str:
    """Name a series in an error message."""
    return f"series {index}" + ("" if series_ids is None else f" (id {series_ids[index]})")


def _has_zone(data: Any) -> bool:
    """Tell whether these are pandas times with a zone."""
    return hasattr(getattr(data, "dtype", None), "tz")


def _narwhals() -> Any:
    """Import narwhals, which scikit-learn brings from version 1.9 on."""
    try:
        import narwhals
    except ImportError as error:
        raise ImportError(
            "reading dataframes needs narwhals: pip install 'genshapelets[dataframe]'"
        ) from error
    return narwhals


def _open(frame: Any, names: Sequence[Hashable]) -> Any:
    """Return the frame as an eager narwhals dataframe, which has the named columns once at most."""
    nw = _narwhals()
    frame = _without_repeats(frame, names)
    try:
        return nw.from_native(frame, eager_only=True)
    except TypeError:
        if hasattr(frame, "__arrow_c_stream__"):
            try:
                import pyarrow as pa
            except ImportError as error:
                raise ImportError(
                    f"reading a {type(frame).__name__} needs pyarrow: pip install pyarrow"
                ) from error
            return nw.from_native(_without_repeats(pa.table(frame), names), eager_only=True)
        if hasattr(frame, "__dataframe__"):
            return nw.from_native(_without_repeats(_interchange(frame), names), eager_only=True)
        raise TypeError(
            "frame must be a dataframe (pandas, polars, pyarrow, or any with __arrow_c_stream__ or "
            f"__dataframe__) or a dict of vectors; got {type(frame).__name__}. "
            "Collect a lazy frame first."
        ) from None


def _without_repeats(frame: Any, names: Sequence[Hashable]) -> Any:
    """Leave out columns of pandas or pyarrow that share a name; refuse that of the named ones."""
    is_pandas = hasattr(frame, "iloc")
    known = list(frame.columns if is_pandas else getattr(frame, "column_names", ()))
    counts = Counter(known)
    if len(counts) == len(known):
        return frame
    for name in names:
        if counts[name] > 1:
            raise ValueError(
                f"there are {counts[name]} columns {name!r}; which one is meant? "
                "Rename or drop all but one."
            )
    single = [place for place, name in enumerate(known) if counts[name] == 1]
    return frame.iloc[:, single] if is_pandas else frame.select(single)


def _interchange(frame: Any) -> Any:
    """Read a frame that only speaks the interchange protocol, by pyarrow or else by pandas."""
    try:
        from pyarrow.interchange import from_dataframe
    except ImportError:
        try:
            from pandas.api.interchange import from_dataframe
        except ImportError as error:
            raise ImportError(
                f"reading a {type(frame).__name__} needs pyarrow or pandas: pip install pyarrow"
            ) from error
    return from_dataframe(frame)


def _recognise(vector: Any) -> Any:
    """Wrap a pandas, polars or pyarrow vector by narwhals; make anything else an array."""
    if isinstance(vector, np.ndarray | list | tuple):
        return as_array(vector)
    nw = _narwhals()
    wrapped = nw.from_native(vector, series_only=True, pass_through=True)
    return wrapped if isinstance(wrapped, nw.Series) else as_array(vector)


def _read(column: Any) -> Column:
    """Read one NumPy vector or narwhals series."""
    if isinstance(column, np.ndarray):
        array = column
        nulls = np.zeros(array.shape, bool) | getattr(column, "mask", False)
        if array.dtype == object:
            nulls |= (array == None) | (array != array)  # noqa: E711
    else:
        nw = _narwhals()
        nulls = column.is_null().to_numpy()
        native = column.to_native()
        if _has_zone(native):  # narwhals 2.28 does not know pandas zones such as America/New_York
            return Column(as_array(native), nulls)
        if isinstance(column.dtype, nw.Datetime) and column.dtype.time_zone is not None:
            column = column.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        has_no_null_in_numpy = column.dtype.is_integer() or column.dtype == nw.Boolean
        if column.dtype.is_decimal() or (nulls.any() and has_no_null_in_numpy):
            column = column.cast(nw.Float64)
        array = column.to_numpy()
    if array.dtype == object and nulls.all():  # a column of no type: nothing is known of it
        array = np.full(array.shape, np.nan)
    if array.dtype.kind in "fM":
        nulls = nulls | np.isnan(np.asarray(array))
    return Column(array, nulls)
