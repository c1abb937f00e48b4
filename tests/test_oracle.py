"""Every search and every backend agree with the slow, obvious one."""

import dataclasses
import itertools

import numpy as np
import pytest
import torch
from problems import (
    METRICS,
    SERIES,
    as_paths,
    assert_agrees,
    distance_at,
    distances_at,
    irregular,
    judge,
    make_transform,
    odd,
    parameters_of,
    ragged,
    regular,
)
from scipy.integrate import quad
from scipy.optimize import minimize_scalar

from genshapelets import (
    GeneralisedShapeletTransform,
    L2Discrepancy,
    RaggedSeries,
    interpolate,
)
from genshapelets.discrepancies._l2_torch import l2_windows
from genshapelets.discrepancies._l2_windows import prepare_windows
from genshapelets.offsets import AT_END, FREE, Offsets
from genshapelets.parallel import run_in_turn
from genshapelets.search import _convolution_torch as convolution_torch
from genshapelets.search import best_offsets
from genshapelets.search.compiled import search_compiled
from genshapelets.search.convolution import correlate_windows, search_convolution
from genshapelets.search.corners import group_of_corners
from genshapelets.search.fourier import fast_period, roots_of_unity, transform_columns
from genshapelets.search.lattice import side_by_side_applies
from genshapelets.search.lines import next_walk
from genshapelets.search.problem import pose_l2
from genshapelets.search.reference import grid, l2_distance
from genshapelets.search.spectra import (
    Layout,
    correlate_spectra,
    spectra_of_taps,
    transform_paths,
)

LEVELS = [False, True, "mixed"]
metrics = pytest.mark.parametrize(
    ("metric", "per_shapelet"), METRICS, ids=lambda x: {True: "each", False: "shared"}.get(x, x)
)
levels = pytest.mark.parametrize("level_free", LEVELS, ids=["level", "level_free", "mixed"])


def reconfigured(transform, **kwargs):
    """The same transform with another search or backend."""
    for name, value in kwargs.items():
        setattr(transform, name, value)
    return transform


# The judge itself


def test_distance_worked_by_hand():
    # f = t on [1, 3], w from 0 to 3 on [0, 2]: f - w = 1 + t - 3t/2 = 1 - t/2, int (f - w)^2 = 2/3.
    knots, path = np.array([0.0, 4.0]), np.array([[0.0, 4.0]])
    got = l2_distance(knots, path, 1.0, np.array([[0.0, 3.0]]), 2.0, np.eye(1))
    assert got == pytest.approx(np.sqrt(2 / 3), rel=1e-15)
    # Less its mean 1/2: int (1/2 - t/2)^2 = 1/6. Twice the metric, twice the distance.
    got = l2_distance(knots, path, 1.0, np.array([[0.0, 3.0]]), 2.0, 2 * np.eye(1), level_free=True)
    assert got == pytest.approx(2 * np.sqrt(1 / 6), rel=1e-15)


def test_distance_beyond_the_end_worked_by_hand():
    # f = t on [0, 1] and 1 from there on; w = 0 on [0, 3]: int f^2 = 1/3 + 2.
    got = l2_distance(
        np.array([0.0, 1.0]), np.array([[0.0, 1.0]]), 0.0, np.zeros((1, 2)), 3.0, np.eye(1)
    )
    assert got == pytest.approx(np.sqrt(7 / 3), rel=1e-15)


@pytest.mark.parametrize("level_free", [False, True])
def test_distance_agrees_with_quadrature(level_free):
    rng = np.random.default_rng(0)
    knots = np.concatenate([[0.0], np.sort(rng.uniform(0, 10, 6)), [10.0]])
    path, shapelet, metric = (rng.normal(size=shape) for shape in ((2, 8), (2, 4), (2, 2)))
    for s, length in ((0.0, 4.0), (2.345, 3.21), (6.0, 4.0), (0.0, 13.0)):
        own = np.linspace(0.0, length, 4)

        def r(t, s=s, own=own):
            return np.array(
                [np.interp(s + t, knots, f) - np.interp(t, own, w) for f, w in zip(path, shapelet)]
            )

        breaks = np.unique(np.concatenate([own, knots - s]))
        breaks = breaks[(breaks >= 0) & (breaks <= length)]

        def integral(function, breaks=(*breaks, length)):
            return sum(quad(function, a, b)[0] for a, b in itertools.pairwise(breaks))

        mean = np.zeros(2)
        if level_free:
            mean = np.array([integral(lambda t, d=d: r(t)[d]) for d in range(2)]) / length
        want = integral(lambda t, mean=mean: ((metric @ (r(t) - mean)) ** 2).sum())
        got = l2_distance(knots, path, s, shapelet, length, metric, level_free)
        assert got == pytest.approx(np.sqrt(want), rel=1e-10)


def test_level_free_is_the_best_constant():
    rng = np.random.default_rng(1)
    knots, path, shapelet = np.arange(6.0), rng.normal(size=(1, 6)), rng.normal(size=(1, 4))
    free = l2_distance(knots, path, 0.7, shapelet, 3.0, np.eye(1), True)
    best = minimize_scalar(lambda c: l2_distance(knots, path, 0.7, shapelet + c, 3.0, np.eye(1)))
    assert free == pytest.approx(best.fun, rel=1e-9)


