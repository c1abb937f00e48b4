"""ShapeletTransformer."""

from __future__ import annotations

from typing import Any

from sklearn.utils.multiclass import type_of_target

from .base import ShapeletEstimator
from .goals import check_present, class_goal, label_goal, number_goal


class ShapeletTransformer(ShapeletEstimator):
    """Turn series into discrepancies from shapelets, for pipelines.

    With targets the shapelets are learnt as by `ShapeletClassifier` or, if the targets are continuous
    numbers, `ShapeletRegressor`, whose parameters it shares; without, they are windows of the training
    series. Logarithms of discrepancies suit linear models.

    Examples
    --------
    >>> import numpy as np
    >>> from genshapelets import ShapeletTransformer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> X = np.random.default_rng(0).normal(size=(12, 2, 30))
    >>> ShapeletTransformer(n_shapelets=5, random_state=0).fit_transform(X).shape
    (12, 5)
    """

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> ShapeletTransformer:
        """Learn shapelets, or take them from the series.

        Parameters
        ----------
        X : series
            As for `ShapeletClassifier.fit`.
        y : (series,) array, or (series, targets), optional
            Labels or numbers.
        sample_weight : (series,) array, optional
        """
        with self._refitting():
            series = self._as_series(X, fitting=True)
            goal = None
            if y is not None:
                series, y, weight = self._weighted(series, y, sample_weight)
                check_present(y)
                if type_of_target(y).startswith("continuous"):
                    goal = number_goal(y, weight)[2]
                elif self.target_names_ is not None:
                    goal = label_goal(y, self.target_names_, None, weight)
                else:
                    goal = class_goal(y, None, weight)[1]
            self._fit(series, goal)
        return self
