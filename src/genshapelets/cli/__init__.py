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
    TERMINATED,
    WRONG_USAGE,
    Terminated,
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
        except (KeyboardInterrupt, Terminated) as end:
            is_interrupt = isinstance(end, KeyboardInterrupt)
            checkpoint = getattr(args, "checkpoint", None)
            kept = f"; {checkpoint} keeps the training so far" if checkpoint else ""
            there = kept if checkpoint and os.path.exists(checkpoint) else "; no file was written"
            say(f"{'interrupted' if is_interrupt else 'terminated'}{there}.")
            return INTERRUPTED if is_interrupt else TERMINATED
        except BrokenPipeError:
            raise
        except UsageError as error:
            return complain(error, WRONG_USAGE)
        except (ValueError, TypeError, OSError, ImportError, MemoryError) as error:
            if getattr(args, "debug", False):
                traceback.print_exc()
            return complain(error)
        except Exception as error:  # noqa: BLE001  a mistake of ours, or of a library
            if getattr(args, "debug", False):
                traceback.print_exc()
            reason = f"unexpected {type(error).__name__}: {error}"
            return complain(RuntimeError(f"{reason}. Add --debug to see where, and report it."))
    return INTERRUPTED if interrupts else 0
