"""Model files and checkpoints: edited with and without their digest made to match."""

import json
import tempfile
import zlib
from contextlib import suppress
from functools import cache
from pathlib import Path

import numpy as np
import torch
from torch import nn

from genshapelets import (
    L2Discrepancy,
    RaggedSeries,
    ShapeletClassifier,
    ShapeletRegressor,
    ShapeletTransformer,
    load,
)
from genshapelets.saving import read_file, write_file
from genshapelets.training import Trainer

from .edits import edit_bytes, edit_json, edit_tensors
from .judging import Failure

X = np.random.default_rng(0).normal(size=(10, 2, 9)).cumsum(axis=2)
THREE = np.arange(10) % 3
TWO = np.arange(10) % 2
SMALL = {"n_shapelets": 2, "n_knots": 4, "max_epochs": 4, "random_state": 0, "n_jobs": 1}
DAYS = np.datetime64("2024-01-01") + np.arange(9)


def known():
    """The series with names and covariates."""
    named = RaggedSeries.from_arrays(X, channel_names=["pulse", "pressure"])
    return named.with_static({"age": np.arange(10.0), "ward": ["A", "B", None, "A", "B"] * 2})


@cache
def models():
    """Small models of all families, by name."""
    classifier = {
        "three": ({}, X, np.array(["a", "b", "c"])[THREE]),
        "known": ({"summaries": "all"}, known(), TWO > 0),
        "dates": ({"shapelets": "network", "interpolation": "gaussian_process"},
                  RaggedSeries.from_arrays(X, DAYS), TWO),
        "labels": ({"shapelets": "bspline", "interpolation": "cubic", "n_knots": 8}, X,
                   np.stack([TWO, THREE > 0], 1).astype(int)),
        "full": ({"discrepancy": L2Discrepancy(2, "full", n_shapelets=2), "minimum": "soft"}, X, THREE),
        "paper": ({"procedure": "paper"}, X, TWO),
        "one": ({}, X[:, :1], TWO),
        "dates-of-one": ({}, RaggedSeries.from_arrays(X[:, :1], DAYS), TWO),
    }  # fmt: skip
    regressor = {
        "mixed": ({"discrepancy": {"l2": 1.0, "dtw": 1.0}}, X, THREE + 0.5),
        "classical": ({"discrepancy": "classical", "minimum": "softmin"}, X,
                      np.stack([THREE + 0.5, TWO * 2.0], 1)),
    }  # fmt: skip
    models = {
        name: ShapeletClassifier(**SMALL | p).fit(x, y) for name, (p, x, y) in classifier.items()
    }
    models |= {
        name: ShapeletRegressor(**SMALL | p).fit(x, y) for name, (p, x, y) in regressor.items()
    }
    return models | {"signature": ShapeletTransformer(**SMALL, discrepancy="logsignature").fit(X)}


def series_for(model):
    """Series that a model should be able to judge."""
    values = np.resize(X, (10, model.n_channels_in_, 9))
    days = DAYS if model.has_datetimes_ else None
    series = RaggedSeries.from_arrays(values, days, channel_names=model.channel_names_)
    return series if model.model_.covariates is None else series.with_static(known().static)


def check_answers(model, series):
    """All that a model says of series must be numbers."""
    for question in ("transform", "predict", "predict_proba", "decision_function"):
        if hasattr(model, question):
            answer = np.asarray(getattr(model, question)(series))
            if answer.dtype.kind == "f" and not np.isfinite(answer).all():
                raise Failure("NaN", f"{question} gives {answer[~np.isfinite(answer)][0]}")


def ask(series):
    """Ask one of the models that know such series: what it says must be numbers."""
    is_dated = series.time_origin is not None
    able = [
        model
        for model in models().values()
        if (model.n_channels_in_, model.has_datetimes_) == (series.n_channels, is_dated)
        and model.channel_names_ is None
    ]
    if able:
        which = zlib.crc32(series.values.tobytes()) % len(able)
        check_answers(able[which].set_params(short_series="hold"), series)


