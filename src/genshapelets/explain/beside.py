"""What covariates add to answers, beside the shapelets."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..estimators.base import ShapeletEstimator
from ..paths import Array
from ..series import RaggedSeries
from .frames import as_frame
from .head import to_answers


@dataclass(frozen=True, eq=False)
class CovariateParts:
    """What is known of series as a whole, and what each fact adds to each answer.

    Contributions are counted from the mean of the training series, where a fact adds nothing. What is
    missing is at that mean, but that it is missing may count.

    Attributes
    ----------
    names : tuple of str
    values : (series, names) object array
        Numbers or categories as they were given, None where one is missing.
    contributions : (series, answers, names) array
    """

    names: tuple[str, ...]
    values: NDArray[np.object_] = field(repr=False)
    contributions: Array = field(repr=False)

    def said(self, series: int, name: int) -> str:
        """One fact in words, such as "age = 71"."""
        return f"{self.names[name]} = {said_value(self.values[series, name])}"

    def ranked(self) -> list[tuple[str, float]]:
        """Covariates by the mean size of what each adds to an answer; most first."""
        size = np.abs(self.contributions).mean(axis=(0, 1))
        return [(self.names[j], float(size[j])) for j in np.argsort(-size, kind="stable")]

    def to_frame(self) -> Any:
        """What `ranked` says, as a ``pandas.DataFrame``."""
        names, sizes = zip(*self.ranked(), strict=True)
        return as_frame({"covariate": list(names), "mean_size": list(sizes)})


def covariate_parts(estimator: ShapeletEstimator, series: RaggedSeries) -> CovariateParts | None:
    """What the covariates of series add to the answers of a model, if it has any."""
    known = estimator.model_.covariates
    if known is None:
        return None
    weight = known.weight.detach().double().cpu().numpy()
    weight = to_answers(estimator, weight, is_offset=False)
    parts = known.by_name(known.values(series)[:, None, :] * weight)
    return CovariateParts(known.names, known.shown(series), parts)


def said_value(value: Any) -> str:
    """A value in words; None: it is missing."""
    if value is None:
        return "missing"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
