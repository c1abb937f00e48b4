"""The MFC discrepancy on waveforms: its formula, and the search by frames of whole paths."""

import warnings

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.autograd import gradcheck

from genshapelets import (
    GeneralisedShapeletTransform,
    MelFrequencyCepstrum,
    MFCDiscrepancy,
    RaggedSeries,
    ShapeletClassifier,
    interpolate,
)
from genshapelets.search import best_offsets, prepare_paths
from genshapelets.search.generic import best_minima
from genshapelets.windows import PaddedPaths, lay

# Frames of 8 samples, one every 4, at 100 samples a second.
SMALL = {"window": 8, "hop": 4, "n_bins": 8, "n_mels": 4, "n_coefficients": 3}
STEP = 0.01


def small(metric="diagonal", **changes):
    """A small discrepancy with a random metric."""
    discrepancy = MFCDiscrepancy(100.0, metric, **SMALL | changes).double()
    if discrepancy.weight is not None:
        generator = torch.Generator().manual_seed(0)
        noise = torch.randn(discrepancy.weight.shape, generator=generator, dtype=torch.float64)
        discrepancy.weight.data += 0.3 * noise
    return discrepancy


def noise(*shape, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=shape))


def on_samples(n_samples):
    """Times (1, samples) of one window."""
    return STEP * torch.arange(n_samples, dtype=torch.float64)[None]


# The formula


def test_it_is_the_distance_of_librosas_cepstra():
    librosa = pytest.importorskip("librosa")
    discrepancy = MFCDiscrepancy(metric="none")
    f, w = 0.1 * noise(2, 2000)

    def cepstrum(waveform):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of empty filters
            mels = librosa.feature.melspectrogram(
                y=waveform.numpy(), sr=16000, n_fft=400, hop_length=200, center=False, n_mels=128,
                htk=True, norm=None, dtype=np.float64,
            )  # fmt: skip
        return librosa.feature.mfcc(S=librosa.power_to_db(mels, top_db=None), n_mfcc=40)

    squares = ((cepstrum(f) - cepstrum(w)) ** 2).sum(axis=0)
    assert len(squares) == 9  # the ninth begins at 1600 and ends with the last of 2000 samples
    # It is 1999 steps long: 1600 / 200 = 8 frames behind the first would just fit.
    length = 1999 / 16000
    counts = np.minimum(1.0, np.maximum(0.0, (1999 - 399) / 200 - np.arange(9)))
    want = np.sqrt(length * (counts * squares).sum() / counts.sum())
    times = torch.arange(2000, dtype=torch.float64)[None] / 16000
    found = discrepancy(times, f[None, :, None], w[None, :, None])
    assert found.item() == pytest.approx(want, rel=1e-9)


@pytest.mark.parametrize("metric", ["none", "diagonal", "full"])
def test_it_is_the_root_of_a_mean_over_frames(metric):
    discrepancy = small(metric)
    length = 0.165  # (16.5 - 7) / 4 = 2.375: the first two frames fully, the third by 0.375
    times = torch.linspace(0, length, 34, dtype=torch.float64)[None]
    f, w = noise(2, 1, 34, 1)
    mfc = discrepancy.cepstrum
    found = [
        mfc(torch.from_numpy(np.interp(STEP * np.arange(16), times[0], x[0, :, 0])))[:, :3]
        for x in (f, w)
    ]
    squares = (discrepancy.matrix()[0].double() @ (found[0] - found[1])).square().sum(dim=0)
    counts = torch.tensor([1.0, 1.0, 0.375], dtype=torch.float64)
    # The third frame needs samples up to 15, which lie within [0, 0.165].
    want = (length * (counts * squares).sum() / counts.sum()).sqrt()
    torch.testing.assert_close(discrepancy(times, f, w)[0], want)


