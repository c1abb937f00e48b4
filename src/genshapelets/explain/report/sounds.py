"""Sounds for the page's players: of shapelets, of where they were found, and of whole series."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...paths import Array
from ...series import RaggedSeries
from ...sound import write_wav
from ..hearing import stretch_of
from ..matches import ShapeletMatches
from .numbers import short

ROOM = 6_000_000  # characters of sound in a page: 140 seconds of 16,000 samples
OF_SHAPELETS = 2 / 3  # of them; the rest is for whole series
_HEADER = 44  # bytes of a WAV file before its samples

# Makes the sound of a shapelet, given its number and the waveform of the stretch that it is most similar
# to, from which a search for the sound may start: a waveform, or None if the shapelet is too short to be
# heard, and the samples a second of this and of all series.
SoundOf = Callable[[int, Array], tuple[NDArray[Any] | None, float]]


def sounds(
    found: ShapeletMatches,
    waves: RaggedSeries,
    order: Sequence[int],
    sound_of: SoundOf,
    room: int = ROOM,
) -> dict[str, Any]:
    """Sounds as the page takes them, the most important ones as long as there is room.

    Parameters
    ----------
    found : ShapeletMatches
    waves : RaggedSeries
        Waveforms of the series, in their order; one channel, and times that `found` goes by.
    order : sequence of int
        Shapelets, most important first.
    sound_of : callable
        See `SoundOf`. It is called only if there is room for the sound.
    room : int
        Characters that all sounds may take up.

    Returns
    -------
    dict
        "shapelets": of each that has a player, its sound, if it has one, and that of its best match;
        "series": of each that has a player, its sound; "room", in MB. A sound is a WAV file in base 64,
        and its seconds.
    """
    if waves.n_channels != 1:
        raise ValueError(
            f"sounds are made of waveforms, which have one channel; X has {waves.n_channels}."
        )
    left = int(OF_SHAPELETS * room)
    of_shapelets: dict[int, list[Any]] = {}
    rate = 0.0
    for k in order:
        stretch = stretch_of(found, waves, k)
        needed = 2 * size_of(len(stretch))  # a shapelet is as long as its match, nearly
        if needed > left:
            continue
        waveform, rate = sound_of(k, stretch)
        both = [None if waveform is None else _sound(waveform, rate), _sound(stretch, rate)]
        needed = sum(len(sound[0]) for sound in both if sound)
        if needed <= left:
            of_shapelets[k] = both
            left -= needed
    left += room - int(OF_SHAPELETS * room)
    of_series: dict[int, list[Any]] = {}
    for n in dict.fromkeys([0, *found.nearest[list(of_shapelets)].tolist(), *range(len(waves))]):
        clip = waves[n].values[0]
        if rate and size_of(len(clip)) <= left:
            of_series[n] = _sound(clip, rate)
            left -= size_of(len(clip))
    return {"shapelets": of_shapelets, "series": of_series, "room": short(room / 1e6, 2)}


def as_wav(waveform: NDArray[Any], rate: float) -> bytes:
    """A waveform as a WAV file; one beyond -1 to 1 is made softer to fit."""
    level = np.nan_to_num(np.asarray(waveform, np.float64))
    content = io.BytesIO()
    write_wav(content, level / max(float(np.abs(level).max()), 1.0), round(rate))
    return content.getvalue()


def size_of(n_samples: int) -> int:
    """Characters that a sound takes up in base 64."""
    return -(-(_HEADER + 2 * n_samples) // 3) * 4


def _sound(waveform: NDArray[Any], rate: float) -> list[Any]:
    code = base64.b64encode(as_wav(waveform, rate)).decode("ascii")
    return [code, short(len(waveform) / rate, 3)]
