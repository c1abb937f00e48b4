"""Series that make arithmetic hard."""

import subprocess
import sys

import numpy as np
import pytest
import torch
from pairwise import pairwise
from problems import (
    METRICS,
    assert_agrees,
    distance_at,
    distances_at,
    irregular,
    judge,
    make_transform,
    regular,
)

from genshapelets import (
    GeneralisedShapeletTransform,
    L2Discrepancy,
    RaggedSeries,
    interpolate,
)

NAN = np.nan
KINDS, SEARCHES = ["regular", "irregular"], ["grid", "refined", "exact"]
searches = pytest.mark.parametrize("search", SEARCHES)
kinds = pytest.mark.parametrize("kind", KINDS)
kinds_and_searches = pytest.mark.parametrize(("kind", "search"), pairwise(KINDS, SEARCHES))
# The refined search stops when a step promises to gain less than 1e-4 of the square: two series that
# differ by rounding alone may stop at different places.
STOPS = {"grid": 1e-9, "refined": 1e-3, "exact": 1e-9}
with_levels = pytest.mark.parametrize(
    ("kind", "search", "level_free"), pairwise(KINDS, SEARCHES, [False, True])
)


def make(values, lengths, level_free=False, **kwargs):
    values = np.asarray(values, float)
    discrepancy = L2Discrepancy(values.shape[1], level_free=level_free)
    return GeneralisedShapeletTransform.from_shapelets(
        values, lengths, discrepancy=discrepancy, **kwargs
    )


def times_of(kind, n_times):
    steady = np.arange(float(n_times))
    return steady if kind == "regular" else steady + 0.4 * np.sin(steady)


# Little data


@kinds_and_searches
def test_constant_series(kind, search):
    # |3 - w| with w from 0 to 2 on [0, 4]: int (3 - t/2)^2 = 52/3. Level-free: int (1 - t/2)^2 = 4/3.
    for level_free, want in ((False, 52 / 3), (True, 4 / 3)):
        transform = make([[[0.0, 2.0]]], [4.0], level_free, search=search)
        series = RaggedSeries.from_arrays(np.full((1, 1, 20), 3.0), times_of(kind, 20))
        matches = transform(series)
        assert matches.discrepancy.item() == pytest.approx(np.sqrt(want), rel=1e-12)
        assert 0.0 <= matches.start.item() <= series.spans[0] - 4.0 + 1e-9


@kinds_and_searches
def test_a_constant_shapelet_fits_a_constant_series(kind, search):
    transform = make([[[3.0, 3.0, 3.0]]], [4.0], search=search)
    series = RaggedSeries.from_arrays(np.full((1, 1, 20), 3.0), times_of(kind, 20))
    assert transform(series).discrepancy.item() < 1e-14


@searches
def test_one_observation(search):
    # |5 - w|, w from 0 to 2 on [0, 4]: int (5 - t/2)^2 = (2/3) (5^3 - 3^3) = 196/3.
    transform = make([[[0.0, 2.0]]], [4.0], search=search)
    matches = transform(RaggedSeries.from_arrays([[[5.0]]], [[17.0]]))
    assert matches.discrepancy.item() == pytest.approx(np.sqrt(196 / 3), rel=1e-12)
    assert matches.start.item() == 17.0
    matches.discrepancy.sum().backward()
    assert all(torch.isfinite(p.grad).all() for p in transform.parameters())


@searches
@pytest.mark.parametrize("span", [1.0, 4.0, 9.0])
def test_two_observations(span, search):
    transform = make([[[0.0, 2.0]], [[1.0, -1.0]]], [4.0, 2.0], search=search)
    series = RaggedSeries.from_arrays([[[0.0, span / 2]]], [[3.0, 3.0 + span]])
    matches = transform(series)
    there = distances_at(transform, series, matches.start.numpy())
    np.testing.assert_allclose(matches.discrepancy.detach(), there, rtol=1e-9, atol=1e-14)
    want = judge(transform, series)[0]
    assert (matches.discrepancy.detach().numpy() <= want * (1 + 1e-9) + 1e-12).all()
    if span >= 4.0:  # the line 0.5 t fits the first shapelet at its start
        assert matches.discrepancy[0, 0].item() < 1e-7 and matches.start[0, 0].item() == 3.0


