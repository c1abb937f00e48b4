"""What the readers share: a file that is there, numbers in bulk, and times written as text."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kernels import kernel

_POWERS = np.array([float(f"1e{power}") for power in range(23)])  # exact, which pow may not be


def existing_file(path: str | os.PathLike[str]) -> Path:
    """Return the path of a file that is there and holds something."""
    file = Path(path)
    if file.is_dir():
        raise IsADirectoryError(f"{file} is a folder; give the path of one file in it.")
    if not file.exists():
        raise FileNotFoundError(f"there is no file {file}.")
    if file.stat().st_size == 0:
        raise ValueError(f"{file} is empty. Fetch or write it again.")
    return file


def parse_number(token: str) -> float | None:
    """Return the number a text stands for, NaN for ``?``, or None if it is no number."""
    token = token.strip()
    if token == "?":
        return np.nan
    try:
        return None if "_" in token or not token.isascii() else float(token)
    except ValueError:
        return None


def parse_numbers(text: str, count: int) -> NDArray[np.float64] | None:
    """Return the numbers of a text, or None unless their number is right.

    They are separated by commas or colons; ``?`` and ``NaN`` are missing. Each is what `float`
    makes of it, to the last bit, several times faster.

    >>> parse_numbers("1.5,?:-2e3", count=3)
    array([ 1.5e+00,      nan, -2.0e+03])
    >>> parse_numbers("1.5,,2", count=3)
    """
    if not (text and text.isascii()):
        return None if text or count else np.empty(0)
    numbers, spans = np.empty(count), np.empty((count, 2), np.int64)
    odd, end = _parse_simple(np.frombuffer(text.encode(), np.uint8), numbers, spans)
    if end < len(text):
        return None
    for index in np.flatnonzero(odd):
        start, stop = spans[index]
        number = parse_number(text[start:stop])
        if number is None:
            return None
        numbers[index] = number
    return numbers


@partial(kernel, fastmath=False)
def _parse_simple(text, numbers, spans):  # pragma: no cover
    """Parse what is simple; return which numbers are odd (`spans` has where) and where the last ends.

    Simple is a mantissa below 2^53 with a power of ten up to 10^22. Both are exact in float64, so
    that one product or quotient rounds as it should (Clinger 1990, "How to read floating point
    numbers accurately").
    """
    odd = np.zeros(len(numbers), np.bool_)
    position, end = 0, len(text)
    for index in range(len(numbers)):
        start = position
        is_negative = position < end and text[position] == ord("-")
        position += is_negative
        mantissa, exponent, n_digits, has_point = np.int64(0), np.int64(0), 0, False
        while position < end and mantissa < 1 << 53:
            byte = np.int64(text[position])
            if 48 <= byte <= 57:
                mantissa = 10 * mantissa + (byte - 48)
                exponent -= has_point
                n_digits += 1
            elif byte == ord(".") and not has_point:
                has_point = True
            else:
                break
            position += 1
        if position + 1 < end and (text[position] | 32) == ord("e") and n_digits:
            position += 1
            is_small = text[position] == ord("-")
            position += is_small or text[position] == ord("+")
            power, n_digits = np.int64(0), 0
            while position < end and 48 <= text[position] <= 57 and power < 1000:
                power = 10 * power + np.int64(text[position]) - 48
                n_digits += 1
                position += 1
            exponent += -power if is_small else power
        stop = position
        while stop < end and text[stop] != ord(",") and text[stop] != ord(":"):
            stop += 1
        if n_digits and stop == position and mantissa < 1 << 53 and -22 <= exponent <= 22:
            number = np.float64(mantissa)
            number = number / _POWERS[-exponent] if exponent < 0 else number * _POWERS[exponent]
            numbers[index] = -number if is_negative else number
        else:
            odd[index] = True
            spans[index, 0], spans[index, 1] = start, stop
        position = stop + 1
    return odd, position - 1


def parse_instants(texts: Sequence[str]) -> NDArray[Any]:
    """Return times as numbers if the first one is a number, otherwise as datetimes in UTC.

    A text that is not such a time becomes NaN or NaT.

    >>> parse_instants(["2011-04-05 10:00", "2011-04-05T12:00+01:00", "noon"])
    array(['2011-04-05T10:00', '2011-04-05T11:00', 'NaT'], dtype='datetime64[m]')
    """
    if not texts:
        return np.empty(0)
    if parse_number(texts[0]) is not None:
        numbers = parse_numbers(",".join(texts), len(texts))
        if numbers is None:
            each = [parse_number(text) for text in texts]
            numbers = np.array([np.nan if number is None else number for number in each])
        return numbers
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # zones: NumPy warns, and counts in UTC as we want
        try:
            return np.array([text if _in_range(text) else "NaT" for text in texts], "M8")
        except ValueError:
            return np.array([text if _is_datetime(text) else "NaT" for text in texts], "M8")


def _in_range(text: str) -> bool:
    """Tell whether a text starts with a year that fits datetime64[ns]: others wrap around."""
    return "1678" <= text < "2262" and text[4:5] == "-"


def _is_datetime(text: str) -> bool:
    try:
        np.datetime64(text)
    except ValueError:
        return False
    return _in_range(text)
