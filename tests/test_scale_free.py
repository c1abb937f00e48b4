"""Scale-free L2: a window and a shapelet, each less its mean and of norm 1."""

import copy
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import grid
from pairwise import pairwise
from problems import (
    METRICS,
    SERIES,
    evaluated,
    irregular,
    judge,
    make_transform,
    offsets_at,
    offsets_of,
    regular,
)
from torch.autograd import gradcheck

from genshapelets import (
    GeneralisedShapeletTransform,
    L2Discrepancy,
    RaggedSeries,
    ShapeletClassifier,
    ShapeletTransformer,
    interpolate,
)
from genshapelets.evaluation import evaluate
from genshapelets.minimum import SoftMinimum
from genshapelets.windows import PaddedPaths, lay

seeds = st.integers(0, 2**32 - 1)
MIXED = [True, False, True, False]


def made(values, lengths, metric="diagonal", **kwargs):
    values = np.asarray(values, dtype=float)
    discrepancy = L2Discrepancy(values.shape[1], metric, scale_free=True)
    return GeneralisedShapeletTransform.from_shapelets(
        values, lengths, discrepancy=discrepancy, **kwargs
    )


def found(transform, series, search="auto", backend="auto"):
    transform.search, transform.backend = search, backend
    with torch.no_grad():
        return transform(series).discrepancy.numpy()


# The formula


def test_worked_by_hand():
    """A line from -1 to 1 has norm 1/sqrt(3). A tent is not correlated with it."""
    times = torch.tensor([[0.0, 1.0, 2.0]], dtype=torch.float64)
    line = torch.tensor([[[-1.0], [0.0], [1.0]]], dtype=torch.float64)
    tent = torch.tensor([[[5.0], [9.0], [5.0]]], dtype=torch.float64)
    pi = L2Discrepancy(1, scale_free=True).double()
    assert pi(times, line, 7.0 * line + 3.0).item() == pytest.approx(0.0, abs=1e-15)
    assert pi(times, line, -line).item() == pytest.approx(2.0 * np.sqrt(2.0))
    assert pi(times, line, tent).item() == pytest.approx(np.sqrt(2 * 2.0))
    unit = pi.normalised(line.mT)
    torch.testing.assert_close(unit, np.sqrt(3.0) * line.mT)


def test_one_scale_for_all_channels():
    """Channels scaled alike are the same; one alone is not, unless its weight makes up for it."""
    rng = np.random.default_rng(0)
    times = torch.linspace(0.0, 3.0, 6, dtype=torch.float64)[None]
    f = torch.from_numpy(rng.normal(size=(1, 6, 2)))
    pi = L2Discrepancy(2, scale_free=True).double()
    assert pi(times, f, 2.5 * f).item() < 1e-14
    bent = f * torch.tensor([1.0, 3.0], dtype=torch.float64)
    assert pi(times, f, bent).item() > 0.1
    pi.weight.data[:] = torch.tensor([1.0, 0.0])
    assert pi(times, f, bent).item() < 1e-14


flat_or_not = st.sampled_from(["random", "flat", "zero", "line"])


@settings(max_examples=60, deadline=None)
@given(seeds, st.sampled_from(METRICS), st.tuples(flat_or_not, flat_or_not, flat_or_not))
def test_it_is_a_pseudometric(seed, metric, kinds):
    rng = np.random.default_rng(seed)
    n_knots, n_channels = rng.integers(2, 9), rng.integers(1, 4)
    pi = make_transform(rng, int(n_channels), 1, metric=metric[0], scale_free=True).discrepancy
    steps = rng.uniform(0.01, 2.0, n_knots)
    times = torch.from_numpy(np.cumsum(steps) - steps[0])[None]

    def function(kind):
        values = rng.normal(size=(1, n_knots, n_channels)) * 10 ** rng.uniform(-6, 6)
        if kind == "line":
            values = values[:, :1] * times.numpy()[..., None]
        flat = values[:, :1].repeat(n_knots, axis=1)
        return torch.from_numpy({"flat": flat, "zero": 0.0 * flat}.get(kind, values))

    f, g, h = map(function, kinds)
    with torch.no_grad():
        there, back, one, two = pi(times, f, g), pi(times, g, f), pi(times, f, h), pi(times, h, g)
        assert pi(times, f, f).item() == 0.0
    torch.testing.assert_close(there, back)
    assert there <= (one + two) * (1 + 1e-9) + 1e-9
    assert 0.0 <= there.item() <= 2.0 * np.sqrt(times[0, -1].item()) * (1 + 1e-12)


