"""Explanations: sums, windows, counter-questions, measures, and what is refused."""

import copy
import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from scipy.stats import spearmanr
from sklearn.exceptions import NotFittedError
from torch import nn

from genshapelets import (
    RaggedSeries,
    ShapeletClassifier,
    ShapeletRegressor,
    ShapeletTransformer,
    explain_model,
    explain_series,
    interpolate,
    interpretability,
    load,
)
from genshapelets.datasets import planted_pattern
from genshapelets.explain import (
    channel_importance,
    find_matches,
    measure,
    plot_area,
    plot_channels,
    plot_classes,
    plot_contributions,
    plot_curve,
    plot_heat_maps,
    plot_lengths,
    plot_metric,
    plot_series,
    plot_shapelet,
    plot_sizes,
    plot_spectrum,
)
from genshapelets.explain.channels import other_of, values_of_others
from genshapelets.explain.reasons import n_needed

QUICK = {"n_shapelets": 6, "max_epochs": 8, "random_state": 0, "n_jobs": 1}


def waves(n_series=24, n_classes=3, n_channels=2, n_times=30, seed=0):
    """Regular series in which a bump of the first channel sits where the class says."""
    random = np.random.default_rng(seed)
    y = np.arange(n_series) % n_classes
    X = random.normal(scale=0.3, size=(n_series, n_channels, n_times))
    for n, label in enumerate(y):
        X[n, 0, 4 + 7 * label : 9 + 7 * label] += 2.0 + label
    return X, np.array(["a", "b", "c", "d"])[y]


def dated(X):
    """The same series, a sample every minute."""
    minutes = np.datetime64("2024-03-01T12:00") + np.arange(X.shape[2]).astype("m8[m]")
    return RaggedSeries.from_arrays(X, minutes, channel_names=["pulse", "breath"][: X.shape[1]])


MODELS = {
    "two classes": (2, ShapeletClassifier, {}),
    "three classes": (3, ShapeletClassifier, {}),
    "classical": (3, ShapeletClassifier, {"discrepancy": "classical"}),
    "level-free": (3, ShapeletClassifier, {"level_free": 1.0}),
    "scale-free": (3, ShapeletClassifier, {"scale_free": 0.5}),
    "full metric": (2, ShapeletClassifier, {"metric": "full", "search": "exact"}),
    "paper": (3, ShapeletClassifier, {"procedure": "paper"}),
    "regression": (3, ShapeletRegressor, {}),
}
_fitted = {}


def seeing_all(model, X):
    """The same model with shapelets that look at every channel."""
    weight = getattr(model.model_.transform.discrepancy, "weight", None)
    if weight is not None and weight.ndim == 2:
        with torch.no_grad():
            weight[weight == 0] = 0.1
            discrepancy = model._matches(X)[0].discrepancy.double()
            features = model.model_.features(discrepancy).numpy()
        model.typical_features_, model.feature_spread_ = features.mean(axis=0), features.std(axis=0)
    return model


@pytest.fixture(params=MODELS)
def fitted(request):
    """A model, its training series and targets; each is fitted once."""
    n_classes, estimator, options = MODELS[request.param]
    if request.param not in _fitted:
        X, y = waves(n_classes=n_classes)
        if estimator is ShapeletRegressor:
            y = 100.0 + 5.0 * X[:, 0].argmax(axis=1)
        _fitted[request.param] = seeing_all(estimator(**QUICK, **options).fit(X, y), X), X, y
    return _fitted[request.param]


def fit(name):
    n_classes, estimator, options = MODELS[name]
    X, y = waves(n_classes=n_classes)
    return seeing_all(estimator(**QUICK, **options).fit(X, y), X), X, y


# ------------------------------------------------------------------ sums


def answers_of(model, X):
    if isinstance(model, ShapeletRegressor):
        return model.predict(X)[:, None]
    logits = model.decision_function(X)
    return logits if logits.ndim == 2 else np.stack([-logits, logits], axis=1)


def test_contributions_and_bias_sum_to_the_answers(fitted):
    model, X, _ = fitted
    for baseline in ("typical", "zero", np.linspace(-1, 1, 6)):
        explanation = explain_series(model, X, baseline=baseline)
        parts = explanation.contributions()
        total = parts.sum(axis=2) + explanation.bias
        np.testing.assert_allclose(total, answers_of(model, X), rtol=0, atol=1e-6)
        np.testing.assert_allclose(explanation.answers, answers_of(model, X), rtol=0, atol=1e-9)
        np.testing.assert_array_equal(explanation.contributions(4), parts[4])
        np.testing.assert_array_equal(explanation.predicted, model.predict(X))
        if explanation.classes is not None:
            np.testing.assert_allclose(explanation.probabilities, model.predict_proba(X))


def test_a_typical_match_contributes_nothing():
    model, X, _ = fit("three classes")
    explanation = explain_series(model, X)
    np.testing.assert_allclose(explanation.contributions().mean(axis=0), 0.0, atol=1e-9)
    closer = explanation.matches.features < explanation.matches.features.mean(axis=0)
    np.testing.assert_array_equal(explanation.alike, closer)
    typical = model.typical_features_
    del model.typical_features_  # as in files of earlier versions
    older = explain_series(model, X)
    np.testing.assert_allclose(older.typical, model.model_.feature_mean.numpy())
    total = older.contributions().sum(axis=2) + older.bias
    np.testing.assert_allclose(total, explanation.answers, atol=1e-6)
    assert (typical != older.typical).any()


@pytest.mark.parametrize("activation", [nn.Tanh, nn.ReLU])
def test_another_head_is_explained_by_integrated_gradients(activation):
    X, y = waves(n_classes=3)
    head = nn.Sequential(nn.Linear(6, 8), activation(), nn.Linear(8, 3))
    model = ShapeletClassifier(head=head, **QUICK).fit(X, y)
    explanation = explain_series(model, X[:5])
    parts = explanation.contributions()
    total = parts.sum(axis=2) + explanation.bias
    np.testing.assert_allclose(total, model.decision_function(X[:5]), rtol=0, atol=1e-6)
    assert len(explanation.to_frame(top=2)) == 10
    for refused in (
        lambda: explain_model(model, X, y),
        lambda: interpretability(model, X, y),
        lambda: explanation.what_if(0, 0),
    ):
        with pytest.raises(TypeError, match="only a linear head has one weight"):
            refused()


def test_integrated_gradients_of_a_linear_head_are_its_weights():
    X, y = waves(n_classes=2)

    class Linear(nn.Linear):  # a subclass may compute something else, so it is not read
        pass

    model = ShapeletClassifier(head=Linear(6, 1), **QUICK).fit(X, y)
    explanation = explain_series(model, X[:3])
    weight = model.model_.head.weight.double() / model.model_.feature_scale
    expected = weight.numpy() * (explanation.matches.features - explanation.baseline)
    np.testing.assert_allclose(explanation.contributions()[:, 1], expected, atol=1e-5)
    np.testing.assert_allclose(explanation.contributions()[:, 0], -expected, atol=1e-5)


# ------------------------------------------------------------------ windows


