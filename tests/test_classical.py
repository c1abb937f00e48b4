"""The classical discrepancy: equation (2) of the paper, against a plain loop."""

import numpy as np
import pytest
import torch
from problems import irregular, regular
from torch.autograd import gradcheck
from torch.func import functional_call

from genshapelets import (
    ClassicalDiscrepancy,
    GeneralisedShapeletTransform,
    RaggedSeries,
    interpolate,
)
from genshapelets.minimum import SoftMinimum


def classical(f, w):
    """Smallest sum of squares and where; f and w are (channels, samples)."""
    size = w.shape[1]
    if f.shape[1] < size:
        f = np.pad(f, ((0, 0), (0, size - f.shape[1])), mode="edge")
    sums = [((f[:, s : s + size] - w) ** 2).sum() for s in range(f.shape[1] - size + 1)]
    return min(sums), int(np.argmin(sums))


def make(values, **kwargs):
    return GeneralisedShapeletTransform.from_shapelets(
        values, discrepancy=ClassicalDiscrepancy(), **kwargs
    )


def samples(paths, i):
    return paths.values[paths.row_offsets[i] : paths.row_offsets[i + 1]].T


def test_worked_by_hand():
    matches = make([[[1.0, 2.0]]])([[[0.0, 1.0, 4.0, 1.0, 2.5]]])
    assert matches.discrepancy.item() == 0.25 and matches.start.item() == 3.0


@pytest.mark.parametrize("backend", ["auto", "generic"])
@pytest.mark.parametrize("seed", range(4))
def test_agrees_with_a_loop(seed, backend):
    rng = np.random.default_rng(seed)
    n_channels, n_samples = int(rng.integers(1, 4)), int(rng.integers(2, 20))
    paths = interpolate(regular(rng, 10, n_channels, n_times=(2, 35)))
    transform = make(rng.normal(size=(5, n_channels, n_samples)), backend=backend)
    matches = transform(paths)
    assert matches.backend == "convolution"
    for i in range(len(paths)):
        for k, w in enumerate(transform.shapelets.values.detach().numpy()):
            value, at = classical(samples(paths, i), w)
            assert matches.discrepancy[i, k].item() == pytest.approx(value, rel=1e-9)
            start = matches.start[i, k].item()
            assert start == pytest.approx(paths.origin[i] + at * paths.step.max(), abs=1e-12)


def test_too_short_series_are_held_at_their_last_value():
    transform = make([[[1.0, 2.0, 5.0, 5.0]]])
    matches = transform([[[1.0, 2.0]], [[0.0]], [[1.0, 2.0, 3.0]]])
    assert matches.discrepancy[:, 0].tolist() == [18.0, 1 + 4 + 25 + 25, 8.0]
    assert matches.start[:, 0].tolist() == [0.0, 0.0, 0.0]


def test_long_shapelets():
    rng = np.random.default_rng(5)
    series, transform = rng.normal(size=(2, 1, 2000)), make(rng.normal(size=(4, 1, 500)))
    matches = transform(series)
    for i, k in ((0, 0), (1, 3)):
        value, at = classical(series[i], transform.shapelets.values.detach().numpy()[k])
        assert matches.discrepancy[i, k].item() == pytest.approx(value, rel=1e-9)
        assert matches.start[i, k].item() == at


def test_large_numbers():
    rng = np.random.default_rng(6)
    series = rng.normal(size=(3, 2, 60)) + 1e8
    transform = make(np.stack([series[0, :, 5:15], series[1, :, 44:54]]))
    matches = transform(series)
    for i in range(3):
        for k, w in enumerate(transform.shapelets.values.detach().numpy()):
            value, at = classical(series[i], w)
            assert matches.discrepancy[i, k].item() == pytest.approx(value, rel=1e-9, abs=1e-12)
            assert matches.start[i, k].item() == at


def test_starts_are_float64():
    times = 0.1 * np.arange(50_000)
    series = np.zeros((1, 1, 50_000))
    series[0, 0, 49_321] = 1.0
    matches = make([[[0.0, 1.0]]])(RaggedSeries.from_arrays(series, times))
    assert matches.start.dtype == torch.float64
    assert matches.start.item() == pytest.approx(times[49_320], rel=1e-12)


def test_gradient():
    rng = np.random.default_rng(7)
    paths = interpolate(regular(rng, 6, n_times=(4, 20)))
    transform = make(rng.normal(size=(3, 2, 6)))
    values = transform.shapelets.values.detach().clone().requires_grad_()

    def discrepancy(values):
        return functional_call(transform, {"shapelets.values": values}, (paths,)).discrepancy

    assert gradcheck(discrepancy, (values,))
    transform(paths).discrepancy.sum().backward()
    assert transform.shapelets.raw_lengths.grad is None


def test_float32():
    rng = np.random.default_rng(8)
    paths, values = interpolate(regular(rng)), rng.normal(size=(3, 2, 6)).astype(np.float32)
    single, double = make(values)(paths), make(values.astype(np.float64))(paths)
    assert single.discrepancy.dtype == torch.float32
    torch.testing.assert_close(single.discrepancy.double(), double.discrepancy, rtol=1e-5, atol=0)
    assert torch.equal(single.start, double.start)