@settings(max_examples=40, deadline=None)
@given(seeds, st.sampled_from(METRICS), st.floats(-8, 8), st.floats(-8, 8), st.floats(-10, 10))
def test_it_sees_neither_scale_nor_level(seed, metric, one, other, level):
    rng = np.random.default_rng(seed)
    pi = make_transform(rng, 2, 3, metric=metric[0], per_shapelet=metric[1], scale_free=True)
    pi = pi.discrepancy
    times = torch.linspace(0.0, 2.0, 7, dtype=torch.float64).expand(3, -1)
    f, w = torch.from_numpy(rng.normal(size=(2, 3, 7, 2)))
    c, e = torch.from_numpy(level * rng.normal(size=(2, 3, 1, 2)))
    with torch.no_grad():
        want = pi(times, f, w)
        got = pi(times, 10**one * (f + c), 10**other * (w + e))
    torch.testing.assert_close(got, want, rtol=1e-9, atol=1e-12)


def test_what_is_flat_has_no_shape():
    """It is sqrt(S) from a shape, 0 from what is flat too, and noise in the last digit is flat."""
    times = torch.tensor([[0.0, 1.0, 2.5]], dtype=torch.float64)
    shape = torch.tensor([[[1.0], [4.0], [2.0]]], dtype=torch.float64)
    pi = L2Discrepancy(1, scale_free=True).double()
    for flat in (0.0, 1.0, -3e9, 1e-300):
        flat = torch.full((1, 3, 1), flat, dtype=torch.float64)
        noisy = flat * (1.0 + 1e-15 * shape)
        for one in (flat, noisy):
            assert pi(times, one, shape).item() == pytest.approx(np.sqrt(2.5), rel=1e-12)
            assert pi(times, shape, one).item() == pytest.approx(np.sqrt(2.5), rel=1e-12)
            assert pi(times, one, noisy).item() == 0.0


@pytest.mark.parametrize("metric", METRICS, ids=str)
@pytest.mark.parametrize("windows", ["samples", "free"])
def test_nothing_is_learnt_from_what_is_flat(metric, windows):
    """But that the length of a shapelet makes its distance from a flat window, sqrt(S)."""
    values = torch.zeros(3, 2, 5, dtype=torch.float64)
    values[1] = torch.tensor([[0.0, 1.0, 4.0, 2.0, 2.0], [3.0, 2.0, 1.0, 1.0, 0.0]])
    values[2] = 7.0
    x = np.zeros((2, 2, 20))
    x[0], x[1, :, ::3] = 12345.678, 1.0  # the first series is flat, the second is not
    paths = interpolate(RaggedSeries.from_arrays(x))
    rng = np.random.default_rng(0)
    for backend in ("auto", "generic"):
        transform = make_transform(
            rng, 2, 3, lengths=[3.0, 4.0, 5.5], metric=metric[0], per_shapelet=metric[1],
            scale_free=True,
        )  # fmt: skip
        transform.shapelets.values.data[:] = values
        start = np.full((2, 3, 1), 2.0 if windows == "samples" else 2.3)
        got = evaluated(transform, paths, offsets_at(start), backend)[..., 0]
        root = transform.shapelets.lengths.sqrt()
        torch.testing.assert_close(got[0, 1:2], root[1:2])
        torch.testing.assert_close(got[1, [0, 2]], root[[0, 2]])
        assert (got[0, [0, 2]] == 0).all()
        (got[0].sum() + got[1, 0] + got[1, 2]).backward()
        raw = transform.shapelets.raw_lengths.grad.clone()
        transform.zero_grad()
        root.sum().backward()
        torch.testing.assert_close(raw, transform.shapelets.raw_lengths.grad)
        transform.zero_grad()
        evaluated(transform, paths, offsets_at(start), backend).sum().backward()
        assert all(torch.isfinite(p.grad).all() for p in transform.parameters())
        assert (transform.shapelets.values.grad[[0, 2]] == 0).all()