def test_windows_are_where_the_discrepancy_says(fitted):
    model, X, _ = fitted
    found = find_matches(model, X)
    np.testing.assert_allclose(found.discrepancy, model.transform(X), rtol=1e-6)
    np.testing.assert_allclose(found.end - found.start, np.tile(found.lengths, (len(X), 1)))
    scale = model.model_.scale.numpy()[:, None]
    for n, k in [(0, 0), (5, 3), (7, 5)]:
        window = found.window(k, n)
        assert window.times[0] == found.start[n, k]
        difference = (window.path - window.shapelet) / scale
        if model.discrepancy == "classical":
            assert (difference**2).sum() == pytest.approx(found.discrepancy[n, k], rel=1e-5)
            continue
        width, length = np.diff(window.times), found.lengths[k]

        def norm(x):
            seen = model.metric_[k % len(model.metric_)] @ x  # noqa: B023
            # Simpson's rule is exact for the square of a straight line.
            middle = 0.5 * (seen[:, 1:] + seen[:, :-1])
            square = seen[:, 1:] ** 2 + 4 * middle**2 + seen[:, :-1] ** 2
            return np.sqrt((square.sum(axis=0) * width).sum() / 6)  # noqa: B023

        total = norm(difference)
        if found.scale_free[k]:  # in units of what varies in the window
            path = window.path / scale
            mean = ((path[:, 1:] + path[:, :-1]) * width).sum(axis=1, keepdims=True) / (2 * length)
            total /= norm(path - mean) / np.sqrt(length)
        assert total == pytest.approx(found.discrepancy[n, k], rel=1e-4)


def test_times_are_the_users():
    X, y = waves(n_classes=2)
    plain = ShapeletClassifier(**QUICK).fit(RaggedSeries.from_arrays(X, 60.0 * np.arange(30)), y)
    model = ShapeletClassifier(**QUICK).fit(dated(X), y)
    explanation = explain_series(model, dated(X))
    expected = explain_series(plain, RaggedSeries.from_arrays(X, 60.0 * np.arange(30)))
    seconds = (explanation.matches.start - np.datetime64("2024-03-01T12:00")) / np.timedelta64(
        1, "s"
    )
    np.testing.assert_allclose(seconds, expected.matches.start, atol=1e-6)
    assert explanation.matches.window(2).times.dtype.kind == "M"
    frame = explanation.to_frame(series=3, top=2)
    assert frame["start"].dtype.kind == "M" and len(frame) == 2
    learnt = explain_model(model, dated(X), y)
    assert learnt.lengths.dtype.kind == learnt.initial_lengths.dtype.kind == "m"
    assert learnt.matches.channel_names == ("pulse", "breath")
    assert list(learnt.importance_to_frame()["name"]) == ["pulse", "breath"]
    assert set(learnt.importance_to_frame()["kind"]) == {"channel"}


def test_positions_are_shares_of_the_series():
    model, X, _ = fit("two classes")
    found = find_matches(model, RaggedSeries.from_arrays(X, 5.0 + np.arange(30)))
    middle = 0.5 * (found.start + found.end)
    np.testing.assert_allclose(found.position, (middle - 5.0) / 29.0)


def test_gaps_and_channels_never_seen_are_filled_as_the_model_does():
    X, y = waves(n_classes=2)
    X = X + 7.0
    model = ShapeletClassifier(**QUICK).fit(X, y)
    X[0, 1] = np.nan
    found = find_matches(model, X)
    np.testing.assert_allclose(found.path(0)[1][1], model.model_.centre[1].item())


# ------------------------------------------------------------------ a planted shape


@pytest.fixture(scope="module")
def planted():
    truth = planted_pattern(100, n_channels=3, channel=1, n_times=(60, 80), random_state=0)
    model = ShapeletClassifier(
        n_shapelets=10, initial_length=(0.3, 0.5), max_epochs=30, batch_size=16, random_state=0,
        n_jobs=1,
    ).fit(truth.series, truth.labels)  # fmt: skip
    return truth, seeing_all(model, truth.series)


def overlap(start, end, true_start, true_end):
    both = np.minimum(end, true_end) - np.maximum(start, true_start)
    return np.maximum(both, 0.0) / (np.maximum(end, true_end) - np.minimum(start, true_start))


def test_the_explanation_points_to_the_planted_place_and_channel(planted):
    truth, model = planted
    learnt = explain_model(model, truth.series, truth.labels)
    k = learnt.ranking()[1, 0]
    fresh = planted_pattern(100, n_channels=3, channel=1, n_times=(60, 80), random_state=5)
    has_shape = fresh.labels == 1
    found = explain_series(model, fresh.series).matches
    starts = fresh.starts[has_shape]
    iou = overlap(found.start[has_shape, k], found.end[has_shape, k], starts, starts + fresh.length)
    assert (iou > 0.8).mean() >= 0.95
    assert learnt.nearest_label[k] == 1
    assert learnt.matches.metric_of(k)[1] > 0.8
    importance = learnt.channel_importance
    assert importance[1] > 5 * np.abs(np.delete(importance, 1)).max()
    np.testing.assert_allclose(learnt.matches.metric.sum(axis=1), 1.0)


def test_the_top_contribution_lies_on_the_planted_place(planted):
    truth, model = planted
    explanation = explain_series(model, truth.series)
    for n in np.flatnonzero(truth.labels == 1)[:10]:
        frame = explanation.to_frame(series=int(n), top=3)
        top, start = frame.iloc[0], truth.starts[n]
        assert overlap(top["start"], top["end"], start, start + truth.length) > 0.5
        assert frame["contribution"].abs().is_monotonic_decreasing


# ------------------------------------------------------------------ channels


def only_looking_at(model, channels):
    """The same model, its shapelets' weights on all other channels 0."""
    model = copy.deepcopy(model)
    weight = model.model_.transform.discrepancy.weight
    with torch.no_grad():
        weight[:, np.setdiff1d(np.arange(weight.shape[1]), channels)] = 0.0
    return model


def lost(model, X, changed, y):
    """What predictions for arrays lose if one channel after the other is that of `changed`."""

    def loss(X):
        if isinstance(model, ShapeletRegressor):
            return np.mean((model.predict(X) - y) ** 2)
        share = model.predict_proba(X)
        return -np.mean([np.log(p[model.classes_ == label]) for p, label in zip(share, y)])

    losses = []
    for d in range(X.shape[1]):
        twin = X.copy()
        twin[:, d] = changed[:, d]
        losses.append(loss(twin) - loss(X))
    return np.array(losses)


@pytest.fixture(scope="module")
def two_of_six():
    """Class 1 has a shape in channel 1, class 2 one in channel 4; channel 5 never varies."""
    truth = planted_pattern(
        120, n_channels=6, n_classes=3, channel=1, n_times=(60, 70), missing=0.1, random_state=0
    )
    values = [one.values.copy() for one in truth.series]
    for x, label in zip(values, truth.labels, strict=True):
        if label == 2:
            x[[1, 4]] = x[[4, 1]]
        x[5] = 7.3
    times = [one.times for one in truth.series]
    series = RaggedSeries.from_arrays(values, times)
    model = ShapeletClassifier(
        n_shapelets=12, initial_length=(0.3, 0.5), max_epochs=30, batch_size=16, random_state=0,
        n_jobs=1,
    ).fit(series, truth.labels)  # fmt: skip
    return seeing_all(model, series), series, truth.labels


def test_planted_channels_are_the_important_ones(two_of_six):
    model, series, y = two_of_six
    importance = explain_model(model, series, y).channel_importance
    assert set(np.argsort(-importance)[:2]) == {1, 4}
    assert np.sort(importance)[-2] > 2 * np.sort(importance)[-3]
    assert importance[5] == 0.0  # it never varies


