"""Estimators: scikit-learn's contract, whatever may be called series and labels, and every refusal."""

import copy
import pickle
import re
import warnings

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from problems import irregular
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator
from torch import nn

from genshapelets import (
    ClassicalDiscrepancy,
    L2Discrepancy,
    Minimum,
    RaggedSeries,
    ShapeletClassifier,
    ShapeletRegressor,
    ShapeletTransformer,
)

ESTIMATORS = [ShapeletClassifier, ShapeletRegressor, ShapeletTransformer]
SMALL = {"n_shapelets": 6, "n_knots": 8, "max_epochs": 20, "random_state": 0, "n_jobs": 1}


def bumps(n_series=24, n_times=30, n_channels=1, n_classes=2, seed=0):
    """Noise with a bump, in channel 0, whose height tells the class; (series, channels, times)."""
    rng = np.random.default_rng(seed)
    X = rng.normal(scale=0.1, size=(n_series, n_channels, n_times))
    codes = np.arange(n_series) % n_classes
    for x, code, start in zip(X, codes, rng.integers(n_times - 8, size=n_series), strict=True):
        x[0, start : start + 8] += 2.0 * code * np.sin(np.linspace(0, np.pi, 8))
    return X, codes


def fitted(X, y, estimator=ShapeletClassifier, **parameters):
    return estimator(**(SMALL | parameters)).fit(X, y)


def state(model):
    return {name: value.numpy().copy() for name, value in model.model_.state_dict().items()}


def assert_same_model(one, other):
    assert state(one).keys() == state(other).keys()
    for name, value in state(one).items():
        np.testing.assert_array_equal(value, state(other)[name], err_msg=name)
    assert one.history_ == other.history_
    assert one.n_iter_ == other.n_iter_


# ------------------------------------------------------------------ scikit-learn's checks


EXPECTED_FAILURE = {
    "check_sample_weight_equivalence_on_dense_data": (
        "shapelets start as windows that are drawn at random: series that are repeated and series "
        "that weigh more draw differently"
    )
}