def test_as_drawn_it_has_level_and_scale_of_the_window():
    rng = np.random.default_rng(1)
    times = torch.linspace(0.0, 2.0, 9, dtype=torch.float64)[None]
    shape = torch.from_numpy(rng.normal(size=(1, 9, 2)))
    pi = L2Discrepancy(2, scale_free=True).double()
    path = 40.0 * shape + torch.tensor([3.0, -5.0])
    torch.testing.assert_close(pi.drawn(times, path, shape), path)
    flat = torch.full_like(path, 6.0)
    drawn = pi.drawn(times, flat, shape)  # a scale of 0 would look like a match
    torch.testing.assert_close(drawn - shape, (drawn - shape)[:, :1].expand(-1, 9, -1))
    torch.testing.assert_close(pi(times, flat, drawn), pi(times, flat, shape))


# Searches


@pytest.mark.parametrize(
    ("kind", "metric", "flags", "backend"),
    pairwise(list(SERIES), METRICS, [True, MIXED], ["auto", "generic"]),
    ids=str,
)
def test_the_search_on_a_grid_is_the_slow_one(kind, metric, flags, backend):
    rng = np.random.default_rng(2)
    paths = interpolate(SERIES[kind](rng))
    transform = make_transform(
        rng, metric=metric[0], per_shapelet=metric[1], level_free=[False, False, True, True],
        scale_free=flags, search="grid", backend=backend,
    )  # fmt: skip
    with torch.no_grad():
        matches = transform(paths)
    want, start = judge(transform, paths)
    np.testing.assert_allclose(matches.discrepancy, want, rtol=1e-9)
    if kind not in ("odd", "ragged"):  # there are flat series, all of whose windows are equal
        np.testing.assert_allclose(matches.start, start, atol=1e-9)


@pytest.mark.parametrize("lengths", [(0.02, 0.3), (0.3, 1.5), (1.5, 6.0)])
def test_refined_is_near_the_true_minimum(lengths):
    rng = np.random.default_rng(4)
    paths = interpolate(irregular(rng, 6, missing=0.0))
    transform = make_transform(
        rng, n_shapelets=5, lengths=rng.uniform(*lengths, 5), scale_free=True
    )
    refined, on_grid = (found(transform, paths, search) for search in ("refined", "grid"))
    fine = judge(transform, paths, lambda p, i, S: np.linspace(0, max(p.spans[i] - S, 0), 601))[0]
    least = np.minimum(fine, refined)
    excess = refined - least
    assert excess.mean() < 0.01 * least.mean()
    assert excess.mean() < 0.1 * (on_grid - least).mean()


@pytest.mark.parametrize("irregularly", [False, True])
def test_candidates_are_the_best_local_minima(irregularly):
    rng = np.random.default_rng(5)
    maker = irregular if irregularly else regular
    paths = interpolate(maker(rng, 4, n_times=(20, 30)))
    fast = make_transform(rng, scale_free=MIXED, minimum=SoftMinimum(3), search="grid")
    slow = copy.deepcopy(fast)
    slow.backend = "generic"
    if irregularly:
        fast.search = "refined"
        one, three = offsets_of(fast, paths, 1), offsets_of(fast, paths, 3)
        least = evaluated(fast, paths, one)[..., 0]
        candidates = evaluated(fast, paths, three)
        torch.testing.assert_close(candidates[..., 0], least, rtol=1e-6, atol=1e-9)
        assert (candidates[..., :1] <= candidates + 1e-12).all()
        return
    got, want = offsets_of(fast, paths, 3), offsets_of(slow, paths, 3)
    np.testing.assert_array_equal(got.count, want.count)
    np.testing.assert_allclose(got.start, want.start, atol=1e-9)


def hidden_bump(rng, irregularly, size=1.0, level=0.0):
    """Noise, faint around a bump and strong later; the shapelet, and where it is."""
    u = np.linspace(0.0, 1.0, 6)
    bump = np.array([0.0, 2.0, 3.0, 1.0, -1.0, 0.0])
    times = np.arange(120.0)
    if irregularly:
        times = np.sort(rng.uniform(0.0, 119.0, 120))
        times = np.sort(np.append(times[(times < 30) | (times > 40)], 30.0 + 10.0 * u))
    x = 0.01 * rng.normal(size=len(times))
    inside = (times >= 30.0) & (times <= 40.0)
    x[inside] = 0.01 * np.interp((times[inside] - 30.0) / 10.0, u, bump)
    x[times > 80] += 1000.0 * np.sin(times[times > 80])
    series = RaggedSeries.from_arrays([size * x[None] + level], [times])
    return series, bump[None, None], 30.0


