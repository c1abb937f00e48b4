"""Frames, nested frames and xarray's arrays: times, channels and series are what their names say."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
import xarray as xr

from genshapelets import (
    GeneralisedShapeletTransform,
    MelFrequencyCepstrum,
    RaggedSeries,
    ShapeletClassifier,
    ShapeletTransformer,
)

NAN = np.nan
NAMES = ("pulse", "breath")
LENGTHS = (5, 7, 6)
RANDOM = np.random.default_rng(0)
VALUES = [RANDOM.normal(size=(2, n)) for n in LENGTHS]
VALUES[1][0, 2] = NAN
TIMES = [np.sort(RANDOM.uniform(0, 10, n)) for n in LENGTHS]
DATES = [np.datetime64("2024-03-01", "ns") + (1e9 * t).astype("m8[ns]") for t in TIMES]
BLOCK = RANDOM.normal(size=(3, 2, 5))


def read_by_estimator(X):
    return ShapeletTransformer()._read(X, fitting=True)


# All of what follows holds for the one as for the other.
READERS = pytest.mark.parametrize("read", [RaggedSeries.from_arrays, read_by_estimator])


def frames(times=TIMES, names=NAMES):
    return [pd.DataFrame(x.T, index=t, columns=names) for x, t in zip(VALUES, times, strict=True)]


def assert_same(got, times, names=NAMES, ids=None, values=VALUES):
    assert got.channel_names == names
    assert (None if got.series_ids is None else got.series_ids.tolist()) == ids
    assert len(got) == len(values)
    for one, t, x in zip(got, times, values, strict=True):
        np.testing.assert_array_equal(got.to_user_time(one.times), t)
        np.testing.assert_array_equal(one.values, x)


# Frames, one for each series


@READERS
@pytest.mark.parametrize("times", [TIMES, DATES], ids=["numbers", "dates"])
def test_list_of_frames(read, times):
    for given in (frames(times), tuple(frames(times)), pd.Series(frames(times))):
        assert_same(read(given), times)


@READERS
def test_rows_are_counted_if_nothing_says_when(read):
    counted = [np.arange(n) for n in LENGTHS]
    plain = [frame.reset_index(drop=True) for frame in frames()]
    assert (
        read(pd.concat([f.set_axis([0, 1], axis=1) for f in plain], keys=list("cab"))).channel_names
        is None
    )
    assert_same(read(plain), counted)
    assert_same(read([frame.set_axis([0, 1], axis=1) for frame in plain]), counted, None)
    assert_same(read([pl.DataFrame(frame) for frame in plain]), counted)
    assert_same(read([pa.table(frame) for frame in plain]), counted)


@READERS
def test_times_in_a_column(read):
    for name, times in (("Time", TIMES), ("timestamp", DATES), ("seen", DATES)):
        moved = [
            frame.rename_axis(name).reset_index().set_index(100 + np.arange(len(frame)))
            for frame in frames(times)
        ]
        assert_same(read(moved), times)
        assert_same(read([pl.DataFrame(frame) for frame in moved]), times)
        assert_same(read([f.set_axis([f"row {i}" for i in range(len(f))]) for f in moved]), times)
    days = [datetime.date(2024, 1, 1 + d) for d in range(5)]
    one = pl.DataFrame({"day": days, "x": [1, None, 3, 4, 5]})
    assert_same(read([one]), [np.array(days, "M8[D]")], ("x",), None, [[[1, NAN, 3, 4, 5]]])


@READERS
def test_times_with_a_zone(read):
    local = [pd.DatetimeIndex(t).tz_localize("UTC").tz_convert("Asia/Tokyo") for t in DATES]
    assert_same(read(frames(local)), DATES)


@READERS
def test_frames_by_id(read):
    ids = ["c", "a", "b"]
    assert_same(read(dict(zip(ids, frames(), strict=True))), TIMES, NAMES, ids)
    arrays = dict(zip([3, 1, 2], VALUES, strict=True))
    assert_same(read(arrays), [np.arange(n) for n in LENGTHS], None, [3, 1, 2])
    assert read({(1, "a"): VALUES[0]}).series_ids.tolist() == [(1, "a")]


@READERS
def test_channels_are_put_in_order_by_name(read):
    mixed = frames()
    mixed[1] = mixed[1][list(NAMES[::-1])]
    assert_same(read(mixed), TIMES)


@READERS
def test_vectors_of_pandas_and_polars(read):
    first = [x[:1] for x in VALUES]
    named = [frame[NAMES[0]].rename(f"patient {n}") for n, frame in enumerate(frames(DATES))]
    assert_same(read(named), DATES, None, None, first)
    equal = [pd.Series(x[0, :5], index=t[:5]) for x, t in zip(VALUES, TIMES, strict=True)]
    assert_same(read(equal), [t[:5] for t in TIMES], None, None, [x[:1, :5] for x in VALUES])
    assert read([pl.Series([1, None, 3])]).values.ravel().tolist()[::2] == [1.0, 3.0]


def test_what_is_given_beside_a_frame_counts():
    series = RaggedSeries.from_arrays(
        frames(), DATES, channel_names=["a", "b"], series_ids=["x", "y", "z"]
    )
    assert_same(series, DATES, ("a", "b"), ["x", "y", "z"])
    with pytest.raises(ValueError, match="series_ids must name each of the 3 series; got 2"):
        RaggedSeries.from_arrays(frames(), series_ids=["x", "y"])


def with_column(**column):
    return [frame.assign(**column) for frame in frames()]


@READERS
@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ([], ValueError, "at least one series"),
        ([pd.DataFrame()], ValueError, "at least one channel"),
        ([frames()[0], frames()[1].iloc[:0]], ValueError, "series 1 has no times"),
        ([frames()[0], frames()[1][["pulse"]]], ValueError,
         "those of series 1 are pulse, those of series 0 pulse, breath. Fill"),
        ({"a": frames()[0], "b": frames()[1]["pulse"]}, ValueError,
         r"series 1 \(id b\) are not named, those of series 0 \(id a\) pulse, breath"),
        ([frames()[0], VALUES[1]], TypeError, "series 1 is a ndarray"),
        ([frames()[0].iloc[::-1]], ValueError, "series 0 must strictly increase.* Sort"),
        ([frames()[0].iloc[[0, 0, 1]]], ValueError, "series 0 must strictly increase.* Merge"),
        ([frames()[0].set_axis(list("abcde"))], TypeError, "the index of series 0 must be numbers"),
        (with_column(ward="north"), TypeError, "column 'ward' of series 0 must be real numbers"),
        (with_column(ID=3), ValueError, "column 'ID' of series 0 looks like the name of the series"),
        (with_column(date=pd.Timestamp("2024")), ValueError, "series 0 must strictly increase"),
        (with_column(date=1, time=2), ValueError, "column 'date' and column 'time' of series 0 both"),
        ([f.assign(time=1) for f in frames(DATES)], ValueError, "column 'time' and its index of ser"),
        ([frames()[0].set_axis(["x", "x"], axis=1)], ValueError, "there are 2 columns 'x'"),
        ([frames()[0].set_index(["pulse", "breath"])], ValueError, "several levels.*droplevel"),
        ({"id": [0, 0], "x": [1.0, 2.0]}, TypeError, "one series for each id.*from_long"),
        ({}, TypeError, "one series for each id"),
    ],
)  # fmt: skip
def test_refused_frames(read, given, error, message):
    with pytest.raises(error, match=message):
        read(given)


# Frames with an index of two levels


def stacked(times=TIMES, ids=("c", "a", "b")):
    return pd.concat(dict(zip(ids, frames(times), strict=True)))


@READERS
@pytest.mark.parametrize("times", [TIMES, DATES], ids=["numbers", "dates"])
def test_index_of_two_levels(read, times):
    ids = ["c", "a", "b"]
    assert_same(read(stacked(times)), times, NAMES, ids)
    first = [x[:1] for x in VALUES]
    assert_same(read(stacked(times)["pulse"]), times, NAMES[:1], ids, first)
    for swapped in (
        stacked(times).swaplevel().rename_axis(["when", "who"] if times is DATES else ["t", "who"]),
        stacked(times).sort_index(level=1, kind="stable").iloc[:, ::-1],
    ):
        got = read(swapped)
        where = [got.series_ids.tolist().index(n) for n in ids]
        columns = [got.channel_names.index(name) for name in NAMES]
        for n, x, t in zip(where, VALUES, times, strict=True):
            np.testing.assert_array_equal(got[n].values[columns], x)
            np.testing.assert_array_equal(got.to_user_time(got[n].times), t)


@READERS
def test_the_order_of_levels_is_read_from_their_names(read):
    ids = ["c", "a", "b"]
    for first, second in [
        ("hour", "patient"),
        ("charttime", "bed"),
        ("Time", "who"),
        (None, "stay_id"),
    ]:
        got = read(stacked(ids=[7, 5, 6]).swaplevel().rename_axis([first, second]))
        assert_same(got, TIMES, NAMES, [7, 5, 6])
    for names in [("patient", "hour"), ("subject_id", "stay"), ("who", "when"), ("day", "hour")]:
        assert_same(read(stacked().rename_axis(names)), TIMES, NAMES, ids)
    days = [datetime.date(2024, 1, 1 + d) for d in range(7)]
    periods = pd.period_range("2024", periods=7, freq="D")
    for when in (days, periods):
        times = [np.array(days[:n], "M8[ns]") for n in LENGTHS]
        frame = stacked([list(when[:n]) for n in LENGTHS]).swaplevel()
        assert_same(read(frame), times, NAMES, ids)


@READERS
def test_categories_and_zones_in_an_index(read):
    local = [pd.DatetimeIndex(t).tz_localize("UTC").tz_convert("Asia/Tokyo") for t in DATES]
    frame = stacked(local)
    levels = [pd.Categorical(frame.index.get_level_values(0)), frame.index.get_level_values(1)]
    assert_same(read(frame.set_axis(pd.MultiIndex.from_arrays(levels))), DATES, NAMES, list("cab"))


@READERS
@pytest.mark.parametrize(
    ("frame", "error", "message"),
    [
        (stacked().assign(ward="north"), TypeError, "column 'ward' must be real numbers"),
        (stacked().set_index("pulse", append=True), TypeError, "levels of the index are .*'pulse'"),
        (stacked().iloc[:0], ValueError, "the table has no rows"),
        (stacked().iloc[[0, 0, 1]], ValueError, r"series 0 \(id c\) has more than one row at time"),
        (stacked().swaplevel(), TypeError, "'level_1' must be numbers or datetime64"),
    ],
)
def test_refused_levels(read, frame, error, message):
    with pytest.raises(error, match=message):
        read(frame)


# Nested frames


def nested(times=TIMES):
    rows = frames(times)
    return pd.DataFrame({name: [row[name] for row in rows] for name in NAMES}, index=list("cab"))


@READERS
@pytest.mark.parametrize("times", [TIMES, DATES], ids=["numbers", "dates"])
def test_nested_frame(read, times):
    assert_same(read(nested(times)), times, NAMES, ["c", "a", "b"])


@READERS
def test_cells_of_their_own_times(read):
    cells = {"x": [pd.Series([1.0, 2.0], index=[0, 4])], "y": [pd.Series([3.0, 5.0], index=[1, 4])]}
    got = read(pd.DataFrame(cells))
    assert got.times.tolist() == [0, 1, 4]
    np.testing.assert_array_equal(got[0].values, [[1, NAN, 2], [NAN, 3, 5]])
    arrays = pd.DataFrame({"x": [np.ones(3), [1, 2]], "y": [np.ones(2), [1, 2]]})
    np.testing.assert_array_equal(read(arrays)[0].values, [[1, 1, 1], [1, 1, NAN]])


@READERS
def test_refused_cells(read):
    with pytest.raises(TypeError, match="row 'c', column 'age' holds 70. Leave out"):
        read(nested().assign(age=70))
    twice = nested()
    twice.at["a", "pulse"] = pd.Series([1.0, 2.0], index=[0, 0])
    with pytest.raises(ValueError, match="cells of row 'a' cannot be joined"):
        read(twice)


# Arrays of xarray


@READERS
@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, 2, 0), (2, 1, 0)])
@pytest.mark.parametrize(
    "dims",
    [("case", "channel", "time"), ("patient", "Feature", "times"), ("series", "lead", "t"),
     ("instance", "variable", "hour")],
)  # fmt: skip
def test_dimensions_in_any_order(read, order, dims):
    array = xr.DataArray(BLOCK, dims=dims).transpose(*(dims[i] for i in order))
    assert_same(read(array), [np.arange(5)] * 3, None, None, BLOCK)


@READERS
def test_coordinates(read):
    coordinates = {"time": DATES[0], "case": ["x", "y", "z"], "channel": list(NAMES)}
    array = xr.DataArray(BLOCK, dims=("case", "channel", "time"), coords=coordinates)
    array = array.transpose("time", "case", "channel")
    want = {"times": [DATES[0]] * 3, "ids": ["x", "y", "z"], "values": BLOCK}
    assert_same(read(array), names=NAMES, **want)
    assert_same(read(array.to_dataset("channel")), names=NAMES, **want)
    first = array.sel(channel="pulse")
    assert_same(read(first), names=None, **want | {"values": BLOCK[:, :1]})
    parts = [array.sel(case=name) for name in "xyz"]
    assert_same(read(parts), names=NAMES, **want | {"ids": None})


@READERS
@pytest.mark.parametrize(
    "dims",
    [("x", "y", "time"), ("case", "series", "time"), ("time", "channel"), ("ward", "time"),
     ("case", "channel"), ("case", "time", "channel", "lead")],
)  # fmt: skip
def test_refused_dimensions(read, dims):
    with pytest.raises(
        ValueError, match=f"must be named case, time and channel.*{dims[0]}.*rename"
    ):
        read(xr.DataArray(np.ones((2,) * len(dims)), dims=dims))


# Long tables that were not read as such


def long_table():
    table = stacked().rename_axis(["patient", "hour"]).reset_index()
    return table.assign(patient=table.patient.map({"c": 2, "a": 0, "b": 7}))


@READERS
@pytest.mark.parametrize("make_frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_refused_long_tables(read, make_frame):
    table = long_table()
    bare = table.rename(columns={"patient": "bed", "hour": "when"})
    for frame, reason in (
        (bare, "'bed' repeats and 'when' rises within each"),
        (bare.rename(columns={"when": "Time"}), "column 'Time' does not hold"),
        (bare[["when", "pulse"]].assign(case_id=1), "column 'case_id' does not hold"),
        (table.assign(patient=table.patient.astype(str)), "column 'patient' does not hold"),
        (
            table.assign(patient=table.patient.astype(str).astype("category")),
            "column 'patient' does",
        ),
        (bare.assign(seen=pd.Timestamp("2024")), "column 'seen' does not hold"),
        (bare.assign(seen=pd.Timestamp("2024", tz="UTC")), "column 'seen' does not hold"),
    ):
        with pytest.raises(TypeError, match=f"univariate series in each row; {reason}.*from_long"):
            read(make_frame(frame))


@READERS
@pytest.mark.parametrize("name", ["patient", "Subject", "stay", "hadm_id", "hour", "minute"])
def test_columns_named_as_in_a_long_table(read, name):
    frame = pd.DataFrame({"pulse": [1.0, 2.0], name: [1, 2]})
    for given in (frame, pl.DataFrame(frame)):
        with pytest.raises(TypeError, match=f"column '{name}' does not hold.*from_long"):
            read(given)


@READERS
def test_an_index_of_a_long_table(read):
    table = long_table()
    for given, reason in (
        (table.set_index("patient")[["pulse", "breath"]], "its index repeats with other values"),
        (table.set_index("hour")[["pulse", "breath"]], r"index of .* times.*\[frame\].*from_long"),
        (frames(DATES)[0], r"index of this one holds times.*drop=True"),
        (frames(DATES)[0].tz_localize("UTC"), "holds times"),
        (frames(DATES)[0].to_period("s"), "holds times"),
    ):
        with pytest.raises(TypeError, match=f"univariate series in each row.*{reason}"):
            read(given)


def test_sparse_matrices_are_no_dicts():
    with pytest.raises(TypeError, match="Sparse data was passed"):
        read_by_estimator(scipy.sparse.dok_matrix((3, 4)))


@pytest.mark.filterwarnings("ignore:Determining the column names")
def test_lazy_frames():
    rows = long_table()
    lazy = pl.DataFrame(rows).lazy()
    names = {"series": "patient", "time": "hour", "channels": list(NAMES)}
    want, got = (RaggedSeries.from_long(table, **names) for table in (rows, lazy))
    np.testing.assert_array_equal(got.values, want.values)
    known = want.with_static(pl.DataFrame({"age": [1.0, 2.0, 3.0]}).lazy())
    assert known.static["age"].tolist() == [1.0, 2.0, 3.0]
    for read in (read_by_estimator, lambda X: RaggedSeries.from_arrays([X])):
        with pytest.raises(TypeError, match=r"Give frame.collect\(\)"):
            read(lazy)


def test_refused_objects():
    with pytest.raises(ValueError, match="0 sample"):
        read_by_estimator(pd.DataFrame({"x": pd.Series([], dtype=object)}))
    for entries in (["a", "b"], [datetime.date(2024, 1, 1)] * 2):
        frame = pd.DataFrame({"x": pd.Series(entries, dtype=object), "y": [1.0, 2.0]})
        with pytest.raises(TypeError, match="column 'x' does not hold values of a series"):
            read_by_estimator(frame)


def test_wide_frames_stay_what_they_were():
    rows = np.random.default_rng(1).normal(size=(20, 12))
    rows[:, 0] = 0.0  # starts at the same value, which is no sign of a long table
    names = [f"t{i}" for i in range(12)]
    for frame in (pd.DataFrame(rows, columns=names), pl.DataFrame(rows, schema=names)):
        model = ShapeletTransformer(n_shapelets=2, random_state=0).fit(frame)
        assert model.feature_names_in_.tolist() == names
        np.testing.assert_array_equal(
            model._read(frame, fitting=False).values.ravel(), rows.ravel()
        )
        assert model._read(frame, fitting=False).series_ids is None
    named = pd.DataFrame(rows, columns=names, index=[f"p{i}" for i in range(20)])
    assert model._read(named, fitting=False).series_ids[3] == "p3"
    counts = pd.DataFrame(np.random.default_rng(2).integers(0, 3, (60, 9)))
    assert len(read_by_estimator(counts.sort_values(0))) == 60
    assert len(read_by_estimator(counts.astype(object))) == 60
    with pytest.raises(ValueError, match=r"Use values.to_numpy\(\)\[:, None, :\] for univariate"):
        RaggedSeries.from_arrays(counts)


# Everywhere


def test_a_model_takes_them_all():
    X = np.random.default_rng(0).normal(scale=0.1, size=(12, 2, 20))
    X[6:, 0, 8:14] += 1.0
    y = np.repeat([0, 1], 6)
    model = ShapeletClassifier(n_shapelets=3, max_epochs=5, random_state=0).fit(X, y)
    want = model.predict_proba(X)
    as_frames = [pd.DataFrame(x.T) for x in X]
    array = xr.DataArray(X, dims=("case", "channel", "time"))
    for given in (as_frames, pd.concat(dict(enumerate(as_frames))), array.transpose(), array):
        np.testing.assert_array_equal(model.predict_proba(given), want)
        again = ShapeletClassifier(n_shapelets=3, max_epochs=5, random_state=0).fit(given, y)
        np.testing.assert_array_equal(again.predict_proba(given), want)
        assert len(model.explain(given).predicted) == 12
    named = [frame.set_axis(["a", "b"], axis=1) for frame in as_frames]
    fitted = ShapeletClassifier(n_shapelets=3, max_epochs=1, random_state=0).fit(named, y)
    with pytest.raises(ValueError, match="the channels of X are b, a, but .* on a, b"):
        fitted.predict([frame[["b", "a"]] for frame in named])


def test_transform_and_cepstrum_take_them():
    transform = GeneralisedShapeletTransform.from_shapelets(np.ones((1, 2, 3)), lengths=[1.0])
    want = transform(RaggedSeries.from_arrays(VALUES, TIMES)).discrepancy
    assert (transform(frames()).discrepancy == want).all()
    waves = np.random.default_rng(0).normal(size=(2, 1, 4000))
    step = MelFrequencyCepstrum()
    got = step.transform([pd.DataFrame(wave.T) for wave in waves])
    np.testing.assert_array_equal(got.values, step.transform(waves).values)
