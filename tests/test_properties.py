"""What must hold for every input."""

import dataclasses

import numpy as np
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from problems import METRICS, irregular, make_transform, odd, ragged, regular

from genshapelets import (
    GeneralisedShapeletTransform,
    L2Discrepancy,
    RaggedSeries,
    interpolate,
)
from genshapelets.evaluation import evaluate
from genshapelets.offsets import Offsets
from genshapelets.paths import observed

few = settings(deadline=None, max_examples=40)
fewer = settings(deadline=None, max_examples=15)
seeds = st.integers(0, 2**32 - 1)
levels = st.sampled_from([False, True, "mixed"])
searches = st.sampled_from(["auto", "grid", "refined", "exact"])
settled = st.sampled_from(["grid", "exact"])
kinds = st.sampled_from([irregular, regular, ragged, odd])


@st.composite
def problems(draw, makers=kinds, searches=searches):
    """A batch of series and a transform."""
    rng = np.random.default_rng(draw(seeds))
    n_channels, n_shapelets = draw(st.integers(1, 3)), draw(st.integers(1, 4))
    metric, per_shapelet = draw(st.sampled_from(METRICS))
    series = draw(makers)(rng, n_channels=n_channels)
    transform = make_transform(
        rng, n_channels, n_shapelets, draw(st.integers(2, 9)),
        lengths=rng.uniform(0.1, draw(st.sampled_from([1.0, 4.0, 12.0])), n_shapelets),
        metric=metric, per_shapelet=per_shapelet, level_free=draw(levels), search=draw(searches),
    )  # fmt: skip
    return rng, series, transform


def match(transform, series):
    with torch.no_grad():
        matches = transform(series)
    return matches.discrepancy.numpy(), matches.start.numpy()


def assert_close(transform, got, want, rtol=1e-9, atol=1e-9):
    """Compare discrepancies of inputs that differ by rounding.

    The refined search may then stop elsewhere: it stops when a step promises to gain little.
    """
    if transform.search in ("auto", "refined"):
        rtol, atol = 1e-2, 1e-6
    np.testing.assert_allclose(got, want, rtol=rtol, atol=atol)


def assert_same_bits(transform, got, want):
    """Same values to the last bit where the start is the same; else two offsets tie."""
    same = got[1] == want[1]
    np.testing.assert_array_equal(got[0][same], want[0][same])
    assert_close(transform, got[0][~same], want[0][~same], rtol=1e-10, atol=1e-12)


def offsets_at(start):
    """Offsets (series, shapelets) that stay where they are."""
    return Offsets(
        start[..., None], np.zeros((*start.shape, 1)), np.ones(start.shape, np.int64), ""
    )


@few
@given(problems())
def test_discrepancies_are_finite_and_never_negative(problem):
    _, series, transform = problem
    discrepancy, start = match(transform, series)
    assert np.isfinite(discrepancy).all() and (discrepancy >= 0).all()
    first = interpolate(series).origin[:, None]
    assert (start >= first).all() and np.isfinite(start).all()


@few
@given(problems(searches=st.just("exact")))
def test_a_knot_on_a_line_changes_nothing(problem):
    rng, series, transform = problem
    want, _ = match(transform, series)
    paths = interpolate(series)
    series = observed(series)  # a path ends where its observations do
    values, times = [], []
    for i in range(len(series)):
        own = series[i].times
        extra = rng.uniform(own[0], own[-1], 4) if len(own) > 1 else []
        all_times = np.union1d(own, extra)
        all_times = np.delete(all_times, np.flatnonzero(np.diff(all_times) < 1e-9))
        times.append(all_times)
        values.append(paths[[i]].evaluate(all_times)[0])
    got, _ = match(transform, RaggedSeries.from_arrays(values, times))
    np.testing.assert_allclose(got, want, rtol=1e-8, atol=1e-7)


@few
@given(seeds, st.integers(1, 3), levels)
def test_a_knot_on_a_line_changes_no_distance(seed, n_channels, level_free):
    """The same for the evaluation at given offsets, to the digits of the sum."""
    rng = np.random.default_rng(seed)
    series = irregular(rng, n_channels=n_channels, missing=0.0)
    transform = make_transform(rng, n_channels, lengths=[1.0, 2.0, 3.0, 9.0], level_free=level_free)
    start = rng.uniform(0, 1.0, (len(series), 4))
    fixed = offsets_at(start)
    paths = interpolate(series)
    finer = []
    for i in range(len(series)):
        own = series[i].times
        finer.append(np.union1d(own, rng.uniform(own[0], own[-1], 5)))
    dense = RaggedSeries.from_arrays(
        [paths[[i]].evaluate(times)[0] for i, times in enumerate(finer)], finer
    )
    shapelets, pi = transform.shapelets, transform.discrepancy
    want = evaluate(pi, paths, shapelets.values, shapelets.lengths, fixed)
    got = evaluate(pi, interpolate(dense), shapelets.values, shapelets.lengths, fixed)
    torch.testing.assert_close(got, want, rtol=1e-11, atol=1e-12)


