"""Targets that say whose they are, put in the order of the series."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..columns import as_array, is_default
from ..labelled import as_ids, refuse_lazy
from ..series import RaggedSeries
from ..shown import few


def in_order(y: Any, series: RaggedSeries, what: str = "y") -> Any:
    """Return what is given by id in the order of the series; anything else as it is.

    By id: a dict or, if the series have `series_ids`, a pandas object whose index does more than count.
    """
    refuse_lazy(y)
    if hasattr(y, "detach"):
        return as_array(y, what)
    ids = series.series_ids
    index: Any = getattr(y, "index", None)
    if isinstance(y, Mapping):
        if ids is None:
            raise TypeError(
                f"{what} is a dict by id, but the series have no ids. Make them by "
                "RaggedSeries.from_long, or by RaggedSeries.from_arrays with series_ids=."
            )
        names = as_ids(y)
    elif ids is None or not hasattr(index, "names"):
        return y
    else:
        if is_default(index) and len(y) == len(series):
            _check_not_ids(ids, what)
            return y
        names = np.asarray(index)
    known, wanted = _entries(names), _entries(ids)
    if known == wanted:  # in order already; ids may repeat, as in a bootstrap sample
        return list(y.values()) if isinstance(y, Mapping) else y
    place = {name: n for n, name in enumerate(known)}
    where = np.array([place.get(name, -1) for name in wanted])
    if (where < 0).all():
        if len(y) == len(series) and not isinstance(y, Mapping) and _may_count(index, ids):
            return y
        raise ValueError(
            f"{what} is by id, but its ids are others: {few(names.tolist(), repr)}. The series are "
            f"{few(ids.tolist(), repr)}. "
            f"If it is in the order of the series, give {what}.to_numpy(); if not, an index "
            "of their ids, of the same type."
        )
    if (where < 0).any():
        lacking = ids[where < 0]
        raise ValueError(
            f"{len(lacking)} of {len(ids)} series have no entry in {what}: "
            f"{few(lacking.tolist(), repr)}. Leave these series out, or complete {what}."
        )
    if len(place) < len(known):
        twice = [n for n, name in enumerate(known) if place[name] != n and name in set(wanted)]
        if twice:
            raise ValueError(
                f"{what} has more than one entry for {few(names[twice].tolist(), repr)}. Give "
                f"one for each series, for example {what}.groupby(level=0).first()."
            )
    spare = np.setdiff1d(np.arange(len(known)), where)
    if len(spare):
        warnings.warn(
            f"{what} has entries of no series, {len(spare)} of {len(known)}, which are left out: "
            f"{few(names[spare].tolist(), repr)}.",
            stacklevel=5,
        )
    if isinstance(y, Mapping):
        entries = list(y.values())
        return [entries[n] for n in where]
    return y.iloc[where]


def _may_count(index: Any, ids: Any) -> bool:
    """Tell whether an index may be rows of what counted from 0, as scikit-learn selects them.

    Not if it has a name, or holds the ids in another form.
    """
    if index.dtype.kind not in "iu" or index.name is not None:
        return False
    return not set(map(str, index)) & set(map(str, ids.tolist()))


def _check_not_ids(ids: Any, what: str) -> None:
    """Refuse an index 0, 1, … of which nobody knows whether it counts or names the series."""
    if ids.dtype.kind in "iu":
        count = np.arange(len(ids))
        if not np.array_equal(ids, count) and np.array_equal(np.sort(ids), count):
            raise ValueError(
                f"the index of {what} counts 0, 1, …, and the series have these as ids, in another "
                f"order. Give {what}.to_numpy() if it is in the order of the series, or "
                f"{what}.loc[series.series_ids] if not."
            )


def _entries(ids: Any) -> list[Any]:
    """Ids as Python compares them, dates whatever their unit."""
    return (ids.astype("M8[ns]") if ids.dtype.kind == "M" else ids).tolist()
