"""Discrepancies, families, interpolations, minima and starts, over each other, in the estimators."""

import warnings

import numpy as np
import pytest
from pairwise import pairwise
from sklearn.base import clone

from genshapelets import (
    GeneralisedShapeletTransform,
    MixedDiscrepancy,
    RaggedSeries,
    ShapeletClassifier,
    ShapeletRegressor,
    ShapeletTransformer,
    load,
)
from genshapelets.interpolation import INTERPOLATIONS
from genshapelets.kinds import DISCREPANCIES, _counts
from genshapelets.minimum import MINIMA
from genshapelets.shapelets import FAMILIES

KINDS = [name for name in DISCREPANCIES if name not in ("classical", "mfc")]
SEVERAL = {"l2": 2, "logsignature": 1, "dtw": 1}


def bumps(irregularly, n_series=12, n_channels=2):
    """Series with and without a bump, some values missing, on the same times or on their own."""
    rng = np.random.default_rng(0)
    values, times = [], []
    for n in range(n_series):
        t = np.arange(20.0)
        if irregularly:
            t = np.sort(rng.uniform(0.0, 19.0, rng.integers(16, 21)))
        x = rng.normal(scale=0.1, size=(n_channels, len(t)))
        x[0] += (n % 2) * np.exp(-(((t - 9.0) / 2.0) ** 2))
        if irregularly:
            x[rng.random(x.shape) < 0.1] = np.nan
        values.append(x)
        times.append(t)
    return RaggedSeries.from_arrays(values, times), np.arange(n_series) % 2


CHOICES = pairwise(
    [*KINDS, SEVERAL], list(FAMILIES), list(INTERPOLATIONS), list(MINIMA),
    ["windows", "kmeans", "search"], ["all", "head"], [False, True],
)  # fmt: skip


@pytest.mark.parametrize(
    ("discrepancy", "family", "interpolation", "minimum", "initial", "learn", "irregularly"), CHOICES,
    ids=str,
)  # fmt: skip
def test_every_two_choices_go_together(
    discrepancy, family, interpolation, minimum, initial, learn, irregularly, tmp_path
):
    """Fitted, saved, loaded, explained; one by one as in a batch."""
    X, y = bumps(irregularly)
    model = ShapeletClassifier(
        n_shapelets=4, n_knots=9, max_epochs=2, initial_length=(0.2, 0.4), discrepancy=discrepancy,
        shapelets=family, interpolation=interpolation, minimum=minimum, initial=initial, learn=learn,
        random_state=0,
    )  # fmt: skip
    model.fit(X, y)
    probability = model.predict_proba(X)
    assert np.isfinite(probability).all()
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(X), probability)
    for name in ("shapelets", "interpolation", "minimum", "initial", "learn", "discrepancy"):
        assert getattr(again, name) == getattr(model, name)
    one = model.predict_proba(X[[3]])
    np.testing.assert_allclose(one, probability[[3]], rtol=1e-5, atol=1e-6)
    explanation = model.explain(X[:3])
    parts = explanation.contributions().sum(axis=-1) + explanation.bias
    np.testing.assert_allclose(parts, explanation.answers, rtol=1e-9, atol=1e-9)
    assert explanation.matches.window(0, 1).path.shape[0] == 2
    assert clone(model).get_params().keys() == model.get_params().keys()


@pytest.mark.parametrize("estimator", [ShapeletRegressor, ShapeletTransformer])
def test_the_other_estimators_have_them_too(estimator, tmp_path):
    X, _ = bumps(irregularly=True)
    y = np.array([np.nanmax(X[n].values[0]) for n in range(len(X))])
    model = estimator(
        discrepancy=SEVERAL, shapelets="legendre", interpolation="gaussian_process", minimum="soft",
        initial="search", n_shapelets=5, max_epochs=2, random_state=0,
    ).fit(X, y)  # fmt: skip
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(load(tmp_path / "model").transform(X), model.transform(X))