def test_float32_far_from_zero():
    """Differences are taken in float64: a path far from 0 must not be rounded first."""
    rng = np.random.default_rng(12)
    series = 1e4 + rng.normal(size=(5, 2, 60))
    values = np.stack([series[0, :, 7:19], series[3, :, 40:52]]).astype(np.float32)
    single, double = make(values), make(values.astype(np.float64))
    got, want = single(series), double(series)
    assert got.discrepancy.dtype == torch.float32 and torch.equal(got.start, want.start)
    torch.testing.assert_close(got.discrepancy.double(), want.discrepancy, rtol=1e-6, atol=0)
    for transform, matches in ((single, got), (double, want)):
        matches.discrepancy.sum().backward()
        assert transform.shapelets.values.grad.dtype == transform.shapelets.values.dtype
    torch.testing.assert_close(
        single.shapelets.values.grad.double(), double.shapelets.values.grad, rtol=1e-6, atol=1e-9
    )


def test_irregular_series_are_refused():
    rng = np.random.default_rng(9)
    series = RaggedSeries.concatenate([regular(rng, 2), irregular(rng, 1)])
    with pytest.raises(ValueError, match="regularly sampled.*series 2 is not. Use L2Discrepancy"):
        make(rng.normal(size=(1, 2, 4)))(series)


def test_the_irregular_series_is_named_even_if_it_comes_first():
    rng = np.random.default_rng(10)
    series = RaggedSeries.concatenate([irregular(rng, 1), regular(rng, 2)])
    with pytest.raises(ValueError, match="series 0 is not"):
        make(rng.normal(size=(1, 2, 4)))(series)


@pytest.mark.parametrize("search", ["refined", "exact"])
def test_other_searches_are_refused(search):
    rng = np.random.default_rng(11)
    with pytest.raises(ValueError, match=f'is searched with search="grid"; got {search!r}'):
        make(rng.normal(size=(1, 2, 4)), search=search)(regular(rng))


def test_two_steps_in_one_batch_are_refused():
    rng = np.random.default_rng(14)
    series = RaggedSeries.concatenate([regular(rng, 2), regular(rng, 1, step=0.27)])
    with pytest.raises(ValueError, match=r"one common step; series 2 is not. Use L2Discrepancy"):
        make(rng.normal(size=(1, 2, 4)))(series)


def test_many_series_are_searched_in_chunks(monkeypatch):
    rng = np.random.default_rng(15)
    paths, transform = interpolate(regular(rng, 9)), make(rng.normal(size=(3, 2, 6)))
    whole = transform(paths)
    monkeypatch.setattr("genshapelets.search.classical.MAX_ELEMENTS", 1)
    parts = transform(paths)
    torch.testing.assert_close(parts.discrepancy, whole.discrepancy, rtol=1e-12, atol=0)
    assert torch.equal(parts.start, whole.start)


def test_several_candidates():
    # Sums of squares from 1, 2: (0, 0) 5, (0, 1) 2, (1, 4) 4, (4, 1) 10, (1, 2.5) 0.25.
    transform = make([[[1.0, 2.0]]], minimum=SoftMinimum(2, sharpness=1.0))
    matches = transform([[[0.0, 0.0, 1.0, 4.0, 1.0, 2.5]]])
    assert matches.start.item() == 4.0
    assert matches.discrepancy.item() == pytest.approx(2 / (1 / 0.25 + 1 / 2.0), rel=1e-6)


def test_one_wild_observation():
    """A sample of 1e8 costs the convolution its digits; windows beside it must still be told apart."""
    rng = np.random.default_rng(16)
    series = rng.normal(size=(3, 1, 60))
    series[:, 0, 25] += 1e8
    transform = make(rng.normal(size=(4, 1, 6)))
    matches = transform(series)
    for i in range(3):
        for k, w in enumerate(transform.shapelets.values.detach().numpy()):
            value, at = classical(series[i], w)
            assert matches.discrepancy[i, k].item() == pytest.approx(value, rel=1e-9)
            assert matches.start[i, k].item() == at


def test_of_equal_windows_the_earliest_is_taken():
    values = np.concatenate([[5.0, 3.0], np.full(20, 1.0)])
    matches = make([[[1.0, 1.0, 1.0]], [[0.5, 0.5, 0.5]]])(values[None, None])
    assert matches.start.tolist() == [[2.0, 2.0]]


def test_it_is_the_distance_of_another_library():
    """On univariate series, by aeon: the least squared distance over all windows."""
    distances = pytest.importorskip("aeon.distances")
    rng = np.random.default_rng(9)
    x, shapelets = rng.normal(size=(3, 40)).cumsum(axis=1), rng.normal(size=(4, 7)).cumsum(axis=1)
    transform = GeneralisedShapeletTransform.from_shapelets(
        shapelets[:, None], discrepancy=ClassicalDiscrepancy()
    )
    found = transform(x[:, None]).discrepancy.detach().numpy()
    windows = np.lib.stride_tricks.sliding_window_view(x, 7, axis=1)
    want = [
        [min(distances.squared_distance(window, w) for window in own) for w in shapelets]
        for own in windows
    ]
    np.testing.assert_allclose(found, want, rtol=1e-9)
