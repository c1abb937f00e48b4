"""Small models and their reports, for the tests that read them and those that open them."""

import json
import re
from dataclasses import replace
from functools import wraps
from unittest.mock import patch

import numpy as np

from genshapelets import (
    MelFrequencyCepstrum,
    MFCDiscrepancy,
    RaggedSeries,
    ShapeletClassifier,
    ShapeletRegressor,
)
from genshapelets.explain.report.page import render
from genshapelets.procedures import PROCEDURES


def dense(function):
    """Let shapelets of a model look at all channels and have a say in every answer: a full page."""

    @wraps(function)
    def made(*arguments, **options):
        whole = replace(
            PROCEDURES["default"], later=None, max_channels=None, candidates=1, first=12
        )
        with patch.dict(PROCEDURES, default=whole):
            return function(*arguments, **options)

    return made


QUICK = {"n_shapelets": 12, "max_epochs": 6, "random_state": 0, "n_jobs": 1}
HOSTILE = [
    "</script><script>window.broken = 1</script>",
    "\"quotes\" & 'more' <img src=x onerror=window.broken=1>",
    "long " + "label <b> " * 999,
]
STRANGE = "{{title}} \u2028 \u202e right to left \x00 \ud800 {a|b} 測 🩺"


def waves(n_series=24, n_classes=3, n_channels=2, n_times=30, seed=0):
    """Series in which a bump of the first channel sits where the class says."""
    random = np.random.default_rng(seed)
    codes = np.arange(n_series) % n_classes
    X = random.normal(scale=0.3, size=(n_series, n_channels, n_times))
    for n, code in enumerate(codes):
        at = 2 + code * (n_times - 8) // n_classes
        X[n, 0, at : at + 6] += 2.0 + code
    return X, codes


@dense
def hostile():
    """A model of hostile names, its series and labels; a few labels are wrong."""
    X, codes = waves()
    series = RaggedSeries.from_arrays(X, channel_names=[HOSTILE[0], STRANGE])
    labels = np.array(HOSTILE)[codes]
    model = ShapeletClassifier(**QUICK).fit(series, labels)
    labels[:3] = HOSTILE[0]
    return model, series, labels


@dense
def dated(n_series=20):
    """A regressor of one channel whose times are dates, with missing values."""
    X, codes = waves(n_series, n_channels=1)
    X[:, :, 20:24] = np.nan
    hours = np.datetime64("2024-03-01T12:00") + np.arange(30).astype("m8[h]")
    series = RaggedSeries.from_arrays(X, hours, channel_names=["pulse"])
    y = 100.0 + 5.0 * codes
    return ShapeletRegressor(**QUICK).fit(series, y), series, y


@dense
def ragged(n_channels=12):
    """A classifier of many channels, of series of differing lengths and times."""
    random = np.random.default_rng(1)
    X, codes = waves(n_channels=n_channels)
    X[random.random(X.shape) < 0.2] = np.nan
    lengths = random.integers(18, 31, len(X))
    times = [np.sort(random.choice(300, n, replace=False)) / 10.0 for n in lengths]
    series = RaggedSeries.from_arrays([x[:, :n] for x, n in zip(X, lengths)], times)
    y = np.array(["left", "middle", "right"])[codes]
    # Trained until most series have a shapelet that is found in them.
    return ShapeletClassifier(**QUICK | {"max_epochs": 40}).fit(series, y), series, y


@dense
def two_classes(n_series=40):
    """A classifier of two classes, weighted, of ragged series in hours whose channels have units.

    Some series are shorter than shapelets; the second channel is seldom observed.
    """
    random = np.random.default_rng(3)
    X, codes = waves(n_series, n_classes=2)
    X[:, 1, random.random(30) < 0.7] = np.nan
    X[:, 0] = 80 + 10 * X[:, 0]
    lengths = random.integers(8, 31, n_series)
    series = RaggedSeries.from_arrays(
        [x[:, :n] for x, n in zip(X, lengths)], channel_names=["HR", "BUN"]
    )
    y = np.array(["died", "survived"])[np.where(random.random(n_series) < 0.2, 1, codes)]
    settings = QUICK | {"class_weight": "balanced", "short_series": "hold"}
    return ShapeletClassifier(**settings).fit(series, y), series, y