def test_importance_is_what_predictions_lose_with_a_channel_of_another_series(fitted):
    model, X, y = fitted
    importance = explain_model(model, X, y).channel_importance
    other = other_of(len(X))
    assert sorted(other) == list(range(len(X))) and (other != np.arange(len(X))).all()
    np.testing.assert_allclose(importance, lost(model, X, X[other], y), rtol=1e-4, atol=1e-5)


def test_importance_agrees_with_leaving_channels_out():
    random = np.random.default_rng(0)
    X, y = random.normal(scale=0.3, size=(90, 6, 30)), np.arange(90) % 3
    for d in range(5):  # the shape is less and less often seen, from channel to channel
        for n in range(90):
            if random.random() < 0.9 - 0.2 * d:
                X[n, d, 4 + 7 * y[n] : 9 + 7 * y[n]] += 2.0
    model = ShapeletClassifier(**QUICK | {"n_shapelets": 40, "max_epochs": 20}).fit(X, y)
    importance = explain_model(model, X, y).channel_importance
    expected = lost(model, X, np.full_like(X, np.nan), y)
    assert spearmanr(importance, expected).statistic > 0.8
    assert np.argsort(-importance)[:2].tolist() == [0, 1]  # the others are hardly needed


def test_paths_of_others_are_counted_from_their_own_beginnings():
    times = [[10.0, 11.0, 12.0, 13.0], [0.0, 2.0]]
    values = [[[0.0, 1.0, 2.0, 5.0]], [[4.0, 8.0]]]
    paths = interpolate(RaggedSeries.from_arrays([np.array(x) for x in values], times))
    # The longer one takes the shorter one's values, held at the last; the shorter one those at 0 and 2.
    np.testing.assert_allclose(values_of_others(paths)[:, 0], [4.0, 6.0, 8.0, 8.0, 0.0, 2.0])


def test_a_channel_that_no_shapelet_looks_at_has_no_importance(two_of_six):
    model, series, y = two_of_six
    importance = explain_model(only_looking_at(model, [0, 1]), series, y).channel_importance
    assert (importance[2:] == 0.0).all() and (importance[:2] != 0.0).all()


def test_importance_is_computed_when_asked_for_from_evenly_many_series(classified):
    model, X, y = classified
    learnt = model.explain_model(X, y)
    assert "channel_importance" not in vars(learnt)
    assert learnt.channel_importance is learnt.channel_importance
    some = channel_importance(learnt.explanation, learnt.labels, max_series=5)
    chosen = np.linspace(0, 23, 5).round().astype(int)
    np.testing.assert_allclose(some, model.explain_model(X[chosen], y[chosen]).channel_importance)
    assert (model.explain_model(X[:1], y[:1]).channel_importance == 0.0).all()


def test_channels_of_weight_0_are_drawn_nowhere(two_of_six, plt):
    model, series, y = two_of_six
    learnt = explain_model(only_looking_at(model, [1, 4]), series, y)
    found = learnt.matches
    assert found.own_channels(0).tolist() == [1, 4] == sorted(found.channels(0).tolist())
    assert plot_shapelet(learnt, 0).get_ylabel() in ("channel 1", "channel 4")
    assert len(plot_channels(learnt, 0)) == 2
    curve = plot_curve(learnt, 0)
    assert (curve.get_xlabel(), curve.get_ylabel()) == ("channel 1", "channel 4")
    area = plot_area(learnt, 0)
    assert area.get_xlabel().startswith("channel 1") and area.get_ylabel().startswith("channel 4")
    maps = plot_heat_maps(learnt, 0)
    assert [ax.collections[0].get_array().shape[0] for ax in maps] == [2, 2, 2]
    assert [t.get_text() for t in maps[0].get_yticklabels()] == ["channel 1", "channel 4"]
    for draw in (plot_metric, plot_spectrum):
        ticks = draw(learnt, shapelet=0).get_xticklabels()
        assert {t.get_text() for t in ticks} == {"channel 1", "channel 4"}
    for ask in (
        lambda: plot_shapelet(learnt, 0, channel=0),
        lambda: plot_channels(learnt, 0, channels=[1, 0]),
        lambda: plot_curve(learnt, 0, channels=(0, 1)),
        lambda: plot_area(learnt, 0, channels=(None, 0)),
    ):
        with pytest.raises(ValueError, match="does not look at channel 0: it looks at 1, 4"):
            ask()
    ax = plot_series(learnt.explanation, 0, channel=2)  # names those that it does not draw
    assert "in other channels: shapelets" in ax.get_title(loc="left")
    assert not any("shapelet" in label for label in labelled(ax))
    one = explain_model(only_looking_at(model, [4]), series, y)
    with pytest.raises(ValueError, match="needs two channels; shapelet 0 has 1 to draw"):
        plot_curve(one, 0)
    assert plot_classes(one, plane=True)[0].get_xlabel() == "time"
    assert plot_area(one, 0).get_xlabel() == "time, from the start"


@pytest.mark.filterwarnings("error", "default::DeprecationWarning")
@pytest.mark.parametrize("discrepancy", ["l2", "logsignature"])
def test_a_shapelet_that_looks_at_no_channel_crashes_nothing(discrepancy, plt):
    X, y = waves(n_classes=2)
    model = ShapeletClassifier(**QUICK, discrepancy=discrepancy).fit(X, y)
    with torch.no_grad():
        model.model_.transform.discrepancy.weight[2] = 0.0
    learnt = explain_model(model, X, y)
    assert learnt.matches.own_channels(2).size == 0
    for draw in (plot_shapelet, plot_channels, plot_area, plot_heat_maps):
        ax = np.ravel(draw(learnt, 2))[0]
        assert [text.get_text() for text in ax.texts] == ["looks at no channel"]
        ax.figure.canvas.draw()
    for draw in (plot_metric, plot_spectrum):
        draw(learnt, shapelet=2).figure.canvas.draw()
    for rank in range(1, 7):
        plot_classes(learnt, rank=rank, plane=True)
        plt.close("all")
    plot_series(learnt, 0, top=6)
    with pytest.raises(ValueError, match="shapelet 2 has 0 to draw"):
        plot_curve(learnt, 2)
    got = measure(learnt)
    assert np.isfinite([got.channels, got.outside]).all()


# ------------------------------------------------------------------ the whole model


def test_shapelets_are_ranked_for_every_class(fitted):
    model, X, y = fitted
    learnt = explain_model(model, X, y)
    n_answers = len(learnt.classes) if learnt.classes is not None else 1
    assert learnt.weight.shape == (n_answers, 6)
    for by, numbers in (("effect", learnt.effect), ("weight", learnt.weight)):
        order = learnt.ranking(by)
        assert (np.diff(np.take_along_axis(numbers, order, axis=1), axis=1) >= 0).all()
    if n_answers == 2:
        np.testing.assert_array_equal(learnt.weight[0], -learnt.weight[1])
    k = 2
    n = learnt.nearest[k]
    assert learnt.nearest_discrepancy[k] == model.transform(X)[:, k].astype(np.float64).min()
    assert learnt.nearest_label[k] == y[n]
    assert learnt.matches.closest(k, 3)[0] == n
    frame = learnt.to_frame(top=2)
    assert len(frame) == 2 * n_answers
    assert ("class" in frame) == (learnt.classes is not None)
    np.testing.assert_array_equal(learnt.initial_lengths.shape, (6,))


