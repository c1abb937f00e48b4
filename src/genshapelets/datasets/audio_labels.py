"""Labels of sound files, from a table."""

from __future__ import annotations

import csv
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .parsing import existing_file, parse_number

_SEPARATORS = {".csv": ",", ".tsv": "\t"}
_MISSING = ("", "?", "NA", "NaN", "nan", "null")


def read_labels(
    table: str | os.PathLike[str],
    file_column: str | None,
    label_column: str | None,
    clips: list[str],
) -> dict[str, str]:
    """Return the label that a table gives to each clip it names."""
    file = existing_file(table)
    header, *rows = _rows(file)
    if len(header) < 2:
        raise ValueError(f"{file} must have a column of files and one of labels; it has {header}.")
    places = []
    for default, column in enumerate((file_column, label_column)):
        if column is not None and column not in header:
            raise ValueError(f"{file} has no column {column!r}; its columns are {header}.")
        places.append(default if column is None else header.index(column))
    known = _names_of(clips)
    found: dict[str, str] = {}
    for number, row in enumerate(rows, 2):
        name, label = (row[place].strip() if place < len(row) else "" for place in places)
        meant = known.get(name.replace("\\", "/").removeprefix("./"), [])
        problem = ""
        if not meant:
            problem = f"the folder has no clip {name!r}; its first is {clips[0]!r}"
        elif len(meant) > 1:
            problem = f"{name!r} may be {meant[0]} or {meant[1]}: give its path below the folder"
        elif label in _MISSING:
            problem = f"{name!r} has no label"
        elif meant[0] in found:
            problem = f"{name!r} got a label before"
        if problem:
            raise ValueError(f"{file}, row {number}: {problem}. Correct the row, or leave it out.")
        found[meant[0]] = label
    if not found:
        raise ValueError(f"{file} has no row below its header {header}.")
    return found


def typed(labels: list[str]) -> NDArray[Any]:
    """Return labels as whole numbers or as numbers if all of them are, otherwise as text.

    >>> typed(["1", "2"]), typed(["1", "2.5"]), typed(["1", "two"])
    (array([1, 2]), array([1. , 2.5]), array(['1', 'two'], dtype='<U3'))
    """
    numbers = [parse_number(label) for label in labels]
    if any(number is None for number in numbers):
        return np.array(labels)
    is_whole = all(label.lstrip("+-").isdecimal() for label in labels)
    return np.array([int(label) for label in labels] if is_whole else numbers)


def _rows(file: Path) -> list[list[str]]:
    """Return the rows of a text table, its header first; empty lines are kept out."""
    separator = _SEPARATORS.get(file.suffix.lower())
    if separator is None:
        raise ValueError(f"a table of labels must be a .csv or .tsv file; got {file}.")
    try:
        with file.open(encoding="utf-8-sig", newline="") as text:
            rows = [row for row in csv.reader(text, delimiter=separator) if row]
    except (UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"{file} is no text table: {error}. Save it as UTF-8 text.") from error
    return rows or [[]]


def _names_of(clips: list[str]) -> dict[str, list[str]]:
    """Return the clips that each name may mean: a path means that file, whatever others are named."""
    names: dict[str, list[str]] = {}
    for clip in clips:
        path = Path(clip)
        for name in {path.with_suffix("").as_posix(), path.name, path.stem}:
            names.setdefault(name, []).append(clip)
    return names | {clip: [clip] for clip in clips}