def test_offsets_tried():
    series = RaggedSeries.from_arrays(
        [np.ones((1, 5)), np.ones((1, 5)), np.ones((1, 3))],
        [[0, 1, 2, 3, 4], [0, 0.5, 2, 3, 5], [7, 8, 9]],
    )
    paths = interpolate(series)
    assert grid(paths, 0, 2.5).tolist() == [0.0, 1.0, 1.5]
    assert grid(paths, 0, 2.0).tolist() == [0.0, 1.0, 2.0]
    assert grid(paths, 1, 3.0).tolist() == [0.0, 0.5, 1.0, 1.5, 2.0]
    assert grid(paths, 2, 2.5).tolist() == [0.0]


def test_a_match_worked_by_hand():
    # The shapelet 0, 1, 0 of length 2 against a bump twice as high: int (t)^2 twice over [0, 1].
    transform = GeneralisedShapeletTransform.from_shapelets([[[0.0, 1.0, 0.0]]], [2.0])
    matches = transform([[[5.0, 0.0, 2.0, 0.0, 5.0, 5.0]]])
    assert matches.discrepancy.item() == pytest.approx(np.sqrt(2 / 3), rel=1e-6)
    assert matches.start.item() == 1.0


# Grid search


@levels
@metrics
@pytest.mark.parametrize("kind", ["irregular", "regular", "ragged"])
def test_grid_search(kind, metric, per_shapelet, level_free):
    rng = np.random.default_rng(10)
    series = SERIES[kind](rng)
    transform = make_transform(
        rng, metric=metric, per_shapelet=per_shapelet, level_free=level_free, backend="compiled"
    )
    paths = as_paths(series)
    want = judge(transform, paths)
    backends = ["compiled", "reference", "auto"]
    if kind == "regular":
        backends += ["convolution", "fft"]
    for backend in backends:
        matches = assert_agrees(reconfigured(transform, backend=backend), paths, want=want)
        if backend != "auto":
            assert matches.backend == backend
        elif kind == "regular":
            assert matches.backend in ("convolution", "fft")
        else:
            assert matches.backend == "compiled"


@pytest.mark.parametrize("seed", range(12))
def test_grid_search_on_random_shapes(seed):
    rng = np.random.default_rng(100 + seed)
    n_channels, n_shapelets, n_knots = rng.integers(1, 5), rng.integers(1, 6), rng.integers(2, 40)
    transform = make_transform(
        rng, n_channels, n_shapelets, n_knots, lengths=rng.uniform(0.02, 11.0, n_shapelets)
    )
    for name in ("ragged", "odd", "regular"):
        paths = as_paths(SERIES[name](rng, n_channels=n_channels))
        want = judge(transform, paths)
        backends = ["compiled", "reference"]
        if paths.common_step:
            backends += ["convolution", "fft"]
        for backend in backends:
            assert_agrees(reconfigured(transform, backend=backend), paths, want=want)


@pytest.mark.parametrize(
    "length", [0.4, 0.8, 2.0, 2.0 + 1e-13, 2.0 - 1e-13, 2.0 + 1e-9, 2.0 - 1e-9, 0.4 / 3, 1e-4]
)
@pytest.mark.parametrize("backend", ["compiled", "convolution", "fft"])
def test_lengths_at_and_around_whole_steps(length, backend):
    rng = np.random.default_rng(3)
    paths = interpolate(regular(rng, missing=0.0))
    transform = make_transform(rng, lengths=[length] * 4, level_free="mixed", backend=backend)
    # A window of 1e-4 holds a 2000th of the path's energy, and is found with so many digits fewer.
    assert_agrees(transform, paths, rtol=1e-9 if length > 0.01 else 1e-7)


@pytest.mark.parametrize("length", [4.0, 4.0 + 1e-12, 4.0 - 1e-12, 5.0, 400.0])
@pytest.mark.parametrize("backend", ["compiled", "convolution", "fft", "reference"])
def test_lengths_at_and_beyond_the_span(length, backend):
    rng = np.random.default_rng(4)
    paths = interpolate(regular(rng, n_times=(11, 12), missing=0.0))
    assert paths.spans.max() == pytest.approx(4.0)
    transform = make_transform(rng, lengths=[length] * 4, level_free="mixed", backend=backend)
    matches = assert_agrees(transform, paths)
    np.testing.assert_allclose(matches.start, np.tile(paths.origin[:, None], 4), atol=1e-9)


@levels
@pytest.mark.parametrize("kind", ["irregular", "regular"])
def test_a_span_of_fifty_lengths(kind, level_free):
    rng = np.random.default_rng(5)
    if kind == "irregular":
        series = irregular(rng, n_series=2, n_times=(300, 301), span=100.0)
    else:
        series = regular(rng, n_series=2, n_times=(300, 301), step=1 / 3)
    series = dataclasses.replace(series, values=series.values + 30.0)
    transform = make_transform(rng, n_shapelets=2, lengths=[2.0, 2.3], level_free=level_free)
    for backend in ("compiled", "auto"):
        assert_agrees(reconfigured(transform, backend=backend), series)


def test_a_gap_much_longer_than_the_shapelet():
    rng = np.random.default_rng(6)
    times = np.concatenate([np.linspace(0, 1, 40), 2e3 + np.linspace(0, 1, 40) ** 2])
    series = RaggedSeries.from_arrays([rng.normal(size=(2, 80))], [times])
    transform = make_transform(rng, lengths=[0.3, 0.5, 1.0, 30.0], backend="compiled")
    assert_agrees(transform, series)


def arrays_of(transform):
    shapelets = transform.shapelets
    return transform.discrepancy.arrays(shapelets.values, shapelets.lengths)