@pytest.mark.parametrize(
    ("irregularly", "size", "level", "backend"),
    pairwise([False, True], [1e-8, 1.0, 1e8], [0.0, 1e4], ["auto", "generic"]),
)
def test_a_pattern_at_another_scale_is_found(irregularly, size, level, backend):
    """At 1e-5 of the size of the series elsewhere, at 1e-10 to 1e6 of the shapelet's own."""
    series, shapelet, place = hidden_bump(np.random.default_rng(6), irregularly, size, size * level)
    transform = made(shapelet, [10.0], backend=backend)
    with torch.no_grad():
        matches = transform(series)
    assert matches.start.item() == pytest.approx(place, abs=1e-4)
    assert matches.discrepancy.item() < (1e-8 if level == 0 else 1e-4)


@pytest.mark.parametrize("kind", SERIES)
@pytest.mark.parametrize("size", [1e-8, 1e8])
def test_sizes_and_levels_change_nothing(kind, size):
    rng = np.random.default_rng(7)
    series = SERIES[kind](rng)
    transform = make_transform(rng, scale_free=True)
    sized = replace(series, values=size * series.values)
    moved = replace(series, values=series.values + 1e4)
    want = found(transform, series)
    np.testing.assert_allclose(found(transform, sized), want, rtol=1e-7)
    transform.fill = 1e4
    np.testing.assert_allclose(found(transform, moved), want, rtol=1e-6, atol=1e-9)
    transform.fill = 0.0
    transform.shapelets.values.data.mul_(1.0 / size).add_(5.0)
    np.testing.assert_allclose(found(transform, series), want, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("irregularly", [False, True])
def test_flat_stretches(irregularly):
    """Windows without any energy, beside others: fast and slow agree."""
    rng = np.random.default_rng(8)
    x = rng.normal(size=(3, 1, 60))
    x[0, :, 5:40], x[1, :, 20:], x[2] = 3.7, -2.1, 8.0
    times = np.arange(60.0)
    if irregularly:
        times = np.sort(rng.uniform(0, 59, 60))
    paths = interpolate(RaggedSeries.from_arrays(x, times))
    values = rng.normal(size=(4, 1, 5))
    values[3] = 2.0  # a flat shapelet looks for flat windows
    transform = made(values, [4.0, 7.3, 11.0, 6.0])
    got = found(transform, paths, "refined" if irregularly else "grid")
    want = judge(transform, paths)[0]
    if irregularly:
        assert (got <= want * (1 + 1e-9) + 1e-12).all()
    else:
        np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-12)
    assert (got[:, 3] == 0).all()
    np.testing.assert_allclose(got[2, :3], np.sqrt([4.0, 7.3, 11.0]))


def test_exact_is_refused():
    transform = made(np.arange(6.0).reshape(1, 1, 6), [3.0], search="exact")
    with pytest.raises(ValueError, match=r'"exact" is not known for scale-free.*Use "refined"'):
        transform(np.random.default_rng(0).normal(size=(1, 1, 20)))


# Gradients


@pytest.mark.parametrize(
    ("metric", "windows", "backend"),
    pairwise(METRICS, ["samples", "last", "free", "beyond"], ["auto", "generic"]),
    ids=str,
)
def test_gradcheck(metric, windows, backend):
    rng = np.random.default_rng(9)
    paths = interpolate((regular if windows != "free" else irregular)(rng, 2, n_times=(9, 12)))
    transform = make_transform(
        rng, 2, 3, n_knots=4, metric=metric[0], per_shapelet=metric[1], scale_free=[True, False, True],
        lengths=[60.0] * 3 if windows == "beyond" else [0.9, 1.3, 1.7],
    )  # fmt: skip
    values = transform.shapelets.values.detach().requires_grad_()
    lengths = transform.shapelets.lengths.detach().requires_grad_()
    before = lengths.detach().numpy().copy()
    room = np.maximum(paths.spans[:, None] - before, 0.0)[..., None]
    start, slope = 0.0 * room, 0.0 * room
    if windows == "last":
        start, slope = room, -1.0 + slope
    elif windows == "free":
        slope = -rng.uniform(0.2, 0.8, room.shape)
        start = -slope * room
    elif windows == "samples":
        start = start + paths.step[:, None, None]

    def at_offsets(values, lengths, *parameters):  # which are the discrepancy's own
        moved = offsets_at(start + slope * (lengths.detach().numpy() - before)[:, None], slope)
        return evaluate(transform.discrepancy, paths, values, lengths, moved, backend)

    inputs = [values, lengths, *transform.discrepancy.parameters()]
    assert gradcheck(at_offsets, inputs, atol=1e-6)