@few
@given(problems(), st.floats(-1e3, 1e3))
def test_shifting_all_times_shifts_the_start(problem, shift):
    _, series, transform = problem
    want, start = match(transform, series)
    times = [series[i].times + shift for i in range(len(series))]
    assume(all((np.diff(t) > 1e-9).all() for t in times))
    shifted = RaggedSeries.from_arrays([series[i].values for i in range(len(series))], times)
    got, moved = match(transform, shifted)
    assert_close(transform, got, want, rtol=1e-8, atol=1e-7)
    elsewhere = ~np.isclose(moved, start + shift, rtol=0, atol=1e-5)
    assert_close(transform, got[elsewhere], want[elsewhere])
    if len(series) > 5 and transform.search in ("grid", "exact"):
        assert elsewhere.mean() < 0.5


@few
@given(problems(makers=st.just(irregular)), st.integers(-20, 20))
def test_shifting_all_times_moves_every_start_alike(problem, shift):
    _, series, transform = problem
    _, start = match(transform, series)
    # The path itself does not move by a bit, so neither do the offsets.
    paths = interpolate(series)
    _, moved = match(transform, dataclasses.replace(paths, origin=paths.origin + shift))
    np.testing.assert_allclose(moved, start + shift, rtol=1e-14, atol=1e-13)


@few
@given(problems())
def test_permuting_series_permutes_rows(problem):
    rng, series, transform = problem
    order = rng.permutation(len(series))
    want, start = match(transform, series)
    assert_same_bits(transform, match(transform, series[order]), (want[order], start[order]))


@few
@given(problems())
def test_permuting_channels_with_the_metric_changes_nothing(problem):
    rng, series, transform = problem
    want, _ = match(transform, series)
    order = rng.permutation(series.n_channels)
    shapelets, pi = transform.shapelets, transform.discrepancy
    with torch.no_grad():
        shapelets.values.copy_(shapelets.values[:, order])
        if pi.weight is not None:
            pi.weight.copy_(pi.weight[..., order])
    got, _ = match(transform, dataclasses.replace(series, values=series.values[:, order]))
    assert_close(transform, got, want, rtol=1e-10, atol=1e-10)


@few
@given(problems(makers=st.sampled_from([ragged, regular])))
def test_how_series_are_batched_changes_no_bit(problem):
    rng, series, transform = problem
    want, start = match(transform, series)
    cuts = np.sort(rng.integers(1, len(series), 2))
    for rows in np.split(np.arange(len(series)), cuts):
        if len(rows):
            assert_same_bits(transform, match(transform, series[rows]), (want[rows], start[rows]))
    one = int(rng.integers(len(series)))
    assert_same_bits(transform, match(transform, series[[one]]), (want[[one]], start[[one]]))


@few
@given(problems(makers=st.just(regular)))
def test_a_regular_series_does_not_feel_irregular_neighbours(problem):
    rng, series, transform = problem
    want = match(transform, series)
    neighbours = irregular(rng, 3, series.n_channels)
    together = RaggedSeries.concatenate([neighbours, series])
    got = match(transform, together)
    assert_same_bits(transform, (got[0][3:], got[1][3:]), want)


@few
@given(seeds, st.integers(2, 30), levels)
def test_padding_in_the_array_changes_no_bit(seed, longest, level_free):
    """A long neighbour makes the short series' rows of the padded array longer, nothing else."""
    rng = np.random.default_rng(seed)
    transform = make_transform(rng, lengths=[3.0, 5.5, 9.0, 40.0], level_free=level_free)
    short = [rng.normal(size=(2, int(size))) for size in rng.integers(1, 25, 5)]
    want = match(transform, short)
    got = match(transform, [*short, rng.normal(size=(2, 40 + longest))])
    assert_same_bits(transform, (got[0][:5], got[1][:5]), want)


@few
@given(problems(), st.integers(0, 5), st.integers(0, 5))
def test_padding_by_nan_changes_no_bit(problem, before, after):
    """Rows in front and behind without an observation, at any times."""
    rng, series, transform = problem
    values, times = [], []
    for one in series:
        gaps = rng.uniform(0.1, 2.0, before + after)
        times.append(
            np.concatenate(
                [
                    one.times[0] - np.cumsum(gaps[:before])[::-1],
                    one.times,
                    one.times[-1] + np.cumsum(gaps[before:]),
                ]
            )
        )
        values.append(np.pad(one.values, ((0, 0), (before, after)), constant_values=np.nan))
    padded = RaggedSeries.from_arrays(values, times)
    for got, want in zip(match(transform, padded), match(transform, series), strict=True):
        np.testing.assert_array_equal(got, want)


@few
@given(problems(searches=settled), st.floats(1e-3, 1e3))
def test_scaling_time_and_length_scales_the_square_alike(problem, scale):
    _, series, transform = problem
    want, start = match(transform, series)
    scaled = dataclasses.replace(series, times=series.times * scale)
    stretched = GeneralisedShapeletTransform.from_shapelets(
        transform.shapelets.values.detach(), transform.shapelets.lengths.detach() * scale,
        discrepancy=transform.discrepancy, search=transform.search,
    )  # fmt: skip
    got, _ = match(stretched, scaled)
    assert_close(transform, got**2 / scale, want**2, rtol=1e-8)


