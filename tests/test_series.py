"""RaggedSeries: what goes in comes out, and what cannot be right is refused by name."""

import copy
import dataclasses
import datetime
import pickle
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from genshapelets import GeneralisedShapeletTransform, ShapeletTransformer
from genshapelets.paths import interpolate
from genshapelets.series import RaggedSeries

NAN = np.nan


def make_ragged(**kwargs):
    values = [np.array([[1.0, NAN, 3.0], [4.0, 5.0, NAN]]), np.array([[6.0], [7.0]])]
    return RaggedSeries.from_arrays(values, [[0.0, 0.5, 2.0], [9.0]], **kwargs)


def assert_same(got, want):
    """Check that two batches hold the very same data, whatever their storage."""
    for name in ("times", "values", "row_offsets"):
        np.testing.assert_array_equal(getattr(got, name), getattr(want, name), strict=True)
    assert np.array_equal(got.time_precision, want.time_precision)
    assert got.time_origin == want.time_origin
    assert got.channel_names == want.channel_names
    assert (got.series_ids is None) == (want.series_ids is None)
    if want.series_ids is not None:
        assert got.series_ids.tolist() == want.series_ids.tolist()


# From arrays


def test_storage():
    series = make_ragged(channel_names=["a", "b"])
    assert series.times.tolist() == [0.0, 0.5, 2.0, 9.0]
    np.testing.assert_array_equal(series.values, [[1, 4], [NAN, 5], [3, NAN], [6, 7]])
    assert series.row_offsets.tolist() == [0, 3, 4] and series.row_offsets.dtype == np.int64
    assert series.values.flags.c_contiguous
    assert (series.n_series, len(series), series.n_channels) == (2, 2, 2)
    assert series.lengths.tolist() == [3, 1]
    assert series.spans.tolist() == [2.0, 0.0]
    assert series.channel_names == ("a", "b")
    assert series.series_ids is None and series.time_origin is None
    assert (series.time_precision == np.finfo(np.float64).eps).all()
    assert repr(series) == (
        "RaggedSeries(2 series, 2 channels, 1 to 3 times each, 25.0 % of values missing, float64)"
    )


def test_three_dimensional_array_and_list_agree():
    values = np.random.default_rng(0).normal(size=(4, 3, 5))
    block = RaggedSeries.from_arrays(values)
    assert_same(block, RaggedSeries.from_arrays(list(values)))
    assert_same(block, RaggedSeries.from_arrays(tuple(values.tolist())))
    assert block.times.tolist() == [0, 1, 2, 3, 4] * 4
    assert block.values.flags.c_contiguous
    np.testing.assert_array_equal(block[2].values, values[2])


def test_object_array_of_arrays():
    arrays = np.empty(2, dtype=object)
    arrays[:] = [np.ones((1, 3)), np.ones((1, 4))]
    for values in (arrays, pd.Series(list(arrays))):
        assert RaggedSeries.from_arrays(values).lengths.tolist() == [3, 4]


def test_torch():
    torch = pytest.importorskip("torch")
    values = torch.arange(12.0).reshape(2, 2, 3)
    series = RaggedSeries.from_arrays(values, torch.tensor([0.0, 1.0, 3.0]))
    assert series.dtype == np.float32 and (series.time_precision == np.finfo(np.float32).eps).all()
    np.testing.assert_array_equal(series[1].values, values[1].numpy())
    assert_same(RaggedSeries.from_arrays(list(values), [torch.tensor([0.0, 1.0, 3.0])] * 2), series)
    learnt, times = values.clone().requires_grad_(), torch.tensor([0.0, 1.0, 3.0]).requires_grad_()
    assert_same(RaggedSeries.from_arrays(learnt, times), series)
    assert_same(RaggedSeries.from_arrays(list(learnt), [times, times]), series)


def test_ways_to_give_times():
    values, vector = np.ones((2, 1, 3)), [0.0, 1.5, 2.0]
    shared = RaggedSeries.from_arrays(values, vector)
    assert shared.times.tolist() == vector * 2
    ways = ([vector, vector], np.array([vector, vector]), tuple(map(np.array, (vector, vector))))
    for times in ways:
        assert_same(RaggedSeries.from_arrays(values, times), shared)


def test_dtype_of_values():
    for given_dtypes, dtype in (
        (["float32"], "float32"),
        (["float16"], "float32"),
        (["float64"], "float64"),
        (["int32"], "float64"),
        (["bool"], "float64"),
        ([">f4"], "float32"),
        (["float32", "float64"], "float64"),
        (["float32", "float16"], "float32"),
    ):
        arrays = [np.ones((2, 3), name) for name in given_dtypes]
        assert RaggedSeries.from_arrays(arrays).dtype == np.dtype(dtype)
        assert RaggedSeries.from_arrays(np.stack(arrays)).dtype == np.dtype(dtype)


def test_time_precision():
    for dtype in ("float32", "float64", "int64", "uint8"):
        series = RaggedSeries.from_arrays(np.ones((2, 1, 3)), np.arange(3, dtype=dtype))
        precision_of = "float32" if dtype == "float32" else "float64"
        assert (series.time_precision == np.finfo(precision_of).eps).all()
        assert series.times.dtype == np.float64


def test_masked_is_missing():
    values = np.ma.masked_equal(np.arange(6).reshape(1, 2, 3), 4)
    np.testing.assert_array_equal(
        RaggedSeries.from_arrays(values)[0].values, [[0, 1, 2], [3, NAN, 5]]
    )
    np.testing.assert_array_equal(
        RaggedSeries.from_arrays([values[0]])[0].values, [[0, 1, 2], [3, NAN, 5]]
    )


def test_owner_keeps_the_arrays():
    values, times = np.ones((2, 1, 3)), np.arange(3.0)
    for given_values in (values, list(values)):
        series = RaggedSeries.from_arrays(given_values, times)
        for name in ("times", "values", "row_offsets"):
            assert not getattr(series, name).flags.writeable
            assert not np.shares_memory(getattr(series, name), values)
            assert not np.shares_memory(getattr(series, name), times)
    assert values.flags.writeable and times.flags.writeable
    mine = np.arange(3.0)
    eps = np.array([np.finfo(float).eps])
    RaggedSeries(
        times=mine, values=np.ones((3, 1)), row_offsets=np.array([0, 3]), time_precision=eps
    )
    assert mine.flags.writeable


# Datetimes

DAYS = np.array(["2020-01-01", "2020-01-02", "2020-01-05"], dtype="datetime64[D]")


