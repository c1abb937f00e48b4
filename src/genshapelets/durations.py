"""Durations in words: read from a text, and said roughly."""

from __future__ import annotations

import math
import re

UNITS = {"h": 3600.0, "m": 60.0, "s": 1.0}
PART = re.compile(r"(\d+(?:\.\d+)?)\s*(hours?|h|minutes?|min|m|seconds?|sec|s)\s*")


def seconds_of(text: str) -> float:
    """Seconds in a text such as "90", "90s", "10min", "1h30m"; a ValueError if it is none.

    Examples
    --------
    >>> seconds_of("90"), seconds_of("90s"), seconds_of("10 min"), seconds_of("1h30m")
    (90.0, 90.0, 600.0, 5400.0)
    """
    if re.fullmatch(r"\d+(\.\d+)?", text.strip()):
        return float(text)
    parts = PART.findall(text)
    if not parts or PART.sub("", text).strip():
        raise ValueError(f"{text!r} is not a time such as '90s', '10min' or '1h30m'")
    return sum(float(number) * UNITS[unit[0]] for number, unit in parts)


def about(seconds: float) -> str:
    """Seconds in words, roughly.

    Examples
    --------
    >>> about(44.7), about(350), about(7900)
    ('45 s', '6 min', '2 h 12 min')
    """
    if seconds < 90:
        return f"{max(math.ceil(seconds - 0.5), 0)} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"