def assert_knots_and_corners_agree(transform, series):
    """Both sums that the compiled search may take find what the slow search finds."""
    paths = as_paths(series)
    want, _ = judge(transform, paths)
    problems = pose_l2(paths, arrays_of(transform))
    for corners_per_knot in (0.0, np.inf):
        found = [search_compiled(problem, corners_per_knot).start for problem in problems]
        start = np.concatenate(found, axis=1) + paths.origin[:, None]
        np.testing.assert_allclose(distances_at(transform, paths, start), want, rtol=1e-9)


@levels
@metrics
@pytest.mark.parametrize("kind", SERIES)
def test_sums_over_knots_and_over_corners_agree(kind, metric, per_shapelet, level_free):
    rng = np.random.default_rng(7)
    transform = make_transform(rng, metric=metric, per_shapelet=per_shapelet, level_free=level_free)
    assert_knots_and_corners_agree(transform, SERIES[kind](rng))


@pytest.mark.parametrize("gap", [1e-3, 1e-6, 1e-9, 1e-12, 1e-14])
def test_jumps_between_observations_very_close_together(gap):
    """Steep slopes, whose changes would cost the digits that tell neighbouring offsets apart."""
    rng = np.random.default_rng(71)
    times = np.linspace(0.0, 10.0, 600) + rng.uniform(0.0, 0.01, 600)
    jumps = times[100:600:100]
    times = np.sort(np.concatenate([times, jumps + gap]))
    values = np.sin(times + rng.normal(size=(2, 1))) + 3.0 * (np.searchsorted(jumps, times) % 2)
    series = RaggedSeries.from_arrays([values], [times])
    transform = make_transform(rng, 2, 20, 40, level_free="mixed")
    assert_knots_and_corners_agree(transform, series)


def test_many_corners_are_contracted_in_groups():
    rng = np.random.default_rng(72)
    series = irregular(rng, n_series=2, n_times=(150, 151))
    transform = make_transform(rng, n_knots=200)
    assert group_of_corners(200) < 100
    assert_knots_and_corners_agree(transform, series)


def test_many_series_are_searched_in_chunks(monkeypatch):
    rng = np.random.default_rng(8)
    paths = interpolate(regular(rng, n_series=30))
    transform = make_transform(rng)
    whole = {form: reconfigured(transform, backend=form)(paths) for form in ("convolution", "fft")}
    monkeypatch.setattr("genshapelets.search.spectra.COLUMN_BYTES", 1)
    monkeypatch.setattr("genshapelets.search.spectra.LEAST_COLUMNS", 1)
    for form, matches in whole.items():
        chunked = reconfigured(transform, backend=form)(paths)
        torch.testing.assert_close(chunked.discrepancy, matches.discrepancy, rtol=1e-12, atol=0)


def test_long_windows_go_through_spectra():
    rng = np.random.default_rng(9)
    series = rng.normal(size=(2, 1, 1500))
    transform = make_transform(rng, 1, 4, 6, lengths=[400.0, 450.3, 500.0, 2000.0])
    matches = transform(series)
    assert matches.backend == "fft"
    compiled = reconfigured(transform, backend="compiled")(series)
    assert compiled.backend == "compiled"
    torch.testing.assert_close(matches.discrepancy, compiled.discrepancy, rtol=1e-10, atol=0)
    assert torch.equal(matches.start, compiled.start)
    short = make_transform(rng, 1, 4, 6, lengths=[3.0, 4.0, 5.0, 6.0])
    assert short(series).backend == "convolution"


@pytest.mark.parametrize("backend", ["convolution", "fft", "compiled"])
@pytest.mark.parametrize("apart", ["channels", "shapelets", "series"])
def test_neither_channels_nor_shapelets_nor_series_need_be_of_one_size(apart, backend):
    rng = np.random.default_rng(12)
    x, w = rng.normal(size=(20, 2, 60)), rng.normal(size=(8, 2, 9))
    discrepancy = L2Discrepancy(2)
    if apart == "channels":
        unit = np.array([1e8, 1e-8])[:, None]
        x, w = x * unit, w * unit
        discrepancy.weight.data = torch.tensor([[1e-8, 1e8]])
    elif apart == "shapelets":
        w *= np.logspace(-8, 8, 8)[:, None, None]
    else:
        x *= np.logspace(-8, 8, 20)[:, None, None]
    transform = GeneralisedShapeletTransform.from_shapelets(
        w, rng.uniform(5, 20, 8), discrepancy=discrepancy, backend="reference"
    )
    obvious = transform(x)
    found = reconfigured(transform, backend=backend)(x)
    assert torch.equal(found.start, obvious.start)
    torch.testing.assert_close(found.discrepancy, obvious.discrepancy, rtol=1e-9, atol=0)


@pytest.mark.parametrize("backend", ["convolution", "fft"])
def test_forms_for_regular_data_refuse_other_data(backend):
    rng = np.random.default_rng(11)
    series = RaggedSeries.concatenate([regular(rng, 2), irregular(rng, 1)])
    transform = make_transform(rng, backend=backend)
    with pytest.raises(ValueError, match=f"{backend!r} needs regular.* series 2 .*Use backend="):
        transform(series)


def test_the_irregular_series_is_named_even_if_it_comes_first():
    rng = np.random.default_rng(12)
    series = RaggedSeries.concatenate([irregular(rng, 1), regular(rng, 2)])
    with pytest.raises(ValueError, match="series 0 is irregular"):
        make_transform(rng, backend="convolution")(series)


def test_one_observation_is_not_blamed_for_an_irregular_neighbour():
    rng = np.random.default_rng(13)
    series = RaggedSeries.concatenate([odd(rng)[:1], regular(rng, 2), irregular(rng, 1)])
    with pytest.raises(ValueError, match="series 3 is irregular"):
        make_transform(rng, backend="convolution")(series)