@pytest.mark.parametrize("unit", ["D", "s", "us", "ns"])
def test_datetimes(unit):
    series = RaggedSeries.from_arrays(np.ones((2, 1, 3)), [DAYS.astype(f"M8[{unit}]"), DAYS + 7])
    day = 86400.0
    assert series.times.tolist() == [0, day, 4 * day, 7 * day, 8 * day, 11 * day]
    assert series.time_origin == DAYS[0] and series.time_origin.dtype == "M8[ns]"
    assert (series.time_precision == np.finfo(np.float64).eps).all()
    assert series.to_user_time(series[0].times).tolist() == DAYS.astype("M8[ns]").tolist()
    assert series.to_user_time(1e-9) == series.time_origin + np.timedelta64(1, "ns")
    assert np.isnat(series.to_user_time(NAN))


def test_numeric_times_are_the_users():
    assert make_ragged().to_user_time(3.5) == 3.5


def test_nanoseconds_are_kept():
    start = np.datetime64("2024-06-01T12:00:00.123456789", "ns")
    times = start + np.arange(5) * np.timedelta64(1, "ns")
    series = RaggedSeries.from_arrays(np.ones((1, 1, 5)), times)
    assert series.times.tolist() == [0, 1e-9, 2e-9, 3e-9, 4e-9]
    assert (series.to_user_time(series.times) == times).all()


@pytest.mark.parametrize(
    "times",
    [
        DAYS.astype(object),
        DAYS.tolist(),
        DAYS.astype("M8[us]").tolist(),
        list(DAYS),
        list(pd.DatetimeIndex(DAYS)),
        [t.replace(tzinfo=datetime.timezone.utc) for t in DAYS.astype("M8[us]").tolist()],
        list(pd.DatetimeIndex(DAYS, tz="UTC").tz_convert("Asia/Tokyo")),
        pd.PeriodIndex(DAYS, freq="D"),
        [datetime.date(2020, 1, 1), datetime.datetime(2020, 1, 2), DAYS[2]],
    ],
    ids=[
        "objects", "dates", "datetimes", "numpy", "timestamps", "zone", "timestamps_zone", "periods",
        "mixed",
    ],
)  # fmt: skip
def test_dates_of_python_and_pandas(times):
    want = RaggedSeries.from_arrays(np.ones((2, 1, 3)), DAYS)
    assert_same(RaggedSeries.from_arrays(np.ones((2, 1, 3)), times), want)
    assert_same(RaggedSeries.from_arrays(np.ones((2, 1, 3)), [times, times]), want)
    table = {"who": [0, 0, 0], "when": times, "x": [1.0, 1.0, 1.0]}
    for frame in (table, pd.DataFrame(table), pd.DataFrame(table).astype({"when": object})):
        series = read_wide(frame, ["x"])
        assert series.time_origin == DAYS[0] and series.times.tolist() == want[0].times.tolist()


def test_timestamps_keep_nanoseconds():
    start = pd.Timestamp("2024-06-01T12:00:00.123456789")
    series = RaggedSeries.from_arrays(np.ones((1, 1, 2)), [start, start + pd.Timedelta(1, "ns")])
    assert series.times.tolist() == [0.0, 1e-9] and series.time_origin == start.to_datetime64()


def test_pandas_index_with_zone():
    index = pd.DatetimeIndex(["2020-01-01", "2020-07-01"], tz="America/New_York")
    for times in (index, [index, index], [pd.Series(index)] * 2):
        series = RaggedSeries.from_arrays(np.ones((2, 1, 2)), times)
        assert series.time_origin == np.datetime64("2020-01-01T05:00")
        assert series.spans[0] == 182 * 86400 - 3600


def test_pandas_index_with_zone_out_of_range():
    index = pd.date_range("1500", "1501", periods=2, unit="s", tz="UTC")
    with pytest.raises(ValueError, match="the years 1678 to 2262; got 1500"):
        RaggedSeries.from_arrays(np.ones((1, 1, 2)), index)


# Refusals

X = np.ones((2, 3))
INF = np.array([[1.0, 1.0, 1.0], [1.0, 1.0, -np.inf]])
ZONED = [datetime.datetime(2020, 1, d, tzinfo=datetime.timezone.utc) for d in (1, 2, 3)]
NS = np.array(["2020-01-01", "2020-06-01T00:00:00.000000001"], dtype="M8[ns]")

REFUSED_VALUES = [
    (np.ones((5, 3)), None, ValueError, r"shape \(5, 3\)\. Use values\[:, None, :\] for"),
    (np.ones(3), None, ValueError, r"shape \(3,\)"),
    ([np.ones(3)], None, ValueError, r"series 0 .*shape \(3,\)\. Use x\[None, :\]"),
    ([X, np.ones((1, 2, 3))], None, ValueError, r"series 1 .*shape \(1, 2, 3\)"),
    ([X, X, np.ones((3, 3))], None, ValueError, "series 2 has 3, others have 2"),
    ([np.ones((3, 3)), X, X], None, ValueError, "series 0 has 3, others have 2"),
    ([], None, ValueError, "at least one series"),
    (np.ones((0, 2, 3)), None, ValueError, "at least one series"),
    (np.ones((3, 0, 3)), None, ValueError, "at least one channel"),
    ([np.ones((0, 3))], None, ValueError, "at least one channel"),
    (np.ones((3, 2, 0)), None, ValueError, "series 0 has no times"),
    ([X, np.ones((2, 0))], None, ValueError, "series 1 has no times"),
    ([X, INF], None, ValueError, "series 1 .*got -inf in channel 1 at position 2"),
    ([X, X * NAN], None, ValueError, "series 1 has no observation"),
    (X[None].astype(complex), None, TypeError, "values must be real numbers; got dtype complex"),
    ([X, X.astype(str)], None, TypeError, "values of series 1 must be real numbers; got dtype <U"),
    ([X.astype(str).astype(object)], None, TypeError, "values of series 0 .*got dtype object"),
    (X[None].astype(str).astype(object), None, TypeError, "values must be .*got dtype object"),
    (X[None].astype("M8[s]"), None, TypeError, "values must be real numbers; got dtype datetime"),
]  # fmt: skip
REFUSED_TIMES = [
    ([X, X], [[0, 1, 2], [0.0, 5e-324, 1e-320]], ValueError,
     "times of series 1 must be at most 1e.30 from 0 and at least 1e-30 apart; got 0.0 at position 0"),
    ([X, X], [[0, 1, 2], [0.0, 1.0, 1e200]], ValueError,
     "times of series 1 must be at most 1e.30 .*got 1e.200 at position 2. Count time in another unit"),
    ([X, X], [[0, 1, 2], [-1e308, 0.0, 1e308]], ValueError, "series 1 .*got -1e.308 at position 0"),
    ([X, X], [[0, 1, 2], [0, 1, 1]], ValueError,
     "times of series 1 must strictly increase; got 1 then 1 at positions 1 and 2. Merge repeated"),
    ([X, X], [[0, 2, 1.5], [0, 1, 2]], ValueError, "series 0 .*2.0 then 1.5 .* 1 and 2. Sort"),
    ([X, X], [[0, 1, 2], [0, NAN, 2]], ValueError, "series 1 .*finite; got nan at position 1"),
    ([X, X], [[0, 1, np.inf], [0, 1, 2]], ValueError, "series 0 .*got inf at position 2"),
    ([X], [np.array([0, 1, "NaT"], "M8[s]")], ValueError, "series 0 .*got NaT at position 2"),
    ([X], [np.ma.masked_equal([1, 2, 3], 2)], ValueError, "series 0 .*got nan at position 1"),
    ([X], [np.ma.masked_equal(DAYS, DAYS[1])], ValueError, "series 0 .*got NaT at position 1"),
    ([X], [DAYS[[0, 2, 1]]], ValueError, "series 0 .*got 2020-01-05T.* then 2020-01-02T"),
    ([X], [[2**53, 2**53 + 1, 2**53 + 2]], ValueError, "too close for float64"),
    ([np.ones((2, 4))], [np.append(NS, NS[1] + [1, 2])], ValueError, "too close for float64"),
    ([X], [np.array(["1500", "2000", "2001"], "M8[us]")], ValueError, "fit .*ns.*got 1500-01-01"),
    ([X, X], [0, 1], ValueError, r"series 0 .*got 2 times \(shared by all series\) and 3 values"),
    ([X, X[:, :2]], [0, 1, 2], ValueError, r"series 1 .*got 3 times .* and 2 values"),
    ([X, X], [[0, 1, 2], [0, 1]], ValueError,
     r"series 1 .*times of shape \(2,\) and 3 values. Give one time for each value"),
    ([X, X], [[0, 1, 2]], ValueError, "each of the 2 series; got 1. Give the vector itself"),
    ([X, X], np.zeros((3, 3)), ValueError, "each of the 2 series; got 3"),
    ([X, X], np.zeros((2, 1, 3)), ValueError, r"got shape \(2, 1, 3\). Give them as"),
    ([X, X], [[0, 1, 2], DAYS], TypeError, "all numbers or all datetimes; series 0 .* series 1"),
    ([X], [["a", "b", "c"]], TypeError, "series 0 must be numbers or datetime64; got .*U1"),
    ([X], DAYS - DAYS[0], TypeError, r"dtype timedelta64.*durations / np.timedelta64\(1, 's'\)"),
    ([X], [0, DAYS[0], 1], TypeError, r"dtype object.*by pd.to_datetime\(times\)"),
    ([X], [[*ZONED[:2], datetime.datetime(2020, 5, 1)]], TypeError, "dtype object"),
]  # fmt: skip


