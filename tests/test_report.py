"""The report: what it says, how it is written, what is refused. No browser; see test_report_browser."""

import base64
import copy
import hashlib
import io
import os
import wave
from collections import Counter
from html.parser import HTMLParser
from importlib.resources import files
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from pages import (
    HOSTILE,
    QUICK,
    STRANGE,
    by_ear,
    cepstral,
    contents_of,
    dated,
    hostile,
    mixed,
    ragged,
    scale_free,
    spoken,
    two_classes,
    waves,
)
from sklearn.exceptions import NotFittedError
from sklearn.metrics import (
    average_precision_score,
    balanced_accuracy_score,
    brier_score_loss,
    confusion_matrix,
    r2_score,
    roc_auc_score,
)
from torch import nn

from genshapelets import RaggedSeries, ShapeletClassifier, ShapeletTransformer, load
from genshapelets.explain import find_matches, hear_shapelet
from genshapelets.explain.hearing import cepstra_of
from genshapelets.explain.report.numbers import LEVELS, pack, pack_curve, said_length, short, thin
from genshapelets.explain.report.page import ECHARTS_SHA256, ECHARTS_VERSION
from genshapelets.explain.report.scores import class_scores, number_scores
from genshapelets.explain.report.sounds import as_wav, size_of, sounds
from genshapelets.explain.report.two_classes import two_class_scores
from genshapelets.explain.report.writing import write_report


@pytest.fixture(scope="module")
def bad_names():
    return hostile()


@pytest.fixture(scope="module")
def plain():
    X, codes = waves()
    y = np.array(["a", "b", "c"])[codes]
    return ShapeletClassifier(**QUICK).fit(X, y), X, y


def report(model, folder, *given, **options):
    return contents_of(model.report(folder / "page.html", *given, **options))


def unpacked(packed):
    low, high, code = packed[:3]
    return low + (high - low) * np.frombuffer(base64.b64decode(code), "<u2") / LEVELS


# ------------------------------------------------------------------ what it says


def test_scores_are_those_of_the_predictions(bad_names, tmp_path):
    model, series, y = bad_names
    page = report(model, tmp_path, series, y)
    predicted = model.predict(series)
    scores = page["scores"]
    assert scores["accuracy"] == pytest.approx(model.score(series, y), abs=1e-4) != 1.0
    assert scores["interval"][0] < scores["accuracy"] < scores["interval"][1]
    assert scores["balanced"] == pytest.approx(balanced_accuracy_score(y, predicted), abs=1e-4)
    expected = confusion_matrix(y, predicted, labels=model.classes_)
    np.testing.assert_array_equal(scores["matrix"], expected)
    assert page["data"]["counts"] == expected.sum(axis=1).tolist()
    assert page["data"]["missing"] == 0 and page["data"]["evenly"] == 1
    assert page["model"]["history"]["loss"] == pytest.approx(model.history_["loss"], rel=1e-4)
    measured = model.interpretability(series, y)
    assert page["measures"]["closeness"] == pytest.approx(measured.closeness, rel=1e-4)
    importance = model.explain_model(series, y).channel_importance
    looked = [channel["importance"] for channel in page["channels"]]
    assert looked == pytest.approx(np.sort(importance)[::-1], rel=1e-4)


def assert_placed(found, k, n, channels, places):
    """As the page places a shapelet is how it is compared."""
    own, drawn = found.shapelets[k][channels], found.window(k, n)
    lift, scale = np.zeros((len(channels), 1)), np.ones((len(channels), 1))
    lift.flat[: len(places)] = places[: len(channels)]
    scale.flat[: len(places[len(channels) :])] = places[len(channels) :]
    knots = np.linspace(0.0, 1.0, own.shape[1])
    time = np.asarray(drawn.times - drawn.times[0], dtype=float)
    placed = own[:, :1] + lift + scale * (own - own[:, :1])
    got = [np.interp(time / time[-1], knots, row) for row in placed]
    want = drawn.shapelet[channels]
    largest = max(np.abs(want).max(), np.abs(lift).max(), scale.max() * np.ptp(own))
    np.testing.assert_allclose(got, want, atol=2e-3 * largest)


def assert_around(found, k, match, channels, duration):
    """A match is the path around its window, and says where its channels were observed."""
    n, own = match["series"], found.series[match["series"]]
    begin, end = match["first"] + np.array(match["window"]) * match["span"]
    assert begin == pytest.approx(match["begin"], abs=1e-4 * match["span"])
    assert end - begin == pytest.approx(duration, rel=1e-2)
    assert_placed(found, k, n, channels, match["places"])
    for d, packed, seen in zip(channels, match["paths"], match["seen"], strict=True):
        times = np.frombuffer(base64.b64decode(packed[3]), "<u2") / LEVELS * match["span"]
        path = found.path_at(n, own.times[0] + match["first"] + times)[d]
        np.testing.assert_allclose(unpacked(packed), path, atol=1e-2 * max(np.ptp(path), 1e-3))
        observed = own.times[~np.isnan(own.values[d])] - own.times[0]
        shares = np.clip((observed[[0, -1]] - match["first"]) / match["span"], 0, 1)
        assert seen == pytest.approx(shares, abs=1e-3)


