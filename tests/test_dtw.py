"""Dynamic time warping: against a plain loop, aeon, and the formula at every offset."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from pairwise import pairwise
from problems import METRICS, SERIES, evaluated, irregular, odd, offsets_at, offsets_of, regular
from torch.autograd import gradcheck
from torch.func import functional_call

from genshapelets import (
    DTWDiscrepancy,
    GeneralisedShapeletTransform,
    L2Discrepancy,
    RaggedSeries,
    interpolate,
)
from genshapelets.minimum import SoftMinimum


def warped(f, w, band):
    """Least sum of |f_i - w_j|^2 over warping paths; f and w are (points, channels)."""
    n = len(f)
    sums = np.full((n + 1, n + 1), np.inf)
    sums[0, 0] = 0.0
    for i in range(n):
        for j in range(n):
            if abs(i - j) <= band:
                least = min(sums[i, j], sums[i, j + 1], sums[i + 1, j])
                sums[i + 1, j + 1] = least + ((f[i] - w[j]) ** 2).sum()
    return sums[n, n]


def sampled(times, values, t):
    """Values (times, channels) on straight lines, at times t."""
    return np.stack([np.interp(t, times, channel) for channel in values.T], axis=1)


def functions(seed, n_knots=8, n_channels=2):
    """Times, and the values of three functions there."""
    rng = np.random.default_rng(seed)
    times = np.concatenate([[0.0], np.sort(rng.uniform(0.0, 3.0, n_knots - 2)), [3.0]])
    return times, *rng.normal(size=(3, n_knots, n_channels))


def distance(discrepancy, times, f, w):
    """Discrepancy of two functions, values (times, channels)."""
    tensors = (torch.as_tensor(np.asarray(x, dtype=np.float64))[None] for x in (times, f, w))
    with torch.no_grad():
        return discrepancy.double()(*tensors).item()


def transform_with(discrepancy, seed=0, lengths=(0.913, 2.734, 8.317), n_knots=5, **kwargs):
    """Three random shapelets; lengths at which no point of them falls on a sample."""
    rng = np.random.default_rng(seed)
    if discrepancy.weight is not None:
        noise = rng.normal(size=discrepancy.weight.shape)
        discrepancy.weight.data += 0.4 * torch.from_numpy(noise).float()
    values = rng.normal(size=(3, discrepancy.n_channels, n_knots))
    return GeneralisedShapeletTransform.from_shapelets(
        values, lengths, discrepancy=discrepancy, **kwargs
    )


# Values


def test_worked_by_hand():
    # f = 0 1 1 against w = 0 0 1: (0, 0), (0, 1), (1, 2), (2, 2) costs nothing.
    times, f, w = [0.0, 1.0, 2.0], [[0.0], [1.0], [1.0]], [[0.0], [0.0], [1.0]]
    assert distance(DTWDiscrepancy(1, band=0.4, n_points=3), times, f, w) == 0.0
    assert distance(DTWDiscrepancy(1, band=0.0, n_points=3), times, f, w) == math.sqrt(2 / 3)
    # f = 0 2 0 against w = 0 0 3: (0, 0), (0, 1), (1, 2), (2, 2) costs 1 + 9.
    f, w = [[0.0], [2.0], [0.0]], [[0.0], [0.0], [3.0]]
    found = distance(DTWDiscrepancy(1, band=1.0, n_points=3), times, f, w)
    assert found == pytest.approx(math.sqrt(2 / 3 * 10), rel=1e-15)


@pytest.mark.parametrize("n_points", [2, 3, 8, 13])
@pytest.mark.parametrize("band", [0.0, 0.1, 0.35, 0.8, 1.0])
def test_agrees_with_a_loop(n_points, band):
    discrepancy = DTWDiscrepancy(2, "full", band=band, n_points=n_points)
    torch.manual_seed(0)
    discrepancy.weight.data += 0.4 * torch.randn(1, 2, 2)
    matrix = discrepancy.weight.detach().double().numpy()[0]
    times, f, w, _ = functions(seed=n_points)
    t = np.linspace(0.0, 3.0, n_points)
    sums = warped(
        sampled(times, f, t) @ matrix.T, sampled(times, w, t) @ matrix.T, int(band * n_points)
    )
    want = math.sqrt(3.0 / n_points * sums)
    assert distance(discrepancy, times, f, w) == pytest.approx(want, rel=1e-12)


@pytest.mark.parametrize("band", [0.0, 0.1, 0.5, 1.0])
def test_agrees_with_aeon(band):
    distances = pytest.importorskip("aeon.distances")
    times, f, w, _ = functions(seed=1, n_channels=1)
    t = np.linspace(0.0, 3.0, 20)
    theirs = distances.dtw_distance(sampled(times, f, t).T, sampled(times, w, t).T, window=band)
    ours = distance(DTWDiscrepancy(1, band=band, n_points=20), times, f, w)
    assert ours == pytest.approx(math.sqrt(3.0 / 20 * theirs), rel=1e-12)


def test_without_warping_it_tends_to_l2():
    times, f, w, _ = functions(seed=2)
    fine = distance(DTWDiscrepancy(2, band=0.0, n_points=2001), times, f, w)
    assert fine == pytest.approx(distance(L2Discrepancy(2), times, f, w), rel=2e-3)


def test_the_triangle_inequality_fails():
    """What is warped for nothing on to both of two functions does not bring them together."""
    times = np.arange(4.0)
    f, g, h = (
        np.array(x, dtype=np.float64)[:, None] for x in ([0, 0, 0, 1], [0, 1, 1, 1], [0, 0, 1, 1])
    )
    narrow = DTWDiscrepancy(1, band=0.25, n_points=4)
    assert distance(narrow, times, f, h) == distance(narrow, times, h, g) == 0.0
    assert distance(narrow, times, f, g) > 0.5
    # Without a band too: the detour by g counts 1 once for each, the direct way four times.
    free = DTWDiscrepancy(1, band=1.0, n_points=5)
    times = np.arange(5.0)
    f, g, h = (
        np.array(x, dtype=np.float64)[:, None]
        for x in ([0, 2, 2, 2, 0], [0, 0, 0, 0, 0], [0, 1, 0, 0, 0])
    )
    assert distance(free, times, f, g) > distance(free, times, f, h) + distance(free, times, h, g)


# Properties

shapes = st.tuples(
    st.integers(2, 9), st.integers(0, 2**32 - 1), st.integers(0, 20), st.integers(1, 3)
)


@given(shapes)
@settings(max_examples=60, deadline=None)
def test_axioms_but_the_triangle(shape):
    n_points, seed, band, n_channels = shape
    times, f, w, _ = functions(seed, n_channels=n_channels)
    discrepancy = DTWDiscrepancy(n_channels, band=band / 20, n_points=n_points)
    there = distance(discrepancy, times, f, w)
    assert there >= 0.0
    assert distance(discrepancy, times, f, f) == 0.0
    assert distance(discrepancy, times, w, f) == there


@given(shapes)
@settings(max_examples=60, deadline=None)
def test_a_wider_band_never_raises_it(shape):
    n_points, seed, _, n_channels = shape
    times, f, w, _ = functions(seed, n_channels=n_channels)
    t = np.linspace(0.0, 3.0, n_points)
    squares = (sampled(times, f, t) - sampled(times, w, t)) ** 2
    found = [
        distance(DTWDiscrepancy(n_channels, band=band, n_points=n_points), times, f, w)
        for band in np.linspace(0.0, 1.0, 6)
    ]
    assert found[0] == pytest.approx(math.sqrt(3.0 / n_points * squares.sum()), rel=1e-12)
    assert (np.diff(found) <= 1e-12 * found[0]).all()


# The search


WAYS = [(0.1, 32), (0.0, 6), (1.0, 9), (0.5, 2)]


@pytest.mark.parametrize(
    ("kind", "metric", "way", "search", "n_best"),
    pairwise(list(SERIES), METRICS, WAYS, ["auto", "grid", "refined"], [1, 3]),
)
@torch.no_grad()
def test_the_search_is_the_generic_one(kind, metric, way, search, n_best):
    name, each = metric
    band, n_points = way
    discrepancy = DTWDiscrepancy(
        2, name, band=band, n_points=n_points, n_shapelets=3 if each else None
    )
    transform = transform_with(discrepancy)
    paths = interpolate(SERIES[kind](np.random.default_rng(1)))
    got = offsets_of(transform, paths, n_best, search=search)
    want = offsets_of(transform, paths, n_best, search=search, backend="generic")
    assert (got.backend, want.backend) == ("warping", "generic")
    here, there = (evaluated(transform, paths, x, "generic") for x in (got, want))
    # In a constant series all windows tie, and the formula is rounded in another way for each.
    ends = zip(paths.row_offsets, paths.row_offsets[1:], strict=False)
    spread = [np.ptp(paths.values[begin:end], axis=0).max() for begin, end in ends]
    varied = np.flatnonzero(spread)
    assert len(varied) >= len(paths) - 2
    torch.testing.assert_close(here[..., 0], there[..., 0], rtol=1e-9, atol=1e-12)
    torch.testing.assert_close(here[varied], there[varied], rtol=1e-8, atol=1e-12)
    np.testing.assert_array_equal(got.count[varied], want.count[varied])
    if search != "refined":
        np.testing.assert_allclose(got.start[varied], want.start[varied], atol=1e-6)
        np.testing.assert_allclose(got.slope[varied], want.slope[varied], atol=1e-12)


def test_of_equal_windows_the_earliest_is_taken():
    values = np.concatenate([[5.0, 3.0], np.full(20, 1.0)])
    transform = GeneralisedShapeletTransform.from_shapelets(
        [[[1.0, 1.0, 1.0]], [[0.5, 0.3, 0.5]]], [3.0, 3.0], discrepancy=DTWDiscrepancy(1)
    )
    assert transform(values[None, None]).start.tolist() == [[2.0, 2.0]]
    periods = RaggedSeries.from_arrays([np.tile([1.0, 4.0, 2.0, 0.0], (1, 8))], 1.3 * np.arange(32))
    assert transform(periods).start.numpy() == pytest.approx(np.full((1, 2), 2.6))


def test_short_series_are_held_at_their_last_value():
    transform = transform_with(DTWDiscrepancy(2), lengths=(8.0, 9.0, 30.0))
    short = np.random.default_rng(3).normal(size=(1, 2, 4))
    longer = np.concatenate([short, np.repeat(short[..., -1:], 40, axis=2)], axis=2)
    got = transform(short)
    there = offsets_at(np.zeros((1, 3, 1)))
    want = evaluated(transform, interpolate(RaggedSeries.from_arrays(longer)), there)
    torch.testing.assert_close(got.discrepancy, want[..., 0], rtol=1e-12, atol=0)
    assert (got.start == 0).all()


def test_an_exact_search_is_refused():
    transform = transform_with(DTWDiscrepancy(2), search="exact")
    with pytest.raises(ValueError, match="exact.* is not known for DTWDiscrepancy"):
        transform(regular(np.random.default_rng(4)))


def test_a_pattern_warped_in_time_is_found_closer_than_by_l2():
    rng = np.random.default_rng(5)
    t = np.linspace(0.0, 1.0, 31)
    pattern, late = np.sin(6 * t) + t, t + 0.07 * np.sin(np.pi * t)
    series = 2.0 * rng.normal(size=(1, 1, 200))
    series[0, 0, 90:121] = np.interp(late, t, pattern)
    found = {}
    for name, discrepancy in {
        "dtw": DTWDiscrepancy(1), "rigid": DTWDiscrepancy(1, band=0.0), "l2": L2Discrepancy(1)
    }.items():  # fmt: skip
        transform = GeneralisedShapeletTransform.from_shapelets(
            pattern[None, None], [30.0], discrepancy=discrepancy
        )
        matches = transform(series)
        assert matches.start.item() == pytest.approx(90.0, abs=1.0)
        found[name] = matches.discrepancy.item()
    assert found["dtw"] < 0.3 * min(found["rigid"], found["l2"])


def test_a_planted_shapelet_is_found_with_value_0():
    series = np.random.default_rng(6).normal(size=(1, 2, 80)) + 1e6
    transform = GeneralisedShapeletTransform.from_shapelets(
        series[:, :, 30:41], [10.0], discrepancy=DTWDiscrepancy(2)
    )
    matches = transform(series)
    assert matches.start.item() == 30.0
    assert matches.discrepancy.item() == pytest.approx(0.0, abs=1e-9)


def test_several_candidates():
    transform = transform_with(DTWDiscrepancy(2), minimum=SoftMinimum(3))
    paths = interpolate(irregular(np.random.default_rng(7)))
    fast = transform(paths).discrepancy
    transform.backend = "generic"
    torch.testing.assert_close(fast, transform(paths).discrepancy, rtol=1e-8, atol=0)


# Values and gradients at given offsets


def value_and_gradients(transform, paths, offsets, backend):
    transform.zero_grad()
    found = evaluated(transform, paths, offsets, backend)
    upstream = torch.sin(torch.arange(found.numel(), dtype=found.dtype)).reshape(found.shape)
    (found * upstream).sum().backward()
    return found.detach(), *(p.grad.clone() for p in transform.parameters())


@pytest.mark.parametrize(("kind", "metric", "way"), pairwise([*SERIES, "beyond"], METRICS, WAYS))
def test_the_evaluation_is_the_formula(kind, metric, way):
    name, each = metric
    discrepancy = DTWDiscrepancy(
        2, name, band=way[0], n_points=way[1], n_shapelets=3 if each else None
    )
    transform = transform_with(discrepancy)
    rng = np.random.default_rng(8)
    paths = interpolate(odd(rng) if kind == "beyond" else SERIES[kind](rng))
    share = rng.uniform(0.0, 1.0, (len(paths), 3, 2))
    share[..., 1] = 1.0  # the last possible start
    room = paths.spans[:, None] - transform.shapelets.lengths.detach().numpy()
    if kind != "beyond":
        room = np.maximum(room, 0.0)
    start = np.maximum(share * room[..., None], 0.0)
    offsets = offsets_at(start, -share * (room > 0)[..., None])
    got = value_and_gradients(transform, paths, offsets, "auto")
    want = value_and_gradients(transform, paths, offsets, "generic")
    for one, other in zip(got, want, strict=True):
        scale = other.abs().max().item()
        torch.testing.assert_close(one, other, rtol=1e-8, atol=1e-8 * scale)


@pytest.mark.parametrize("maker", [regular, irregular])
@pytest.mark.parametrize(("metric", "each"), METRICS)
def test_gradients(maker, metric, each):
    """Of search and evaluation together, on the grid; some shapelets match at the last offset."""
    rng = np.random.default_rng(9)
    paths = interpolate(maker(rng, n_series=3, n_times=(9, 14)))
    discrepancy = DTWDiscrepancy(2, metric, band=0.3, n_points=8, n_shapelets=3 if each else None)
    transform = transform_with(discrepancy, search="grid", lengths=(0.913, 1.734, 2.317))
    last = paths.values[paths.row_offsets[1:] - 1]
    with torch.no_grad():  # like the ends of the series
        transform.shapelets.values[2] = torch.from_numpy(last[0])[:, None] + 0.1 * torch.randn(2, 5)
    slope = offsets_of(transform, paths).slope
    assert (slope == -1).any() and (slope > -1).any()
    names = [name for name, _ in transform.named_parameters()]

    def found(*tensors):
        return functional_call(
            transform, dict(zip(names, tensors, strict=True)), (paths,)
        ).discrepancy

    inputs = [p.detach().clone().requires_grad_() for p in transform.parameters()]
    assert gradcheck(found, inputs, atol=1e-6)


def test_evaluation_in_chunks_is_the_same(monkeypatch):
    transform = transform_with(DTWDiscrepancy(2))
    paths = interpolate(irregular(np.random.default_rng(10)))
    offsets = offsets_of(transform, paths)
    whole = value_and_gradients(transform, paths, offsets, "auto")
    monkeypatch.setattr("genshapelets.evaluation.generic.MAX_ELEMENTS", 1)
    for got, want in zip(
        value_and_gradients(transform, paths, offsets, "auto"), whole, strict=True
    ):
        torch.testing.assert_close(got, want, rtol=1e-12, atol=1e-12)


# Settings, and bad input


def test_what_the_metric_says_of_channels():
    discrepancy = DTWDiscrepancy(2, "full", n_shapelets=2)
    discrepancy.weight.data[1] = torch.tensor([[3.0, 0.0], [4.0, -1.0]])
    assert discrepancy.channel_weights(2).tolist() == [[1.0, 1.0], [5.0, 1.0]]
    assert DTWDiscrepancy(3, "none").channel_weights(3).tolist() == [[1.0, 1.0, 1.0]]
    scaled = DTWDiscrepancy(2)
    scaled.weight.data[0] = torch.tensor([-2.0, 0.5])
    assert scaled.channel_weights(2).tolist() == [[2.0, 0.5]]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"band": -0.1},
            r"band must be a fraction of the length, from 0 to 1 \(no band\); got -0.1",
        ),
        ({"band": 1.5}, "band must be a fraction"),
        ({"band": math.nan}, "band must be a fraction"),
        ({"n_points": 1}, "n_points must be a whole number, at least 2; got 1"),
        ({"n_points": 8.5}, "n_points must be a whole number"),
        ({"n_channels": 0}, "n_channels must be at least 1; got 0"),
        ({"n_shapelets": 0}, "n_shapelets must be at least 1, or None; got 0"),
        ({"metric": "euclidean"}, "metric must be .* got 'euclidean'"),
    ],
)
def test_bad_settings_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        DTWDiscrepancy(**({"n_channels": 2} | settings))


def test_shapelets_it_was_not_made_for_are_refused():
    values = np.zeros((3, 2, 5))
    with pytest.raises(ValueError, match=r"2 channels.*made for 4.*DTWDiscrepancy\(n_channels=2\)"):
        GeneralisedShapeletTransform.from_shapelets(values, discrepancy=DTWDiscrepancy(4))
    with pytest.raises(ValueError, match=r"3 shapelets.*holds 7 metrics: use n_shapelets=3"):
        GeneralisedShapeletTransform.from_shapelets(
            values, discrepancy=DTWDiscrepancy(2, n_shapelets=7)
        )


@pytest.mark.parametrize("backend", ["auto", "generic"])
def test_a_diverged_shapelet_is_named(backend):
    transform = transform_with(DTWDiscrepancy(2), backend=backend)
    with torch.no_grad():
        transform.shapelets.values[1, 0, 0] = torch.nan
    with pytest.raises(ValueError, match="shapelet 1 or a parameter of .* training has diverged"):
        transform(regular(np.random.default_rng(11)))
