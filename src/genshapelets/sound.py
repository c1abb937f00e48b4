"""A shapelet in MFC space as a sound to listen to."""

from __future__ import annotations

import math
import os
import wave
from typing import Any, BinaryIO

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import nnls
from torch import Tensor
from torch.optim.lr_scheduler import LambdaLR

from .cepstrum import MelFrequencyCepstrum

N_GRIFFIN_LIM = 60  # rounds; more change little
LEARNING_RATE = 0.1  # of Adam at its height, times the loudness of what it starts from
LOUDEST = 200.0  # decibels, which no sound within -1 and 1 reaches


def to_sound(
    values: ArrayLike,
    length: float,
    cepstrum: MelFrequencyCepstrum,
    *,
    like: ArrayLike | None = None,
    n_steps: int = 200,
    random_state: int = 0,
) -> NDArray[np.float64]:
    r"""Waveform whose cepstrum is close to a shapelet's.

    .. math:: \min_{-1 \leq x \leq 1} |\mathrm{MFC}(x) - w|^2

    It starts from matched audio, if there is some; otherwise from the spectrum that the mel filters
    allow (non-negative least squares), made a sound by Griffin and Lim's method. Adam goes on from
    there, on the samples of the waveform. Audio from which Adam does not even come as close as Griffin
    and Lim's method alone is given up for that. A cepstrum does not tell all of a sound: what is heard
    is one of many that have it.

    Parameters
    ----------
    values : (coefficients, knots) array
        Values of the shapelet at evenly spaced knots, such as ``model.shapelets_[k]``.
    length : float
        Length of the shapelet, in seconds; divide by ``sample_rate`` where times count samples.
    cepstrum : MelFrequencyCepstrum
        The step that made the cepstra.
    like : (samples,) array, optional
        Sound to start from, e.g. the window of the training clip that matches best. It is cut, or
        silence added, to the length of the shapelet.
    n_steps : int
        Steps of Adam; with 0, what they would start from.
    random_state : int
        Seed of the phases that Griffin and Lim's method starts from.

    Returns
    -------
    (samples,) array
        ``round(length * sample_rate)`` samples, between -1 and 1.

    Examples
    --------
    >>> import numpy as np, torch
    >>> from genshapelets import MelFrequencyCepstrum, to_sound
    >>> cepstrum = MelFrequencyCepstrum()
    >>> hum = 0.5 * np.sin(2 * np.pi * 440 * np.arange(1600) / 16000)
    >>> sound = to_sound(cepstrum(torch.from_numpy(hum)), 0.1, cepstrum, n_steps=5)
    >>> sound.shape, bool(np.abs(sound).max() <= 1)
    ((1600,), True)
    """
    cepstrum.check()
    knots = _checked_values(values, cepstrum)
    if not 0 < length < np.inf:
        raise ValueError(f"length must be a positive number of seconds; got {length!r}.")
    n_samples = round(float(length) * float(cepstrum.sample_rate))
    if n_samples < cepstrum.n_bins:
        raise ValueError(
            f"a shapelet of {length:g} s has {n_samples} samples, fewer than the {cepstrum.n_bins} of a "
            "frame: there is no sound so short. Its length must be in seconds."
        )
    target = _at_frames(knots, length, n_samples, cepstrum)
    magnitude = _magnitudes(target, cepstrum)
    generator = torch.Generator().manual_seed(random_state)
    made = griffin_lim(magnitude, n_samples, cepstrum, generator).clamp(-1.0, 1.0)
    if like is not None:
        found = _refined(_cut(like, n_samples), target, cepstrum, n_steps)
        if _distance(found, target, cepstrum) <= _distance(made, target, cepstrum):
            return found.numpy()
    return _refined(made, target, cepstrum, n_steps).numpy()