def test_a_shapelet_speaks_for_or_against_the_class_that_it_moves_most(classified):
    model, X, y = classified
    learnt = model.explain_model(X, y)
    # To be like the first adds 0.016 to a and takes 0.169 from b; the fourth moves all alike.
    pull = np.array([[0.016, 2.0, -0.3, 1.0], [-0.169, 0.5, 0.1, 1.0], [0.0, 0.5, 0.2, 1.0]])
    weight = np.zeros((3, 6))
    weight[:, :4] = -pull
    learnt = replace(learnt, weight=weight, effect=weight)
    claims = learnt.claims()
    assert claims.answer[:3].tolist() == [1, 0, 0]
    assert claims.against.tolist() == [True, False, True, False, False, False]
    np.testing.assert_allclose(claims.size, [0.118, 1.0, 0.3, 0.0, 0.0, 0.0], atol=1e-9)
    said = [learnt.claim(k) for k in range(6)]
    assert said == [
        "speaks against b", "speaks for a", "speaks against a", *["says nothing"] * 3
    ]  # fmt: skip
    table = learnt.to_frame()
    assert table["claim"].tolist() == [said[k] for k in table["shapelet"]]
    # Whatever is added to all classes changes no probability, and no claim.
    shifted = replace(learnt, effect=weight + np.linspace(-3, 3, 6)).claims()
    for one, other in zip(claims[1:], shifted[1:], strict=True):
        np.testing.assert_allclose(one, other, atol=1e-9)
    with pytest.raises(ValueError, match="by must be"):
        learnt.claims("size")


def test_of_two_classes_a_shapelet_speaks_for_one_and_a_number_it_raises_or_lowers():
    model, X, y = fit("two classes")
    learnt = explain_model(model, X, y)
    claims = learnt.claims("weight")
    assert not claims.against.any()
    np.testing.assert_array_equal(claims.answer, learnt.weight.argmin(axis=0))
    model = ShapeletRegressor(**QUICK).fit(X, X[:, 0].argmax(axis=1) * 5.0)
    learnt = explain_model(model, X, X[:, 0].argmax(axis=1))
    claims = learnt.claims()
    np.testing.assert_array_equal(claims.against, learnt.effect[0] > 0)
    np.testing.assert_allclose(claims.size, np.abs(learnt.effect[0]))
    assert learnt.claim(0) == ("lowers y" if claims.against[0] else "raises y")


def test_initial_lengths_are_saved(tmp_path):
    X, y = waves(n_classes=2)
    for series in (X, dated(X)):
        model = ShapeletClassifier(**QUICK).fit(series, y)
        model.save(tmp_path / "model")
        again = load(tmp_path / "model")
        np.testing.assert_array_equal(again.initial_lengths_, model.initial_lengths_)
        np.testing.assert_array_equal(again.typical_features_, model.typical_features_)
        assert (model.initial_lengths_ != model.lengths_).any()
        del again.initial_lengths_  # as in files of earlier versions
        assert explain_model(again, series, y).initial_lengths is None


# ------------------------------------------------------------------ reasons


def test_reasons_are_the_fewest_that_carry_the_answer(fitted):
    model, X, _ = fitted
    explanation = explain_series(model, X)
    for n in (0, 7, 13):
        for answer in (None, 0):
            for share in (0.5, 0.9, 1.0):
                found = explanation.reasons(n, answer, share)
                column = explanation.column(n, answer)
                parts = explanation.contributions(n)[column]
                sizes = [abs(one.contribution) for one in found.reasons]
                assert sizes == sorted(sizes, reverse=True)
                enough = share * np.abs(parts).sum() * (1 - 1e-9)
                assert sum(sizes) >= enough and sum(sizes[:-1]) < enough
                total = found.bias + sum(one.contribution for one in found.reasons) + found.rest
                assert total == pytest.approx(answers_of(model, X)[n, column], abs=1e-6)
                assert total == pytest.approx(found.total, abs=1e-6)
                assert len(found.reasons) + found.n_others == 6
                for one in found.reasons:
                    assert one.contribution == parts[one.shapelet]
                    has = explanation.matches.features[n, one.shapelet]
                    usual = model.typical_features_[one.shapelet]
                    assert one.said == ("presence" if has < usual else "absence")
                    assert one.start == explanation.matches.start[n, one.shapelet]
                    word = "has" if one.said == "presence" else "lacks"
                    line = f"  {word} shapelet {one.shapelet}: {one.contribution:+.2f}"
                    assert line in str(found).split("\n")
                frame = found.to_frame()
                assert frame["shapelet"].tolist() == [one.shapelet for one in found.reasons]
                assert frame.columns.tolist() == [
                    "shapelet",
                    "contribution",
                    "said",
                    "start",
                    "end",
                    "covariate",
                    "value",
                ]


def test_reasons_say_whether_they_are_of_what_was_predicted(classified):
    model, X, _ = classified
    explanation = model.explain(X)
    assert str(explanation.reasons(0)).startswith("series 0 is predicted to be a, because it\n")
    other = explanation.reasons(0, answer=1)
    assert str(other).startswith("what series 0 says of b: it\n") and not other.is_predicted
    with pytest.raises(ValueError, match="share must be above 0 and at most 1; got 0"):
        explanation.reasons(0, share=0)
    with pytest.raises(IndexError, match="series must be a whole number"):
        explanation.reasons(99, answer=0)
    silent = replace(explanation, weight=np.zeros((3, 6))).reasons(0)
    assert silent.reasons == () and len(silent.to_frame()) == 0


def test_how_many_are_needed():
    np.testing.assert_array_equal(
        n_needed(np.array([[1.0] * 10, [0.0] * 10, [0, 95, 0, 5, 0, 0, 0, 0, 0, 0]]), 0.9),
        [9, 0, 1],
    )


# ------------------------------------------------------------------ counter-questions


def predicted_with(model, explanation, n, k, discrepancy):
    """Prediction of series n if only the discrepancy of shapelet k were another."""
    changed = torch.from_numpy(explanation.matches.discrepancy[[n]].copy())
    changed[0, k] = discrepancy
    outputs = model.model_.outputs(changed)[0].numpy()
    if isinstance(model, ShapeletRegressor):
        return outputs[0] * model.target_scale_ + model.target_centre_
    return model.classes_[outputs.argmax() if len(outputs) > 1 else int(outputs[0] > 0)]


@pytest.mark.parametrize("fitted", [name for name in MODELS if name != "regression"], indirect=True)
def test_predictions_turn_where_they_are_said_to(fitted):
    model, X, _ = fitted
    explanation = explain_series(model, X)
    n_turns = 0
    for n in range(0, 24, 2):
        for k in range(6):
            for to in (None, *model.classes_):
                answer = explanation.what_if(n, k, to)
                assert answer.predicted == explanation.predicted[n]
                if to == answer.predicted:
                    assert answer.closer is None and answer.further is None
                for turn, step in ((answer.closer, -1e-4), (answer.further, 1e-4)):
                    if turn is None:
                        continue
                    n_turns += 1
                    assert (turn.discrepancy - answer.discrepancy) * step > 0
                    beyond = turn.discrepancy * (1 + step)
                    assert predicted_with(model, explanation, n, k, beyond) == turn.predicted
                    if to is None:  # nothing changes on the way there
                        before = turn.discrepancy * (1 - step)
                        stays = predicted_with(model, explanation, n, k, before)
                        assert stays == answer.predicted
    assert n_turns > 10