@kinds_and_searches
def test_a_channel_never_observed_is_the_fill(kind, search):
    rng = np.random.default_rng(0)
    values = rng.normal(size=(3, 2, 25))
    values[1, 0] = NAN
    times = times_of(kind, 25)
    transform = make(rng.normal(size=(2, 2, 4)), [3.0, 5.0], search=search, fill=[0.5, 9.0])
    filled = values.copy()
    filled[1, 0] = 0.5
    got = transform(RaggedSeries.from_arrays(values, times))
    want = transform(RaggedSeries.from_arrays(filled, times))
    assert torch.equal(got.discrepancy, want.discrepancy) and torch.equal(got.start, want.start)


def test_all_missing_is_refused():
    transform = make([[[0.0, 2.0]]], [4.0])
    with pytest.raises(ValueError, match="series 1 has no observation: all values are NaN"):
        transform([[[1.0, 2.0, 3.0]], [[NAN, NAN]]])


@searches
def test_one_observation_among_missing_ones(search):
    transform = make([[[0.0, 2.0]]], [4.0], search=search)
    lonely = transform([[[NAN] * 9 + [5.0] + [NAN] * 9]])
    constant = transform([[[5.0] * 19]])
    torch.testing.assert_close(lonely.discrepancy, constant.discrepancy, rtol=1e-14, atol=0)


# Large and small


@pytest.mark.parametrize(
    ("kind", "search", "level_free", "size"), pairwise(KINDS, SEARCHES, [False, True], [1e-8, 1e8])
)
def test_the_size_of_values_is_a_factor(kind, level_free, size, search):
    rng = np.random.default_rng(1)
    times, values = times_of(kind, 40), rng.normal(size=(4, 2, 40))
    shapelets, lengths = rng.normal(size=(3, 2, 5)), [4.0, 7.3, 60.0]
    ordinary = make(shapelets, lengths, level_free, search=search)(
        RaggedSeries.from_arrays(values, times)
    )
    sized = make(shapelets * size, lengths, level_free, search=search)(
        RaggedSeries.from_arrays(values * size, times)
    )
    torch.testing.assert_close(
        sized.discrepancy, ordinary.discrepancy * size, rtol=STOPS[search], atol=0
    )
    sized.discrepancy.sum().backward()


@pytest.mark.parametrize(("kind", "metric", "size"), pairwise(KINDS, METRICS, [1e-8, 1e8]), ids=str)
def test_size_against_the_slow_search(kind, metric, size):
    metric, per_shapelet = metric
    rng = np.random.default_rng(2)
    maker = regular if kind == "regular" else irregular
    series = maker(rng, missing=0.0)
    series = RaggedSeries.from_arrays(
        [size * series[i].values for i in range(6)], [series[i].times for i in range(6)]
    )
    transform = make_transform(
        rng, metric=metric, per_shapelet=per_shapelet, level_free="mixed", search="grid"
    )
    transform.shapelets.values.data *= size
    assert_agrees(transform, series, atol=1e-13 * size)


@with_levels
def test_a_series_far_off_beside_ordinary_ones(kind, level_free, search):
    rng = np.random.default_rng(3)
    values = rng.normal(size=(4, 2, 40))
    values[2] += 1e8
    series = RaggedSeries.from_arrays(values, times_of(kind, 40))
    transform = make(rng.normal(size=(3, 2, 5)), [4.0, 7.3, 60.0], level_free, search=search)
    if search == "grid":
        for backend in ("generic", "auto"):
            transform.backend = backend
            assert_agrees(transform, series, rtol=1e-8 if level_free else 1e-9)
    else:
        got = transform(series).discrepancy.detach().numpy()
        assert (got <= judge(transform, series)[0] * (1 + 1e-8)).all()
    alone = transform(series[[0, 1, 3]]).discrepancy
    together = transform(series).discrepancy[[0, 1, 3]]
    torch.testing.assert_close(together, alone, rtol=1e-10, atol=0)


@kinds_and_searches
def test_shapelets_cut_from_far_off_series_are_found(kind, search):
    """1e8 leaves eight digits: a window that fits to rounding must still win."""
    rng = np.random.default_rng(4)
    values = rng.normal(size=(2, 1, 60))
    values[1] += 1e8
    times = times_of(kind, 60)
    paths = interpolate(RaggedSeries.from_arrays(values, times))
    own = times[20] + np.linspace(0.0, 8.0, 81)
    shapelets = paths.evaluate(own)
    matches = make(shapelets, [8.0, 8.0], search=search)(paths)
    if search == "exact" or kind == "regular":
        # 81 knots on 8 steps need not hit the samples of irregular times.
        limit = 1e-6 if kind == "regular" else 0.2
        assert matches.discrepancy[1, 1].item() < limit
        assert matches.discrepancy[0, 0].item() < limit
        np.testing.assert_allclose(torch.diagonal(matches.start), times[20], atol=0.05)


