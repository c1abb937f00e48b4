"""The mel-frequency cepstrum: sound as a few numbers for each short piece of time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from torch import Tensor

from .arrays import offsets_of
from .labelled import is_labelled
from .paths import observed
from .preprocessing import Preprocessing
from .series import RaggedSeries
from .tables import name_series

BATCH = 2**18  # samples that are padded at a time
CHUNK = 256  # frames that are transformed at a time
DRIFT = 1e-3  # by which a step may differ from the sampling rate's, relatively


@dataclass(kw_only=True, eq=False, repr=False)
class MelFrequencyCepstrum(Preprocessing, TransformerMixin, BaseEstimator):
    r"""Waveforms become their mel-frequency cepstrum (MFC): a step to put before shapelets.

    .. math:: \mathrm{MFC}(f)_{cj} = \sum_m D_{cm} \, 10 \log_{10} \max\Big(\varepsilon,
        \sum_b M_{mb} \, \big|\mathrm{FFT}(h \cdot f_{j})_b\big|^{p}\Big)

    The sound is cut into overlapping frames :math:`f_j`, one every ``hop`` samples; h is a Hann window,
    M holds triangular filters, evenly spaced on the mel scale of human hearing, and D is the orthonormal
    discrete cosine transform (type II), of which the first ``n_coefficients`` rows are kept. Levels are
    in decibels.

    Call it with a tensor for the MFC alone, which is differentiable; use `transform` for series. Nothing
    is learnt. The defaults are those of the paper: one second at 16 kHz becomes 81 frames of 40
    coefficients.

    Parameters
    ----------
    sample_rate : number
        Samples in a second.
    window, hop : int
        Length of the Hann window, and how far it moves, in samples.
    n_bins : int
        Size of the Fourier transform, and of a frame; the window is in the middle of it. At least
        ``window``.
    n_mels, n_coefficients : int
        Number of mel filters, and of coefficients kept; at most as many of these as filters.
    low, high : number
        Frequencies between which the filters lie, in Hz; ``high=None`` is half the sampling rate.
    mel : "htk" or "slaney"
        Mel scale: a logarithm throughout, or linear below 1 kHz.
    norm : "slaney" or None
        Whether each filter is divided by its width, in Hz, and doubled: all have the same area.
    power : number
        Exponent p of the spectrum: 2 for its energy, 1 for its magnitude.
    centre : bool
        Whether the sound is first mirrored at both ends, by half a frame, so that frame j is centred at
        sample ``j * hop``. Otherwise all frames lie within the sound.
    floor : number
        Least energy :math:`\varepsilon`: what is below counts as this much.
    top_db : number or None
        What is more than this many decibels below the loudest place of its own clip is lifted to there.

    Examples
    --------
    >>> import numpy as np
    >>> from genshapelets import MelFrequencyCepstrum, RaggedSeries
    >>> t = np.arange(16000) / 16000
    >>> hum = RaggedSeries.from_arrays(np.sin(2 * np.pi * 440 * t)[None, None], times=t)
    >>> series = MelFrequencyCepstrum().fit_transform(hum)
    >>> series
    RaggedSeries(1 series, 40 channels, 81 times each, 0.0 % of values missing, float64)
    >>> series.times[:3]
    array([0. , 0.0125, 0.025 ])
    """

    sample_rate: float = 16000.0
    window: int = 400
    hop: int = 200
    n_bins: int = 400
    n_mels: int = 128
    n_coefficients: int = 40
    low: float = 0.0
    high: float | None = None
    mel: Literal["htk", "slaney"] = "htk"
    norm: Literal["slaney"] | None = None
    power: float = 2.0
    centre: bool = True
    floor: float = 1e-10
    top_db: float | None = 80.0

    def config(self) -> dict[str, Any]:
        """Arguments that make it again: numbers and text."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    # The cepstrum

    def __call__(self, waveform: Tensor) -> Tensor:
        """MFC (…, coefficients, frames) of waveforms (…, samples), in their dtype; differentiable."""
        self.check()
        n_samples, pad = waveform.shape[-1], self.padding
        if not waveform.is_floating_point():
            raise TypeError(
                f"the waveform must hold floats; got {waveform.dtype}. Use e.g. waveform / 32768.0."
            )
        if n_samples < self.n_bins:
            raise ValueError(
                f"the waveform has {n_samples} samples, fewer than the {self.n_bins} of a frame. "
                + _TOO_SHORT
            )
        if pad:
            rows = waveform.reshape(-1, n_samples)
            rows = torch.nn.functional.pad(rows, (pad, pad), mode="reflect")
            waveform = rows.reshape(*waveform.shape[:-1], -1)
        level = self.decibels(waveform.unfold(-1, self.n_bins, self.hop))
        if self.top_db is not None:
            loudest = level.amax(dim=(-2, -1), keepdim=True)
            level = torch.maximum(level, loudest - self.top_db)
        return self.coefficients(level).transpose(-2, -1)

    def decibels(self, frames: Tensor) -> Tensor:
        """Levels (…, mels) of frames (…, bins), the floor applied."""
        window, filters, _ = self._tensors(frames)
        spectrum = torch.fft.rfft(frames * window)
        energy = spectrum.real.square() + spectrum.imag.square()
        if self.power != 2.0:
            energy = energy.clamp(min=torch.finfo(energy.dtype).tiny) ** (self.power / 2.0)
        return 10.0 * (energy @ filters).clamp(min=self.floor).log10()

    def coefficients(self, level: Tensor) -> Tensor:
        """Cepstrum (…, coefficients) of levels (…, mels)."""
        return level @ self._tensors(level)[2]

    @property
    def padding(self) -> int:
        """Samples that are added at each end."""
        return self.n_bins // 2 if self.centre else 0

    def n_frames(self, n_samples: Any) -> Any:
        """Number of frames of this many samples, a number or an array of them."""
        return 1 + (n_samples + 2 * self.padding - self.n_bins) // self.hop

    def frame_centres(self, n_frames: int) -> NDArray[np.int64]:
        """Sample at which each frame is centred, (frames,)."""
        return np.arange(n_frames) * self.hop + self.n_bins // 2 - self.padding

    def constants(self) -> Constants:
        """Window, filters and cosines, in float64."""
        self.check()
        return _constants(tuple(self.config().items()), torch.float64, torch.device("cpu"))

    def _tensors(self, like: Tensor) -> Constants:
        return _constants(tuple(self.config().items()), like.dtype, like.device)

    # Series

    def fit(self, X: Any, y: Any = None) -> MelFrequencyCepstrum:  # noqa: ARG002
        """Check the settings and the waveforms; nothing is learnt."""
        self._waveforms(X)
        return self

    def transform(self, X: Any) -> RaggedSeries:
        """Cepstra of waveforms.

        Parameters
        ----------
        X : RaggedSeries of one channel, (series, 1, samples) or (series, samples) array, or a list of
            (samples_i,) or (1, samples_i) arrays
            Regularly sampled. Times are either in seconds, so that their step is one over
            ``sample_rate``, or count samples, as those of arrays do. NaN before and after a series is
            left out.

        Returns
        -------
        RaggedSeries
            One channel for each coefficient, one time for each frame: its centre, in the unit of the
            times of X. Identifiers are kept.
        """
        series, step = self._waveforms(X)
        n_frames = self.n_frames(series.lengths)
        values = np.empty((n_frames.sum(), self.n_coefficients), series.dtype)
        row_offsets = offsets_of(n_frames)
        for first, last in _batches(series.lengths):
            own = self._cepstra(series, first, last, n_frames)
            values[row_offsets[first] : row_offsets[last]] = own
        origin = series.times[series.row_offsets[:-1]]
        centre = np.concatenate([self.frame_centres(n) for n in n_frames])
        return replace(
            series,
            times=np.repeat(origin, n_frames) + centre * np.repeat(step, n_frames),
            values=values,
            row_offsets=row_offsets,
            channel_names=tuple(f"mfc {c}" for c in range(self.n_coefficients)),
        )

    @torch.no_grad()
    def _cepstra(
        self, series: RaggedSeries, first: int, last: int, n_frames: NDArray[np.int64]
    ) -> NDArray[Any]:
        """Cepstra of a few series, (frames, coefficients): frame by frame, of whatever series."""
        offsets, pad = series.row_offsets, self.padding
        padded = [
            np.pad(series.values[offsets[n] : offsets[n + 1], 0], pad, mode="reflect")
            for n in range(first, last)
        ]
        begins = offsets_of(np.array([len(waveform) for waveform in padded]))
        own = n_frames[first:last]
        rows = offsets_of(own)
        position = np.arange(rows[-1]) - np.repeat(rows[:-1], own)
        starts = np.repeat(begins[:-1], own) + position * self.hop
        frames = np.lib.stride_tricks.sliding_window_view(np.concatenate(padded), self.n_bins)
        level = torch.cat(
            [
                self.decibels(torch.from_numpy(frames[starts[at : at + CHUNK]]))
                for at in range(0, len(starts), CHUNK)
            ]
        )
        if self.top_db is not None:
            loudest = np.maximum.reduceat(level.amax(dim=1).numpy(), rows[:-1])
            least = torch.from_numpy(np.repeat(loudest, own) - loudest.dtype.type(self.top_db))
            level = torch.maximum(level, least[:, None])
        return self.coefficients(level).numpy()

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        tags.input_tags.three_d_array = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    # Checks

    def check(self) -> None:
        """Refuse settings that do not go together."""
        for name in ("window", "hop", "n_bins", "n_mels", "n_coefficients"):
            number = getattr(self, name)
            if not isinstance(number, int | np.integer) or number < 1:
                raise ValueError(f"{name} must be a whole number of at least 1; got {number!r}.")
        for name in ("sample_rate", "power", "floor"):
            if not 0 < getattr(self, name) < np.inf:
                raise ValueError(f"{name} must be a positive number; got {getattr(self, name)!r}.")
        if self.n_bins < self.window:
            raise ValueError(
                f"n_bins={self.n_bins} must be at least window={self.window}. Raise it, or shorten the "
                "window."
            )
        if self.n_coefficients > self.n_mels:
            raise ValueError(
                f"n_coefficients={self.n_coefficients} must be at most n_mels={self.n_mels}."
            )
        if not 0 <= self.low < self.highest <= self.sample_rate / 2:
            raise ValueError(
                f"the filters must lie between 0 and half the sampling rate, {self.sample_rate / 2:g} "
                f"Hz; got low={self.low!r}, high={self.high!r}."
            )
        if self.mel not in ("htk", "slaney"):
            raise ValueError(f'mel must be "htk" or "slaney"; got {self.mel!r}.')
        if self.norm not in (None, "slaney"):
            raise ValueError(f'norm must be "slaney" or None; got {self.norm!r}.')
        if self.top_db is not None and not self.top_db >= 0:
            raise ValueError(f"top_db must be at least 0, or None; got {self.top_db!r}.")

    @property
    def highest(self) -> float:
        """Frequency at which the last filter ends, in Hz."""
        return self.sample_rate / 2 if self.high is None else self.high

    def _waveforms(self, X: Any) -> tuple[RaggedSeries, NDArray[np.float64]]:
        """Waveforms as a batch, and the step of each; refuse what has no cepstrum."""
        self.check()
        series = observed(_as_batch(X))
        if series.n_channels != 1:
            raise ValueError(
                f"waveforms must have one channel; got {series.n_channels}. Take one of them, or their "
                "mean: values[:, :1], or values.mean(axis=1, keepdims=True)."
            )

        def named(wrong: NDArray[np.bool_]) -> tuple[int, str]:
            n = int(wrong.argmax())
            return n, name_series(n, series.series_ids)

        if np.isnan(series.values).any():
            rows = np.isnan(series.values[:, 0])
            _, which = named(np.logical_or.reduceat(rows, series.row_offsets[:-1]))
            raise ValueError(
                f"{which} has missing values (NaN) inside; a sound has no gaps. Fill them, or cut the "
                "clip in two."
            )
        short = series.lengths < self.n_bins
        if short.any():
            n, which = named(short)
            raise ValueError(
                f"{which} has {series.lengths[n]} samples, fewer than the {self.n_bins} of a frame. "
                + _TOO_SHORT
            )
        step = series.spans / np.maximum(series.lengths - 1, 1)
        irregular = _off_lattice(series, step) > 0.01 * step
        if irregular.any():
            _, which = named(irregular)
            raise ValueError(
                f"times of {which} are not evenly spaced, but a sound must be regularly sampled. "
                "Resample it, e.g. interpolate(series).evaluate(times)."
            )
        nominal = np.where(step > np.sqrt(1.0 / self.sample_rate), 1.0, 1.0 / self.sample_rate)
        other = (np.abs(step - nominal) > DRIFT * nominal) & (series.lengths > 1)
        if other.any():
            n, which = named(other)
            raise ValueError(
                f"{which} is sampled every {step[n]:g}, but sample_rate={self.sample_rate:g} asks for "
                f"{1 / self.sample_rate:g} s (or 1, where times count samples). Set "
                f"sample_rate={1 / step[n]:g} if its times are seconds, or resample it."
            )
        return series, step


