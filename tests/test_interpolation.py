"""What holds for every interpolation; and that each gives what its formula says."""

import copy
import dataclasses
import json
import pickle
import warnings

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from pairwise import pairwise
from problems import assert_agrees, irregular, make_transform, odd, ragged, regular
from scipy.interpolate import CubicHermiteSpline, CubicSpline
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

from genshapelets import (
    ClassicalDiscrepancy,
    GeneralisedShapeletTransform,
    L2Discrepancy,
    RaggedSeries,
    ShapeletClassifier,
    interpolate,
)
from genshapelets.datasets import planted_pattern
from genshapelets.interpolation import (
    INTERPOLATIONS,
    Constant,
    Cubic,
    GaussianProcess,
    Interpolation,
    KernelSmoothing,
    Linear,
    SmoothInterpolation,
    make_interpolation,
)
from genshapelets.interpolation.gaussian_process import log_likelihood
from genshapelets.interpolation.mesh import Mesh
from genshapelets.interpolation.smooth import SAMPLE
from genshapelets.paths import observed

NAN = np.nan


class Middling(SmoothInterpolation):
    """A user's own: a bow over each line, as high as the gap is wide."""

    def __init__(self, tolerance=0.05, max_pieces=4):
        super().__init__(tolerance, max_pieces)

    def curve(self, channel, asked):
        a, b = asked.times[asked.left], asked.times[asked.right()]
        gap = np.where(b > a, b - a, 1.0)
        return asked.lines() + (asked.points - a) * (b - asked.points) / gap**2


KINDS = {
    "linear": Linear(),
    "constant": Constant(),
    "cubic": Cubic(),
    "natural": Cubic("natural"),
    "smoothing": KernelSmoothing(),
    "gaussian_process": GaussianProcess(),
    "own": Middling(),
}
SMOOTH = [name for name in KINDS if name not in ("linear", "constant")]
EXACT = [name for name in KINDS if name not in ("smoothing", "gaussian_process")]
MAKERS = {"irregular": irregular, "regular": regular, "ragged": ragged, "odd": odd}
each = pytest.mark.parametrize("name", KINDS)
each_smooth = pytest.mark.parametrize("name", SMOOTH)
on_each = pytest.mark.parametrize(("name", "maker"), pairwise(list(KINDS), list(MAKERS)))
few = settings(deadline=None, max_examples=30)
seeds = st.integers(0, 2**32 - 1)

pytestmark = pytest.mark.filterwarnings("ignore:.* needs . observations")


def fitted(name, series):
    return make_interpolation(KINDS[name]).fit(series)


def made(maker, seed=0, **kwargs):
    return MAKERS[maker](np.random.default_rng(seed), **kwargs)


def one_series(seed=0, n_times=30, noise=0.1):
    """One irregular, noisy wave."""
    rng = np.random.default_rng(seed)
    times = np.sort(rng.uniform(0.0, 10.0, n_times))
    values = np.sin(times) + noise * rng.normal(size=n_times)
    return times, values, RaggedSeries.from_arrays([values[None]], [times])


def assert_same(one, other, tolerance=1e-9):
    assert one.row_offsets.tolist() == other.row_offsets.tolist()
    np.testing.assert_allclose(one.times, other.times, rtol=0, atol=tolerance)
    np.testing.assert_allclose(one.values, other.values, rtol=0, atol=tolerance)


# ------------------------------------------------------------------ contract


@on_each
def test_nothing_is_missing_but_channels_never_observed(name, maker):
    series = made(maker)
    filled = fitted(name, series)(series)
    assert isinstance(filled, RaggedSeries) and len(filled) == len(series)
    if name == "linear":
        assert filled is series
        return
    for was, now in zip(series, filled, strict=True):
        assert (np.diff(now.times) > 0).all()
        never = np.isnan(was.values).all(axis=1)
        assert np.isnan(now.values[never]).all() and np.isfinite(now.values[~never]).all()
    assert np.isfinite(interpolate(filled).values).all()


@on_each
def test_times_of_observations_are_knots(name, maker):
    series = observed(made(maker))
    for was, now in zip(series, fitted(name, series)(series), strict=True):
        nearest = np.abs(now.times[:, None] - was.times).min(axis=0)
        np.testing.assert_allclose(nearest, 0.0, atol=1e-10)
        assert now.times[0] == was.times[0]
        if name != "constant":
            np.testing.assert_allclose(now.times[-1], was.times[-1], rtol=1e-11)


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("maker", MAKERS)
def test_it_goes_through_the_observations(name, maker):
    series = observed(made(maker))
    paths = interpolate(fitted(name, series)(series))
    for i, one in enumerate(series):
        got = paths[[i]].evaluate(paths.origin[i] + (one.times - one.times[0]))[0]
        seen = ~np.isnan(one.values)
        np.testing.assert_allclose(got[seen], one.values[seen], atol=1e-8)