@pytest.mark.parametrize(
    "estimator",
    [
        ShapeletClassifier(
            n_shapelets=6, max_epochs=10, learning_rate=0.05, random_state=0, n_jobs=1
        ),
        ShapeletRegressor(
            n_shapelets=10, max_epochs=25, learning_rate=0.05, random_state=0, n_jobs=1
        ),
        ShapeletTransformer(n_shapelets=5, max_epochs=5, random_state=0, n_jobs=1),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_scikit_learns_checks(estimator):
    results = check_estimator(
        estimator, expected_failed_checks=EXPECTED_FAILURE, on_fail=None, on_skip=None
    )
    assert len(results) > 50
    failed = {one["check_name"]: one["exception"] for one in results if one["status"] == "failed"}
    assert not failed
    of_expected = [one for one in results if one["check_name"] in EXPECTED_FAILURE]
    assert {one["status"] for one in of_expected} == {"xfail"}


# ------------------------------------------------------------------ what X may be

UNIVARIATE, CODES = bumps()
ROWS = UNIVARIATE[:, 0]


@pytest.fixture(scope="module")
def from_array():
    return fitted(UNIVARIATE, CODES)


@pytest.mark.parametrize(
    "X",
    [
        ROWS,
        list(UNIVARIATE),
        tuple(UNIVARIATE),
        ROWS.tolist(),
        UNIVARIATE.tolist(),
        pd.DataFrame(ROWS, columns=[f"t{i}" for i in range(30)]),
        pl.DataFrame(ROWS, schema=[f"t{i}" for i in range(30)]),
        torch.from_numpy(UNIVARIATE),
        torch.from_numpy(ROWS),
        RaggedSeries.from_arrays(UNIVARIATE),
        np.ma.masked_array(ROWS),
    ],
    ids=lambda X: type(X).__name__,
)
def test_every_form_of_the_same_series_gives_the_same_model(X, from_array):
    model = fitted(X, CODES)
    assert_same_model(model, from_array)
    np.testing.assert_array_equal(model.predict_proba(X), from_array.predict_proba(UNIVARIATE))


def test_series_of_different_lengths():
    X = [x[:, : 20 + i % 11] for i, x in enumerate(bumps(n_channels=2)[0])]
    held = np.empty(len(X), dtype=object)
    held[:] = X
    model = fitted(X, CODES)
    assert model.shapelets_.shape == (6, 2, 8)
    assert_same_model(model, fitted(held, CODES))
    assert_same_model(model, fitted(RaggedSeries.from_arrays(X), CODES))
    assert model.predict(X).shape == (24,)


def test_lists_of_numbers_of_different_lengths_are_univariate():
    X = [row[: 20 + i % 11].tolist() for i, row in enumerate(ROWS)]
    model = fitted(X, CODES)
    assert_same_model(model, fitted([np.array(x)[None] for x in X], CODES))


@pytest.mark.parametrize("discrepancy", ["l2", "classical"])
def test_padding_by_nan_changes_nothing(discrepancy):
    sizes = 20 + np.arange(len(ROWS)) % 9
    arrays = [row[None, :size] for row, size in zip(ROWS, sizes, strict=True)]
    block = np.where(np.arange(40) < sizes[:, None], np.pad(ROWS, ((0, 0), (0, 10))), np.nan)
    want, got = (
        fitted(X, CODES, discrepancy=discrepancy, short_series="error") for X in (arrays, block)
    )
    assert_same_model(got, want)
    assert got.shortest_span_ == want.shortest_span_ == 19.0
    there, here = want.explain(arrays).matches, got.explain(block).matches
    for name in ("start", "end", "position"):
        np.testing.assert_array_equal(getattr(here, name), getattr(there, name))
    assert [here.path(0)[0].size, here.path(1)[0].size] == sizes[:2].tolist()


def test_masked_and_missing_are_the_same():
    missing = np.random.default_rng(1).random(ROWS.shape) < 0.2
    model = fitted(np.ma.masked_array(ROWS, missing), CODES)
    assert_same_model(model, fitted(np.where(missing, np.nan, ROWS), CODES))
    frame = pl.DataFrame(np.where(missing, np.nan, ROWS), schema=[f"t{i}" for i in range(30)])
    assert_same_model(model, fitted(frame.fill_nan(None), CODES))


def test_irregular_series_with_times_of_their_own():
    series = irregular(np.random.default_rng(0), 20)
    y = np.arange(20) % 2
    for estimator in ESTIMATORS:
        model = fitted(series, y, estimator, max_epochs=3)
        assert model.transform(series).shape == (20, 6)
        assert np.isfinite(model.transform(series)).all()


def test_a_long_table():
    table = pd.DataFrame(
        {"who": np.repeat(np.arange(24), 30), "when": np.tile(np.arange(30), 24), "x": ROWS.ravel()}
    )
    series = RaggedSeries.from_long(table, series="who", time="when", channels=["x"])
    model = fitted(series, CODES)
    assert model.channel_names_ == ("x",)
    assert model.predict(UNIVARIATE).shape == (24,)  # names are compared only where there are some
    renamed = RaggedSeries.from_arrays(UNIVARIATE, channel_names=["z"])
    with pytest.raises(ValueError, match="channels of X are z, but ShapeletClassifier .* on x"):
        model.predict(renamed)


def test_datetimes_give_lengths_as_durations(from_array):
    days = np.datetime64("2024-01-01") + np.arange(30)
    series = RaggedSeries.from_arrays(UNIVARIATE, days)
    model = fitted(series, CODES)
    assert model.lengths_.dtype == "m8[ns]"
    assert (model.lengths_ > np.timedelta64(1, "D")).all()
    assert (model.lengths_ <= np.timedelta64(29, "D") * 1.001).all()
    assert model.score(series, CODES) == from_array.score(UNIVARIATE, CODES)
    with pytest.raises(ValueError, match="times are datetimes; those of X are numbers"):
        model.predict(UNIVARIATE)
    with pytest.raises(ValueError, match="times are numbers; those of X are datetimes"):
        from_array.predict(series)


def test_precision_follows_the_input(from_array):
    single = UNIVARIATE.astype(np.float32)
    assert from_array.transform(single).dtype == np.float32
    assert from_array.transform(UNIVARIATE).dtype == np.float64
    assert fitted(single, CODES).transform(single).dtype == np.float32
    assert from_array.transform(single[:, 0]).dtype == np.float32


# ------------------------------------------------------------------ what y may be


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["no", "yes"]),
        np.array([3, -7]),
        np.array([False, True]),
        np.array(["no", "yes"], dtype=object),
        np.array([np.str_("no"), np.str_("yes")], dtype=object),
        np.array([1.0, 2.0]),
        np.array([1, 2], dtype=np.uint8),
        np.array(["2020-01-01", "2021-01-01"], dtype="M8[D]"),
    ],
    ids=lambda labels: str(labels.dtype),
)
def test_labels_of_any_type_come_back(labels, from_array):
    y = labels[CODES]
    model = fitted(UNIVARIATE, y)
    np.testing.assert_array_equal(model.classes_, np.unique(labels))
    assert model.classes_.dtype == labels.dtype
    predicted = model.predict(UNIVARIATE)
    assert predicted.dtype == labels.dtype
    assert (predicted == y).mean() > 0.8
    if (np.argsort(labels) == [0, 1]).all():
        assert_same_model(model, from_array)


@pytest.mark.parametrize("make", [list, pd.Series, pd.Categorical, pl.Series])
def test_labels_in_any_container(make, from_array):
    y = np.array(["no", "yes"])[CODES].tolist()
    assert_same_model(fitted(UNIVARIATE, make(y)), from_array)


@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_two_to_many_classes(n_classes):
    X, y = bumps(n_series=42, n_classes=n_classes)
    model = fitted(X, y, max_epochs=40, learning_rate=0.05)
    proba, decision = model.predict_proba(X), model.decision_function(X)
    assert proba.shape == (42, n_classes)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    assert decision.shape == ((42,) if n_classes == 2 else (42, n_classes))
    np.testing.assert_array_equal(model.predict(X), proba.argmax(axis=1))
    outputs = 1 if n_classes == 2 else n_classes
    assert model.model_.head.weight.shape == (outputs, 6)
    assert model.score(X, y) > 1.5 / n_classes


def test_one_logit_speaks_for_the_second_class(from_array):
    proba = from_array.predict_proba(UNIVARIATE)
    logit = from_array.decision_function(UNIVARIATE)
    np.testing.assert_allclose(proba[:, 1], 1 / (1 + np.exp(-logit)), rtol=1e-12)


# ------------------------------------------------------------------ weights