@pytest.mark.parametrize("search", ["grid", "exact"])
@pytest.mark.parametrize("kind", ["irregular", "regular"])
def test_float32(kind, search):
    """Computed in float64 and rounded once: float32 agrees to 1e-6, at the same place."""
    rng = np.random.default_rng(14)
    paths = interpolate(SERIES[kind](rng))
    single = make_transform(rng, level_free="mixed", dtype=torch.float32, search=search)
    values, lengths, _, _ = parameters_of(single)
    double = GeneralisedShapeletTransform.from_shapelets(
        values, lengths, discrepancy=single.discrepancy, search=search
    )
    want = double(paths)
    single.discrepancy.to(torch.float32)
    got = single(paths)
    assert got.discrepancy.dtype == torch.float32 and got.start.dtype == torch.float64
    torch.testing.assert_close(got.discrepancy.double(), want.discrepancy, rtol=1e-6, atol=0)
    torch.testing.assert_close(got.start, want.start, rtol=0, atol=1e-9)


# Exact search


def finest(transform, paths, i, k, n_points=5001):
    """Best of a fine grid, and what a bounded minimiser makes of it."""
    length = parameters_of(transform)[1][k]
    room = max(paths.spans[i] - length, 0.0)
    tried = paths.origin[i] + np.linspace(0.0, room, n_points if room else 1)
    found = [distance_at(transform, paths, i, k, s) for s in tried]
    best = int(np.argmin(found))
    if not room:
        return found[best], found[best]
    bounds = tried[max(best - 1, 0)], tried[min(best + 1, n_points - 1)]
    polished = minimize_scalar(
        lambda s: distance_at(transform, paths, i, k, s), bounds=bounds, method="bounded",
        options={"xatol": 1e-11},
    )  # fmt: skip
    return found[best], min(polished.fun, found[best])


def assert_exact(transform, series):
    paths = as_paths(series)
    matches = transform(paths)
    got, start = matches.discrepancy.detach().numpy(), matches.start.numpy()
    np.testing.assert_allclose(got, distances_at(transform, paths, start), rtol=1e-9)
    lengths = parameters_of(transform)[1]
    assert (start >= paths.origin[:, None] - 1e-9).all()
    room = np.maximum(paths.spans[:, None] - lengths, 0.0)
    assert (start <= paths.origin[:, None] + room + 1e-9).all()
    for i, k in itertools.product(range(len(paths)), range(len(lengths))):
        on_grid, polished = finest(transform, paths, i, k)
        assert got[i, k] <= on_grid * (1 + 1e-12)
        assert got[i, k] == pytest.approx(polished, rel=1e-9)


@levels
@metrics
def test_exact_search_is_never_above_a_fine_grid(metric, per_shapelet, level_free):
    rng = np.random.default_rng(
        [20, METRICS.index((metric, per_shapelet)), LEVELS.index(level_free)]
    )
    series = irregular(rng, n_series=1, n_times=(12, 25))
    transform = make_transform(
        rng, n_shapelets=2, n_knots=4, lengths=[2.0, 3.7], metric=metric, per_shapelet=per_shapelet,
        level_free=level_free, search="exact",
    )  # fmt: skip
    assert_exact(transform, series)


@pytest.mark.parametrize("level_free", [False, "mixed"])
@pytest.mark.parametrize("kind", ["regular", "odd"])
def test_exact_search_on_regular_and_awkward_series(kind, level_free):
    rng = np.random.default_rng(21)
    series = SERIES[kind](rng)[-2:]
    transform = make_transform(
        rng, n_shapelets=2, n_knots=4, lengths=[1.0, 3.7], level_free=level_free, search="exact"
    )
    if kind == "odd":
        series = odd(rng)[[0, 1, 4]]
    assert_exact(transform, series)


@pytest.mark.parametrize("level_free", [False, True])
def test_exact_search_on_a_span_of_fifty_lengths(level_free):
    rng = np.random.default_rng(22)
    series = irregular(rng, n_series=1, n_times=(300, 301), span=100.0)
    series = dataclasses.replace(series, values=series.values + 30.0)
    transform = make_transform(
        rng, n_shapelets=2, n_knots=4, lengths=[2.0, 2.3], level_free=level_free, search="exact"
    )
    assert_exact(transform, series)


def bursts(rng, n_times, width):
    """Two bursts of observations, far apart."""
    times = np.concatenate([rng.uniform(0.0, width, n_times), rng.uniform(9.0, 10.0, n_times)])
    return RaggedSeries.from_arrays([rng.normal(size=(1, 2 * n_times))], [np.sort(times)])


def best_of_grids(transform, series, n_points=301):
    """Smallest distance on a grid, and at the starts that the grid search finds."""
    start = transform(series).start.numpy()
    coarse = judge(
        transform, series, lambda paths, i, S: np.linspace(0, paths.spans[i] - S, n_points)
    )
    return np.minimum(distances_at(transform, series, start), coarse[0])


@pytest.mark.parametrize("level_free", [False, True])
@pytest.mark.parametrize(("n_times", "width"), [(50, 0.1), (300, 0.1), (300, 0.01), (2000, 0.01)])
def test_exact_search_on_bursts_of_observations(n_times, width, level_free):
    """Close observations mean steep slopes, whose changes must not cost the digits of the rest."""
    rng = np.random.default_rng(25)
    for n_knots, length in ((2, 4.9), (3, 6.2), (6, 6.3)):
        series = bursts(rng, n_times, width)
        transform = make_transform(rng, 1, 2, n_knots, lengths=[length] * 2, level_free=level_free)
        on_grid = best_of_grids(transform, series)
        exact = reconfigured(transform, search="exact")(series).discrepancy.detach().numpy()
        assert (exact <= on_grid * (1 + 1e-9)).all()


