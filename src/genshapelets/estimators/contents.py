"""What the contents of a model's file must be: whoever edits them can make the digest match."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from typing import Any, get_type_hints

import numpy as np
import torch

from ..described import UnknownClassError
from ..interpolation import Interpolation
from ..model import LARGEST
from ..shown import cut
from ..sizes import SizePath
from ..sources import Sources
from . import goals
from .fitting import Fitted
from .plain import restored

# What training says about the shapelets of each size; older files have it among what was fitted.
OF_SHAPELETS = ("initial_lengths", "typical_features", "feature_spread")
MOST = 10**7  # a setting of a discrepancy and the like: more of anything is a mistake


def check_needs(contents: Any, n_numbers: int) -> None:
    """Refuse, before they are made, discrepancies that need more numbers than the file holds.

    They are made without memory first, and so are the others that cannot be large.
    """
    if isinstance(contents, dict) and "config" in contents:
        family = contents.get("family", "discrepancy")
        if family != "interpolation":  # whose settings may be times
            _check_settings(contents["config"])
        if family != "discrepancy" or "class" not in contents:
            return
        with suppress(RuntimeError, TypeError, UnknownClassError), torch.device("meta"):
            sizes = [tensor.numel() for tensor in restored(contents).state_dict().values()]
            if sum(sizes) > n_numbers:
                raise ValueError(f"{contents['class']} needs {sum(sizes)} numbers")
        return
    if isinstance(contents, dict | list):
        for part in contents.values() if isinstance(contents, dict) else contents:
            check_needs(part, n_numbers)


def _check_settings(config: Any) -> None:
    if isinstance(config, dict | list):
        for part in config.values() if isinstance(config, dict) else config:
            _check_settings(part)
    elif isinstance(config, int | float) and MOST < config < math.inf:
        raise ValueError(f"a setting of {cut(str(config))} is too large")


def check_fitted(estimator: Any) -> None:
    """Refuse, with a ValueError, what is not as a fit leaves it, or does not go with the models."""
    chosen = next(iter(estimator.fitted_.values())).model
    n_channels = chosen.transform.shapelets.n_channels
    n_outputs = chosen.head.out_features
    names = getattr(estimator, "target_names_", None)
    n_classes = n_outputs if names or n_outputs > 1 else 2

    def is_per_target(value: Any) -> Any:
        is_whole = _is_finite(value, (n_outputs,) if names else ()) and (names or n_outputs == 1)
        return is_whole and np.abs(value).max() <= goals.LARGEST

    wanted: dict[str, Callable[[Any], Any]] = {
        "history_": _is_history,
        "n_iter_": _is_count,
        "n_channels_in_": lambda value: _is_count(value) and value == n_channels,
        "channel_names_": lambda value: value is None or _are_names(value, n_channels),
        "has_datetimes_": lambda value: isinstance(value, bool),
        "shortest_span_": lambda value: _is_finite(value) and value >= 0,
        "n_features_in_": _is_count,
        "feature_names_in_": lambda value: all(isinstance(name, str) for name in value.tolist()),
        "target_names_": lambda value: value is None or _are_names(value, n_outputs),
        "shortened_": lambda value: value is None or isinstance(value, str),
        "classes_": lambda value: _are_classes(value, n_classes),
        "target_centre_": is_per_target,
        "target_scale_": lambda value: is_per_target(value) and np.min(value) > 0,
        "path_": lambda value: value is None or _is_path(value, list(estimator.fitted_)),
    }
    for name, is_sound in wanted.items():
        if name in vars(estimator) and not is_sound(getattr(estimator, name)):
            raise ValueError(f"{name} cannot be {cut(repr(getattr(estimator, name)), 60)}")
    for fitted in estimator.fitted_.values():
        _check_size(fitted, n_channels, n_outputs)


def check_learnt(interpolation: Interpolation, n_channels: int) -> None:
    """Refuse, with a ValueError, what an interpolation has not learnt: its class says what it learns.

    A list of floats is one of each channel.
    """
    for name, kind in get_type_hints(type(interpolation)).items():
        value = getattr(interpolation, name, None)
        of_channels = kind == list[float] and not _is_finite(value, (n_channels,))
        if name[-1] == "_" and (of_channels or (kind is int and not (_is_count(value) and value))):
            raise ValueError(f"{name} cannot be {cut(repr(value), 60)}")


def _check_size(fitted: Fitted, n_channels: int, n_outputs: int) -> None:
    """Refuse a model of some size that does not go with the others, or what is said of it."""
    shapelets = fitted.model.transform.shapelets
    n_shapelets = shapelets.n_shapelets
    head: Any = fitted.model.head
    if shapelets.n_channels != n_channels or head.out_features != n_outputs:
        raise ValueError(f"the model of {n_shapelets} shapelets is not like the others")
    for name in OF_SHAPELETS:
        known = getattr(fitted, name)
        if known is not None and not _is_finite(known, (n_shapelets,)):
            raise ValueError(f"{name} must have one finite number for each shapelet")
        if known is not None and name != "initial_lengths" and np.abs(known).max() > LARGEST:
            raise ValueError(f"{name} is too large")
    if fitted.sources is not None:
        _check_sources(fitted.sources, (n_shapelets, n_channels, shapelets.n_knots))


def _check_sources(sources: Sources, shape: tuple[int, int, int]) -> None:
    per_shapelet = (sources.series, sources.start, sources.discrepancy)
    if any(np.shape(each) != shape[:1] for each in per_shapelet):
        raise ValueError("sources must be one for each shapelet")
    if not (_is_finite(sources.values, shape) and _is_finite(sources.discrepancy, shape[:1])):
        raise ValueError("sources must have finite values at the knots of each shapelet")


def _is_path(path: SizePath, sizes: list[int]) -> bool:
    """Whether a path goes through these sizes, the first of which is chosen."""
    figures = (path.loss, path.loss_error, path.score)
    return (
        isinstance(path.n_shapelets, np.ndarray)
        and set(sizes) <= set(path.n_shapelets.tolist())
        and path.chosen == sizes[0]
        and all(each.shape == path.n_shapelets.shape and each.dtype.kind == "f" for each in figures)
        and isinstance(path.score_name, str)
        and isinstance(path.rule, str)
    )


def _is_history(history: Any) -> bool:
    return isinstance(history, dict) and all(
        isinstance(name, str) and isinstance(values, list) and _is_finite(values, (len(values),))
        for name, values in history.items()
    )


def _is_finite(value: Any, shape: tuple[int, ...] = ()) -> bool:
    """Whether these are finite numbers, or a number."""
    array = np.asarray(value)
    return array.shape == shape and array.dtype.kind in "iuf" and bool(np.isfinite(array).all())


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _are_names(value: Any, count: int) -> bool:
    return (
        isinstance(value, tuple)
        and len(value) == count
        and all(isinstance(name, str) for name in value)
    )


def _are_classes(classes: Any, count: int) -> bool:
    """Whether these are so many different labels, none of them NaN."""
    return (
        isinstance(classes, np.ndarray)
        and classes.shape == (count,)
        and len(set(classes.tolist())) == count
        and all(label == label for label in classes.tolist())
    )