@pytest.mark.parametrize("size", [1e-8, 1e8])
def test_gradients_of_any_size_are_finite_and_right(size):
    """A shapelet in another unit has the gradient of that unit."""
    rng = np.random.default_rng(10)
    paths = interpolate(regular(rng, 3))
    transform = make_transform(rng, scale_free=True)
    transform(paths).discrepancy.sum().backward()
    want = transform.shapelets.values.grad.clone()
    transform.zero_grad()
    transform.shapelets.values.data *= size
    transform(paths).discrepancy.sum().backward()
    torch.testing.assert_close(
        transform.shapelets.values.grad * size, want, rtol=1e-6, atol=1e-6 * want.abs().max().item()
    )


def test_values_keep_their_digits_in_a_close_match():
    """2 S (1 - rho) would be 0 or 1e-16 here."""
    rng = np.random.default_rng(11)
    x = rng.normal(size=(1, 1, 9))
    bent = 5.0 * x + 2.0
    bent[0, 0, 4] += 5e-9
    transform = made(x, [8.0])
    near = found(transform, bent)[0, 0]
    bent[0, 0, 4] += 5e-9
    assert 1e-10 < near < 1e-8
    assert found(transform, bent)[0, 0] == pytest.approx(2 * near, rel=1e-5)


# Others' z-normalised distance


def z_normalised_loop(x, shapelet):
    """Least distance of z-normalised samples, over all windows."""
    n = len(shapelet)

    def z(values):
        return (values - values.mean()) / values.std()

    return min(np.sqrt(((z(x[s : s + n]) - z(shapelet)) ** 2).sum()) for s in range(len(x) - n + 1))


def smooth(rng, n_samples, n_waves=4):
    t = np.linspace(0.0, 1.0, n_samples)
    phase, rate = rng.uniform(0, 6, (2, n_waves, 1))
    return np.sin(4 * rate * t + phase).sum(axis=0)


def test_finely_sampled_it_is_the_classical_z_normalised_distance():
    """Sums over samples, times the step, go to integrals; aeon's distance agrees with the loop."""
    errors = []
    for refine in (1, 4):
        rng = np.random.default_rng(12)
        n, m = 200 * refine, 60 * refine
        x, shapelet = smooth(rng, n + 1), smooth(rng, m + 1, 3)
        want = z_normalised_loop(x, shapelet)
        if refine == 1:
            shapelets = pytest.importorskip("aeon.distances")
            windows = np.lib.stride_tricks.sliding_window_view(x, m + 1)

            def z(values):
                return (values - values.mean(-1, keepdims=True)) / values.std(-1, keepdims=True)

            theirs = min(shapelets.euclidean_distance(window, z(shapelet)) for window in z(windows))
            assert theirs == pytest.approx(want, rel=1e-9)
        transform = made(shapelet[None, None], [float(m)], search="grid")
        got = found(transform, x[None, None])[0, 0]
        errors.append(abs(got / want - 1))
    assert errors[0] < 0.03 and errors[1] < 0.3 * errors[0]


def test_it_is_exactly_the_dense_integral():
    """A loop over very many samples of the piecewise-linear functions, z-normalised."""
    rng = np.random.default_rng(13)
    x, shapelet = rng.normal(size=12), rng.normal(size=4)
    transform = made(shapelet[None, None], [5.0], search="grid")
    got = found(transform, x[None, None])[0, 0]
    t = (np.arange(200_000) + 0.5) / 200_000 * 5.0  # midpoints: an integral's own error is small

    def z(values):
        return (values - values.mean()) / values.std()

    w = z(np.interp(t, np.linspace(0.0, 5.0, 4), shapelet))
    paths = interpolate(RaggedSeries.from_arrays(x[None, None]))
    want = min(
        np.sqrt(5.0 * ((z(np.interp(s + t, np.arange(12.0), x)) - w) ** 2).mean())
        for s in grid(paths, 0, 5.0)
    )
    assert got == pytest.approx(want, rel=1e-8)


