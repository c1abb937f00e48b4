"""What estimators hold, as JSON can say it, and back: for files and checkpoints."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ..described import Described
from ..discrepancies import Discrepancy
from ..interpolation import Interpolation
from ..minimum import Minimum
from ..preprocessing import Preprocessing
from ..shapelets import ShapeletFamily

FAMILIES: dict[str, type[Described]] = {
    "discrepancy": Discrepancy,
    "interpolation": Interpolation,
    "minimum": Minimum,
    "preprocessing": Preprocessing,
    "shapelets": ShapeletFamily,
}
WIDEST = 2**18  # bytes of an entry of an array: text


def plain(value: Any) -> Any:
    """Say a value in JSON; arrays, tuples and dicts are marked, so that they come back as they were.

    A discrepancy, say, is said by its class and its ``config``, without its tensors.
    """
    if isinstance(value, np.ndarray):
        if value.dtype.kind in "mM":
            return {"array": value.astype(np.int64).tolist(), "dtype": value.dtype.str}
        if value.dtype.kind == "O":
            return {"array": [plain(item) for item in value], "dtype": "object"}
        return {"array": value.tolist(), "dtype": value.dtype.str}
    if isinstance(value, tuple):
        return {"tuple": [plain(item) for item in value]}
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, dict):  # whose keys need not be text
        return {"dict": [[plain(key), plain(item)] for key, item in value.items()]}
    if isinstance(value, list):
        return [plain(item) for item in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    for family, head in FAMILIES.items():
        if isinstance(value, head):
            name = type(value).__name__
            try:
                return {"class": name, "config": plain(value.config()), "family": family}
            except TypeError as error:
                raise TypeError(f"{name} cannot be written to a file: {error}") from error
    maker = value if isinstance(value, partial) else partial(value) if callable(value) else None
    if maker is not None and isinstance(maker.func, type) and not maker.args:
        if issubclass(maker.func, ShapeletFamily):
            return {"maker": maker.func.__name__, "config": plain(maker.keywords)}
    raise TypeError(
        f"{value!r} ({type(value).__name__}) cannot be written to a file. Use numbers or text."
    )


def restored(value: Any) -> Any:
    """Make a value again from what `plain` said."""
    if isinstance(value, list):
        return [restored(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "tuple" in value:
        return tuple(restored(item) for item in value["tuple"])
    if "dict" in value:
        return {restored(key): restored(item) for key, item in value["dict"]}
    if "class" in value:
        family = FAMILIES[value.get("family", "discrepancy")]  # files of version 2 know no other
        return family.from_config(value["class"], restored(value["config"]))
    if "maker" in value:
        kind: Any = ShapeletFamily.named(value["maker"])
        return partial(kind, **restored(value["config"]))
    dtype = np.dtype(value["dtype"])
    if dtype.kind not in "biufmMUO" or dtype.itemsize > WIDEST:
        raise ValueError(f"an array of {dtype} is not what was saved")
    return np.array([restored(item) for item in value["array"]], dtype=object).astype(dtype)