def check_model(file):
    """Load, show, ask and explain a model."""
    model = load(file)
    check_answers(model, series_for(model))
    if not np.isfinite(model.shapelets_).all():
        raise Failure("NaN", "a shapelet is not finite")
    repr(model), model._repr_html_(), repr(model.path_), repr(model.sources_)
    if hasattr(model, "predict"):
        explanation = model.explain(series_for(model))
        said = [
            explanation.answers,
            explanation.bias,
            explanation.typical,
            explanation.contributions(),
        ]
        if explanation.covariates is not None:
            said.append(explanation.covariates.contributions)
        if not all(np.isfinite(each).all() for each in said):
            raise Failure("NaN", "an explanation is not finite")


# ------------------------------------------------------------------ checkpoints


def fit_with(name, checkpoint):
    """Fit the model that a checkpoint of this name belongs to."""
    classes, settings = FITS[name]
    kind = ShapeletRegressor if name == "regressor" else ShapeletClassifier
    settings = SMALL | {"checkpoint": checkpoint, "checkpoint_interval": 0} | settings
    if name == "head":
        torch.manual_seed(0)
        settings["head"] = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 3))
    return kind(**settings).fit(X, classes)


FITS = {
    "paper": (TWO, {"procedure": "paper"}),
    "default": (THREE, {}),
    "regressor": (THREE + 0.5, {"max_time": "1h"}),
    "labels": (np.stack([TWO, THREE > 0], 1).astype(int), {}),
    "head": (THREE, {}),
}


def interrupted(name, path, last):
    """A checkpoint of a fit that ended before an epoch, by number."""
    epoch, left = Trainer._epoch, iter(range(last))

    def die(trainer):
        if next(left, None) is None:
            raise MemoryError
        epoch(trainer)

    Trainer._epoch = die
    try:
        with suppress(MemoryError):
            fit_with(name, path)
    finally:
        Trainer._epoch = epoch


def fit_of(file):
    """Name of the fit that a checkpoint belongs to: "what-is-wrong.labels.ckpt"; else "paper"."""
    return next((name for name in FITS if f".{name}." in Path(file).name), "paper")


def check_checkpoint(file):
    """Go on with a fit from a file, which is changed. One without fingerprint gets the right one."""
    name = fit_of(file)
    with suppress(ValueError):
        contents, tensors = read_file(file, "checkpoint")
        if contents.get("fingerprint") == {}:
            write_file(file, "checkpoint", contents | {"fingerprint": fingerprint(name)}, tensors)
    check_answers(fit_with(name, file), X)


@cache
def fingerprint(name):
    """What the checkpoint of a fit must say that it belongs to."""
    with tempfile.TemporaryDirectory() as folder:
        interrupted(name, Path(folder, "c"), 1)
        return read_file(Path(folder, "c"), "checkpoint")[0]["fingerprint"]


# ------------------------------------------------------------------ cases


@cache
def whole_files():
    """Files before anybody edits them: {ending: content}."""
    files = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "file")
        for name, model in models().items():
            model.save(path, sources=True)
            files[f".{name}.model"] = _ordered(path.read_bytes())
        for name in FITS:
            for last in (1, 3, 99):  # between epochs, and when all stages are over
                path.unlink(missing_ok=True)
                interrupted(name, path, last)
                files[f".{last}.{name}.ckpt"] = _ordered(path.read_bytes())
    return files


def model_case(random):
    """An edited model: (ending of the file's name, content)."""
    return _edited([name for name in whole_files() if name.endswith(".model")], "model", random)


def checkpoint_case(random):
    """An edited checkpoint."""
    return _edited([name for name in whole_files() if name.endswith(".ckpt")], "checkpoint", random)


def _edited(names, kind, random):
    name = random.choice(names)
    content = whole_files()[name]
    if random.random() < 0.1:
        return name, edit_bytes(content, random)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "file")
        path.write_bytes(content)
        contents, tensors = read_file(path, kind)
        if kind == "checkpoint" and random.random() < 0.9:
            contents["fingerprint"] = {}
        for _ in range(random.choice([1, 1, 1, 2, 3])):
            if tensors and random.random() < 0.5:
                edit_tensors(tensors, random)
            else:
                edit_json(contents, random)
        write_file(path, kind, contents, tensors)
        return name, _ordered(path.read_bytes())


def _ordered(content):
    """A file with its header in one order, for safetensors shuffles it: a seed shall say all."""
    end = 8 + int.from_bytes(content[:8], "little")
    header = json.dumps(json.loads(content[8:end]), sort_keys=True).encode()
    header += b" " * (-len(header) % 8)
    return len(header).to_bytes(8, "little") + header + content[end:]
