"""Shapelets in MFC space as sounds."""

import io
import wave
from functools import cache

import numpy as np
import pytest
import torch
from scipy.signal import lfilter

from genshapelets import (
    MelFrequencyCepstrum,
    RaggedSeries,
    ShapeletTransformer,
    to_sound,
    write_wav,
)
from genshapelets.explain import hear_shapelet
from genshapelets.sound import _magnitudes, griffin_lim

RATE, LENGTH = 16000, 0.3
FORMANTS = {"a": (730, 1090, 2440), "i": (270, 2290, 3010), "u": (300, 870, 2240)}
MFC = MelFrequencyCepstrum()


def vowel(name, pitch=120.0, length=LENGTH):
    """Pulses of a voice through the resonances of a mouth, with a little breath."""
    t = np.arange(round(length * RATE)) / RATE
    phase = np.cumsum(pitch * (1 + 0.1 * t)) / RATE
    sound = np.diff(np.floor(phase), prepend=0.0)
    sound += 0.01 * np.random.default_rng(0).normal(size=len(t))
    for formant in FORMANTS[name]:
        angle, radius = 2 * np.pi * formant / RATE, np.exp(-np.pi * 80 / RATE)
        sound = lfilter([1 - radius], [1, -2 * radius * np.cos(angle), radius**2], sound)
    return 0.5 * sound / np.abs(sound).max() * np.sin(np.pi * t / length) ** 0.5


def shapelet_of(sound, mfc=MFC, n_knots=24):
    """A shapelet through the cepstrum of a sound, (coefficients, knots)."""
    values = mfc(torch.from_numpy(sound)).numpy()
    at = mfc.frame_centres(values.shape[1]) / RATE
    knots = np.linspace(0.0, len(sound) / RATE, n_knots)
    return np.stack([np.interp(knots, at, channel) for channel in values])


def distance(sound, shapelet, mfc=MFC):
    """Relative distance of a sound's cepstrum from a shapelet, where the frames are."""
    found = mfc(torch.from_numpy(sound)).numpy()
    knots = np.linspace(0.0, LENGTH, shapelet.shape[1])
    at = mfc.frame_centres(found.shape[1]) / RATE
    want = np.stack([np.interp(at, knots, channel) for channel in shapelet])
    return np.linalg.norm(found - want) / np.linalg.norm(want)


@cache
def sound_of(name, **settings):
    return to_sound(shapelet_of(vowel(name)), LENGTH, MFC, **settings)


@pytest.mark.parametrize("name", ["a", "i"])
def test_it_is_closer_than_griffin_lim_alone(name):
    shapelet = shapelet_of(vowel(name))
    alone, refined = sound_of(name, n_steps=0), sound_of(name)
    assert distance(alone, shapelet) < 0.25
    assert distance(refined, shapelet) < 0.8 * distance(alone, shapelet)


def test_matched_audio_is_a_better_start():
    shapelet = shapelet_of(vowel("a"))
    like = vowel("a", pitch=150.0)
    found = to_sound(shapelet, LENGTH, MFC, like=like)
    assert distance(found, shapelet) < 0.7 * distance(like, shapelet)
    assert distance(found, shapelet) < distance(sound_of("a", n_steps=0), shapelet)
    # It still is that audio: closer to it than to what is made without it.
    made = sound_of("a")
    assert np.corrcoef(found, like)[0, 1] > 0.5 > abs(np.corrcoef(made, like)[0, 1])


def test_audio_that_leads_nowhere_is_given_up():
    shapelet = shapelet_of(vowel("i"))
    like = 1e-4 * np.random.default_rng(0).normal(size=4800)
    alone = distance(sound_of("i", n_steps=0), shapelet)
    assert distance(to_sound(shapelet, LENGTH, MFC, like=like, n_steps=50), shapelet) < alone


def test_audio_is_cut_or_prolonged():
    shapelet = shapelet_of(vowel("a"))
    for n_samples in (3000, 6000):
        like = vowel("a", length=n_samples / RATE)
        assert to_sound(shapelet, LENGTH, MFC, like=like, n_steps=1).shape == (4800,)


@pytest.mark.parametrize("length", [0.025, 0.1, 0.29997])
def test_it_lasts_as_long_as_the_shapelet(length):
    sound = to_sound(shapelet_of(vowel("u")), length, MFC, n_steps=2)
    assert len(sound) == round(length * RATE)


def test_it_is_bounded_and_repeatable():
    shapelet = shapelet_of(vowel("a"))
    shapelet[0] += 500.0  # far louder than any sound
    sound = to_sound(shapelet, LENGTH, MFC, n_steps=5, random_state=3)
    assert np.abs(sound).max() <= 1.0
    np.testing.assert_array_equal(sound, to_sound(shapelet, LENGTH, MFC, n_steps=5, random_state=3))
    assert not np.array_equal(sound, to_sound(shapelet, LENGTH, MFC, n_steps=5, random_state=4))