def test_class_weight_balances_and_a_dict_does_what_it_says():
    X, y = bumps(n_series=30)
    y[np.flatnonzero(y)[5:]] = 0  # some bumps are called 0: the classes overlap
    plain = fitted(X, y)
    balanced = fitted(X, y, class_weight="balanced")
    weights = {c: 30 / (2 * (y == c).sum()) for c in (0, 1)}
    assert_same_model(balanced, fitted(X, y, class_weight=weights))
    assert_same_model(balanced, fitted(X, y, class_weight={c: 5 * w for c, w in weights.items()}))
    rare = balanced.predict_proba(X)[:, 1].mean(), plain.predict_proba(X)[:, 1].mean()
    assert rare[0] > rare[1] + 0.002  # whose mean is the share of the rare class


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_weight_zero_leaves_a_series_out(estimator):
    weight = np.ones(24)
    weight[[3, 8, 20]] = 0.0
    X = UNIVARIATE.copy()
    X[3] = 1e6
    model = estimator(**SMALL).fit(X, CODES, sample_weight=weight)
    used = weight > 0
    assert_same_model(model, estimator(**SMALL).fit(X[used], CODES[used]))


def test_sample_weights_matter_and_their_scale_does_not():
    weight = np.where(CODES, 5.0, 1.0)
    model = ShapeletClassifier(**SMALL).fit(UNIVARIATE, CODES, weight)
    assert_same_model(model, ShapeletClassifier(**SMALL).fit(UNIVARIATE, CODES, 8 * weight))
    assert_same_model(model, fitted(UNIVARIATE, CODES, class_weight={0: 1, 1: 5}))
    assert state(model)["head.bias"] != state(fitted(UNIVARIATE, CODES))["head.bias"]


# ------------------------------------------------------------------ heads


class Doubled(nn.Linear):
    """A linear map in name only."""

    def forward(self, x):
        return 2.0 * super().forward(x)


@pytest.mark.parametrize(
    ("head", "procedure"),
    [
        (nn.Linear(6, 1), "default"),
        (nn.Linear(6, 1, bias=False), "paper"),
        (nn.Sequential(nn.Linear(6, 5), nn.ReLU(), nn.Linear(5, 1)), "default"),
        (nn.Sequential(nn.BatchNorm1d(6), nn.Dropout(0.5), nn.Linear(6, 1)), "default"),
        (nn.Sequential(nn.BatchNorm1d(6), nn.Dropout(0.5), nn.Linear(6, 1)), "paper"),
        (nn.Sequential(nn.LazyLinear(4), nn.Tanh(), nn.LazyLinear(1)), "default"),
        (Doubled(6, 1), "paper"),
    ],
    ids=["linear", "no bias", "two layers", "dropout", "dropout, paper", "lazy", "subclass"],
)
def test_any_module_can_be_the_head(head, procedure):
    before = copy.deepcopy(head)
    torch.manual_seed(1)
    model = fitted(UNIVARIATE, CODES, head=head, procedure=procedure)
    torch.manual_seed(2)
    again = fitted(UNIVARIATE, CODES, head=head, procedure=procedure)
    assert_same_model(model, again)
    proba = model.predict_proba(UNIVARIATE)
    np.testing.assert_array_equal(proba, model.predict_proba(UNIVARIATE))  # no dropout any more
    np.testing.assert_allclose(proba[:5], model.predict_proba(UNIVARIATE[:5]), atol=1e-6)
    with torch.no_grad():
        output, _ = model.model_(model.model_.paths(RaggedSeries.from_arrays(UNIVARIATE)))
    np.testing.assert_allclose(
        model.decision_function(UNIVARIATE), output[:, 0].numpy(), rtol=1e-4, atol=1e-4
    )
    for name, value in before.state_dict().items():  # a copy was trained
        if not isinstance(value, nn.parameter.UninitializedParameter):
            assert torch.equal(value, head.state_dict()[name])


@pytest.mark.parametrize(
    ("head", "got"),
    [
        (nn.Linear(6, 2), r"\(series, 1\); for 2 series Linear gave \(2, 2\)"),
        (nn.Linear(7, 1), "cannot be multiplied"),
        (nn.Linear(6, 1).double(), "same dtype"),
        (nn.Sequential(nn.Linear(6, 1), nn.Flatten(0)), r"gave \(2,\)"),
        (nn.LSTM(6, 1), "AttributeError: 'tuple'"),
    ],
    ids=["outputs", "inputs", "double", "flat", "tuple"],
)
def test_a_head_that_does_not_fit_is_refused_before_training(head, got, monkeypatch):
    monkeypatch.setattr("genshapelets.training.Trainer.run", lambda *_: pytest.fail("trained"))
    with pytest.raises(ValueError, match=r"head must take .*\(series, 6\).*" + got):
        fitted(UNIVARIATE, CODES, head=head)


def test_a_transformer_without_targets_does_not_ask_its_head():
    model = ShapeletTransformer(head=nn.Linear(3, 3), **SMALL).fit(UNIVARIATE)
    assert model.transform(UNIVARIATE).shape == (24, 6)


# ------------------------------------------------------------------ what is learnt, in the user's units


PROCEDURES = [
    (ShapeletClassifier, "default"),
    (ShapeletRegressor, "paper"),
    (ShapeletTransformer, "default"),
]