@pytest.mark.parametrize("refused", [REFUSED_VALUES, REFUSED_TIMES], ids=["values", "times"])
def test_refused(refused):
    for values, times, error, message in refused:
        with pytest.raises(error, match=message):
            RaggedSeries.from_arrays(values, times)


def test_refused_channel_names():
    with pytest.raises(ValueError, match="each of the 2 channels; got 1 names"):
        make_ragged(channel_names="ab")
    with pytest.raises(ValueError, match="distinct; got 'a' twice"):
        make_ragged(channel_names=["a", "a"])


# From long tables


class OnlyArrow:
    """A table of an unknown library that speaks the Arrow protocol."""

    def __init__(self, columns):
        self.table = pa.table(columns)

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


class OnlyInterchange:
    """A table of an unknown library that speaks the interchange protocol."""

    def __init__(self, columns):
        self.table = pa.table(columns)

    def __dataframe__(self, *args, **kwargs):
        return self.table.__dataframe__(*args, **kwargs)


FRAMES = pytest.mark.parametrize(
    "make_frame", [pd.DataFrame, pl.DataFrame, pa.table, dict, OnlyArrow, OnlyInterchange]
)

# Unsorted; "b" appears first.
WIDE = {
    "who": np.array(["b", "a", "b", "a", "b"]),
    "when": np.array([3.0, 1.0, 2.0, 0.5, 5.0]),
    "x": np.array([1.0, 2.0, 3.0, NAN, 5.0]),
    "n": np.array([10, 20, 30, 40, 50]),
}
LONG = {
    "who": np.array(["b", "a", "b", "b", "a", "b"]),
    "when": np.array([3, 1, 2, 3, 1, 2]),
    "what": np.array(["y", "x", "x", "x", "y", "z"]),
    "value": np.array([1.0, 2.0, 3.0, 4.0, NAN, 6.0]),
}
LONG_NAMES = {"series": "who", "time": "when", "variable": "what", "value": "value"}


def plain(columns):
    """Make columns that pyarrow takes."""
    return {name: column.tolist() for name, column in columns.items()}


def read_wide(frame, channels=("x", "n"), **kwargs):
    return RaggedSeries.from_long(frame, series="who", time="when", channels=channels, **kwargs)


@FRAMES
def test_wide(make_frame):
    series = read_wide(make_frame(plain(WIDE)))
    assert series.series_ids.tolist() == ["b", "a"] and series.series_ids.dtype.kind == "U"
    assert series.channel_names == ("x", "n")
    assert series.row_offsets.tolist() == [0, 3, 5]
    assert series.times.tolist() == [2.0, 3.0, 5.0, 0.5, 1.0]
    np.testing.assert_array_equal(
        series.values, [[3, 30], [1, 10], [5, 50], [NAN, 40], [2, 20]], strict=False
    )
    assert not series.series_ids.flags.writeable


@FRAMES
def test_fully_long_and_chosen_variables(make_frame):
    series = RaggedSeries.from_long(make_frame(plain(LONG)), **LONG_NAMES)
    assert series.series_ids.tolist() == ["b", "a"]
    assert series.channel_names == ("x", "y", "z")
    assert series.times.tolist() == [2.0, 3.0, 1.0]
    np.testing.assert_array_equal(series.values, [[3, NAN, 6], [4, 1, NAN], [2, NAN, NAN]])
    chosen = ["z", "x", "never"]
    series = RaggedSeries.from_long(make_frame(plain(LONG)), channels=chosen, **LONG_NAMES)
    assert series.channel_names == ("z", "x", "never")
    assert series.times.tolist() == [2.0, 3.0, 1.0]
    np.testing.assert_array_equal(series.values, [[6, 3, NAN], [NAN, 4, NAN], [NAN, 2, NAN]])
    with pytest.warns(UserWarning, match="1 of 2 series have no observation .* left out: 'a'"):
        series = RaggedSeries.from_long(make_frame(plain(LONG)), channels=["z"], **LONG_NAMES)
    assert series.series_ids.tolist() == ["b"] and series.values.tolist() == [[6.0]]


