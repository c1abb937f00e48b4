"""One column, or one array, of whatever users bring: into NumPy arrays of numbers or of dates."""

from __future__ import annotations

import datetime
import re
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from decimal import Decimal
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .shown import cut

NUMPY_FLOATS = ("torch.float16", "torch.float32", "torch.float64")
WHO = re.compile(
    r"(.*[ _-])?ids?|(patient|subject|stay|case|series|instance|sample|record|person|participant)s?"
    r"([ _-]?(ids?|no|nr|number))?|(hadm|icustay|encounter|admission|visit|user)id|mrn|uuid|guid"
)
WHEN = re.compile(
    r"t|(.*[ _-])?(date ?_?time|time ?_?stamp|time ?_?point|time|date)s?"
    r"|(.*[ _-])?(hour|minute|second|day|week|month)s?|(chart|store|event|start|end|sample)_?(time|date)"
)


class Column(NamedTuple):
    """One column: its entries, and which of them are null (null, None, NaN or NaT)."""

    array: NDArray[Any]
    nulls: NDArray[np.bool_]


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
        if column.array.ndim != 1:
            raise ValueError(
                f"column {name!r} must hold one number, text or date in each row; got an array of shape "
                f"{column.array.shape}. Give it as several columns."
            )
        if column.array.shape != (columns[0].array.size,):
            raise ValueError(
                f"columns must be vectors of one length; got shape {columns[0].array.shape} for "
                f"{names[0]!r} and {column.array.shape} for {name!r}."
            )
    return columns


def each_column(table: Any) -> dict[Any, Any]:
    """Columns of a dataframe or dict of vectors by name; those of a categorical type as text."""
    if isinstance(table, Mapping):
        return {name: _as_text_if_coded(_recognise(column)) for name, column in table.items()}
    table = _collected(table)
    known = getattr(table, "column_names", None) or list(getattr(table, "columns", ()))
    table = _open(table, known)
    return {name: _as_text_if_coded(table.get_column(name)) for name in table.columns}


def _as_text_if_coded(column: Any) -> Any:
    """A column of a categorical type as text, any other as it is."""
    if isinstance(column, np.ndarray):
        return column
    nw = _narwhals()
    return column.cast(nw.String) if column.dtype in (nw.Categorical, nw.Enum) else column


def names_series(name: Hashable) -> bool:
    """Tell whether a column of this name says which series it is.

    >>> [names_series(name) for name in ("id", "RecordID", "stay_id", "Patient", "acid", "unit")]
    [True, True, True, True, False, False]
    """
    snake = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", str(name)).lower()
    return bool(WHO.fullmatch(snake))


def names_times(name: Hashable) -> bool:
    """Tell whether a column of this name says when.

    >>> [names_times(name) for name in ("Hour", "charttime", "event_date", "update", "t2")]
    [True, True, True, False, False]
    """
    return bool(WHEN.fullmatch(str(name).lower()))


def check_name(name: Any, what: str) -> None:
    """Refuse what is no name of a column, such as a list of one."""
    if not isinstance(name, Hashable):
        raise TypeError(
            f"{what} must be the name of one column, as in {what}='name'; got {cut(repr(name), 60)}. "
            "Name it alone."
        )


def check_hashable(labels: Sequence[Any], what: str) -> None:
    """Refuse labels that cannot be told apart, such as lists."""
    try:
        set(labels)
    except TypeError:
        which = next(label for label in labels if not isinstance(label, Hashable))
        raise TypeError(
            f"{what} must hold labels, such as numbers or text; got {cut(repr(which), 60)}, a "
            f"{type(which).__name__}. Convert them, for example to text by str or to tuples."
        ) from None


