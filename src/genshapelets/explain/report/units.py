"""Units that a user names: of the times, and of the channels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...shown import few
from .numbers import said


def checked_time_unit(unit: Any, dated: bool) -> str:
    """What times are counted in; "" if nobody said, and for dates, which need no unit."""
    if unit is None:
        return ""
    if not isinstance(unit, str):
        raise TypeError(f'time_unit must be a text such as "h"; got {unit!r}.')
    if dated:
        raise ValueError(
            f"time_unit must be left out, as the times of these series are dates; got {unit!r}."
        )
    return said(unit, 30)


def checked_channel_units(units: Any, names: tuple[str, ...]) -> list[str]:
    """The unit of each channel; "" for one that has none."""
    if units is None:
        return [""] * len(names)
    if isinstance(units, Mapping):
        strange = [name for name in units if name not in names]
        if strange:
            raise ValueError(
                f"channel_units must name channels of the series ({few(names)}); got {strange[0]!r}."
            )
        units = [units.get(name) for name in names]
    if isinstance(units, str) or not isinstance(units, Sequence) or len(units) != len(names):
        raise ValueError(
            f"channel_units must be a dict by name of channel, or a list of {len(names)} texts, one "
            f"for each channel; got {units!r}."
        )
    wrong = [unit for unit in units if unit is not None and not isinstance(unit, str)]
    if wrong:
        raise TypeError(f"channel_units must hold texts, or None; got {wrong[0]!r}.")
    return [said(unit or "", 30) for unit in units]