@pytest.mark.parametrize("interpolation", [KernelSmoothing(1e-6), GaussianProcess(2.0, 1e-12)])
def test_without_noise_to_take_away_the_others_do_too(interpolation):
    times, values, series = one_series()
    got = interpolate(interpolation.fit(series)(series)).evaluate(times)[0, 0]
    np.testing.assert_allclose(got, values, atol=1e-6)


@each_smooth
@pytest.mark.parametrize("precision", [np.float64, np.float32])
@pytest.mark.parametrize("origin", [0.0, 1e6])
def test_regularly_sampled_series_stay_so_with_one_step(name, precision, origin):
    rng = np.random.default_rng(1)
    values = [rng.normal(size=(2, size)).cumsum(axis=1) for size in (20, 31, 44)]
    values[1][0, 4:9] = NAN
    values[1][:, 20] = NAN
    step = 0.1 if origin == 0 else 0.5
    times = [(origin + step * (3 * i + np.arange(x.shape[1]))) for i, x in enumerate(values)]
    series = RaggedSeries.from_arrays(values, [t.astype(precision) for t in times])
    interpolation = fitted(name, series)
    paths = interpolate(interpolation(series))
    assert interpolation.pieces_ > 1
    assert paths.step == pytest.approx(interpolate(series).step / interpolation.pieces_, rel=1e-9)
    assert len(paths.samplings) == len(interpolate(series).samplings) and (paths.step > 0).all()
    if precision is np.float64:
        assert len(paths.samplings) == 1
    assert paths.lengths.tolist() == [interpolation.pieces_ * (x.shape[1] - 1) + 1 for x in values]


@on_each
def test_a_channel_is_constant_before_its_first_and_after_its_last_observation(name, maker):
    series = made(maker)
    paths = interpolate(fitted(name, series)(series))
    for i, one in enumerate(observed(series)):
        for channel, values in enumerate(one.values):
            seen = one.times[~np.isnan(values)]
            if len(seen):
                ends = [seen[0], seen[-1]]
                outside = [one.times[0] - 1, one.times[-1] + 5]
                middle = [(seen[0] + one.times[0]) / 2, (seen[-1] + one.times[-1]) / 2]
                for t in (outside, middle):
                    got = paths[[i]].evaluate(t)[0, channel]
                    want = paths[[i]].evaluate(ends)[0, channel]
                    np.testing.assert_allclose(got, want, atol=1e-9)


@on_each
def test_each_series_is_on_its_own(name, maker):
    series = made(maker)
    interpolation = fitted(name, series)
    whole = interpolation(series)
    order = np.random.default_rng(0).permutation(len(series))
    assert_same(interpolation(series[order]), whole[order])
    assert_same(interpolation(series[1:2]), whole[1:2])


@on_each
def test_each_channel_is_on_its_own(name, maker):
    series = made(maker, n_channels=2)
    turned = dataclasses.replace(series, values=np.ascontiguousarray(series.values[:, ::-1]))
    there, back = fitted(name, series)(series), fitted(name, turned)(turned)
    assert_same(there, dataclasses.replace(back, values=back.values[:, ::-1]))


@on_each
def test_shifting_time_shifts(name, maker):
    series = made(maker)
    shifted = dataclasses.replace(series, times=series.times + 64.0)
    interpolation = fitted(name, series)
    there = interpolation(shifted)
    assert_same(dataclasses.replace(there, times=there.times - 64.0), interpolation(series), 1e-7)
    assert fitted(name, shifted).state().keys() == interpolation.state().keys()
    if name in SMOOTH:
        assert fitted(name, shifted).pieces_ == interpolation.pieces_


@on_each
def test_units_of_time_and_of_values_do_not_matter(name, maker):
    if name == "own":
        return  # whose bow is one unit high
    series = made(maker)
    other = dataclasses.replace(
        series, times=64.0 * series.times, values=16.0 * series.values - 8.0
    )
    got = fitted(name, other)(other)
    got = dataclasses.replace(got, times=got.times / 64.0, values=(got.values + 8.0) / 16.0)
    assert_same(got, fitted(name, series)(series), 1e-6)


@each
def test_datetimes_stay(name):
    days = np.array(["2020-01-01", "2020-01-02", "2020-01-03", "2020-01-05"], "datetime64[D]")
    values = [[[1.0, 3.0, 2.0, 5.0]], [[2.0, NAN, 0.0, 1.0]]]
    series = RaggedSeries.from_arrays(values, [days, days + 40])
    filled = fitted(name, series)(series)
    assert filled.time_origin == series.time_origin
    assert np.isin(days, filled.to_user_time(filled[0].times)).all()
    paths = interpolate(filled)
    if name in EXACT:
        np.testing.assert_allclose(paths.evaluate(days[1:2])[0], [[3.0]], rtol=1e-9)


