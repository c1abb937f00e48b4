"""Arrays and data frames, as calls in Python text: ``from_arrays(np.zeros((1, 2, 3)), times=None)``."""

import math
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import torch

from genshapelets import RaggedSeries

from .models import ask
from .plain import compare, instant, number, of_table, second


def check_call(file):
    """Make series by a call, compare them with what its arguments hold, and ask a model."""
    names = {
        "np": np,
        "pd": pd,
        "pl": pl,
        "pa": pa,
        "torch": torch,
        "nan": math.nan,
        "inf": math.inf,
    }
    names |= {name: _noted(name) for name in ("from_arrays", "from_long")}
    try:
        name, data, options = eval(Path(file).read_text(encoding="utf-8"), names)
    except Exception:  # noqa: BLE001  the library has no such array
        return
    series = getattr(RaggedSeries, name)(data, **options)
    read = by_rows if name == "from_arrays" else by_columns
    compare(series, second(lambda: read(data, **options)))
    ask(series)


def _noted(name):
    return lambda data, **options: (name, data, options)


def by_rows(values, times=None, **_):
    """Cases of a call of from_arrays."""
    cases = []
    for i, one in enumerate(_nested(values)):
        rows = [list(map(number, row)) for row in zip(*one, strict=True)]
        own = range(len(rows)) if times is None else times
        if times is not None and np.ndim(times[0]) > 0:
            own = times[i]
        cases.append((list(map(instant, own)), rows))
    return cases


def _nested(values):
    """Lists of lists of numbers, None where they are masked."""
    if isinstance(values, list | tuple):
        return [_nested(value) for value in values]
    if isinstance(values, np.ndarray):
        return values.astype(object).tolist() if values.dtype.kind == "f" else values.tolist()
    return values.tolist() if hasattr(values, "tolist") else values


def by_columns(frame, series, time, channels=None, variable=None, value=None, aggregate=None):
    """Cases of a call of from_long."""
    channels = [channels] if isinstance(channels, str) else channels
    if variable is not None:
        return by_observations(
            *[_listed(frame[name]) for name in (series, time, variable, value)], aggregate
        )
    columns = [_listed(frame[name]) for name in (series, time, *channels)]
    return of_table(*columns[:2], columns[2:], aggregate)


def by_observations(ids, times, variables, values, aggregate):
    """Cases of a call of from_long for a table of a row for each observation."""
    names = sorted(set(variables), key=lambda name: (isinstance(name, str), name))
    columns = [
        [value if own == name else None for own, value in zip(variables, values, strict=True)]
        for name in names
    ]
    return of_table(ids, times, columns, aggregate or "first")


def _listed(column):
    if hasattr(column, "to_pylist"):
        return column.to_pylist()
    return column.to_list() if hasattr(column, "to_list") else list(column)
