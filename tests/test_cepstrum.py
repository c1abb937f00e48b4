"""The mel-frequency cepstrum: against librosa and scipy, as a tensor function and as a step."""

import warnings

import numpy as np
import pytest
import scipy.fft
import scipy.signal
import torch
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from torch.autograd import gradcheck

from genshapelets import (
    MelFrequencyCepstrum,
    RaggedSeries,
    ShapeletClassifier,
    cepstrum,
    interpolate,
)

librosa = pytest.importorskip("librosa")

SMALL = {
    "sample_rate": 100.0, "window": 8, "hop": 4, "n_bins": 8, "n_mels": 4, "n_coefficients": 3,
}  # fmt: skip

# Settings beside the defaults: a window inside a longer frame, an odd hop, other scales and bands.
OTHERS = [
    {},
    {"window": 320, "hop": 160, "n_bins": 512, "n_mels": 40, "n_coefficients": 13},
    {"window": 301, "hop": 77, "n_bins": 301, "n_mels": 20, "n_coefficients": 20},
    {"mel": "slaney", "norm": "slaney", "low": 50.0, "high": 7000.0},
    {"power": 1.0, "top_db": None, "norm": "slaney"},
    {"top_db": 20.0, "floor": 1e-4, "sample_rate": 8000.0},
]
every_setting = pytest.mark.parametrize("settings", OTHERS, ids=str)


def speech(n_samples=16000, seed=0, dtype=np.float64):
    """Noise that swells and fades, with a hum and silence behind."""
    rng = np.random.default_rng(seed)
    t = np.arange(n_samples) / 16000
    x = 0.1 * rng.normal(size=n_samples) * np.exp(-20 * (t - 0.4) ** 2)
    x += 0.3 * np.sin(2 * np.pi * 220 * t) * (t < 0.6)
    return x.astype(dtype)