@each
def test_what_belongs_to_a_batch_is_kept(name):
    rng = np.random.default_rng(0)
    table = {
        "who": np.repeat(["a", "b"], 6), "when": np.tile(np.arange(6) ** 1.5, 2),
        "x": rng.normal(size=12), "y": rng.normal(size=12),
    }  # fmt: skip
    series = RaggedSeries.from_long(table, series="who", time="when", channels=["x", "y"])
    before = series.values.copy()
    filled = fitted(name, series)(series)
    assert filled.channel_names == ("x", "y") and filled.series_ids.tolist() == ["a", "b"]
    np.testing.assert_array_equal(series.values, before)


@each
def test_float32_values_give_what_float64_gives(name):
    series = made("irregular")
    single = dataclasses.replace(series, values=series.values.astype(np.float32))
    double = dataclasses.replace(single, values=single.values.astype(np.float64))
    interpolation = fitted(name, double)
    assert_same(interpolation(single), interpolation(double))


@each
@pytest.mark.filterwarnings("ignore")
def test_it_is_made_again_from_json(name):
    series = made("ragged")
    for interpolation in (make_interpolation(KINDS[name]), fitted(name, series)):
        config, state = json.loads(
            json.dumps([interpolation.config(), interpolation.state()], allow_nan=False)
        )
        again = Interpolation.from_config(type(interpolation).__name__, config).with_state(state)
        for twin in (again, copy.deepcopy(interpolation), pickle.loads(pickle.dumps(again))):
            assert twin == interpolation and hash(twin) == hash(interpolation)
            assert repr(twin) == repr(interpolation)
    assert_same(again(series), interpolation(series), 0.0)
    assert eval(repr(again)) == make_interpolation(again)
    assert make_interpolation(again).state() == {}
    assert again.state() == {} or again != make_interpolation(again)


@each
def test_fitting_twice_is_fitting_once(name):
    series = made("irregular")
    interpolation = fitted(name, made("regular", n_channels=1))
    assert interpolation.fit(series) is interpolation
    assert interpolation == fitted(name, series)


@pytest.mark.parametrize("level_free", [False, True])
@pytest.mark.parametrize("search", ["auto", "refined"])
@each
def test_a_planted_pattern_is_found(name, level_free, search):
    planted = planted_pattern(12, noise=0.02, missing=0.2, random_state=3)
    has_one = np.flatnonzero(planted.labels)
    interpolation = make_interpolation(KINDS[name]).fit(planted.series)
    if name == "own":
        return  # whose bows hide it
    transform = GeneralisedShapeletTransform.from_shapelets(
        torch.from_numpy(planted.patterns[:, None]), [planted.length],
        discrepancy=L2Discrepancy(1, "none", level_free=level_free), search=search,
    )  # fmt: skip
    matches = transform(interpolation(planted.series))
    discrepancy = matches.discrepancy.detach().numpy()[:, 0]
    start = matches.start.numpy()[:, 0]
    others = np.setdiff1d(np.arange(12), has_one)
    assert discrepancy[has_one].max() < discrepancy[others].min()
    np.testing.assert_allclose(start[has_one], planted.starts[has_one], atol=0.2)


@pytest.mark.parametrize(
    ("name", "maker", "level_free", "search"),
    pairwise(
        list(KINDS), list(MAKERS), [False, True, "mixed"], ["auto", "grid", "refined", "exact"]
    ),
)
def test_the_transform_works_behind_it(name, maker, level_free, search):
    rng = np.random.default_rng(5)
    series = made(maker, seed=4)
    paths = interpolate(fitted(name, series)(series))
    transform = make_transform(rng, level_free=level_free, search=search)
    matches = transform(paths)
    matches.discrepancy.log1p().sum().backward()
    assert torch.isfinite(matches.discrepancy).all() and (matches.discrepancy >= 0).all()
    for parameter in transform.parameters():
        assert torch.isfinite(parameter.grad).all()
    if search == "grid":
        assert_agrees(transform, paths, rtol=1e-6)
    transform.search, transform.backend = "grid", "generic"
    on_grid = transform(paths).discrepancy
    assert (matches.discrepancy <= on_grid * 1.02 + 1e-9).all()


# ------------------------------------------------------------------ the mesh


def deviation(interpolation, series):
    """How far lines are from the curve, in deviations of the channel: most over all points."""
    config = interpolation.config() | {"max_pieces": 1000, "tolerance": 1e-6}
    state = interpolation.state() | {"pieces_": 7 * interpolation.pieces_}
    finer = type(interpolation)(**config).with_state(state)
    fine, paths = finer(series), interpolate(interpolation(series))
    worst = 0.0
    for i, one in enumerate(fine):
        off = np.abs(paths[[i]].evaluate(one.times)[0] - one.values)
        worst = max(worst, np.nanmax(off / np.array(interpolation.scale_)[:, None]))
    return worst