@pytest.mark.parametrize(("estimator", "procedure"), PROCEDURES)
def test_units_of_a_channel_do_not_matter(estimator, procedure):
    X, y = bumps(n_channels=2)
    # Powers of two and a small shift: nothing but the last bits may differ.
    units, shift = np.array([1024.0, 1.0])[:, None], np.array([512.0, -2.0])[:, None]
    model = fitted(X, y, estimator, procedure=procedure)
    other = fitted(X * units + shift, y, estimator, procedure=procedure)
    np.testing.assert_allclose(
        model.transform(X), other.transform(X * units + shift), rtol=1e-3, atol=1e-4
    )
    np.testing.assert_allclose(
        other.shapelets_, model.shapelets_ * units + shift, rtol=1e-3, atol=1e-3 * 1024
    )
    np.testing.assert_allclose(other.metric_, model.metric_, rtol=1e-3, atol=1e-4)


def test_standardisation_takes_observed_training_values_only():
    X, y = bumps(n_channels=2)
    X[:, 1] = 7.0
    X[::3, 0, 5:9] = np.nan
    model = fitted(X, y)
    observed = X[:, 0][~np.isnan(X[:, 0])]
    np.testing.assert_allclose(model.model_.centre.numpy(), [observed.mean(), 7.0])
    np.testing.assert_allclose(model.model_.scale.numpy(), [observed.std(), 1.0])
    never = X.copy()
    never[:, 1] = np.nan
    assert fitted(never, y).predict(never).shape == (24,)


def test_a_validation_part_does_not_enter_the_standardisation():
    X, y = UNIVARIATE + np.arange(24)[:, None, None] * 1.0, CODES
    model = fitted(X, y, procedure="paper")
    assert model.model_.centre.item() != X.mean()


def test_a_shapelet_without_training_is_a_window_in_the_users_units():
    X = 1000.0 + 50.0 * UNIVARIATE
    times = np.linspace(0.0, 3.0, 30)
    model = ShapeletTransformer(
        n_shapelets=5, n_knots=4, level_free=0.0, search="exact", metric="none", random_state=0
    ).fit(RaggedSeries.from_arrays(X, times))
    assert model.shapelets_.shape == (5, 1, 4) and model.shapelets_.dtype == np.float64
    assert (model.lengths_ > 0).all() and (model.lengths_ <= 3.0).all()
    for values, length in zip(model.shapelets_[:, 0], model.lengths_, strict=True):
        starts = np.linspace(0.0, 3.0 - length, 4001)
        there = starts[:, None] + length * np.linspace(0, 1, 4)
        nearest = min(np.abs(np.interp(there, times, x[0]) - values).max(axis=1).min() for x in X)
        assert nearest < 1.0  # of values that vary by 50


@pytest.mark.parametrize(
    ("parameters", "shape"),
    [
        ({"shared_metric": True}, (1, 2, 2)),
        ({"shared_metric": False}, (6, 2, 2)),
        ({"metric": "full", "shared_metric": False}, (6, 2, 2)),
        ({"metric": "none"}, (1, 2, 2)),
    ],
)
def test_metric(parameters, shape):
    model = fitted(*bumps(n_channels=2), max_epochs=3, **parameters)
    assert model.metric_.shape == shape
    if model.metric == "diagonal":
        assert (model.metric_[:, [0, 1], [1, 0]] == 0).all()


def test_the_classical_discrepancy():
    model = fitted(UNIVARIATE, CODES, discrepancy="classical", initial_length=0.3, max_epochs=40)
    assert np.unique(model.lengths_).size == 1  # and fixed
    assert not hasattr(model, "metric_")
    assert model.score(UNIVARIATE, CODES) > 0.9
    with pytest.raises(ValueError, match="regular"):
        fitted(irregular(np.random.default_rng(0), 8), np.arange(8) % 2, discrepancy="classical")


def test_initial_length_is_a_fraction_of_the_longest_span():
    series = RaggedSeries.from_arrays(UNIVARIATE, np.arange(30) * 2.0)
    model = ShapeletTransformer(n_shapelets=20, initial_length=0.25, random_state=0).fit(series)
    np.testing.assert_allclose(model.lengths_, 0.25 * 58.0, rtol=1e-5)
    model.set_params(initial_length=(0.2, 0.4)).fit(series)
    assert 0.2 * 58 * 0.999 <= model.lengths_.min() < model.lengths_.max() <= 0.4 * 58 * 1.001


def test_history_and_iterations(from_array):
    history = from_array.history_
    assert {"loss", "regularisation", "accuracy", "rate"} <= history.keys()
    assert from_array.n_iter_ == 20
    assert all(len(values) == 20 for values in history.values())
    assert history["loss"][-1] < history["loss"][0]
    assert "r2" in fitted(UNIVARIATE, CODES, ShapeletRegressor).history_
    assert ShapeletTransformer(**SMALL).fit(UNIVARIATE).n_iter_ == 0


# ------------------------------------------------------------------ the other estimators


def test_regression_in_the_users_units():
    rng = np.random.default_rng(0)
    height = rng.uniform(1, 3, 40)
    X = rng.normal(scale=0.1, size=(40, 1, 30))
    X[:, 0, 12:18] += height[:, None]
    model = fitted(X, height, ShapeletRegressor, max_epochs=100, learning_rate=0.05)
    assert model.score(X, height) > 0.9
    for scale in (1e-200, 1e200):
        other = fitted(X, scale * height, ShapeletRegressor, max_epochs=100, learning_rate=0.05)
        np.testing.assert_allclose(other.predict(X) / scale, model.predict(X), rtol=1e-2)
    same = fitted(X, np.full(40, 7.0), ShapeletRegressor)
    np.testing.assert_allclose(same.predict(X), 7.0, atol=0.1)