@pytest.mark.parametrize("n_knots", [2, 5])
def test_exact_search_on_thirty_thousand_random_times(n_knots):
    rng = np.random.default_rng(26)
    times = np.unique(rng.uniform(0.0, 10.0, 30_000))
    series = RaggedSeries.from_arrays([rng.normal(size=(1, len(times)))], [times])
    transform = make_transform(rng, 1, 4, n_knots, lengths=[2.0, 3.3, 4.9, 6.2], level_free="mixed")
    on_grid = transform(series).discrepancy.detach().numpy()
    matches = reconfigured(transform, search="exact")(series)
    exact = matches.discrepancy.detach().numpy()
    assert (exact <= on_grid * (1 + 1e-9)).all()
    # Nor is anything nearby better.
    for shift in np.linspace(-1e-3, 1e-3, 41):
        near = np.clip(
            matches.start.numpy() + shift, times[0], times[-1] - parameters_of(transform)[1]
        )
        assert (distances_at(transform, series, near) >= exact * (1 - 1e-9)).all()


@pytest.mark.parametrize("kind", ["irregular", "regular", "ragged"])
def test_exact_search_is_never_above_the_grid_search(kind):
    rng = np.random.default_rng(23)
    series = SERIES[kind](rng)
    transform = make_transform(rng, level_free="mixed")
    on_grid = transform(series).discrepancy
    exact = reconfigured(transform, search="exact")(series).discrepancy
    assert (exact <= on_grid * (1 + 1e-12)).all()
    assert (exact < on_grid * (1 - 1e-6)).any()


def test_exact_search_finds_a_shapelet_between_the_offsets_of_a_grid():
    # f = t on [0, 10], w = t + 1/3: the distance vanishes at s = 1/3 and nowhere else.
    transform = GeneralisedShapeletTransform.from_shapelets(
        np.array([[[1 / 3, 7 / 3]]]), [2.0], search="exact"
    )
    matches = transform(np.arange(11.0)[None, None])
    assert matches.start.item() == pytest.approx(1 / 3, abs=1e-7)
    assert matches.discrepancy.item() < 1e-7
    assert matches.backend == "compiled"


def best_of_pieces(transform, paths, i, k):
    """Smallest distance of all: its square is a quartic between any two meetings of knots."""
    values, lengths, metrics, level_free = parameters_of(transform)
    rows = slice(paths.row_offsets[i], paths.row_offsets[i + 1])
    knots, path, room = paths.knots[rows], paths.values[rows].T, paths.spans[i] - lengths[k]

    def distance(s):
        return l2_distance(knots, path, s, values[k], lengths[k], metrics[k], bool(level_free[k]))

    meetings = np.subtract.outer(knots, np.linspace(0.0, lengths[k], values.shape[2])).ravel()
    edges = np.unique(np.clip(np.append(meetings, [0.0, room]), 0.0, room))
    tried = [*edges]
    for a, b in itertools.pairwise(edges):
        points = 0.5 - 0.5 * np.cos(np.linspace(0.0, np.pi, 5))
        squares = [distance(a + x * (b - a)) ** 2 for x in points]
        quartic = np.polynomial.Polynomial.fit(points, squares, 4, domain=[0, 1])
        flat = quartic.deriv().roots()
        flat = flat[(abs(flat.imag) < 1e-6) & (flat.real > 0.0) & (flat.real < 1.0)].real
        tried += [*(a + flat * (b - a))]
    return min(distance(s) for s in tried)


def assert_best_of_pieces(transform, series, rtol=1e-9):
    paths = as_paths(series)
    matches = transform(paths)
    got = matches.discrepancy.detach().numpy()
    np.testing.assert_allclose(
        got, distances_at(transform, paths, matches.start.numpy()), rtol=rtol
    )
    want = [
        [best_of_pieces(transform, paths, i, k) for k in range(got.shape[1])]
        for i in range(len(got))
    ]
    np.testing.assert_allclose(got, want, rtol=rtol)


@levels
@metrics
@pytest.mark.parametrize("kind", ["irregular", "regular"])
def test_exact_search_of_short_shapelets(kind, metric, per_shapelet, level_free):
    """Shorter than most gaps between observations, or than all of them."""
    rng = np.random.default_rng(27)
    series = SERIES[kind](rng, n_series=1, n_times=(9, 12))
    transform = make_transform(
        rng, n_shapelets=4, n_knots=4, lengths=series.spans[0] * np.array([1e-5, 1e-3, 0.02, 0.15]),
        metric=metric, per_shapelet=per_shapelet, level_free=level_free, search="exact",
    )  # fmt: skip
    assert_best_of_pieces(transform, series)


@pytest.mark.parametrize("level_free", [False, True])
def test_exact_search_of_short_shapelets_with_many_knots(level_free):
    rng = np.random.default_rng(28)
    series = irregular(rng, n_series=1, n_times=(6, 7), missing=0.0)
    transform = make_transform(
        rng, n_shapelets=2, n_knots=50, lengths=[1e-4, 1.0], level_free=level_free, search="exact"
    )
    assert_best_of_pieces(transform, series)