@pytest.mark.parametrize("make", [hostile, dated, ragged, scale_free])
def test_contributions_sum_and_windows_are_those_of_explain(make, tmp_path):
    model, series, y = make()
    page = report(model, tmp_path, series, y)
    explanation = model.explain(series)
    found = explanation.matches
    unit = np.timedelta64(1, "s") if page["data"]["dated"] else 1.0
    assert len(page["cases"]) == len(series) == len(page["curves"])
    channels = {card["number"]: card["channels"] for card in page["shapelets"]}
    for n, case in enumerate(page["cases"]):
        assert case["answers"][0]["answer"] == explanation.chosen(n)
        first = series.to_user_time(series[n].times[0])
        for shown in case["answers"]:
            parts, answer = shown["parts"], shown["answer"]
            total = page["bias"][answer] + sum(part for _, part in parts) + (shown["rest"] or 0.0)
            assert total == pytest.approx(shown["score"], rel=1e-3, abs=1e-3)
            assert shown["score"] == pytest.approx(explanation.answers[n, answer], rel=1e-4)
            assert [k for k, _ in parts] == explanation.top(n, len(parts), answer).tolist()
            sizes = np.abs(explanation.contributions(n)[answer])
            carried = np.cumsum(-np.sort(-sizes)) / sizes.sum()
            assert carried[len(parts) - 1] == pytest.approx(shown["carried"], abs=1e-3)
            assert carried[len(parts) - 1] >= 0.9 - 1e-9  # and fewer do not
            assert len(parts) == 1 or carried[len(parts) - 2] < 0.9
            for k, _ in parts:
                near, alike, begin, *places = case["windows"][str(k)]
                assert begin == pytest.approx(
                    (found.start[n, k] - first) / unit, rel=1e-6, abs=1e-6
                )
                assert alike == explanation.alike[n, k]
                assert near <= 1 if alike else near >= 1
                n_places = int(found.level_free[k]) + int(found.scale_free[k])
                assert len(places) == n_places * len(channels[k])
                assert_placed(found, k, n, channels[k], places)
    for card in page["shapelets"]:
        k = card["number"]
        assert [match["series"] for match in card["closest"]] == found.closest(k, 8).tolist()
        for match in card["closest"]:
            assert_around(found, k, match, card["channels"], card["duration"])
        assert sum(card["where"]) == card["alike"] == explanation.alike[:, k].sum()
        assert (card["mostly"] is None) == (card["alike"] == 0)
        assert card["duration"] == pytest.approx(found._length[k])
    weights = [card["weight"] for card in page["shapelets"]]
    assert sum(weights) == pytest.approx(1.0, abs=1e-3) and weights == sorted(weights)[::-1]


def test_what_shapelets_speak_for(plain, tmp_path):
    model, X, y = plain
    learnt = model.explain_model(X, y)
    claims = learnt.claims()
    centred = -(learnt.effect - learnt.effect.mean(axis=0))
    for card in report(model, tmp_path, X, y)["shapelets"]:
        k = card["number"]
        answers, effects, weights = (list(column) for column in zip(*card["pulls"]))
        assert answers[0] == learnt.effect[:, k].argmin()
        assert effects == pytest.approx(centred[answers, k], rel=1e-3)
        assert weights == pytest.approx(learnt.weight[answers, k], rel=1e-3)
        says = [claims.answer[k], -1 if claims.against[k] else 1]
        assert card["claim"] == (says if claims.size[k] > 0 else None)
        # The match of its own class is the closest of those.
        of_class = np.flatnonzero(y == model.classes_[answers[0]])
        nearest = of_class[learnt.matches.discrepancy[of_class, k].argmin()]
        overall = learnt.matches.nearest[k]
        assert (card["own"] or {"series": overall})["series"] == nearest


def test_what_if_is_that_of_the_explanation(tmp_path):
    model, series, y = two_classes()
    page = report(model, tmp_path, series, y)
    explanation = model.explain(series)
    seen = set()
    for n, case in enumerate(page["cases"]):
        k = case["whatIf"]["shapelet"]
        assert k == explanation.top(n, 1)[0]
        asked = explanation.what_if(n, k)
        for way in ("closer", "further"):
            turn, told = getattr(asked, way), case["whatIf"][way]
            assert (turn is None) == (told is None)
            if turn is not None:
                times = case["windows"][str(k)][0] * turn.discrepancy / asked.discrepancy
                assert told[0] == pytest.approx(times, rel=2e-2)
                assert page["classes"][told[1]] == turn.predicted
        assert len(case["whatIf"]["never"]) == len(asked.out_of_reach)
        seen.add(asked.reachable)
    assert seen == {True, False}


def test_a_shapelet_that_says_nothing_makes_no_claim(plain, tmp_path):
    model, X, y = plain
    other = copy.deepcopy(model)
    with torch.no_grad():
        other.model_.head.weight[:, 3] = 0.0
    cards = {card["number"]: card for card in report(other, tmp_path, X, y)["shapelets"]}
    silent = (other.model_.head.weight == 0).all(dim=0)
    assert silent[3] and not silent.all()
    assert all((card["claim"] is None) == silent[k] for k, card in cards.items())


def test_numbers(tmp_path):
    model, series, y = dated()
    page = report(model, tmp_path, series, y)
    assert page["scores"]["r2"] == pytest.approx(model.score(series, y), abs=1e-4)
    assert page["scores"]["error"] == pytest.approx(
        np.abs(model.predict(series) - y).mean(), rel=1e-4
    )
    assert page["classes"] is None and page["cases"][1]["label"] == 105
    assert page["cases"][0]["first"] == 1709294400000  # noon of the first of March 2024
    assert page["data"]["steps"] == ["1 hour"] * 3 and page["data"]["missing"] == 0.13333
    assert "hours" in page["shapelets"][0]["length"] or "days" in page["shapelets"][0]["length"]
    constant = report(model, tmp_path, series, np.full(len(y), 100.0))
    assert constant["scores"]["r2"] is None