def test_the_transformer_learns_what_the_others_do():
    X, codes = bumps()
    height = codes + 0.5
    classifier, regressor = fitted(X, codes), fitted(X, height, ShapeletRegressor)
    np.testing.assert_array_equal(
        fitted(X, codes, ShapeletTransformer).transform(X), classifier.transform(X)
    )
    np.testing.assert_array_equal(
        fitted(X, height, ShapeletTransformer).transform(X), regressor.transform(X)
    )


def test_names_of_features():
    model = ShapeletTransformer(**SMALL).fit(UNIVARIATE)
    assert model.get_feature_names_out().tolist() == [f"shapelet_{k}" for k in range(6)]
    plain = model.transform(ROWS)
    frame = model.set_output(transform="pandas").transform(ROWS)
    assert frame.columns.tolist() == model.get_feature_names_out().tolist()
    np.testing.assert_array_equal(frame.to_numpy(), plain)
    assert model.transform(RaggedSeries.from_arrays(UNIVARIATE)).shape == (24, 6)
    assert model.set_output(transform="polars").transform(UNIVARIATE).columns == list(frame.columns)


# ------------------------------------------------------------------ scikit-learn's company


def test_parameters_are_stored_untouched():
    head, length, state_ = nn.Linear(6, 1), [0.2, 0.4], np.random.RandomState(0)
    model = ShapeletClassifier(
        n_shapelets=6, max_epochs=2, head=head, initial_length=length, random_state=state_
    )
    before = model.get_params()
    model.fit(UNIVARIATE, CODES)
    assert all(value is before[name] for name, value in model.get_params().items())
    assert model.head is head and model.initial_length is length and model.random_state is state_


def test_clone_pickle_and_joblib(from_array, tmp_path):
    assert not hasattr(clone(from_array), "model_")
    with_head = fitted(UNIVARIATE, CODES, head=nn.Sequential(nn.Linear(6, 1)))
    clone(with_head).fit(UNIVARIATE, CODES)
    for model in (from_array, with_head, fitted(UNIVARIATE, CODES, ShapeletRegressor)):
        joblib.dump(model, tmp_path / "model")
        others = (
            pickle.loads(pickle.dumps(model)),
            copy.deepcopy(model),
            joblib.load(tmp_path / "model"),
        )
        for other in others:
            assert_same_model(model, other)
            np.testing.assert_array_equal(model.predict(UNIVARIATE), other.predict(UNIVARIATE))


@pytest.mark.parametrize(
    "X",
    [list(UNIVARIATE), RaggedSeries.from_arrays(UNIVARIATE), pd.DataFrame(ROWS)],
    ids=lambda X: type(X).__name__,
)
def test_grid_search_and_pipeline(X):
    base = ShapeletClassifier(n_shapelets=4, max_epochs=10, random_state=0, n_jobs=1)
    grid = {"n_shapelets": [2, 5], "metric": ["none", "diagonal"]}
    search = GridSearchCV(base, grid, cv=2, error_score="raise").fit(X, CODES)
    assert search.predict(X).shape == (24,)
    pipeline = make_pipeline(
        ShapeletTransformer(n_shapelets=4, max_epochs=10, random_state=0, n_jobs=1),
        LogisticRegression(),
    )
    assert pipeline.fit(X, CODES).predict(X).shape == (24,)
    search = GridSearchCV(
        pipeline, {"shapelettransformer__n_shapelets": [2, 3]}, cv=2, error_score="raise"
    )
    assert search.fit(X, CODES).best_score_ > 0.4


def test_two_processes():
    series = irregular(np.random.default_rng(0), 12)
    y = np.arange(12) % 2
    model = ShapeletClassifier(n_shapelets=4, max_epochs=5, random_state=0, n_jobs=1)
    alone = cross_val_score(model, series, y, cv=3, error_score="raise")
    np.testing.assert_array_equal(
        cross_val_score(model, series, y, cv=3, n_jobs=2, error_score="raise"), alone
    )


# ------------------------------------------------------------------ randomness


@pytest.mark.parametrize("procedure", ["default", "paper"])
def test_same_seed_same_model_whatever_n_jobs(procedure):
    X, y = bumps(n_series=60, n_channels=3, n_times=50)
    X[:, :, ::7] = np.nan
    parameters = {"n_shapelets": 40, "max_epochs": 4, "batch_size": 25, "procedure": procedure}
    models = [fitted(X, y, n_jobs=n_jobs, **parameters) for n_jobs in (1, 1, 2, 3, -1, None)]
    for model in models[1:]:
        assert_same_model(models[0], model)
        np.testing.assert_array_equal(models[0].transform(X), model.transform(X))
        np.testing.assert_array_equal(models[0].predict_proba(X), model.predict_proba(X))
    other = fitted(X, y, **(parameters | {"random_state": 1}))
    assert not np.array_equal(other.shapelets_, models[0].shapelets_)


@pytest.mark.parametrize(("estimator", "procedure"), PROCEDURES)
def test_fitting_leaves_global_random_states_alone(estimator, procedure):
    models = []
    for seed in (1, 2):
        torch.manual_seed(seed)
        np.random.seed(seed)  # noqa: NPY002
        before = torch.get_rng_state(), np.random.get_state()[1].copy()  # noqa: NPY002
        threads = torch.get_num_threads()
        models.append(fitted(UNIVARIATE, CODES, estimator, max_epochs=2, procedure=procedure))
        models[-1].transform(UNIVARIATE)
        assert torch.equal(torch.get_rng_state(), before[0])
        np.testing.assert_array_equal(np.random.get_state()[1], before[1])  # noqa: NPY002
        assert torch.get_num_threads() == threads
    assert_same_model(*models)