class Constants(NamedTuple):
    """What all frames are multiplied by.

    Attributes
    ----------
    window : (bins,) tensor
    filters : (frequencies, mels) tensor
    cosines : (mels, coefficients) tensor
    """

    window: Tensor
    filters: Tensor
    cosines: Tensor


_TOO_SHORT = "Leave it out, add silence to it, or take a shorter window and n_bins."


@lru_cache(maxsize=32)
def _constants(
    options: tuple[tuple[str, Any], ...], dtype: torch.dtype, device: torch.device
) -> Constants:
    cepstrum = MelFrequencyCepstrum(**dict(options))
    cepstrum.check()
    hann = 0.5 - 0.5 * np.cos(2.0 * np.pi * np.arange(cepstrum.window) / cepstrum.window)
    before = (cepstrum.n_bins - cepstrum.window) // 2
    window = np.zeros(cepstrum.n_bins)
    window[before : before + cepstrum.window] = hann
    m = np.arange(cepstrum.n_mels)[:, None] + 0.5
    cosines = np.cos(np.pi / cepstrum.n_mels * m * np.arange(cepstrum.n_coefficients))
    cosines *= np.sqrt(2.0 / cepstrum.n_mels)
    cosines[:, 0] /= np.sqrt(2.0)
    arrays = window, _mel_filters(cepstrum), cosines
    return Constants(*(torch.from_numpy(array).to(device, dtype) for array in arrays))


