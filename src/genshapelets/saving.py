"""Files without pickle: tensors in the safetensors format, everything else as JSON in its header.

Nothing in such a file can run. A digest tells a damaged or edited file, a version one from the future.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from .described import UnknownClassError
from .shown import cut
from .writing import check_writable, replace_file

FORMAT = "genshapelets"
VERSION = 4
# What goes wrong when contents are not what they should be.
NOT_UNDERSTOOD = (
    ArithmeticError, AssertionError, AttributeError, LookupError, MemoryError, RuntimeError,
    TypeError, ValueError,
)  # fmt: skip


def write_file(
    path: str | os.PathLike,
    kind: str,
    contents: dict[str, Any],
    tensors: dict[str, Tensor],
    *,
    replace: bool = True,
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
    replace : bool
        Whether a file that is there is replaced. Else: FileExistsError.
    """
    safetensors = _safetensors()
    # Cloned, because safetensors refuses tensors that share memory.
    tensors = {name: tensor.detach().cpu().clone().contiguous() for name, tensor in tensors.items()}
    text = json.dumps(contents, allow_nan=True)  # in its own order, that of a history above all
    header = {
        "format": FORMAT,
        "version": str(VERSION),
        "kind": kind,
        "contents": text,
        "digest": _digest(str(VERSION), kind, text, tensors),
    }
    replace_file(path, safetensors.torch.save(tensors, header), replace=replace)


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
        header = json.loads(content[8:end]).get("__metadata__") or {}
    except FileNotFoundError:
        raise FileNotFoundError(f"there is no file {path}.") from None
    except (safetensors.SafetensorError, KeyError, TypeError, ValueError, RuntimeError) as error:
        raise ValueError(
            f"{path} is not a {FORMAT} file, or only a part of one ({cut(str(error), 100)}). "
            "Save it anew."
        ) from None
    if header.get("format") != FORMAT:
        raise ValueError(f"{path} holds tensors, but was not written by {FORMAT}.")
    try:
        version = int(header["version"])
    except (KeyError, ValueError):
        version = 0
    if version < 1:
        raise ValueError(f"{path} does not say which version of the format it has.")
    if version > VERSION:
        raise ValueError(
            f"{path} has version {version} of the format; this {FORMAT} reads up to {VERSION}. "
            f"Install a newer {FORMAT}."
        )
    kind_there, text = header.get("kind", ""), header.get("contents", "")
    with understood(path, "Save it anew."):
        digest = _digest(header["version"], kind_there, text, tensors)
    if header.get("digest") != digest:
        raise ValueError(
            f"{path} was changed after it was written: its digest does not match. "
            "Fetch or save it anew."
        )
    if kind_there != kind:
        raise ValueError(f"{path} holds a {cut(kind_there)}, not a {kind}.")
    try:
        return json.loads(text), tensors
    except (ValueError, RecursionError):
        raise ValueError(f"{path} cannot be understood: its contents are no JSON.") from None


@contextmanager
def understood(path: str | os.PathLike, cure: str) -> Iterator[None]:
    """Within this, whatever is wrong with the contents of a file becomes one line that names it.

    A digest is no signature: who edits a file can make it match. So what a file says is checked before
    it is used, and what the checks do not foresee ends here.
    """
    try:
        yield
    except UnknownClassError as error:
        raise ValueError(f"{os.fspath(path)} cannot be loaded: {error}.") from None
    except NOT_UNDERSTOOD as error:
        reason = cut(f"{type(error).__name__}: {error}", 150)
        raise ValueError(f"{os.fspath(path)} cannot be understood ({reason}). {cure}") from error


def matched(found: Mapping[str, Tensor], like: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Tensors of a file, if they may take the place of others, in the dtypes of those.

    They must have the same names, shapes and kinds of numbers, and be finite where those are: anything
    else is a ValueError.
    """
    if found.keys() != like.keys():
        lacking, strange = sorted(like.keys() - found.keys()), sorted(found.keys() - like.keys())
        what = f"lacks {lacking[0]}" if lacking else f"has {strange[0]}, which nothing needs"
        raise ValueError(f"it {what}")
    taken = {}
    for name, own in like.items():
        tensor = found[name]
        if tensor.shape != own.shape:
            shapes = f"{tuple(tensor.shape)}, not {tuple(own.shape)}"
            raise ValueError(f"{name} has the shape {shapes}")
        if tensor.dtype != own.dtype and not (
            tensor.is_floating_point() and own.is_floating_point()
        ):
            raise ValueError(f"{name} holds {tensor.dtype}, not {own.dtype}")
        taken[name] = tensor.to(own)
        if not (taken[name].isfinite() | ~own.isfinite()).all():
            raise ValueError(f"{name} must be finite")
    return taken


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


def _safetensors() -> Any:
    try:
        import safetensors.torch
    except ImportError:
        raise ImportError(
            "saving and loading need the package safetensors: pip install 'genshapelets[save]'."
        ) from None
    return safetensors
