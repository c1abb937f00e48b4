"""Long tables in CSV and Parquet files."""

from __future__ import annotations

import difflib
import gzip
import os
import warnings
from collections.abc import Sequence
from numbers import Number
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..series import RaggedSeries
from ..shown import cut
from .parsing import existing_file, parse_instants, parse_number

_MISSING = ["", "?", "NA", "NaN", "nan", "null"]  # the same whichever library reads
TEXT_SUFFIXES = {".csv": ",", ".csv.gz": ",", ".tsv": "\t", ".tsv.gz": "\t"}


def read_table(
    path: str | os.PathLike[str],
    *,
    series: str,
    time: str,
    channels: Sequence[str] | None = None,
    variable: str | None = None,
    value: str | None = None,
    label: str | None = None,
    aggregate: Any = None,
) -> tuple[RaggedSeries, NDArray[Any] | None]:
    r"""Read a long table: one row for each (series, time), or one for each observation.

    The library that reads is pandas if installed, else polars, else pyarrow. Empty cells, ``?``,
    ``NA``, ``NaN`` and ``null`` are missing.

    Parameters
    ----------
    path : str or path
        A .csv, .csv.gz, .tsv, .tsv.gz or .parquet file.
    series, time : str
        Names of the columns that say which series, and when: numbers or ISO date-times.
    channels : sequence of str, optional
        The columns of values; by default all others that hold numbers. With `variable`: the
        variables to take.
    variable, value : str, optional
        Names of the columns that say which channel, and its value.
    label : str, optional
        Name of the column with the label, the same in all rows of a series.
    aggregate : str, optional
        As for `RaggedSeries.from_long`.

    Returns
    -------
    series : RaggedSeries
        See `RaggedSeries.from_long`.
    labels : (n_series,) array or None
        In the order of ``series.series_ids``; None without `label`.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp(), "stays.csv")
    >>> _ = file.write_text("who,when,pulse,died\na,0,80,no\nb,1,60,yes\na,2,82,no\n")
    >>> batch, labels = read_table(file, series="who", time="when", label="died")
    >>> batch.channel_names, batch.series_ids.tolist(), labels.tolist()
    (('pulse',), ['a', 'b'], ['no', 'yes'])
    """
    file = existing_file(path)
    columns = read_columns(file)
    if isinstance(channels, str):
        channels = [channels]
    chosen = [name for name in (series, time, variable, value, label) if name is not None]
    for name in chosen + (list(channels) if channels and variable is None else []):
        if name not in columns:
            close = difflib.get_close_matches(str(name), map(str, columns), n=1)
            hint = f" Did you mean {_said(close[0])}?" if close else ""
            raise ValueError(
                f"{file} has no column {_said(name)}; its columns are {_said(list(columns), 110)}.{hint}"
            )
    if channels is None and variable is None and value is None:
        others = [name for name in columns if name not in chosen]
        channels = [name for name in others if _is_numeric(file, name, columns[name])]
        if not channels:
            raise ValueError(
                f"{file} has no column of numbers besides {chosen}; its columns are "
                f"{_said(list(columns), 110)}. Name the columns of values by channels=[…]."
            )
    if variable is not None and channels is not None:  # text may name what the file has as numbers
        entries = {str(entry): entry for entry in _as_array(columns[variable]).tolist()}
        channels = [entries.get(str(name), name) for name in channels]
    columns[time] = _read_times(file, time, columns[time])
    batch = RaggedSeries.from_long(
        columns, series=series, time=time, channels=channels, variable=variable, value=value,
        aggregate=aggregate,
    )  # fmt: skip
    if label is None:
        return batch, None
    return batch, _one_label_each(file, columns, series, label, batch)


def read_columns(file: Path) -> dict[str, Any]:
    """Read a file by the first library that can, as named vectors of that library's own type."""
    name = file.name.lower()
    separator = next((sep for suffix, sep in TEXT_SUFFIXES.items() if name.endswith(suffix)), None)
    if separator is None and not name.endswith(".parquet"):
        raise ValueError(
            f"a table must be a {', '.join(TEXT_SUFFIXES)} or .parquet file; got {file}."
        )
    is_text = separator is not None
    libraries = (
        [_read_by_polars, _read_by_pyarrow] if is_text else [_read_by_pyarrow, _read_by_polars]
    )
    failure: Exception | None = None
    for read in (_read_by_pandas, *libraries):
        try:
            if is_text:
                _check_text(file)
            columns = read(file, separator)
            return {name: _without_entry_as_nan(column) for name, column in columns.items()}
        except ImportError:  # noqa: PERF203  pandas alone cannot read Parquet: others may
            continue
        except Exception as error:  # noqa: BLE001  damaged files make libraries raise anything
            failure = failure or error
            if is_text or read is not _read_by_pandas:  # who may dislike its own notes in Parquet
                break
    if failure is not None:
        reason = cut(str(failure), 120).rstrip(".")
        raise ValueError(
            f"{file} could not be read as a {'text' if is_text else 'Parquet'} table: {reason}. "
            "Fetch or write it again."
        ) from failure
    raise ImportError(f"reading {file} needs pandas, polars or pyarrow: pip install pandas pyarrow")


def _check_text(file: Path) -> None:
    """Refuse zero bytes, at which pandas ends a cell without a word."""
    with gzip.open(file) if file.name.lower().endswith(".gz") else open(file, "rb") as content:
        while part := content.read(1 << 20):
            if b"\0" in part:
                raise ValueError("it has zero bytes, which no text in UTF-8 has")