def by_librosa(waveform, centred, mfc):
    """The same cepstrum by librosa, (coefficients, frames)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of empty filters
        mels = librosa.feature.melspectrogram(
            y=waveform, sr=mfc.sample_rate, n_fft=mfc.n_bins, hop_length=mfc.hop,
            win_length=mfc.window, window="hann", center=centred, pad_mode="reflect",
            power=mfc.power, n_mels=mfc.n_mels, fmin=mfc.low, fmax=mfc.high, htk=mfc.mel == "htk",
            norm=mfc.norm, dtype=waveform.dtype,
        )  # fmt: skip
    level = librosa.power_to_db(mels, ref=1.0, amin=mfc.floor, top_db=mfc.top_db)
    return librosa.feature.mfcc(S=level, n_mfcc=mfc.n_coefficients, dct_type=2, norm="ortho")


# Against librosa and scipy


@every_setting
def test_it_is_that_of_librosa(settings):
    mfc = MelFrequencyCepstrum(**settings, centre=False)
    padded = np.pad(speech(), mfc.n_bins // 2, mode="reflect")
    want = by_librosa(padded, False, mfc)
    np.testing.assert_allclose(mfc(torch.from_numpy(padded)), want, atol=1e-9)
    # Mirrored by ourselves, it is the same.
    mfc.centre = True
    np.testing.assert_allclose(mfc(torch.from_numpy(speech())), want, atol=1e-9)


def test_librosa_mirrors_the_same_but_for_the_last_sample():
    """Librosa mirrors only what is left at the end, and so gets one sample of the last frame wrong."""
    mfc = MelFrequencyCepstrum(top_db=None)
    got, want = mfc(torch.from_numpy(speech())).numpy(), by_librosa(speech(), True, mfc)
    np.testing.assert_allclose(got[:, :-1], want[:, :-1], atol=1e-9)
    np.testing.assert_allclose(got[:, -1], want[:, -1], atol=0.05)


def test_in_single_precision_it_is_that_of_librosa():
    mfc = MelFrequencyCepstrum()
    x = speech(dtype=np.float32)
    got, want = mfc(torch.from_numpy(x)), by_librosa(x, True, mfc)
    assert got.dtype == torch.float32 and np.abs(want).max() > 200
    np.testing.assert_allclose(got[:, :-1], want[:, :-1], atol=1e-3)


@every_setting
def test_window_filters_and_cosines(settings):
    mfc = MelFrequencyCepstrum(**settings)
    window, filters, cosines = mfc.constants()
    hann = librosa.util.pad_center(scipy.signal.get_window("hann", mfc.window), size=mfc.n_bins)
    np.testing.assert_allclose(window, hann, atol=1e-15)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        want = librosa.filters.mel(
            sr=mfc.sample_rate, n_fft=mfc.n_bins, n_mels=mfc.n_mels, fmin=mfc.low, fmax=mfc.high,
            htk=mfc.mel == "htk", norm=mfc.norm, dtype=np.float64,
        )  # fmt: skip
    np.testing.assert_allclose(filters.T, want, rtol=1e-9, atol=1e-12)
    want = scipy.fft.dct(np.eye(mfc.n_mels), type=2, norm="ortho")[:, : mfc.n_coefficients]
    np.testing.assert_allclose(cosines, want, atol=1e-14)


def test_one_second_has_the_shape_of_the_paper():
    assert MelFrequencyCepstrum()(torch.zeros(2, 3, 16000)).shape == (2, 3, 40, 81)


def test_silence_is_at_the_floor():
    found = MelFrequencyCepstrum()(torch.zeros(1000, dtype=torch.float64))
    assert torch.allclose(found[0], torch.tensor(-100 * 128**0.5, dtype=torch.float64))
    assert found[1:].abs().max() < 1e-9


def test_clips_of_one_call_do_not_depend_on_one_another():
    """Also where quiet places are lifted to a level below the loudest: of the own clip."""
    x = torch.from_numpy(np.stack([speech(seed=0), 1e-3 * speech(seed=1)]))
    mfc = MelFrequencyCepstrum()
    torch.testing.assert_close(mfc(x), torch.stack([mfc(clip) for clip in x]))


@given(loudness=st.floats(0.2, 5.0), seed=st.integers(0, 99))
def test_loudness_moves_the_first_coefficient_alone(loudness, seed):
    mfc = MelFrequencyCepstrum(**SMALL | {"low": 5.0}, top_db=None)
    x = torch.from_numpy(np.random.default_rng(seed).normal(size=40))
    gain = mfc(loudness * x) - mfc(x)
    heard = (mfc.constants().filters > 0).any(dim=0)
    assert heard.all()
    want = 20 * np.log10(loudness) * np.sqrt(mfc.n_mels)
    np.testing.assert_allclose(gain[0], want, atol=1e-8)
    np.testing.assert_allclose(gain[1:], 0.0, atol=1e-8)


@given(shift=st.integers(0, 5), seed=st.integers(0, 99))
def test_a_window_on_the_hops_has_frames_of_the_whole(shift, seed):
    mfc = MelFrequencyCepstrum(**SMALL, centre=False, top_db=None)
    x = torch.from_numpy(np.random.default_rng(seed).normal(size=60))
    part = mfc(x[shift * mfc.hop :][:24])
    torch.testing.assert_close(part, mfc(x)[:, shift:][:, : part.shape[1]])


@pytest.mark.parametrize("changes", [{}, {"centre": False}, {"power": 1.0}, {"top_db": 6.0}])
def test_gradients(changes):
    mfc = MelFrequencyCepstrum(**SMALL | changes)
    x = torch.from_numpy(np.random.default_rng(0).normal(size=(2, 21)))
    assert gradcheck(mfc, [x.requires_grad_()])


def test_silence_has_a_finite_gradient():
    for power in (1.0, 2.0):
        x = torch.zeros(1000, requires_grad=True)
        MelFrequencyCepstrum(power=power)(x).sum().backward()
        assert (x.grad == 0).all()


# As a step from waveforms to series


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_series_have_the_cepstra_of_the_function(dtype, monkeypatch):
    """Of whatever lengths, and however they are put together."""
    mfc = MelFrequencyCepstrum()
    clips = [speech(n, seed=n, dtype=dtype) for n in (16000, 400, 7777, 16000, 12345)]
    for batch in (cepstrum.BATCH, 10_000):
        monkeypatch.setattr(cepstrum, "BATCH", batch)
        series = mfc.fit_transform(clips)
        assert series.dtype == dtype and series.n_channels == 40
        for one, clip in zip(series, clips, strict=True):
            want = mfc(torch.from_numpy(clip)).numpy()
            np.testing.assert_allclose(one.values, want, atol=1e-3 if dtype == np.float32 else 1e-9)


def test_frames_are_transformed_a_few_at_a_time(monkeypatch):
    sizes = []
    whole = MelFrequencyCepstrum.decibels

    def watched(self, frames):
        sizes.append(len(frames))
        return whole(self, frames)

    monkeypatch.setattr(MelFrequencyCepstrum, "decibels", watched)
    MelFrequencyCepstrum().transform(np.tile(speech(), (3, 20)))
    assert sum(sizes) == 3 * 1601 and max(sizes) <= cepstrum.CHUNK


def test_times_are_the_centres_of_frames():
    x = speech(2000)[None, None]
    mfc = MelFrequencyCepstrum()
    in_samples = mfc.transform(x)
    np.testing.assert_array_equal(in_samples.times, 200.0 * np.arange(11))
    in_seconds = mfc.transform(RaggedSeries.from_arrays(x, 3.0 + np.arange(2000) / 16000))
    np.testing.assert_allclose(in_seconds.times, 3.0 + 0.0125 * np.arange(11), rtol=1e-15)
    within = MelFrequencyCepstrum(centre=False).transform(x)
    np.testing.assert_array_equal(within.times, 200.0 + 200.0 * np.arange(9))
    instants = np.datetime64("2020-01-01T00:00:00", "ns") + np.arange(2000) * np.timedelta64(
        62500, "ns"
    )
    dated = mfc.transform(RaggedSeries.from_arrays(x, instants))
    assert dated.to_user_time(dated.times)[1] == instants[0] + np.timedelta64(12_500, "us")
    single = np.float32(5.0) + np.arange(2000, dtype=np.float32) / np.float32(16000)
    rounded = mfc.transform(RaggedSeries.from_arrays(x, single))
    np.testing.assert_allclose(rounded.times, 5.0 + 0.0125 * np.arange(11), rtol=1e-6)


def test_the_series_that_come_out_are_regular():
    t = 7.0 + np.arange(16000) / 16000
    series = RaggedSeries.from_arrays(np.stack([speech(), speech(seed=1)])[:, None], t)
    paths = interpolate(MelFrequencyCepstrum().transform(series))
    np.testing.assert_allclose(paths.step, 0.0125, rtol=1e-9)


def test_names_and_identifiers():
    table = {
        "who": np.repeat(["b", "a"], 500),
        "when": np.tile(np.arange(500.0), 2),
        "sound": np.concatenate([speech(500), speech(500, seed=1)]),
    }
    series = RaggedSeries.from_long(table, series="who", time="when", channels=["sound"])
    found = MelFrequencyCepstrum(n_coefficients=2).transform(series)
    assert found.channel_names == ("mfc 0", "mfc 1")
    assert found.series_ids.tolist() == ["b", "a"]


def test_whatever_holds_waveforms():
    x = np.stack([speech(800), speech(800, seed=1)])
    mfc = MelFrequencyCepstrum()
    want = mfc.transform(x[:, None]).values
    padded = np.pad(x, ((0, 0), (0, 30)), constant_values=np.nan)
    ragged = np.empty(2, object)
    ragged[:] = list(x)
    for waveforms in (x, list(x), list(x[:, None]), torch.from_numpy(x), ragged, padded):
        np.testing.assert_array_equal(mfc.transform(waveforms).values, want)


def test_it_is_a_step_of_scikit_learn():
    mfc = MelFrequencyCepstrum(hop=100, norm="slaney")
    twin = clone(mfc)
    assert twin.config() == mfc.config() == MelFrequencyCepstrum(**mfc.config()).config()
    assert twin.get_params()["hop"] == 100 and "hop=100" in repr(mfc)
    assert twin.set_params(hop=50).hop == 50
    np.testing.assert_array_equal(twin.transform(speech()[None]).lengths, [321])


def test_a_pipeline_learns_from_sound():
    """Rising and falling tones; to tell them apart takes cepstra, and their order in time."""
    rng = np.random.default_rng(0)
    t = np.arange(1000) / 2000
    y = np.arange(24) % 2
    pitch = np.where(y[:, None], 200 + 600 * t, 500 - 600 * t)
    X = np.sin(2 * np.pi * np.cumsum(pitch, axis=1) / 2000 + rng.uniform(0, 6, (24, 1)))
    X += 0.05 * rng.normal(size=X.shape)
    model = make_pipeline(
        MelFrequencyCepstrum(
            sample_rate=2000, window=100, hop=50, n_bins=100, n_mels=20, n_coefficients=8
        ),
        ShapeletClassifier(n_shapelets=6, max_epochs=40, random_state=0),
    )
    model.fit(X[:16], y[:16])
    assert model.score(X[16:], y[16:]) == 1.0
    assert model[-1].channel_names_ == tuple(f"mfc {c}" for c in range(8))


# What it refuses


def series_at(*times):
    return RaggedSeries.from_arrays([speech(len(t))[None] for t in times], times)


SECONDS = np.arange(800) / 16000
BAD_DATA = [
    ([speech(500), speech(399)], "series 1 has 399 samples, fewer than the 400 .* Leave it out"),
    (np.ones((2, 2, 500)), "one channel; got 2. Take one"),
    (np.where(np.arange(500) == 9, np.nan, 1.0)[None], r"series 0 has missing .* Fill them"),
    (series_at(SECONDS, np.arange(800) / 8000), "series 1 is sampled every 0.000125, .*=8000 if"),
    (series_at(SECONDS * 1000), "series 0 is sampled every 0.0625, .* resample"),
    (series_at(SECONDS, np.sort(np.random.default_rng(0).random(800))), "series 1 are not evenly"),
    (series_at(np.append(SECONDS, 0.051)), "series 0 are not evenly spaced, .* Resample"),
]  # fmt: skip


@pytest.mark.parametrize(("waveforms", "message"), BAD_DATA)
def test_bad_waveforms(waveforms, message):
    for call in (MelFrequencyCepstrum().fit, MelFrequencyCepstrum().transform):
        with pytest.raises(ValueError, match=message):
            call(waveforms)


def test_what_the_function_refuses():
    with pytest.raises(ValueError, match="399 samples, fewer than the 400"):
        MelFrequencyCepstrum()(torch.zeros(399))
    with pytest.raises(TypeError, match=r"floats; got torch.int16. Use"):
        MelFrequencyCepstrum()(torch.zeros(400, dtype=torch.int16))


def test_a_step_that_differs_by_a_little_is_the_series_own():
    """A common slip, and clocks of sound cards."""
    series = RaggedSeries.from_arrays(speech()[None, None], np.linspace(0.0, 1.0, 16000))
    found = MelFrequencyCepstrum().transform(series)
    assert found.times[1] == pytest.approx(200 / 15999)


BAD_SETTINGS = [
    ({"window": 401}, "n_bins=400 must be at least window=401"),
    ({"n_coefficients": 129}, "at most n_mels=128"),
    ({"hop": 0}, "hop must be a whole number"),
    ({"window": 12.5}, "window must be a whole number"),
    ({"sample_rate": 0.0}, "sample_rate must be a positive"),
    ({"floor": np.nan}, "floor must be a positive"),
    ({"high": 9000.0}, "half the sampling rate, 8000 Hz"),
    ({"low": 500.0, "high": 400.0}, "got low=500.0"),
    ({"mel": "bark"}, "mel must be"),
    ({"norm": "area"}, "norm must be"),
    ({"top_db": -1.0}, "top_db must be at least 0"),
]


@pytest.mark.parametrize(("settings", "message"), BAD_SETTINGS)
def test_bad_settings(settings, message):
    mfc = MelFrequencyCepstrum(**settings)
    with pytest.raises(ValueError, match=message):
        mfc.fit(speech()[None])
    with pytest.raises(ValueError, match=message):
        mfc(torch.from_numpy(speech()))
