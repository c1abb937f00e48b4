"""What the page says about the series and the model."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...estimators.base import ShapeletEstimator
from ...paths import Array
from ...series import RaggedSeries
from ..kinds import MEANING
from ..local import Explanation
from .numbers import said, said_length, short

MANY_CHANNELS = 40  # more are not all listed
MANY_EPOCHS = 400  # more are not all drawn
OF_THE_RUN = {"checkpoint", "checkpoint_interval", "n_jobs", "verbose"}  # and not of the model


def about_data(
    series: RaggedSeries, codes: NDArray[Any] | None, n_classes: int, time_unit: str = ""
) -> dict[str, Any]:
    """Sizes, sampling, missing values and, from codes of the classes, their balance."""
    dated = series.time_origin is not None
    lengths, spans = series.lengths, series.spans
    owner = np.repeat(np.arange(len(series)), lengths)
    within = owner[1:] == owner[:-1]
    steps, owner = np.diff(series.times)[within], owner[1:][within]
    mean_step = (spans / np.maximum(lengths - 1, 1))[owner]
    uneven = np.unique(owner[np.abs(steps - mean_step) > 1e-3 * mean_step])
    counts = None
    if codes is not None and n_classes:
        counts = np.bincount(codes, minlength=n_classes).tolist()
    return {
        "series": len(series),
        "channels": series.n_channels,
        "times": [int(lengths.min()), int(np.median(lengths)), int(lengths.max())],
        "spans": [said_length(float(span), dated, time_unit) for span in _spread(spans)],
        "steps": [said_length(float(step), dated, time_unit) for step in _spread(steps)],
        "evenly": short(1.0 - len(uneven) / len(series)),
        "missing": short(float(np.isnan(series.values).mean())),
        "dated": dated,
        "counts": counts,
    }


def about_channels(
    series: RaggedSeries, names: tuple[str, ...], importance: Array
) -> list[dict[str, Any]]:
    """How much predictions rest on each channel, and how often it was not observed; most first."""
    order = np.argsort(-importance, kind="stable")[:MANY_CHANNELS]
    missing = np.isnan(series.values).mean(axis=0)
    return [
        {
            "name": said(names[d], 1000),
            "importance": short(float(importance[d])),
            "missing": short(float(missing[d])),
        }
        for d in order
    ]


def about_covariates(explanation: Explanation, importance: Array) -> list[list[Any]]:
    """What each covariate adds to an answer, or takes, on average, most first; and its importance."""
    known = explanation.covariates
    if known is None:
        return []
    most = known.ranked()[:MANY_CHANNELS]
    rests = dict(zip(known.names, importance.tolist(), strict=True))
    return [[said(name, 1000), short(size), short(rests[name])] for name, size in most if size > 0]


def about_model(estimator: ShapeletEstimator) -> dict[str, Any]:
    """Its parameters, kinds of shapelets, and how training went."""
    history = getattr(estimator, "history_", {})
    weights = getattr(estimator, "class_weight", None)
    known = estimator.model_.covariates
    n_epochs = max(map(len, history.values()), default=0)
    drawn = np.unique(np.linspace(0, n_epochs - 1, MANY_EPOCHS).round().astype(int))
    return {
        "estimator": type(estimator).__name__,
        "log": estimator.model_.log,
        "covariates": 0 if known is None else len(known.names),
        "weighted": None if weights is None else said(weights),
        "sizes": _sizes(estimator),
        "kinds": _kinds(estimator),
        "parameters": [
            [name, said(value, 1000)]
            for name, value in sorted(estimator.get_params(deep=False).items())
            if name not in OF_THE_RUN
        ],
        "epochs": (drawn + 1).tolist() if n_epochs else [],
        "history": {
            name: short(np.array(values)[drawn]) if len(values) == n_epochs else short(values)
            for name, values in history.items()
            if n_epochs
        },
    }


def _sizes(estimator: ShapeletEstimator) -> dict[str, Any] | None:
    """How good models of fewer and of more shapelets were, fewest first, if training tried them."""
    path = getattr(estimator, "path_", None)
    if path is None:
        return None
    columns = ("n_shapelets", "loss", "loss_error", "score")
    table = {name: np.asarray(getattr(path, name), np.float64) for name in columns}
    order = np.argsort(table["n_shapelets"], kind="stable")
    order = order[np.isfinite(table["loss"][order])]
    if not len(order):
        return None
    return {"scoreName": said(path.score_name)} | {
        name: short(np.nan_to_num(column[order])) for name, column in table.items()
    }


def _kinds(estimator: ShapeletEstimator) -> list[list[Any]]:
    """By which discrepancies how many shapelets are compared, and what these look at."""
    transform = estimator.model_.transform
    titles = Counter(transform.discrepancy.titles(transform.shapelets.n_shapelets))
    return [[said(title), count, MEANING.get(title)] for title, count in titles.items()]


def _spread(values: NDArray[Any]) -> NDArray[Any]:
    """A low, the middle and a high value: nine of ten lie between."""
    return np.quantile(values, [0.05, 0.5, 0.95]) if len(values) else np.zeros(3)
