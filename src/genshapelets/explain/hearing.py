"""Shapelets of sounds, made sounds again."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ..cepstrum import MelFrequencyCepstrum
from ..discrepancies import MFCDiscrepancy, MixedDiscrepancy
from ..estimators.base import ShapeletEstimator
from ..model import ShapeletModel
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
    """Waveform of a shapelet of a model that hears.

    That is, of one fitted with ``preprocessing="mfc"``, or with ``discrepancy="mfc"`` on waveforms,
    whose shapelets are waveforms already.

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
    cepstrum, listener = cepstrum_of(estimator), listener_of(estimator.model_)
    if cepstrum is None and listener is None:
        raise TypeError(
            "the model was not fitted on sound: its shapelets cannot be heard. Fit it on waveforms with "
            'preprocessing="mfc".'
        )
    shapelet = place(shapelet, len(estimator.lengths_), "shapelet")
    if cepstrum is None:
        assert listener is not None
        waveform = waveform_of(estimator, shapelet, listener)
        if path is not None:
            write_wav(path, waveform, listener.sample_rate)
        return waveform
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


def listener_of(model: ShapeletModel) -> MFCDiscrepancy | None:
    """The discrepancy of waveforms by their sound, if it is that of a model or one of several."""
    measure = model.transform.discrepancy
    parts = measure.parts if isinstance(measure, MixedDiscrepancy) else [measure]
    found = [part for part in parts if isinstance(part, MFCDiscrepancy) and part.n_channels == 1]
    return found[0] if found else None


def waveform_of(
    estimator: ShapeletEstimator, shapelet: int, listener: MFCDiscrepancy
) -> NDArray[np.float64]:
    """Samples of a shapelet that is a waveform."""
    values = estimator.shapelets_[shapelet][0].astype(np.float64)
    n_samples = max(round(float(estimator.lengths_[shapelet]) / listener.step), 1)
    at = np.linspace(0.0, 1.0, n_samples)
    level = np.interp(at, np.linspace(0.0, 1.0, len(values)), values)
    return level / max(float(np.abs(level).max()), 1.0)


def cepstra_of(found: ShapeletMatches, shapelet: int, series: int) -> list[Array] | None:
    """Cepstra (coefficients, frames) if a model compares these, as it does.

    Of a shapelet that is a waveform, of where it is found in a series, and of the whole series.
    """
    listener = listener_of(found._model)
    if listener is None or found.kinds[shapelet] != listener.title:
        return None
    window = found.window(shapelet, series)
    length = float(found._length[shapelet])
    times = np.interp(window.times, window.times[[0, -1]], [0.0, length])
    corners = found.corners(series)
    pieces = (
        (times, window.shapelet, length),
        (times, window.path, length),
        (corners - corners[0], found.path_at(series, corners), corners[-1] - corners[0]),
    )
    made = []
    with torch.no_grad():
        for own, values, span in pieces:
            knots = torch.from_numpy(own)
            n_frames = listener.n_frames(torch.tensor(span))
            standard = torch.from_numpy((values - found.centre[:, None]) / found.scale[:, None])
            made.append(listener.cepstra(knots, standard.T, n_frames).T.numpy())
    return made


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