@pytest.mark.parametrize("tolerance", [0.1, 0.01, 0.001])
@pytest.mark.parametrize("maker", ["irregular", "regular"])
@each_smooth
def test_lines_are_as_close_to_the_curve_as_promised(name, maker, tolerance):
    series = made(maker)
    config = KINDS[name].config() | {"tolerance": tolerance, "max_pieces": 200}
    interpolation = type(KINDS[name])(**config).fit(series)
    assert deviation(interpolation, series) <= 1.05 * tolerance


@pytest.mark.parametrize("maker", ["irregular", "regular"])
@each_smooth
def test_a_tolerance_of_a_quarter_takes_twice_the_knots(name, maker):
    series = made(maker)
    n_knots = [
        len(type(KINDS[name])(**KINDS[name].config() | {"tolerance": t, "max_pieces": 200})
            .fit(series)(series).times)
        for t in (1e-2, 2.5e-3, 1e-4)
    ]  # fmt: skip
    assert 1.4 < n_knots[1] / n_knots[0] < 2.3
    assert 4.0 < n_knots[2] / n_knots[1] < 5.5


@pytest.mark.parametrize("kind", ["hermite", "natural"])
@pytest.mark.parametrize("maker", ["irregular", "regular"])
def test_lines_need_no_knots(kind, maker):
    series = made(maker)
    straight = dataclasses.replace(series, values=np.stack([series.times, -series.times], axis=1))
    assert_same(Cubic(kind).fit(straight)(straight), straight)


@on_each
def test_there_are_at_most_so_many_knots(name, maker):
    if name in ("linear", "constant"):
        return
    series = made(maker)
    interpolation = type(KINDS[name])(tolerance=1e-9, max_pieces=3).fit(series)
    lengths = observed(series).lengths
    got = interpolation(series).lengths
    assert (got <= 3 * lengths).all() and got.sum() > 2 * lengths.sum()
    interpolation.max_pieces, interpolation.pieces_ = 1, 1
    assert (interpolation(series).lengths == lengths).all()


def test_a_wide_gap_gets_more_pieces_than_a_narrow_one():
    times = np.array([0.0, 1.0, 1.1, 1.2, 1.3, 9.0])
    series = RaggedSeries.from_arrays([[[0.0, 1.0, 0.8, 0.9, 0.7, 0.0]]], [times])
    knots = Cubic().fit(series)(series).times
    n_wide, n_narrow = ((knots > 1.3).sum(), ((knots > 1.0) & (knots <= 1.1)).sum())
    assert n_wide > 5 * n_narrow >= 5
    assert len(knots) <= 8 * 6


@each_smooth
def test_blocks_of_series_need_what_all_need(name, monkeypatch):
    series = made("ragged")
    interpolation = fitted(name, series)
    want = interpolation(series)
    monkeypatch.setattr("genshapelets.interpolation.smooth.BLOCK", 40)
    assert_same(interpolation(series), want)
    assert fitted(name, series).pieces_ == interpolation.pieces_


def test_gaps_too_narrow_for_float64_are_not_divided():
    times = 1e9 + np.array([0.0, 1e-6, 1.0, 2.0, 3.5])
    series = RaggedSeries.from_arrays([[[0.0, 1.0, -1.0, 1.0, 0.0]]], [times])
    for name in KINDS:
        filled = fitted(name, series)(series)
        assert (np.diff(filled.times) > 0).all() and np.isfinite(filled.values).all()
    mesh = Mesh.of(series).divided(np.full(5, 16))
    assert (np.diff(mesh.filled(mesh.points[:, None]).times) > 0).all()
    assert np.bincount(mesh.row).tolist() == [1, 16, 16, 16, 1]


def test_settings_are_learnt_from_a_sample_of_many_series():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(3 * SAMPLE, 1, 8))
    interpolation = GaussianProcess().fit(RaggedSeries.from_arrays(values))
    assert interpolation.scale_ == pytest.approx([values.std()])
    chosen = np.linspace(0, len(values) - 1, SAMPLE).round().astype(int)
    alone = GaussianProcess().fit(RaggedSeries.from_arrays(values[chosen]))
    assert interpolation.length_scale_ == alone.length_scale_


# ------------------------------------------------------------------ oracles


@pytest.mark.parametrize("maker", MAKERS)
def test_the_last_value_is_carried_forward(maker):
    series = observed(made(maker))
    paths = interpolate(Constant(jump=1e-6)(series))
    rng = np.random.default_rng(0)
    for i, one in enumerate(series):
        t = rng.uniform(one.times[0], one.times[-1], 50)
        got = paths[[i]].evaluate(t)[0]
        for channel, values in enumerate(one.values):
            seen = ~np.isnan(values)
            if seen.any():
                at = np.searchsorted(one.times[seen], t, side="right") - 1
                np.testing.assert_array_equal(got[channel], values[seen][np.maximum(at, 0)])


