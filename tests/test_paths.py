"""Paths: straight lines through each channel's own observations."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
import torch
from problems import assert_agrees, irregular, make_transform, ragged, regular

from genshapelets import Paths, RaggedSeries, interpolate
from genshapelets.paths import observed, paths_of

NAN = np.nan


def path_of(values, times=None, **kwargs):
    return interpolate(
        RaggedSeries.from_arrays([values], None if times is None else [times]), **kwargs
    )


# Values, worked by hand


def test_a_gap_is_bridged_by_a_line_in_time_not_in_rows():
    path = path_of([[0.0, NAN, 4.0], [7.0, 7.0, 7.0]], [0.0, 1.0, 4.0])
    np.testing.assert_allclose(path.values[:, 0], [0.0, 1.0, 4.0], rtol=1e-15)


def test_each_channel_goes_through_its_own_observations():
    path = path_of([[1.0, NAN, 3.0, NAN], [NAN, 10.0, NAN, 30.0]], [0.0, 2.0, 4.0, 6.0])
    np.testing.assert_allclose(path.values.T, [[1, 2, 3, 3], [10, 10, 20, 30]], rtol=1e-15)


def test_a_path_is_constant_before_its_first_and_after_its_last_observation():
    path = path_of([[NAN, 5.0, 7.0, NAN]], [0.0, 1.0, 2.0, 9.0])
    got = path.evaluate([-100.0, 0.0, 0.5, 1.0, 1.5, 2.0, 5.0, 9.0, 100.0])
    np.testing.assert_array_equal(got, [[[5, 5, 5, 5, 6, 7, 7, 7, 7]]])


def test_a_channel_never_observed_takes_the_fill():
    values = [[1.0, 2.0], [NAN, NAN]]
    np.testing.assert_array_equal(path_of(values).values.T, [[1, 2], [0, 0]])
    np.testing.assert_array_equal(path_of(values, fill=4.0).values.T, [[1, 2], [4, 4]])
    np.testing.assert_array_equal(path_of(values, fill=[8.0, -3.0]).values.T, [[1, 2], [-3, -3]])


def test_the_fill_is_for_the_series_that_lacks_the_channel_only():
    series = RaggedSeries.from_arrays([[[1.0], [NAN]], [[NAN, 2.0], [3.0, NAN]]])
    paths = interpolate(series, fill=[7.0, 9.0])
    np.testing.assert_array_equal(paths.values, [[1, 9], [2, 3], [2, 3]])


@pytest.mark.parametrize("fill", [np.nan, np.inf, [1.0, 2.0, 3.0], [[1.0, 2.0]]])
def test_a_bad_fill_is_refused(fill):
    with pytest.raises(ValueError, match="fill must be one finite number or one for each of the 2"):
        path_of([[1.0, 2.0], [3.0, 4.0]], fill=fill)


def test_one_observation_is_a_constant_path():
    path = path_of([[2.5]], [17.0])
    np.testing.assert_array_equal(path.evaluate([0.0, 17.0, 40.0]), [[[2.5, 2.5, 2.5]]])
    assert path.spans.tolist() == [0.0]


def test_knots_are_counted_from_the_first_time():
    path = path_of([[1.0, 2.0, 5.0]], [10.0, 11.0, 14.0])
    assert path.knots.tolist() == [0.0, 1.0, 4.0]
    assert path.origin.tolist() == [10.0] and path.spans.tolist() == [4.0]


def test_the_series_keeps_its_missing_values():
    series = RaggedSeries.from_arrays([[[1.0, NAN, 3.0]]])
    interpolate(series)
    assert np.isnan(series.values[1, 0])


def test_paths_are_float64_whatever_the_series():
    series = RaggedSeries.from_arrays(np.ones((2, 1, 3), np.float32))
    assert interpolate(series).values.dtype == np.float64


def test_repr_tells_how_many_are_regular():
    series = RaggedSeries.from_arrays([np.ones((2, 3))] * 3, [[0, 1, 2], [0, 1, 3], [5, 6, 7]])
    assert repr(interpolate(series)) == "Paths(3 paths, 2 channels, 9 knots, 2 regularly sampled)"


# np.interp as oracle


def test_evaluate_agrees_with_numpy():
    rng = np.random.default_rng(0)
    series = irregular(rng, n_series=20, n_channels=3, missing=0.4)
    fill = np.array([0.5, -1.5, 2.5])
    paths = interpolate(series, fill)
    times = rng.uniform(-10.0, 25.0, (len(series), 40))
    times[:, :5] = paths.origin[:, None] + paths.knots[paths.row_offsets[:-1, None] + np.arange(5)]
    got = paths.evaluate(times)
    for i in range(len(series)):
        one = series[i]
        for channel, row in enumerate(one.values):
            seen = ~np.isnan(row)
            if seen.any():
                want = np.interp(times[i], one.times[seen], row[seen])
            else:
                want = np.full(40, fill[channel])
            np.testing.assert_allclose(got[i, channel], want, rtol=1e-12, atol=1e-12)


def test_one_vector_of_times_serves_all_paths():
    paths = interpolate(irregular(np.random.default_rng(1)))
    times = np.linspace(-3.0, 12.0, 7)
    np.testing.assert_array_equal(
        paths.evaluate(times), paths.evaluate(np.tile(times, (len(paths), 1)))
    )


@pytest.mark.parametrize(
    ("t", "message"),
    [
        (np.zeros((2, 3)), r"t must be one time, .* or \(6, n_times\).*got shape \(2, 3\)"),
        (np.zeros((6, 3, 1)), r"got shape \(6, 3, 1\)"),
        ([0.0, NAN], "t must be finite"),
        ([np.inf], "t must be finite"),
    ],
)
def test_times_that_cannot_be_evaluated_are_refused(t, message):
    paths = interpolate(irregular(np.random.default_rng(2)))
    with pytest.raises(ValueError, match=message):
        paths.evaluate(t)


def test_one_time():
    paths = interpolate(irregular(np.random.default_rng(12)))
    for t in (3.5, np.float32(3.5), np.array(3.5), 3):
        got = paths.evaluate(t)
        assert got.shape == (6, 2)
        np.testing.assert_array_equal(got, paths.evaluate([float(t)])[:, :, 0])


DAYS = np.array(["2020-01-01", "2020-01-03", "2020-01-04"], dtype="M8[D]")


def test_datetimes():
    series = RaggedSeries.from_arrays([[[0.0, 4.0, 5.0]], [[7.0, 7.0, 10.0]]], [DAYS, DAYS + 30])
    paths = interpolate(series)
    assert paths.time_origin == paths[1:].time_origin == DAYS[0]
    noon = np.array(["2019", "2020-01-02T12", "2020-02-03T00"], dtype="M8[h]")
    want = [[[0.0, 3.0, 5.0]], [[7.0, 7.0, 10.0]]]
    for t in (noon, noon.astype("M8[ns]"), pd.DatetimeIndex(noon), pd.Series(noon), list(noon)):
        np.testing.assert_allclose(paths.evaluate(t), want, rtol=1e-14)
        np.testing.assert_allclose(paths[[1, 0]].evaluate(t), want[::-1], rtol=1e-14)
    np.testing.assert_allclose(paths.evaluate(noon[1]), [[3.0], [7.0]], rtol=1e-14)
    np.testing.assert_allclose(paths.evaluate(pd.DatetimeIndex(noon, tz="UTC")), want, rtol=1e-14)
    np.testing.assert_allclose(paths.evaluate(np.stack([noon, noon])), want, rtol=1e-14)
    seconds = (noon - DAYS[0]) / np.timedelta64(1, "s")
    np.testing.assert_array_equal(paths.evaluate(seconds), paths.evaluate(noon))
    with pytest.raises(ValueError, match="t must be finite"):
        paths.evaluate(np.array(["2020", "NaT"], "M8[s]"))


@pytest.mark.parametrize(
    ("t", "message"),
    [
        (DAYS, "t holds datetimes, but the times of the series are numbers. Give numbers"),
        (DAYS - DAYS[0], "t must be numbers or datetime64; got dtype timedelta64"),
        (["a"], "t must be numbers or datetime64; got dtype <U1"),
    ],
)
def test_times_of_another_kind_are_refused(t, message):
    with pytest.raises(TypeError, match=message):
        interpolate(irregular(np.random.default_rng(13))).evaluate(t)


# Regular sampling


@pytest.mark.parametrize(
    "times",
    [
        np.arange(50),
        0.1 * np.arange(50),
        np.cumsum(np.full(50, 0.1)),
        np.linspace(0.0, 1.0, 50),
        np.linspace(0.0, 1.0, 50, dtype=np.float32),
        (np.arange(50) / 44_100).astype(np.float32),
        1.7e9 + 0.25 * np.arange(50),
        1e6 + 0.1 * np.arange(50),
        np.datetime64("2024-03-01T00:00:00") + np.arange(50) * np.timedelta64(250, "ms"),
        [3.0, 11.0],
    ],
    ids=[
        "integers", "products", "sums", "linspace", "linspace32", "rate32", "far", "far_and_odd",
        "datetimes", "two",
    ],
)  # fmt: skip
def test_regular_up_to_the_rounding_of_the_times(times):
    path = path_of(np.ones((1, len(times))), times)
    assert path.step[0] > 0
    np.testing.assert_array_equal(path.knots, path.step[0] * np.arange(len(times)))


@pytest.mark.parametrize(
    "times",
    [
        [0.0, 1.0, 3.0],
        np.delete(np.arange(50.0), 20),
        np.arange(50) + 1e-6 * (np.arange(50) == 30),
        np.geomspace(1.0, 50.0, 50),
        (0.1 * np.arange(50) + 1e-4 * (np.arange(50) == 30)).astype(np.float32),
    ],
    ids=["gap", "lost_sample", "one_late", "geometric", "one_late32"],
)
def test_irregular_times_are_kept_as_they_are(times):
    path = path_of(np.ones((1, len(times))), times)
    assert path.step.tolist() == [0.0]
    want = np.asarray(times, np.float64)
    np.testing.assert_array_equal(path.knots, want - want[0])


@pytest.mark.parametrize("step", [0.1, 1 / 3, 1.0, 1e-3, 7e5])
def test_variable_lengths_and_origins_share_a_step(step):
    starts, sizes = [0.3, -7.7, 1e3, 0.0], [5, 50, 1000, 333]
    times = [start + step * np.arange(size) for start, size in zip(starts, sizes, strict=True)]
    paths = interpolate(RaggedSeries.from_arrays([np.ones((1, size)) for size in sizes], times))
    assert paths.step == pytest.approx([step] * 4, rel=1e-11)
    assert len(set(paths.step)) == 1


def test_missing_values_do_not_make_a_series_irregular():
    assert path_of([[0.0, NAN, NAN, 3.0]]).step.tolist() == [1.0]


def test_one_observation_has_no_step():
    series = RaggedSeries.from_arrays(
        [np.ones((1, 1)), np.ones((1, 9))], [[4.0], 0.5 * np.arange(9)]
    )
    assert interpolate(series).step.tolist() == [0.0, 0.5]


def test_paths_are_grouped_by_their_step():
    times = [2 * np.arange(4), np.arange(4), [0, 1, 2, 9], np.arange(4) + 7]
    paths = interpolate(RaggedSeries.from_arrays([np.ones((1, 4))] * 4, times))
    assert paths.step.tolist() == [2.0, 1.0, 0.0, 1.0]
    groups = [(sampling.step, sampling.members.tolist()) for sampling in paths.samplings]
    assert groups == [(0.0, [2]), (1.0, [1, 3]), (2.0, [0])]


def test_the_precision_of_a_neighbours_times_does_not_make_a_series_regular():
    coarse = np.arange(20, dtype=np.float32)
    fine = np.arange(20) + 1e-7 * (np.arange(20) % 2)
    both = interpolate(RaggedSeries.from_arrays([np.ones((1, 20))] * 2, [fine, coarse]))
    alone = interpolate(RaggedSeries.from_arrays([np.ones((1, 20))], [fine]))
    assert both.step[0] == alone.step[0] == 0.0


# Times at which nothing is observed


def padded(rng, series, before, after):
    """The same series, with times in front and behind at which nothing is observed."""
    values, times = [], []
    for one in series:
        step = one.times[-1] - one.times[-2]
        in_front = np.sort(one.times[0] - step * (1.0 + rng.permutation(before)))
        behind = one.times[-1] + step * np.arange(1, after + 1)
        times.append(np.concatenate([in_front, one.times, behind]))
        values.append(np.pad(one.values, ((0, 0), (before, after)), constant_values=NAN))
    return RaggedSeries.from_arrays(values, times)


def observed_ends(make, rng, n_channels):
    """Series whose first and last times are observed."""
    parts = make(rng, n_channels=n_channels, n_times=(15, 35))
    values = [one.values.copy() for one in parts]
    for array in values:
        array[0, [0, -1]] = 1.5
    return RaggedSeries.from_arrays(values, [one.times for one in parts])


def bits(transform, series):
    transform.zero_grad()
    matches = transform(series)
    matches.discrepancy.sum().backward()
    grads = [p.grad.clone() for p in transform.parameters()]
    return [matches.discrepancy.detach(), matches.start, *grads], matches.backend


@pytest.mark.parametrize(
    ("before", "after", "make", "n_channels", "search"),
    [
        (0, 7, regular, 1, "grid"),
        (0, 7, irregular, 3, "auto"),
        (3, 0, regular, 3, "refined"),
        (3, 0, irregular, 1, "exact"),
        (4, 2, regular, 3, "exact"),
        (4, 2, irregular, 1, "grid"),
    ],
)
def test_padding_by_nan_changes_no_bit(before, after, make, n_channels, search):
    rng = np.random.default_rng(6)
    series = observed_ends(make, rng, n_channels)
    more = padded(rng, series, before, after)
    assert more.lengths.tolist() == (series.lengths + before + after).tolist()
    transform = make_transform(rng, n_channels, search=search)
    (got, got_backend), (want, want_backend) = bits(transform, more), bits(transform, series)
    assert got_backend == want_backend
    for one, other in zip(got, want, strict=True):
        assert torch.equal(one, other)


def test_an_array_padded_by_nan_is_the_list():
    rng = np.random.default_rng(7)
    arrays = [rng.normal(size=(2, size)) for size in (9, 30, 17, 2)]
    block = np.full((4, 2, 30), NAN)
    for row, array in zip(block, arrays, strict=True):
        row[:, : array.shape[1]] = array
    transform = make_transform(rng)
    (got, got_backend), (want, want_backend) = bits(transform, block), bits(transform, arrays)
    assert got_backend == want_backend == "lattice"
    for one, other in zip(got, want, strict=True):
        assert torch.equal(one, other)


@pytest.mark.parametrize("n_channels", [1, 2])
def test_one_block_over_all_times_is_the_list(n_channels):
    """Series with their own times in an array over the union of them."""
    series = observed_ends(irregular, np.random.default_rng(8), n_channels)
    seen = ~np.isnan(series.values).all(axis=1)
    everything = np.unique(series.times)
    block = np.full((len(series), n_channels, len(everything)), NAN)
    for row, one in zip(block, series, strict=True):
        row[:, np.searchsorted(everything, one.times)] = one.values
    got, want = interpolate(RaggedSeries.from_arrays(block, everything)), interpolate(series)
    for name in ("knots", "values", "row_offsets", "origin", "step"):
        np.testing.assert_array_equal(getattr(got, name), getattr(want, name))
    assert len(want.knots) == seen.sum()


def test_the_path_starts_at_the_first_observation():
    path = path_of([[NAN, NAN, 1.0, 4.0, NAN]], [3.0, 5.0, 6.0, 8.0, 9.0])
    assert path.origin.tolist() == [6.0] and path.spans.tolist() == [2.0]
    assert path.knots.tolist() == [0.0, 2.0] and path.step.tolist() == [2.0]


def test_a_time_at_which_one_channel_is_observed_is_an_observation():
    path = path_of([[NAN, 1.0, NAN], [2.0, NAN, NAN]], [0.0, 1.0, 5.0])
    assert path.knots.tolist() == [0.0, 1.0]
    np.testing.assert_array_equal(path.values, [[1.0, 2.0], [1.0, 2.0]])


def test_inside_irregular_series_they_are_left_out_and_regularity_is_looked_at_again():
    gaps = [[1.0, NAN, 2.0, 3.0]]
    assert path_of(gaps, [0.0, 0.7, 1.0, 2.5]).knots.tolist() == [0.0, 1.0, 2.5]
    path = path_of(gaps, [0.0, 0.7, 1.0, 2.0])
    assert path.knots.tolist() == [0.0, 1.0, 2.0] and path.step.tolist() == [1.0]
    assert path_of(gaps, [0.0, 1.0, 2.0, 3.0]).knots.tolist() == [0.0, 1.0, 2.0, 3.0]


def test_padding_does_not_make_a_series_irregular():
    path = path_of([[NAN, 1.0, NAN, 3.0, NAN]], [-9.0, 0.0, 1.0, 2.0, 17.0])
    assert path.knots.tolist() == [0.0, 1.0, 2.0] and path.step.tolist() == [1.0]


def test_a_batch_without_such_times_is_returned_as_it_is():
    series = RaggedSeries.from_arrays([[[NAN, 1.0], [1.0, NAN]]])
    assert observed(series) is series
    gaps = RaggedSeries.from_arrays([[[2.0, NAN, 1.0]]])
    assert observed(gaps) is gaps
    once = observed(irregular(np.random.default_rng(9), n_channels=1))
    assert observed(once) is once


def test_regular_series_with_gaps_stay_regular():
    rng = np.random.default_rng(10)
    series = observed_ends(regular, rng, 2)
    values = [one.values.copy() for one in series]
    for array in values:
        array[:, 4:7] = NAN
    gaps = RaggedSeries.from_arrays(values, [one.times for one in series])
    assert (interpolate(gaps).step > 0).all()
    assert_agrees(make_transform(rng), gaps, rtol=1e-9)
    # The gaps are straight lines either way: the minimum over all offsets does not see their knots.
    exact = make_transform(np.random.default_rng(11), search="exact")
    without = [~np.isnan(array).all(axis=0) for array in values]
    dropped = RaggedSeries.from_arrays(
        [array[:, kept] for array, kept in zip(values, without, strict=True)],
        [one.times[kept] for one, kept in zip(series, without, strict=True)],
    )
    torch.testing.assert_close(
        exact(gaps).discrepancy, exact(dropped).discrepancy, rtol=1e-9, atol=1e-9
    )


# Choosing


@pytest.mark.parametrize(
    "choice",
    [slice(1, 4), slice(None, None, -2), [3, 0, 3], np.array([5, 1])],
    ids=["slice", "backwards", "list", "array"],
)
def test_choosing_paths_is_choosing_series(choice):
    series = ragged(np.random.default_rng(3))
    got, want = interpolate(series)[choice], interpolate(series[choice])
    assert isinstance(got, Paths) and len(got) == len(want)
    for name in ("knots", "values", "row_offsets", "origin", "step", "lengths", "spans"):
        np.testing.assert_array_equal(getattr(got, name), getattr(want, name))


def test_choosing_by_mask():
    paths = interpolate(ragged(np.random.default_rng(4)))
    mask = paths.step > 0
    chosen = paths[mask]
    assert 0 < len(chosen) < len(paths)
    np.testing.assert_array_equal(chosen.origin, paths.origin[mask])


def test_one_number_is_no_choice():
    with pytest.raises(TypeError, match="chosen by a slice, a list of indices or a mask"):
        interpolate(ragged(np.random.default_rng(5)))[0]


def test_no_path_is_no_batch():
    with pytest.raises(ValueError, match="at least one path; the selection is empty"):
        interpolate(ragged(np.random.default_rng(5)))[[]]


# What is made of paths once


class Doubled(np.ndarray):
    """Twice the origin of each path."""


def doubled(paths):
    return (2 * paths.origin).view(Doubled)


def test_what_is_prepared_is_kept_and_chosen_with_the_paths():
    paths = interpolate(ragged(np.random.default_rng(14)))
    whole = paths.prepared(doubled)
    assert paths.prepared(doubled) is whole
    part = paths[[4, 1]]
    np.testing.assert_array_equal(part.prepared(doubled), whole[[4, 1]])
    del paths._prepared[doubled]
    assert part.prepared(doubled) is part.prepared(
        doubled
    )  # its own, whatever becomes of the whole
    for copied in (copy.deepcopy(part), pickle.loads(pickle.dumps(part))):
        assert not copied._prepared
        np.testing.assert_array_equal(copied.values, part.values)
        np.testing.assert_array_equal(copied.prepared(doubled), whole[[4, 1]])


def test_series_are_interpolated_once_for_each_fill():
    series = irregular(np.random.default_rng(15))
    known = paths_of(series)
    assert paths_of(series) is known
    other = paths_of(series, [0.0, 1.0])
    assert other is not known and paths_of(series, np.array([0, 1])) is other