@pytest.mark.parametrize("level_free", [False, True])
def test_exact_search_of_short_shapelets_among_close_observations(level_free):
    rng = np.random.default_rng(29)
    gaps = np.where(
        np.arange(12) % 3 == 2, rng.exponential(size=12), 10.0 ** rng.uniform(-9, -4, 12)
    )
    series = RaggedSeries.from_arrays([rng.normal(size=(2, 12))], [gaps.cumsum()])
    transform = make_transform(
        rng, n_shapelets=3, lengths=[1e-5, 1e-3, 0.5], level_free=level_free, search="exact"
    )
    assert_best_of_pieces(transform, series)


def test_exact_search_on_one_straight_line():
    # f = t on [0, 10] and a constant: the window's middle lies on it, int (t - 1/4)^2 = (1/2)^3 / 12.
    transform = GeneralisedShapeletTransform.from_shapelets(
        [[[3.0, 3.0, 3.0]], [[-1.0, -1.0, -1.0]], [[11.0, 11.0, 11.0]]], [0.5] * 3, search="exact"
    )
    matches = transform(RaggedSeries.from_arrays([[[0.0, 10.0]]], [[0.0, 10.0]]))
    assert matches.start.tolist() == [[pytest.approx(2.75, rel=1e-12), 0.0, 9.5]]
    # Out of reach: the middle is 5/4 away at both ends.
    want = np.sqrt([1 / 96, 1 / 96 + 25 / 32, 1 / 96 + 25 / 32])
    np.testing.assert_allclose(matches.discrepancy.detach()[0], want, rtol=1e-6)


@pytest.mark.parametrize("level_free", [False, True])
@pytest.mark.parametrize("length", [1e-9, 1e-12, 1e-15, 1e-25])
def test_exact_search_of_a_shapelet_next_to_nothing(length, level_free):
    """What is left of the discrepancy is the distance of a point of the path from the mean."""
    rng = np.random.default_rng(31)
    series = irregular(rng, n_series=2, missing=0.0)
    transform = make_transform(
        rng,
        n_shapelets=2,
        lengths=[length] * 2,
        metric="none",
        level_free=level_free,
        search="exact",
    )
    paths, values = as_paths(series), parameters_of(transform)[0]
    mean = values.mean(axis=2) - (values[..., 0] + values[..., -1]) / 2 / values.shape[2]
    mean = mean * values.shape[2] / (values.shape[2] - 1)
    p, q = (values[..., part] - mean[..., None] for part in (slice(-1), slice(1, None)))
    want = np.tile((p * p + p * q + q * q).mean(axis=2).sum(axis=1) / 3, (2, 1))
    for i, k in itertools.product(range(2), range(2)):
        path = paths.values[paths.row_offsets[i] : paths.row_offsets[i + 1]] - mean[k]
        rise = np.diff(path, axis=0)
        share = np.clip(-(path[:-1] * rise).sum(axis=1) / (rise**2).sum(axis=1), 0.0, 1.0)
        nearest = ((path[:-1] + share[:, None] * rise) ** 2).sum(axis=1).min()
        want[i, k] += 0.0 if level_free else nearest
    got = transform(paths).discrepancy.detach().numpy()
    np.testing.assert_allclose(got, np.sqrt(length * want), rtol=1e-6)


@pytest.mark.parametrize("length", [1e-12, 1e-3, 0.1, 1.0, 9.0])
def test_walks_are_where_a_window_holds_a_knot(length):
    rng = np.random.default_rng(32)
    knots = np.concatenate([[0.0], np.sort(rng.uniform(0.0, 10.0, 30)), [10.0]])
    walks, row = [], 1
    while row < len(knots) - 1:
        begin, end, row = next_walk(knots, length, row)
        walks.append((begin, end))
    begins, ends = np.array(walks).T
    assert begins[0] >= 0.0 and ends[-1] <= 10.0 - length
    assert (begins <= ends).all() and (ends[:-1] < begins[1:]).all()
    assert (ends - begins).sum() <= 30 * length * (1 + 1e-2)  # a length of some hundred ulps
    tried = np.append(rng.uniform(0.0, 10.0 - length, 300), knots[1:-1] - 0.5 * length)
    for s in tried[(tried >= 0.0) & (tried <= 10.0 - length)]:
        inside = ((knots > s) & (knots < s + length)).any()
        assert inside == ((begins < s) & (s < ends)).any() or s in (0.0, 10.0 - length)


@pytest.mark.parametrize("backend", ["convolution", "fft", "reference"])
def test_exact_search_refuses_backends_of_the_grid(backend):
    rng = np.random.default_rng(24)
    transform = make_transform(rng, search="exact", backend=backend)
    with pytest.raises(ValueError, match=f'exact search runs on backend="compiled".*{backend}'):
        transform(regular(rng))


# Twins of the compiled parts


@levels
@metrics
@pytest.mark.parametrize("form", ["convolution", "fft"])
def test_the_convolution_in_torch_agrees(metric, per_shapelet, level_free, form):
    rng = np.random.default_rng(30)
    series = RaggedSeries.concatenate([regular(rng, 8, missing=0.0), odd(rng)[[0, 1, 2, 4]]])
    paths = interpolate(series)
    transform = make_transform(
        rng, lengths=[0.4, 2.0, 3.3, 8.3], metric=metric, per_shapelet=per_shapelet,
        level_free=level_free,
    )  # fmt: skip
    cpu = torch.device("cpu")
    kinds = set()
    for problem in pose_l2(paths, arrays_of(transform)):
        found = search_convolution(problem, form)
        twin = convolution_torch.search_torch(problem, form, cpu)
        np.testing.assert_array_equal(twin.index, found.index)
        np.testing.assert_allclose(twin.start, found.start, rtol=1e-14, atol=1e-14)
        np.testing.assert_array_equal(twin.slope, found.slope)
        kinds |= set(np.minimum(twin.index, 0).ravel().tolist())
    assert kinds == {0, AT_END, FREE}


