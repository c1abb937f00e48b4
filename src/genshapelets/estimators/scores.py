"""How well predictions agree with labels."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..shown import few

N_BINS = 15  # of confidence, as Guo et al. (2017), "On calibration of modern neural networks"
MANY_CLASSES = 20  # a larger matrix cannot be read


class Scores:
    """What the figures of classes and of numbers share."""

    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """The figures by name, as JSON would have them but for NaN."""
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]

    def __str__(self) -> str:
        figures = {k: v for k, v in self.to_dict().items() if isinstance(v, int | float)}
        lines = [
            f"{name + ':':20}{'not defined' if np.isnan(value) else f'{value:.6g}'}"
            for name, value in figures.items()
        ]
        return "\n".join([*lines, *self._more(), *(f"note: {note}" for note in self.notes)])

    def _more(self) -> list[str]:
        return []


@dataclass(frozen=True)
class ClassScores(Scores):
    """How good predicted classes and their probabilities are; NaN where `notes` say why.

    Attributes
    ----------
    series : int
    accuracy : float
    balanced_accuracy : float
        Mean recall of the classes that are among the labels.
    auroc, auprc : float
        Areas under the curves of true against false positive rate, and of precision against recall:
        for two classes those of the second, for more the mean over classes, each against the rest.
    log_loss : float
        Mean of the negative logarithm of the probability that the true class was given.
    calibration_error : float
        Expected calibration error: how far the probability of the predicted class is from the share of
        hits, over fifteen bins of that probability.
    classes : dict
        For each label its number of "series", and its "recall".
    confusion : dict of dicts
        Number of series by label, then by prediction.
    notes : tuple of str
        What could not be computed, and why.
    """

    series: int
    accuracy: float
    balanced_accuracy: float
    auroc: float
    auprc: float
    log_loss: float
    calibration_error: float
    classes: dict[Any, dict[str, float]]
    confusion: dict[Any, dict[Any, int]]
    notes: tuple[str, ...] = ()

    def _more(self) -> list[str]:
        lines = ["classes:"]
        for name, of in self.classes.items():
            lines.append(f"  {name}: series {of['series']}, recall {of['recall']:.6g}")
        names = [str(name) for name in next(iter(self.confusion.values()))]
        if len(names) > MANY_CLASSES:
            return lines
        width = max(len(name) for name in [*names, *map(str, self.confusion)])
        wide = max(width, 6) + 2
        lines += ["confusion (a row for each label, a column for each prediction):"]
        lines += ["  " + " " * width + "".join(name.rjust(wide) for name in names)]
        for name, row in self.confusion.items():
            counts = "".join(str(count).rjust(wide) for count in row.values())
            lines.append(f"  {str(name).ljust(width)}{counts}")
        return lines


@dataclass(frozen=True)
class NumberScores(Scores):
    """How good predicted numbers are; NaN where `notes` say why.

    Attributes
    ----------
    series : int
    r2 : float
        Share of the variance that is explained.
    rmse, mae : float
        Root of the mean squared error, and mean absolute error, in the unit of the numbers.
    notes : tuple of str
    """

    series: int
    r2: float
    rmse: float
    mae: float
    notes: tuple[str, ...] = ()


def score_classes(
    classes: NDArray[Any], labels: NDArray[Any], probability: NDArray[np.float64]
) -> ClassScores:
    """Compare labels with the probabilities (series, classes) of a model's classes."""
    from sklearn.metrics import confusion_matrix

    known = {name: code for code, name in enumerate(classes.tolist())}
    found = dict.fromkeys(labels.tolist())
    unknown = sorted((name for name in found if name not in known), key=str)
    if len(unknown) == len(found):
        raise ValueError(
            f"the labels ({few(unknown)}) are not the classes of the model ({few(known)})."
        )
    names = [*known, *unknown]
    code = {name: n for n, name in enumerate(names)}
    true = np.array([code[name] for name in labels.tolist()])
    predicted = probability.argmax(axis=1)
    matrix = confusion_matrix(true, predicted, labels=np.arange(len(names)))
    there, hits = matrix.sum(axis=1), matrix.diagonal()
    rows = np.flatnonzero(there)
    recall = hits[rows] / there[rows]
    notes = []
    if unknown:
        notes.append(f"the model does not know the labels {few(unknown)}.")
    auroc, auprc = _areas(true, probability, names, notes)
    return ClassScores(
        series=len(true),
        accuracy=float(hits.sum() / len(true)),
        balanced_accuracy=float(recall.mean()),
        auroc=auroc,
        auprc=auprc,
        log_loss=_log_loss(true, probability, notes),
        calibration_error=_calibration_error(true == predicted, probability.max(axis=1)),
        classes={
            names[row]: {"series": int(there[row]), "recall": float(share)}
            for row, share in zip(rows, recall)
        },
        confusion={
            names[row]: dict(zip(known, matrix[row, : len(known)].tolist())) for row in rows
        },
        notes=tuple(notes),
    )