@pytest.mark.parametrize("size", [1e-12, 1.0, 1e200])
def test_errors_of_numbers_of_any_size(size):
    true, predicted = np.array([1.0, 2.0, 4.0]), np.array([1.5, 2.0, 3.0])
    scores = number_scores(size * true, size * predicted)
    assert scores["r2"] == pytest.approx(r2_score(true, predicted), rel=1e-4)
    assert scores["error"] == pytest.approx(size * 0.5)
    assert scores["rmse"] == pytest.approx(size * np.sqrt(1.25 / 3), rel=1e-4)


def test_no_r2_where_all_numbers_are_the_same():
    same = number_scores(np.full(7, 0.1), np.linspace(0.0, 0.2, 7))  # whose mean is not quite 0.1
    assert same["r2"] is None and same["guess"] == 0


def test_only_classes_that_are_there_are_found_least():
    codes = np.arange(30)
    said = class_scores(codes[:2].repeat(9), codes[2:20], 30)
    assert not said["cut"] and [c for c, *_ in said["classes"]] == list(range(20))
    few = class_scores(codes[:2].repeat(14), codes[2:30], 30)
    assert not few["cut"] and [c for c, *_ in few["classes"]] == [0, 1]
    many = class_scores(codes[:25], codes[1:26], 30)
    assert many["cut"] and len(many["classes"]) == 20
    assert class_scores(np.zeros(10**6, int), np.arange(10**6) // 999_999, 2)["accuracy"] < 1


def test_what_is_drawn_of_channels(tmp_path):
    model, series, y = hostile()
    page = report(model, tmp_path, series, y)
    found = model.explain(series).matches
    assert page["centre"] == pytest.approx(found.centre, rel=1e-6)
    assert page["sameScale"] == (found.scale.max() <= 4.0 * found.scale.min())
    for card in page["shapelets"]:
        looked = found.metric_of(card["number"])[card["channels"]]
        assert card["looked"] == pytest.approx(looked, rel=1e-2)
        assert card["strength"] == pytest.approx(looked / looked.max(), abs=1e-3)
        assert all(all(match["seen"]) for match in card["closest"])
    unseen = np.stack([one.values for one in series])
    unseen[:, 1] = np.nan
    page = report(model, tmp_path, unseen)
    assert {len(curves[1][2]) for curves in page["curves"]} == {0}
    for card in page["shapelets"]:
        for match in card["closest"]:
            seen = dict(zip(card["channels"], match["seen"], strict=True))
            assert seen.pop(1, None) is None and all(seen.values())


def test_channels_of_weight_0_are_not_drawn(plain, tmp_path):
    model, X, y = plain
    other = copy.deepcopy(model)
    with torch.no_grad():
        other.model_.transform.discrepancy.weight[..., 0] = 1.0
        other.model_.transform.discrepancy.weight[..., 1] = 0.0
    page = report(other, tmp_path, X, y)
    for card in page["shapelets"]:
        assert card["channels"] == [0] and card["looked"] == [1]
        assert len(card["shape"]) == len(card["closest"][0]["paths"]) == 1


def test_a_path_is_held_where_the_series_is_over(plain, tmp_path):
    model, X, y = plain
    model.set_params(short_series="hold")
    page = report(model, tmp_path, RaggedSeries.from_arrays([X[0, :, :2], X[1]]))
    model.set_params(short_series="error")
    of_short = [m for card in page["shapelets"] for m in card["closest"] if m["series"] == 0]
    assert of_short
    for match in of_short:
        assert match["span"] > 1  # the series is only 1 long
        for begin, end in match["seen"]:
            assert begin == 0 and end == pytest.approx(1 / match["span"], abs=1e-3)


def test_training_windows_are_drawn_where_the_model_keeps_them(tmp_path):
    model, series, y = scale_free()
    model.sources_ = None
    assert report(model, tmp_path, series, y)["shapelets"][0]["source"] is None
    found = model.explain(series).matches
    values = 5.0 + 3.0 * found.shapelets
    model.sources_ = SimpleNamespace(
        series=np.arange(100, 112), start=np.linspace(0, 1, 12), values=values
    )
    for card in report(model, tmp_path, series, y)["shapelets"]:
        k, source = card["number"], card["source"]
        assert source["series"] == str(100 + k) and source["start"] == pytest.approx(
            k / 11, rel=1e-5
        )
        drawn = np.array([unpacked(row) for row in source["values"]])
        expected = values[k]
        if found.level_free[k]:
            own = found.shapelets[k]
            size = 1.0 if found.scale_free[k] else 3.0
            expected = size * (own - own.mean(axis=1, keepdims=True)) + own.mean(
                axis=1, keepdims=True
            )
        np.testing.assert_allclose(drawn, expected[card["channels"]], atol=1e-3)


# ------------------------------------------------------------------ units


def test_units_are_named(tmp_path):
    model, series, y = ragged()
    names = model.explain(series).matches.channel_names
    page = report(
        model, tmp_path, series, y, time_unit="h", channel_units={names[2]: "bpm", names[0]: None}
    )
    assert page["timeUnit"] == "h" and page["shapelets"][0]["length"].endswith(" h")
    assert page["channelUnits"] == ["", "", "bpm", *[""] * 9]
    assert page["data"]["spans"][0].endswith(" h")
    listed = report(model, tmp_path, series, y, channel_units=["mV"] * 12)
    assert listed["channelUnits"] == ["mV"] * 12 and listed["timeUnit"] == ""


@pytest.mark.parametrize(
    ("units", "error", "reason"),
    [
        ({"time_unit": 3}, TypeError, "time_unit must be a text"),
        ({"channel_units": {"puls": "bpm"}}, ValueError, r"\(pulse\); got 'puls'"),
        ({"channel_units": ["a", "b"]}, ValueError, "a list of 1 texts"),
        ({"channel_units": "m"}, ValueError, "a dict by name of channel"),
        ({"channel_units": [3]}, TypeError, "must hold texts"),
        ({"time_unit": "h"}, ValueError, "are dates"),
    ],
)
def test_units_that_cannot_be(tmp_path, units, error, reason):
    model, series, y = dated()
    with pytest.raises(error, match=reason):
        model.report(tmp_path / "page.html", series, y, **units)
    assert not (tmp_path / "page.html").exists()


# ------------------------------------------------------------------ two classes


@pytest.mark.parametrize("n_levels", [7, 100_000])  # with ties, and without
def test_curves_of_two_classes_are_scikit_learns(n_levels):
    random = np.random.default_rng(0)
    true = (random.random(500) < 0.2).astype(int)
    score = np.clip(0.3 * true + random.random(500) * 0.7, 0, 1)
    score = np.round(score * n_levels) / n_levels
    both = two_class_scores(true, np.stack([1 - score, score], axis=1))
    assert both["sought"] == 1
    assert both["brier"] == pytest.approx(brier_score_loss(true, score), rel=1e-4)
    for c, side in enumerate(both["sides"]):
        there, said = true == c, score if c else 1 - score
        assert side["auroc"] == pytest.approx(roc_auc_score(there, said), rel=1e-4)
        assert side["auprc"] == pytest.approx(average_precision_score(there, said), rel=1e-4)
        assert side["thresholds"] == sorted(side["thresholds"]) and 0.5 in side["thresholds"]
        assert len(side["thresholds"]) <= 301
        for threshold, found, mistaken in zip(
            side["thresholds"], side["found"], side["mistaken"], strict=True
        ):
            named = said >= threshold - 1e-6
            assert [found, mistaken] == [(named & there).sum(), (named & ~there).sum()]
    assert sum(count for *_, count in both["calibration"]) == 500
    for mean, share, low, high, _ in both["calibration"]:
        assert 0 <= low <= share <= high <= 1 and 0 <= mean <= 1


def test_one_class_of_two_has_no_curve():
    both = two_class_scores(np.zeros(3, int), np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]]))
    assert [side["auroc"] for side in both["sides"]] == [None, None]
    assert both["sides"][1]["auprc"] is None and both["sides"][0]["auprc"] == 1