@kinds
@pytest.mark.parametrize("spike", [1e4, 1e8])
def test_a_spike_before_the_match(kind, spike):
    """One wild observation must not hide the place where a shapelet fits."""
    rng = np.random.default_rng(5)
    values = rng.normal(size=(1, 1, 400))
    values[0, 0, 30] = spike
    times = times_of(kind, 400)
    series = RaggedSeries.from_arrays(values, times)
    transform = make(rng.normal(size=(2, 1, 5)), [6.0, 9.5], search="grid")
    for backend in ("generic", "auto"):
        transform.backend = backend
        assert_agrees(transform, series, rtol=1e-6)
    on_grid = judge(transform, series)[0]
    for search in ("refined", "exact"):
        transform.search = search
        assert (transform(series).discrepancy.detach().numpy() <= on_grid * (1 + 1e-6)).all()


@kinds_and_searches
@pytest.mark.filterwarnings("error")
def test_values_whose_squares_overflow(kind, search):
    rng = np.random.default_rng(9)
    series = RaggedSeries.from_arrays(1e300 * rng.normal(size=(2, 1, 30)), times_of(kind, 30))
    for level_free in (False, True):
        transform = make(1e300 * rng.normal(size=(3, 1, 5)), [4.0] * 3, level_free, search=search)
        assert (transform(series).discrepancy == torch.inf).all()


@kinds
def test_times_far_from_zero(kind):
    rng = np.random.default_rng(6)
    values, times = rng.normal(size=(3, 2, 40)), times_of(kind, 40)
    transform = make(rng.normal(size=(3, 2, 5)), [4.0, 7.3, 60.0])
    near = transform(RaggedSeries.from_arrays(values, times))
    far = transform(RaggedSeries.from_arrays(values, times + 1.7e9))
    torch.testing.assert_close(far.discrepancy, near.discrepancy, rtol=1e-6, atol=0)
    torch.testing.assert_close(far.start - 1.7e9, near.start, rtol=0, atol=1e-5)


@pytest.mark.parametrize(("kind", "search", "unit"), pairwise(KINDS, SEARCHES, [1e-9, 1e9]))
def test_units_of_time(kind, unit, search):
    rng = np.random.default_rng(7)
    values, times = rng.normal(size=(3, 2, 40)), times_of(kind, 40)
    shapelets, lengths = rng.normal(size=(3, 2, 5)), np.array([4.0, 7.3, 60.0])
    ordinary = make(shapelets, lengths, search=search)(RaggedSeries.from_arrays(values, times))
    other = make(shapelets, lengths * unit, search=search)(
        RaggedSeries.from_arrays(values, times * unit)
    )
    torch.testing.assert_close(
        other.discrepancy, ordinary.discrepancy * unit**0.5, rtol=STOPS[search], atol=0
    )


@kinds_and_searches
def test_very_short_shapelets(kind, search):
    rng = np.random.default_rng(8)
    series = RaggedSeries.from_arrays(rng.normal(size=(2, 1, 30)), times_of(kind, 30))
    for length in (1e-2, 1e-4):
        transform = make(rng.normal(size=(2, 1, 4)), [length, length], search=search)
        matches = transform(series)
        got = matches.discrepancy.detach().numpy()
        np.testing.assert_allclose(
            got, distances_at(transform, series, matches.start.numpy()), rtol=1e-9
        )
        assert (got <= judge(transform, series)[0] * (1 + 1e-4)).all()
        matches.discrepancy.sum().backward()
        assert all(torch.isfinite(p.grad).all() for p in transform.parameters())