def test_constants_have_a_knot_before_a_jump_only():
    values = [[[1.0, 1.0, NAN, 3.0, 3.0], [NAN] * 5, [NAN, NAN, 4.0, NAN, NAN]]]
    one = Constant(jump=0.25)(RaggedSeries.from_arrays(values))[0]
    assert one.times.tolist() == [0.0, 1.0, 2.0, 2.75, 3.0, 4.0, 5.0]
    np.testing.assert_array_equal(
        one.values, [[1.0, 1.0, 1.0, 1.0, 3.0, 3.0, 3.0], [NAN] * 7, [4.0] * 7]
    )


@pytest.mark.parametrize("step", [1.0, 0.25])
@pytest.mark.parametrize("jump", [1e-3, 1e-6])
def test_with_constants_l2_is_the_classical_discrepancy(step, jump):
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=(3, 2, 20)), rng.normal(size=(4, 2, 6))
    constant, n_samples = Constant(jump), w.shape[2]
    series = RaggedSeries.from_arrays(x, step * np.arange(20))
    paths = interpolate(constant(series))
    windows = np.lib.stride_tricks.sliding_window_view(x, n_samples, axis=2)
    classical = ((windows[:, None] - w[None, :, :, None]) ** 2).sum(axis=(2, 4))
    shapelets = interpolate(constant(RaggedSeries.from_arrays(w, step * np.arange(n_samples))))
    knots = np.unique(
        np.concatenate([paths.knots, shapelets.knots])[:, None]
        - step * np.arange(20)[None, :]  # those of either, at every offset
    )
    knots = knots[(knots >= 0) & (knots <= step * n_samples)]
    measure, found = L2Discrepancy(2, "none"), np.empty_like(classical)
    for s in range(classical.shape[2]):
        window = torch.from_numpy(paths.evaluate(s * step + knots)).mT[:, None]
        shapelet = torch.from_numpy(shapelets.evaluate(knots)).mT[None]
        found[..., s] = measure(torch.from_numpy(knots), window, shapelet).numpy() ** 2 / step
    np.testing.assert_allclose(found, classical, rtol=4 * jump)
    least = GeneralisedShapeletTransform.from_shapelets(w, discrepancy=ClassicalDiscrepancy())
    np.testing.assert_allclose(
        found.min(axis=2), least(series).discrepancy.detach().numpy(), rtol=4 * jump
    )


@pytest.mark.parametrize("kind", ["hermite", "natural"])
@pytest.mark.parametrize("maker", MAKERS)
def test_cubics_are_those_of_scipy(kind, maker):
    series = observed(made(maker))
    for was, now in zip(series, Cubic(kind).fit(series)(series), strict=True):
        since = was.times[0]
        for x, got in zip(was.values, now.values, strict=True):
            t, x = was.times[~np.isnan(x)] - since, x[~np.isnan(x)]
            if len(t) < 3:
                continue
            slope = np.diff(x, prepend=NAN) / np.diff(t, prepend=NAN)
            slope[0] = slope[1]
            natural = kind == "natural"
            want = (
                CubicSpline(t, x, bc_type="natural") if natural else CubicHermiteSpline(t, x, slope)
            )
            at = np.clip(now.times - since, t[0], t[-1])
            np.testing.assert_allclose(got, want(at), atol=1e-7 * np.abs(got).max() + 1e-9)


def test_backward_slopes_do_not_look_ahead():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(1, 1, 30))
    other = x.copy()
    other[..., 20:] += 5.0
    cubic = Cubic(max_pieces=4).fit(RaggedSeries.from_arrays(x))
    one, two = (cubic(RaggedSeries.from_arrays(y))[0] for y in (x, other))
    known = one.times <= 19.0
    np.testing.assert_array_equal(one.values[:, known], two.values[:, known])
    assert (one.values[:, ~known] != two.values[:, ~known]).any()


def naive_mean(t, times, values, bandwidth):
    """Nadaraya-Watson, wider inside a gap."""
    before, after = times[times <= t], times[times > t]
    widening = 0.0
    if len(before) and len(after):
        a, b = before[-1], after[0]
        widening = (t - a) * (b - t) / (b - a)
    weights = np.exp(-((t - times) ** 2) / (2 * (bandwidth**2 + widening**2)))
    return weights @ values / weights.sum()


@pytest.mark.parametrize("bandwidth", [0.3, 2.0])
def test_kernel_smoothing_is_a_weighted_mean(bandwidth):
    times, values, series = one_series()
    filled = KernelSmoothing(bandwidth).fit(series)(series)[0]
    want = [naive_mean(t, times, values, bandwidth) for t in filled.times]
    np.testing.assert_allclose(filled.values[0], want, rtol=1e-10, atol=1e-12)
    at = np.isin(filled.times, times)  # where it is that of the textbook
    weights = np.exp(-((times[:, None] - times) ** 2) / (2 * bandwidth**2))
    np.testing.assert_allclose(
        filled.values[0, at], weights @ values / weights.sum(axis=1), rtol=1e-10, atol=1e-12
    )