def _read_by_pandas(file: Path, separator: str | None) -> dict[str, Any]:
    import pandas as pd

    if separator is None:
        frame = pd.read_parquet(file)
        if frame.index.names != [None]:
            frame = frame.reset_index()
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)
            try:
                frame = pd.read_csv(
                    file,
                    sep=separator,
                    na_values=_MISSING,
                    keep_default_na=False,
                    float_precision="round_trip",  # the default is off by a bit now and then
                    low_memory=False,
                    encoding="utf-8-sig",
                    index_col=False,
                )
            except pd.errors.ParserWarning:
                raise ValueError(
                    "its rows have more cells than its first line has names. Complete that line."
                ) from None
    return {name: frame[name] for name in frame.columns}


def _read_by_polars(file: Path, separator: str | None) -> dict[str, Any]:
    import polars as pl

    try:
        if separator is None:
            frame = pl.read_parquet(file)
        else:
            frame = pl.read_csv(
                file, separator=separator, null_values=_MISSING, infer_schema_length=None
            )
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise ValueError(str(error)) from error
    return {name: frame[name] for name in frame.columns}


def _read_by_pyarrow(file: Path, separator: str | None) -> dict[str, Any]:
    if separator is None:
        from pyarrow import parquet

        table = parquet.read_table(file)
    else:
        from pyarrow import csv

        table = csv.read_csv(
            file,
            parse_options=csv.ParseOptions(delimiter=separator),
            convert_options=csv.ConvertOptions(null_values=_MISSING, strings_can_be_null=True),
        )
    return {name: table[name] for name in table.column_names}


def _said(entry: Any, longest: int = 60) -> str:
    """Quote an entry, or a list of names, as far as a message has room for it."""
    return cut(repr(entry), longest)


def _as_array(column: Any) -> NDArray[Any]:
    """Return a vector of any library as an array: of numbers, of datetimes, or of objects."""
    array = np.asarray(column)
    if array.dtype == object and hasattr(column, "isna"):
        return column.to_numpy(dtype=object, na_value=None)  # pandas.NA is not equal to itself
    return array


def _has(array: NDArray[Any]) -> NDArray[np.bool_]:
    """Tell which entries are neither None nor NaN."""
    return np.fromiter((x is not None and x == x for x in array.tolist()), bool, len(array))


def _without_entry_as_nan(column: Any) -> Any:
    """Return a column as it is, or as NaN if all of it is missing and so it is of no known type."""
    array = _as_array(column)
    is_empty = array.dtype == object and not _has(array).any()
    return np.full(len(array), np.nan) if is_empty else column


def _is_numeric(file: Path, name: str, column: Any) -> bool:
    """Tell whether a column holds numbers; refuse one that mostly does."""
    array = _as_array(column)
    entries = array.tolist()
    if array.dtype.kind in "biuf" or (
        array.dtype == object and all(x is None or isinstance(x, Number) for x in entries)
    ):
        return True
    texts = {row: text for row, text in enumerate(entries) if isinstance(text, str)}
    wrong = [row for row, text in texts.items() if parse_number(text) is None]
    if 0 < 2 * len(wrong) < len(texts):  # left out in silence, it would be missed
        raise ValueError(
            f"column {_said(name)} of {file} must hold numbers only; got {_said(texts[wrong[0]])} in "
            f"row {wrong[0]} (counted from 0). Correct it, or name the columns to read by channels=[…]."
        )
    return False


def _read_times(file: Path, name: str, column: Any) -> Any:
    """Return a column of times, those written as text as datetimes."""
    array = _as_array(column)
    is_text = array.dtype.kind in "OUT" and any(isinstance(x, str) for x in array.tolist())
    if not is_text:
        return column
    present = np.flatnonzero(_has(array))
    instants = parse_instants([str(text).strip() for text in array[present].tolist()])
    wrong = np.isnan(instants)
    if wrong.any():
        row = present[wrong.argmax()]
        raise ValueError(
            f"column {_said(name)} of {file} must hold numbers or ISO date-times such as "
            f"2011-04-05 10:00:00; got {_said(array[row])} in row {row} (counted from 0). Rewrite it."
        )
    whole = np.full(len(array), np.nan if instants.dtype.kind == "f" else "NaT", instants.dtype)
    whole[present] = instants
    return whole


def _one_label_each(
    file: Path, columns: dict[str, Any], series: str, label: str, batch: RaggedSeries
) -> NDArray[Any]:
    """Return the label of each series of the batch."""
    ids, labels = _as_array(columns[series]).tolist(), _as_array(columns[label])
    has_label = _has(labels)
    if not has_label.all():
        row = int(has_label.argmin())
        raise ValueError(
            f"column {_said(label)} of {file} must not have nulls; got one in row {row} (counted from "
            f"0), in series {_said(ids[row])}. Fill it, or leave the series out."
        )
    found: dict[Any, Any] = {}
    for name, entry in dict.fromkeys(zip(ids, labels.tolist(), strict=True)):
        if name in found:
            raise ValueError(
                f"column {_said(label)} of {file} must be the same in all rows of a series; got "
                f"{_said(found[name])} and {_said(entry)} in series {_said(name)}. Give each series one "
                "label."
            )
        found[name] = entry
    assert batch.series_ids is not None
    return np.array([found[name] for name in batch.series_ids.tolist()])