def _mel_filters(cepstrum: MelFrequencyCepstrum) -> NDArray[np.float64]:
    """Triangles over frequencies, (frequencies, mels); corners evenly spaced in mel."""
    frequencies = np.arange(cepstrum.n_bins // 2 + 1) * (cepstrum.sample_rate / cepstrum.n_bins)
    ends = _to_mel(np.array([cepstrum.low, cepstrum.highest]), cepstrum.mel)
    corners = _to_hertz(np.linspace(ends[0], ends[1], cepstrum.n_mels + 2), cepstrum.mel)
    left, top, right = corners[:-2], corners[1:-1], corners[2:]
    rising = (frequencies[:, None] - left) / (top - left)
    falling = (right - frequencies[:, None]) / (right - top)
    triangles = np.maximum(0.0, np.minimum(rising, falling))
    return triangles * (2.0 / (right - left)) if cepstrum.norm == "slaney" else triangles


# Slaney's scale: 3 mel for 200 Hz up to 1 kHz, then 27 mel for each factor of 6.4.
_KNEE, _PER_HERTZ, _PER_LOG = 1000.0, 3.0 / 200.0, 27.0 / np.log(6.4)


def _to_mel(hertz: NDArray[np.float64], scale: str) -> NDArray[np.float64]:
    if scale == "htk":
        return 2595.0 * np.log10(1.0 + hertz / 700.0)
    above = np.log(np.maximum(hertz, _KNEE) / _KNEE) * _PER_LOG
    return np.minimum(hertz, _KNEE) * _PER_HERTZ + above


def _to_hertz(mel: NDArray[np.float64], scale: str) -> NDArray[np.float64]:
    if scale == "htk":
        return 700.0 * (10.0 ** (mel / 2595.0) - 1.0)
    knee = _KNEE * _PER_HERTZ
    return np.minimum(mel, knee) / _PER_HERTZ * np.exp(np.maximum(mel - knee, 0.0) / _PER_LOG)


def _as_batch(X: Any) -> RaggedSeries:
    """Whatever a user may call waveforms, as a batch."""
    if isinstance(X, RaggedSeries):
        return X
    if is_labelled(X):
        return RaggedSeries.from_arrays(X)
    if isinstance(X, Tensor):
        X = X.detach().cpu().numpy()
    if isinstance(X, list | tuple) or (isinstance(X, np.ndarray) and X.dtype.kind == "O"):
        arrays = [np.asarray(x) for x in X]
        return RaggedSeries.from_arrays([x[None] if x.ndim == 1 else x for x in arrays])
    if getattr(X, "ndim", 0) == 2:
        X = np.asarray(X)[:, None]
    return RaggedSeries.from_arrays(X)


def _off_lattice(series: RaggedSeries, step: NDArray[np.float64]) -> NDArray[np.float64]:
    """How far the times of each series are from a lattice of its step, beyond their own rounding."""
    off = np.empty(len(series))
    position = np.arange(series.lengths.max())
    for n, (first, last) in enumerate(pairwise(series.row_offsets)):  # one by one, to save memory
        times = series.times[first:last]
        lattice = times[0] + step[n] * position[: last - first]
        rounding = 4 * series.time_precision[n] * max(abs(times[0]), abs(times[-1]))
        off[n] = np.abs(times - lattice).max() - rounding
    return off


def _batches(lengths: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Ranges of series that hold up to `BATCH` samples together, or one longer series."""
    first, held = 0, 0
    for n, length in enumerate(lengths):
        if n > first and held + length > BATCH:
            yield first, n
            first, held = n, 0
        held += length
    yield first, len(lengths)