def test_the_bandwidth_is_the_one_that_tells_left_out_observations_best():
    times, values, series = one_series(noise=0.3)
    gap = np.median(np.diff(times))
    tried = [gap * 2.0 ** (k / 2) for k in range(-2, 9)]
    errors = []
    for bandwidth in tried:
        left_out = [
            naive_mean(times[i], np.delete(times, i), np.delete(values, i), bandwidth)
            for i in range(1, len(times) - 1)
        ]
        errors.append(((left_out - values[1:-1]) ** 2).sum())
    got = KernelSmoothing().fit(series).bandwidth_
    assert got == pytest.approx([tried[int(np.argmin(errors))]])
    assert 0 < np.argmin(errors) < len(tried) - 1


def test_more_noise_is_smoothed_more():
    calm, noisy = (one_series(noise=noise, n_times=100)[2] for noise in (0.01, 0.5))
    assert KernelSmoothing().fit(calm).bandwidth_ < KernelSmoothing().fit(noisy).bandwidth_
    assert GaussianProcess().fit(calm).noise_ < GaussianProcess().fit(noisy).noise_


def test_a_gap_far_wider_than_the_bandwidth_is_bridged_without_a_jump():
    times = np.concatenate([np.arange(5.0), 100.0 + np.arange(5.0)])
    series = RaggedSeries.from_arrays([[np.repeat([0.0, 1.0], 5)]], [times])
    filled = KernelSmoothing(0.5, tolerance=1e-3, max_pieces=50).fit(series)(series)[0]
    slopes = np.diff(filled.values[0]) / np.diff(filled.times)
    assert (slopes >= 0).all() and slopes.max() < 0.05


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("length_scale", "noise"), [(0.2, 0.5), (2.0, 0.05), (20.0, 1e-3), (2.0, 1e-6)]
)
def test_the_process_is_that_of_scikit_learn(seed, length_scale, noise):
    times, values, series = one_series(seed)
    process = GaussianProcess(length_scale, noise).fit(series)
    filled = process(series)[0]
    kernel = Matern(length_scale, nu=1.5) + WhiteKernel(noise)
    oracle = GaussianProcessRegressor(kernel, alpha=0.0, optimizer=None)
    oracle.fit(times[:, None], values - values.mean())
    want = oracle.predict(filled.times[:, None]) + values.mean()
    np.testing.assert_allclose(filled.values[0], want, atol=1e-9)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("seed", range(3))
def test_the_likelihood_and_its_maximum_are_those_of_scikit_learn(seed):
    times, values, series = one_series(seed)
    asked = Mesh.of(series).asked(0, np.array([True]))
    asked = asked._replace(values=asked.values - values.mean())
    kernel = ConstantKernel(1.0) * (Matern(1.0, nu=1.5) + WhiteKernel(0.1))
    oracle = GaussianProcessRegressor(kernel, alpha=0.0).fit(times[:, None], values - values.mean())
    fixed = oracle.kernel_.k2
    there = fixed.k1.length_scale, fixed.k2.noise_level
    greatest = oracle.log_marginal_likelihood_value_
    assert log_likelihood(asked, *there) == pytest.approx(greatest, abs=1e-4)
    process = GaussianProcess().fit(series)
    here = process.length_scale_[0], process.noise_[0]
    assert log_likelihood(asked, *here) > greatest - 0.02
    np.testing.assert_allclose(here, there, rtol=0.15)


def test_the_likelihood_is_that_of_all_series():
    values = [one_series(seed)[1][None] for seed in range(3)]
    times = [one_series(seed)[0] for seed in range(3)]
    asked = Mesh.of(RaggedSeries.from_arrays(values, times)).asked(0, np.ones(3, bool))
    gram = np.zeros((90, 90))
    for i, t in enumerate(times):
        r = np.sqrt(3) * np.abs(t[:, None] - t) / 1.5
        gram[30 * i : 30 * i + 30, 30 * i : 30 * i + 30] = (1 + r) * np.exp(-r)
    gram += 0.2 * np.eye(90)
    x = np.concatenate(values, axis=1)[0]
    variance = x @ np.linalg.solve(gram, x) / 90
    want = -0.5 * (np.linalg.slogdet(variance * gram)[1] + 90 + 90 * np.log(2 * np.pi))
    assert log_likelihood(asked, 1.5, 0.2) == pytest.approx(want, abs=1e-9)