@pytest.mark.parametrize("dropped", [True, False], ids=["dropped", "kept"])
def test_both_long_forms_make_the_same_paths(dropped):
    rng = np.random.default_rng(3)
    wide = pd.DataFrame(
        {
            "who": np.repeat(["a", "b", "c"], 20),
            "when": np.sort(rng.uniform(0, 9, 60)),
            "x": rng.normal(size=60),
            "y": rng.normal(size=60),
        }
    )
    wide.loc[[0, 1, 7, 19, 30, 31, 40, 59], ["x", "y"]] = NAN
    wide.loc[[3, 12], "x"] = NAN
    tall = wide.melt(["who", "when"], var_name="what")
    tall = RaggedSeries.from_long(tall.dropna() if dropped else tall, **LONG_NAMES)
    got, want = interpolate(tall), interpolate(read_wide(wide, ["x", "y"]))
    assert len(want.knots) == 52
    for name in ("knots", "values", "row_offsets", "origin", "step"):
        np.testing.assert_array_equal(getattr(got, name), getattr(want, name))


@pytest.mark.parametrize("make_frame", [pl.DataFrame, pa.table, OnlyArrow, OnlyInterchange])
def test_null_is_missing(make_frame):
    columns = plain(WIDE) | {"x": [1.0, None, 3.0, 4.0, 5.0], "n": [1, 2, None, 4, 5]}
    series = read_wide(make_frame(columns))
    np.testing.assert_array_equal(series.values.T, [[3, 1, 5, 4, NAN], [NAN, 1, 5, 4, 2]])
    assert series.dtype == np.float64


def test_null_is_missing_in_pandas_and_dict():
    expected = [[3, 1, 5, 4, NAN], [NAN, 1, 5, 4, 2]]
    x = pd.array([1.0, None, 3.0, 4.0, 5.0], dtype="Float64")
    n = pd.array([1, 2, None, 4, 5], dtype="Int64")
    for table in (
        pd.DataFrame(WIDE | {"x": x, "n": n}),
        WIDE | {"x": pd.Series(x), "n": pd.Series(n)},
    ):
        np.testing.assert_array_equal(read_wide(table).values.T, expected)
    masked = WIDE | {
        "x": np.ma.masked_equal([1.0, 2, 3, 4, 5], 2),
        "n": np.ma.masked_equal([1, 2, 3, 4, 5], 3),
    }
    np.testing.assert_array_equal(read_wide(masked).values.T, expected)
    flags = WIDE | {"x": pd.Series([True, None, False, True, True], dtype="boolean")}
    np.testing.assert_array_equal(read_wide(flags, ["x"]).values[:, 0], [0, 1, 1, 1, NAN])


@pytest.mark.parametrize("make_frame", [pd.DataFrame, pl.DataFrame, pa.table, dict, OnlyArrow])
def test_a_column_of_nulls_is_never_observed(make_frame):
    series = read_wide(make_frame(plain(WIDE) | {"n": [None] * 5}))
    np.testing.assert_array_equal(series.values[:, 0], read_wide(WIDE).values[:, 0])
    assert np.isnan(series.values[:, 1]).all()


def test_repeated_columns_matter_only_if_they_are_asked_for():
    table = pa.table(plain(WIDE))
    twice = pa.table([*table.columns, table["n"]], names=[*table.column_names, "n"])
    arrow = OnlyArrow({})
    arrow.table = twice
    for frame in (twice, twice.to_pandas(), arrow):
        assert_same(read_wide(frame, ["x"]), read_wide(WIDE, ["x"]))
        with pytest.raises(ValueError, match="there are 2 columns 'n'; .* drop all but one"):
            read_wide(frame)
        with pytest.raises(ValueError, match="there is no column 'z'"):
            read_wide(frame, ["z"])


@pytest.mark.parametrize(
    ("labels", "ids"),
    [
        (np.array([7, 3, 7, 3, 7]), [7, 3]),
        (pd.Categorical(["v", "u", "v", "u", "v"], categories=["u", "v", "w"]), ["v", "u"]),
        (pd.Categorical([7, 3, 7, 3, 7]), [7, 3]),
        (np.array([1, "1", 1, "1", 1], dtype=object), [1, "1"]),
        (np.array(["a\0", "a", "a\0", "a", "a\0"], dtype=object), ["a\0", "a"]),
        ([True, False, True, False, True], [True, False]),
        (
            pd.to_datetime(["2021", "2020", "2021", "2020", "2021"]),
            list(pd.to_datetime(["2021", "2020"])),
        ),
    ],
)
def test_kinds_of_series_ids(labels, ids):
    series = read_wide(pd.DataFrame(WIDE | {"who": labels}))
    assert list(series.series_ids) == ids
    assert series.times.tolist() == [2.0, 3.0, 5.0, 0.5, 1.0]


def test_categories_in_polars_and_pyarrow():
    frame = pl.DataFrame(LONG).with_columns(pl.col("who", "what").cast(pl.Categorical))
    expected = RaggedSeries.from_long(LONG, **LONG_NAMES)
    assert_same(RaggedSeries.from_long(frame, **LONG_NAMES), expected)
    table = pa.table(LONG)
    for i, name in ((0, "who"), (2, "what")):
        table = table.set_column(i, name, table[name].dictionary_encode())
    assert_same(RaggedSeries.from_long(table, **LONG_NAMES), expected)


def test_names_that_are_numbers():
    frame = pd.DataFrame({0: [1, 1], 1: [0.0, 1.0], 2: [5.0, 6.0]})
    series = RaggedSeries.from_long(frame, series=0, time=1, channels=[2])
    assert series.channel_names == ("2",) and series.values.tolist() == [[5.0], [6.0]]
    for names in ([10, 9, 9, 9, 10, 11], np.array([10, 9, 9, 9, 10, "x"], dtype=object)):
        table = LONG | {"what": names}
        series = RaggedSeries.from_long(table, **LONG_NAMES)
        assert series.channel_names == ("9", "10", str(names[-1]))


def test_float32_table():
    table = {n: c.astype("float32") if n in ("x", "when") else c for n, c in WIDE.items()}
    series = read_wide(table, ["x"])
    assert series.dtype == np.float32 and (series.time_precision == np.finfo(np.float32).eps).all()
    assert read_wide(pl.DataFrame(table), ["x"]).dtype == np.float32
    assert read_wide(table, ["x", "n"]).dtype == np.float64


def test_table_with_times_in_a_zone():
    local = pd.DatetimeIndex(
        ["2020-07-03", "2020-01-01", "2020-07-02", "2019-12-31", "2020-07-05"],
        tz="America/New_York",
    )
    frame = pd.DataFrame(WIDE | {"when": local})
    arrow = pa.Table.from_pandas(frame)
    interchange = OnlyInterchange({})
    interchange.table = arrow
    in_a_dict = [WIDE | {"when": local}, WIDE | {"when": pd.Series(local)}]
    for table in (frame, pl.from_arrow(arrow), arrow, interchange, *in_a_dict):
        series = read_wide(table)
        assert series.time_origin == np.datetime64("2019-12-31T05:00")
        starts = series.to_user_time(series.times[series.row_offsets[:-1]])
        assert (starts == np.array(["2020-07-02T04:00", "2019-12-31T05:00"], "M8[ns]")).all()