def write_wav(file: str | os.PathLike | BinaryIO, waveform: ArrayLike, sample_rate: float) -> None:
    """Write a waveform (samples,) between -1 and 1 as a WAV file: mono, 16 bits.

    Parameters
    ----------
    file : path or binary file
    waveform : (samples,) array
    sample_rate : number
        Whole samples in a second.
    """
    samples = np.asarray(waveform, dtype=np.float64)
    if samples.ndim != 1 or not len(samples):
        raise ValueError(f"the waveform must be (samples,), not empty; got shape {samples.shape}.")
    if not np.abs(samples).max() <= 1.0:
        raise ValueError(
            "the waveform must lie between -1 and 1; got NaN or more. Divide it by its largest value."
        )
    if sample_rate != int(sample_rate) or sample_rate < 1:
        raise ValueError(f"sample_rate must be a whole number in a WAV file; got {sample_rate!r}.")
    target: Any = file if hasattr(file, "write") else os.fspath(file)  # type: ignore[arg-type]
    with wave.open(target, "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(int(sample_rate))
        out.writeframes(np.round(samples * 32767.0).astype("<i2").tobytes())


def griffin_lim(
    magnitude: Tensor, n_samples: int, cepstrum: MelFrequencyCepstrum, generator: torch.Generator
) -> Tensor:
    """Waveform (samples,) of a spectrum of magnitudes (frames, frequencies).

    Phases start at random. Again and again the waveform closest to the spectrum is taken, and of its
    spectrum the phases (Griffin and Lim, 1984).
    """
    window = cepstrum.constants().window
    turn = 2.0 * torch.pi * torch.rand(magnitude.shape, generator=generator, dtype=torch.float64)
    spectrum = torch.polar(magnitude, turn)
    for _ in range(N_GRIFFIN_LIM):
        waveform = _overlap(torch.fft.irfft(spectrum, cepstrum.n_bins) * window, window, cepstrum)
        frames = waveform.unfold(0, cepstrum.n_bins, cepstrum.hop) * window
        spectrum = torch.polar(magnitude, torch.fft.rfft(frames).angle())
    waveform = _overlap(torch.fft.irfft(spectrum, cepstrum.n_bins) * window, window, cepstrum)
    waveform = waveform[cepstrum.padding :][:n_samples]
    return torch.nn.functional.pad(waveform, (0, n_samples - len(waveform)))


def _overlap(frames: Tensor, window: Tensor, cepstrum: MelFrequencyCepstrum) -> Tensor:
    """Waveform whose windowed frames are closest to those given, in least squares."""
    start = torch.arange(len(frames))[:, None] * cepstrum.hop
    at = (start + torch.arange(cepstrum.n_bins)).flatten()
    total = torch.zeros(2, int(at[-1]) + 1, dtype=frames.dtype)
    total[0].index_add_(0, at, frames.flatten())
    total[1].index_add_(0, at, window.square().repeat(len(frames)))
    return total[0] / total[1].clamp(min=1e-3)  # where the window is almost 0 nothing is known


def _magnitudes(target: Tensor, cepstrum: MelFrequencyCepstrum) -> Tensor:
    """Magnitudes (frames, frequencies) that have about this cepstrum (coefficients, frames)."""
    _, filters, cosines = cepstrum.constants()
    level = (cosines @ target).T.clamp(max=LOUDEST).numpy()  # what was cut off counts as 0
    energy = 10.0 ** (level / 10.0)
    scale = energy.max(axis=1, keepdims=True)
    matrix = filters.T.numpy()
    solved = scale * np.stack([nnls(matrix, frame)[0] for frame in energy / scale])
    return torch.from_numpy(solved ** (1.0 / cepstrum.power))


def _refined(start: Tensor, target: Tensor, cepstrum: MelFrequencyCepstrum, n_steps: int) -> Tensor:
    """The best waveform that Adam comes by."""
    waveform = start.clone().requires_grad_()
    loudness = float(start.square().mean().sqrt())
    adam = torch.optim.Adam([waveform], lr=LEARNING_RATE * max(loudness, 1e-4))
    # Adam's first steps are as large as its rate, whatever the gradient: they would drown what is quiet.
    schedule = LambdaLR(adam, lambda step: math.sin(math.pi * (step + 0.5) / max(n_steps, 1)) ** 2)
    best, least = start, _distance(start, target, cepstrum).item()
    for _ in range(n_steps):
        adam.zero_grad()
        with torch.enable_grad():
            _distance(waveform, target, cepstrum).backward()
        adam.step()
        schedule.step()
        waveform.data.clamp_(-1.0, 1.0)
        distance = _distance(waveform.detach(), target, cepstrum).item()
        if distance < least:
            best, least = waveform.detach().clone(), distance
    return best


def _distance(waveform: Tensor, target: Tensor, cepstrum: MelFrequencyCepstrum) -> Tensor:
    """Mean squared difference from the cepstrum (coefficients, frames) that is wanted."""
    return (cepstrum(waveform) - target).square().mean()


def _at_frames(
    knots: NDArray[np.float64], length: float, n_samples: int, cepstrum: MelFrequencyCepstrum
) -> Tensor:
    """Values (coefficients, frames) of the shapelet where frames are centred."""
    times = np.linspace(0.0, length, knots.shape[1])
    centres = cepstrum.frame_centres(cepstrum.n_frames(n_samples)) / cepstrum.sample_rate
    return torch.from_numpy(np.stack([np.interp(centres, times, channel) for channel in knots]))


def _checked_values(values: ArrayLike, cepstrum: MelFrequencyCepstrum) -> NDArray[np.float64]:
    knots = np.asarray(values, dtype=np.float64)
    if knots.ndim != 2 or knots.shape[0] != cepstrum.n_coefficients or not knots.shape[1]:
        raise ValueError(
            f"values must be ({cepstrum.n_coefficients}, knots), one row for each coefficient of the "
            f"cepstrum; got shape {knots.shape}."
        )
    if not np.isfinite(knots).all():
        raise ValueError("values must be finite; got NaN or infinity.")
    return knots


def _cut(like: ArrayLike, n_samples: int) -> Tensor:
    sound = np.asarray(like, dtype=np.float64)
    if sound.ndim != 1 or not np.isfinite(sound).all() or not sound.any():
        raise ValueError(
            "like must be a waveform (samples,), finite and not silent; got shape "
            f"{sound.shape}. Leave it out to start from the shapelet alone."
        )
    sound = sound[:n_samples]
    return torch.from_numpy(np.pad(sound, (0, n_samples - len(sound)))).clamp(-1.0, 1.0)