def score_numbers(numbers: NDArray[Any], predicted: NDArray[np.float64]) -> NumberScores:
    """Compare numbers with those predicted."""
    from sklearn.metrics import mean_absolute_error, root_mean_squared_error

    numbers, predicted, exponent = near_1(numbers, predicted)
    notes: tuple[str, ...] = ()
    r2 = np.nan
    if np.ptp(numbers) > 0:
        r2 = share_explained(numbers, predicted)
    else:
        notes = ("no r2: all numbers are the same.",)
    rmse = float(np.ldexp(root_mean_squared_error(numbers, predicted), exponent))
    mae = float(np.ldexp(mean_absolute_error(numbers, predicted), exponent))
    return NumberScores(len(numbers), r2, rmse, mae, notes)


def share_explained(
    numbers: NDArray[Any], predicted: NDArray[np.float64], weight: NDArray[Any] | None = None
) -> float:
    """R², of several numbers its mean."""
    from sklearn.metrics import r2_score

    numbers, predicted, _ = near_1(numbers, predicted)
    return float(r2_score(numbers, predicted, sample_weight=weight))


def near_1(
    numbers: NDArray[Any], predicted: NDArray[np.float64]
) -> tuple[NDArray[Any], NDArray[np.float64], NDArray[Any]]:
    """Both over a power of two, for each column, and its exponent: squares stay finite."""
    largest = np.maximum(np.abs(numbers).max(axis=0), np.abs(predicted).max(axis=0))
    exponent = np.frexp(largest)[1]
    return np.ldexp(numbers, -exponent), np.ldexp(predicted, -exponent), exponent


def _areas(
    true: NDArray[np.int64], probability: NDArray[np.float64], names: list[Any], notes: list[str]
) -> tuple[float, float]:
    """Areas under ROC and precision-recall curves; a class without series on both sides has none."""
    from sklearn.metrics import average_precision_score, roc_auc_score

    n_classes = probability.shape[1]
    wanted = [1] if n_classes == 2 else range(n_classes)
    areas, missing = [], []
    for code in wanted:
        is_code = true == code
        if is_code.all() or not is_code.any():
            missing.append(names[code])
            continue
        p = probability[:, code]
        areas.append((roc_auc_score(is_code, p), average_precision_score(is_code, p)))
    if not areas:
        notes.append("no auroc and auprc: they need series of a class and series of others.")
        return np.nan, np.nan
    if missing:
        notes.append(
            f"auroc and auprc are means over {len(areas)} classes: no series is labelled "
            f"{few(missing)}."
        )
    auroc, auprc = np.mean(areas, axis=0).tolist()
    return auroc, auprc


def _log_loss(true: NDArray[np.int64], probability: NDArray[np.float64], notes: list[str]) -> float:
    from sklearn.metrics import log_loss

    n_classes = probability.shape[1]
    if (true >= n_classes).any():
        notes.append("no log_loss: labels that the model does not know have no probability.")
        return np.nan
    return float(log_loss(true, probability, labels=np.arange(n_classes)))


def _calibration_error(hit: NDArray[np.bool_], confidence: NDArray[np.float64]) -> float:
    """Mean over series of |share of hits - mean confidence| in the bin of each."""
    bins = np.minimum((confidence * N_BINS).astype(np.int64), N_BINS - 1)
    surplus = np.bincount(bins, hit - confidence, N_BINS)
    return float(np.abs(surplus).sum() / len(hit))
