"""Fitted estimators to files and back."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from ..covariates import KINDS, SUMMARIES, Covariates
from ..discrepancies import Discrepancy
from ..interpolation import Interpolation
from ..minimum import Minimum
from ..model import ShapeletModel, check_scales
from ..saving import matched, read_file, understood, write_file
from ..shapelets import ShapeletFamily
from ..sizes import SizePath
from ..sources import Sources
from ..transform import GeneralisedShapeletTransform
from .base import ShapeletEstimator
from .classifier import ShapeletClassifier
from .contents import OF_SHAPELETS, check_fitted, check_learnt, check_needs
from .fitting import Fitted
from .parameters import check_parameters
from .plain import plain, restored
from .regressor import ShapeletRegressor
from .transformer import ShapeletTransformer

ESTIMATORS = {
    estimator.__name__: estimator
    for estimator in (ShapeletClassifier, ShapeletRegressor, ShapeletTransformer)
}
# Attributes that `fit` sets, apart from the model: always, for tables or since a later version, and of
# some estimators.
FITTED = (
    "history_",
    "n_iter_",
    "n_channels_in_",
    "channel_names_",
    "has_datetimes_",
    "shortest_span_",
)
SOMETIMES = ("n_features_in_", "feature_names_in_", "target_names_", "shortened_")
MOST_NUMBERS = 2**26  # of shapelets in a file, before anything is allocated for them
OTHER = "other."  # in front of the size and the names of tensors of a model that was not chosen
GIVEN = "given.discrepancy."  # in front of the names of a given discrepancy's tensors
TARGETS = {
    "ShapeletClassifier": ("classes_",),
    "ShapeletRegressor": ("target_centre_", "target_scale_"),
    "ShapeletTransformer": (),
}


def save(
    estimator: ShapeletEstimator,
    path: str | os.PathLike,
    *,
    sources: bool = False,
    replace: bool = True,
) -> None:
    """Write a fitted estimator to a file, with the models of all sizes on its path."""
    model = estimator._fitted()
    if type(estimator).__name__ not in ESTIMATORS:
        raise TypeError(
            f"{type(estimator).__name__} cannot be saved: a file holds no code, and only "
            f"{', '.join(ESTIMATORS)} are known when it is loaded."
        )
    if type(model.head) is not nn.Linear:
        raise TypeError(
            f"a model whose head is a {type(model.head).__name__} cannot be saved: a file holds no "
            "code. Save model_.state_dict() with safetensors, and rebuild the head yourself."
        )
    parameters = estimator.get_params(deep=False) | {
        "checkpoint": None,
        "head": None,
        "device": None,
    }
    if not isinstance(estimator.random_state, int | np.integer):
        parameters["random_state"] = None
    others = dict(estimator.fitted_)
    chosen = others.pop(model.transform.shapelets.n_shapelets)
    contents = {
        "estimator": type(estimator).__name__,
        "parameters": {name: plain(value) for name, value in parameters.items()},
        "fitted": {
            name: plain(getattr(estimator, name))
            for name in FITTED + SOMETIMES + TARGETS[type(estimator).__name__]
            if name in vars(estimator)
        },
        "path": None if estimator.path_ is None else plain(vars(estimator.path_)),
        "others": {str(size): _said(other, sources=sources) for size, other in others.items()},
        "interpolation": plain(model.interpolation) | {"state": plain(model.interpolation.state())},
        "search": model.transform.search,
        "minimum": plain(model.transform.minimum),
        "epsilon": model.epsilon,
        "per_length": model.per_length,
        "log": model.log,
        "covariates": None if model.covariates is None else plain(model.covariates.each),
        **_said(chosen, sources=sources),
    }
    tensors = model.state_dict()
    for size, other in others.items():
        own = other.model.state_dict()
        tensors |= {f"{OTHER}{size}.{name}": tensor for name, tensor in own.items()}
    if isinstance(estimator.discrepancy, Discrepancy):  # as it was given, not as it was learnt
        given = estimator.discrepancy.state_dict()
        tensors |= {GIVEN + name: tensor for name, tensor in given.items()}
    write_file(path, "model", contents, tensors, replace=replace)


def load(path: str | os.PathLike) -> ShapeletEstimator:
    """Read a model that was saved by ``save``.

    Reading runs nothing from the file. A file that is damaged, was edited or comes from a newer
    version is refused with a ValueError.

    Parameters
    ----------
    path : path

    Returns
    -------
    ShapeletClassifier, ShapeletRegressor or ShapeletTransformer

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> from genshapelets import ShapeletTransformer, load
    >>> X = np.random.default_rng(0).normal(size=(4, 1, 20))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ShapeletTransformer(n_shapelets=3, random_state=0).fit(X).save(f"{folder}/model")
    ...     load(f"{folder}/model").transform(X).shape
    (4, 3)
    """
    contents, tensors = read_file(path, "model")
    with understood(path, "Save the model anew."):
        return _estimator(contents, tensors)


def _estimator(contents: dict[str, Any], tensors: dict[str, Tensor]) -> ShapeletEstimator:
    check_needs(contents, sum(tensor.numel() for tensor in tensors.values()))
    estimator = ESTIMATORS[contents["estimator"]]()
    parameters = {name: restored(value) for name, value in contents["parameters"].items()}
    if isinstance(parameters["discrepancy"], Discrepancy):
        names = [name for name in tensors if name.startswith(GIVEN)]
        given = {name.removeprefix(GIVEN): tensors.pop(name) for name in names}
        matched(given, parameters["discrepancy"].state_dict())
        parameters["discrepancy"].load_state_dict(given, assign=True)
    estimator.set_params(**parameters)
    check_parameters(estimator)
    fitted = contents["fitted"]
    for name in FITTED + TARGETS[contents["estimator"]]:
        setattr(estimator, name, restored(fitted[name]))
    for name in SOMETIMES:
        if name in fitted:
            setattr(estimator, name, restored(fitted[name]))
    estimator.path_ = None
    if contents.get("path") is not None:
        estimator.path_ = SizePath(**restored(contents["path"]))
    estimator.fitted_ = {
        fitted.model.transform.shapelets.n_shapelets: fitted
        for fitted in _every_size(contents, tensors)
    }
    check_fitted(estimator)
    estimator._take(next(iter(estimator.fitted_)))  # the first is the chosen one
    return estimator


def _said(fitted: Fitted, *, sources: bool) -> dict[str, Any]:
    """What is known of a model without its tensors."""
    transform = fitted.model.transform
    said = {name: plain(getattr(fitted, name)) for name in OF_SHAPELETS}
    if sources and fitted.sources is not None:
        said["sources"] = plain(fitted.sources._asdict())
    return said | {
        "discrepancy": plain(transform.discrepancy),
        "shapelets": _described(transform.shapelets),
    }


def _every_size(contents: dict[str, Any], tensors: dict[str, Tensor]) -> Iterator[Fitted]:
    """The chosen model, then those of the other sizes; older files have none."""
    others: dict[str, dict[str, Tensor]] = {size: {} for size in contents.get("others", {})}
    for name in [name for name in tensors if name.startswith(OTHER)]:
        size, _, rest = name.removeprefix(OTHER).partition(".")
        others[size][rest] = tensors.pop(name)
    yield _fitted(contents, tensors)
    for size, own in others.items():
        yield _fitted(contents | contents["others"][size], own)


def _fitted(contents: dict[str, Any], tensors: dict[str, Tensor]) -> Fitted:
    known = {name: restored(contents.get(name)) for name in OF_SHAPELETS}
    if "others" not in contents:  # of before version 4
        known = {name: restored(contents["fitted"].get(f"{name}_")) for name in OF_SHAPELETS}
        lengths = known["initial_lengths"]
        if lengths is not None and lengths.dtype.kind == "m":
            known["initial_lengths"] = lengths.astype("m8[ns]").astype(np.float64) / 1e9
    sources = contents.get("sources")
    return Fitted(
        _model(contents, tensors),
        **known,
        sources=None if sources is None else Sources(**restored(sources)),
    )


def _model(contents: dict[str, Any], tensors: dict[str, Tensor]) -> ShapeletModel:
    shapelets = _shapelets(contents, tensors)
    n_shapelets, n_channels = shapelets.n_shapelets, shapelets.n_channels
    measure = _discrepancy(contents, tensors)
    minimum = _made(contents, "minimum", Minimum)
    transform = GeneralisedShapeletTransform(
        shapelets, measure, search=contents["search"], minimum=minimum
    )
    epsilon = float(contents["epsilon" if "epsilon" in contents else "small"])  # version 1
    if not 0 <= epsilon < math.inf:
        raise ValueError(f"epsilon cannot be {epsilon}")
    # Not initialised: that would draw from torch's global random state.
    head = nn.utils.skip_init(
        nn.Linear, n_shapelets, len(tensors["head.weight"]), bias="head.bias" in tensors
    )
    model = ShapeletModel(
        transform,
        head,
        np.zeros(n_channels),
        np.ones(n_channels),
        epsilon=epsilon,
        per_length=contents["per_length"] is True,
        interpolation=_interpolation(contents, n_channels),
        log=contents.get("log", True) is True,
    )
    model.covariates = _covariates(contents, len(tensors["head.weight"]), n_channels)
    own = model.state_dict()
    flags = {
        name: own[name] for name in own if name.endswith(".scale_free")
    }  # which older files lack
    tensors = matched(flags | tensors, own)
    check_scales(tensors)
    model.load_state_dict(tensors)
    return model.requires_grad_(False).eval()


def _covariates(contents: dict[str, Any], n_outputs: int, n_channels: int) -> Covariates | None:
    """The covariates, without their weights; older files know none."""
    each = restored(contents.get("covariates"))
    if each is None:
        return None
    covariates = Covariates(each, n_outputs)
    for one in covariates.each:
        numbers = np.array([one.centre, one.scale], dtype=np.float64)
        if one.kind not in KINDS or not np.isfinite(numbers).all() or not one.scale > 0:
            raise ValueError(f"{one} is no covariate")
        is_channel = isinstance(one.source, int) and 0 <= one.source < n_channels
        if not (is_channel if one.kind in SUMMARIES else _is_name(one.source)):
            raise ValueError(f"{one} has no source")
        if not _is_name(one.name) or not (one.category is None or isinstance(one.category, str)):
            raise ValueError(f"{one} has no name")
    return covariates


def _is_name(name: Any) -> bool:
    return isinstance(name, str) and name != ""


def _interpolation(contents: dict[str, Any], n_channels: int) -> Interpolation | None:
    """The interpolation, with what it learnt."""
    made: Interpolation | None = _made(contents, "interpolation", Interpolation)
    if made is not None:
        made.with_state(restored(contents["interpolation"]["state"]))
        check_learnt(made, n_channels)
    return made


def _made(contents: dict[str, Any], name: str, kind: type) -> Any:
    """What contents describe; None where an older file says nothing, which had no choice."""
    if name not in contents:
        return None
    made = restored(contents[name])
    if not isinstance(made, kind):
        raise TypeError(f"{name} must be a {kind.__name__}; got {type(made).__name__}")
    return made


def _described(shapelets: ShapeletFamily) -> dict[str, Any]:
    """Shapelets without their tensors."""
    shape = [shapelets.n_shapelets, shapelets.n_channels, shapelets.n_knots]
    return {
        "class": type(shapelets).__name__,
        "config": plain(shapelets.config()),
        "shape": shape,
    }


def _shapelets(contents: dict[str, Any], tensors: dict[str, Tensor]) -> ShapeletFamily:
    """The shapelets that were learnt, at any values: their tensors are loaded later."""
    longest, raw = (
        tensors[f"transform.shapelets.{name}"] for name in ("max_length", "raw_lengths")
    )
    if longest.dtype not in (torch.float32, torch.float64):
        raise ValueError(f"max_length holds {longest.dtype}")
    described = contents.get("shapelets")
    if described is None:  # files of versions 1 and 2 know knots only
        shape = tensors["transform.shapelets.values"].shape
        described = {"class": "Shapelets", "config": plain({}), "shape": shape}
    kind = ShapeletFamily.named(described["class"])
    n_shapelets, n_channels, n_knots = described["shape"]
    n_numbers = n_shapelets * n_channels * n_knots
    if min(described["shape"]) < 1 or n_numbers > MOST_NUMBERS or len(raw) != n_shapelets:
        raise ValueError(f"shapelets cannot have the shape {described['shape']}")
    settings = restored(described["config"])
    largest = max([1, *(size for size in settings.values() if isinstance(size, int))])
    if largest * max(largest, n_knots) > MOST_NUMBERS:
        raise ValueError(f"{largest} numbers for each shapelet are too many")
    values = torch.zeros(n_shapelets, n_channels, n_knots, dtype=longest.dtype)
    return kind(values, longest.expand(n_shapelets), float(longest), **settings)


def _discrepancy(contents: dict[str, Any], tensors: dict[str, Tensor]) -> Discrepancy:
    """The discrepancy that was learnt, without its tensors."""
    described = contents["discrepancy"]
    if isinstance(described, dict):
        return restored(described)
    # Files of version 1 name the metric, or "classical".
    if described == "classical":
        return Discrepancy.from_config("ClassicalDiscrepancy", {})
    n_shapelets, n_channels, _ = tensors["transform.shapelets.values"].shape
    weight = tensors.get("transform.discrepancy.weight")
    own = weight is not None and len(weight) == n_shapelets
    config = {
        "n_channels": n_channels,
        "metric": described,
        "n_shapelets": n_shapelets if own else None,
        "level_free": tensors["transform.discrepancy.level_free"],
        "scale_free": [False] * n_shapelets,
    }
    return Discrepancy.from_config("L2Discrepancy", config)