@pytest.mark.parametrize("make_frame", [pl.DataFrame, pa.table, OnlyArrow])
def test_table_with_dates(make_frame):
    dates = [datetime.date(2020, 1, day) for day in (4, 2, 3, 1, 6)]
    series = read_wide(make_frame(plain(WIDE) | {"when": dates}))
    assert series.times.tolist() == [86400.0 * d for d in (2, 3, 5, 0, 1)]
    assert series.time_origin == np.datetime64("2020-01-01")


@FRAMES
def test_repeated_rows_and_unknown_columns(make_frame):
    columns = plain(WIDE) | {"when": [3.0, 1.0, 3.0, 0.5, 5.0]}
    with pytest.raises(ValueError, match=r"series 0 \(id b\) has more than one row at time 3\.0"):
        read_wide(make_frame(columns))
    columns = plain(LONG) | {"what": ["x", "x", "x", "x", "y", "z"]}
    with pytest.raises(
        ValueError, match=r"\(id b\), variable 'x', has more than one row at time 3"
    ):
        RaggedSeries.from_long(make_frame(columns), **LONG_NAMES)
    with pytest.raises(ValueError, match=r"no column 'y'; .*\['who', 'when', 'x', 'n'\]"):
        read_wide(make_frame(plain(WIDE)), ["x", "y"])


# Repeated observations: 7, missing, 1 and 3 in one place, 5 in another.
REPEATED = {
    "who": np.array([0, 0, 0, 0, 0, 0]),
    "when": np.array([2, 1, 1, 1, 1, 1]),
    "x": np.array([5.0, 7.0, NAN, 1.0, 3.0, NAN]),
    "y": np.array([NAN, NAN, NAN, NAN, 4.0, NAN]),
}


@pytest.mark.parametrize(
    ("aggregate", "merged"),
    [
        ("mean", 11 / 3),
        ("median", 3),
        ("first", 7),
        ("last", 3),
        ("min", 1),
        ("max", 7),
        ("sum", 11),
    ],
)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_repeated_observations_are_merged(aggregate, merged, dtype):
    table = REPEATED | {name: REPEATED[name].astype(dtype) for name in "xy"}
    want = np.array([[merged, 4], [5, NAN]], dtype)
    series = read_wide(table, ["x", "y"], aggregate=aggregate)
    assert series.times.tolist() == [1, 2]
    np.testing.assert_array_equal(series.values, want, strict=True)
    tall = pd.DataFrame(table).melt(["who", "when"], var_name="what")
    for frame in (tall, pl.DataFrame(tall), tall.dropna(), tall.sort_values("what", kind="stable")):
        got = RaggedSeries.from_long(frame, **LONG_NAMES, aggregate=aggregate)
        assert_same(got, series)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from(["mean", "median", "first", "last", "min", "max"]))
def test_merging_is_what_pandas_does(seed, aggregate):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "who": rng.choice(list("abc"), 40),
            "when": rng.integers(0, 4, 40),
            "x": np.where(rng.random(40) < 0.4, NAN, rng.normal(size=40)),
            "y": np.where(rng.random(40) < 0.4, NAN, rng.normal(size=40)),
        }
    )
    want = table.groupby(["who", "when"])[["x", "y"]].agg(aggregate)
    got = read_wide(table, ["x", "y"], aggregate=aggregate)
    for name, one in zip(got.series_ids, got, strict=True):
        np.testing.assert_allclose(one.values.T, want.loc[name], rtol=1e-12)


def test_without_repeats_merging_changes_nothing():
    for aggregate in ("mean", "median", "first", "last", "min", "max", "sum"):
        assert_same(read_wide(WIDE, aggregate=aggregate), read_wide(WIDE))


def test_series_without_observation_are_told():
    rows = {"who": np.repeat(np.arange(9), 2), "when": np.tile([0, 1], 9), "x": np.full(18, NAN)}
    rows["x"][[6, 9]] = 1.0  # of series 3 and 4
    with pytest.warns(UserWarning, match="7 of 9 series have .*: 0, 1, 2, 5, 6 and 2 more") as told:
        series = read_wide(rows, ["x"])
    assert told[0].filename == __file__
    assert series.series_ids.tolist() == [3, 4] and series.lengths.tolist() == [2, 2]


def test_names_from_the_index():
    want = read_wide(WIDE)
    frame = pd.DataFrame(WIDE)
    assert_same(RaggedSeries.from_long(frame.set_index(["who", "when"])), want)
    assert_same(RaggedSeries.from_long(frame.set_index(["when", "who"]), series="who", time="when",
                                       channels=["x", "n"]), want)  # fmt: skip
    assert_same(
        RaggedSeries.from_long(frame.set_index("when"), series="who", channels=["x", "n"]), want
    )
    assert_same(read_wide(frame.set_index("who")), want)
    assert_same(read_wide(frame.set_index("who", drop=False)), want)
    tall = pd.DataFrame(LONG).set_index(["who", "when"])
    got = RaggedSeries.from_long(tall, variable="what", value="value")
    assert_same(got, RaggedSeries.from_long(LONG, **LONG_NAMES))
    unnamed = frame.set_index(["who", "when"]).rename_axis([None, None])
    assert_same(RaggedSeries.from_long(unnamed, channels=["n"]), read_wide(WIDE, ["n"]))


@pytest.mark.parametrize("make_frame", [pd.DataFrame, pl.DataFrame, pa.table, dict, OnlyArrow])
def test_null_keys(make_frame):
    for name in ("who", "when", "what"):
        columns = plain(LONG)
        columns[name] = [*columns[name][:4], None, columns[name][5]]
        message = f"column '{name}' must not have nulls; got one in row 4"
        with pytest.raises(ValueError, match=message):
            RaggedSeries.from_long(make_frame(columns), **LONG_NAMES)


def test_nan_keys():
    columns = LONG | {"when": np.array([3.0, 1, NAN, 3, 1, 2])}
    for table in (columns, pl.DataFrame(columns)):
        with pytest.raises(ValueError, match="'when' must not have nulls; got one in row 2"):
            RaggedSeries.from_long(table, **LONG_NAMES)
    columns = LONG | {"who": np.array(["b", NAN, "b", "b", "a", "b"], dtype=object)}
    with pytest.raises(ValueError, match="'who' must not have nulls; got one in row 1"):
        RaggedSeries.from_long(columns, **LONG_NAMES)