def test_where_no_turn_is_named_none_is_found():
    model, X, _ = fit("three classes")
    explanation = explain_series(model, X)
    for n in range(6):
        for k in range(6):
            answer = explanation.what_if(n, k)
            now = answer.discrepancy
            if answer.closer is None:
                tried = [predicted_with(model, explanation, n, k, f * now) for f in (0.0, 0.1, 0.9)]
                assert set(tried) == {answer.predicted}
            if answer.further is None:
                tried = np.geomspace(now, answer.largest, 20)
                tried = [predicted_with(model, explanation, n, k, at) for at in tried]
                assert set(tried) == {answer.predicted}
            assert str(answer.predicted) in str(answer)


def test_a_turn_that_cannot_be_reached_is_said_to_be_so():
    model, X, _ = fit("three classes")
    explanation = explain_series(model, X)
    seen = set()
    for n in range(24):
        for k in range(6):
            for to in (None, *model.classes_):
                answer = explanation.what_if(n, k, to)
                assert answer.largest >= explanation.matches.discrepancy[:, k].max() * (1 - 1e-6)
                assert answer.reachable == bool(answer.closer or answer.further)
                for turn in answer.out_of_reach:
                    below = turn.discrepancy < 0
                    assert below or turn.discrepancy > answer.largest
                    assert (answer.closer if below else answer.further) is None
                    seen.add(below)
                    if not below and turn.discrepancy < 1e6:  # the formula is right all the same
                        beyond = turn.discrepancy * (1 + 1e-4)
                        got = predicted_with(model, explanation, n, k, beyond)
                        assert got == turn.predicted
                if answer.out_of_reach and not answer.reachable:
                    why = (
                        "better than perfectly" if below else "no series is expected to be further"
                    )
                    assert f"for {turn.predicted} it would have to" in str(answer)
                    assert "no fit of it alone can change that" in str(answer)
                    assert why in str(answer)
    assert seen == {True, False}


def test_numbers_below_a_perfect_fit_or_beyond_every_series_are_out_of_reach():
    X, _ = waves()
    model = ShapeletRegressor(**QUICK).fit(X, X[:, 0].argmax(axis=1) * 5.0)
    explanation = explain_series(model, X)
    slope = explanation.weight[0]
    k, now = int(np.abs(slope).argmax()), explanation.predicted[0]
    far = 1e3 * slope[k]
    below, above = explanation.what_if(0, k, now - far), explanation.what_if(0, k, now + far)
    for answer in (below, above):
        assert not answer.reachable and len(answer.out_of_reach) == 1
    assert below.out_of_reach[0].discrepancy < 0
    assert str(below).endswith("it would have to fit better than perfectly.")
    assert above.out_of_reach[0].discrepancy > above.largest
    assert f"no series is expected to be further from it than {above.largest:.3g}" in str(above)
    near = explanation.what_if(0, k, now + 0.01)
    assert near.reachable and near.out_of_reach == ()


def test_the_discrepancy_for_a_number():
    X, y = waves()
    model = ShapeletRegressor(**QUICK).fit(X, X[:, 0].argmax(axis=1) * 5.0)
    explanation = explain_series(model, X)
    now = explanation.predicted[0]
    n_turns = 0
    for k in range(6):
        for to in (now - 0.1, now + 0.1):
            answer = explanation.what_if(0, k, to)
            for turn in (answer.closer, answer.further):
                if turn is not None:
                    n_turns += 1
                    reached = predicted_with(model, explanation, 0, k, turn.discrepancy)
                    assert reached == pytest.approx(to, abs=1e-6)
    assert n_turns >= 6
    with pytest.raises(ValueError, match="to must be a number"):
        explanation.what_if(0, 0)


def test_a_class_that_does_not_exist_is_refused():
    model, X, _ = fit("three classes")
    with pytest.raises(ValueError, match="to must be one of the classes a, b, c; got 'z'"):
        explain_series(model, X).what_if(0, 0, "z")


# ------------------------------------------------------------------ measures


def test_measures(fitted):
    model, X, y = fitted
    got = interpretability(model, X, y, n_windows=64)
    learnt = explain_model(model, X, y)
    assert got == measure(learnt, n_windows=64)
    assert 0 <= got.closeness < 1.0
    assert 1 <= got.sparsity <= 6
    assert "of 6 shapelets carry 90 %" in str(got)
    assert 1 <= got.channels <= 2 and 0 <= got.outside <= 1
    assert f"{got.channels:.1f} channels hold 90 %" in str(got)
    assert f"{100 * got.outside:.1f} % of its knots" in str(got)
    if learnt.classes is None:
        assert got.unique is None and got.own is None
        return
    ranking = learnt.ranking()[:, 0].tolist()
    # A class for which no shapelet speaks has none.
    top = [k if learnt.weight[c, k] < 0 else None for c, k in enumerate(ranking)]
    assert got.unique == np.mean([k is not None and top.count(k) == 1 for k in top])
    own = [
        k is not None and learnt.nearest_label[k] == c
        for k, c in zip(top, learnt.classes, strict=True)
    ]
    assert got.own == np.mean(own)
    assert f"of {len(top)} classes have a top shapelet of their own" in str(got)


def test_sparsity_is_counted_from_the_contributions():
    model, X, y = fit("three classes")
    explanation = explain_series(model, X)
    needed = []
    for n in range(len(X)):
        size = np.sort(np.abs(explanation.contributions(n)[explanation.chosen(n)]))[::-1]
        needed.append(np.argmax(np.cumsum(size) >= 0.9 * size.sum()) + 1)
    assert interpretability(model, X, y).sparsity == pytest.approx(np.mean(needed))


def test_channels_that_hold_a_metric_are_counted(classified):
    model, X, y = classified
    learnt = model.explain_model(X, y)
    metric = np.zeros((6, 2))
    metric[:, 0] = [1.0, 0.5, 0.9, 0.75, 0.6, 0.0]
    metric[:5, 1] = 1.0 - metric[:5, 0]
    # Squares: 1 alone, halves, 81:1, 9:1 (the 90 % themselves), 36:16, none.
    found = replace(learnt.matches, metric=metric)
    twin = replace(learnt, explanation=replace(learnt.explanation, matches=found))
    assert measure(twin, n_windows=4).channels == pytest.approx((1 + 2 + 1 + 1 + 2 + 0) / 6)
    shared = replace(learnt.matches, metric=metric[1:2])
    twin = replace(learnt, explanation=replace(learnt.explanation, matches=shared))
    assert measure(twin, n_windows=4).channels == 2.0


def test_knots_outside_the_range_of_the_data_are_counted(fitted):
    model, X, y = fitted
    X = X.copy()
    X[0, 1, :5] = np.nan
    learnt = explain_model(model, X, y)
    found = learnt.matches
    n_outside = n_knots = 0
    low, high = np.nanmin(X, axis=(0, 2)), np.nanmax(X, axis=(0, 2))
    for k in range(6):
        window = found.window(k)
        n_corners = found.shapelets.shape[2]
        knots = np.linspace(window.times[0], window.times[-1], n_corners)
        for d in range(2):
            drawn = np.interp(knots, window.times, window.shapelet[d])
            n_outside += ((drawn < low[d] - 1e-4) | (drawn > high[d] + 1e-4)).sum()
            n_knots += n_corners
    assert measure(learnt, n_windows=4).outside == pytest.approx(n_outside / n_knots)
    # All are inside where the data reach far, all outside where they are elsewhere.
    wide = replace(found.series, values=1e3 * np.sign(found.series.values))
    twin = replace(learnt.explanation, matches=replace(found, series=wide))
    if not found.level_free.any():
        assert measure(replace(learnt, explanation=twin), n_windows=4).outside == 0.0


