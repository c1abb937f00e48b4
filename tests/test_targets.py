"""Targets beyond one class of many series: rare classes, several numbers, labels, ensembles."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import (
    BaggingClassifier,
    BaggingRegressor,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier, MultiOutputRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from test_estimators import SMALL, bumps, fitted

from genshapelets import (
    RaggedSeries,
    ShapeletClassifier,
    ShapeletRegressor,
    explain_model,
    interpretability,
)
from genshapelets.estimators.goals import Goal

X, CODES = bumps()
ONE_RARE = np.where(np.arange(24) == 4, "rare", np.array(["a", "b"])[CODES])

# ------------------------------------------------------------------ a class of one series


@pytest.mark.parametrize("procedure", ["default", "paper", "learning_shapelets"])
def test_a_class_of_one_series_is_learnt_with_a_warning(procedure):
    with pytest.warns(UserWarning, match="class 'rare' has one series only"):
        model = fitted(X, ONE_RARE, procedure=procedure, class_weight="balanced")
    assert model.classes_.tolist() == ["a", "b", "rare"]
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    learnt = explain_model(model, X, ONE_RARE)
    assert learnt.ranking().shape == (3, 6)
    assert interpretability(model, X, ONE_RARE).n_classes == 3


def test_a_class_of_one_series_takes_part_in_every_start():
    with pytest.warns(UserWarning, match="one series only"):
        for initial in ("search", "kmeans"):
            assert fitted(X, ONE_RARE, initial=initial, max_epochs=2).n_iter_ == 2


def test_every_class_may_have_one_series():
    with pytest.warns(UserWarning, match="classes 0, 1, 2 have one series only"):
        model = fitted(X[:3], [0, 1, 2], procedure="paper", max_epochs=3)
    assert "validation_loss" not in model.history_
    with pytest.warns(UserWarning, match="classes 0, 1, .* and 15 more have"):
        fitted(X, np.arange(24), max_epochs=1)


def test_a_class_of_one_series_is_never_held_out():
    codes = np.repeat([0, 1, 2], [30, 1, 9])
    goal = Goal(codes, np.ones(40), 3)
    for seed in range(20):
        training, held_out = goal.split(0.25, np.random.default_rng(seed))
        assert set(codes[training]) == {0, 1, 2} and 30 not in held_out
    alone = Goal(np.arange(3), np.ones(3), 3)
    assert [len(part) for part in alone.split(0.25, np.random.default_rng(0))] == [3, 0]


def test_a_size_is_chosen_although_a_class_has_one_series():
    many, codes = bumps(401, n_times=12)
    y = np.where(np.arange(401) == 7, 2, codes)
    with pytest.warns(UserWarning, match="class 2 has one series only"):
        model = ShapeletClassifier(max_epochs=6, random_state=0, n_jobs=1).fit(many, y)
    assert np.isfinite(model.path_.loss).all() and len(model.classes_) == 3


def test_two_series_of_a_class_are_enough_to_say_nothing():
    y = np.where(np.isin(np.arange(24), [4, 5]), 2, CODES)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted(X, y, max_epochs=1)
    with pytest.raises(ValueError, match="y has one class"):
        fitted(X, np.zeros(24))


# ------------------------------------------------------------------ ensembles of scikit-learn

ROWS, SERIES = X[:, 0], RaggedSeries.from_arrays(X)
POSITIONS = np.arange(24)[:, None]
TINY = SMALL | {"n_shapelets": 4, "max_epochs": 10}


def picked(positions):
    return SERIES[positions[:, 0]]


def test_bagging_takes_rows():
    """Bags weigh series by how often they are drawn: 0 leaves them out."""
    bags = BaggingClassifier(ShapeletClassifier(**TINY), n_estimators=3, random_state=0)
    bags.fit(ROWS, np.array(["a", "b"])[CODES])
    assert bags.score(ROWS, np.array(["a", "b"])[CODES]) > 0.8
    weight = np.bincount(bags.estimators_samples_[0], minlength=24)
    alone = clone(bags.estimators_[0]).fit(ROWS, CODES, weight)
    np.testing.assert_array_equal(
        alone.predict_proba(ROWS), bags.estimators_[0].predict_proba(ROWS)
    )
    numbers = BaggingRegressor(ShapeletRegressor(**TINY), n_estimators=2, random_state=0)
    assert numbers.fit(ROWS, 1.0 * CODES).score(ROWS, CODES) > 0


@pytest.mark.filterwarnings("ignore:class")
def test_a_bag_may_lack_a_class():
    y = np.where(np.arange(24) == 4, 2, CODES)
    bags = BaggingClassifier(ShapeletClassifier(**TINY), n_estimators=4, random_state=0)
    bags.fit(ROWS, y)
    assert {len(one.classes_) for one in bags.estimators_} == {2, 3}
    assert bags.predict_proba(ROWS).shape == (24, 3)


def test_bagging_takes_other_series_by_their_positions():
    """It makes X an array of two dimensions, which other series are not."""
    for other in (X, SERIES):
        with pytest.raises(ValueError):
            BaggingClassifier(ShapeletClassifier(**TINY)).fit(other, CODES)
    of_series = make_pipeline(FunctionTransformer(picked), ShapeletClassifier(**TINY))
    bags = BaggingClassifier(of_series, n_estimators=3, random_state=0).fit(POSITIONS, CODES)
    assert bags.score(POSITIONS, CODES) > 0.8


@pytest.mark.parametrize("series", [X, SERIES, ROWS], ids=["array", "ragged", "rows"])
def test_other_ensembles_take_any_series(series):
    classifier, regressor = ShapeletClassifier(**TINY), ShapeletRegressor(**TINY)
    pair = [("one", classifier), ("other", clone(classifier).set_params(random_state=1))]
    for ensemble in (
        VotingClassifier(pair, voting="soft"),
        StackingClassifier(pair, cv=2),
        CalibratedClassifierCV(classifier, cv=2),
        OneVsRestClassifier(classifier),
    ):
        assert ensemble.fit(series, CODES).score(series, CODES) > 0.8
    two = np.stack([CODES, 1.0 - CODES], axis=1)
    assert MultiOutputRegressor(regressor).fit(series, two).predict(series).shape == (24, 2)
    labels = MultiOutputClassifier(classifier).fit(series, two.astype(int))
    assert labels.score(series, two) > 0.8