def test_a_constant_difference_grows_like_the_root_of_the_length():
    discrepancy = small("none")
    for n_samples in (3, 8, 9, 30):
        times = on_samples(n_samples)
        # One is ten times the other: 20 dB in every filter, 40 in the first of the orthonormal rows.
        x = noise(1, n_samples, 1) + 5.0
        heard = (discrepancy.cepstrum.constants().filters > 0).any(dim=0).double()
        jump = float(discrepancy.cepstrum.coefficients(20.0 * heard).norm())
        want = jump * float(times[0, -1]) ** 0.5
        assert discrepancy(times, 10 * x, x).item() == pytest.approx(want, rel=1e-9)


def test_it_does_not_jump_where_a_frame_is_gained():
    """Nor where the first frame begins to fit: frames of 8 samples span 7 steps."""
    discrepancy = small()
    samples = on_samples(40)[0].numpy()
    f, w = noise(2, 40).numpy()
    for n_steps in (7, 11, 15, 19):
        found = []
        for nudge in (-1e-9, 0.0, 1e-9):
            length = STEP * (n_steps + nudge)
            times = np.append(samples[samples < length], length)
            window = [torch.from_numpy(np.interp(times, samples, x))[None, :, None] for x in (f, w)]
            found.append(discrepancy(torch.from_numpy(times)[None], *window).item())
        assert max(found) - min(found) < 1e-5 * max(found)


@given(seeds=st.tuples(*[st.integers(0, 10**6)] * 3), n_samples=st.integers(3, 30))
def test_it_is_a_pseudometric(seeds, n_samples):
    discrepancy, times = small("full"), on_samples(n_samples)
    f, g, h = (noise(1, n_samples, 1, seed=seed) for seed in seeds)
    assert discrepancy(times, f, f).item() == 0.0
    torch.testing.assert_close(discrepancy(times, f, g), discrepancy(times, g, f))
    around = discrepancy(times, f, h) + discrepancy(times, h, g)
    assert (discrepancy(times, f, g) <= around * (1 + 1e-12)).all()


@pytest.mark.parametrize("metric", ["none", "diagonal", "full"])
def test_gradients(metric):
    """In times (with them the length), values and metric; of shapelets short and long."""
    discrepancy = small(metric, n_shapelets=3)
    knots = torch.linspace(0, 1, 12, dtype=torch.float64)
    lengths = torch.tensor([0.043, 0.087, 0.171], dtype=torch.float64)

    def found(lengths, f, w, *parameters):  # which are the discrepancy's own
        return discrepancy((knots * lengths[:, None]).expand(2, -1, -1), f, w)

    inputs = [x.requires_grad_() for x in (lengths, *noise(2, 2, 3, 12, 1))]
    assert gradcheck(found, [*inputs, *discrepancy.parameters()], atol=1e-5)


# The search


def waveforms(n_series=4, n_channels=1, seed=0):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(40, 70, n_series)
    return RaggedSeries.from_arrays(
        [rng.normal(size=(n_channels, size)) for size in sizes],
        [rng.normal() + STEP * np.arange(size) for size in sizes],
    )


def by_formula(discrepancy, paths, values, lengths, stride, n_best):
    """The formula at every stride and the last possible start: offsets (series, shapelets, n_best)."""
    start = np.empty((len(paths), len(values), n_best))
    for n in range(len(paths)):
        padded = PaddedPaths.of(paths[[n]], values.device)
        for k, length in enumerate(lengths):
            room = max(0.0, float(paths.spans[n] - length))
            tried = paths.step[n] * np.arange(0, paths.lengths[n], stride)
            tried = torch.from_numpy(np.append(tried[tried < room], room))
            cost = discrepancy(
                *lay(padded, tried[None, :, None].expand(-1, -1, len(values)), values, lengths)
            )[0, :, k]
            best, _ = best_minima(cost[:, None], n_best)
            start[n, k] = tried[best[:, 0]]
    return start