def test_a_channel_of_weight_0_has_no_knots_to_be_outside(two_of_six):
    model, series, y = two_of_six
    narrow = copy.deepcopy(only_looking_at(model, [1]))
    with torch.no_grad():
        narrow.model_.transform.discrepancy.level_free[:] = False
        for values in narrow.model_.transform.shapelets.of_values():
            values[:, 1] = 0.0
            values[:, [0, 2, 3, 4, 5]] = 1e3
            values[0, 1, 0] = 50.0
    learnt = explain_model(narrow, series, y)
    measured = measure(learnt, n_windows=4)
    assert measured.outside == pytest.approx(1 / learnt.matches.shapelets[:, 1].size)
    assert measured.channels == 1.0


def test_pieces_of_the_data_are_closer_than_chance(planted):
    truth, model = planted
    assert interpretability(model, truth.series, truth.labels).closeness < 0.6


# ------------------------------------------------------------------ what is refused


def test_bad_input_is_refused_with_the_reason():
    model, X, y = fit("three classes")
    with pytest.raises(NotFittedError):
        explain_series(ShapeletClassifier(), X)
    with pytest.raises(NotFittedError):
        explain_model(ShapeletRegressor(), X, y)
    with pytest.raises(ValueError, match="1 channel, but ShapeletClassifier was fitted on 2"):
        explain_series(model, X[:, :1])
    with pytest.raises(ValueError, match="at least one series"):
        explain_series(model, X[:0])
    with pytest.raises(ValueError, match="X has 24 series, y 3"):
        explain_model(model, X, y[:3])
    with pytest.raises(ValueError, match="y must be given"):
        explain_model(model, X, None)
    with pytest.raises(
        ValueError, match=r"classes of the model \(a, b, c\); got .*'z'.* series 23"
    ):
        explain_model(model, X, [*y[:-1], "z"])
    with pytest.raises(TypeError, match="ShapeletTransformer predicts nothing"):
        explain_series(ShapeletTransformer(n_shapelets=2, random_state=0).fit(X), X)
    with pytest.raises(ValueError, match="baseline must be"):
        explain_series(model, X, baseline="mean")
    with pytest.raises(ValueError, match="one finite number for each of the 6 shapelets"):
        explain_series(model, X, baseline=[0.0])
    with pytest.raises(ValueError, match="by must be"):
        explain_model(model, X, y).ranking("size")
    with pytest.raises(ValueError, match="n_windows"):
        interpretability(model, X, y, n_windows=0)


def test_one_series_is_enough():
    model, X, y = fit("two classes")
    explanation = explain_series(model, X[:1])
    total = explanation.contributions(0).sum(axis=1) + explanation.bias
    np.testing.assert_allclose(total, answers_of(model, X[:1])[0], atol=1e-6)
    learnt = explain_model(model, X[:1], y[:1])
    assert (learnt.nearest == 0).all()
    assert np.isfinite(measure(learnt, n_windows=4).closeness)


def test_frames_say_what_they_need(monkeypatch):
    import sys

    model, X, _ = fit("two classes")
    explanation = explain_series(model, X[:1])
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        explanation.to_frame()


# ------------------------------------------------------------------ pictures


@pytest.fixture
def plt():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    yield plt
    plt.close("all")


def labelled(ax):
    """Lines of the axes by their label in the legend."""
    return {line.get_label(): line for line in ax.get_lines()}


@pytest.fixture(scope="module")
def hostile():
    """An explanation of series whose names, classes and channels are not tame."""
    X, y = waves(n_classes=3)
    names = {"a": "<script>$x_1", "b": "$$", "c": "long " * 50 + "\n$"}
    ids = np.array([f"$patient_{n}" for n in range(len(X))])
    start = np.datetime64("2024-03-01")
    times = [start + (np.arange(30) * (1 + n)).astype("m8[h]") for n in range(len(X))]
    series = RaggedSeries.from_arrays(list(X), times, channel_names=["$", "_{x}$"])
    series = replace(series, series_ids=ids)
    y = np.array([names[label] for label in y])
    model = seeing_all(ShapeletClassifier(**QUICK).fit(series, y), series)
    return explain_model(model, series, y)


@pytest.fixture(scope="module")
def kinds():
    """What a model with shapelets of three kinds has learnt."""
    X, y = waves(n_classes=3)
    mixed = {"l2": 1, "logsignature": 1, "dtw": 1}
    model = ShapeletClassifier(**QUICK | {"n_shapelets": 6}, discrepancy=mixed).fit(X, y)
    return explain_model(model, X, y)


def draw_everything(learnt):
    """Every picture that the number of channels allows: arrays of axes."""
    explanation = learnt.explanation
    yield plot_shapelet(learnt, 0)
    yield plot_channels(learnt, 1)
    yield plot_curve(learnt, 2)
    yield plot_area(learnt, 2)
    yield plot_area(learnt, 1, channels=(None, 1))
    yield plot_heat_maps(learnt, 3)
    yield plot_classes(learnt)
    yield plot_classes(learnt, plane=True, rank=2)
    yield plot_metric(learnt)
    yield plot_metric(learnt, shapelet=2)
    yield plot_spectrum(learnt)
    yield plot_lengths(learnt)
    yield plot_contributions(explanation, 0)
    yield plot_contributions(explanation, 0, top=2, answer=0)
    yield plot_series(explanation, 0)


def test_everything_can_be_drawn(fitted, plt):
    model, X, y = fitted
    for axes in draw_everything(explain_model(model, X, y)):
        for ax in np.ravel(axes):
            assert ax.has_data()
        np.ravel(axes)[0].figure.canvas.draw()


def test_names_from_data_are_drawn_as_they_are(hostile, plt):
    for axes in draw_everything(hostile):
        np.ravel(axes)[0].figure.canvas.draw()  # mathematics would fail here
    title = plot_shapelet(hostile, 0, series=3).get_title(loc="left").replace("\n", " ")
    assert r"shapelet 0 over series \$patient_3 (<script>\$x_1) speaks " in title
    assert title.startswith("level-free") == hostile.matches.level_free[0]


def test_what_a_shapelet_does_not_see_is_said(plt):
    X, y = waves()
    model = ShapeletClassifier(**QUICK, level_free=0.5, scale_free=0.5).fit(X, y)
    learnt = explain_model(model, X, y)
    found = learnt.matches
    assert (
        0 < found.scale_free.sum() < found.n_shapelets
        and (found.level_free >= found.scale_free).all()
    )
    for k in range(found.n_shapelets):
        title = plot_shapelet(learnt, k).get_title(loc="left")
        free = {0: "", 1: "level-free ", 2: "scale-free "}[
            int(found.level_free[k]) + int(found.scale_free[k])
        ]
        assert title.startswith(f"{free}shapelet {k}")
        plt.close("all")
    table = learnt.to_frame()
    assert (table["scale_free"] == found.scale_free[table["shapelet"]]).all()
    k = int(found.scale_free.argmax())
    window = found.window(k, 0)
    # Drawn, it has the level of the window in each channel, and the same scale in all.
    centred, own = (np.ptp(x, axis=1) for x in (window.shapelet, found.shapelets[k]))
    np.testing.assert_allclose(centred / own, (centred / own)[0])


