"""The second parser: what series should hold, by loops that are too plain to be wrong."""

import datetime
import math
from decimal import Decimal
from itertools import repeat

import numpy as np

from .judging import Failure


def compare(series, cases):
    """Raise a Failure unless series hold these cases, each (times, rows of values); None = missing."""
    if len(series) != len(cases):
        raise Failure("differs", f"{len(series)} series, not {len(cases)}")
    rounding = 1e-12 if series.values.dtype == np.float64 else 1e-7
    for i, (times, rows) in enumerate(cases):
        got_times, got = series.to_user_time(series[i].times), series[i].values.T.tolist()
        if len(got_times) != len(times) or not all(map(_same_time, got_times, times)):
            raise Failure("differs", f"series {i} has times {got_times[:9]}, not {times[:9]}")
        for row, wanted in zip(got, rows, strict=True):
            if len(row) != len(wanted) or not all(map(_same, row, wanted, repeat(rounding))):
                raise Failure("differs", f"series {i} has {row[:9]}, not {wanted[:9]}")


def second(read, *arguments):
    """What the second parser reads; that it cannot, where the package can, is a Failure."""
    try:
        return read(*arguments)
    except Exception as error:  # noqa: BLE001
        raise Failure("differs", f"only the package can read it: {error!r}") from None


def of_table(ids, times, columns, merge=None):
    """Cases of a long table, given as lists: by first appearance, without those never observed."""
    found = {}
    for name, time, *values in zip(ids, map(instant, times), *columns, strict=True):
        rows = found.setdefault(name, {})
        rows.setdefault(time, []).append([number(value) for value in values])
    cases = []
    for rows in found.values():
        order = sorted(rows)
        merged = [
            [_merged(cells, merge) for cells in zip(*rows[time], strict=True)] for time in order
        ]
        cases.append((order, merged))
    seen = [any(not math.isnan(x) for row in rows for x in row) for _, rows in cases]
    return [case for case, is_seen in zip(cases, seen, strict=True) if is_seen]


def number(cell):
    """A number, or NaN for what is missing."""
    is_missing = cell is None or type(cell).__name__ in ("NAType", "NaTType")
    return math.nan if is_missing else float(cell)


def instant(time):
    """A time as a float, or as datetime64[ns] in UTC."""
    if hasattr(time, "to_timestamp"):
        time = time.to_timestamp()
    if getattr(time, "tzinfo", None) is not None:
        time = time.astimezone(datetime.timezone.utc).replace(tzinfo=None)
    if hasattr(time, "to_datetime64"):
        time = time.to_datetime64()
    if isinstance(time, datetime.date | np.datetime64):
        return np.datetime64(time).astype("M8[ns]")
    return float(time)


def _merged(cells, merge):
    seen = [cell for cell in cells if not math.isnan(cell)]
    if merge is None:
        (cell,) = cells
        return cell
    if not seen:
        return math.nan
    ordered = sorted(seen)
    ways = {
        "first": seen[0], "last": seen[-1], "min": ordered[0], "max": ordered[-1], "sum": sum(seen),
        "mean": sum(seen) / len(seen),
        "median": (ordered[(len(seen) - 1) // 2] + ordered[len(seen) // 2]) / 2,
    }  # fmt: skip
    return ways[merge]


def _same(one, other, rounding):
    other = number(other) if not isinstance(other, Decimal) else float(other)
    if math.isnan(one) or math.isnan(other):
        return math.isnan(one) and math.isnan(other)
    return one == other or math.isclose(one, other, rel_tol=rounding)


def _same_time(one, other):
    if isinstance(other, np.datetime64):  # which are kept as float64 seconds
        return abs(one - other) <= np.timedelta64(100, "ns")
    return float(one) == other
