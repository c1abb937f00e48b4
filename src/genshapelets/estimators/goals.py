"""What an estimator is to learn: targets checked, coded and weighted."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.utils import column_or_1d, compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight
from torch import Tensor

from ..objective import class_scores, classification_loss, regression_loss
from ..paths import Array, Index
from ..training import Task


@dataclass(frozen=True)
class Goal:
    """Targets of the training series.

    Attributes
    ----------
    target : (series,) array
        Codes 0, 1, … of the classes (int64), or standardised numbers (float64).
    weight : (series,) array
        Of mean 1.
    n_classes : int
        0 for regression.
    """

    target: NDArray[Any]
    weight: Array
    n_classes: int

    @property
    def n_outputs(self) -> int:
        """Columns of the head's output: one logit does for two classes."""
        return self.n_classes if self.n_classes > 2 else 1

    def task(self, chosen: Index, smoothing: float, device: Any) -> Task:
        """Say how the chosen series are learnt."""
        target = torch.from_numpy(self.target[chosen])
        target = (target if self.n_classes else target.float()).to(device)
        weight = torch.from_numpy(self.weight[chosen]).float().to(device)
        if self.n_classes:
            loss = partial(classification_loss, smoothing=smoothing)
            return Task(target, weight, self.n_classes, loss, _accuracy, self.score_name)
        return Task(target, weight, 0, regression_loss, _r2, self.score_name)

    @property
    def score_name(self) -> str:
        """What a score is called."""
        return "accuracy" if self.n_classes else "r2"

    def of(self, chosen: Index) -> Goal:
        """The goal of some of the series."""
        return Goal(self.target[chosen], self.weight[chosen], self.n_classes)

    def judge(self, output: Tensor) -> tuple[Array, float]:
        """Weighted loss of each series, whose outputs these are, and the score of all."""
        task = self.task(np.arange(len(self.target)), 0.0, None)
        pairs = zip(
            output[:, None].float(), task.target[:, None], task.weight[:, None], strict=True
        )
        losses = [task.loss(*pair).item() for pair in pairs]
        return np.array(losses), task.score(output, task.target, task.weight).item()

    def split(self, share: float, random: np.random.Generator) -> tuple[Index, Index]:
        """Indices to train on and to hold out, stratified; every class keeps a series to train on.

        None is held out if every class has one series only.
        """
        groups = (
            [np.flatnonzero(self.target == code) for code in range(self.n_classes)]
            if self.n_classes
            else [np.arange(len(self.target))]
        )
        held_out = []
        for group in groups:
            count = min(round(share * len(group)), len(group) - 1)
            held_out.append(random.permutation(group)[:count])
        chosen = np.sort(np.concatenate(held_out))
        largest = max(groups, key=len)
        if not len(chosen) and len(largest) > 1:
            chosen = random.permutation(largest)[:1]
        return np.setdiff1d(np.arange(len(self.target)), chosen), chosen


def _accuracy(output: Tensor, target: Tensor, weight: Tensor) -> Tensor:
    right = class_scores(output).argmax(dim=1) == target
    return (weight * right).sum() / weight.sum()


def _r2(output: Tensor, target: Tensor, weight: Tensor) -> Tensor:
    # The target has variance 1 over the training series.
    return 1.0 - regression_loss(output, target, weight)


def class_goal(
    y: NDArray[Any], class_weight: Any, sample_weight: Array
) -> tuple[NDArray[Any], Goal]:
    """Check labels; return the classes and the goal."""
    check_present(y)
    try:
        classes, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    except TypeError:
        kinds = sorted({type(label).__name__ for label in y})
        raise ValueError(
            f"labels must be of one type; got {' and '.join(kinds)}. Convert y with astype(str)."
        ) from None
    if y.dtype.kind != "O":  # whose type scikit-learn knows only for text
        check_classification_targets(y)
    if len(classes) < 2:
        raise ValueError(
            f"a classifier needs at least two classes; y has one class, {named(classes[0])}."
        )
    _tell_of_rare(classes[counts == 1])
    weight = sample_weight * compute_sample_weight(class_weight, y)
    if not (np.isfinite(weight).all() and weight.min() >= 0 and weight.max() > 0):
        raise ValueError(
            f"class_weight must be numbers of at least 0, not all 0; got {class_weight}."
        )
    return classes, Goal(codes.astype(np.int64), weight / weight.mean(), len(classes))