@pytest.mark.parametrize("search", ["auto", "grid"])
@pytest.mark.parametrize(
    ("metric", "each", "n_channels"),
    [("none", False, 1), ("diagonal", True, 2), ("full", False, 2), ("full", True, 1)],
)
@torch.no_grad()
def test_the_search_by_frames_is_the_formula(search, metric, each, n_channels):
    """Every hop, or every sample; shorter than a frame, longer than a path, and on the lattice."""
    lengths = torch.tensor([0.035, 0.0712, 0.16, 0.233, 0.9], dtype=torch.float64)
    values = noise(5, n_channels, 25)
    discrepancy = small(metric, n_channels=n_channels, n_shapelets=5 if each else None)
    paths = interpolate(waveforms(n_channels=n_channels))
    found = best_offsets(discrepancy, paths, values, lengths, search=search, n_best=3)
    assert found.backend == "frames"
    stride = 4 if search == "auto" else 1
    want = by_formula(discrepancy, paths, values, lengths, stride, 3)
    np.testing.assert_allclose(found.start, want, atol=1e-12)
    room = paths.spans[:, None, None] - lengths.numpy()[:, None]
    np.testing.assert_array_equal(found.slope, np.where((found.start == room) & (room > 0), -1, 0))


@pytest.mark.parametrize("search", ["auto", "grid"])
@torch.no_grad()
def test_a_path_shorter_than_a_frame(search):
    times = STEP * np.arange(5)
    paths = interpolate(RaggedSeries.from_arrays(noise(2, 1, 5).numpy(), times))
    lengths = torch.tensor([0.7, 2.0, 30.0], dtype=torch.float64) * STEP
    values = noise(3, 1, 9)
    found = best_offsets(small(), paths, values, lengths, search=search)
    stride = 4 if search == "auto" else 1
    assert small().cepstrum.n_bins > 5 and found.backend == "frames"
    want = by_formula(small(), paths, values, lengths, stride, 1)
    np.testing.assert_allclose(found.start, want, atol=1e-12)


@pytest.mark.parametrize("kind", ["refined", "irregular", "other step"])
@torch.no_grad()
def test_all_else_is_left_to_the_generic_search(kind):
    rng = np.random.default_rng(0)
    times = STEP * (1.3 if kind == "other step" else 1.0) * np.arange(30)
    if kind == "irregular":
        times = np.sort(rng.uniform(0, 0.3, 30))
    paths = interpolate(RaggedSeries.from_arrays(rng.normal(size=(2, 1, 30)), times))
    search = "refined" if kind == "refined" else "auto"
    lengths = torch.tensor([0.1], dtype=torch.float64)
    found = best_offsets(small(), paths, noise(1, 1, 9), lengths, search=search)
    assert found.backend == "generic"


@torch.no_grad()
def test_paths_are_cut_into_frames_once(monkeypatch):
    cut = []
    whole = MelFrequencyCepstrum.decibels

    def watched(self, frames):
        if frames.ndim == 3:  # (frames, channels, bins); windows and shapelets have more
            cut.append(len(frames))
        return whole(self, frames)

    monkeypatch.setattr(MelFrequencyCepstrum, "decibels", watched)
    paths, discrepancy = interpolate(waveforms()), small()
    prepare_paths(discrepancy, paths, "auto")
    assert len(cut) == 4
    values, lengths = noise(1, 1, 9), torch.tensor([0.1], dtype=torch.float64)
    found = best_offsets(discrepancy, paths[[2, 0]], values, lengths)
    discrepancy.weight.data *= 2.0  # which changes the metric, not the frames
    again = best_offsets(discrepancy, paths[[2, 0]], values, lengths)
    assert len(cut) == 4
    fresh = best_offsets(discrepancy, interpolate(waveforms())[[2, 0]], values, lengths)
    assert len(cut) == 6
    np.testing.assert_array_equal(again.start, found.start)
    np.testing.assert_array_equal(again.start, fresh.start)
    best_offsets(small(hop=3), paths[[2, 0]], values, lengths)
    assert len(cut) == 8  # other settings, other frames