def test_random_state_none_and_a_random_state():
    models = [fitted(UNIVARIATE, CODES, random_state=None, max_epochs=1) for _ in range(2)]
    assert not np.array_equal(models[0].shapelets_, models[1].shapelets_)
    same = [
        fitted(UNIVARIATE, CODES, random_state=np.random.RandomState(5), max_epochs=1)
        for _ in range(2)
    ]
    assert_same_model(*same)


# ------------------------------------------------------------------ fit again


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_second_fit_forgets_the_first(estimator):
    X, y = bumps(n_channels=2, n_times=25, seed=1)
    named = pd.DataFrame(ROWS, columns=[f"t{i}" for i in range(30)])
    model = estimator(**SMALL).fit(named, CODES)
    assert model.n_features_in_ == 30
    model.fit(X, y)
    assert_same_model(model, estimator(**SMALL).fit(X, y))
    assert not hasattr(model, "n_features_in_") and not hasattr(model, "feature_names_in_")
    model.fit(ROWS[:, :20], CODES)
    assert model.n_features_in_ == 20
    assert model.transform(UNIVARIATE).shape == (24, 6)  # as many times as there are


@pytest.mark.parametrize(
    ("estimator", "X", "y", "parameters"),
    [
        (ShapeletClassifier, ROWS[:, :20], np.zeros(24), {}),
        (ShapeletClassifier, ROWS[:, :20], CODES[:5], {}),
        (ShapeletTransformer, np.full((24, 7), np.nan), CODES, {}),
        (ShapeletClassifier, np.ones((24, 3, 7)), np.full(24, np.nan), {}),
        (ShapeletTransformer, ROWS[:, :20], [None] * 24, {}),
        (ShapeletClassifier, ROWS[:, :20], CODES, {"n_shapelets": 0}),
        (ShapeletTransformer, ROWS[:, :20], CODES, {"head": nn.Linear(1, 1)}),
        (ShapeletClassifier, ROWS[:, :20], CODES, {"learning_rate": 1e3, "gamma": 1e38}),
    ],
)
def test_a_failed_fit_keeps_the_earlier_model(estimator, X, y, parameters):
    model = estimator(**SMALL).fit(pd.DataFrame(ROWS).rename(columns=str), CODES)
    frame = pd.DataFrame(ROWS).rename(columns=str)
    before, expected = dict(vars(model)), model.transform(frame)
    model.set_params(**parameters)
    with pytest.raises(ValueError):
        model.fit(X, y)
    model.set_params(**SMALL)
    assert vars(model).keys() == before.keys()
    assert model.n_features_in_ == 30
    np.testing.assert_array_equal(model.transform(frame), expected)


def test_an_estimator_that_never_was_fitted_stays_so_when_it_fails():
    model = ShapeletClassifier(**SMALL)
    before = dict(vars(model))
    with pytest.raises(ValueError):
        model.fit(ROWS, np.zeros(24))
    assert vars(model) == before


# ------------------------------------------------------------------ bad input


NAN_AT_4 = np.where(np.arange(24) == 4, np.nan, CODES)


def hold(*items):
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array


def assert_refused(X, y, refusals, estimator=ShapeletClassifier):
    """Each of the targets, or series, is refused with the message beside it."""
    for wrong, message in refusals:
        with pytest.raises(ValueError, match=message):
            fitted(wrong if X is None else X, wrong if y is None else y, estimator)


def test_bad_labels():
    refusals = [
        (np.full(24, "a"), "at least two classes; y has one class, .*'a'"),
        (CODES[:23], "X has 24 series, y 23"),
        (NAN_AT_4, "that of series 4 is missing"),
        (hold(*["a"] * 12, None, *["b"] * 11), "that of series 12 is missing"),
        (pd.Series([*["a"] * 12, pd.NA, *["b"] * 11], dtype="string"), "series 12 is missing"),
        (pd.array([*[1] * 12, pd.NA, *[2] * 11], dtype="Int64"), "series 12 is missing"),
        (np.array([*["2020"] * 12, "NaT", *["2021"] * 11], "M8[Y]"), "series 12 is missing"),
        (hold(*["a", 1] * 12), "labels must be of one type; got int and str"),
        (CODES + 0.5 * np.arange(24) / 24, "continuous"),
        (np.stack([CODES, CODES + 1], axis=1), "y of several columns must hold labels"),
    ]
    assert_refused(UNIVARIATE, None, refusals)
    with pytest.raises(ValueError, match="y is None"):
        fitted(UNIVARIATE, None)


def test_bad_numbers():
    refusals = [
        (NAN_AT_4, "that of series 4 is missing"),
        (np.where(np.arange(24) == 4, -np.inf, CODES), "finite; got -inf for series 4"),
        (np.array(["a", "b"])[CODES], "must be numbers .*ShapeletClassifier"),
        (np.array(["2020", "NaT"], "M8[Y]")[CODES], "that of series 1 is missing"),
        (CODES[:3], "X has 24 series, y 3"),
    ]
    assert_refused(UNIVARIATE, None, refusals, ShapeletRegressor)
    with pytest.raises(ValueError, match="y is None"):
        fitted(UNIVARIATE, None, ShapeletRegressor)


def test_the_transformer_names_the_series_too():
    with pytest.raises(ValueError, match="that of series 4 is missing"):
        fitted(UNIVARIATE, NAN_AT_4, ShapeletTransformer)


def with_nan(i):
    X = UNIVARIATE.copy()
    X[i] = np.nan
    return X