def test_the_kind_of_a_shapelet_is_said(kinds, plt):
    learnt = kinds
    found = learnt.matches
    assert found.kinds == ("L2",) * 2 + ("log-signature",) * 2 + ("dynamic time warping",) * 2
    table = learnt.to_frame()
    assert (table["kind"] == np.array(found.kinds)[table["shapelet"]]).all()
    names = [
        plot_shapelet(learnt, k).get_title(loc="left").replace("\n", " ").partition(" over")[0]
        for k in range(6)
    ]
    free = "level-free " if found.level_free[0] else ""
    assert names[0] == f"{free}shapelet 0"
    assert names[2] == "log-signature shapelet 2"
    assert names[5] == "dynamic time warping shapelet 5"
    plt.close("all")
    bars = plot_contributions(learnt.explanation, 0).get_yticklabels()
    assert any("log-signature shapelet" in bar.get_text() for bar in bars)


def test_the_area_of_a_shapelet_is_drawn_and_said(kinds, plt):
    learnt = kinds
    found = learnt.matches
    ax = plot_area(learnt, 3, channels=(0, 1), series=4)
    window = found.window(3, 4)
    lines = labelled(ax)
    x, y = lines["its segment"].get_xydata().T
    np.testing.assert_allclose([x, y], window.path[:2] - window.path[:2, :1], atol=1e-12)
    x, y = lines["shapelet"].get_xydata().T
    own = found.shapelets[3][:2]
    np.testing.assert_allclose([x, y], own - own[:, :1], atol=1e-9)
    area = 0.5 * (x[:-1] * np.diff(y) - y[:-1] * np.diff(x)).sum()
    sense = "against the clock" if area > 0 else "clockwise"
    assert f"area {abs(area):.4g} {sense}; of" in ax.get_title(loc="left").replace("\n", " ")
    filled = [patch.get_xy() for patch in ax.patches]
    sizes = [0.5 * (p[:-1, 0] * p[1:, 1] - p[:-1, 1] * p[1:, 0]).sum() for p in filled]
    assert sum(sizes) == pytest.approx(area, rel=1e-4, abs=1e-6)
    for patch, size in zip(ax.patches, sizes, strict=True):
        assert patch.get_label() == ("against the clock" if size > 0 else "clockwise")
        assert bool(patch.get_hatch()) == (size < 0)  # told apart without colours
    axes = plot_classes(learnt, rank=1)
    top = learnt.ranking()[:, 0]
    assert [bool(ax.patches and ax.get_xlabel() != "time") for ax in axes] == [
        found.kinds[k] == "log-signature" for k in top
    ]


def test_a_univariate_shapelet_has_an_area_with_time(plt):
    X, y = waves(n_classes=2, n_channels=1)
    model = ShapeletClassifier(**QUICK, discrepancy="logsignature").fit(X, y)
    ax = plot_area(explain_model(model, X, y), 0)
    assert ax.get_xlabel() == "time, from the start"
    assert {patch.get_label() for patch in ax.patches} <= {"above the chord", "below the chord"}
    for patch in ax.patches:
        corners = patch.get_xy()
        x, y = labelled(ax)["shapelet"].get_xydata().T
        chord = y[-1] / x[-1] * corners[:, 0]
        above = (corners[:, 1] - chord).mean() > 0
        assert patch.get_label() == ("above the chord" if above else "below the chord")


def test_axes_given_are_used(planted, plt):
    truth, model = planted
    learnt = explain_model(model, truth.series, truth.labels)
    for draw in (
        lambda ax: plot_shapelet(learnt, 0, ax=ax),
        lambda ax: plot_curve(learnt, 0, channels=(2, 1), ax=ax),
        lambda ax: plot_metric(learnt, ax=ax),
        lambda ax: plot_spectrum(learnt, ax=ax),
        lambda ax: plot_lengths(learnt, ax=ax),
        lambda ax: plot_contributions(learnt.explanation, 1, ax=ax),
        lambda ax: plot_series(learnt.explanation, 1, ax=ax),
    ):
        ax = plt.subplots()[1]
        assert draw(ax) is ax
    axes = plt.subplots(1, 3)[1]
    assert (plot_heat_maps(learnt, 0, axes=axes) == axes).all()
    assert (plot_channels(learnt, 0, axes=axes) == axes).all()
    assert plot_channels(learnt, 0, channels=[1]).shape == (1,)
    with pytest.raises(ValueError, match="axes must hold 3 axes; got 2"):
        plot_heat_maps(learnt, 0, axes=axes[:2])


def test_a_shapelet_is_drawn_over_its_segment(planted, plt):
    truth, model = planted
    learnt = explain_model(model, truth.series, truth.labels)
    k = int(learnt.ranking()[1, 0])
    ax = plot_shapelet(learnt, k)
    lines = labelled(ax)
    window = learnt.matches.window(k)
    assert ax.get_ylabel() == "channel 1"  # the one of the planted shape
    np.testing.assert_array_equal(lines["shapelet"].get_xdata(), window.times)
    np.testing.assert_array_equal(lines["shapelet"].get_ydata(), window.shapelet[1])
    np.testing.assert_array_equal(lines["its segment"].get_ydata(), window.path[1])
    observed = truth.series[int(learnt.nearest[k])].values[1]
    series = lines["series (dots: observed)"]
    dots = series.get_ydata()[series.get_markevery()]
    np.testing.assert_allclose(dots, observed[~np.isnan(observed)], rtol=1e-12)
    assert lines["its segment"].get_linestyle() == "--"  # told apart without colours
    assert lines["shapelet"].get_linewidth() > lines["its segment"].get_linewidth()
    # In the plane, with the direction marked on both curves.
    ax = plot_curve(learnt, k, channels=(0, 1))
    np.testing.assert_array_equal(labelled(ax)["shapelet"].get_ydata(), window.shapelet[1])
    arrows = [text for text in ax.texts if text.arrow_patch is not None]
    assert len(arrows) == 6


def test_heat_maps_show_series_shapelet_and_difference(planted, plt):
    truth, model = planted
    learnt = explain_model(model, truth.series, truth.labels)
    axes = plot_heat_maps(learnt, 4)
    whole, shape, difference = (ax.collections[0].get_array() for ax in axes)
    assert whole.shape == shape.shape == difference.shape == (3, 240)
    box = axes[0].get_lines()[-1]
    assert box.get_linestyle() == "--"
    n = learnt.nearest[4]
    assert box.get_xdata().min() == learnt.matches.start[n, 4]
    assert box.get_xdata().max() == pytest.approx(learnt.matches.end[n, 4])


def test_bars_sum_to_the_logit(planted, plt):
    truth, model = planted
    explanation = explain_series(model, truth.series)
    for n, top in ((0, 3), (1, 10), (2, 50)):
        ax = plot_contributions(explanation, n, top=top)
        bars = [bar.get_width() for container in ax.containers for bar in container]
        total = explanation.answers[n, explanation.chosen(n)]
        assert sum(bars) == pytest.approx(total, abs=1e-6)
        names = [label.get_text() for label in ax.get_yticklabels()]
        assert len(names) == len(bars) == min(top, 10) + (top < 10) + 1
        first = explanation.top(n)[0]
        word = "has" if explanation.alike[n, first] else "lacks"
        free = "level-free " if explanation.matches.level_free[first] else ""
        assert names[0] == f"{word} {free}shapelet {first}"