@few
@given(seeds, st.integers(1, 3), st.booleans(), levels, settled)
def test_a_planted_shapelet_is_found_at_its_place(seed, n_channels, is_regular, level_free, search):
    rng = np.random.default_rng(seed)
    n_times, n_knots = 60, 7
    times = np.arange(n_times, dtype=float)
    length = float(rng.uniform(3.0, 9.0))
    if is_regular:
        place = float(rng.integers(0, int(n_times - 1 - length)))
    else:
        times[1:-1] = np.sort(rng.uniform(0.0, n_times - 1, n_times - 2))
        place = float(rng.integers(0, n_times)) / (n_times - 1) * (n_times - 1 - length)
    shapelet = rng.normal(size=(n_channels, n_knots))
    values = 3.0 * rng.normal(size=(n_channels, n_times))
    own = place + np.linspace(0.0, length, n_knots)
    outside = (times < place - 1e-6) | (times > place + length + 1e-6)
    all_times = np.concatenate([times[outside], own])
    order = np.argsort(all_times)
    planted = np.concatenate([values[:, outside], shapelet], axis=1)[:, order]
    all_times = all_times[order] + 17.0
    assume((np.diff(all_times) > 1e-3).all())
    series = RaggedSeries.from_arrays([planted], [all_times])
    if is_regular:  # sampled from the planted path, with a step that divides the knots' spacing
        spacing = length / (n_knots - 1)
        lattice = np.arange(0.0, 59.0 + spacing, spacing / 2) + place % (spacing / 2)
        sampled = interpolate(series).evaluate(17.0 + lattice)
        series = RaggedSeries.from_arrays(sampled, 17.0 + lattice)
    transform = make_transform(
        rng, n_channels, 1, n_knots, lengths=[length], level_free=level_free is True,
        search=search if is_regular else "exact",
    )  # fmt: skip
    transform.shapelets.values.data[0] = torch.from_numpy(
        shapelet + (5.0 if level_free is True else 0.0)
    )
    discrepancy, start = match(transform, series)
    assert discrepancy.item() < 1e-6
    np.testing.assert_allclose(start.item(), 17.0 + place, atol=1e-5)


@few
@given(seeds, st.sampled_from(METRICS), st.booleans())
def test_triangle_inequality(seed, metric, level_free):
    """pi(f, w) <= pi(f, v) + pi(v, w), for f on a window and piecewise-linear v, w."""
    rng = np.random.default_rng(seed)
    name, _ = metric
    n_channels, n_knots, length = 2, 6, 3.0
    f, v, w = rng.normal(size=(3, n_channels, n_knots)) * rng.choice([1e-3, 1.0, 30.0], (3, 1, 1))
    pi = L2Discrepancy(n_channels, name, level_free=level_free).double()
    if name != "none":
        pi.weight.data += torch.from_numpy(rng.normal(size=pi.weight.shape))
    times = np.linspace(0.0, length, n_knots)
    # Padding on both sides, so that the window is a part of the path.
    around = np.concatenate([[-2.0, -1.0], times, [length + 0.3, length + 2.0]])

    def distance(a, b):
        noise = rng.normal(size=(n_channels, 2))
        path = np.concatenate([noise, a, noise], axis=1)
        paths = interpolate(RaggedSeries.from_arrays([path], [around]))
        lengths = torch.tensor([length], dtype=torch.float64)
        offsets = offsets_at(np.full((1, 1), 2.0))
        return evaluate(pi, paths, torch.from_numpy(b)[None], lengths, offsets).item()

    assert distance(f, w) <= (distance(f, v) + distance(v, w)) * (1 + 1e-12)
    np.testing.assert_allclose(distance(f, w), distance(w, f), rtol=1e-10)
    assert distance(f, f) <= 1e-12


@few
@given(problems(searches=settled), st.floats(-50.0, 50.0))
def test_level_free_shapelets_ignore_the_level(problem, level):
    _, series, transform = problem
    transform.discrepancy.level_free = torch.tensor(True)
    want, _ = match(transform, series)
    raised = dataclasses.replace(series, values=series.values + level)
    unseen = np.isnan(series.values)
    paths = interpolate(raised, fill=level)
    assert np.isnan(raised.values).sum() == unseen.sum()
    got, _ = match(transform, paths)
    assert_close(transform, got, want)


@fewer
@given(problems())
def test_scaling_the_metric_scales_the_discrepancy(problem):
    _, series, transform = problem
    assume(transform.discrepancy.weight is not None)
    want, _ = match(transform, series)
    with torch.no_grad():
        transform.discrepancy.weight *= -4.0
    got, _ = match(transform, series)
    np.testing.assert_allclose(got, 4 * want, rtol=1e-10, atol=1e-12)
