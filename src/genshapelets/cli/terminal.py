"""How the program speaks to a shell: exit status, standard error, output, Ctrl-C."""

from __future__ import annotations

import json
import math
import os
import shutil
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

BAD_INPUT, WRONG_USAGE, INTERRUPTED, BROKEN_PIPE = 1, 2, 128 + 2, 128 + 13  # as in a shell


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
    say(f"error: {reason}")
    return status


@contextmanager
def noted_interrupts() -> Iterator[list[int]]:
    """Keep a list of the interrupts: a training that is ended by one returns like any other."""
    seen: list[int] = []

    def note(number: int, _: Any) -> None:
        seen.append(number)
        raise KeyboardInterrupt

    before = signal.getsignal(signal.SIGINT)
    if before is not signal.default_int_handler or (
        threading.current_thread() is not threading.main_thread()
    ):  # ignored, as in a background job, or not ours to handle
        yield seen
        return
    signal.signal(signal.SIGINT, note)
    try:
        yield seen
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def output(path: str | None) -> Iterator[TextIO]:
    """Open a file that replaces an older one when it is complete, or else standard output."""
    if path is None:
        yield sys.stdout
    elif os.path.exists(path) and not os.path.isfile(path):  # a pipe or device
        with open(path, "w", encoding="utf-8", newline="") as file:
            yield file
    else:
        whole = Path(path).resolve()
        partial = whole.with_name(f".{whole.name}.{os.getpid()}")
        try:
            with open(partial, "x", encoding="utf-8", newline="") as file:
                yield file
            if whole.exists():
                shutil.copymode(whole, partial)
            os.replace(partial, whole)
        finally:
            partial.unlink(missing_ok=True)


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
