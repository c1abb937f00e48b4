"""A line on standard error that says how far a fit has come."""

from __future__ import annotations

import sys
import time


class Progress:
    """Show epochs done, figures of the last one and the time left.

    On a terminal one line is written over and over; elsewhere (a log) there is a line now and then.

    Parameters
    ----------
    total : int
        Number of epochs.
    shown : bool
    """

    LOG_SECONDS = 10.0

    def __init__(self, total: int, shown: bool) -> None:
        self.total = total
        self.stream = sys.stderr if shown else None
        self.live = shown and sys.stderr.isatty()
        self.begun = self.written = time.monotonic()
        self.begun_at: int | None = None
        self.unwritten: tuple[int, dict[str, float]] | None = None
        self.width = 0

    def update(self, done: int, figures: dict[str, float]) -> None:
        """Report that ``done`` epochs are done."""
        if self.stream is None:
            return
        now = time.monotonic()
        if self.begun_at is None:
            self.begun_at = done - 1  # a resumed fit has not spent time on earlier epochs
        pause = 0.1 if self.live else self.LOG_SECONDS
        self.unwritten = done, figures
        if done >= self.total or now - self.written >= pause:
            self._write(now)

    def _write(self, now: float) -> None:
        if self.stream is None or self.unwritten is None or self.begun_at is None:
            return
        done, figures = self.unwritten
        self.written, self.unwritten = now, None
        left = (now - self.begun) / (done - self.begun_at) * (self.total - done)
        share = done / self.total
        bar = ("#" * round(20 * share)).ljust(20, ".")
        said = "  ".join(f"{name} {value:.4g}" for name, value in figures.items())
        line = f"epoch {done}/{self.total} [{bar}] {said}  {_clock(left)} left"
        if self.live:
            self.stream.write("\r" + line.ljust(self.width))
            self.width = len(line)
        else:
            self.stream.write(line + "\n")
        self.stream.flush()

    def close(self) -> None:
        """Show the last epoch, should training end early, and end the line."""
        self._write(time.monotonic())
        if self.stream is not None and self.live and self.width:
            self.stream.write("\n")
            self.stream.flush()


def _clock(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