def test_a_planted_sound_is_found():
    rng = np.random.default_rng(0)
    t = np.arange(480) / 16000
    word = np.sin(2 * np.pi * (500 + 40000 * t) * t)
    X = 0.3 * rng.normal(size=(3, 1, 3200))
    for n, at in enumerate((0, 1400, 2600)):  # on hops of 200
        X[n, 0, at : at + 480] = word
    series = RaggedSeries.from_arrays(X, 2.0 + np.arange(3200) / 16000)
    transform = GeneralisedShapeletTransform.from_shapelets(
        word[None, None], [479 / 16000], discrepancy=MFCDiscrepancy()
    )
    matches = transform(series)
    assert matches.backend == "frames"
    np.testing.assert_allclose(matches.start[:, 0], 2.0 + np.array([0, 1400, 2600]) / 16000)
    np.testing.assert_allclose(matches.discrepancy.detach(), 0.0, atol=1e-4)
    # Whatever its phase, only its level counts: turned upside down it is the same sound.
    upside_down = transform(RaggedSeries.from_arrays(-X, 2.0 + np.arange(3200) / 16000))
    np.testing.assert_allclose(upside_down.discrepancy.detach(), 0.0, atol=1e-4)


def test_waveforms_are_learnt_in_a_classifier():
    """Low and high tones of any phase: to L2 on waveforms they are all alike."""
    rng = np.random.default_rng(0)
    y = np.arange(20) % 2
    t = np.arange(120) / 400
    X = np.sin(2 * np.pi * np.where(y, 120, 60)[:, None] * t + rng.uniform(0, 6, (20, 1)))
    series = RaggedSeries.from_arrays(X[:, None] + 0.1 * rng.normal(size=(20, 1, 120)), t)
    model = ShapeletClassifier(
        discrepancy=MFCDiscrepancy(
            400.0, window=16, hop=8, n_bins=16, n_mels=6, n_coefficients=4
        ),
        n_shapelets=4, n_knots=40, max_epochs=15, initial_length=(0.2, 0.5), random_state=0,
    )  # fmt: skip
    model.fit(series[:14], y[:14])
    assert model.score(series[14:], y[14:]) == 1.0
    assert model.metric_.shape[-1] == 4


# What it refuses


def test_times_in_another_unit():
    series = RaggedSeries.from_arrays(np.random.default_rng(0).normal(size=(1, 1, 900)))
    values, lengths = noise(1, 1, 50), torch.tensor([500.0], dtype=torch.float64)
    message = r"series 0 is observed every 1 .* Resample .* set step=1: 1 where"
    with pytest.raises(ValueError, match=message):
        best_offsets(MFCDiscrepancy(), interpolate(series), values, lengths)
    found = best_offsets(MFCDiscrepancy(step=1.0), interpolate(series), values, lengths)
    assert found.backend == "frames"


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"centre": True}, TypeError, "centre is not an option"),
        ({"top_db": 80.0}, TypeError, "top_db is not an option"),
        ({"windows": 400}, TypeError, "windows"),
        ({"window": 500}, ValueError, "n_bins=400 must be at least window=500"),
        ({"metric": "round"}, ValueError, "metric must be"),
        ({"n_channels": 0}, ValueError, "n_channels must be at least 1"),
        ({"n_shapelets": 0}, ValueError, "n_shapelets must be at least 1"),
        ({"step": 0.0}, ValueError, "step must be a positive"),
    ],
)
def test_bad_settings(settings, error, message):
    with pytest.raises(error, match=message):
        MFCDiscrepancy(**settings)


def test_shapelets_it_was_not_made_for():
    with pytest.raises(ValueError, match=r"40 channels, .* use MFCDiscrepancy\(n_channels=40\)"):
        MFCDiscrepancy().check(3, 40)
    with pytest.raises(ValueError, match="use n_shapelets=3, or None"):
        MFCDiscrepancy(n_shapelets=2).check(3, 1)


def test_weights_of_channels_are_those_of_their_coefficients():
    discrepancy = MFCDiscrepancy(n_channels=2, n_coefficients=2)
    discrepancy.weight.data[:] = torch.tensor([3.0, 4.0, 0.0, 1.0])
    want = torch.tensor([[12.5**0.5, 0.5**0.5]])
    torch.testing.assert_close(discrepancy.channel_weights(2), want)
