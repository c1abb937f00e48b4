"""Where compiled kernels are kept, and what is said while they are compiled."""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import stat
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

from numba import config
from numba.core import event

LOGGER = logging.getLogger("genshapelets")
DEFINES_KERNELS = (b"\n@kernel", b"\n@inner_kernel", b"\ndef kernel(", b"\n@partial(kernel,")

Tell = Callable[[str], object]


@cache
def cache_folder() -> str:
    """Folder for compiled code, "" if none can be written.

    It is named by a digest of the kernels' sources: numba itself recompiles a kernel whose own file has
    changed, but not one that calls a kernel of another file. What lies in a folder that cannot be
    written, of an image perhaps, is copied to the first that can.
    """
    here = Path(__file__).parent
    digest = hashlib.sha256()
    for file in sorted(here.rglob("*.py")):
        source = file.read_bytes()
        if any(sign in source for sign in DEFINES_KERNELS):
            digest.update(source)
    name = f"kernels-{digest.hexdigest()[:16]}"
    filled: list[Path] = []
    for parent in (
        lambda: Path(config.CACHE_DIR) if config.CACHE_DIR else None,  # NUMBA_CACHE_DIR
        lambda: here / "__pycache__",
        lambda: Path("~/.cache/genshapelets").expanduser(),
        _own_temporary_folder,
    ):
        with suppress(OSError, RuntimeError):  # not writable; no home
            place = parent()
            if place is None:
                continue
            folder = place / name
            if folder.is_dir() and any(folder.iterdir()):
                filled.append(folder)
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                pass
            if filled and folder not in filled:
                shutil.copytree(filled[0], folder, dirs_exist_ok=True)
            return str(folder)
    return ""


def _own_temporary_folder() -> Path:
    """One that nobody else can write to: what lies in it is run."""
    user = os.getuid() if hasattr(os, "getuid") else "user"  # on Windows it is the user's anyway
    folder = Path(tempfile.gettempdir(), f"genshapelets-{user}")
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if user != "user" and (
        not stat.S_ISDIR(found.st_mode) or found.st_uid != user or found.st_mode & 0o022
    ):
        raise PermissionError(f"{folder} is not this user's own.")
    return folder


# What is said

_tell: list[Tell] = []


@contextmanager
def telling(tell: Tell | None) -> Iterator[None]:
    """Say through ``tell`` that kernels are being compiled; of several, through the outermost."""
    if tell is None:
        yield
        return
    _tell.append(tell)
    try:
        yield
    finally:
        _tell.remove(tell)


def to_stderr(text: str) -> None:
    """Write one line to standard error."""
    if sys.stderr:
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()


class _Compilations(event.Listener):
    """Counts what numba compiles for us, and tells of the first."""

    def __init__(self) -> None:
        self.count, self.lock = 0, threading.Lock()

    def on_start(self, event: Any) -> None:
        """Note that a kernel is not in the cache."""
        if not str(event.data["dispatcher"].__module__).startswith(f"{__package__}."):
            return
        with self.lock:
            self.count += 1
            first = self.count == 1
        if first:
            self._tell(cache_folder())

    def on_end(self, event: Any) -> None:
        """Nothing to do."""

    def _tell(self, folder: str) -> None:
        kept = f"kept in {folder}" if folder else "not kept"
        text = f"compiling kernels for this machine, which may take a minute; they are {kept}"
        LOGGER.info(text)
        if _tell:
            _tell[0](text)
        elif hasattr(sys, "ps1"):  # somebody waits at a prompt or in a notebook
            to_stderr(text)
        if not folder:
            warnings.warn(
                "no folder for compiled kernels can be written, so that every process compiles them "
                "anew. Let NUMBA_CACHE_DIR name one that can.",
                stacklevel=2,
            )


compilations = _Compilations()
event.register("numba:compile", compilations)
