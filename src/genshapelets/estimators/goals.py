"""What an estimator is to learn: targets checked, coded and weighted."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils import column_or_1d, compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight
from torch import Tensor

from ..objective import (
    class_probabilities,
    class_scores,
    classification_loss,
    label_loss,
    regression_loss,
)
from ..paths import Array, Index
from ..shown import few
from ..training import Task

LARGEST = 1e300  # of numbers to be learnt
LEAST = 1e-30  # weight of a series, beside 1, unless it is 0: single precision knows it


@dataclass(frozen=True)
class Goal:
    """Targets of the training series.

    Attributes
    ----------
    target : (series,) or (series, outputs) array
        Codes 0, 1, … of the classes (int64); which labels each series has (bool); or standardised
        numbers (float64).
    weight : (series,) array
        Of mean 1.
    n_classes : int
        0 for labels and numbers.
    names : tuple of str
        What the classes are called.
    """

    target: NDArray[Any]
    weight: Array
    n_classes: int
    names: tuple[str, ...] = ()

    @property
    def n_outputs(self) -> int:
        """Columns of the head's output: one logit does for two classes."""
        return 1 if self.n_classes == 2 else self.n_answers

    @property
    def n_answers(self) -> int:
        """Number of classes, labels or numbers."""
        return self.n_classes or self.target.shape[1]

    @property
    def of_labels(self) -> bool:
        """Whether a series may have any number of labels."""
        return self.target.dtype == bool

    @property
    def truth(self) -> Array:
        """0 and 1 for each class or label, or numbers; (series, columns)."""
        return np.eye(self.n_classes)[self.target] if self.n_classes else self.target.astype(float)

    @property
    def told_apart(self) -> NDArray[Any]:
        """Classes, (series,), to be treated alike: for labels the rarest of each series. Or numbers."""
        if not self.of_labels:
            return self.target
        n_series, n_labels = self.target.shape
        rarest = np.where(self.target, self.target.sum(axis=0), n_series + 1).argmin(axis=1)
        return np.where(self.target.any(axis=1), rarest, n_labels)

    def task(self, chosen: Index, smoothing: float, device: Any) -> Task:
        """Say how the chosen series are learnt."""
        target = torch.from_numpy(self.target[chosen])
        target = (target if self.n_classes else target.float()).to(device)
        weight = torch.from_numpy(self.weight[chosen]).float().to(device)
        ways: Any = (regression_loss, _r2, self.score_name, None)
        if self.of_labels:
            ways = (partial(label_loss, smoothing=smoothing), _all_right, "accuracy", torch.sigmoid)
        elif self.n_classes:
            loss = partial(classification_loss, smoothing=smoothing)
            ways = (loss, _accuracy, "accuracy", class_probabilities)
        return Task(target, weight, self.n_classes, *ways)

    @property
    def score_name(self) -> str:
        """What a score is called."""
        return "accuracy" if self.n_classes or self.of_labels else "r2"

    def of(self, chosen: Index) -> Goal:
        """The goal of some of the series."""
        return replace(self, target=self.target[chosen], weight=self.weight[chosen])

    def judge(self, output: Tensor) -> tuple[Array, float]:
        """Weighted loss of each series, whose outputs these are, and the score of all."""
        task = self.task(np.arange(len(self.target)), 0.0, None)
        pairs = zip(
            output[:, None].float(), task.target[:, None], task.weight[:, None], strict=True
        )
        losses = [task.loss(*pair).item() for pair in pairs]
        return np.array(losses), task.score(output, task.target, task.weight).item()

    def guess(self) -> float:
        """Mean loss of one who knows only how frequent classes or labels are, or the mean number."""
        output = np.average(self.truth, axis=0, weights=self.weight)
        if self.n_classes or self.of_labels:
            share = output.clip(1e-6, 1 - 1e-6)
            output = (
                np.log(share) if self.n_outputs == self.n_classes else np.log(share / (1 - share))
            )
        outputs = torch.from_numpy(output[-self.n_outputs :]).expand(len(self.target), -1)
        return float(self.judge(outputs)[0].mean())

    def split(self, share: float, random: np.random.Generator) -> tuple[Index, Index]:
        """Indices to train on and to hold out, stratified; every class keeps a series to train on.

        None is held out if every class has one series only.
        """
        groups, codes = [np.arange(len(self.target))], self.told_apart
        if codes.ndim == 1:
            groups = [np.flatnonzero(codes == code) for code in np.unique(codes)]
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