def test_a_long_series_of_close_observations_costs_no_digits():
    rng = np.random.default_rng(0)
    times = np.sort(rng.uniform(0.0, 10.0, 1500))
    values = np.sin(times) + 0.1 * rng.normal(size=1500)
    series = RaggedSeries.from_arrays([values[None]], [times])
    filled = GaussianProcess(10.0, 0.01).fit(series)(series)[0]
    r = np.sqrt(3) * np.abs(times[:, None] - times) / 10.0
    gram = (1 + r) * np.exp(-r) + 0.01 * np.eye(1500)
    weights = np.linalg.solve(gram, values - values.mean())
    r = np.sqrt(3) * np.abs(filled.times[:, None] - times) / 10.0
    want = values.mean() + (1 + r) * np.exp(-r) @ weights
    np.testing.assert_allclose(filled.values[0], want, atol=1e-9)


# ------------------------------------------------------------------ too few observations


@pytest.mark.parametrize(("name", "least"), [("cubic", 3), ("natural", 3), ("gaussian_process", 2)])
def test_too_few_observations_are_joined_by_lines_and_it_is_said_once(name, least):
    values = [[[1.0, 2.0, 1.5, 0.0]] * 2, [[NAN, 4.0, NAN, NAN], [1.0, 2.0, 3.0, 0.5]]]
    values += [[[NAN] * 4, [2.0, NAN, NAN, NAN]], [[4.0, NAN, NAN, 1.0], [1.0, 2.0, 4.0, 8.0]]]
    series = RaggedSeries.from_arrays(values)
    interpolation = make_interpolation(KINDS[name])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        interpolation.fit(series)
    with pytest.warns(UserWarning, match=f"needs {least} observations") as told:
        filled = interpolation(series)
    assert len(told) == 1
    counts = "3 times, in 3 of 4" if least == 3 else "2 times, in 2 of 4"
    assert counts in str(told[0].message) and "straight lines" in str(told[0].message)
    assert told[0].filename == __file__
    paths, lines = interpolate(filled), interpolate(series)
    t = np.linspace(0.0, 3.0, 13)
    few = [(1, 0), (2, 1)] + ([(3, 0)] if least == 3 else [])
    for i, channel in few:
        np.testing.assert_allclose(
            paths.evaluate(t)[i, channel], lines.evaluate(t)[i, channel], rtol=1e-10
        )


@pytest.mark.filterwarnings("default:.* needs . observations")
def test_an_estimator_says_once_that_observations_are_too_few(monkeypatch):
    X, y = np.random.default_rng(0).normal(size=(8, 2, 12)), np.arange(8) % 2
    X[3, 1, 2:] = X[6, 0, 2:] = NAN
    monkeypatch.setattr("genshapelets.estimators.base.CHUNK", 4)
    model = ShapeletClassifier(interpolation="cubic", n_shapelets=2, max_epochs=1)
    with pytest.warns(UserWarning, match="needs 3 observations") as told:
        model.fit(X, y).predict(np.concatenate([X, X[6:]]))
    assert len([one for one in told if "observations" in str(one.message)]) == 1


@each
def test_enough_observations_need_no_warning(name):
    series = made("irregular")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted(name, series)(series)


@each
def test_a_channel_that_training_never_observed_or_that_never_varies(name):
    rng = np.random.default_rng(0)
    values = rng.normal(size=(4, 3, 12))
    values[:, 1] = NAN
    values[:, 2] = 7.0
    interpolation = fitted(name, RaggedSeries.from_arrays(values))
    filled = interpolation(RaggedSeries.from_arrays(rng.normal(size=(2, 3, 12))))
    assert np.isfinite(filled.values).all()


@each
def test_series_of_a_single_time(name):
    series = RaggedSeries.from_arrays([[[3.0]], [[1.0]]], [[5.0], [6.0]])
    filled = fitted(name, series)(series)
    assert filled.times.tolist() == [5.0, 6.0] and filled.values.tolist() == [[3.0], [1.0]]


# ------------------------------------------------------------------ bad input


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Cubic("quintic"), 'kind must be "hermite" or "natural"; got \'quintic\''),
        (lambda: Cubic(tolerance=0.0), "tolerance must be a number above 0; got 0.0"),
        (lambda: Cubic(tolerance="fine"), "tolerance must be a number above 0; got 'fine'"),
        (lambda: Cubic(tolerance=np.inf), "tolerance must be a number above 0"),
        (lambda: Cubic(max_pieces=0), "max_pieces must be from 1 to 10000; got 0"),
        (lambda: Cubic(max_pieces=2.5), "max_pieces must be a whole number"),
        (lambda: Cubic(max_pieces="many"), "max_pieces must be a whole number"),
        (lambda: KernelSmoothing(-1.0), "bandwidth must be a number above 0; got -1.0"),
        (lambda: KernelSmoothing([1.0, 0.0]), "bandwidth must be a number above 0; got 0.0"),
        (lambda: GaussianProcess(NAN), "length_scale must be a number above 0; got nan"),
        (lambda: GaussianProcess(1.0, -2.0), "noise must be a number above 0; got -2.0"),
        (lambda: Constant(jump=0.0), "jump must be a number above 0; got 0.0"),
        (lambda: Constant(jump=1.0), "jump must be a share of a gap, below 1; got 1.0"),
        (lambda: make_interpolation("qubic"), "must be one of linear, constant, cubic, .* 'qubic'"),
        (lambda: make_interpolation(Cubic), "interpolation must be one of"),
        (lambda: Interpolation.from_config("Nowhere", {}), "'Nowhere' is not known here"),
        (lambda: Cubic().with_state({"fit": 1}), "'fit' is not a name"),
    ],
)
def test_bad_settings_are_refused(make, message):
    with pytest.raises((TypeError, ValueError), match=message):
        make()