def test_two_classes_of_a_model(tmp_path):
    model, series, y = two_classes()
    page = report(model, tmp_path, series, y)
    two, matrix = page["scores"]["two"], page["scores"]["matrix"]
    assert page["model"]["weighted"] == "balanced"
    side = two["sides"][1]
    at = side["thresholds"].index(0.5)
    assert [side["mistaken"][at], side["found"][at]] == [matrix[0][1], matrix[1][1]]
    some = report(model, tmp_path, series, y, max_series=5)  # the curves are of all series
    assert some["scores"]["two"] == two and len(some["cases"]) == 5
    assert "two" not in report(*ragged()[:1], tmp_path, *ragged()[1:])["scores"]


# ------------------------------------------------------------------ all series at once, sizes


def test_the_swarm_has_the_contributions(tmp_path):
    model, series, y = ragged()
    swarm = report(model, tmp_path, series, y)["swarm"]
    explanation = model.explain(series)
    for i, k in enumerate(swarm["shapelets"]):
        parts = np.outer(unpacked(swarm["above"][i]), np.array(swarm["weights"])[:, i])
        expected = explanation.contributions()[:, :, k]
        np.testing.assert_allclose(parts, expected, atol=1e-3 * np.abs(expected).max())


def test_sizes_that_training_tried(plain, tmp_path):
    model, X, y = plain
    assert report(model, tmp_path, X, y)["model"]["sizes"] is None
    other = copy.deepcopy(model)
    other.path_ = SimpleNamespace(
        n_shapelets=[30, 12, 5],
        loss=[0.2, 0.21, 0.5],
        loss_error=[0.02, 0.02, 0.1],
        score=np.array([0.9, 0.89, 0.6]),
        score_name="accuracy",
        chosen=1,
    )
    assert report(other, tmp_path, X, y)["model"]["sizes"] == {
        "scoreName": "accuracy",
        "n_shapelets": [5, 12, 30],
        "loss": [0.5, 0.21, 0.2],
        "loss_error": [0.1, 0.02, 0.02],
        "score": [0.6, 0.89, 0.9],
    }


