"""Checks of the estimators' parameters."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any

import numpy as np
import torch
from torch import nn

from ..covariates import SUMMARIES, summaries_of
from ..discrepancies import Discrepancy, L2Discrepancy
from ..durations import seconds_of
from ..interpolation import INTERPOLATIONS, Constant, Interpolation, Linear, make_interpolation
from ..kinds import DISCREPANCIES, kinds_of
from ..minimum import MINIMA, Minimum
from ..names import CHOICES
from ..preprocessing import Preprocessing
from ..procedures import PREPROCESSING, PROCEDURES
from ..shapelets import FAMILIES

OPTIONS = {
    "initial": (None, *CHOICES["initial"]),
    **{name: CHOICES[name] for name in ("learn", "metric", "search", "procedure", "short_series")},
    "shared_metric": (None, True, False),
}
# Parameters of L2, and their defaults.
OF_L2 = {"metric": "diagonal", "shared_metric": None, "level_free": None, "scale_free": None}
COUNTS = {"n_shapelets": 1, "max_channels": 1, "n_knots": 2, "max_epochs": 1, "batch_size": 1}
NUMBERS = {
    "gamma": (0.0, np.inf),
    "level_free": (0.0, 1.0),
    "scale_free": (0.0, 1.0),
    "learning_rate": (1e-12, 1e3),
}


def check_parameters(estimator: Any) -> None:
    """Refuse, with a ValueError, the first parameter that is not what it must be."""

    def refuse(parameter: str, needed: str) -> None:
        raise ValueError(
            f"The {parameter!r} parameter of {type(estimator).__name__} must be {needed}. "
            f"Got {getattr(estimator, parameter)!r} instead."
        )

    families: dict[str, tuple[type, Iterable[str]]] = {
        "discrepancy": (Discrepancy, DISCREPANCIES),
        "interpolation": (Interpolation, INTERPOLATIONS),
        "minimum": (Minimum, MINIMA),
        "preprocessing": (Preprocessing, PREPROCESSING),
    }
    optional = ("discrepancy", "minimum", "preprocessing")
    for parameter, (kind, known) in families.items():
        value = getattr(estimator, parameter)
        if isinstance(value, kind) or (value is None and parameter in optional):
            continue
        shares = value if isinstance(value, dict) and parameter == "discrepancy" else {value: 1.0}
        if not shares or not all(
            isinstance(name, str) and name in known and _is_real(share) and share > 0
            for name, share in shares.items()
        ):
            several = " a dict of several of them with their shares," if kind is Discrepancy else ""
            refuse(
                parameter,
                f"one of {_listed(known)},{several} or an instance of genshapelets.{kind.__name__}",
            )
    family = estimator.shapelets
    if not (isinstance(family, str) and family in FAMILIES) and not callable(family):
        refuse(
            "shapelets",
            f"one of {_listed(FAMILIES)}, or a function of (values, lengths, max_length) that makes "
            "them, such as functools.partial(BasisShapelets, n_functions=5)",
        )
    for parameter, options in OPTIONS.items():
        if getattr(estimator, parameter) not in options:
            refuse(parameter, "one of " + ", ".join(map(repr, options)))
    for parameter, least in COUNTS.items():
        value = getattr(estimator, parameter)
        auto = parameter == "n_shapelets" and isinstance(value, str) and value == "auto"
        if value is not None and not auto and not (_is_int(value) and value >= least):
            others = "'auto', " if parameter == "n_shapelets" else ""
            refuse(parameter, f"{others}None or an integer of at least {least}")
    for parameter, (low, high) in NUMBERS.items():
        value = getattr(estimator, parameter)
        if value is not None and not (
            _is_real(value) and low <= value <= high and np.isfinite(value)
        ):
            refuse(parameter, f"None or a number from {low:g} to {high:g}")
    try:
        summaries_of(estimator.summaries)
    except (TypeError, ValueError):
        refuse("summaries", f"None, 'all', one of {_listed(SUMMARIES)}, or several of these")
    try:
        torch.empty(0, device=estimator.device)
    except (AssertionError, RuntimeError, TypeError):
        refuse("device", "None or a device that torch can use here")
    if estimator.head is not None and not isinstance(estimator.head, nn.Module):
        refuse("head", "None or a torch.nn.Module")
    if not (isinstance(estimator.verbose, int | np.integer) and estimator.verbose >= 0):
        refuse("verbose", "0 or a positive integer")
    if estimator.n_jobs is not None and not (_is_int(estimator.n_jobs) and estimator.n_jobs != 0):
        refuse("n_jobs", "None, a positive integer, or -1 for all processors")
    if estimator.max_time is not None and not _is_duration(estimator.max_time):
        refuse("max_time", "None, a positive number of seconds, or text such as '10min' or '1h30m'")
    if not (_is_real(estimator.checkpoint_interval) and estimator.checkpoint_interval >= 0):
        refuse("checkpoint_interval", "a number of seconds")
    if estimator.initial_length is not None and not _is_range(estimator.initial_length):
        refuse("initial_length", "None, a fraction, or (low, high) with 0 < low <= high <= 1")
    if getattr(estimator, "own_class", None) not in (None, True, False):
        refuse("own_class", "None, True or False")
    weights = getattr(estimator, "class_weight", None)
    if weights not in (None, "balanced") and not isinstance(weights, dict):
        refuse("class_weight", "None, 'balanced' or a dict")
    discrepancy, minimum = (
        getattr(
            PROCEDURES[estimator.procedure] if getattr(estimator, name) is None else estimator, name
        )
        for name in ("discrepancy", "minimum")
    )
    kinds = kinds_of(discrepancy)
    counts_samples = any(kind.of.counts_samples for kind in kinds)
    if counts_samples and len(kinds) > 1:
        refuse("discrepancy", "without 'classical' if there are several: it counts samples")
    if counts_samples and isinstance(make_interpolation(estimator.interpolation), Constant):
        refuse(
            "interpolation",
            "'linear' if the discrepancy is classical: it compares samples, whatever lies between "
            "them. For jumps in continuous time use discrepancy='l2'",
        )
    by_name = not isinstance(discrepancy, Discrepancy)
    is_straight = isinstance(make_interpolation(estimator.interpolation), Linear)
    if by_name and any(kind.needs_samples for kind in kinds) and not is_straight:
        refuse(
            "interpolation", "'linear' if the discrepancy is 'mfc': sound is sampled finely enough"
        )
    if counts_samples and estimator.search not in ("auto", "grid"):
        refuse("search", "'auto' or 'grid' if the discrepancy is classical: it counts samples")
    if estimator.scale_free and estimator.search == "exact":
        refuse("search", "'auto', 'grid' or 'refined' if shapelets are scale-free")
    minimum = MINIMA[minimum]() if isinstance(minimum, str) else minimum
    if minimum.n_best is None and estimator.search not in ("auto", "grid"):
        refuse("search", "'auto' or 'grid' if all offsets of the grid count, as for 'softmin'")
    if isinstance(estimator.discrepancy, Discrepancy):
        for parameter, usual in OF_L2.items():
            if getattr(estimator, parameter) != usual:
                refuse(
                    parameter, f"{usual!r} if a discrepancy is given, which has its own settings"
                )


def check_used(estimator: Any) -> None:
    """Refuse, before a fit, settings that the named discrepancy would ignore."""
    given = estimator.discrepancy
    if given is None or isinstance(given, Discrepancy):
        return
    kinds, name = kinds_of(given), type(estimator).__name__
    if not any(kind.of is L2Discrepancy for kind in kinds):
        for parameter in ("level_free", "scale_free"):
            if getattr(estimator, parameter):
                raise ValueError(
                    f"The {parameter!r} parameter of {name} must be None if no shapelets are compared "
                    f"by L2: it is for those. Got {getattr(estimator, parameter)!r} instead."
                )
    if any(kind.of.counts_samples for kind in kinds) and estimator.metric == "full":
        raise ValueError(
            f"The 'metric' parameter of {name} must be 'diagonal' or 'none' if the discrepancy is "
            "classical, which learns none. Got 'full' instead."
        )


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(repr, names))


def _is_int(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _is_real(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _is_duration(value: Any) -> bool:
    try:
        seconds = seconds_of(value) if isinstance(value, str) else value
    except ValueError:
        return False
    return _is_real(seconds) and 0 < seconds < np.inf


def _is_range(value: Any) -> bool:
    ends = (value, value) if _is_real(value) else value
    return (
        isinstance(ends, tuple | list)
        and len(ends) == 2
        and all(map(_is_real, ends))
        and 0 < ends[0] <= ends[1] <= 1
    )
