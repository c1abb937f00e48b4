"""How the program speaks to a shell: exit status, standard error, output, Ctrl-C."""

from __future__ import annotations

import io
import json
import math
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from ..writing import whole_file

BAD_INPUT, WRONG_USAGE = 1, 2
INTERRUPTED, BROKEN_PIPE, TERMINATED = 128 + 2, 128 + 13, 128 + 15  # as in a shell
LONGEST, LONGEST_WORD = 260, 80  # that an error, and what is quoted in a longer one, may be


class UsageError(Exception):
    """Options that go neither together nor with the file."""


def say(text: str) -> None:
    """Write one line to standard error."""
    sys.stderr.write(f"genshapelets: {' '.join(text.split())}\n")
    sys.stderr.flush()


def complain(error: BaseException, status: int = BAD_INPUT) -> int:
    """Say what is wrong; return the exit status."""
    reason = str(error) or type(error).__name__
    if isinstance(error, OSError) and error.strerror:
        reason = f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    say(f"error: {shortened(reason)}")
    return status


def shortened(text: str) -> str:
    """A text of a length that can be read: what is long in it, and then itself, without its middle."""
    text = "".join(x if x.isprintable() else " " for x in text)
    if len(text) > LONGEST:
        words = [_without_middle(word, LONGEST_WORD) for word in text.split()]
        text = _without_middle(" ".join(words), LONGEST)
    return text


def _without_middle(text: str, longest: int) -> str:
    half = longest // 2 - 1
    return text if len(text) <= longest else f"{text[:half]}…{text[-half:]}"


class Terminated(SystemExit):
    """Somebody asked the process to end at once, but in order."""


@contextmanager
def noted_interrupts() -> Iterator[list[int]]:
    """Keep a list of the interrupts: a training that is ended by one returns like any other."""
    seen: list[int] = []

    def note(number: int, _: Any) -> None:
        seen.append(number)
        raise KeyboardInterrupt

    def terminate(number: int, _: Any) -> None:
        raise Terminated(128 + number)

    ours = {signal.SIGINT: note, signal.SIGTERM: terminate}
    usual = (signal.default_int_handler, signal.SIG_DFL)
    before = {number: signal.getsignal(number) for number in ours}
    if threading.current_thread() is not threading.main_thread():  # not ours to handle
        before = {}
    # Others are ignored, as in a background job.
    before = {number: handler for number, handler in before.items() if handler in usual}
    for number in before:
        signal.signal(number, ours[number])
    try:
        yield seen
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def output(path: str | None, *, replace: bool) -> Iterator[TextIO]:
    """Open a file that is there when it is complete, or else standard output."""
    if path is None:
        yield sys.stdout
    elif os.path.exists(path) and not os.path.isfile(path):  # a pipe or device
        with open(path, "w", encoding="utf-8", newline="") as file:
            yield file
    else:
        with whole_file(path, replace=replace) as file:
            text = io.TextIOWrapper(file, encoding="utf-8", newline="")
            yield text
            text.flush()


def report(figures: dict[str, Any], as_json: bool) -> None:
    """Write figures to standard output, for people or for programs."""
    if as_json:
        text = json.dumps(_plain(figures), indent=2, ensure_ascii=False)
    else:
        text = "\n".join(f"{name + ':':20}{_said(value)}" for name, value in figures.items())
    sys.stdout.write(text + "\n")


def _plain(value: Any) -> Any:
    """Say a value in JSON, which has no NaN; what it does not know at all, as text."""
    if isinstance(value, dict):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    value = value.item() if hasattr(value, "dtype") else value  # a number of NumPy's
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def _said(value: Any) -> str:
    """Say a value to people; dicts of dicts get a line for each."""
    if isinstance(value, dict):
        nested = any(isinstance(item, dict) for item in value.values())
        items = [f"{name}{':' * nested} {_said(item)}" for name, item in value.items()]
        return "".join(f"\n  {item}" for item in items) if nested else ", ".join(items)
    if isinstance(value, list | tuple):
        return ", ".join(map(_said, value))
    return f"{value:.6g}" if isinstance(value, float) else str(value)