def test_refused_table():
    for change, error, message in (
        ({"x": list("12345")}, TypeError, "column 'x' must be real numbers; got dtype"),
        ({"when": list("12345")}, TypeError, "column 'when' must be numbers or datetime64"),
        (
            {"x": [1, 2, 3, 4, np.inf]},
            ValueError,
            r"\(id b\) .*got inf in channel 0 \(x\) at pos.* 2",
        ),
        ({"when": [3.0, 1, 2, -np.inf, 5]}, ValueError, r"series 1 \(id a\) .*got -inf"),
        ({"when": [2**53, 1, 2**53 + 1, 2, 3]}, ValueError, r"series 0 \(id b\) .*too close"),
        ({"x": [NAN] * 5}, ValueError, r"series 0 \(id b\) has no observation"),
        ({"x": [1, 2]}, ValueError, r"one length; got shape \(5,\) for 'who' and \(2,\) for 'x'"),
    ):
        with pytest.raises(error, match=message):
            read_wide(WIDE | change, ["x"])


def test_refused_calls():
    with pytest.raises(TypeError, match=r"either channels=\[…\] .* or both variable= and value="):
        RaggedSeries.from_long(WIDE, series="who", time="when")
    for names in ({"series": "who"}, {"time": "when"}, {}):
        with pytest.raises(TypeError, match="needs series= and time=, names of columns"):
            RaggedSeries.from_long(pd.DataFrame(WIDE), channels=["x"], **names)
    with pytest.raises(ValueError, match="aggregate must be one of mean, median, .*; got 'mode'"):
        read_wide(WIDE, aggregate="mode")
    with pytest.raises(TypeError, match="both variable= and value="):
        read_wide(WIDE, value="x")
    with pytest.raises(ValueError, match="at least one series; the table has no rows"):
        read_wide(pd.DataFrame(WIDE).iloc[:0])
    with pytest.raises(ValueError, match="at least one channel"):
        read_wide(WIDE, [])
    with pytest.raises(ValueError, match="distinct; got 'x' twice"):
        read_wide(WIDE, ["x", "x"])
    with pytest.raises(TypeError, match="must be a dataframe .* got ndarray. Make"):
        read_wide(np.ones((2, 3)))
    with pytest.raises(TypeError, match="got int"):
        read_wide(3)


def test_only_dataframes_need_narwhals(monkeypatch):
    expected = read_wide(WIDE)
    monkeypatch.setitem(sys.modules, "narwhals", None)
    assert_same(read_wide(WIDE), expected)
    assert_same(read_wide(plain(WIDE)), expected)
    with pytest.raises(ImportError, match=r"narwhals: pip install 'genshapelets\[dataframe\]'"):
        read_wide(pd.DataFrame(WIDE))


def test_install_hint(monkeypatch):
    arrow, interchange = OnlyArrow(plain(WIDE)), OnlyInterchange(plain(WIDE))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.interchange", None)
    with pytest.raises(ImportError, match="OnlyArrow needs pyarrow: pip install pyarrow"):
        read_wide(arrow)
    monkeypatch.setitem(sys.modules, "pandas.api.interchange", None)
    with pytest.raises(ImportError, match="OnlyInterchange needs pyarrow or pandas: pip"):
        read_wide(interchange)


# To a long table, and back


def round_trip(series):
    table = series.to_long()
    names = list(table)[2:]
    return RaggedSeries.from_long(table, series="series", time="time", channels=names)


