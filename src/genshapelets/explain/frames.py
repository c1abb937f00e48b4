"""Columns become a pandas frame."""

from __future__ import annotations

from typing import Any


def as_frame(columns: dict[str, Any]) -> Any:
    """Make a ``pandas.DataFrame`` of columns; pandas is asked for only here."""
    try:
        import pandas
    except ImportError:
        raise ImportError(
            "to_frame needs pandas: pip install pandas. The attributes of an explanation hold the same "
            "numbers as arrays."
        ) from None
    return pandas.DataFrame(columns)