def test_kinds_are_named_and_areas_are_those_of_the_shapelets(tmp_path):
    model, series, y = mixed()
    page = report(model, tmp_path, series, y)
    found = model.explain(series).matches
    kinds = {title: count for title, count, _ in page["model"]["kinds"]}
    assert kinds == Counter(found.kinds) and len(kinds) == 3
    assert all(meaning for *_, meaning in page["model"]["kinds"])
    for card in page["shapelets"]:
        k = card["number"]
        assert card["kind"] == found.kinds[k] and card["map"] is None
        if found.kinds[k] != "log-signature":
            assert card["area"] is None
            assert card["tag"] in (found.kinds[k], "", "level-free")
            continue
        area = card["area"]
        x, y_ = found.shapelets[k]
        expected = 0.5 * ((x - x[0])[:-1] * np.diff(y_) - (y_ - y_[0])[:-1] * np.diff(x)).sum()
        assert area["areas"][0] == pytest.approx(expected, rel=1e-3)
        assert area["channels"] == [0, 1] and area["names"] == ["pulse", "breath"]
        assert {sign for sign, _ in area["loops"]} <= {1, -1} and area["loops"]
        drawn = np.array([unpacked(row) for row in area["shape"]])
        np.testing.assert_allclose(drawn, found.shapelets[k] - found.shapelets[k][:, :1], atol=1e-3)


def test_a_shapelet_is_drawn_on_its_card_as_it_is_compared(tmp_path):
    model, series, y = scale_free()
    page = report(model, tmp_path, series, y)
    found = model.explain(series).matches
    assert found.scale_free.any() and not found.scale_free.all()
    for card in page["shapelets"]:
        k, match, channels = card["number"], card["closest"][0], card["channels"]
        own = np.array([unpacked(row) for row in card["shape"]])
        np.testing.assert_allclose(own, found.shapelets[k][channels], atol=1e-3 * np.ptp(own))
        assert match["series"] == found.nearest[k]
        assert_placed(found, k, found.nearest[k], channels, match["places"])


def test_cepstra_are_drawn_as_heat_maps(tmp_path):
    model, series, y = cepstral()
    page = report(model, tmp_path, series, y)
    found = model.explain(series).matches
    assert page["hears"]
    for card in page["shapelets"]:
        window = found.window(card["number"])
        heat, columns = card["map"], card["map"]["columns"]
        for name, values in (("shape", window.shapelet), ("segment", window.path)):
            drawn = unpacked(heat[name]).reshape(12, columns)
            ends = (values[:, [0, -1]] - found.centre[:, None]) / found.scale[:, None]
            np.testing.assert_allclose(drawn[:, [0, -1]], np.clip(ends, -3, 3), atol=1e-3)


def test_waveforms_compared_by_ear_are_seen_and_heard(tmp_path):
    model, series, y = by_ear()
    page = report(model, tmp_path, series, y)
    found = model.explain(series).matches
    measure = model.model_.transform.discrepancy
    assert page["model"]["kinds"][0][:2] == ["mel-frequency cepstrum", 4]
    for card in page["shapelets"]:
        k, heat = card["number"], card["map"]
        assert card["channels"] == [0] and heat["rows"] == 12 and not page["hears"]
        length = torch.tensor(found._length[k])
        assert heat["columns"] == min(measure.n_frames(length), 40)
        assert len(unpacked(heat["segment"])) == 12 * heat["columns"]
        samples, rate = heard(page["sounds"]["shapelets"][str(k)][0])
        own = hear_shapelet(model, k, path=tmp_path / "own.wav")
        assert rate == 8000 and len(own) == round(float(model.lengths_[k]) * 8000)
        np.testing.assert_allclose(samples, own, atol=1e-3)
        np.testing.assert_allclose(own[[0, -1]], model.shapelets_[k][0, [0, -1]], atol=1e-6)
        assert (tmp_path / "own.wav").stat().st_size == 44 + 2 * len(own)


def test_cepstra_are_those_that_are_compared():
    model, series, _ = by_ear()
    found = find_matches(model, series)
    measure = found._model.transform.discrepancy
    for k in range(found.n_shapelets):
        shape, segment, _ = cepstra_of(found, k, 3)
        difference = torch.from_numpy((shape - segment).T)[None]
        counts = measure.frame_weights(torch.tensor(found._length[k]), shape.shape[1])
        squares = measure.scaled(difference)[0].square().sum(dim=1).detach()
        assert found.discrepancy[3, k] == pytest.approx(float((counts @ squares).sqrt()), rel=1e-4)


def test_microseconds_are_kept(tmp_path):
    X, codes = waves(n_channels=1)
    times = np.datetime64("2024-03-01T12:00:00.000250") + 5 * np.arange(30).astype("m8[us]")
    model = ShapeletClassifier(**QUICK).fit(RaggedSeries.from_arrays(X, times), codes)
    page = report(model, tmp_path, RaggedSeries.from_arrays(X, times))
    assert page["cases"][0]["first"] == 1709294400000.25
    assert page["cases"][0]["span"] == pytest.approx(145e-6)


def test_without_labels(plain, tmp_path):
    model, X, y = plain
    page = report(model, tmp_path, X)
    assert page["scores"] is None and page["data"]["counts"] is None
    assert {case["label"] for case in page["cases"]} == {None}
    assert page["measures"]["own"] is None and page["measures"]["unique"] is not None
    assert page["shapelets"][0]["pulls"] == report(model, tmp_path, X, y)["shapelets"][0]["pulls"]


def test_a_head_that_cannot_be_read(tmp_path):
    X, codes = waves()
    head = nn.Sequential(nn.Linear(12, 8), nn.Tanh(), nn.Linear(8, 3))
    model = ShapeletClassifier(head=head, **QUICK).fit(X, codes)
    page = report(model, tmp_path, X, codes)
    assert "only a linear head has one weight" in page["refusal"] and page["measures"] is None
    assert page["shapelets"][0]["pulls"] is None
    for case in page["cases"]:
        shown = case["answers"][0]
        total = page["bias"][shown["answer"]] + sum(part for _, part in shown["parts"])
        assert total + shown["rest"] == pytest.approx(shown["score"], rel=1e-3, abs=1e-3)