def with_infinity(i):
    X = UNIVARIATE.copy()
    X[i, 0, 3] = np.inf
    return X


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_bad_series(estimator):
    refusals = [
        ([], "at least one series"),
        (np.empty((0, 1, 5)), "at least one series"),
        (np.empty((0, 5)), "0 sample"),
        (np.empty((24, 1, 0)), "series 0 has no times"),
        (with_nan(7), "series 7 has no observation"),
        (with_nan(7)[:, 0], "series 7 has no observation"),
        (with_infinity(7), "series 7 must be finite"),
        (np.ones((24, 1, 1)), "every series has a single time"),
        (np.ones((24, 2, 3, 4)), "dim 4"),
        ([np.ones((1, 5))] * 23 + [np.ones((2, 5))], "series 23 has 2, others have 1"),
        ([1.0, 2.0], "2D"),
    ]
    assert_refused(None, CODES, refusals, estimator)
    with pytest.raises(ValueError, match="scalar"):
        fitted(None, CODES, estimator)


def test_text_is_no_series():
    with pytest.raises(TypeError, match="real numbers"):
        fitted(np.full((24, 1, 5), "a"), CODES)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_before_fit(estimator):
    model = estimator()
    names = ["transform", "predict", "predict_proba", "decision_function"]
    for use in (name for name in names if hasattr(estimator, name)):
        with pytest.raises(NotFittedError, match=f"{estimator.__name__} .* not fitted"):
            getattr(model, use)(UNIVARIATE)
    with pytest.raises(NotFittedError):
        model.save("nowhere")
    for name in ("shapelets_", "lengths_", "metric_"):
        assert not hasattr(model, name)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.ones((3, 2, 30)), "X has 2 channels, but ShapeletClassifier was fitted on 1"),
        (with_nan(2), "series 2 has no observation"),
        ([], "at least one series"),
    ],
)
def test_bad_series_to_predict(X, message, from_array):
    with pytest.raises(ValueError, match=message):
        from_array.predict(X)


def test_another_number_of_columns_is_another_table():
    with pytest.raises(ValueError, match="X has 12 features, but ShapeletClassifier .* 30"):
        fitted(ROWS, CODES).predict(ROWS[:, :12])


def test_a_series_shorter_than_every_shapelet():
    model = fitted(UNIVARIATE, CODES, initial_length=(0.5, 0.8), max_epochs=2)
    X = [UNIVARIATE[0], UNIVARIATE[1][:, :4]]
    shortest = f"{model.lengths_.min():g}"
    with pytest.raises(ValueError, match=f"series 1 spans 3, less than every .*{shortest} long"):
        model.predict(X)
    held = [UNIVARIATE[0], np.concatenate([X[1], np.repeat(X[1][:, -1:], 26, axis=1)], axis=1)]
    model.set_params(short_series="hold")
    assert model.predict(X).shape == (2,)
    assert np.isfinite(model.transform(X)).all()
    # Compared from its first time on, held: no better than the best place in the held series.
    assert (model.transform(held)[1] <= model.transform(X)[1] * (1 + 1e-5)).all()


BAD = {
    "n_shapelets": (0, -1, 2.0, "3", True),
    "n_knots": (1, 2.5, [4]),
    "max_epochs": (0, 1.5, "many"),
    "batch_size": (0, 0.5, False),
    "initial_length": (0, 1.5, (0.5, 0.2), (0.1,), "long", np.nan),
    "discrepancy": ("L2", 2, nn.Linear(1, 1), L2Discrepancy),
    "minimum": ("least", 2, nn.Linear(1, 1), Minimum),
    "initial": ("best", 3, True),
    "learn": ("metric", None),
    "metric": ("euclidean", None),
    "shared_metric": ("yes", 2),
    "level_free": (-0.1, 1.1, "half", np.nan, True),
    "scale_free": (-0.1, 1.1, "half", np.nan, True),
    "gamma": (-1e-9, np.nan, np.inf, "weak"),
    "learning_rate": (0, -0.1, np.nan, np.inf, "fast"),
    "search": ("fast", None, "convolution"),
    "procedure": ("papers", None),
    "short_series": ("drop", True),
    "head": (nn.Linear, "linear"),
    "checkpoint_interval": (-1, None, np.nan),
    "max_time": (0, -1.0, np.nan, np.inf, True, "", "soon", "-3s", "5 min and more", [60]),
    "n_jobs": (0, 1.5, "all"),
    "device": ("gpu", 3.5),
    "verbose": (-1, None, "yes"),
    "class_weight": ("even", [1, 2]),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_parameters(name):
    for value in BAD[name]:
        got = re.escape(repr(value))
        message = f"The '{name}' parameter of ShapeletClassifier must be .*Got {got} instead"
        with pytest.raises(ValueError, match=message):
            ShapeletClassifier(**{name: value}).fit(UNIVARIATE, CODES)


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"random_state": "seed"}, ValueError, "'seed' cannot be used to seed"),
        ({"checkpoint": 3}, TypeError, "os.PathLike object, not int"),
        ({"class_weight": {0: -1.0}}, ValueError, "class_weight must be numbers of at least 0"),
        ({"class_weight": {0: np.nan}}, ValueError, "class_weight must be numbers of at least 0"),
        ({"class_weight": {0: 0, 1: 0}}, ValueError, "not all 0"),
        *[
            ({"discrepancy": kind, "search": search}, ValueError, "'auto' or 'grid' if the discr")
            for kind, search in (("classical", "exact"), (ClassicalDiscrepancy(), "refined"))
        ],
        *[
            (
                {"discrepancy": kind, share: 0.5},
                ValueError,
                "None if no shapelets are compared by L2",
            )
            for kind in ("dtw", "logsignature", "classical", {"dtw": 1, "logsignature": 1})
            for share in ("level_free", "scale_free")
        ],
        (
            {"discrepancy": "classical", "metric": "full"},
            ValueError,
            "classical, which learns none",
        ),
        (
            {"discrepancy": "classical", "interpolation": "constant"},
            ValueError,
            "'linear' if the discrepancy is classical",
        ),
        (
            {"discrepancy": "mfc", "interpolation": "cubic"},
            ValueError,
            "'linear' if the discrepancy is 'mfc'",
        ),
        ({"n_shapelet": 3}, TypeError, "n_shapelet"),
    ],
)
def test_other_bad_parameters(parameters, error, message):
    with pytest.raises(error, match=message):
        ShapeletClassifier(**parameters).fit(UNIVARIATE, CODES)