def test_a_series_is_drawn_with_what_was_found_in_it(planted, plt):
    truth, model = planted
    learnt = explain_model(model, truth.series, truth.labels)
    n = int(np.flatnonzero(truth.labels == 1)[0])
    ax = plot_series(learnt.explanation, n, top=2)
    drawn = [line for name, line in labelled(ax).items() if " contributes " in name]
    assert len(drawn) == 2
    for line in drawn:
        k = int(re.search(r"shapelet (\d+)", line.get_label())[1])
        assert learnt.explanation.alike[n, k]
        assert line.get_xdata()[0] == learnt.matches.start[n, k]


def test_pictures_that_cannot_be_drawn_are_refused(plt, monkeypatch):
    import sys

    X, y = waves(n_classes=2, n_channels=1)
    model = ShapeletClassifier(**QUICK).fit(X, y)
    learnt = explain_model(model, X, y)
    with pytest.raises(ValueError, match="needs two channels"):
        plot_curve(learnt, 0)
    del model.initial_lengths_
    with pytest.raises(ValueError, match="earlier version"):
        plot_lengths(explain_model(model, X, y))
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"genshapelets\[plot\]"):
        plot_shapelet(learnt, 0)


# ------------------------------------------------------------------ what is asked for must be there


@pytest.fixture(scope="module")
def classified():
    return fit("three classes")


def test_a_position_that_is_not_there_is_refused_with_what_there_is(classified):
    model, X, y = classified
    e, m = model.explain(X), model.explain_model(X, y)
    for ask in (
        lambda: e.contributions(99),
        lambda: e.top(0, answer="bump"),
        lambda: e.what_if(series=0, shapelet=-1),
        lambda: e.matches.window(99),
        lambda: e.matches.window(0, series=99),
        lambda: plot_shapelet(e, 99),
        lambda: plot_shapelet(e, 0, series=99),
        lambda: plot_metric(m, shapelet=99),
        lambda: plot_contributions(e, 0, answer=99),
        lambda: plot_series(e, 99),
    ):
        with pytest.raises(IndexError, match=r"must be a whole number from 0 to \d+; got"):
            ask()


def test_other_wrong_questions_are_refused(classified):
    model, X, y = classified
    explanation, learnt = model.explain(X), model.explain_model(X, y)
    with pytest.raises(ValueError, match="rank must be from 1 to"):
        plot_classes(learnt, rank=0)
    with pytest.raises(
        TypeError, match=r"plot_metric needs .*: model.explain_model\(X, y\); got Exp"
    ):
        plot_metric(explanation)
    with pytest.raises(ValueError, match="at least one series"):
        explanation.to_frame(series=[])
    with pytest.raises(ValueError, match="top must be at least 1"):
        explanation.to_frame(top=-1)
    same = explanation.what_if(0, 0, to=explanation.predicted[0])
    assert str(same).endswith("; that is what was asked for.")
    with pytest.raises(ValueError, match="got 'spike' for series 1. Leave out"):
        model.explain_model(X[:2], [y[0], "spike"])


def test_plots_given_a_model_say_what_to_do(classified):
    model, X, y = classified
    for plot in (plot_shapelet, plot_channels, plot_curve, plot_area, plot_heat_maps):
        with pytest.raises(
            TypeError,
            match=rf"{plot.__name__} needs an explanation: model.explain_model\(X, y\) or",
        ):
            plot(model, 0)
    for plot in (plot_series, plot_contributions):
        for wrong in (model, X):
            with pytest.raises(
                TypeError, match=rf"{plot.__name__} needs an explanation: model.explain\(X\); got"
            ):
                plot(wrong, 0)
        plot(model.explain_model(X, y), 0)  # holds one
    for plot in (plot_metric, plot_spectrum, plot_lengths, plot_classes):
        with pytest.raises(
            TypeError, match=rf"{plot.__name__} needs .*: model.explain_model\(X, y\); got Shapelet"
        ):
            plot(model)
    unpruned = ShapeletClassifier(**QUICK, procedure="paper").fit(X, y)
    for wrong in (unpruned, model.explain(X)):
        with pytest.raises(TypeError, match=r'fitted with n_shapelets="auto", or its path_; got'):
            plot_sizes(wrong)


def test_a_path_of_sizes_is_drawn(plt):
    path = SimpleNamespace(
        n_shapelets=np.array([8, 4, 2]), loss=np.array([0.3, 0.25, 0.5]),
        loss_error=np.array([0.1, 0.05, np.nan]), score=[0.9, 0.8, 0.7], score_name="accuracy",
        chosen=4,
    )  # fmt: skip
    for given in (path, SimpleNamespace(path_=path)):
        score, loss = plot_sizes(given)
        assert (score.get_ylabel(), loss.get_ylabel()) == (
            "validation accuracy", "validation loss"
        )  # fmt: skip
        np.testing.assert_array_equal(score.get_lines()[0].get_xydata().T[1], path.score)
        lines = labelled(loss)
        best = lines["within one standard error of the best"]
        np.testing.assert_allclose(best.get_ydata(), 0.3)
        assert lines["chosen: 4"].get_xydata().tolist() == [[4.0, 0.25]]
        assert loss.get_xscale() == "log"
        assert [t.get_text() for t in loss.get_xticklabels()] == ["8", "4", "2"]
    path.loss_error = np.full(3, np.nan)  # too few series to know
    axes = plt.subplots(2)[1]
    assert (plot_sizes(path, axes=axes) == axes).all()
    assert list(labelled(axes[1]))[-1] == "chosen: 4" and not axes[1].collections


def test_effects_are_of_the_model_not_of_the_series_given(classified):
    model, X, y = classified
    whole, one = model.explain_model(X, y), model.explain_model(X[:1], y[:1])
    np.testing.assert_array_equal(one.effect, whole.effect)
    assert (np.abs(one.effect).max(axis=0) > 0).any()
    present = model.classes_ == y[0]
    top = one.ranking()[present, 0]
    own = (one.nearest_label[top] == y[0]) & (one.effect[present, top] < 0)
    assert model.interpretability(X[:1], y[:1]).own == own.mean()


def test_one_series_is_not_a_batch(classified):
    model, X, y = classified
    with pytest.raises(TypeError, match="give a batch"):
        model.explain(RaggedSeries.from_arrays(X)[0])


def test_rows_of_a_dataframe_keep_their_names():
    pandas = pytest.importorskip("pandas")
    X = np.random.default_rng(0).normal(size=(8, 12))
    table = pandas.DataFrame(X, index=[f"patient {n}" for n in range(8)])
    model = ShapeletClassifier(n_shapelets=4, max_epochs=2, random_state=0)
    explanation = model.fit(table, [0, 1] * 4).explain(table)
    assert explanation.matches.names.tolist() == table.index.tolist()


def test_a_class_that_no_shapelet_speaks_for_has_no_top_shapelet(classified):
    model, X, y = classified
    learnt = model.explain_model(X, y)
    weight = 1.0 + np.abs(learnt.weight)
    weight[0, np.flatnonzero(learnt.nearest_label == learnt.classes[0])[0]] *= -1.0
    alone = replace(learnt, weight=weight, effect=weight)
    for by in ("weight", "effect"):
        found = measure(alone, by=by)
        assert found.unique == found.own == pytest.approx(1 / 3)
