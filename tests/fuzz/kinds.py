"""Kinds of input: how a case is made from a seed, and by which ending a file is checked as what."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from . import arrays, calls, commands, frames, models, tables, texts
from .judging import judge


class Kind(NamedTuple):
    """Of input."""

    share: float  # of all cases
    make: Callable  # (random) -> (ending, content)


KINDS = {
    "arrays": Kind(5, arrays.array_case),
    "frames": Kind(4, frames.frame_case),
    "ts": Kind(3, texts.text_case),
    "csv": Kind(3, tables.text_case),
    "parquet": Kind(2, tables.parquet_case),
    "models": Kind(3, models.model_case),
    "checkpoints": Kind(1, models.checkpoint_case),
    "commands": Kind(1.5, commands.command_case),
}
CHECKS = {
    ".call": calls.check_call,
    ".ts": texts.check_text,
    ".csv": tables.check_text,
    ".csv.gz": tables.check_text,
    ".tsv": tables.check_text,
    ".tsv.gz": tables.check_text,
    ".parquet": tables.check_parquet,
    ".model": models.check_model,
    ".ckpt": models.check_checkpoint,
    ".command": commands.check_command,
}


def judge_file(file):
    """(word, text): what becomes of a file, which may be changed."""
    check = next(check for ending, check in CHECKS.items() if Path(file).name.endswith(ending))
    return judge(check, file)


def prepare():
    """Fit beforehand what children would each fit for themselves."""
    models.models(), models.whole_files()
    for name in models.FITS:
        models.fingerprint(name)
