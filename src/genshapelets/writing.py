"""Files are written whole or not at all: an older one stays until the new one is complete."""

from __future__ import annotations

import glob
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

fcntl: Any
try:
    import fcntl
except ImportError:  # Windows, which lets nobody remove a file that is open
    fcntl = None

RANDOM = "[a-z0-9_]" * 8  # what `tempfile` puts into the names of files: no full stop


def replace_file(path: str | os.PathLike, content: bytes, *, replace: bool = True) -> None:
    """Write bytes to a file; see `whole_file`."""
    with whole_file(path, replace=replace) as file:
        file.write(content)


@contextmanager
def whole_file(path: str | os.PathLike, *, replace: bool = True) -> Iterator[BinaryIO]:
    """Open a file that appears under its name when it is complete; until then, an older one stays.

    Parameters
    ----------
    path : path
        That of a link means what the link leads to.
    replace : bool
        Whether a file that is there by then is replaced. Else: FileExistsError.
    """
    check_writable(path)
    target = os.path.realpath(path)
    partial = None
    try:
        handle, partial = _begun(target)
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            if os.path.exists(target):
                shutil.copymode(target, partial)
            else:
                os.chmod(partial, 0o666 & ~_umask())
            if fcntl is None:
                file.close()
            if replace:
                os.replace(partial, target)
            else:
                _rename(partial, target)
    except OSError as error:  # which may name a file that nobody asked for
        reason = str(error.strerror or error).rstrip(".")
        raise type(error)(f"cannot write {path}: {reason}.") from error
    finally:
        if partial is not None:
            Path(partial).unlink(missing_ok=True)


def check_writable(path: str | os.PathLike) -> None:
    """Raise what writing to a path would, before any work is done for it.

    What a killed process has left of a file of this name is removed.
    """
    path, target = Path(path), Path(os.path.realpath(path))
    if target.is_dir():
        raise IsADirectoryError(f"cannot write {path}: it is a directory. Give a file name.")
    if target.is_symlink():
        raise OSError(f"cannot write {path}: it is a link that leads to itself. Remove it.")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"cannot write {path}: there is no directory {target.parent}.")
    if not os.access(target.parent, os.W_OK):
        raise PermissionError(f"cannot write {path}: no permission to write in {target.parent}.")
    if target.exists() and not os.access(target, os.W_OK):
        raise PermissionError(f"cannot write {path}: the file is there and read-only.")
    for partial in glob.glob(f"{glob.escape(_prefix(str(target)))}{RANDOM}.partial"):
        with suppress(OSError), open(partial, "rb+") as file:
            _lock(file.fileno())  # fails as long as somebody writes it
            Path(partial).unlink()


def _prefix(target: str) -> str:
    folder, name = os.path.split(target)
    return os.path.join(folder, f".{name}.")


def _begun(target: str) -> tuple[int, str]:
    """A new file beside the target, locked as long as it is open."""
    folder, prefix = os.path.split(_prefix(target))
    while True:
        handle, partial = tempfile.mkstemp(".partial", prefix, folder)
        try:
            _lock(handle)
            is_ours = os.path.exists(partial)
        except BlockingIOError:
            is_ours = False
        except OSError:  # a file system without locks
            is_ours = True
        if is_ours:
            return handle, partial
        os.close(handle)  # somebody took it for left over before it was locked


def _lock(handle: int) -> None:
    if fcntl is not None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _rename(partial: str, target: str) -> None:
    """Rename a file unless there is one of the new name."""
    try:
        os.link(partial, target)
    except FileExistsError:
        raise
    except OSError:  # a file system without links
        if os.path.exists(target):
            raise FileExistsError("the file is there") from None
        os.replace(partial, target)


def _umask() -> int:
    umask = os.umask(0)
    os.umask(umask)
    return umask