def factorise(
    array: NDArray[Any], what: str = "a column"
) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Return codes and distinct labels, by first appearance: ``labels[codes]`` is the array.

    A dict does it for labels of any type, without sorting them.

    >>> codes, labels = factorise(np.array(["b", "a", "b"]))
    >>> codes.tolist(), labels.tolist()
    ([0, 1, 0], ['b', 'a'])
    """
    entries = list(array) if array.dtype == object else array.tolist()
    check_hashable(entries, what)
    lookup = {label: code for code, label in enumerate(dict.fromkeys(entries))}
    codes = np.fromiter(map(lookup.__getitem__, entries), np.int64, len(entries))
    first = np.empty(len(lookup), np.int64)
    first[codes[::-1]] = np.arange(len(entries))[::-1]  # the last assignment stays
    labels = np.asarray(array)[first]
    if labels.dtype == object and all(isinstance(label, str) for label in labels):
        text = labels.astype(str)
        labels = text if (text == labels).all() else labels  # a trailing NUL would be lost
    return codes, labels


def is_default(index: Any) -> bool:
    """Tell whether an index of pandas only counts rows from 0 on."""
    return (getattr(index, "start", None), getattr(index, "step", None)) == (0, 1)


def as_array(data: Any, what: str = "the data") -> NDArray[Any]:
    """Return anything as an array: a masked one stays so, pandas times with a zone are in UTC."""
    if isinstance(data, np.ndarray):
        return data
    if hasattr(data, "detach"):
        return _of_tensor(data, what)
    if hasattr(data, "nnz"):
        raise TypeError(f"{what} must be dense; got a sparse array. Use its toarray().")
    try:
        return np.asarray(data, dtype=f"M8[{data.dtype.unit}]" if _has_zone(data) else None)
    except ValueError:
        if not isinstance(data, list | tuple):
            raise
        raise ValueError(
            f"{what} must make one array; got lists of different lengths. Give each as many values, NaN "
            "where nothing was observed."
        ) from None


def check_tensor(tensor: Any, what: str) -> None:
    """Refuse a tensor that holds no array of numbers."""
    if tensor.is_nested:
        raise TypeError(f"{what} must be a plain tensor; got a nested one. Use a list: unbind().")
    if str(tensor.layout) != "torch.strided":
        raise TypeError(f"{what} must be dense; got a sparse tensor. Use its to_dense().")
    if tensor.is_meta:
        raise TypeError(
            f"{what} must hold numbers; got a tensor on the device meta, which has none."
        )
    if tensor.is_quantized:
        raise TypeError(f"{what} must be floats; got a quantised tensor. Use its dequantize().")


def _of_tensor(tensor: Any, what: str) -> NDArray[Any]:
    """A tensor, perhaps with a gradient or on a device, as an array."""
    check_tensor(tensor, what)
    tensor = tensor.detach().cpu().resolve_conj().resolve_neg()
    if tensor.is_floating_point() and str(tensor.dtype) not in NUMPY_FLOATS:  # such as bfloat16
        tensor = tensor.float()
    if str(tensor.dtype) == "torch.complex32":
        tensor = tensor.cfloat()
    return np.asarray(tensor)


def as_floats(values: Any, what: str) -> NDArray[Any]:
    """Return numbers as float32 or float64, masked ones and nulls as NaN; `what` names them."""
    array = as_array(values, what)
    if array.dtype == object:
        array = _numbers_of(array, what)
    if array.dtype.kind not in "biuf":
        raise TypeError(
            f"{what} must be real numbers; got dtype {array.dtype}. Convert them to floats first."
        )
    is_single = array.dtype.kind == "f" and array.dtype.itemsize <= 4
    array = array.astype(np.float32 if is_single else np.float64, copy=False)
    return np.asarray(array.filled(np.nan) if isinstance(array, np.ma.MaskedArray) else array)


def _numbers_of(array: NDArray[Any], what: str) -> NDArray[Any]:
    """Objects that are numbers or nulls as floats."""
    floats = np.full(array.shape, np.nan)
    present = ~(nulls_of(array) | np.ma.getmaskarray(array))
    entries = np.asarray(array)[present].tolist()
    for entry in entries:
        if not isinstance(entry, Real | Decimal | np.bool_):
            raise TypeError(
                f"{what} must be real numbers; got dtype object, in which one is {cut(repr(entry))}. "
                "Convert them to floats first."
            )
    try:
        floats[present] = [float(entry) for entry in entries]
    except OverflowError:
        raise ValueError(f"{what} must fit float64; got a whole number beyond.") from None
    return floats


def nulls_of(array: NDArray[Any]) -> NDArray[np.bool_]:
    """Tell which objects are null: None, NaN, NaT or pandas.NA, which is not even equal to itself."""
    entries = np.asarray(array).ravel().tolist()
    return np.fromiter(map(_is_null, entries), bool, len(entries)).reshape(array.shape)


def _is_null(entry: Any) -> bool:
    if entry is None or type(entry).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(entry, Real | Decimal | np.generic) and bool(entry != entry)


def as_instants(times: Any, what: str) -> NDArray[Any]:
    """Return times as an array of numbers, or of datetime64[ns]; masked ones as NaN or NaT."""
    array = _dates_in_numpy(as_array(times, what))
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
    frame = _without_repeats(_collected(frame), names)
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
            f"__dataframe__) or a dict of vectors; got {type(frame).__name__}. Make it one of these."
        ) from None


def _collected(frame: Any) -> Any:
    """Compute a lazy frame of polars."""
    return frame.collect() if type(frame).__name__ == "LazyFrame" else frame


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
            nulls |= nulls_of(array)
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
        is_wide = column.dtype in (nw.Int128, nw.UInt128)  # which NumPy lacks
        array = _narrowed(column.to_list()) if is_wide else column.to_numpy()
    if array.dtype == object and nulls.all():  # a column of no type: nothing is known of it
        array = np.full(array.shape, np.nan)
    if array.dtype.kind in "fM":
        nulls = nulls | np.isnan(np.asarray(array))
    return Column(array, nulls)


def _narrowed(numbers: list[int]) -> NDArray[Any]:
    """Whole numbers as int64 if they fit, else as objects."""
    try:
        return np.array(numbers, np.int64)
    except OverflowError:
        return np.array(numbers, object)