def test_each_kind_has_its_share():
    X, y = bumps(irregularly=False)
    model = ShapeletClassifier(discrepancy=SEVERAL, n_shapelets=9, max_epochs=1, random_state=0)
    learnt = model.fit(X, y).model_.transform.discrepancy
    assert isinstance(learnt, MixedDiscrepancy) and learnt.counts == [4, 3, 2]
    assert learnt.titles(9) == ["L2"] * 4 + ["log-signature"] * 3 + ["dynamic time warping"] * 2
    # What does not grow with the length is not divided by it.
    units = model.model_.units()
    np.testing.assert_array_equal(units[4:7], 1.0)
    np.testing.assert_allclose(units[:4] ** 2, model.lengths_[:4], rtol=1e-6)
    assert _counts([1, 1], 2) == [1, 1] and _counts([100, 1, 1], 3) == [1, 1, 1]
    assert _counts([0.5, 0.5], 7) == [4, 3] or _counts([0.5, 0.5], 7) == [3, 4]


def test_a_mixed_discrepancy_is_the_parts_side_by_side():
    X, _ = bumps(irregularly=True)
    both = ShapeletTransformer(discrepancy={"l2": 1, "dtw": 1}, n_shapelets=6, random_state=0).fit(
        X
    )
    transform = both.model_.transform
    paths = both.model_.paths(X)
    whole = transform(paths)
    for part, own in transform.discrepancy.shares():
        alone = GeneralisedShapeletTransform.from_shapelets(
            transform.shapelets.values[own], transform.shapelets.lengths[own], discrepancy=part
        )(paths)
        got, want = (x.discrepancy.detach() for x in (whole, alone))
        np.testing.assert_allclose(got[:, own], want, rtol=1e-5)


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        (
            {"discrepancy": "l3"},
            r"'discrepancy'.* one of 'l2', 'logsignature', 'dtw', 'mfc', 'class",
        ),
        ({"discrepancy": {}}, "'discrepancy'"),
        ({"discrepancy": {"l2": 0}}, "'discrepancy'"),
        ({"discrepancy": {"l2": 1, "l3": 1}}, "a dict of several of them with their shares"),
        ({"discrepancy": {"l2": 1, "classical": 1}}, "without 'classical' if there are several"),
        ({"discrepancy": SEVERAL, "n_shapelets": 2}, "2 shapelets cannot be shared by 3"),
        ({"discrepancy": "dtw", "search": "exact"}, 'not known for DTWDiscrepancy. Use "refined"'),
        ({"interpolation": "quintic"}, "'interpolation'.* one of 'linear', 'constant', 'cubic'"),
        ({"minimum": "max"}, "'minimum'.* one of 'min', 'soft', 'softmin'"),
        ({"preprocessing": "fft"}, "'preprocessing'.* one of 'mfc'"),
        ({"discrepancy": "mfc"}, "for sound: series sampled regularly"),
    ],
)
def test_choices_that_cannot_be(choice, message):
    X, y = bumps(irregularly=True)
    with pytest.raises(ValueError, match=message):
        ShapeletClassifier(**{"n_shapelets": 4, "max_epochs": 1} | choice).fit(X, y)


@pytest.mark.parametrize("interpolation", ["linear", "constant"])
def test_samples_need_a_lattice(interpolation):
    """What the classical discrepancy cannot be laid on is refused, with the cure."""
    X, y = bumps(irregularly=interpolation == "linear")
    model = ShapeletClassifier(
        discrepancy="classical", interpolation=interpolation, n_shapelets=3, max_epochs=1
    )
    with pytest.raises(ValueError, match="classical"):
        model.fit(X, y)


def test_few_observations_are_joined_by_lines_and_said_once():
    X, y = bumps(irregularly=False)
    values = [X[n].values.copy() for n in range(len(X))]
    for x in values[:4]:
        x[1, 2:] = np.nan
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ShapeletClassifier(interpolation="cubic", n_shapelets=3, max_epochs=1).fit(values, y)
    said = [
        str(w.message) for w in caught if "too few" in str(w.message) or "line" in str(w.message)
    ]
    assert len(said) == 1, [str(w.message) for w in caught]
