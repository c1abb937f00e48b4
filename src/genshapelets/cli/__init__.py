"""The command line: ``genshapelets fit``, ``predict``, ``evaluate``, ``report`` and others."""

from __future__ import annotations

import os
import sys
import traceback
import warnings

from .options import make_parser
from .terminal import (
    BROKEN_PIPE,
    INTERRUPTED,
    WRONG_USAGE,
    UsageError,
    complain,
    noted_interrupts,
    say,
)

__all__ = ["main"]


def main(argv: list[str] | None = None) -> int:
    """Run a command; return the exit status."""
    status = 0
    try:
        try:
            status = _run(argv)
        finally:
            if sys.stdout:  # None if the shell closed it
                sys.stdout.flush()
    except OSError as error:  # standard output is closed or full: Python shall not flush it again
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            return BROKEN_PIPE
        return status or complain(error)  # once is enough
    return status


def _run(argv: list[str] | None) -> int:
    args = make_parser().parse_args(argv)
    with warnings.catch_warnings(), noted_interrupts() as interrupts:
        warnings.showwarning = lambda message, *_, **__: say(f"warning: {message}")
        try:
            from ..caching import telling
            from . import commands

            quiet = getattr(args, "quiet", not (sys.stderr and sys.stderr.isatty()))
            with telling(None if quiet else say):
                getattr(commands, args.run)(args)
        except KeyboardInterrupt:
            say("interrupted; no file was written.")
            return INTERRUPTED
        except BrokenPipeError:
            raise
        except UsageError as error:
            return complain(error, WRONG_USAGE)
        except (ValueError, TypeError, OSError, ImportError, MemoryError) as error:
            if getattr(args, "debug", False):
                traceback.print_exc()
            return complain(error)
    return INTERRUPTED if interrupts else 0
