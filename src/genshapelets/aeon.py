"""The estimators as classes of aeon, for its pipelines, searches and checks."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import estimators
from .adapters import TEST_PARAMETERS, Adapter
from .series import RaggedSeries

try:
    from aeon.classification import BaseClassifier
    from aeon.regression import BaseRegressor
    from aeon.transformations.collection import BaseCollectionTransformer
    from aeon.utils.validation import check_n_jobs
except ImportError as error:
    raise ImportError("genshapelets.aeon needs aeon: pip install 'genshapelets[aeon]'") from error

__all__ = ["ShapeletClassifier", "ShapeletRegressor", "ShapeletTransformer"]


class _AeonAdapter(Adapter):
    """What all three do alike."""

    _tags = {  # noqa: RUF012
        "X_inner_type": ["numpy3D", "np-list"],
        "capability:multivariate": True,
        "capability:unequal_length": True,
        "capability:missing_values": True,
        "capability:multithreading": True,
        "algorithm_type": "shapelet",
    }

    def _fit(self: Any, X: Any, y: Any = None) -> Any:
        self._n_jobs = check_n_jobs(self.n_jobs)
        return self._fit_estimator(RaggedSeries.from_arrays(X), y)

    @classmethod
    def _get_test_params(cls, parameter_set: str = "default") -> list[dict[str, Any]]:  # noqa: ARG003
        return TEST_PARAMETERS


class ShapeletClassifier(_AeonAdapter, BaseClassifier, of=estimators.ShapeletClassifier):
    """Classify series by the shapelets found in them: `genshapelets.ShapeletClassifier` for aeon.

    Takes collections of aeon: of several channels, of unequal length, with NaN for what was not
    observed. aeon's collections hold no times: they count 0, 1, 2, …

    Parameters
    ----------
    **parameters
        Those of `genshapelets.ShapeletClassifier`, where they are explained; only ``n_jobs`` is 1 by
        default.

    Attributes
    ----------
    estimator_ : genshapelets.ShapeletClassifier
        What was fitted: with ``explain``, ``report``, ``save``, ``shapelets_`` and the rest.

    Examples
    --------
    >>> from aeon.testing.data_generation import make_example_3d_numpy
    >>> from genshapelets.aeon import ShapeletClassifier
    >>> X, y = make_example_3d_numpy(n_cases=12, n_channels=2, n_timepoints=20, random_state=0)
    >>> model = ShapeletClassifier(n_shapelets=4, max_epochs=20, random_state=0).fit(X, y)
    >>> model.predict_proba(X).shape
    (12, 2)
    >>> model.estimator_.shapelets_.shape[:2]
    (4, 2)
    """

    def _predict(self, X: Any) -> NDArray[Any]:
        return self.estimator_.predict(RaggedSeries.from_arrays(X))

    def _predict_proba(self, X: Any) -> NDArray[np.float64]:
        return self.estimator_.predict_proba(RaggedSeries.from_arrays(X))


class ShapeletRegressor(_AeonAdapter, BaseRegressor, of=estimators.ShapeletRegressor):
    """Predict a number from the shapelets in a series: `genshapelets.ShapeletRegressor` for aeon.

    As `genshapelets.aeon.ShapeletClassifier`, but for the classes.

    Parameters
    ----------
    **parameters
        Those of `genshapelets.ShapeletRegressor`; only ``n_jobs`` is 1 by default.

    Attributes
    ----------
    estimator_ : genshapelets.ShapeletRegressor
        What was fitted.

    Examples
    --------
    >>> from aeon.testing.data_generation import make_example_3d_numpy
    >>> from genshapelets.aeon import ShapeletRegressor
    >>> X, y = make_example_3d_numpy(n_cases=12, regression_target=True, random_state=0)
    >>> model = ShapeletRegressor(n_shapelets=4, max_epochs=20, random_state=0).fit(X, y)
    >>> model.predict(X).shape
    (12,)
    """

    def _predict(self, X: Any) -> NDArray[np.float64]:
        return self.estimator_.predict(RaggedSeries.from_arrays(X))


class ShapeletTransformer(
    _AeonAdapter, BaseCollectionTransformer, of=estimators.ShapeletTransformer
):
    """Turn series into discrepancies from shapelets: `genshapelets.ShapeletTransformer` for aeon.

    A transformer from collections to tables. With targets the shapelets are learnt; without, they are
    windows of the training series.

    Parameters
    ----------
    **parameters
        Those of `genshapelets.ShapeletTransformer`; only ``n_jobs`` is 1 by default.

    Attributes
    ----------
    estimator_ : genshapelets.ShapeletTransformer
        What was fitted.

    Examples
    --------
    >>> from aeon.testing.data_generation import make_example_3d_numpy
    >>> from genshapelets.aeon import ShapeletTransformer
    >>> X, y = make_example_3d_numpy(n_cases=12, random_state=0)
    >>> ShapeletTransformer(n_shapelets=4, random_state=0).fit_transform(X).shape
    (12, 4)
    """

    _tags = {  # noqa: RUF012
        "output_data_type": "Tabular",
        "removes_unequal_length": True,
        "removes_missing_values": True,
    }

    def _transform(self, X: Any, y: Any = None) -> NDArray[Any]:  # noqa: ARG002
        return self.estimator_.transform(RaggedSeries.from_arrays(X))