# Settings


def test_a_share_of_an_estimators_shapelets():
    """They are the last that become level-free, and others are drawn as ever."""
    rng = np.random.default_rng(15)
    X, y = rng.normal(size=(12, 1, 25)), np.arange(12) % 2
    quick = {"n_shapelets": 10, "random_state": 0, "level_free": 0.5}

    def flags(**parameters):
        model = ShapeletTransformer(**quick, **parameters).fit(X)
        measure = model.model_.transform.discrepancy
        return measure.level_free, measure.scale_free

    level, none = flags()
    again, scale = flags(scale_free=0.7)
    assert not none.any() and torch.equal(level, again) and level.sum() == 5
    assert scale.sum() == 7 and scale[~level].all()
    with pytest.raises(ValueError, match="'search' parameter .* if shapelets are scale-free"):
        ShapeletClassifier(scale_free=0.1, search="exact").fit(X, y)


def test_a_classifier_finds_a_pattern_of_any_size():
    rng = np.random.default_rng(16)
    X, y = rng.normal(scale=0.1, size=(40, 1, 40)), np.arange(40) % 2
    bump = np.sin(np.linspace(0, np.pi, 12))
    bumps = np.where(y[:, None] == 1, bump, np.roll(bump, 6))
    for n, place in enumerate(rng.integers(0, 28, 40)):
        X[n, 0, place : place + 12] += 2.0 * bumps[n]
    X = X * np.exp(rng.normal(scale=2.0, size=(40, 1, 1))) + rng.normal(scale=5.0, size=(40, 1, 1))
    model = ShapeletClassifier(n_shapelets=20, scale_free=1.0, max_epochs=20, random_state=0)
    assert model.fit(X[:24], y[:24]).score(X[24:], y[24:]) >= 0.85


def test_flags_are_checked_kept_and_shown():
    with pytest.raises(TypeError, match="scale_free must be True, False, or one of them for each"):
        L2Discrepancy(2, scale_free=[0, 1])
    with pytest.raises(ValueError, match=r"scale_free must be .*got shape \(1, 1\)"):
        L2Discrepancy(2, scale_free=[[True]])
    with pytest.raises(ValueError, match="scale_free holds 3 answers for 2 shapelets"):
        L2Discrepancy(1, scale_free=[True] * 3).check(2, 1)
    mixed = L2Discrepancy(1, level_free=[True, False, False], scale_free=[False, True, False])
    assert mixed.ignores_level(3).tolist() == [True, True, False]
    assert mixed.ignores_scale(3).tolist() == [False, True, False]
    assert "level_free=1, scale_free=1" in repr(mixed)
    assert L2Discrepancy(**mixed.config()).config() == mixed.config()
    other = L2Discrepancy(1, scale_free=True)
    assert other.ignores_level(2).all() and other.ignores_scale(2).all()


def test_tensors_of_before_are_loaded():
    """Saved when there was no such flag: the scale counts."""
    before = L2Discrepancy(2, level_free=[True, False]).state_dict()
    del before["scale_free"]
    again = L2Discrepancy(2, level_free=[False, False], scale_free=[True, True])
    again.load_state_dict(before)
    assert again.level_free.tolist() == [True, False] and not again.scale_free.any()


def test_windows_of_the_formula_are_those_of_the_evaluation():
    """The formula at laid windows is what the fast evaluation gives: other shapelets beside it, too."""
    rng = np.random.default_rng(14)
    paths = interpolate(SERIES["ragged"](rng))
    transform = make_transform(rng, metric="full", scale_free=MIXED, level_free=True)
    offsets = offsets_of(transform, paths)
    start = torch.from_numpy(offsets.start).transpose(1, 2)
    shapelets = transform.shapelets
    with torch.no_grad():
        window = lay(
            PaddedPaths.of(paths, start.device), start, shapelets.values, shapelets.lengths
        )
        want = transform.discrepancy(*window).transpose(1, 2)
        torch.testing.assert_close(
            evaluated(transform, paths, offsets), want, rtol=1e-9, atol=1e-12
        )
