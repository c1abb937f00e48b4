"""Fitted estimators to files and back."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from torch import Tensor, nn

from ..discrepancies import ClassicalDiscrepancy, Discrepancy, L2Discrepancy
from ..model import ShapeletModel
from ..saving import read_file, write_file
from ..shapelets import Shapelets
from ..transform import GeneralisedShapeletTransform
from .base import ShapeletEstimator
from .classifier import ShapeletClassifier
from .parameters import check_parameters
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
SOMETIMES = (
    "n_features_in_",
    "feature_names_in_",
    "initial_lengths_",
    "typical_features_",
    "feature_spread_",
)
TARGETS = {
    "ShapeletClassifier": ("classes_",),
    "ShapeletRegressor": ("target_centre_", "target_scale_"),
    "ShapeletTransformer": (),
}


def save(estimator: ShapeletEstimator, path: str | os.PathLike) -> None:
    """Write a fitted estimator to a file."""
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
    contents = {
        "estimator": type(estimator).__name__,
        "parameters": {name: _plain(value) for name, value in parameters.items()},
        "fitted": {
            name: _plain(getattr(estimator, name))
            for name in FITTED + SOMETIMES + TARGETS[type(estimator).__name__]
            if hasattr(estimator, name)
        },
        "discrepancy": getattr(model.transform.discrepancy, "metric", "classical"),
        "search": model.transform.search,
        "small": model.small,
        "per_length": model.per_length,
    }
    write_file(path, "model", contents, model.state_dict())


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
    try:
        estimator = ESTIMATORS[contents["estimator"]]()
        estimator.set_params(
            **{name: _restored(value) for name, value in contents["parameters"].items()}
        )
        check_parameters(estimator)
        fitted = contents["fitted"]
        for name in FITTED + TARGETS[contents["estimator"]]:
            setattr(estimator, name, _restored(fitted[name]))
        for name in fitted.keys() & set(SOMETIMES):
            setattr(estimator, name, _restored(fitted[name]))
        estimator.model_ = _model(contents, tensors)
        _check_sizes(estimator)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError, RuntimeError) as error:
        raise ValueError(
            f"{os.fspath(path)} cannot be understood ({type(error).__name__}: {error}). "
            "Save the model anew."
        ) from error
    return estimator


def _model(contents: dict[str, Any], tensors: dict[str, Tensor]) -> ShapeletModel:
    values = tensors["transform.shapelets.values"]
    if not values.is_floating_point():
        raise TypeError(f"values of shapelets must be floats; got {values.dtype}")
    n_shapelets, n_channels, _ = values.shape
    longest = tensors["transform.shapelets.max_length"]
    shapelets = Shapelets(values, longest.expand(n_shapelets), float(longest))
    measure: Discrepancy = ClassicalDiscrepancy()
    if contents["discrepancy"] != "classical":
        weight = tensors.get("transform.discrepancy.weight")
        own = weight is not None and len(weight) == n_shapelets
        measure = L2Discrepancy(
            n_channels,
            contents["discrepancy"],
            n_shapelets=n_shapelets if own else None,
            level_free=tensors["transform.discrepancy.level_free"],
        )
    transform = GeneralisedShapeletTransform(shapelets, measure, search=contents["search"])
    # Not initialised: that would draw from torch's global random state.
    head = nn.utils.skip_init(
        nn.Linear, n_shapelets, len(tensors["head.weight"]), bias="head.bias" in tensors
    )
    model = ShapeletModel(
        transform,
        head,
        np.zeros(n_channels),
        np.ones(n_channels),
        small=float(contents["small"]),
        per_length=contents["per_length"] is True,
    )
    model.load_state_dict(tensors)
    return model.requires_grad_(False).eval()


def _check_sizes(estimator: ShapeletEstimator) -> None:
    """Refuse what was fitted if it does not go with the model."""
    model = estimator.model_
    n_channels = model.transform.shapelets.n_channels
    n_outputs = model.head.out_features
    n_classes = len(estimator.classes_) if isinstance(estimator, ShapeletClassifier) else 0
    if estimator.n_channels_in_ != n_channels or not estimator.shortest_span_ >= 0:
        raise ValueError(f"what was fitted does not go with {n_channels} channels")
    for name in ("initial_lengths_", "typical_features_", "feature_spread_"):
        if np.shape(getattr(estimator, name, model.feature_mean)) != model.feature_mean.shape:
            raise ValueError(f"{name} must have one number for each shapelet")
    if n_classes and n_outputs != (n_classes if n_classes > 2 else 1):
        raise ValueError(f"{n_outputs} outputs do not go with {n_classes} classes")


def _plain(value: Any) -> Any:
    """Say a value in JSON; arrays and tuples are marked, so that they come back as they were."""
    if isinstance(value, np.ndarray):
        if value.dtype.kind in "mM":
            return {"array": value.astype(np.int64).tolist(), "dtype": value.dtype.str}
        if value.dtype.kind == "O":
            return {"array": [_plain(item) for item in value], "dtype": "object"}
        return {"array": value.tolist(), "dtype": value.dtype.str}
    if isinstance(value, tuple):
        return {"tuple": [_plain(item) for item in value]}
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, dict):  # whose keys need not be text
        return {"dict": [[_plain(key), _plain(item)] for key, item in value.items()]}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise TypeError(
        f"{value!r} ({type(value).__name__}) cannot be written to a file. Use numbers or text."
    )


def _restored(value: Any) -> Any:
    if isinstance(value, list):
        return [_restored(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "tuple" in value:
        return tuple(_restored(item) for item in value["tuple"])
    if "dict" in value:
        return {_restored(key): _restored(item) for key, item in value["dict"]}
    array = np.array([_restored(item) for item in value["array"]], dtype=object)
    return array.astype(value["dtype"])