@st.composite
def batches(draw):
    """Draw any batch: lengths, gaps, float32 or float64, numbers or datetimes as times."""
    lengths = draw(st.lists(st.integers(1, 6), min_size=1, max_size=6))
    n_channels = draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    dtype = draw(st.sampled_from(["float32", "float64"]))
    values = [rng.normal(size=(n_channels, n)).astype(dtype) for n in lengths]
    for array in values:
        missing = rng.random(array.shape) < draw(st.sampled_from([0.0, 0.3, 0.9]))
        missing.flat[rng.integers(array.size)] = False
        array[missing] = NAN
    kind = draw(st.sampled_from(["none", "float32", "float64", "int64", "M8[ns]", "M8[D]"]))
    if kind == "none":
        return RaggedSeries.from_arrays(values)
    widest = {"float32": 2**20, "M8[D]": 10**5, "M8[ns]": 2**62}.get(kind, 2**40)
    span = draw(st.sampled_from([100, widest]))
    times = []
    for n in lengths:
        ticks = rng.choice(50, n, replace=False) * (span // 50) + rng.integers(span // 50)
        ticks.sort()
        times.append((ticks / 8 if kind.startswith("float") else ticks).astype(kind))
    return RaggedSeries.from_arrays(values, times)


@settings(max_examples=150, deadline=None)
@given(batches())
def test_round_trip(series):
    back = round_trip(series)
    assert back.series_ids.tolist() == list(range(len(series)))
    names = tuple(f"channel_{i}" for i in range(series.n_channels))
    assert back.channel_names == names
    assert_same(dataclasses.replace(back, series_ids=None, channel_names=None), series)
    assert_same(round_trip(back), back)


@settings(max_examples=100, deadline=None)
@given(batches(), st.booleans())
def test_round_trip_by_pandas(series, has_ids):
    ids = [f"p{n}" for n in range(len(series))] if has_ids else list(range(len(series)))
    names = tuple(f"c{d}" for d in range(series.n_channels))
    named = dataclasses.replace(series, series_ids=np.array(ids), channel_names=names)
    frame = named.to_pandas()
    assert list(frame.index.names) == ["series", "time"] and list(frame.columns) == list(names)
    assert_same(RaggedSeries.from_long(frame), named)
    assert_same(RaggedSeries.from_arrays(frame), named)
    shuffled = frame.sample(frac=1, random_state=0).sort_index(level=0, kind="stable")
    if ids == sorted(ids):
        assert_same(RaggedSeries.from_long(shuffled), named)


def test_to_pandas_without_pandas(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="to_pandas needs pandas: pip install pandas"):
        make_ragged().to_pandas()


def test_long_table_of_a_named_batch():
    series = read_wide(WIDE)
    table = series.to_long()
    assert list(table) == ["series", "time", "x", "n"]
    assert table["series"].tolist() == ["b", "b", "b", "a", "a"]
    assert_same(round_trip(series), series)
    for frame in (pd.DataFrame(table), pl.DataFrame(table), pa.table(table)):
        again = RaggedSeries.from_long(frame, series="series", time="time", channels=["x", "n"])
        assert_same(again, series)


def test_long_table_of_datetimes():
    table = RaggedSeries.from_arrays(np.ones((1, 1, 3)), DAYS).to_long()
    assert table["time"].dtype == "M8[ns]" and (table["time"] == DAYS).all()


def test_tables_that_would_mislead():
    with pytest.raises(ValueError, match="series_ids must be distinct"):
        read_wide(WIDE)[[0, 0]].to_long()
    with pytest.raises(ValueError, match="must not be named 'time'"):
        make_ragged(channel_names=["time", "b"]).to_long()


# Selecting, joining, copying


def test_one_series_is_a_view():
    series = make_ragged()
    times, values = series[0]
    assert times.tolist() == [0.0, 0.5, 2.0] and values.shape == (2, 3)
    assert np.shares_memory(values, series.values) and not values.flags.writeable
    assert series[-1].times.tolist() == series[np.int64(1)].times.tolist() == [9.0]
    assert [one.times.size for one in series] == [3, 1]
    for index in (2, -3):
        with pytest.raises(IndexError, match=f"series {index} is out of range; the batch has 2"):
            series[index]


@pytest.mark.parametrize(
    "key",
    [
        slice(2, 7), slice(None, None, -1), slice(1, None, 3), [1, 5], [-1, 0, 0], np.array([4, 2]),
        [i % 3 == 0 for i in range(9)], np.arange(9) > 4,
    ],
)  # fmt: skip
def test_selection(key):
    rng = np.random.default_rng(1)
    lengths = rng.integers(1, 6, 9)
    rows = {
        "who": np.repeat([f"s{i}" for i in range(9)], lengths),
        "when": np.cumsum(rng.random(lengths.sum())),
        "x": rng.normal(size=lengths.sum()),
    }
    series = read_wide(rows, ["x"])
    part, chosen = series[key], np.arange(9)[key]
    assert len(part) == len(chosen)
    assert part.series_ids.tolist() == [f"s{i}" for i in chosen]
    assert part.channel_names == series.channel_names
    assert part.values.flags.c_contiguous and not part.values.flags.writeable
    for one, i in zip(part, chosen, strict=True):
        np.testing.assert_array_equal(one.times, series[i].times)
        np.testing.assert_array_equal(one.values, series[i].values)


def test_selection_keeps_the_origin():
    series = RaggedSeries.from_arrays(np.ones((2, 1, 3)), [DAYS, DAYS + 7])
    assert series[1:].time_origin == series.time_origin
    assert series[1:].times[0] == 7 * 86400


def test_refused_selections():
    series = make_ragged()
    for key in ([], slice(0, 0), [False, False], slice(5, 9)):
        with pytest.raises(ValueError, match="at least one series; the selection is empty"):
            series[key]
    for key in ([0, 2], [True], [0.5], ["a"]):
        with pytest.raises(IndexError):
            series[key]
    for key in ([[0, 1]], True):
        with pytest.raises(TypeError, match="an int, a slice, a list of ints or a mask"):
            series[key]


def test_concatenate():
    series = read_wide(WIDE)
    assert_same(RaggedSeries.concatenate([series[:1], series[1:]]), series)
    joined = RaggedSeries.concatenate(iter([make_ragged(), make_ragged()[[1]]]))
    assert joined.lengths.tolist() == [3, 1, 1] and joined.series_ids is None
    numbered = dataclasses.replace(series, series_ids=np.array([1, 2]))
    assert RaggedSeries.concatenate([series, numbered]).series_ids.tolist() == ["b", "a", 1, 2]


def test_concatenate_datetimes_from_the_earliest():
    late = RaggedSeries.from_arrays(np.ones((1, 1, 3)), DAYS + 7)
    early = RaggedSeries.from_arrays(np.ones((1, 1, 3)), DAYS)
    joined = RaggedSeries.concatenate([late, early])
    assert joined.time_origin == early.time_origin
    assert joined.times.tolist() == [86400.0 * d for d in (7, 8, 11, 0, 1, 4)]


def test_refused_concatenations():
    with pytest.raises(ValueError, match="at least one series"):
        RaggedSeries.concatenate([])
    with pytest.raises(ValueError, match="batch 1 has 1 named"):
        RaggedSeries.concatenate([make_ragged(), RaggedSeries.from_arrays(np.ones((1, 1, 3)))])
    numbers, dates = (RaggedSeries.from_arrays(np.ones((1, 1, 3)), t) for t in (None, DAYS))
    with pytest.raises(ValueError, match="batches 0 and 1 must both"):
        RaggedSeries.concatenate([numbers, dates])


@pytest.mark.parametrize(
    "clone", [copy.deepcopy, copy.copy, lambda s: pickle.loads(pickle.dumps(s))]
)
def test_clones(clone):
    series = RaggedSeries.from_long(WIDE | {"when": DAYS[0] + np.arange(5)},
                                    series="who", time="when", channels=["x"])  # fmt: skip
    cloned = clone(series)
    assert_same(cloned, series)
    assert not cloned.values.flags.writeable and not cloned.series_ids.flags.writeable
    assert cloned != series and series == series


def test_frozen():
    series = make_ragged()
    with pytest.raises(dataclasses.FrozenInstanceError):
        series.times = np.zeros(3)
    with pytest.raises(ValueError, match="read-only"):
        series.values[0] = 1


# ------------------------------------------------------------------ what is read right, or refused

OTHERS = torch.randn(4, 1, 10, generator=torch.Generator().manual_seed(0))

NESTED = torch.nested.nested_tensor([torch.ones(3), torch.ones(5)], layout=torch.jagged)


@pytest.mark.parametrize("tensor", [OTHERS.bfloat16(), torch._neg_view(OTHERS), OTHERS.half()])
def test_tensors_that_numpy_does_not_know_are_read(tensor):
    want = tensor.float().resolve_neg().numpy()
    assert_series(RaggedSeries.from_arrays(tensor), want)
    assert_series(RaggedSeries.from_arrays(list(tensor)), want)
    fitted = ShapeletTransformer(n_shapelets=2, random_state=0).fit(want)
    np.testing.assert_array_equal(fitted.transform(tensor), fitted.transform(want))


def assert_series(series, values):
    np.testing.assert_array_equal(np.stack([one.values for one in series]), values)


@pytest.mark.parametrize(
    ("tensor", "reason"),
    [
        (OTHERS.to_sparse(), "dense; got a sparse tensor. Use its to_dense"),
        (OTHERS.to("meta"), "must hold numbers; got a tensor on the device meta"),
        (NESTED, "Use a list: unbind"),
        (scipy.sparse.csr_matrix(np.eye(4)), "dense; got a sparse array. Use its toarray"),
    ],
)
def test_data_without_plain_numbers_are_refused(tensor, reason):
    with pytest.raises(TypeError, match=reason):
        RaggedSeries.from_arrays(tensor)
    if isinstance(tensor, torch.Tensor):
        with pytest.raises(TypeError, match=reason):
            ShapeletTransformer().fit(tensor)
        with pytest.raises(TypeError, match=reason):
            GeneralisedShapeletTransform.from_shapelets(tensor)
    if not getattr(tensor, "is_nested", False):
        with pytest.raises(TypeError, match=f"series 0 must .*{reason.split(';')[-1]}"):
            RaggedSeries.from_arrays([tensor, tensor])


@pytest.mark.parametrize("read", [RaggedSeries.from_arrays, ShapeletTransformer().fit])
def test_lists_of_different_lengths_are_told_by_series(read):
    for ragged in ([[[1.0, 2.0], [3.0, 4.0]], [[1.0, 2.0], [3.0]]], [[[1.0, 2.0]], [[1.0, [2.0]]]]):
        with pytest.raises(
            ValueError, match="series 1 must make one array; got lists of different"
        ):
            read(ragged)
    with pytest.raises(ValueError, match="times of series 0 must make one array"):
        RaggedSeries.from_arrays(np.ones((2, 1, 3)), [[[1, 2], [1]], [1, 2, 3]])


TABLE = {"id": ["a", "a", "b", "b"], "t": [0, 1, 0, 1], "x": [1.0, 2.0, 3.0, 4.0]}
NAMES = {"series": "id", "time": "t", "channels": ["x"]}
LISTS = np.empty(4, object)
LISTS[:] = [[1], [1], [2], [2]]


@pytest.mark.parametrize(
    ("changed", "names", "error", "reason"),
    [
        ({}, {"channels": 5}, TypeError, r"channels must be a list of names, .*; got 5"),
        ({}, {"series": ["id"]}, TypeError, r"series must be the name of one column.*\['id'\]"),
        ({}, {"time": ["t"]}, TypeError, "time must be the name of one column"),
        ({"id": LISTS}, {}, TypeError, r"column 'id' must hold labels.*got \[1\], a list"),
        ({"id": [[1], [1], [2], [2]]}, {}, ValueError, r"column 'id' must hold one .*\(4, 1\)"),
        ({"x": np.array([1, "q", 2, 3], object)}, {}, TypeError, "dtype object.*one is 'q'"),
        ({"x": np.array([1, 10**400, 2, 3], object)}, {}, ValueError, "must fit float64"),
        ({"id": np.array(["a", pd.NA, "b", "b"], object)}, {}, ValueError, "nulls.* in row 1"),
    ],
)
def test_columns_and_names_that_are_none(changed, names, error, reason):
    with pytest.raises(error, match=reason):
        RaggedSeries.from_long(TABLE | changed, **NAMES | names)


def test_ids_and_names_that_are_none():
    for ids in (5, [[1], [2]]):
        with pytest.raises(TypeError, match="ids must "):
            RaggedSeries.from_arrays(np.ones((2, 1, 3)), series_ids=ids)
    with pytest.raises(TypeError, match="channel_names must be a list of names"):
        RaggedSeries.from_arrays(np.ones((2, 1, 3)), channel_names=5)
    with pytest.raises(TypeError, match="by must be the name of one column"):
        RaggedSeries.from_long(TABLE, **NAMES).with_static({"id": ["a", "b"]}, by=["id"])


@pytest.mark.parametrize("null", [pd.NA, None, np.nan])
def test_nulls_among_objects(null):
    objects = np.array([1, null, 3.0, 4], object)
    for table in (TABLE | {"x": objects}, pd.DataFrame(TABLE).assign(x=pd.Series(objects))):
        got = RaggedSeries.from_long(table, **NAMES).values[:, 0]
        np.testing.assert_array_equal(got, [1.0, np.nan, 3.0, 4.0])
    frame = pd.DataFrame([objects, [1.0, 2.0, 3.0, 5.0]], dtype=object)
    floats = frame.where(frame.notna(), np.nan).astype(float)
    fitted = ShapeletTransformer(n_shapelets=2, random_state=0).fit(frame)
    np.testing.assert_array_equal(fitted.transform(frame), fitted.transform(floats))


def test_whole_numbers_of_128_bits():
    wide = pl.DataFrame(
        {
            "id": pl.Series([2**100, 2**100, 2, 2], dtype=pl.Int128),
            "t": pl.Series([0, 1, 0, 1], dtype=pl.Int128),
            "x": pl.Series([1, 2, 3, 4], dtype=pl.Int128),
        }
    )
    series = RaggedSeries.from_long(wide, **NAMES)
    assert series.series_ids.tolist() == [2**100, 2] and series.times.tolist() == [0, 1, 0, 1]
    assert series.values[:, 0].tolist() == [1, 2, 3, 4]
    assert RaggedSeries.from_arrays([wide[["x"]]])[0].values.tolist() == [[1, 2, 3, 4]]
    with pytest.raises(TypeError, match="column 'x' is Int128, which NumPy lacks. Cast it"):
        ShapeletTransformer().fit(wide[["x"]])


TENSORS = {
    "meta": torch.empty(2, device="meta"),
    "sparse": torch.ones(2).to_sparse(),
    "quantised": torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.quint8),
    "a list": torch.ones(2, 2),
}


