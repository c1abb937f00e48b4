"""What every batch of series promises: checked once, and the series that breaks it named."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .columns import as_array, check_hashable
from .shown import cut
from .tables import name_series

NANOSECONDS = 10**9  # in a second
FARTHEST = 1e30  # time, and 1 over the shortest step: lengths of shapelets are in single precision


class Rows(NamedTuple):
    """Whose the rows of a batch are."""

    offsets: NDArray[np.int64]  # (n_series + 1,)
    series_ids: NDArray[Any] | None

    def name(self, index: Any) -> str:
        """What a message calls a series."""
        return name_series(int(index), self.series_ids)

    def locate(self, row: Any) -> tuple[str, int]:
        """Name the series that a row belongs to, and the row's position in it."""
        index = int(np.searchsorted(self.offsets, row, side="right")) - 1
        return self.name(index), int(row - self.offsets[index])


def as_names(names: Sequence[str], what: str) -> tuple[str, ...]:
    """Return channel names as a tuple, none of them twice."""
    if not isinstance(names, Iterable):
        raise TypeError(
            f"{what} must be a list of names, such as ['pulse']; got {cut(repr(names), 60)}."
        )
    if hasattr(names, "detach"):
        names = as_array(names, what).tolist()
    names = (names,) if isinstance(names, str) else tuple(names)
    check_hashable(names, what)
    for i, name in enumerate(names):
        if name in names[:i]:
            raise ValueError(
                f"channel names must be distinct; got {cut(repr(name), 60)} twice. Rename one."
            )
    return names


def check_sizes(rows: Rows, n_channels: int, channel_names: Sequence[str] | None) -> None:
    """Refuse a batch without series or channels, series without times, and names of others."""
    if len(rows.offsets) == 1:
        raise ValueError("a batch needs at least one series; got none.")
    if n_channels == 0:
        raise ValueError("a batch needs at least one channel; got none.")
    if channel_names is not None and len(channel_names) != n_channels:
        raise ValueError(
            f"channel_names must name each of the {n_channels} channels; "
            f"got {len(channel_names)} names."
        )
    lengths = np.diff(rows.offsets)
    if rows.series_ids is not None and len(rows.series_ids) != len(lengths):
        raise ValueError(
            f"series_ids must name each of the {len(lengths)} series; got {len(rows.series_ids)}."
        )
    if not lengths.all():
        raise ValueError(
            f"{rows.name(lengths.argmin())} has no times. Leave out empty series first."
        )


def checked_times(
    instants: NDArray[Any], rows: Rows
) -> tuple[NDArray[np.float64], np.datetime64 | None]:
    """Times as float64, which strictly increase in each series; of datetimes also their origin."""
    is_date = instants.dtype.kind == "M"
    invalid = np.isnat(instants) if is_date else ~np.isfinite(instants)
    if invalid.any():
        row = invalid.argmax()
        which, at = rows.locate(row)
        raise ValueError(
            f"times of {which} must be finite; got {instants[row]} at position {at}. "
            "Drop observations without a time first."
        )
    time_origin = instants.min() if is_date else None
    times = in_seconds(instants - time_origin) if is_date else instants.astype(np.float64)
    with np.errstate(over="ignore"):
        steps = np.diff(times)
    steps[rows.offsets[1:-1] - 1] = 1.0  # from one series to the next
    stalled = steps <= 0
    if stalled.any():
        row = stalled.argmax()
        which, at = rows.locate(row)
        if instants[row] < instants[row + 1]:
            cure = "They are too close for float64: count time from a later origin."
        elif instants[row] == instants[row + 1]:
            cure = "Merge repeated observations first."
        else:
            cure = "Sort the observations by time first."
        raise ValueError(
            f"times of {which} must strictly increase; got {instants[row]} then "
            f"{instants[row + 1]} at positions {at} and {at + 1}. {cure}"
        )
    beyond = np.abs(times) > FARTHEST
    beyond[:-1] |= steps < 1 / FARTHEST
    if beyond.any():
        row = beyond.argmax()
        which, at = rows.locate(row)
        raise ValueError(
            f"times of {which} must be at most {FARTHEST:g} from 0 and at least "
            f"{1 / FARTHEST:g} apart; got {instants[row]} at position {at}. Count time in another unit."
        )
    return times, time_origin


def check_values(values: NDArray[Any], rows: Rows, channel_names: Sequence[str] | None) -> None:
    """Refuse infinite values, and series of which nothing is observed."""
    infinite = np.isinf(values)
    if infinite.any():
        row, channel = np.unravel_index(infinite.argmax(), values.shape)
        which, at = rows.locate(row)
        named = f" ({channel_names[channel]})" if channel_names else ""
        raise ValueError(
            f"values of {which} must be finite, or NaN if not observed; got "
            f"{values[row, channel]} in channel {channel}{named} at position {at}. "
            "Replace infinite values first."
        )
    observed = np.logical_or.reduceat(~np.isnan(values).all(axis=1), rows.offsets[:-1])
    if not observed.all():
        which = rows.name(observed.argmin())
        raise ValueError(f"{which} has no observation: all values are NaN. Leave it out first.")


def in_seconds(durations: NDArray[np.timedelta64]) -> NDArray[np.float64]:
    """Return nanoseconds as seconds, rounded once."""
    whole, rest = np.divmod(durations.astype(np.int64), NANOSECONDS)
    return whole + rest / NANOSECONDS