def _all_right(output: Tensor, target: Tensor, weight: Tensor) -> Tensor:
    right = ((output > 0) == (target > 0)).all(dim=1)
    return (weight * right).sum() / weight.sum()


def _r2(output: Tensor, target: Tensor, weight: Tensor) -> Tensor:
    # Targets have variance 1 over the training series.
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
    names = tuple(map(named, classes))
    return classes, Goal(codes.astype(np.int64), _of_mean_1(weight), len(classes), names)


def _tell_of_rare(names: NDArray[Any], kind: str = "class", kinds: str = "classes") -> None:
    """Warn of classes, or labels, of one series."""
    if len(names):
        which = (
            f"{kind} {few(names, named)} has"
            if len(names) == 1
            else f"{kinds} {few(names, named)} have"
        )
        warnings.warn(
            f"{which} one series only, in which nothing tells what its kind shares from what is its "
            "own. Expect little of it: give more series, or merge it with another.",
            stacklevel=4,
        )


def label_goal(
    y: NDArray[Any], names: tuple[str, ...], class_weight: Any, sample_weight: Array
) -> Goal:
    """Check which labels series have; return the goal."""
    target = checked_indicators(y)
    if class_weight is not None:
        raise ValueError(
            f"class_weight is for classes, and y holds {len(names)} labels that go together; got "
            f"{class_weight!r}. Give sample_weight, or use MultiOutputClassifier of scikit-learn."
        )
    counts, names_ = target.sum(axis=0), np.array(names)
    constant = (counts == 0) | (counts == len(y))
    if constant.all():
        raise ValueError(
            "a classifier needs a label that some series have and others have not; all series have "
            f"the same labels ({few(names_[counts > 0], named) or 'none'})."
        )
    if constant.any():
        warnings.warn(
            "nothing can be learnt of labels that all series have, or none: "
            f"{few(names_[constant], named)}.",
            stacklevel=3,
        )
    _tell_of_rare(names_[counts == 1], "label", "labels")
    return Goal(target, _of_mean_1(sample_weight), 0)


def checked_indicators(y: NDArray[Any]) -> NDArray[np.bool_]:
    """Which labels each series has, (series, labels), from 0 and 1 of any type."""
    check_present(y)
    strange = ~np.isin(y, [0, 1])
    if strange.any():
        n, c = np.argwhere(strange)[0]
        raise ValueError(
            f"y of several columns must hold labels, 1 where a series has one and 0 where not; got "
            f"{named(y[n, c])} for series {n}, column {c}. For several classes a series use "
            "MultiOutputClassifier(ShapeletClassifier()) of scikit-learn; for numbers ShapeletRegressor."
        )
    return y == 1


def number_goal(y: NDArray[Any], sample_weight: Array) -> tuple[Any, Any, Goal]:
    """Check numbers; return their weighted mean and deviation, and the goal.

    Of y (series, outputs) mean and deviation are arrays, (outputs,).
    """
    y = as_numbers(y)
    columns = y.reshape(len(y), -1)
    moments = np.array([_moments(column, sample_weight) for column in columns.T])
    goal = Goal((columns - moments[:, 0]) / moments[:, 1], _of_mean_1(sample_weight), 0)
    centre, scale = moments.T if y.ndim == 2 else moments[0].tolist()
    return centre, scale, goal


