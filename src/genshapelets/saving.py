"""Files without pickle: tensors in the safetensors format, everything else as JSON in its header.

Nothing in such a file can run. A digest tells a damaged or edited file, a version one from the future.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

FORMAT = "genshapelets"
VERSION = 4


def write_file(
    path: str | os.PathLike, kind: str, contents: dict[str, Any], tensors: dict[str, Tensor]
) -> None:
    """Write a file, whole or not at all: an older one stays until the new one is complete.

    Parameters
    ----------
    path : path
    kind : str
        What it holds: "model" or "checkpoint".
    contents : dict
        Whatever JSON can say.
    tensors : dict of tensors
    """
    safetensors = _safetensors()
    # Cloned, because safetensors refuses tensors that share memory.
    tensors = {name: tensor.detach().cpu().clone().contiguous() for name, tensor in tensors.items()}
    text = json.dumps(contents, allow_nan=True, sort_keys=True)
    header = {
        "format": FORMAT,
        "version": str(VERSION),
        "kind": kind,
        "contents": text,
        "digest": _digest(str(VERSION), kind, text, tensors),
    }
    replace_file(path, safetensors.torch.save(tensors, header))


def replace_file(path: str | os.PathLike, content: bytes) -> None:
    """Write bytes to a file, all or none of them: an older file stays until the new one is complete."""
    path = Path(path)
    check_writable(path)
    try:
        handle, partial = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError as error:  # which would name a file that nobody asked for
        raise type(error)(f"cannot write {path}: {error.strerror}.") from None
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(partial, 0o666 & ~_umask())
        os.replace(partial, path)
    except BaseException:
        Path(partial).unlink(missing_ok=True)
        raise


def read_file(path: str | os.PathLike, kind: str) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Read what `write_file` wrote: contents and tensors. Anything else is a ValueError."""
    safetensors = _safetensors()
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a directory; give the file that was saved.")
    try:
        # Read at once, because another process may replace the file meanwhile.
        content = path.read_bytes()
        tensors = safetensors.torch.load(content)
        end = 8 + int.from_bytes(content[:8], "little")
        header = json.loads(content[8:end]).get("__metadata__", {})
    except FileNotFoundError:
        raise FileNotFoundError(f"there is no file {path}.") from None
    except (safetensors.SafetensorError, KeyError, TypeError, ValueError, RuntimeError) as error:
        raise ValueError(
            f"{path} is not a {FORMAT} file, or only a part of one ({error}). Save it anew."
        ) from None
    if header.get("format") != FORMAT:
        raise ValueError(f"{path} holds tensors, but was not written by {FORMAT}.")
    try:
        version = int(header["version"])
    except (KeyError, ValueError):
        raise ValueError(f"{path} does not say which version of the format it has.") from None
    if version > VERSION:
        raise ValueError(
            f"{path} has version {version} of the format; this {FORMAT} reads up to {VERSION}. "
            f"Install a newer {FORMAT}."
        )
    kind_there, text = header.get("kind", ""), header.get("contents", "")
    if header.get("digest") != _digest(header["version"], kind_there, text, tensors):
        raise ValueError(
            f"{path} was changed after it was written: its digest does not match. "
            "Fetch or save it anew."
        )
    if kind_there != kind:
        raise ValueError(f"{path} holds a {kind_there}, not a {kind}.")
    try:
        return json.loads(text), tensors
    except (ValueError, RecursionError):
        raise ValueError(f"{path} cannot be understood: its contents are no JSON.") from None


def check_writable(path: str | os.PathLike) -> None:
    """Raise what writing to a path would, before any work is done for it."""
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(f"cannot write {path}: it is a directory. Give a file name.")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"cannot write {path}: there is no directory {path.parent}.")
    if not os.access(path.parent, os.W_OK):
        raise PermissionError(f"cannot write {path}: no permission to write in {path.parent}.")
    if path.exists() and not os.access(path, os.W_OK):
        raise PermissionError(f"cannot write {path}: the file is there and read-only.")


def check_saving(path: str | os.PathLike) -> None:
    """Raise what `write_file` would, before any work is done for it."""
    check_writable(path)
    _safetensors()


def _digest(version: str, kind: str, text: str, tensors: dict[str, Tensor]) -> str:
    digest = hashlib.sha256(f"{version}\n{kind}\n{text}".encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        digest.update(f"\n{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        digest.update(tensor.reshape(-1).view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()


def _umask() -> int:
    umask = os.umask(0)
    os.umask(umask)
    return umask


def _safetensors() -> Any:
    try:
        import safetensors.torch
    except ImportError:
        raise ImportError(
            "saving and loading need the package safetensors: pip install 'genshapelets[save]'."
        ) from None
    return safetensors