@pytest.mark.parametrize("n_rows", [2, 9, 60])
@pytest.mark.parametrize("n_channels", [1, 3])
def test_shapelets_of_many_lengths_side_by_side(n_channels, n_rows):
    rng = np.random.default_rng(31)
    lengths = [4.0, 0.4, 11.5, 1.0, 3.0, 2.5, 3.0, 100.0, 2.0, 3.7, 7.0]
    transform = make_transform(rng, n_channels, 11, 6, lengths=lengths, backend="convolution")
    series = [rng.normal(size=(n_channels, n)) for n in (n_rows, 5, n_rows, 2, n_rows + 1, 12)]
    series.append(np.ones((n_channels, 20)))  # all windows cost the same
    paths = interpolate(RaggedSeries.from_arrays(series))
    matches = assert_agrees(transform, paths, want=judge(transform, paths))
    (problem,) = pose_l2(paths, arrays_of(transform))
    assert side_by_side_applies(problem)
    found = search_convolution(problem, "convolution")
    twin = convolution_torch.search_torch(problem, "convolution", torch.device("cpu"))
    np.testing.assert_array_equal(twin.index[:-1], found.index[:-1])
    for n in range(len(paths)):
        alone = transform(paths[[n]])
        assert torch.equal(alone.start[0], matches.start[n])
        assert torch.equal(alone.discrepancy[0], matches.discrepancy[n])


@pytest.mark.parametrize("period", [1, 2, 3, 4, 6, 8, 9, 24, 54, 81, 128, 216])
@pytest.mark.parametrize("n_columns", [1, 5, 80])
def test_columns_are_transformed_as_numpy_does(period, n_columns):
    rng = np.random.default_rng(34)
    z = rng.normal(size=(period, n_columns)) + 1j * rng.normal(size=(period, n_columns))
    re, im = z.real.ravel(), z.imag.ravel()
    others = np.empty_like(re), np.empty_like(im)
    if transform_columns(re, im, *others, period, n_columns, roots_of_unity(period)):
        re, im = others
    found = (re + 1j * im).reshape(period, n_columns)
    np.testing.assert_allclose(found, np.fft.fft(z, axis=0), rtol=0, atol=1e-13 * period)


def test_periods_have_small_factors():
    assert [fast_period(n) for n in (1, 2, 5, 7, 10, 25, 33, 97, 206)] == [
        1, 2, 6, 8, 12, 27, 36, 108, 216,
    ]  # fmt: skip


@pytest.mark.parametrize("column_bytes", [1, 2**11, 2**18])
@pytest.mark.parametrize("n_channels", [1, 2, 3])
@pytest.mark.parametrize("n_shapelets", [1, 2, 5, 12])
def test_the_correlations_agree(monkeypatch, column_bytes, n_channels, n_shapelets):
    monkeypatch.setattr("genshapelets.search.spectra.COLUMN_BYTES", column_bytes)
    monkeypatch.setattr("genshapelets.search.spectra.LEAST_COLUMNS", 2)
    rng = np.random.default_rng(31)
    n_paths, n_rows, n_taps = 7, 50, 9
    n_offsets = n_rows - n_taps + 1
    x, taps = (
        rng.normal(size=(n_paths, n_rows, n_channels)),
        np.zeros((2, n_shapelets, 12, n_channels)),
    )
    taps[0, :, :n_taps] = rng.normal(size=(n_shapelets, n_taps, n_channels))
    windows = np.lib.stride_tricks.sliding_window_view(x, n_taps, axis=1)
    obvious = np.einsum("noct,ktc->kno", windows, taps[0, :, :n_taps])

    layout = Layout.of(n_rows, n_channels, n_shapelets)
    roots, room = roots_of_unity(layout.period), np.empty(layout.room(n_channels))
    spectra, largest_tap, transform_taps = spectra_of_taps(taps[0], layout, roots)
    run_in_turn(transform_taps)
    largest, bound = np.empty((n_paths, n_channels)), np.empty((1, 2 * layout.n_pairs))
    rows, row_offsets = x.reshape(-1, n_channels), np.arange(n_paths + 1) * n_rows
    by_spectra = np.empty_like(obvious)
    path_re, path_im = transform_paths(
        0, n_paths, rows, row_offsets, layout, roots, np.empty(10**5), largest
    )
    for path in range(n_paths):
        for group in range(layout.n_groups):
            parts = correlate_spectra(
                path, 1, group, path_re, path_im, largest, spectra, largest_tap, layout, roots, room,
                bound,
            )  # fmt: skip
            for second, part in enumerate(parts):
                column = part.reshape(layout.period, -1)[:n_offsets, : layout.n_pairs].T
                for pair in range(layout.n_pairs):
                    k = (second * layout.n_groups + group) * layout.n_pairs + pair
                    if k < n_shapelets:
                        size = bound[0, second * layout.n_pairs + pair]
                        by_spectra[k, path] = size * column[pair]
    np.testing.assert_allclose(by_spectra, obvious, rtol=1e-12, atol=1e-12)

    by_windows = np.empty((1, n_offsets))
    for path in range(n_paths):
        for k in range(n_shapelets):
            channels = np.ascontiguousarray(x[path].T)
            correlate_windows(channels, taps, k, n_taps, n_offsets, by_windows)
            np.testing.assert_allclose(by_windows[0], obvious[k, path], rtol=1e-12, atol=1e-12)

    of_torch = torch.from_numpy(x), torch.from_numpy(taps[0])
    for twin in (
        convolution_torch.by_windows(*of_torch, n_offsets),
        convolution_torch.by_spectra(*of_torch),
    ):
        np.testing.assert_allclose(twin[:, :, :n_offsets], obvious, rtol=1e-12, atol=1e-12)


