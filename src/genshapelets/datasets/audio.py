"""Folders of sound files."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Iterator
from numbers import Integral
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..series import RaggedSeries
from .audio_labels import read_labels, typed

AUDIO_SUFFIXES = (".wav", ".flac", ".ogg", ".opus")


def read_audio(
    folder: str | os.PathLike[str],
    *,
    labels: str | os.PathLike[str] | None = None,
    file_column: str | None = None,
    label_column: str | None = None,
    sample_rate: int = 16000,
    resample: bool = False,
    duration: float | None = None,
    on_error: Literal["raise", "skip"] = "raise",
) -> tuple[RaggedSeries, NDArray[Any] | None]:
    """Read a folder of .wav, .flac, .ogg and .opus files, sub-folders included.

    Sample i of a clip is at i / `sample_rate` seconds. Several channels, as of stereo, are mixed down
    to one by their mean. Files and folders whose name starts with a dot are left out.

    Needs the package soundfile: ``pip install 'genshapelets[audio]'``.

    Parameters
    ----------
    folder : str or path
        Where a clip is ``<label>/<clip>.wav``, unless there is a table of labels.
    labels : str or path, optional
        A .csv or .tsv table with the label of each clip. A clip is named by its path below `folder`,
        or by the file's name alone, with or without the suffix. Clips that the table does not name
        are not read: so it may choose a part of the folder.
    file_column, label_column : str, optional
        Columns of the table; by default the first two.
    sample_rate : int
        Samples a second.
    resample : bool
        Whether to convert clips of another rate (`scipy.signal.resample_poly`), or refuse them.
    duration : float, optional
        Read no more than these first seconds of each clip. Shorter clips stay shorter.
    on_error : "raise" or "skip"
        Refuse the folder if a clip cannot be read, is cut short or has no samples; or leave out such
        clips, with one warning that names them.

    Returns
    -------
    series : RaggedSeries
        One channel, "sound", of float32 from -1 to 1. ``series_ids`` are the paths of the clips below
        `folder`, by which they are sorted.
    labels : (n_series,) array or None
        Names of the first sub-folders; None if a clip lies in `folder` itself. From a table: numbers
        if all labels are, else str.

    Examples
    --------
    >>> import tempfile, pathlib, soundfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> for word in ("yes", "no"):
    ...     (folder / word).mkdir()
    ...     soundfile.write(folder / word / "one.wav", np.zeros(8000), 16000)
    >>> series, labels = read_audio(folder)
    >>> series
    RaggedSeries(2 series, 1 channel, 8000 times each, 0.0 % of values missing, float32)
    >>> series.series_ids.tolist(), labels.tolist(), series[0].times[:3]
    (['no/one.wav', 'yes/one.wav'], ['no', 'yes'], array([0.000e+00, 6.250e-05, 1.250e-04]))
    """
    _check_options(sample_rate, duration, on_error)
    clips = _find_clips(Path(folder))
    if labels is not None:
        label_of = read_labels(labels, file_column, label_column, clips)
        clips = sorted(label_of)
    elif file_column is not None or label_column is not None:
        raise ValueError("file_column and label_column are of a table; give it by labels=.")
    waves: dict[str, NDArray[np.float32]] = {}
    unreadable = []
    for clip in clips:
        try:
            waves[clip] = _read_clip(Path(folder, clip), sample_rate, resample, duration)
        except _UnreadableError as error:  # noqa: PERF203  reading takes far longer
            if on_error == "raise":
                raise ValueError(
                    f"{Path(folder, clip)} {error}. Fetch or write the file again, take it out of the "
                    'folder, or set on_error="skip" to leave such files out.'
                ) from error
            unreadable.append(f"{clip} ({error})")
    if not waves:
        raise ValueError(
            f"none of the {len(clips)} clips of {folder} can be read: {unreadable[0]}."
        )
    if unreadable:
        warnings.warn(
            f"{len(unreadable)} of the {len(clips)} clips of {folder} were left out: "
            f"{', '.join(unreadable)}.",
            stacklevel=2,
        )
    series = _batch(waves, sample_rate)
    if labels is not None:
        return series, typed([label_of[clip] for clip in waves])
    folders = [clip.partition("/")[0] for clip in waves if "/" in clip]
    return series, np.array(folders) if len(folders) == len(waves) else None


class _UnreadableError(Exception):
    """A file that holds no sound, or not all of it."""


def _check_options(sample_rate: Any, duration: Any, on_error: Any) -> None:
    if not isinstance(sample_rate, Integral) or sample_rate < 1:
        raise ValueError(
            f"sample_rate must be a whole number of samples a second; got {sample_rate}."
        )
    if duration is not None and not 1 / sample_rate <= duration < math.inf:
        raise ValueError(
            f"duration must be None or seconds, at least those of one sample; got {duration}."
        )
    if on_error not in ("raise", "skip"):
        raise ValueError(f'on_error must be "raise" or "skip"; got {on_error!r}.')


def _find_clips(folder: Path) -> list[str]:
    """Return the paths of sound files below a folder, relative to it and sorted."""
    if not folder.is_dir():
        what = "is a file; give the folder it is in" if folder.exists() else "is not there"
        raise NotADirectoryError(f"a folder of sound files is needed: {folder} {what}.")
    files = list(_files_below(folder))
    clips = sorted(file for file in files if file.lower().endswith(AUDIO_SUFFIXES))
    if not clips:
        instead = f"; it holds {len(files)} other files, such as {min(files)}" if files else ""
        raise ValueError(
            f"{folder} has no {', '.join(AUDIO_SUFFIXES)} file{instead}. Give a folder of sound files, "
            "or convert them."
        )
    return clips


def _files_below(folder: Path) -> Iterator[str]:
    for place, folders, files in os.walk(folder, followlinks=True):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in files:
            if not name.startswith("."):
                yield Path(place, name).relative_to(folder).as_posix()


def _read_clip(
    file: Path, sample_rate: int, resample: bool, duration: float | None
) -> NDArray[np.float32]:
    """Return the samples of a clip, (n_samples,)."""
    try:
        import soundfile
    except ImportError as error:
        raise ImportError(
            "reading sound files needs soundfile: pip install 'genshapelets[audio]'"
        ) from error
    try:
        _check_whole(file)
        with soundfile.SoundFile(file) as sound:
            rate = sound.samplerate
            n_frames = -1 if duration is None else math.ceil(duration * rate)
            frames = sound.read(n_frames, dtype="float32", always_2d=True)
    except (soundfile.SoundFileError, OSError) as error:
        reason = getattr(error, "error_string", None) or getattr(error, "strerror", None) or error
        raise _UnreadableError(f"cannot be read: {str(reason).rstrip('.')}") from error
    if not len(frames):
        raise _UnreadableError("has no samples")
    if not np.isfinite(frames).all():
        raise _UnreadableError("has samples that are not finite numbers")
    wave = frames.mean(axis=1)
    if rate != sample_rate:
        if not resample:
            raise ValueError(
                f"{file} has {rate} samples a second, not {sample_rate}. Set resample=True (in a shell "
                f"--resample) to convert it, or sample_rate={rate} (--sample-rate {rate}) if all have "
                "this rate."
            )
        from scipy.signal import resample_poly

        divisor = math.gcd(rate, sample_rate)
        wave = resample_poly(wave, sample_rate // divisor, rate // divisor).astype(np.float32)
    return wave if duration is None else wave[: math.ceil(duration * sample_rate)]


def _check_whole(file: Path) -> None:
    """Refuse a file that is empty, or a WAV file shorter than it says, which libsndfile reads."""
    with file.open("rb") as content:
        start = content.read(8)
    if not start:
        raise _UnreadableError("is empty")
    promised = int.from_bytes(start[4:], "little") + 8
    is_streamed = promised in (8, 0xFFFFFFFF + 8)  # its size was not known when it was begun
    if start[:4] == b"RIFF" and not is_streamed and file.stat().st_size < promised:
        raise _UnreadableError(f"is cut short: it has {file.stat().st_size} of {promised} bytes")


def _batch(waves: dict[str, NDArray[np.float32]], sample_rate: int) -> RaggedSeries:
    """Put checked clips one after another; `from_arrays` would need the memory several times."""
    lengths = np.array([len(wave) for wave in waves.values()])
    seconds = np.arange(lengths.max()) / sample_rate
    return RaggedSeries(
        times=np.concatenate([seconds[:length] for length in lengths]),
        values=np.concatenate(list(waves.values()))[:, None],
        row_offsets=np.concatenate([[0], np.cumsum(lengths)]),
        time_precision=np.full(len(waves), np.finfo(np.float64).eps),
        channel_names=("sound",),
        series_ids=np.array(list(waves)),
    )
