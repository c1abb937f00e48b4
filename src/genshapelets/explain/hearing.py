"""Shapelets of sounds, made sounds again."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..cepstrum import MelFrequencyCepstrum
from ..estimators.base import ShapeletEstimator
from ..paths import Array
from ..series import RaggedSeries
from ..sound import to_sound, write_wav
from .matches import ShapeletMatches, find_matches, place


def hear_shapelet(
    estimator: ShapeletEstimator,
    shapelet: int,
    X: Any = None,
    path: str | os.PathLike | None = None,
) -> NDArray[np.float64]:
    """Waveform of a shapelet of a model that was fitted with ``preprocessing="mfc"``.

    Parameters
    ----------
    estimator : ShapeletClassifier, ShapeletRegressor or ShapeletTransformer
    shapelet : int
    X : waveforms, optional
        Such as the training clips. The search for the sound starts from the stretch that the shapelet
        is most similar to, and mostly comes closer.
    path : path, optional
        A WAV file to write.

    Returns
    -------
    (samples,) array
        As long as the shapelet, between -1 and 1.
    """
    cepstrum = cepstrum_of(estimator)
    if cepstrum is None:
        raise TypeError(
            "the model was not fitted on sound: its shapelets cannot be heard. Fit it on waveforms with "
            'preprocessing="mfc".'
        )
    shapelet = place(shapelet, len(estimator.lengths_), "shapelet")
    stretch, in_seconds = None, _fitted_on_seconds(estimator, cepstrum)
    if X is not None:
        waves = estimator._read(X, fitting=False)
        stretch = stretch_of(find_matches(estimator, X), waves, shapelet)
        in_seconds = has_seconds(waves)
    waveform = sound_of(estimator, shapelet, stretch, in_seconds)
    if path is not None:
        write_wav(path, waveform, cepstrum.sample_rate)
    return waveform


def cepstrum_of(estimator: ShapeletEstimator) -> MelFrequencyCepstrum | None:
    """The cepstrum that a model hears by, if it does."""
    step = estimator._preprocessing()
    return step if isinstance(step, MelFrequencyCepstrum) else None


def sound_of(
    estimator: ShapeletEstimator, shapelet: int, stretch: Array | None, in_seconds: bool
) -> NDArray[np.float64]:
    """Waveform of a shapelet, found from a stretch of sound on if one is given."""
    cepstrum = cepstrum_of(estimator)
    assert cepstrum is not None
    length = float(estimator.model_.transform.shapelets.lengths[shapelet])
    length /= 1.0 if in_seconds else cepstrum.sample_rate
    return to_sound(estimator.shapelets_[shapelet], length, cepstrum, like=stretch)


def _fitted_on_seconds(estimator: ShapeletEstimator, cepstrum: MelFrequencyCepstrum) -> bool:
    """Whether times of training clips were seconds: else whole hops of samples lie between frames."""
    n_hops = estimator.shortest_span_ / cepstrum.hop
    return estimator.has_datetimes_ or n_hops != round(n_hops)


def has_seconds(waves: RaggedSeries) -> bool:
    """Whether times are seconds; otherwise they count samples."""
    return bool(np.diff(waves[0].times[:2]).max(initial=0.0) < 0.5)


def stretch_of(found: ShapeletMatches, waves: RaggedSeries, shapelet: int) -> Array:
    """Waveform in the window of the series that a shapelet is most similar to."""
    n = int(found.nearest[shapelet])
    times, values = waves[n]
    begin = found._offset[n, shapelet]
    first = min(int(np.searchsorted(times, begin)), len(times) - 1)
    last = int(np.searchsorted(times, begin + found._length[shapelet], side="right"))
    return values[0, first : max(last, first + 1)].astype(np.float64)
