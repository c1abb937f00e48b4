"""Reading data from files, and making data in which the truth is known."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from ..series import RaggedSeries
from .audio import AUDIO_SUFFIXES, read_audio
from .synthetic import PlantedPattern, planted_pattern
from .tables import TEXT_SUFFIXES, read_table
from .ts import read_ts

__all__ = ["PlantedPattern", "planted_pattern", "read", "read_audio", "read_table", "read_ts"]


def read(path: str | os.PathLike[str], **options: Any) -> tuple[RaggedSeries, NDArray[Any] | None]:
    """Read a file of series by the reader that its name asks for, or a folder of sound files.

    Parameters
    ----------
    path : str or path
        A .ts file (`read_ts`), a .csv, .csv.gz, .tsv, .tsv.gz or .parquet file (`read_table`), or a
        folder of .wav, .flac, .ogg and .opus files (`read_audio`).
    **options
        Of that reader. A table needs at least ``series=`` and ``time=``; a .ts file has none.

    Returns
    -------
    series : RaggedSeries
    labels : (n_series,) array or None
    """
    if Path(path).is_dir():
        return read_audio(path, **options)
    name = Path(path).name.lower()
    if name.endswith(".ts"):
        if options:
            raise TypeError(f"a .ts file is read without options; got {', '.join(options)}.")
        return read_ts(path)
    if name.endswith((*TEXT_SUFFIXES, ".parquet")):
        for needed in ("series", "time"):
            if needed not in options:
                raise TypeError(
                    f"a table needs {needed}=, the name of a column, to be read: {path}."
                )
        return read_table(path, **options)
    if name.endswith(AUDIO_SUFFIXES):
        raise ValueError(f"{path} is one sound file; give the folder it is in.")
    raise ValueError(
        f"a file must end in .ts, {', '.join(TEXT_SUFFIXES)} or .parquet; got {path}. "
        "Convert it, or make a batch by RaggedSeries.from_arrays or from_long."
    )