WINDOWS = ["lattice", "at_end", "mixed", "free"]


def windows_problem(windows, metric, per_shapelet, level_free, seed=32):
    rng = np.random.default_rng(seed)
    transform = make_transform(
        rng, lengths=[0.4, 2.0, 3.3, 8.3], metric=metric, per_shapelet=per_shapelet,
        level_free=level_free,
    )  # fmt: skip
    series = ragged(rng) if windows == "free" else regular(rng, 9)
    paths = interpolate(series)
    shapelets = transform.shapelets
    offsets = best_offsets(paths, transform.discrepancy, shapelets.values, shapelets.lengths)
    room = paths.spans[:, None] - shapelets.lengths.detach().numpy()
    if windows == "lattice":
        index = np.where(offsets.index == AT_END, 0, offsets.index)
        start = np.where(offsets.index == AT_END, 0.0, offsets.start)
        offsets = Offsets(start, np.zeros_like(start), index, "")
    elif windows == "at_end":
        fits = room > 0
        offsets = Offsets(np.where(fits, room, 0.0), -1.0 * fits, np.where(fits, AT_END, FREE), "")
    elif windows == "free":
        share = rng.uniform(0, 1, room.shape)
        offsets = Offsets(share * room.clip(0), -share * (room > 0), np.full(room.shape, FREE), "")
    return transform, paths, offsets


def all_free(offsets):
    index = np.full_like(offsets.index, FREE)
    return Offsets(offsets.start, offsets.slope, index, offsets.backend)


def compiled_windows(values, lengths, weight, level_free, paths, offsets):
    return prepare_windows(values, lengths, weight, level_free.numpy(), paths).at(offsets)


def value_and_gradients(function, transform, paths, offsets):
    shapelets, discrepancy = transform.shapelets, transform.discrepancy
    transform.zero_grad()
    level_free = discrepancy.level_free_of(shapelets.n_shapelets).contiguous()
    got = function(
        shapelets.values, shapelets.lengths, discrepancy.weight, level_free, paths, offsets
    )
    upstream = torch.sin(torch.arange(got.numel(), dtype=got.dtype)).reshape(got.shape)
    (got * upstream).sum().backward()
    return got.detach(), {name: p.grad.clone() for name, p in transform.named_parameters()}


def assert_same_function(got, want, rtol=1e-9):
    torch.testing.assert_close(got[0], want[0], rtol=1e-10, atol=1e-12)
    assert got[1].keys() == want[1].keys()
    for name, gradient in want[1].items():
        scale = gradient.abs().max().item()
        assert scale > 0
        torch.testing.assert_close(got[1][name], gradient, rtol=rtol, atol=rtol * scale)


@levels
@metrics
@pytest.mark.parametrize("windows", WINDOWS)
def test_torch_windows_agree_with_compiled_ones(windows, metric, per_shapelet, level_free):
    problem = windows_problem(windows, metric, per_shapelet, level_free)
    got = value_and_gradients(l2_windows, *problem)
    assert_same_function(got, value_and_gradients(compiled_windows, *problem))


def test_torch_windows_are_taken_in_chunks(monkeypatch):
    problem = windows_problem("free", "diagonal", False, "mixed")
    whole = value_and_gradients(l2_windows, *problem)
    monkeypatch.setattr("genshapelets.discrepancies._l2_torch.MAX_ELEMENTS", 1)
    assert_same_function(value_and_gradients(l2_windows, *problem), whole)


@levels
@metrics
@pytest.mark.parametrize("windows", ["lattice", "at_end", "mixed"])
def test_lattice_windows_agree_with_the_union_of_knots(windows, metric, per_shapelet, level_free):
    transform, paths, offsets = windows_problem(windows, metric, per_shapelet, level_free, seed=33)
    assert (offsets.index != FREE).any(axis=0).all()
    free = all_free(offsets)
    on_lattice = value_and_gradients(compiled_windows, transform, paths, offsets)
    on_union = value_and_gradients(compiled_windows, transform, paths, free)
    assert_same_function(on_lattice, on_union)


def test_lattices_of_two_steps_and_free_windows_in_one_batch():
    rng = np.random.default_rng(34)
    transform, paths = make_transform(rng), interpolate(ragged(rng))
    shapelets = transform.shapelets
    offsets = best_offsets(paths, transform.discrepancy, shapelets.values, shapelets.lengths)
    assert (offsets.index == FREE).any() and (offsets.index >= 0).any()
    assert len(set(paths.step)) == 3
    free = all_free(offsets)
    assert_same_function(
        value_and_gradients(compiled_windows, transform, paths, offsets),
        value_and_gradients(compiled_windows, transform, paths, free),
    )


def test_more_knots_than_samples_and_fewer():
    for n_knots, length in ((60, 0.9), (2, 6.0), (60, 0.1)):
        rng = np.random.default_rng(35)
        transform = make_transform(rng, n_knots=n_knots, lengths=[length] * 4)
        paths = interpolate(regular(rng))
        shapelets = transform.shapelets
        offsets = best_offsets(paths, transform.discrepancy, shapelets.values, shapelets.lengths)
        free = all_free(offsets)
        assert_same_function(
            value_and_gradients(compiled_windows, transform, paths, offsets),
            value_and_gradients(compiled_windows, transform, paths, free),
        )
