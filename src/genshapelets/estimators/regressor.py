"""ShapeletRegressor."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from .base import ShapeletEstimator
from .goals import as_numbers, check_one_target, number_goal, one_per_series, targets_of
from .scores import NumberScores, score_numbers, share_explained


class ShapeletRegressor(RegressorMixin, ShapeletEstimator):
    """Predict a number, or several, from the shapelets found in a series.

    As `ShapeletClassifier`, whose parameters and attributes it shares but for the classes, with a
    squared error. Targets are standardised inside. Several numbers share the shapelets, and each has
    weights of its own.

    Examples
    --------
    >>> import numpy as np
    >>> from genshapelets import ShapeletRegressor
    >>> random = np.random.default_rng(0)
    >>> X = random.normal(scale=0.1, size=(40, 1, 30))
    >>> height = random.uniform(1, 3, 40)
    >>> X[:, 0, 12:18] += height[:, None]
    >>> model = ShapeletRegressor(n_shapelets=10, max_epochs=100, random_state=0).fit(X, height)
    >>> model.score(X, height) > 0.9
    True
    """

    _TARGET = "y{}"

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, static: Any = None
    ) -> ShapeletRegressor:
        """Learn from series and their numbers.

        Parameters
        ----------
        X : series
            As for `ShapeletClassifier.fit`.
        y : (series,) array of numbers, or (series, targets)
            Columns of a dataframe name the targets; see ``target_names_``.
        sample_weight : (series,) array, optional
        static : dataframe, dict or array, optional
            As for `ShapeletClassifier.fit`.
        """
        with self._refitting():
            series = self._as_series(X, static, fitting=True)
            series, y, weight = self._weighted(series, y, sample_weight)
            centre, scale, goal = number_goal(y, weight)
            self._fit(series, goal)
            self.target_centre_, self.target_scale_ = centre, scale
        return self

    def predict(self, X: Any, *, static: Any = None) -> NDArray[np.float64]:
        """Predicted number of each series, (series,), or numbers, (series, targets)."""
        numbers = self._outputs(X, static)
        return numbers[:, 0] if self.target_names_ is None else numbers

    def _in_units(self, outputs: NDArray[np.float64]) -> NDArray[np.float64]:
        return outputs * self.target_scale_ + self.target_centre_

    def score(self, X: Any, y: Any, sample_weight: Any = None, *, static: Any = None) -> float:
        """Coefficient of determination, R², of the predictions; y as for `fit`."""
        series, y, weight = self._paired(X, y, static, sample_weight)
        return share_explained(
            as_numbers(targets_of(y, len(series))[0]), self.predict(series), weight
        )

    def evaluate(self, X: Any, y: Any, *, static: Any = None) -> NumberScores:
        """Say how good predictions are: R², root of the mean squared error, mean absolute error.

        Parameters
        ----------
        X : series
        y : (series,) array of numbers
            Of a model of several: one of them, with ``for_target(name).evaluate``.
        static : dataframe, dict or array, optional
            As for `fit`.
        """
        series, y, _ = self._paired(X, y, static)
        check_one_target(self, "evaluate(X, y)")
        numbers = as_numbers(one_per_series(y, len(series)))
        return score_numbers(numbers, self.predict(series))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def _only_target(self, place: int) -> None:
        for name in ("target_centre_", "target_scale_"):
            setattr(self, name, float(getattr(self, name)[place]))