@pytest.mark.parametrize("estimator", [ShapeletClassifier, ShapeletRegressor])
@pytest.mark.parametrize("size", [1e308, 1e-320])
def test_weights_of_any_size(estimator, size):
    weight = np.full(len(CODES), size)
    model = estimator(**SMALL).fit(UNIVARIATE, CODES, sample_weight=weight)
    np.testing.assert_allclose(
        model.transform(UNIVARIATE), estimator(**SMALL).fit(UNIVARIATE, CODES).transform(UNIVARIATE)
    )
    weight[1::2] = 1.0  # some count as nothing beside others
    assert np.isfinite(
        estimator(**SMALL).fit(UNIVARIATE, CODES, sample_weight=weight).predict(UNIVARIATE)
    ).all()


def test_bad_sample_weights():
    for weight, message in (
        (np.zeros(24), "all are 0|non-zero"),
        (-np.ones(24), "[Nn]egative"),
        (np.full(24, np.nan), "NaN"),
        (np.ones(23), "sample_weight"),
        (CODES, "one class"),
    ):
        with pytest.raises(ValueError, match=message):
            ShapeletClassifier(**SMALL).fit(UNIVARIATE, CODES, weight)


def test_divergence_is_an_error_not_a_model():
    with pytest.raises(ValueError, match="diverged.* Lower"):
        fitted(UNIVARIATE, CODES, ShapeletRegressor, learning_rate=1e3, gamma=1e38, max_epochs=50)


def test_a_small_fit_warns_of_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for estimator in ESTIMATORS:
            fitted(UNIVARIATE, CODES, estimator, max_epochs=2).transform(UNIVARIATE)


# ------------------------------------------------------------------ numbers that cannot be judged


@pytest.fixture(scope="module")
def of_bumps():
    """A model of each kind, fitted to the same series."""
    X, y = bumps(n_times=20)
    settings = SMALL | {"max_epochs": 2}
    return X, [
        ShapeletClassifier(**settings).fit(X, y),
        ShapeletClassifier(procedure="paper", **settings).fit(X, y),
        ShapeletRegressor(discrepancy="dtw", **settings).fit(X, 1.0 + y),
    ]


@pytest.mark.parametrize("value", [1e17, 1e39, 1e155, -1e308])
def test_values_too_far_from_those_of_the_training_are_refused(value, of_bumps):
    X, models = of_bumps
    X = X[:8].copy()
    X[5, 0, 3:] = value
    for model in models:
        for use in (model.predict, model.transform, model.explain):
            with pytest.raises(
                ValueError, match=r"series 5 cannot be judged: its values, up to 1e\+"
            ):
                use(X)
    ids = RaggedSeries.from_arrays(X, series_ids=list("abcdefgh"))
    with pytest.raises(ValueError, match=r"series 5 \(id f\) cannot be judged"):
        models[0].predict(ids)


def test_a_series_beyond_the_first_thousands_is_named(of_bumps, monkeypatch):
    monkeypatch.setattr("genshapelets.estimators.base.CHUNK", 4)
    X, (model, *_) = of_bumps
    X = X[:8].copy()
    X[6, 0, 0] = 1e39
    with pytest.raises(ValueError, match=r"\(id 6\) cannot be judged"):
        model.predict(X)


def test_large_values_are_judged(of_bumps):
    X, models = of_bumps
    X = X[:8].copy()
    X[5, 0, 3:] = 1e9
    assert np.isfinite(models[0].predict_proba(X)).all()


def test_numbers_beyond_all_are_not_predicted(of_bumps):
    X, (*_, model) = of_bumps
    model = copy.copy(model)
    model.target_scale_ = 1e308
    X = X[:8].copy()
    X[5, 0, 3:] = 1e14
    with pytest.raises(ValueError, match="series 5 cannot be judged"):
        model.predict(X)


def test_a_series_held_out_that_cannot_be_judged_ends_the_fit():
    X, y = bumps(n_times=20)
    refused = []
    for n in range(len(X)):  # those that are trained on are in the scale of the channel
        wild = X.copy()
        wild[n] *= 1e39
        try:
            model = fitted(wild, y, procedure="paper", max_epochs=1)
        except ValueError as error:
            refused.append((n, str(error)))
        else:
            assert np.isfinite(model.predict_proba(wild)).all()
    assert 0 < len(refused) < len(X) / 2
    assert all(said.startswith(f"series {n} cannot be judged") for n, said in refused)