def _tell_of_rare(names: NDArray[Any], kind: str = "class", kinds: str = "classes") -> None:
    """Warn of classes, or labels, of one series."""
    if len(names):
        which = (
            f"{kind} {listed(names)} has" if len(names) == 1 else f"{kinds} {listed(names)} have"
        )
        warnings.warn(
            f"{which} one series only, in which nothing tells what its kind shares from what is its "
            "own. Expect little of it: give more series, or merge it with another.",
            stacklevel=4,
        )


def number_goal(y: NDArray[Any], sample_weight: Array) -> tuple[float, float, Goal]:
    """Check numbers; return their weighted mean and deviation, and the goal."""
    check_present(y)
    try:
        y = y.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"y must be numbers for regression; got dtype {y.dtype}. Use ShapeletClassifier for labels."
        ) from None
    if np.isinf(y).any():
        n = int(np.isinf(y).argmax())
        raise ValueError(f"y must be finite; got {y[n]} for series {n}. Input y contains infinity.")
    centre = float(np.average(y, weights=sample_weight))
    largest = float(np.abs(y - centre).max()) or 1.0  # so that squares neither over- nor underflow
    deviation = largest * float(
        np.sqrt(np.average(((y - centre) / largest) ** 2, weights=sample_weight))
    )
    scale = deviation if deviation > 1e-12 * abs(centre) + 1e-300 else 1.0
    return centre, scale, Goal((y - centre) / scale, sample_weight / sample_weight.mean(), 0)


def checked_weight(sample_weight: Any, n_series: int) -> Array:
    """Weights of the series, 1 by default."""
    placeholder = np.empty((n_series, 0))
    weight = _check_sample_weight(
        sample_weight, placeholder, dtype=np.float64, ensure_non_negative=True
    )
    if not (weight > 0).any():
        raise ValueError("sample_weight must be positive for some series; all are 0.")
    return weight


def one_per_series(y: Any, n_series: int) -> NDArray[Any]:
    """Targets as a vector, one for each series."""
    if y is None:
        raise ValueError(
            "fit requires y to be passed, but the target y is None. Give one target for each series."
        )
    y = column_or_1d(y, warn=True)
    if len(y) != n_series:
        raise ValueError(
            f"X and y must have one entry for each series; X has {n_series} series, y {len(y)}."
        )
    return np.asarray(y)


def check_present(y: NDArray[Any]) -> None:
    """Refuse targets of which one is NaN, None or the like."""
    if y.dtype.kind == "O":
        missing = np.array([_is_missing(label) for label in y], dtype=bool)
    else:
        missing = np.isnan(y) if y.dtype.kind in "fmM" else np.zeros(len(y), bool)
    if missing.any():
        n = int(missing.argmax())
        raise ValueError(
            f"y must have a target for every series; that of series {n} is missing. Leave out series "
            "without one. Input y contains NaN."
        )


def _is_missing(label: Any) -> bool:
    same = label == label  # NaN and NaT are not; of pandas' NA nothing is known
    return label is None or not isinstance(same, bool | np.bool_) or not same


def named(label: Any) -> str:
    """Say a label as the user wrote it, not as NumPy shows it."""
    return repr(label.item() if isinstance(label, np.generic) else label)


def listed(names: NDArray[Any], most: int = 9) -> str:
    """Name some things, the first of many."""
    some = ", ".join(map(named, names[:most]))
    return some + (f" and {len(names) - most} more" if len(names) > most else "")