def test_of_many_channels_those_are_drawn_that_say_most(tmp_path):
    model, series, y = ragged()
    page = report(model, tmp_path, series, y)
    explanation = model.explain(series)
    found = explanation.matches
    assert {len(curves) for curves in page["curves"]} == {6}
    for case in page["cases"]:
        looked = np.zeros(12)
        for k in map(int, case["windows"]):
            parts = explanation.contributions(page["cases"].index(case))[:, k]
            looked += np.abs(parts).max() * found.metric_of(k)
        assert case["channels"] == sorted(np.argsort(-looked, kind="stable")[:6].tolist())
    for card in page["shapelets"]:
        assert card["channels"] == sorted(found.channels(card["number"], 6).tolist())
    assert len(page["channels"]) == 12 and page["data"]["evenly"] < 1


def test_many_classes_have_no_matrix(tmp_path):
    X, codes = waves(75, n_classes=25, n_times=60)
    model = ShapeletClassifier(n_shapelets=4, max_epochs=1, random_state=0, n_jobs=1).fit(X, codes)
    page = report(model, tmp_path, X, codes)
    predicted = model.predict(X)
    assert "matrix" not in page["scores"] and len(page["scores"]["classes"]) == 20
    for true, said, count in page["scores"]["pairs"]:
        assert count == ((codes == true) & (predicted == said)).sum() > 0
    effect = -model.explain_model(X, codes).effect
    effect -= effect.mean(axis=0)
    for card in page["shapelets"]:  # the strongest each way, and none that is on neither side
        answers = [answer for answer, *_ in card["pulls"]]
        of_this = effect[:, card["number"]]
        order = np.argsort(-of_this, kind="stable")
        best = [c for c in order if of_this[c] > 0][:3]
        assert answers == best + [c for c in order if of_this[c] < 0][-3:]


def test_one_series(plain, tmp_path):
    model, X, y = plain
    page = report(model, tmp_path, X[:1], y[:1])
    assert page["scores"]["accuracy"] in (0, 1) and len(page["cases"]) == 1
    assert len(page["shapelets"][0]["closest"]) == 1


def test_a_single_time_and_series_shorter_than_shapelets(plain, tmp_path):
    model, X, _ = plain
    model = model.set_params(short_series="hold")
    page = report(model, tmp_path, RaggedSeries.from_arrays([X[0, :, :1], X[1]]))
    assert page["cases"][0]["span"] == 0
    model.set_params(short_series="error")


# ------------------------------------------------------------------ sampling and size


def test_of_many_series_some_of_every_class_are_explained(plain, tmp_path):
    model, X, y = plain
    rare = np.concatenate([np.flatnonzero(y == "a")[:1], np.repeat(np.flatnonzero(y != "a"), 3)])
    page = report(model, tmp_path, X[rare], y[rare], max_series=7)
    assert len(page["cases"]) == 7 and page["data"]["series"] == len(rare)
    labels = [page["classes"][case["label"]] for case in page["cases"]]
    assert labels.count("a") == 1 and labels.count("b") == labels.count("c") == 3
    assert page["scores"]["accuracy"] == pytest.approx(model.score(X[rare], y[rare]), abs=1e-4)
    chosen = [int(case["name"]) for case in page["cases"]]  # positions in what was given
    assert [y[rare][n] for n in chosen] == labels and chosen == sorted(set(chosen))
    other = report(model, tmp_path, X[rare], y[rare], max_series=7, random_state=1)
    assert [int(case["name"]) for case in other["cases"]] != chosen
    assert len(report(model, tmp_path, X, max_series=5)["cases"]) == 5


@pytest.mark.slow
def test_a_thousand_long_series_of_many_channels_stay_small(tmp_path):
    X, codes = waves(1000, n_channels=8, n_times=1000)
    X = X.astype(np.float32)
    options = {"max_epochs": 1, "random_state": 0, "n_knots": 64}
    model = ShapeletClassifier(**options).fit(X[:60], codes[:60])
    file = model.report(tmp_path / "page.html", X, codes)
    assert file.stat().st_size < 5e6
    assert contents_of(file)["points"] < 1000


@pytest.mark.slow
def test_a_hundred_thousand_series(plain, tmp_path):
    model, X, y = plain
    many = np.resize(np.arange(24), 100_000)
    page = report(model, tmp_path, X[many], y[many])
    assert len(page["cases"]) == 1000 and sum(page["data"]["counts"]) == 100_000


def test_thinning_keeps_ends_and_extremes():
    values = np.sin(np.linspace(0, 40, 1000))
    values[[313, 777]] = [9.0, -9.0]
    kept = thin(values, 50)
    assert len(kept) <= 50 and {0, 313, 777, 999} <= set(kept.tolist())
    assert all(one < other for one, other in pairwise(kept.tolist()))
    np.testing.assert_array_equal(thin(values[:7], 7), np.arange(7))
    low, high, heights, places = pack_curve(np.linspace(0, 1, 1000), values, 50)
    assert (low, high) == (-9, 9) and len(places) == len(heights) <= 50 * 2 * 4 / 3 + 4
    assert pack_curve(np.empty(0), np.empty(0), 9)[2:] == ["", ""]


