"""Targets given by id find their series, and who is missing is said."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score

from genshapelets import RaggedSeries, ShapeletClassifier, ShapeletRegressor, ShapeletTransformer
from genshapelets.estimators.by_id import in_order

N = 12
IDS = np.array([f"p{i}" for i in range(N)])
SMALL = {"n_shapelets": 3, "max_epochs": 5, "random_state": 0}
SHUFFLED = np.random.default_rng(1).permutation(N)


def make_series(ids=IDS):
    X = np.random.default_rng(0).normal(scale=0.1, size=(N, 1, 20))
    X[::2, 0, 8:14] += 1.0
    return RaggedSeries.from_arrays(X, series_ids=ids)


CLASSES = np.where(np.arange(N) % 2 == 0, "bump", "flat")
BY_ID = pd.Series(CLASSES, index=IDS).iloc[SHUFFLED]


@pytest.fixture(autouse=True)
def _no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.mark.parametrize("y", [BY_ID, BY_ID.to_dict(), BY_ID.astype("category")])
def test_in_the_order_of_the_series(y):
    assert list(in_order(y, make_series())) == CLASSES.tolist()
    part = make_series()[[4, 1]]
    with pytest.warns(UserWarning, match="entries of no series, 10 of 12, .*'p.* and 5 more"):
        assert list(in_order(y, part)) == ["bump", "flat"]


@pytest.mark.parametrize(
    "ids", [100 + np.arange(N), np.arange(N), pd.date_range("2024", periods=N).to_numpy("M8[ns]")]
)
def test_kinds_of_ids(ids):
    y = pd.Series(CLASSES, index=ids).iloc[SHUFFLED]
    assert list(in_order(y, make_series(ids))) == CLASSES.tolist()


def test_what_only_counts_is_in_order_already():
    series = make_series(SHUFFLED)
    for y in (CLASSES, CLASSES.tolist(), pl.Series(CLASSES)):
        assert in_order(y, series) is y
    counted = pd.Series(CLASSES)
    assert in_order(counted, make_series()) is counted
    assert in_order(None, series) is None
    later = pd.Series(np.tile(CLASSES, 9)).iloc[5 * N : 6 * N]
    assert in_order(later, make_series()) is later
    anything = pd.Series(CLASSES, index=SHUFFLED)
    assert in_order(anything, make_series(None)) is anything
    numbered = pd.Series(np.tile(CLASSES, 9))  # of more than these, so it counts by id
    with pytest.warns(UserWarning, match="entries of no series"):
        assert list(in_order(numbered, make_series(SHUFFLED))) == CLASSES[SHUFFLED].tolist()


def test_an_index_that_names_others_is_no_count():
    named = pd.Series(CLASSES, index=pd.Index(np.arange(N) + 1, name="record"))
    with pytest.raises(ValueError, match=r"its ids are others.*give y.to_numpy\(\)"):
        ShapeletClassifier(**SMALL).fit(make_series(), named)
    numbers = 1000 + np.arange(N)
    in_another_form = pd.Series(CLASSES, index=numbers).iloc[SHUFFLED]
    with pytest.raises(ValueError, match="its ids are others"):
        in_order(in_another_form, make_series(numbers.astype(str)))
    for y in (BY_ID, named):  # what has no ids is in order, as scikit-learn takes it
        assert in_order(y, make_series(None)) is y


@pytest.mark.parametrize("ids", [IDS, None])
def test_cross_validation_takes_labels_that_count(ids):
    model, series = (
        ShapeletClassifier(n_shapelets=2, max_epochs=1, random_state=0),
        make_series(ids),
    )
    folds = StratifiedKFold(2, shuffle=True, random_state=0)
    y = pd.Series(np.tile(CLASSES, 9), index=np.random.default_rng(0).permutation(9 * N))
    want = cross_val_score(model, series, CLASSES, cv=folds, error_score="raise")
    for given in (pd.Series(CLASSES), *([y[:N]] if ids is None else [])):
        got = cross_val_score(model, series, given, cv=folds, error_score="raise")
        np.testing.assert_array_equal(got, want)


def test_repeated_series_as_in_a_bootstrap():
    chosen = [3, 3, 0]
    frame = pd.DataFrame(np.ones((N, 5)), index=IDS).iloc[chosen]
    series = ShapeletClassifier()._read(frame, fitting=True)
    y = pd.Series(CLASSES, index=IDS).iloc[chosen]
    assert in_order(y, series) is y


def test_who_is_missing():
    series = make_series()
    with pytest.raises(ValueError, match="2 of 12 series have no entry in y: 'p3', 'p7'. Leave"):
        in_order(BY_ID.drop(["p3", "p7"]), series)
    with pytest.raises(ValueError, match="its ids are others: 'q8', .*'p0', .*give y.to_numpy()"):
        in_order(BY_ID.rename(lambda name: name.replace("p", "q")), series)
    with pytest.raises(ValueError, match="y has more than one entry for 'p4'.*groupby"):
        in_order(pd.concat([BY_ID, BY_ID[["p4"]]]), series)
    with pytest.raises(TypeError, match="y is a dict by id, but the series have no ids"):
        in_order(BY_ID.to_dict(), make_series(None))


def test_wherever_targets_are_taken(tmp_path):
    series = make_series()
    want = ShapeletClassifier(**SMALL).fit(series, CLASSES)
    for y in (BY_ID, BY_ID.to_dict()):
        got = ShapeletClassifier(**SMALL).fit(series, y)
        np.testing.assert_array_equal(got.predict_proba(series), want.predict_proba(series))
        assert got.score(series, y) == want.score(series, CLASSES) > 0.9
        assert got.explain_model(series, y).labels.tolist() == CLASSES.tolist()
        assert got.interpretability(series, y) == want.interpretability(series, CLASSES)
        page, other = tmp_path / "page.html", tmp_path / "other.html"
        got.report(page, series, y), want.report(other, series, CLASSES)
        assert page.read_text() == other.read_text()
        features = ShapeletTransformer(**SMALL).fit_transform(series, y)
        np.testing.assert_array_equal(
            features, ShapeletTransformer(**SMALL).fit_transform(series, CLASSES)
        )


def test_numbers_and_weights():
    series, height = make_series(), np.linspace(0, 1, N)
    weight = np.where(np.arange(N) < 3, 0.0, 1.0)
    want = ShapeletRegressor(**SMALL).fit(series, height, weight)
    y, by_id = (pd.Series(x, index=IDS).iloc[SHUFFLED] for x in (height, weight))
    got = ShapeletRegressor(**SMALL).fit(series, y, by_id)
    np.testing.assert_array_equal(got.predict(series), want.predict(series))
    assert got.score(series, y, by_id) == want.score(series, height, weight)


def test_cross_validation_does_not_mix_them_up():
    series = make_series()
    search = GridSearchCV(
        ShapeletClassifier(**SMALL), {"max_epochs": [2]}, cv=2, error_score="raise"
    )
    assert search.fit(series, pd.Series(CLASSES, index=IDS)).predict(series).shape == (N,)
    with pytest.raises(ValueError, match="no entry in y|its ids are others"):
        search.fit(series, BY_ID)  # in another order, which scikit-learn does not see


def test_unobserved_series_and_their_labels():
    rows = make_series().to_long()
    rows["channel_0"] = np.where(rows["series"] == "p5", np.nan, rows["channel_0"])
    with pytest.warns(UserWarning, match="1 of 12 series have no observation .*: 'p5'"):
        series = RaggedSeries.from_long(rows, series="series", time="time", channels=["channel_0"])
    with pytest.warns(UserWarning, match="entries of no series, 1 of 12, which are left out: 'p5'"):
        assert list(in_order(BY_ID, series)) == np.delete(CLASSES, 5).tolist()


def test_rows_of_labels_that_counted_stay_in_their_order():
    table = {"who": ["a", "a", "b", "b"], "t": [0, 1, 0, 1], "x": [1.0, 2.0, 3.0, 4.0]}
    series = RaggedSeries.from_long(table, series="who", time="t", channels=["x"])
    y = pd.Series(["first", "second"])
    assert list(in_order(y.iloc[[1, 0]], series[[1, 0]])) == ["second", "first"]


def test_a_count_that_may_be_ids_in_another_order_is_refused():
    table = {"who": [1, 1, 0, 0], "t": [0, 1, 0, 1], "x": [1.0, 2.0, 3.0, 4.0]}
    series = RaggedSeries.from_long(table, series="who", time="t", channels=["x"])
    with pytest.raises(ValueError, match=r"Give y.to_numpy\(\) if it is in the order"):
        in_order(pd.Series(["first", "second"]), series)
