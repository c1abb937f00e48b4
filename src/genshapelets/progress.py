"""What a fit says about how far it has come: a bar, lines of a log, or a word if it will take long."""

from __future__ import annotations

import logging
import shutil
import sys
import time
import warnings
from typing import Any

from .durations import about
from .pace import ENOUGH, Pace
from .shown import count

LONG = 120.0  # seconds left, from which on a fit that shows nothing else logs a word


class Progress:
    """Show epochs begun, the number of shapelets, figures and the time left, on standard error.

    On a terminal and in a notebook there is a bar, by tqdm; elsewhere (a log), and where tqdm is not
    installed, a line now and then.

    Parameters
    ----------
    pace : Pace
    shown : bool
    """

    LOG_SECONDS = 10.0
    BAR_SECONDS = 0.1

    def __init__(self, pace: Pace, shown: bool) -> None:
        self.pace, self.shown = pace, shown
        self.written = time.monotonic()
        self.unwritten: dict[str, float] | None = None
        self.told = False
        self.bar = _bar() if shown else None

    def update(self, figures: dict[str, float]) -> None:
        """Report that a step has been taken."""
        if not self.shown:
            self._tell_if_long()
            return
        self.unwritten = figures
        pause = self.LOG_SECONDS if self.bar is None else self.BAR_SECONDS
        if time.monotonic() - self.written >= pause:
            self._write()

    def close(self) -> None:
        """Show the last step and end the line."""
        self._write()
        if self.bar is not None:
            self.bar.n = self.pace.share
            self.bar.close()

    def _write(self) -> None:
        leg = self.pace.at
        if leg is None or self.unwritten is None:
            return
        left = self.pace.seconds_left()
        where = (
            f"epoch {self.pace.epoch}/{self.pace.n_epochs}, {count(leg.n_shapelets, 'shapelet')}"
        )
        said = [] if left is None else [f"about {about(left)} left"]
        said += [f"{name.replace('_', ' ')} {value:.4g}" for name, value in self.unwritten.items()]
        self.written, self.unwritten = time.monotonic(), None
        if self.bar is None:
            sys.stderr.write(f"{where}, {', '.join(said)}\n")
            sys.stderr.flush()
            return
        self.bar.n = self.pace.share
        self.bar.set_description_str(where, refresh=False)
        self.bar.set_postfix_str(", ".join(said), refresh=False)
        self.bar.refresh()

    def _tell_if_long(self) -> None:
        if self.told or self.pace.n_counted < ENOUGH:
            return
        self.told = True
        left = self.pace.seconds_left()
        if left is not None and left > LONG:
            logging.getLogger(__package__).info(
                "this fit takes about %s more; verbose=1 shows how far it is.", about(left)
            )


def _bar() -> Any:
    """A bar of tqdm, if there is one and somebody to see it; else None."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it says which packages would make a nicer one
            from tqdm.auto import tqdm
            from tqdm.std import tqdm as plain
    except ImportError:
        return None
    is_widget = tqdm.display is not plain.display
    in_notebook = type(sys.stderr).__module__.startswith("ipykernel")
    if not (is_widget or in_notebook or sys.stderr.isatty()):
        return None
    shape = "{desc} {percentage:3.0f}%|{bar}| {elapsed}{postfix}"
    begun = {"total": 1.0, "desc": "first shapelets", "bar_format": shape}
    # Some terminals say that they have no size, and nothing would be shown on them.
    columns, lines = shutil.get_terminal_size()
    size = {} if is_widget else {"ncols": columns, "nrows": lines}
    return tqdm(**begun, **size, file=sys.stderr)
