"""The classes for aeon: its own checks, its pipelines and searches, and the same answers as ours."""

import pickle

import numpy as np
import pytest

pytest.importorskip("aeon")

from aeon.classification.compose import ClassifierEnsemble
from aeon.pipeline import make_pipeline
from aeon.testing.estimator_checking import parametrize_with_checks
from aeon.testing.estimator_checking._yield_multithreading_checks import (
    check_estimator_multithreading,
)
from aeon.testing.testing_data import _get_datatypes_for_estimator
from aeon.transformations.collection import Normalizer
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score

import genshapelets
from genshapelets.aeon import ShapeletClassifier, ShapeletRegressor, ShapeletTransformer

CLASSES = [ShapeletClassifier, ShapeletRegressor, ShapeletTransformer]
SMALL = {"n_shapelets": 4, "max_epochs": 5, "random_state": 0}


def bumps(n_series=24, unequal=False, missing=False):
    """Series of two channels; every second has a bump in the first."""
    random = np.random.default_rng(0)
    lengths = random.integers(25, 40, n_series) if unequal else np.full(n_series, 30)
    X = [random.normal(scale=0.2, size=(2, length)) for length in lengths]
    for x in X[1::2]:
        x[0, 8:16] += 2.0
    if missing:
        for x in X:
            x[random.random(x.shape) < 0.2] = np.nan
    y = np.array(["none", "bump"] * (n_series // 2))
    return (X if unequal else np.stack(X)), y


@parametrize_with_checks(CLASSES)
def test_checks_of_aeon(check):
    check()


@pytest.mark.parametrize("kind", CLASSES)
def test_threads_change_nothing_by_aeons_check(kind):
    model = kind._create_test_instance()
    check_estimator_multithreading(model, _get_datatypes_for_estimator(model)[0])


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("unequal", [False, True])
def test_classifies_as_our_classifier_does(unequal, missing):
    X, y = bumps(unequal=unequal, missing=missing)
    ours = genshapelets.ShapeletClassifier(**SMALL).fit(X[:16], y[:16])
    model = ShapeletClassifier(**SMALL).fit(X[:16], y[:16])
    np.testing.assert_array_equal(model.classes_, ours.classes_)
    np.testing.assert_array_equal(model.predict_proba(X[16:]), ours.predict_proba(X[16:]))
    np.testing.assert_array_equal(model.predict(X[16:]), ours.predict(X[16:]))
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X[16:]), ours.predict_proba(X[16:]))


def test_regresses_and_transforms_as_ours_do():
    X, y = bumps(unequal=True, missing=True)
    number = np.array([np.nanmax(x) for x in X])
    ours = genshapelets.ShapeletRegressor(**SMALL).fit(X, number)
    np.testing.assert_array_equal(
        ShapeletRegressor(**SMALL).fit(X, number).predict(X), ours.predict(X)
    )
    for target in (None, y, number):
        ours = genshapelets.ShapeletTransformer(**SMALL).fit(X, target)
        theirs = ShapeletTransformer(**SMALL).fit(X, target)
        np.testing.assert_array_equal(theirs.transform(X), ours.transform(X))


def test_pipeline_of_several_channels():
    X, y = bumps()
    pipeline = make_pipeline(Normalizer(), ShapeletClassifier(**SMALL))
    assert pipeline.fit(X[:16], y[:16]).score(X[16:], y[16:]) == 1.0
    assert isinstance(pipeline.steps_[-1][1].estimator_, genshapelets.ShapeletClassifier)


def test_pipeline_of_series_of_unequal_length_with_missing_values():
    X, y = bumps(unequal=True, missing=True)
    pipeline = make_pipeline(ShapeletTransformer(**SMALL), RandomForestClassifier(random_state=0))
    assert pipeline.fit(X[:16], y[:16]).score(X[16:], y[16:]) == 1.0


def test_ensemble_of_aeon():
    X, y = bumps()
    ensemble = ClassifierEnsemble([("few", ShapeletClassifier(**SMALL | {"n_shapelets": 2}))])
    assert ensemble.fit(X, y).predict_proba(X).shape == (len(X), 2)


def test_grid_search_of_several_channels():
    X, y = bumps()
    search = GridSearchCV(ShapeletClassifier(**SMALL), {"n_shapelets": [2, 3]}, cv=2)
    best = search.fit(X, y).best_estimator_
    assert best.estimator_.shapelets_.shape[:2] == (search.best_params_["n_shapelets"], 2)
    pipeline = make_pipeline(Normalizer(), ShapeletClassifier(**SMALL))
    scores = cross_val_score(pipeline, X, y, cv=2, error_score="raise")
    assert scores.shape == (2,)


@pytest.mark.parametrize("kind", CLASSES)
def test_parameters_are_those_of_our_estimator(kind):
    ours = getattr(genshapelets, kind.__name__)
    assert kind().get_params() == ours(n_jobs=1).get_params()
    given = ours(n_shapelets=3, interpolation="cubic").get_params()
    assert clone(kind(**given)).get_params() == given
    assert kind().set_params(n_shapelets=7).n_shapelets == 7
    with pytest.raises(TypeError, match="n_shapelet"):
        kind(n_shapelet=3)


def test_what_was_fitted_can_be_explained_reported_and_saved(tmp_path):
    pytest.importorskip("safetensors")
    X, y = bumps()
    model = ShapeletClassifier(**SMALL).fit(X, y)
    np.testing.assert_array_equal(model.estimator_.explain(X).predicted, model.predict(X))
    assert model.estimator_.report(tmp_path / "report.html", X, y).exists()
    model.estimator_.save(tmp_path / "model.safetensors")
    loaded = genshapelets.load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def test_other_numbers_of_channels_are_refused():
    X, y = bumps()
    model = ShapeletClassifier(**SMALL).fit(X, y)
    with pytest.raises(ValueError, match="channels"):
        model.predict(X[:, :1])


def test_wrong_parameters_are_refused_on_fitting():
    X, y = bumps()
    with pytest.raises(ValueError, match="'n_shapelets' parameter of ShapeletClassifier"):
        ShapeletClassifier(n_shapelets=-1).fit(X, y)