@torch.no_grad()
def test_other_settings():
    mfc = MelFrequencyCepstrum(
        centre=False, top_db=None, window=320, hop=160, n_bins=512, n_mels=60, n_coefficients=20,
        power=1.0, norm="slaney", mel="slaney",
    )  # fmt: skip
    shapelet = shapelet_of(vowel("a"), mfc)
    alone = distance(to_sound(shapelet, LENGTH, mfc, n_steps=0), shapelet, mfc)
    assert distance(to_sound(shapelet, LENGTH, mfc), shapelet, mfc) < 0.7 * alone < 0.2


def test_silence_sounds_like_silence():
    shapelet = MFC(torch.zeros(4800, dtype=torch.float64)).numpy()
    assert np.abs(to_sound(shapelet, LENGTH, MFC, n_steps=10)).max() < 1e-4


def test_the_spectrum_has_the_mel_energies():
    """With all coefficients nothing is lost, and least squares leave nothing over."""
    mfc = MelFrequencyCepstrum(n_coefficients=40, n_mels=40, top_db=None)
    frames = torch.from_numpy(vowel("a")).unfold(0, 400, 200)
    level = mfc.decibels(frames)
    magnitude = _magnitudes(mfc.coefficients(level).T, mfc)
    energy = magnitude.square() @ mfc.constants().filters
    torch.testing.assert_close(energy, 10 ** (level / 10), rtol=1e-6, atol=1e-9)


def test_griffin_lim_finds_a_sound_of_that_spectrum():
    frames = torch.nn.functional.pad(torch.from_numpy(vowel("a"))[None], (200, 200), mode="reflect")
    window = MFC.constants().window

    def magnitudes(padded):
        return torch.fft.rfft(padded[0].unfold(0, 400, 200) * window).abs()

    want = magnitudes(frames)
    sound = griffin_lim(want, 4800, MFC, torch.Generator().manual_seed(0))
    got = magnitudes(torch.nn.functional.pad(sound[None], (200, 200), mode="reflect"))
    assert (got - want).norm() < 0.3 * want.norm()


BAD = [
    ({"values": np.zeros((39, 5))}, r"\(40, knots\), .*got shape \(39, 5\)"),
    ({"values": np.full((40, 5), np.nan)}, "values must be finite"),
    ({"length": 0.02}, "320 samples, fewer than the 400 of a frame"),
    ({"length": np.nan}, "positive number of seconds"),
    ({"like": np.zeros(4800)}, "not silent"),
    ({"like": np.ones((2, 4800))}, r"got shape \(2, 4800\)"),
]


@pytest.mark.parametrize(("change", "message"), BAD)
def test_what_has_no_sound(change, message):
    arguments = {"values": np.zeros((40, 5)), "length": 0.3, "cepstrum": MFC} | change
    with pytest.raises(ValueError, match=message):
        to_sound(**arguments)


# WAV files


def test_a_wav_file_is_read_back(tmp_path):
    sound = vowel("a")
    write_wav(tmp_path / "a.wav", sound, RATE)
    with wave.open(str(tmp_path / "a.wav")) as file:
        assert file.getparams()[:4] == (1, 2, RATE, 4800)
    soundfile = pytest.importorskip("soundfile")
    found, rate = soundfile.read(tmp_path / "a.wav")
    assert rate == RATE
    np.testing.assert_allclose(found, sound, atol=1 / 16384)
    memory = io.BytesIO()
    write_wav(memory, sound, float(RATE))
    assert memory.getvalue() == (tmp_path / "a.wav").read_bytes()


@pytest.mark.parametrize(
    ("sound", "rate", "message"),
    [
        ([0.0, 1.5], RATE, "between -1 and 1"),
        ([0.0, np.nan], RATE, "between -1 and 1"),
        ([], RATE, "not empty"),
        ([[0.0]], RATE, r"got shape \(1, 1\)"),
        ([0.0], 0.5, "whole number"),
    ],
)
def test_bad_waveforms_are_not_written(tmp_path, sound, rate, message):
    with pytest.raises(ValueError, match=message):
        write_wav(tmp_path / "x.wav", sound, rate)
    assert not (tmp_path / "x.wav").exists()


@pytest.mark.parametrize("unit", ["seconds", "samples", "datetimes"])
def test_a_shapelet_of_a_model_lasts_as_long_whatever_the_unit_of_time(unit):
    seconds = np.arange(1600) / 16000
    times = {
        "seconds": seconds,
        "samples": np.arange(1600),
        "datetimes": np.datetime64(0, "ns") + (1e9 * seconds).astype("m8[ns]"),
    }[unit]
    sounds = np.stack([vowel(name, length=0.1) for name in ("a", "i", "a", "i")])
    clips = RaggedSeries.from_arrays(sounds[:, None], times)
    settings = {"preprocessing": "mfc", "n_shapelets": 1, "initial_length": 0.5, "random_state": 0}
    model = ShapeletTransformer(**settings).fit(clips)
    for X in (None, clips):
        assert abs(len(hear_shapelet(model, 0, X)) - 800) <= 1
