"""Files of .ts text: written, edited, and read a second time by a loop over their characters."""

import math
from pathlib import Path

import numpy as np

from genshapelets.datasets import read_ts

from .edits import edit_bytes, edit_lines
from .judging import Failure
from .models import ask
from .plain import compare, second

PIECES = [
    "1", "-0.5", "?", "NaN", "nan", "inf", "-inf", "1e400", "1e39", "1e308", "-1e308", "1e-320", "1_0",
    "0x1", "", " ", "()", "(0,1)", "(0,1),(1,2)", "(1,2),(0,1)", "(2011-04-05 10:00,1.5)", "(", ")", ":",
    "x", "b", "é", "\x00", "\u0663", "12345678901234567890", "0.1" + "0" * 400, "1" * 400, "9" * 5000,
    "@data", "@timestamps true", "@dimensions 0", "@dimensions 99999999999", "@classLabel true a",
    "@classLabel false", "@targetLabel true", "@equalLength true", "@seriesLength 3", "@missing maybe",
]  # fmt: skip


def text_case(random):
    """A .ts file, edited or not: (ending, content)."""
    content = edit_lines(written(random), random, PIECES).encode("utf-8", "surrogatepass")
    return ".ts", edit_bytes(content, random) if random.random() < 0.1 else content


def written(random):
    """A .ts file of any form."""
    has_times, labels = random.random() < 0.4, random.choice(["class", "target", "none"])
    n_channels = random.choice([1, 2, 2, 2, 3])
    lines = [f"@timestamps {str(has_times).lower()}"]
    if random.random() < 0.7:
        lines.append(f"@dimensions {n_channels}")
    lines += {
        "class": ["@classLabel true a b"], "target": ["@targetLabel true"], "none": ["@classLabel false"]
    }[labels]  # fmt: skip
    lines += ["@data"]
    are_dates = random.random() < 0.5
    for _ in range(random.randint(1, 5)):
        channels = []
        for _ in range(n_channels):
            size = random.choice([random.randint(9, 14), 9, 0 if random.random() < 0.1 else 9])
            values = [
                random.choice(["?", "NaN"]) if random.random() < 0.1 else _number(random)
                for _ in range(size)
            ]
            if has_times:
                start = random.randint(0, 3)
                times = [_time(start + i, are_dates) for i in range(size)]
                values = [f"({time},{value})" for time, value in zip(times, values, strict=True)]
            channels.append(",".join(values) or "?")
        label = {"class": random.choice("ab"), "target": _number(random)}.get(labels)
        lines.append(":".join(channels + ([label] if label else [])))
    return "\n".join(lines) + "\n"


def _number(random):
    number = random.gauss(0, 1) * 10 ** random.choice([0, 0, 0, 3, -3, 12])
    return random.choice([repr(number), f"{number:.3f}", f"{number:.0f}", f"{number:.17e}"])


def _time(number, is_date):
    return f"2011-04-{number + 1:02} 10:00:00" if is_date else str(number)


def check_text(file):
    """Read a .ts file, compare what it holds, and ask a model."""
    series, labels = read_ts(file)
    cases, names = second(by_loop, Path(file).read_bytes().decode("utf-8-sig", "replace"))
    compare(series, cases)
    if labels is not None and labels.tolist() != [type(labels[0].item())(name) for name in names]:
        raise Failure("differs", f"labels are {labels.tolist()}, not {names}")
    ask(series)


def by_loop(text):
    """Cases and labels of a .ts file that is as it should be."""
    lines = [line.strip() for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n")]
    lines = [line for line in lines if line and line[0] not in "#%"]
    end = [line.lower().split()[0] for line in lines].index("@data")
    tags = {}
    for line in lines[:end]:
        words = line.lower().split()
        tags[words[0]] = words[1:2] == ["true"]
    has_label = tags.get("@classlabel", False) or tags.get("@targetlabel", False)
    cases, labels = [], []
    for line in lines[end + 1 :]:
        body, _, label = line.rpartition(":") if has_label else (line, "", "")
        labels.append(" ".join(label.split()))
        channels = _outside(body, ":") if tags.get("@timestamps") else body.split(":")
        read = _with_times if tags.get("@timestamps") else _counted
        found = [read(channel.strip()) for channel in channels]
        times = sorted({time for channel in found for time in channel})
        rows = [[channel.get(time, math.nan) for channel in found] for time in times]
        while all(map(math.isnan, rows[-1])):
            rows.pop(), times.pop()
        cases.append((times, rows))
    return cases, labels


def _outside(text, separator):
    """Split a text where it is not within brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == separator and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def _counted(text):
    cells = [] if text in ("", "?", "()") else text.split(",")
    return {float(i): _value(cell) for i, cell in enumerate(cells)}


def _with_times(text):
    found = {}
    for pair in [] if text in ("", "?", "()") else _outside(text, ","):
        time, _, value = pair.strip()[1:-1].partition(",")
        try:
            found[float(time)] = _value(value)
        except ValueError:
            found[np.datetime64(time.strip()).astype("M8[ns]")] = _value(value)
    return found


def _value(cell):
    return math.nan if cell.strip() == "?" else float(cell)
