"""The classes for sktime: its own checks, its pipelines and searches, and the same answers as ours."""

import numpy as np
import pytest

pytest.importorskip("sktime")

import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.preprocessing import StandardScaler
from sktime.classification.model_selection import TSCGridSearchCV
from sktime.datatypes import convert_to
from sktime.pipeline import make_pipeline
from sktime.transformations.adapt import TabularToSeriesAdaptor
from sktime.transformations.compose import FitInTransform
from sktime.utils.estimator_checks import check_estimator, parametrize_with_checks

import genshapelets
from genshapelets.sktime import (
    ShapeletClassifier,
    ShapeletRegressor,
    ShapeletTransformer,
    as_series,
)

CLASSES = [ShapeletClassifier, ShapeletRegressor, ShapeletTransformer]
SMALL = {"n_shapelets": 4, "max_epochs": 5, "random_state": 0}


def bumps(n_series=24):
    """Series of two channels, (series, channels, times); every second has a bump in the first."""
    X = np.random.default_rng(0).normal(scale=0.2, size=(n_series, 2, 30))
    X[1::2, 0, 8:16] += 2.0
    return X, np.array(["none", "bump"] * (n_series // 2))


def irregular(kind="datetimes", n_series=24):
    """The same with times and lengths of their own and gaps: a panel of sktime, and ours."""
    random = np.random.default_rng(1)
    X, y = bumps(n_series)
    names, values, times = [], [], []
    for n, x in enumerate(X):
        kept = np.flatnonzero(random.random(30) < 0.8)
        x[random.random(x.shape) < 0.1] = np.nan
        names.append(f"patient {n_series - n}")
        values.append(x[:, kept])
        times.append(kept * (1 if kind == "integers" else np.timedelta64(1, "h")))
    if kind != "integers":
        times = [np.datetime64("2024-03-01", "ns") + t for t in times]
    frames = [
        pd.DataFrame(v.T, index=t, columns=["hr", "bp"]) for v, t in zip(values, times, strict=True)
    ]
    if kind == "periods":
        for frame in frames:
            frame.index = pd.PeriodIndex(frame.index, freq="h")
    ours = genshapelets.RaggedSeries.from_arrays(values, times, channel_names=["hr", "bp"])
    return pd.concat(frames, keys=names), ours, y


def rows_of(panel, chosen):
    return panel.loc[list(panel.index.get_level_values(0).unique()[chosen])]


@parametrize_with_checks(CLASSES)
def test_checks_of_sktime(obj, test_name):
    results = check_estimator(obj, tests_to_run=test_name, raise_exceptions=True, verbose=False)
    assert results  # each check was run


# ------------------------------------------------------------------ reading panels


@pytest.mark.parametrize("kind", ["integers", "datetimes", "periods"])
def test_times_names_and_gaps_are_read(kind):
    panel, ours, _ = irregular(kind)
    series = as_series(panel)
    np.testing.assert_array_equal(series.times, ours.times)
    np.testing.assert_array_equal(series.values, ours.values)
    np.testing.assert_array_equal(series.row_offsets, ours.row_offsets)
    assert series.time_origin == ours.time_origin
    assert series.channel_names == ("hr", "bp")
    assert series.series_ids.tolist() == panel.index.get_level_values(0).unique().tolist()


@pytest.mark.parametrize("form", ["numpy3D", "df-list", "nested_univ", "pd-multiindex"])
def test_every_form_of_a_panel_is_read(form):
    X, _ = bumps(4)
    panel = convert_to(X, form, as_scitype="Panel")
    np.testing.assert_array_equal(np.stack([one.values for one in as_series(panel)]), X)


def test_channels_are_matched_by_name_within_a_list():
    first = pd.DataFrame({"hr": [1.0, 2.0], "bp": [3.0, 4.0]})
    series = as_series([first, first[["bp", "hr"]], first[["bp"]]])
    assert series.channel_names == ("hr", "bp")
    np.testing.assert_array_equal(series[1].values, [[1.0, 2.0], [3.0, 4.0]])
    np.testing.assert_array_equal(series[2].values, [[np.nan, np.nan], [3.0, 4.0]])


def test_series_may_be_mixed_and_columns_named_like_anything():
    index = pd.MultiIndex.from_tuples([("b", 0), ("a", 0), ("b", 3), ("a", 1)])
    series = as_series(pd.DataFrame({"time": [1.0, 2.0, 3.0, 4.0], 7: [1, 2, 3, 4]}, index=index))
    assert series.series_ids.tolist() == ["b", "a"]
    assert series.channel_names == ("time", "7")
    np.testing.assert_array_equal(series[0].times, [0.0, 3.0])
    np.testing.assert_array_equal(series[1].values, [[2.0, 4.0], [2.0, 4.0]])


def test_channels_of_an_array_have_no_names():
    panel, _, y = irregular("integers")
    model = ShapeletClassifier(**SMALL).fit(panel, y)
    assert as_series(bumps()[0]).channel_names is None
    assert model.predict(bumps()[0]).shape == (24,)
    with pytest.raises(ValueError, match="bp, hr, but ShapeletClassifier was fitted on hr, bp"):
        model.predict(panel[["bp", "hr"]])


# ------------------------------------------------------------------ the same answers


def test_classifies_arrays_as_our_classifier_does():
    X, y = bumps()
    ours = genshapelets.ShapeletClassifier(**SMALL).fit(X[:16], y[:16])
    model = ShapeletClassifier(**SMALL).fit(X[:16], y[:16])
    np.testing.assert_array_equal(model.classes_, ours.classes_)
    np.testing.assert_array_equal(model.predict_proba(X[16:]), ours.predict_proba(X[16:]))
    np.testing.assert_array_equal(model.predict(X[16:]), ours.predict(X[16:]))


@pytest.mark.parametrize("kind", ["integers", "datetimes"])
def test_classifies_irregular_series_as_our_classifier_does(kind):
    panel, series, y = irregular(kind)
    ours = genshapelets.ShapeletClassifier(**SMALL).fit(series[:16], y[:16])
    model = ShapeletClassifier(**SMALL).fit(rows_of(panel, slice(16)), y[:16])
    new = rows_of(panel, slice(16, None))
    # Datetimes are counted from the first of a batch, which is another one here.
    np.testing.assert_allclose(
        model.predict_proba(new), ours.predict_proba(series[16:]), rtol=1e-6, atol=1e-9
    )
    np.testing.assert_array_equal(model.predict(new), ours.predict(series[16:]))
    assert model.estimator_.lengths_.dtype.kind == ("f" if kind == "integers" else "m")
    assert model.estimator_.channel_names_ == ("hr", "bp")


def test_regresses_and_transforms_as_ours_do():
    panel, series, y = irregular()
    number = np.array([np.nanmax(one.values) for one in series])
    ours = genshapelets.ShapeletRegressor(**SMALL).fit(series, number)
    np.testing.assert_array_equal(
        ShapeletRegressor(**SMALL).fit(panel, number).predict(panel), ours.predict(series)
    )
    for target in (None, y, number):
        ours = genshapelets.ShapeletTransformer(**SMALL).fit(series, target)
        table = ShapeletTransformer(**SMALL).fit_transform(panel, target)
        assert table.columns.tolist() == [f"shapelet_{k}" for k in range(4)]
        np.testing.assert_array_equal(table, ours.transform(series))


# ------------------------------------------------------------------ pipelines and searches


def test_pipelines_of_several_channels():
    X, y = bumps()
    scaler, model = FitInTransform(TabularToSeriesAdaptor(StandardScaler())), SMALL
    for pipeline in (
        scaler * ShapeletClassifier(**model),
        make_pipeline(scaler, ShapeletClassifier(**model)),
    ):
        assert pipeline.fit(X[:16], y[:16]).score(X[16:], y[16:]) == 1.0
        assert isinstance(pipeline.classifier_.estimator_, genshapelets.ShapeletClassifier)


def test_pipeline_of_irregular_series():
    panel, _, y = irregular()
    pipeline = ShapeletTransformer(**SMALL) * RandomForestClassifier(random_state=0)
    pipeline.fit(rows_of(panel, slice(16)), y[:16])
    assert (pipeline.predict(rows_of(panel, slice(16, None))) == y[16:]).all()


def test_grid_search_of_sktime_over_a_pipeline_of_several_channels():
    X, y = bumps()
    pipeline = FitInTransform(TabularToSeriesAdaptor(StandardScaler())) * ShapeletClassifier(
        **SMALL
    )
    search = TSCGridSearchCV(
        pipeline, {"classifier__n_shapelets": [2, 3]}, cv=2, error_score="raise"
    ).fit(X, y)
    best = search.best_estimator_.classifier_.estimator_
    assert best.shapelets_.shape[:2] == (search.best_params_["classifier__n_shapelets"], 2)


def test_searches_of_scikit_learn():
    X, y = bumps()
    model = ShapeletClassifier(**SMALL)
    search = GridSearchCV(model, {"n_shapelets": [2, 3]}, cv=2, error_score="raise").fit(X, y)
    best = search.best_estimator_.estimator_
    assert best.shapelets_.shape[:2] == (search.best_params_["n_shapelets"], 2)
    assert cross_val_score(model, X, y, cv=2, error_score="raise").shape == (2,)


# ------------------------------------------------------------------ parameters, and what was fitted


@pytest.mark.parametrize("kind", CLASSES)
def test_parameters_are_those_of_our_estimator(kind):
    ours = getattr(genshapelets, kind.__name__)
    assert kind().get_params() == ours(n_jobs=1).get_params()
    given = ours(n_shapelets=3, interpolation="cubic").get_params()
    assert kind(**given).clone().get_params() == given
    assert kind().set_params(n_shapelets=7).n_shapelets == 7
    with pytest.raises(TypeError, match="n_shapelet"):
        kind(n_shapelet=3)


def test_what_was_fitted_can_be_explained_reported_and_saved(tmp_path):
    pytest.importorskip("safetensors")
    panel, _, y = irregular()
    model, series = ShapeletClassifier(**SMALL).fit(panel, y), as_series(panel)
    np.testing.assert_array_equal(model.estimator_.explain(series).predicted, model.predict(panel))
    assert model.estimator_.report(tmp_path / "report.html", series, y).exists()
    model.estimator_.save(tmp_path / "model.safetensors")
    loaded = genshapelets.load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(loaded.predict(series), model.predict(panel))
