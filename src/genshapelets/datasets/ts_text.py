"""A .ts file as text: its header, and its lines taken apart without reading numbers."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from ..shown import cut

_FLAGS = ("timestamps", "missing", "univariate", "equallength", "classlabel", "targetlabel")
COMMENT = ("#", "%")
_NOTHING = ("", "?", "()")  # a channel without observations
_DIMENSION_COLON = re.compile(r":(?![^()]*\))")  # not one of those within (2011-04-05 10:00,1.5)
_BETWEEN_PAIRS = re.compile(r"\)\s*,\s*\(")

Fail = Callable[[int, str], NoReturn]  # with a line number, counted from 1, and what is wrong there


class Header(NamedTuple):
    """What the tags say."""

    has_times: bool
    n_channels: int | None  # None: the first case decides
    is_equal: bool
    labels: str  # "class", "target" or "none"
    classes: str  # the declared ones, with a space around each
    end: int  # line number of @data


class Cases(NamedTuple):
    """The lines after @data, taken apart."""

    lines: list[int]  # line number of each case
    labels: list[str]
    values: list[str]  # pieces of text that, joined by commas, are all values of the file
    counts: NDArray[np.int64]  # (cases, channels) how many belong to each
    times: list[str]  # time of each value, if the file has times


def read_header(lines: list[str], fail: Fail) -> Header:
    """Read the tags up to @data."""
    found: dict[str, Any] = {}
    classes, end = "", 0
    for number, line in enumerate(lines, 1):
        line = line.strip()
        if not line or line.startswith(COMMENT):
            continue
        if not line.startswith("@"):
            fail(number, f"expected a @tag or a # comment; got {short(line)}. Is @data missing?")
        tag, *words = line[1:].split() or [""]
        tag = tag.lower()
        word = words[0].lower() if words else "nothing"
        if tag == "data":
            end = number
            break
        if tag in _FLAGS:
            if word not in ("true", "false"):
                fail(number, f"@{tag} must be true or false; got {cut(word)}.")
            found[tag] = word == "true"
            if tag == "classlabel" and found[tag]:
                classes = f" {' '.join(words[1:])} "
                if not classes.strip():
                    fail(number, "@classLabel true must be followed by the labels there are.")
        elif tag.rstrip("s") in ("dimension", "serieslength"):
            is_whole = word.isdecimal() and len(word) < 10
            if not is_whole or (int(word) == 0 and tag != "serieslength"):
                fail(number, f"@{tag} must be a whole number above 0; got {cut(word)}.")
            found[tag.rstrip("s")] = int(word)
    if not end:
        fail(len(lines), "found no @data. Put it in a line of its own before the first case.")
    if "classlabel" not in found and "targetlabel" not in found:
        fail(end, "@classLabel or @targetLabel must come before @data, to tell if cases have one.")
    is_univariate = found.get("univariate", False)
    labels = (
        "target" if found.get("targetlabel") else "class" if found.get("classlabel") else "none"
    )
    return Header(
        has_times=found.get("timestamps", False),
        n_channels=found.get("dimension", 1 if is_univariate else None),
        is_equal=found.get("equallength", False),
        labels=labels,
        classes=classes,
        end=end,
    )


def split_cases(lines: list[str], header: Header, fail: Fail) -> Cases:
    """Take each line apart, as far as that goes without reading numbers."""
    cases = Cases([], [], [], np.empty((0, 0), np.int64), [])
    counts: list[list[int]] = []
    n_channels = header.n_channels
    for number, line in enumerate(lines[header.end :], header.end + 1):
        line = line.strip()
        if not line or line.startswith(COMMENT):
            continue
        body, label = line, ""
        if header.labels != "none":
            body, colon, label = line.rpartition(":")
            label = " ".join(label.split())
            if not (colon and label) or label.count(")") > label.count("("):
                fail(number, f"expected a label after the last ':'; got {short(line)}. Add it.")
        channels = _DIMENSION_COLON.split(body) if header.has_times else body.split(":")
        n_channels = n_channels or len(channels)
        if len(channels) != n_channels:
            at_end = " and then a label" if header.labels != "none" else ""
            fail(
                number,
                f"expected {n_channels} dimensions{at_end}, separated by ':'; got {len(channels)} "
                f"dimensions{at_end and f' and the label {short(label)}'}. Complete the line, or "
                "correct @dimensions or @classLabel.",
            )
        if header.has_times:
            sizes = [
                _split_pairs(pairs.strip(), cases, number, channel, fail)
                for channel, pairs in enumerate(channels)
            ]
        else:
            sizes = [
                0 if values.strip() in _NOTHING else values.count(",") + 1 for values in channels
            ]
            if 0 not in sizes:
                cases.values.append(body)
            else:
                cases.values.extend(
                    values for values, size in zip(channels, sizes, strict=True) if size
                )
        counts.append(sizes)
        cases.lines.append(number)
        cases.labels.append(label)
    if not counts:
        fail(header.end, "found no case after @data. Fetch or write the file again.")
    all_sizes = np.array(counts)
    if header.is_equal and not header.has_times:
        length = all_sizes.ravel()[all_sizes.argmax(axis=1)[0]]
        wrong = (all_sizes != length) & (all_sizes > 0)
        if wrong.any():
            case, channel = np.unravel_index(wrong.argmax(), wrong.shape)
            fail(
                cases.lines[case],
                f"channel {channel} has {all_sizes[case, channel]} values, the first case has "
                f"{length}. Complete the line, or correct @equalLength to false.",
            )
    return cases._replace(counts=all_sizes)


def _split_pairs(pairs: str, cases: Cases, line: int, channel: int, fail: Fail) -> int:
    """Append times and values of ``(time,value),(time,value)`` to the cases'; return how many."""
    if pairs in _NOTHING:
        return 0
    if pairs[0] != "(" or pairs[-1] != ")":
        fail(line, f"channel {channel} must hold (time,value) pairs; got {short(pairs)}.")
    split = _BETWEEN_PAIRS.split(pairs[1:-1])
    for pair in split:
        time, _, value = pair.partition(",")
        if not value or "," in value or ":" in value:
            fail(line, f"channel {channel} must hold (time,value) pairs; got {short(pair)}.")
        cases.times.append(time.strip())
        cases.values.append(value)
    return len(split)


def short(text: str) -> str:
    """Quote a text, its middle left out if it is long."""
    return repr(text if len(text) <= 60 else f"{text[:40]} … {text[-15:]}")