def test_packed_numbers_come_back():
    values = np.array([3.0, -1.0, 0.5, 2.999])
    low, high, code = pack(values)
    levels = np.frombuffer(base64.b64decode(code), "<u2") / LEVELS
    np.testing.assert_allclose(low + levels * (high - low), values, atol=4.0 / LEVELS)
    assert pack(np.full(2, 7.0)) == [7, 7, "AAAAAA=="]


def test_numbers_are_short():
    assert short(np.array([1.0, np.nan, 1 / 3])) == [1, None, 0.33333]
    assert short(1.7e9 + 0.25, 15) == 1700000000.25
    assert said_length(90.0, dated=True) == "1.5 minutes"
    assert said_length(3600.0, dated=True) == "1 hour"
    assert said_length(90.0, dated=False) == "90 time units"
    assert said_length(1.0, dated=False) == "1 time unit"


# ------------------------------------------------------------------ sounds


@pytest.fixture(scope="module")
def speech():
    return spoken()


def heard(sound):
    """Samples, from -1 to 1, and rate of a sound of the page."""
    code, seconds = sound
    with wave.open(io.BytesIO(base64.b64decode(code, validate=True))) as file:
        assert (file.getnchannels(), file.getsampwidth()) == (1, 2)
        samples = np.frombuffer(file.readframes(-1), "<i2") / 32767
        assert seconds == pytest.approx(len(samples) / file.getframerate(), rel=0.01)
        return samples, file.getframerate()


def test_players_have_the_sounds_of_shapelets_matches_and_series(speech, tmp_path):
    model, series, y, sound_of = speech
    page = contents_of(write_report(model, tmp_path / "page.html", series, y, sounds_by=sound_of))
    found = model.explain(series).matches
    assert [int(k) for k in page["sounds"]["shapelets"]] == [c["number"] for c in page["shapelets"]]
    for name, (own, match) in page["sounds"]["shapelets"].items():
        k = int(name)
        n = found.nearest[k]
        inside = (series[n].times >= found.start[n, k]) & (series[n].times <= found.end[n, k])
        stretch, rate = heard(match)
        np.testing.assert_allclose(stretch, series[n].values[0, inside], atol=1e-4)
        assert rate == 8000 and inside.sum() > 2
        np.testing.assert_allclose(heard(own)[0], sound_of(k, stretch)[0], atol=1e-4)
    assert len(page["sounds"]["series"]) == len(series)
    for n, sound in page["sounds"]["series"].items():
        np.testing.assert_allclose(heard(sound)[0], series[int(n)].values[0], atol=1e-4)


def test_sounds_are_those_of_the_series_that_are_explained(speech, tmp_path):
    model, series, y, sound_of = speech
    page = contents_of(
        write_report(model, tmp_path / "page.html", series, y, max_series=5, sounds_by=sound_of)
    )
    names = [case["name"] for case in page["cases"]]
    assert len(names) == 5 == len(page["sounds"]["series"])
    for n, sound in page["sounds"]["series"].items():
        own = series.series_ids.tolist().index(names[int(n)])
        np.testing.assert_allclose(heard(sound)[0], series[own].values[0], atol=1e-4)


def test_sounds_keep_to_their_room_the_most_important_first(speech):
    model, series, _, sound_of = speech
    found = model.explain(series).matches
    order = list(range(found.n_shapelets))[::-1]
    made = []

    def noted(shapelet, stretch):
        made.append(shapelet)
        return sound_of(shapelet, stretch)

    whole = sounds(found, series, order, sound_of)
    sizes = {k: sum(len(code) for code, _ in both) for k, both in whole["shapelets"].items()}
    n_heard = len(order) - 2
    room = int(1.5 * sum(sizes[k] for k in order[:n_heard])) + 3  # two thirds are for shapelets
    some = sounds(found, series, order, noted, room)
    assert list(some["shapelets"]) == order[:n_heard] and made == list(some["shapelets"])
    codes = [code for both in some["shapelets"].values() for code, _ in both]
    codes += [code for code, _ in some["series"].values()]
    assert 0 < len(some["series"]) < len(series) and sum(map(len, codes)) <= room
    assert set(some["series"]) <= {0, *found.nearest[list(some["shapelets"])].tolist()}
    none = sounds(found, series, order, lambda *_: pytest.fail("made"), 100)
    assert not none["shapelets"] and not none["series"]


def test_a_shapelet_too_short_to_be_heard_has_the_player_of_its_match(speech):
    model, series, _, _ = speech
    found = model.explain(series).matches
    page = sounds(found, series, [3, 1], lambda *_: (None, 8000))
    assert [own for own, _ in page["shapelets"].values()] == [None, None]
    assert all(len(heard(match)[0]) > 2 for _, match in page["shapelets"].values())
    assert len(page["series"]) == len(series)


def test_wav_files(speech):
    samples, rate = heard(
        [base64.b64encode(as_wav(np.array([0.5, -1.0, np.nan]), 11025.0)), 3 / 11025]
    )
    assert rate == 11025 and samples == pytest.approx([0.5, -1.0, 0.0], abs=1e-4)
    samples, _ = heard([base64.b64encode(as_wav(np.array([4.0, -1.0]), 8000)), 2 / 8000])
    assert samples == pytest.approx([1.0, -0.25], abs=1e-4)
    for n in range(1, 5):
        assert size_of(n) == len(base64.b64encode(as_wav(np.zeros(n), 8000)))
    model, series, _, sound_of = speech
    other = RaggedSeries.from_arrays(np.zeros((12, 2, 600)))
    with pytest.raises(ValueError, match="which have one channel; X has 2"):
        sounds(model.explain(series).matches, other, [0], sound_of)


