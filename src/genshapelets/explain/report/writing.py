"""From a fitted estimator and series to a page."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...estimators import ShapeletClassifier
from ...estimators.base import ShapeletEstimator
from ...estimators.by_id import in_order
from ...estimators.goals import check_one_target, number_goal
from ...paths import Array, Index
from ...series import RaggedSeries
from ...writing import check_writable, replace_file
from ..channels import MANY, channel_importance, covariate_importance
from ..head import check_predicts
from ..hearing import cepstrum_of, has_seconds, listener_of, sound_of, waveform_of
from ..local import Explanation, explain_series
from ..measures import measure
from ..overall import ModelExplanation, checked_labels, learnt_from
from .cards import card
from .cases import SCORE, case, curves
from .data import about_channels, about_covariates, about_data, about_model
from .numbers import said, short
from .page import as_json, asset, render
from .scores import class_scores, number_scores
from .sounds import SoundOf, sounds
from .swarm import swarm
from .two_classes import two_class_scores
from .units import checked_channel_units, checked_time_unit

LARGEST = 4_800_000  # bytes that a page of no more than a thousand series takes up

MOST_EXCHANGED = 20_000  # channels of single series that are exchanged to see what they are worth


def write_report(
    estimator: ShapeletEstimator,
    path: str | os.PathLike,
    X: Any,
    y: Any = None,
    *,
    static: Any = None,
    title: str | None = None,
    max_series: int = 1000,
    random_state: int = 0,
    time_unit: str | None = None,
    channel_units: Mapping[str, str] | Sequence[str | None] | None = None,
    sounds_by: SoundOf | None = None,
    replace: bool = True,
) -> Path:
    """Write a page about a fitted model and these series; see ``ShapeletClassifier.report``.

    If the model hears (``preprocessing="mfc"`` or ``discrepancy="mfc"``), or with `sounds_by` (see
    `sounds.SoundOf`), X holds waveforms, and the page has players.
    Without `replace`, a file that is there is a FileExistsError.
    """
    check_predicts(estimator)
    check_one_target(estimator, "report(path, X, y)")
    target = Path(path)
    check_writable(target)
    if not isinstance(max_series, int | np.integer) or max_series < 1:
        raise ValueError(f"max_series must be a whole number of at least 1; got {max_series!r}.")
    given = estimator._known(X, static)
    series = estimator._as_series(given, fitting=False)
    estimator._check_like_training(series, estimator.model_)
    true = None if y is None else _as_targets(estimator, in_order(y, series), len(series))
    chosen = _sample(estimator, true, len(series), int(max_series), random_state)
    unit = checked_time_unit(time_unit, series.time_origin is not None)
    # First of all of them, so that what is wrong with a series is said of the right one.
    foretold = _foretell(estimator, given) if len(chosen) < len(given) else None
    explanation = explain_series(estimator, given[chosen])
    units = checked_channel_units(channel_units, explanation.matches.channel_names)
    if foretold is None:
        foretold = explanation.predicted, explanation.probabilities
    contents = _contents(explanation, series, chosen, true, foretold, unit)
    contents |= {"timeUnit": unit, "channelUnits": units}
    name = _title(explanation) if title is None else str(title)
    room = LARGEST - sum(len(text.encode("utf-8", "replace")) for text in _besides(contents))
    contents["curves"], contents["points"] = curves(
        explanation.matches.series, [one["channels"] for one in contents["cases"]], room
    )
    contents["sounds"] = None
    sounds_by = _sound_of(estimator, given) if sounds_by is None else sounds_by
    if sounds_by is not None:
        order = [one["number"] for one in contents["shapelets"]]
        contents["sounds"] = sounds(explanation.matches, given[chosen], order, sounds_by)
    replace_file(target, render(name, contents), replace=replace)
    return target


def _sound_of(estimator: ShapeletEstimator, waves: RaggedSeries) -> SoundOf | None:
    """What makes sounds of shapelets, if the model hears."""
    cepstrum, listener = cepstrum_of(estimator), listener_of(estimator.model_)
    if cepstrum is None and listener is not None:
        return lambda k, _: (waveform_of(estimator, k, listener), listener.sample_rate)
    if cepstrum is None:
        return None
    in_seconds = has_seconds(waves)

    def made(shapelet: int, stretch: Array) -> tuple[NDArray[Any] | None, float]:
        length = float(estimator.lengths_[shapelet]) / (1.0 if in_seconds else cepstrum.sample_rate)
        if round(length * cepstrum.sample_rate) < cepstrum.n_bins:  # too short to be heard
            return None, cepstrum.sample_rate
        return sound_of(estimator, shapelet, stretch, in_seconds), cepstrum.sample_rate

    return made


Foretold = tuple[NDArray[Any], Array | None]  # what is predicted, and the classes' probabilities


def _foretell(estimator: ShapeletEstimator, given: RaggedSeries) -> Foretold:
    if not isinstance(estimator, ShapeletClassifier):
        return estimator.predict(given), None
    probabilities = estimator.predict_proba(given)
    return estimator.classes_[probabilities.argmax(axis=1)], probabilities


def _contents(
    explanation: Explanation,
    series: Any,
    chosen: Index,
    true: Any,
    foretold: Foretold,
    time_unit: str,
) -> dict[str, Any]:
    """All that the page shows but the curves of the series."""
    estimator, found = explanation.estimator, explanation.matches
    classes = explanation.classes
    learnt, refusal = _learnt(explanation, None if true is None else true[chosen])
    codes = None if true is None or classes is None else np.searchsorted(classes, true)
    scores = None
    predicted, probabilities = foretold
    if codes is not None:
        assert classes is not None
        assert probabilities is not None
        scores = class_scores(codes, np.searchsorted(classes, predicted), len(classes))
        if len(classes) == 2:
            scores["two"] = two_class_scores(codes, probabilities)
    elif true is not None:
        scores = number_scores(true, predicted)
    labels = explanation.predicted if true is None else true[chosen]
    some = int(np.clip(MOST_EXCHANGED // len(found.channel_names), 50, MANY))
    importance = channel_importance(explanation, labels, max_series=some)
    beside = covariate_importance(explanation, labels)
    ids = np.arange(len(series)) if series.series_ids is None else np.asarray(series.series_ids)
    cases, weight = [], np.zeros(found.n_shapelets)
    for position, n in enumerate(chosen.tolist()):
        parts = explanation.contributions(position)
        weight += np.abs(parts[explanation.chosen(position)])
        code = None if codes is None else int(codes[n])
        one = case(explanation, position, ids[n], code, parts)
        one["label"] = short(true[n], SCORE) if code is None and true is not None else code
        cases.append(one)
    weight /= max(float(weight.sum()), 1e-300)
    order = np.argsort(-weight, kind="stable")
    width = 1000 if classes is None else max(200, min(10_000, 1_000_000 // len(classes)))
    return {
        "version": _version(),
        "classes": None if classes is None else [said(name, width) for name in classes],
        "channelNames": [said(name, 200) for name in found.channel_names],
        "hears": cepstrum_of(estimator) is not None,
        "centre": short(found.centre, 9),
        "sameScale": bool(found.scale.max() <= 4.0 * found.scale.min()),
        "data": about_data(series, codes, 0 if classes is None else len(classes), time_unit),
        "channels": about_channels(series, found.channel_names, importance),
        "beside": about_covariates(explanation, beside),
        "model": about_model(estimator),
        "scores": scores,
        "bias": short(explanation.bias, SCORE),
        "refusal": refusal,
        "measures": _measures(learnt, labelled=true is not None),
        "shapelets": [
            card(explanation, learnt, int(k), float(weight[k]), time_unit) for k in order
        ],
        "swarm": swarm(explanation, order),
        "cases": cases,
    }


def _learnt(explanation: Explanation, labels: Any) -> tuple[ModelExplanation | None, str | None]:
    """What the model has learnt, or why its head cannot be read."""
    if explanation.weight is None:
        try:
            explanation.estimator.model_.linear()
        except TypeError as reason:
            return None, str(reason)
    return learnt_from(explanation, explanation.predicted if labels is None else labels), None


def _measures(learnt: ModelExplanation | None, *, labelled: bool) -> dict[str, Any] | None:
    if learnt is None:
        return None
    measured = vars(measure(learnt))
    if not labelled:
        measured = measured | {"own": None}  # whose nearest series is of which class, nobody said
    return {name: short(value) for name, value in measured.items()}


def _as_targets(estimator: ShapeletEstimator, y: Any, n_series: int) -> NDArray[Any]:
    """Classes that the model knows, or finite numbers, one for each series."""
    labels = checked_labels(y, n_series, estimator)
    if isinstance(estimator, ShapeletClassifier):
        return labels
    number_goal(labels, np.ones(n_series))  # refuses what are no numbers
    return labels.astype(np.float64)


def _sample(
    estimator: ShapeletEstimator, true: Any, n_series: int, count: int, random_state: int
) -> Index:
    """Positions of the series to explain: all, or `count` at random; of each class its share."""
    if n_series <= count:
        return np.arange(n_series)
    order = np.random.default_rng(random_state).permutation(n_series)
    if true is not None and isinstance(estimator, ShapeletClassifier):
        codes = np.searchsorted(estimator.classes_, true[order])
        grouped = np.argsort(codes, kind="stable")
        counts = np.bincount(codes, minlength=len(estimator.classes_))
        rank = np.empty(n_series)
        rank[grouped] = np.arange(n_series) - (np.cumsum(counts) - counts)[codes[grouped]]
        # The first of each class comes before the second of any.
        order = order[np.argsort(rank / counts[codes], kind="stable")]
    return np.sort(order[:count])


def _title(explanation: Explanation) -> str:
    if explanation.classes is None:
        return "How this model predicts a number from a series"
    return "How this model tells series apart"


def _besides(contents: dict[str, Any]) -> list[str]:
    return [as_json(contents), asset("echarts/echarts.min.js")]


def _version() -> str:
    package = sys.modules[__name__.partition(".")[0]]  # complete, as this runs after its import
    return str(package.__version__)