FAR_BEYOND = """
import resource

import numpy as np

from genshapelets import GeneralisedShapeletTransform

series = np.random.default_rng(0).normal(size=(2, 3, 10))


def step(length):
    transform = GeneralisedShapeletTransform.from_shapelets(np.ones((4, 3, 4)), np.full(4, length))
    transform(series).discrepancy.sum().backward()


step(30.0)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
step(2e5)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_a_length_far_beyond_every_span_costs_no_memory():
    done = subprocess.run(
        [sys.executable, "-c", FAR_BEYOND], capture_output=True, text=True, check=True, timeout=300
    )
    assert int(done.stdout) < 30_000  # kB; the shapelets' samples would take more


# Long series


@with_levels
def test_a_hundred_thousand_times(kind, level_free, search):
    rng = np.random.default_rng(10)
    # A grid of irregular times has no fast search.
    n_times = 20_000 if (kind, search) == ("irregular", "grid") else 100_000
    place, length = int(0.8 * n_times) + 3, 50.0
    times = np.arange(float(n_times))
    if kind == "irregular":
        times[1:-1] += rng.uniform(-0.45, 0.45, n_times - 2)
    values = np.cumsum(rng.normal(size=(1, n_times)), axis=1)  # wanders by some hundreds
    paths = interpolate(RaggedSeries.from_arrays([values], [times]))
    # The offsets of the grid are as many as observations, so one falls near any sample.
    room = times[-1] - length
    start = float(place) if kind == "regular" else place / (n_times - 1) * room
    shapelet = paths.evaluate(start + np.linspace(0.0, length, 51))
    other = rng.normal(size=(1, 1, 51))
    transform = make(np.concatenate([shapelet, other]), [length, length], level_free, search=search)
    matches = transform(paths)
    assert matches.start[0, 0].item() == pytest.approx(start, abs=1e-6 if search == "grid" else 0.5)
    if kind == "regular":
        assert matches.discrepancy[0, 0].item() < 1e-6
    for k in range(2):
        there = distance_at(transform, paths, 0, k, matches.start[0, k].item())
        assert matches.discrepancy[0, k].item() == pytest.approx(there, rel=1e-8, abs=1e-9)
    # No other start, of some thousand tried, is better.
    tried = (
        rng.integers(0, int(room), 1500).astype(float)
        if kind == "regular"
        else rng.integers(0, n_times, 1500) / (n_times - 1) * room
    )
    rows = np.searchsorted(times, tried)
    for s, row in zip(tried, rows, strict=True):
        near = slice(max(row - 3, 0), row + 60)
        window = interpolate(RaggedSeries.from_arrays([values[:, near]], [times[near]]))
        if s + length <= times[near][-1]:
            assert (
                distance_at(transform, window, 0, 1, s) >= matches.discrepancy[0, 1].item() - 1e-9
            )


# Lengths at the edge between n and n + 1 pieces


@pytest.mark.parametrize("step", [0.1, 0.37, 0.7, 3.0])
def test_lengths_about_whole_steps(step):
    """A length that is a whole number of steps but for rounding: from just below to just above."""
    rng = np.random.default_rng(11)
    times = 5.0 + step * np.arange(60.0)
    series = RaggedSeries.from_arrays(rng.normal(size=(2, 1, 60)), times)
    for n_steps in (1, 7, 58, 59):
        for tiny in (0.0, 1e-12, -1e-12, 5e-13, 2e-12):
            length = (1 + tiny) * n_steps * step
            transform = make(rng.normal(size=(1, 1, 5)), [length], search="grid")
            assert_agrees(transform, series, rtol=1e-9)


@pytest.mark.parametrize(("step", "n_steps"), [(0.7, 24_634), (0.1, 24_574)])
def test_lengths_of_many_whole_steps(step, n_steps):
    rng = np.random.default_rng(0)
    series = rng.normal(size=(1, 1, n_steps + 3)).cumsum(axis=2)
    paths = interpolate(RaggedSeries.from_arrays(series, step * np.arange(n_steps + 3.0)))
    transform = make(rng.normal(size=(1, 1, 5)), paths.knots[n_steps])
    matches = transform(paths)
    matches.discrepancy.sum().backward()
    assert all(p.grad.isfinite().all() for p in transform.parameters())
    want = min(distance_at(transform, paths, 0, 0, start) for start in paths.knots[:3])
    assert matches.discrepancy.item() == pytest.approx(want, rel=1e-9)


def test_a_wild_last_observation_spoils_only_its_own_windows():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(1, 1, 40))
    x[0, 0, 20:] = 0.0
    wild = x.copy()
    wild[0, 0, -1] = 1e155  # its square is infinite
    transform = make(rng.normal(size=(2, 1, 5)), [4.5, 6.0])
    assert transform(wild).discrepancy.isfinite().all()