@each_smooth
def test_it_must_be_fitted_first_and_on_these_channels(name):
    series = made("regular")
    with pytest.raises(ValueError, match="is not fitted: .* Call fit with training series first"):
        make_interpolation(KINDS[name])(series)
    with pytest.raises(ValueError, match="the series have 2 channels, but .* was fitted on 1"):
        fitted(name, made("regular", n_channels=1))(series)


@pytest.mark.parametrize("interpolation", [KernelSmoothing([1.0]), GaussianProcess(noise=[0.1])])
def test_settings_for_each_channel_must_be_for_each_channel(interpolation):
    with pytest.raises(ValueError, match="one for each of the 2 channels; got 1"):
        interpolation.fit(made("regular"))


def test_a_name_of_ours_is_not_taken():
    with pytest.raises(TypeError, match="there is a Cubic in genshapelets"):
        type("Cubic", (Interpolation,), {"__call__": lambda self, series: series})


def test_names_are_those_of_classes():
    assert list(INTERPOLATIONS) == ["linear", "constant", "cubic", "smoothing", "gaussian_process"]
    for name, kind in INTERPOLATIONS.items():
        assert make_interpolation(name) == kind() and make_interpolation(name) != Middling()


def test_settings_for_each_channel_are_kept():
    series = made("irregular")
    assert KernelSmoothing(np.array([0.5, 2.0])).fit(series).bandwidth_ == [0.5, 2.0]
    process = GaussianProcess(noise=[0.1, 0.3]).fit(series)
    assert process.noise_ == [0.1, 0.3] and process.length_scale_[0] > 0
    assert GaussianProcess(length_scale=3.0).fit(series).length_scale_ == [3.0, 3.0]


# ------------------------------------------------------------------ properties


@few
@given(seeds, st.sampled_from(list(KINDS)), st.sampled_from(list(MAKERS)), st.integers(1, 3))
def test_any_series_becomes_a_path_that_keeps_its_bounds(seed, name, maker, n_channels):
    series = made(maker, seed, n_channels=n_channels)
    interpolation = fitted(name, made("ragged", seed + 1, n_channels=n_channels))
    filled = interpolation(series)
    paths = interpolate(filled)
    assert np.isfinite(paths.values).all() and (paths.spans >= 0).all()
    if name in ("linear", "constant", "smoothing"):  # means stay between what they are means of
        low = np.nanmin(series.values, axis=0) - 1e-9
        high = np.nanmax(series.values, axis=0) + 1e-9
        seen = ~np.isnan(filled.values)
        assert (seen <= (filled.values >= low)).all() and (seen <= (filled.values <= high)).all()


@few
@given(seeds, st.sampled_from(["linear", "constant", "cubic", "natural"]), st.floats(-3.0, 3.0))
def test_interpolation_is_linear_in_the_values(seed, name, factor):
    rng = np.random.default_rng(seed)
    one = made("regular", seed, missing=0.0)
    other = dataclasses.replace(one, values=rng.normal(size=one.values.shape))
    both = dataclasses.replace(one, values=one.values + factor * other.values)
    interpolation = fitted(name, one)
    summed = interpolation(one).values + factor * interpolation(other).values
    np.testing.assert_allclose(interpolation(both).values, summed, atol=1e-8)


@few
@given(seeds, st.sampled_from(["hermite", "natural"]))
def test_a_straight_line_stays_one(seed, kind):
    series = made("irregular", seed)
    line = np.where(np.isnan(series.values), NAN, 2.0 - 0.5 * series.times[:, None])
    filled = Cubic(kind).fit(series)(dataclasses.replace(series, values=line))
    for was, now in zip(dataclasses.replace(series, values=line), filled, strict=True):
        for x, got in zip(was.values, now.values, strict=True):
            t = was.times[~np.isnan(x)]
            if len(t):
                want = 2.0 - 0.5 * np.clip(now.times, t[0], t[-1])
                np.testing.assert_allclose(got, want, atol=1e-8)
