"""Learning: a shape hidden in irregular noise is found, and odd settings work or are refused."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from problems import SERIES

from genshapelets import RaggedSeries, ShapeletClassifier, ShapeletRegressor, ShapeletTransformer
from genshapelets.datasets import planted_pattern

# ------------------------------------------------------------------ a planted shape

SIZES = {"n_times": (60, 80)}


def weightiest(model, series):
    """The shapelet whose nearness speaks most for class 1: weight times the feature's deviation."""
    weight, _ = model.model_.linear()
    features = model.model_.features(model.model_.transform(model.model_.paths(series)).discrepancy)
    return int((weight[0].numpy() * features.numpy().std(axis=0)).argmin())


def likeness(values, truth):
    """Correlation of two shapes, each drawn over [0, 1]."""
    u = np.linspace(0.0, 1.0, 401)
    drawn = [np.interp(u, np.linspace(0.0, 1.0, len(shape)), shape) for shape in (values, truth)]
    return np.corrcoef(drawn)[0, 1]


@pytest.mark.parametrize("seed", [0, 1])
def test_a_hidden_shape_is_recovered(seed):
    planted = planted_pattern(200, random_state=seed, **SIZES)
    fresh = planted_pattern(200, random_state=100 + seed, **SIZES)
    # Shapelets start as centres of windows of all series, 0.7 to 1.7 times as long as the shape. With
    # a third of them every other start misses it; with more, several share the work.
    model = ShapeletClassifier(
        procedure="paper", n_shapelets=30, initial_length=(0.25, 0.6), metric="none",
        batch_size=20, max_epochs=50, random_state=seed, n_jobs=1,
    ).fit(planted.series, planted.labels)  # fmt: skip
    k = weightiest(model, planted.series)
    assert likeness(model.shapelets_[k, 0], planted.patterns[0]) > 0.95
    assert model.lengths_[k] == pytest.approx(planted.length, rel=0.1)
    assert model.score(fresh.series, fresh.labels) > 0.95


def test_the_default_procedure_classifies_it():
    planted = planted_pattern(150, n_channels=2, channel=1, missing=0.1, random_state=0, **SIZES)
    fresh = planted_pattern(150, n_channels=2, channel=1, missing=0.1, random_state=1, **SIZES)
    model = ShapeletClassifier(
        n_shapelets=60, max_epochs=30, batch_size=32, random_state=0, n_jobs=1
    ).fit(planted.series, planted.labels)
    assert model.score(fresh.series, fresh.labels) > 0.95


def test_its_height_is_learnt():
    planted, fresh = (
        planted_pattern(400, height=(0.2, 2.0), random_state=seed, **SIZES) for seed in (0, 1)
    )
    there, here = planted.labels == 1, fresh.labels == 1
    model = ShapeletRegressor(
        n_shapelets=40, initial_length=(0.2, 0.5), max_epochs=60, batch_size=25, learning_rate=0.05,
        random_state=0, n_jobs=1,
    ).fit(planted.series[there], planted.heights[there])  # fmt: skip
    assert model.score(fresh.series[here], fresh.heights[here]) > 0.9


# ------------------------------------------------------------------ anything goes, or says why not

lengths = st.floats(0.01, 1.0)
parameters = st.fixed_dictionaries(
    {"n_shapelets": st.integers(1, 5), "max_epochs": st.integers(1, 2)},
    optional={
        "n_knots": st.integers(2, 9),
        "initial_length": lengths | st.tuples(lengths, lengths),
        "discrepancy": st.sampled_from(["l2", "classical"]),
        "metric": st.sampled_from(["none", "diagonal", "full"]),
        "shared_metric": st.booleans(),
        "level_free": st.floats(0.0, 1.0),
        "scale_free": st.floats(0.0, 1.0),
        "gamma": st.sampled_from([0.0, 1e-4, 10.0, 1e30]),
        "search": st.sampled_from(["grid", "exact"]),
        "procedure": st.sampled_from(["default", "paper"]),
        "batch_size": st.integers(1, 6),
        "learning_rate": st.sampled_from([1e-6, 0.05, 10.0, 1e3, 1e20]),
        "short_series": st.sampled_from(["error", "hold"]),
    },
)
estimators = st.sampled_from([ShapeletClassifier, ShapeletRegressor, ShapeletTransformer])
kinds = st.sampled_from([*SERIES, "huge", "tiny", "constant", "rows"])


def make_series(kind, n_channels, seed):
    rng = np.random.default_rng(seed)
    if kind in SERIES:
        return SERIES[kind](rng, n_channels=n_channels)
    if kind == "rows":
        return rng.normal(size=(6, 9))
    scale = {"huge": 1e300, "tiny": 1e-300, "constant": 0.0}[kind]
    return scale * rng.normal(size=(6, n_channels, 9))


@given(estimators, parameters, kinds, st.integers(1, 3), st.integers(2, 3), st.integers(0, 9))
@settings(
    max_examples=40, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
def test_fit_and_predict_work_or_say_why_not(estimator, chosen, kind, n_channels, n_classes, seed):
    X = make_series(kind, n_channels, seed)
    y = np.arange(len(X)) % n_classes
    if estimator is ShapeletRegressor:
        y = y * 10.0 ** (30 * seed - 150)
    model = estimator(random_state=seed, n_jobs=1, **chosen)
    try:
        model.fit(X, y)
        discrepancy = model.transform(X)
    except ValueError as error:
        reasons = ("diverged", "must be", "regularly", "spans", "huge")
        if not any(reason in str(error) for reason in reasons):
            raise
        return
    assert discrepancy.shape == (len(X), chosen["n_shapelets"])
    assert np.isfinite(discrepancy).all() and (discrepancy >= 0).all()
    assert (model.lengths_ > 0).all() and np.isfinite(model.shapelets_).all()
    if estimator is not ShapeletTransformer:
        assert model.predict(X).shape == (len(X),)
    if estimator is ShapeletRegressor:
        assert np.isfinite(model.predict(X)).all()
    if estimator is ShapeletClassifier:
        np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0, rtol=1e-6)
        assert np.isin(model.predict(X), model.classes_).all()
    assert len(model.history_["loss"]) == model.n_iter_
    some = X[:2] if isinstance(X, np.ndarray) else X[[0, 1]]
    np.testing.assert_allclose(model.transform(some), discrepancy[:2], rtol=1e-4, atol=1e-4)


def test_series_join_and_part_without_effect():
    """Predictions of a batch are those of its parts."""
    rng = np.random.default_rng(0)
    X = SERIES["ragged"](rng)
    model = ShapeletClassifier(
        n_shapelets=5, max_epochs=3, random_state=0, n_jobs=1, short_series="hold"
    ).fit(X, np.arange(len(X)) % 2)
    parts = RaggedSeries.concatenate([X[5:], X[:5]])
    whole, swapped = model.decision_function(X), model.decision_function(parts)
    np.testing.assert_allclose(np.roll(whole, -5), swapped, rtol=1e-5, atol=1e-6)