@dense
def beside(n_series=40):
    """A classifier of few shapelets, and of more covariates: missing entries, hostile names."""
    random = np.random.default_rng(4)
    X, codes = waves(n_series, n_classes=2)
    X[random.random(X.shape) < 0.2] = np.nan
    age = np.where(
        random.random(n_series) < 0.2, np.nan, 40.0 + 20 * codes + random.normal(size=n_series)
    )
    static = {
        "age": age,
        HOSTILE[1]: random.choice(HOSTILE, n_series),
        "ward": random.choice(["A", "B", None], n_series),
    }
    series = RaggedSeries.from_arrays(X, channel_names=["HR", "BUN"]).with_static(static)
    y = np.array(["died", "survived"])[np.where(random.random(n_series) < 0.2, 1, codes)]
    settings = QUICK | {"n_shapelets": 3, "summaries": ["count", "last"]}
    return ShapeletClassifier(**settings).fit(series, y), series, y


@dense
def spoken(n_series=12, rate=8000):
    """A classifier of short waveforms, in seconds, and what stands in for the sound of a shapelet."""
    random = np.random.default_rng(2)
    codes = np.arange(n_series) % 2
    times = np.arange(600) / rate
    pitch = np.array([400.0, 900.0])[codes, None] * random.uniform(0.9, 1.1, (n_series, 1))
    waves = np.sin(2 * np.pi * pitch * times) * np.exp(-(((times - 0.04) / 0.02) ** 2))
    series = RaggedSeries.from_arrays(waves[:, None], times, channel_names=["sound"])
    series = replace(series, series_ids=np.array([f"word/{n}.wav" for n in range(n_series)]))
    y = np.array(["low", "high"])[codes]

    def sound_of(shapelet, stretch):
        return np.sin(2 * np.pi * (300 + 50 * shapelet) * np.arange(len(stretch)) / rate), rate

    return ShapeletClassifier(**QUICK).fit(series, y), series, y, sound_of


@dense
def scale_free():
    """A classifier of series of very different sizes, some shapelets level-free, some scale-free."""
    X, codes = waves()
    X *= np.exp(np.random.default_rng(2).normal(size=(len(X), 1, 1)))
    y = np.array(["left", "middle", "right"])[codes]
    model = ShapeletClassifier(**QUICK, level_free=0.3, scale_free=0.5)
    series = RaggedSeries.from_arrays(X)
    return model.fit(series, y), series, y


@dense
def mixed(n_channels=2):
    """A classifier with shapelets of several kinds."""
    X, codes = waves(n_channels=n_channels)
    names = ["pulse", "breath", "skin", "light"][:n_channels]
    series = RaggedSeries.from_arrays(X, channel_names=names)
    y = np.array(["left", "middle", "right"])[codes]
    kinds = {"l2": 1, "logsignature": 1, "dtw": 1}
    model = ShapeletClassifier(**QUICK | {"max_epochs": 20}, discrepancy=kinds)
    return model.fit(series, y), series, y


@dense
def cepstral():
    """A classifier of the waveforms of `spoken` that compares their cepstra."""
    _, series, y, _ = spoken()
    mfc = MelFrequencyCepstrum(
        sample_rate=8000, window=100, hop=25, n_bins=100, n_mels=20, n_coefficients=12
    )
    return (
        ShapeletClassifier(**QUICK | {"n_shapelets": 6}, preprocessing=mfc).fit(series, y),
        series,
        y,
    )


@dense
def by_ear():
    """A classifier of the waveforms of `spoken` whose shapelets are waveforms, compared by cepstra."""
    _, series, y, _ = spoken()
    measure = MFCDiscrepancy(8000, n_bins=100, window=100, hop=25, n_mels=20, n_coefficients=12)
    few = QUICK | {"n_shapelets": 4, "max_epochs": 2}
    return ShapeletClassifier(**few, discrepancy=measure).fit(series, y), series, y


def contents_of(page):
    """What a page was given to show."""
    text = page.read_text(encoding="utf-8")
    return json.loads(
        re.search(r'<script type="application/json"[^>]*>(.*?)</script>', text, re.S)[1]
    )


def altered(page, change):
    """The same page with other contents, as data that are tedious to make would give them."""
    contents = contents_of(page)
    change(contents)
    other = page.with_name(f"altered {page.name}")
    other.write_bytes(render("Altered", contents))
    return other
