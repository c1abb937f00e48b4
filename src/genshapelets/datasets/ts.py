"""The .ts files of the UEA, UCR and TSER archives, as written by aeon and sktime too."""

from __future__ import annotations

import os
import re
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from ..series import RaggedSeries
from .parsing import existing_file, parse_instants, parse_number, parse_numbers
from .ts_text import COMMENT, Cases, Fail, Header, read_header, short, split_cases


def read_ts(path: str | os.PathLike[str]) -> tuple[RaggedSeries, NDArray[Any] | None]:
    r"""Read a .ts file: a header of ``@tags``, then one case in each line.

    Channels are separated by ``:``, their values by ``,``, and the label comes last. With
    ``@timestamps true`` a value is a pair ``(time,value)`` and each channel may have times of its
    own: the times of a series are the union of them. Times are numbers or ISO date-times; without
    them, samples are counted 0, 1, 2, ….

    ``?`` and ``NaN`` are missing values; a channel that is empty, ``()`` or ``?`` is not observed.
    A channel that is shorter than others of its case is missing at the end. Samples after the last
    observation of a case are left out: they pad it to the length of others and would otherwise
    count as a time during which the path stays constant. Other samples without any observation
    stay, and keep later ones in their place.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    series : RaggedSeries
        float64.
    labels : (n_series,) array or None
        str with ``@classLabel true``, float64 with ``@targetLabel true``, None if both are false.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp(), "two.ts")
    >>> header = "@dimensions 2\n@classLabel true rest walk\n@data\n"
    >>> _ = file.write_text(header + "1,2,3:4,?,6:walk\n7,8:9,10:rest\n")
    >>> series, labels = read_ts(file)
    >>> series, labels.tolist()
    (RaggedSeries(2 series, 2 channels, 2 to 3 times each, 10.0 % of values missing, float64),
     ['walk', 'rest'])
    """
    file = existing_file(path)
    raw = file.read_bytes()
    text = raw.decode("utf-8-sig", errors="replace")  # for the sake of old comments
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    lines = text.split("\n")

    def fail(line: int, problem: str) -> NoReturn:
        if line == len(lines) and lines[-1]:  # after a line end, the last one is empty
            problem += " The file ends within this line: if it was cut short, fetch it again."
        raise ValueError(f"{file}, line {line}: {problem}")

    if b"\0" in raw:
        fail(raw[: raw.index(b"\0")].count(b"\n") + 1, "found a zero byte; this is no text file.")
    if "\ufffd" in text:
        for number, line in enumerate(lines, 1):
            if "\ufffd" in line and not line.lstrip().startswith(COMMENT):
                fail(number, f"{short(line)} is not UTF-8 text. Save the file as UTF-8.")
    header = read_header(lines, fail)
    cases = split_cases(lines, header, fail)
    labels = _read_labels(cases, header, fail)
    series = _assemble(cases, header.has_times, fail)
    return series, labels


def _read_labels(cases: Cases, header: Header, fail: Fail) -> NDArray[Any] | None:
    """Check the labels, and return them as str or float64."""
    if header.labels == "none":
        return None
    if header.labels == "class":
        for label in dict.fromkeys(cases.labels):
            if f" {label} " not in header.classes:  # a label may hold spaces itself
                fail(
                    cases.lines[cases.labels.index(label)],
                    f"the label must be one of @classLabel: {short(header.classes.strip())}; "
                    f"got {short(label)}. Correct the line or the header.",
                )
        return np.array(cases.labels)
    targets = [parse_number(label) for label in cases.labels]
    for line, label, target in zip(cases.lines, cases.labels, targets, strict=True):
        if target is None or not np.isfinite(target):
            fail(line, f"the target, last in the line, must be a number; got {short(label)}.")
    return np.array(targets, np.float64)


def _assemble(cases: Cases, has_times: bool, fail: Fail) -> RaggedSeries:
    """Read all numbers, and put each in its row and channel."""
    n_cases, n_channels = cases.counts.shape
    counts = cases.counts.ravel()
    joined = ",".join(cases.values)
    numbers = parse_numbers(joined, counts.sum())
    is_full = not has_times and counts[0] > 0 and (counts == counts[0]).all()
    if is_full and numbers is not None and np.isfinite(numbers).all():  # as in most files
        return RaggedSeries.from_arrays(numbers.reshape(n_cases, n_channels, -1))

    place = np.repeat(np.arange(counts.size), counts)  # case * n_channels + channel of each value
    case, channel = np.divmod(place, n_channels)
    if numbers is None or np.isinf(numbers).any():
        for index, token in enumerate(re.split("[,:]", joined)):
            number = parse_number(token)
            if number is None or np.isinf(number):
                fail(
                    cases.lines[case[index]],
                    f"channel {channel[index]} must hold finite numbers, or ? for a missing one; "
                    f"got {short(token.strip())}.",
                )
    assert numbers is not None

    if has_times:
        instants = _read_times(cases, place, n_channels, fail)
        order = np.lexsort((instants, case))
        is_new = np.ones(place.size, bool)
        is_new[1:] = (np.diff(case[order]) > 0) | (instants[order][1:] != instants[order][:-1])
        rows = np.empty_like(place)
        rows[order] = np.cumsum(is_new) - 1
        lengths = np.bincount(case[order][is_new], minlength=n_cases)
        starts = np.cumsum(lengths) - lengths
        row_times = instants[order][is_new]
    else:
        lengths = cases.counts.max(axis=1)
        starts = np.cumsum(lengths) - lengths
        firsts = np.cumsum(counts) - counts
        rows = starts[case] + np.arange(place.size) - firsts[place]
    values = np.full((lengths.sum(), n_channels), np.nan)
    values[rows, channel] = numbers

    stops = np.zeros(n_cases, np.int64)  # after the last observation
    observed = ~np.isnan(numbers)
    np.maximum.at(stops, case[observed], rows[observed] + 1)
    if (stops == 0).any():
        line = cases.lines[(stops == 0).argmax()]
        fail(line, "the case has no observation: all values are missing. Leave it out.")
    ends = list(zip(starts.tolist(), stops.tolist(), strict=True))
    if has_times:
        times = [row_times[start:stop] for start, stop in ends]
        return RaggedSeries.from_arrays([values[start:stop].T for start, stop in ends], times)
    return RaggedSeries.from_arrays([values[start:stop].T for start, stop in ends])


def _read_times(
    cases: Cases, place: NDArray[np.int64], n_channels: int, fail: Fail
) -> NDArray[Any]:
    """Read the time of each value; they increase within each channel of a case."""
    instants = parse_instants(cases.times)
    wrong = np.isnan(instants) if instants.dtype.kind == "M" else ~np.isfinite(instants)
    if wrong.any():
        index = wrong.argmax()
        fail(
            cases.lines[place[index] // n_channels],
            f"times of channel {place[index] % n_channels} must be all numbers or all ISO "
            f"date-times of the years 1678 to 2261; got {short(cases.times[index])}.",
        )
    stalled = (instants[1:] <= instants[:-1]) & (place[1:] == place[:-1])
    if stalled.any():
        index = stalled.argmax()
        fail(
            cases.lines[place[index] // n_channels],
            f"times of channel {place[index] % n_channels} must strictly increase; got "
            f"{cases.times[index]} then {cases.times[index + 1]}. Sort or merge observations.",
        )
    return instants
