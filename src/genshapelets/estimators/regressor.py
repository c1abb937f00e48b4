"""ShapeletRegressor."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from .base import ShapeletEstimator
from .goals import number_goal, one_per_series
from .scores import NumberScores, score_numbers


class ShapeletRegressor(RegressorMixin, ShapeletEstimator):
    """Predict a number from the shapelets found in a series.

    As `ShapeletClassifier`, whose parameters and attributes it shares but for the classes, with a
    squared error. The target is standardised inside.

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

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> ShapeletRegressor:
        """Learn from series and their numbers.

        Parameters
        ----------
        X : series
            As for `ShapeletClassifier.fit`.
        y : (series,) array of numbers
        sample_weight : (series,) array, optional
        """
        with self._refitting():
            series = self._as_series(X, fitting=True)
            series, y, weight = self._weighted(series, y, sample_weight)
            centre, scale, goal = number_goal(y, weight)
            self._fit(series, goal)
            self.target_centre_, self.target_scale_ = centre, scale
        return self

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Predicted number of each series."""
        return self._outputs(X)[:, 0] * self.target_scale_ + self.target_centre_

    def evaluate(self, X: Any, y: Any) -> NumberScores:
        """Say how good predictions are: R², root of the mean squared error, mean absolute error.

        Parameters
        ----------
        X : series
        y : (series,) array of numbers
        """
        predicted = self.predict(X)
        numbers = np.asarray(one_per_series(y, len(predicted)), np.float64)
        return score_numbers(numbers, predicted)