def test_without_sounds_there_are_no_players(plain, tmp_path):
    model, X, y = plain
    assert report(model, tmp_path, X, y)["sounds"] is None


# ------------------------------------------------------------------ the file


class Tags(HTMLParser):
    """Collects the tags of a page, and whatever could fetch something."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.addresses = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.addresses += [value for name, value in attrs if name in ("src", "href")]


def test_names_from_data_stay_text(bad_names, tmp_path):
    model, series, y = bad_names
    title = "<script>window.broken = 1</script> {{contents}}"
    file = model.report(tmp_path / "page.html", series, y, title=title)
    tags = Tags(file.read_text(encoding="utf-8"))
    assert tags.tags.count("script") == 3 and "img" not in tags.tags
    assert all(address.startswith(("#", "data:")) for address in tags.addresses)
    page = contents_of(file)
    assert sorted(page["classes"]) == sorted(HOSTILE)
    assert page["channelNames"] == [HOSTILE[0], STRANGE]
    assert b"default-src 'none'" in file.read_bytes()


def test_the_same_model_and_data_give_the_same_bytes(plain, tmp_path):
    model, X, y = plain
    model.save(tmp_path / "model", sources=True)
    written = [
        one.report(tmp_path / name, X, y, max_series=9).read_bytes()
        for one, name in [(model, "a"), (model, "b"), (load(tmp_path / "model"), "c")]
    ]
    assert written[0] == written[1] == written[2]
    assert b"<title>How this model tells series apart</title>" in written[0]


def test_an_older_page_stays_until_the_new_one_is_complete(plain, tmp_path, monkeypatch):
    model, X, y = plain
    file = tmp_path / "page.html"
    file.write_text("old")

    def fail(*_):
        raise OSError("disk full")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", fail)
        with pytest.raises(OSError, match="disk full"):
            model.report(file, X, y)
    assert file.read_text() == "old" and os.listdir(tmp_path) == ["page.html"]
    assert model.report(str(file), X, y) == file and b"<!doctype html>" in file.read_bytes()[:20]


def test_echarts_is_as_published():
    folder = files("genshapelets.explain.report") / "assets" / "echarts"
    content = (folder / "echarts.min.js").read_bytes()
    assert hashlib.sha256(content).hexdigest() == ECHARTS_SHA256
    assert f'version="{ECHARTS_VERSION}"'.encode() in content and b"</script" not in content
    assert "Apache License" in (folder / "LICENSE").read_text(encoding="utf-8")
    assert "Apache ECharts" in (folder / "NOTICE").read_text(encoding="utf-8")


# ------------------------------------------------------------------ what is refused


def test_a_page_that_cannot_be_written_is_refused_before_the_work(plain, tmp_path, monkeypatch):
    model, _, _ = plain
    with pytest.raises(IsADirectoryError, match="it is a directory"):
        model.report(tmp_path, "never read")
    with pytest.raises(FileNotFoundError, match="there is no directory .*nowhere"):
        model.report(tmp_path / "nowhere" / "page.html", "never read")
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(PermissionError, match="no permission to write"):
        model.report(tmp_path / "page.html", "never read")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"X": np.empty((0, 2, 30)), "y": []}, "at least one series"),
        ({"X": np.zeros((3, 5, 30)), "y": None}, "X has 5 channels"),
        ({"y": ["a"]}, "one entry for each series"),
        ({"y": ["?"] * 24}, "y must hold classes of the model"),
        ({"max_series": 0}, "max_series must be a whole number of at least 1; got 0"),
        ({"max_series": 2.5}, "max_series must be a whole number"),
    ],
)
def test_bad_input(plain, tmp_path, change, reason):
    model, X, y = plain
    given = {"X": X, "y": y} | change
    with pytest.raises(ValueError, match=reason):
        model.report(tmp_path / "page.html", **given)
    assert not os.listdir(tmp_path)


def test_targets_of_a_regressor_are_numbers(tmp_path):
    model, series, y = dated()
    for wrong, reason in [(np.where(y > 100, y, np.nan), "is missing"), (["x"] * 20, "be numbers")]:
        with pytest.raises(ValueError, match=reason):
            model.report(tmp_path / "page.html", series, wrong)


def test_before_fit_and_without_predictions(plain, tmp_path):
    _, X, y = plain
    model = ShapeletClassifier()
    for ask in (model.explain, model.explain_model, model.interpretability):
        with pytest.raises(NotFittedError):
            ask(X) if ask == model.explain else ask(X, y)
    with pytest.raises(NotFittedError):
        model.report(tmp_path / "page.html", X, y)
    transformer = ShapeletTransformer(n_shapelets=2, random_state=0).fit(X)
    with pytest.raises(TypeError, match="ShapeletTransformer predicts nothing"):
        transformer.report(tmp_path / "page.html", X)
    with pytest.raises(TypeError, match="ShapeletTransformer predicts nothing"):
        transformer.explain(X)


def test_series_of_other_channels_are_told_before_their_labels(plain, tmp_path):
    model, X, _ = plain
    other = np.concatenate([X, X, X], axis=1)
    with pytest.raises(ValueError, match="channels, but ShapeletClassifier was fitted on"):
        model.report(tmp_path / "page.html", other, ["unheard of"] * len(X))
    assert not list(tmp_path.iterdir())