def as_numbers(y: NDArray[Any]) -> Array:
    """Targets as numbers; refuse those that are none, or too large to be reckoned with."""
    check_present(y)
    try:
        y = y.astype(np.float64)
    except OverflowError:
        raise ValueError(f"y must be within {LARGEST:g} of 0. Give it in a larger unit.") from None
    except (TypeError, ValueError):
        raise ValueError(
            f"y must be numbers for regression; got dtype {y.dtype}. Use ShapeletClassifier for labels."
        ) from None
    large = np.abs(y) > LARGEST
    if large.any():
        n, value = np.argwhere(large)[0, 0], y[large][0]
        if np.isinf(value):
            raise ValueError(
                f"y must be finite; got {value} for series {n}. Input y contains infinity."
            )
        raise ValueError(
            f"y must be within {LARGEST:g} of 0; got {value:g} for series {n}. Give y in a larger unit."
        )
    return y


def _moments(y: Array, sample_weight: Array) -> tuple[float, float]:
    """Weighted mean and deviation; for that of a constant 1, or what rounding has left of it."""
    centre = float(np.average(y, weights=sample_weight))
    largest = float(np.abs(y - centre).max()) or 1.0  # so that squares neither over- nor underflow
    deviation = largest * float(
        np.sqrt(np.average(((y - centre) / largest) ** 2, weights=sample_weight))
    )
    varies = deviation > 1e-12 * abs(centre) + 1e-300
    return centre, deviation if varies else max(largest, 1.0)


def checked_weight(sample_weight: Any, n_series: int) -> Array:
    """Weights of the series, 1 by default."""
    placeholder = np.empty((n_series, 0))
    weight = _check_sample_weight(
        sample_weight, placeholder, dtype=np.float64, ensure_non_negative=True
    )
    if not (weight > 0).any():
        raise ValueError("sample_weight must be positive for some series; all are 0.")
    return _below_1(weight)


def _of_mean_1(weight: Array) -> Array:
    weight = _below_1(weight)
    return weight / weight.mean()


def _below_1(weight: Array) -> Array:
    """Weights over a power of two, which rounds nothing: sums and products stay finite.

    The smallest count as nothing, but as something if there are no others.
    """
    return np.maximum(np.ldexp(weight, -np.frexp(weight.max())[1]), LEAST * (weight > 0))


def targets_of(y: Any, n_series: int) -> tuple[NDArray[Any], list[str] | None]:
    """Targets (series,), or (series, columns) and what the columns are called: "" if nobody said."""
    if issparse(y):
        raise ValueError("y must be dense; got a sparse matrix. Give y.toarray().")
    try:
        shape = np.asarray(y).shape
    except ValueError:
        raise ValueError(
            "y must have as many labels for each series as for all others. For sets of labels give "
            "sklearn.preprocessing.MultiLabelBinarizer().fit_transform(y)."
        ) from None
    if len(shape) != 2 or shape[1] < 2:
        return one_per_series(y, n_series), None
    names = [str(name) for name in getattr(y, "columns", [""] * shape[1])]
    y = np.asarray(y)
    _check_count(len(y), n_series)
    return y, names


def one_per_series(y: Any, n_series: int) -> NDArray[Any]:
    """Targets as a vector, one for each series."""
    if y is None:
        raise ValueError(
            "fit requires y to be passed, but the target y is None. Give one target for each series."
        )
    y = column_or_1d(y, warn=True)
    _check_count(len(y), n_series)
    return np.asarray(y)


def _check_count(n_targets: int, n_series: int) -> None:
    if n_targets != n_series:
        raise ValueError(
            f"X and y must have one entry for each series; X has {n_series} series, y {n_targets}."
        )


def check_one_target(estimator: Any, call: str) -> None:
    """Refuse a model of several targets, with the call that asks it of one."""
    names = estimator.target_names_
    if names is not None:
        raise ValueError(
            f"this is asked of one target, and the model has {len(names)} ({few(names)}). Call "
            f"model.for_target({names[0]!r}).{call} with that column of y."
        )


def check_present(y: NDArray[Any]) -> None:
    """Refuse targets of which one is NaN, None or the like."""
    if y.dtype.kind == "O":
        missing = np.array([_is_missing(label) for label in y.ravel()], dtype=bool)
    else:
        missing = np.isnan(y) if y.dtype.kind in "fmM" else np.zeros(y.shape, bool)
    if missing.any():
        n = int(missing.reshape(len(y), -1).any(axis=1).argmax())
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