@pytest.mark.parametrize("kind", TENSORS)
@pytest.mark.parametrize("name", ["series_ids", "channel_names"])
def test_labels_in_odd_tensors(kind, name):
    with pytest.raises(TypeError, match=f"must .*{kind}"):
        RaggedSeries.from_arrays(np.zeros((2, 2, 3)), **{name: TENSORS[kind]})


def test_labels_in_bfloat16():
    ids = torch.tensor([1.0, 2.0], dtype=torch.bfloat16)
    assert RaggedSeries.from_arrays(np.zeros((2, 1, 3)), series_ids=ids).series_ids.tolist() == [
        1,
        2,
    ]


def test_complex_numbers_of_half_precision():
    with pytest.raises(TypeError, match="values must be real numbers; got dtype complex64"):
        RaggedSeries.from_arrays(torch.zeros(2, 1, 3, dtype=torch.complex32))


@pytest.mark.parametrize("missing", [np.nan, None, np.datetime64("NaT")])
def test_ids_must_not_be_missing(missing):
    with pytest.raises(ValueError, match="ids must not be missing; that of series 1 is"):
        RaggedSeries.from_arrays(np.zeros((2, 1, 3)), series_ids=["a", missing])


def test_names_that_are_lists():
    with pytest.raises(TypeError, match=r"channel_names must hold labels, .* got \['a'\], a list"):
        RaggedSeries.from_arrays(np.zeros((2, 1, 3)), channel_names=[["a"]])


def test_a_column_for_its_name():
    frame = pd.DataFrame(
        {"id": np.repeat(np.arange(40), 2), "t": np.tile([0.0, 1.0], 40), "x": 1.0}
    )
    with pytest.raises(TypeError, match="series must be the name of one column") as caught:
        RaggedSeries.from_long(frame, series=frame["id"], time="t", channels=["x"])
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 200


@pytest.mark.parametrize("static", [{"a": [10**400, 1]}, [[10**400], [1]]])
def test_static_numbers_beyond_all(static):
    with pytest.raises(ValueError, match="must fit float64; got a whole number beyond"):
        RaggedSeries.from_arrays(np.zeros((2, 1, 3))).with_static(static)


def test_static_covariates_have_names():
    with pytest.raises(ValueError, match="a static covariate must have a name"):
        RaggedSeries.from_arrays(np.zeros((2, 1, 3))).with_static({"": [0, 1]})
