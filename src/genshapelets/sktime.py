"""The estimators as classes of sktime, for its pipelines, searches and checks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import estimators
from .adapters import TEST_PARAMETERS, Adapter
from .series import RaggedSeries

try:
    import pandas as pd
    from sktime.classification.base import BaseClassifier
    from sktime.datatypes import convert_to
    from sktime.regression.base import BaseRegressor
    from sktime.transformations.base import BaseTransformer
except ImportError as error:
    raise ImportError(
        "genshapelets.sktime needs sktime: pip install 'genshapelets[sktime]'"
    ) from error

__all__ = ["ShapeletClassifier", "ShapeletRegressor", "ShapeletTransformer", "as_series"]


def as_series(panel: Any) -> RaggedSeries:
    """Read a panel of sktime, in any of its forms, with its times: for ``estimator_.explain``, say.

    Parameters
    ----------
    panel : Panel
        Such as a dataframe with an index of (instance, time), a list of dataframes, or an array
        (series, channels, times). Times are integers, datetimes or periods.

    Examples
    --------
    >>> import pandas as pd
    >>> days = pd.to_datetime(["2024-03-01", "2024-03-02", "2024-03-05", "2024-03-07"])
    >>> index = pd.MultiIndex.from_arrays([["a", "a", "b", "b"], days])
    >>> series = as_series(pd.DataFrame({"hr": [71.0, 75.0, 64.0, 66.0]}, index=index))
    >>> series.series_ids.tolist(), series.channel_names, series.spans.tolist()
    (['a', 'b'], ('hr',), [86400.0, 172800.0])
    """
    frame = convert_to(panel, "pd-multiindex", as_scitype="Panel")
    names = tuple(map(str, frame.columns))
    keys = {"series": frame.index.get_level_values(0), "time": frame.index.get_level_values(1)}
    columns = {f"channel {name}": frame.iloc[:, place] for place, name in enumerate(names)}
    series = RaggedSeries.from_long(
        {name: np.asarray(index) for name, index in keys.items()} | columns,
        series="series",
        time="time",
        channels=list(columns),
    )
    n_instances = len(keys["series"].unique())
    if len(series) < n_instances:
        raise ValueError(
            f"{n_instances - len(series)} of {n_instances} instances have no observation: all values "
            "are missing. Leave them out first."
        )
    # So sktime calls the channels of an array, which has no names for them.
    nameless = names == tuple(f"var_{place}" for place in range(len(names)))
    return replace(series, channel_names=None if nameless else names)


class _SktimeAdapter(Adapter):
    """What all three do alike."""

    _tags = {  # noqa: RUF012
        "authors": "the genshapelets developers",
        "maintainers": "the genshapelets developers",
        "X_inner_mtype": "pd-multiindex",
        "y_inner_mtype": "numpy1D",
        "capability:multivariate": True,
        "capability:unequal_length": True,
        "capability:missing_values": True,
        "capability:categorical_in_X": False,
        "capability:random_state": True,
        "property:randomness": "derandomized",
    }

    def _fit(self: Any, X: Any, y: Any = None) -> Any:
        return self._fit_estimator(as_series(X), y)

    # scikit-learn's searches and cross-validation ask for tags, which sktime's classes lack, and from
    # version 1.9 on lend an attribute, which sktime's would forget at the start of a fit.

    def __sklearn_tags__(self) -> Any:
        return self._of().__sklearn_tags__()

    def reset(self: Any) -> Any:
        """Forget everything but the parameters."""
        lent = {key: value for key, value in vars(self).items() if key == "_parent_callback_ctx"}
        super().reset()  # type: ignore[misc]
        vars(self).update(lent)
        return self

    @classmethod
    def get_test_params(cls, parameter_set: str = "default") -> list[dict[str, Any]]:  # noqa: ARG003
        """Parameters for sktime's checks: of small models, which are soon trained."""
        return TEST_PARAMETERS


class ShapeletClassifier(_SktimeAdapter, BaseClassifier, of=estimators.ShapeletClassifier):
    """Classify series by the shapelets found in them: `genshapelets.ShapeletClassifier` for sktime.

    Takes panels of sktime: with times of their own in the index (integers, datetimes or periods), of
    several channels, of unequal length, with NaN for what was not observed.

    Parameters
    ----------
    **parameters
        Those of `genshapelets.ShapeletClassifier`, where they are explained; only ``n_jobs`` is 1 by
        default.

    Attributes
    ----------
    estimator_ : genshapelets.ShapeletClassifier
        What was fitted: with ``explain``, ``report``, ``save``, ``shapelets_`` and the rest. Give it
        series read by `as_series`.

    Examples
    --------
    >>> import numpy as np
    >>> from genshapelets.sktime import ShapeletClassifier, as_series
    >>> X = np.random.default_rng(0).normal(size=(12, 2, 20))
    >>> y = np.repeat(["a", "b"], 6)
    >>> model = ShapeletClassifier(n_shapelets=4, max_epochs=20, random_state=0).fit(X, y)
    >>> model.predict_proba(X).shape
    (12, 2)
    >>> model.estimator_.explain(as_series(X)).answers.shape
    (12, 2)
    """

    _tags = {  # noqa: RUF012
        "capability:multithreading": True,
        "capability:predict_proba": True,
        "capability:class_weight": True,
    }

    def _predict(self, X: Any) -> NDArray[Any]:
        return self.estimator_.predict(as_series(X))

    def _predict_proba(self, X: Any) -> NDArray[np.float64]:
        return self.estimator_.predict_proba(as_series(X))


class ShapeletRegressor(_SktimeAdapter, BaseRegressor, of=estimators.ShapeletRegressor):
    """Predict a number from the shapelets in a series: `genshapelets.ShapeletRegressor` for sktime.

    As `genshapelets.sktime.ShapeletClassifier`, but for the classes.

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
    >>> import numpy as np
    >>> from genshapelets.sktime import ShapeletRegressor
    >>> X = np.random.default_rng(0).normal(size=(12, 2, 20))
    >>> model = ShapeletRegressor(n_shapelets=4, max_epochs=20, random_state=0)
    >>> model.fit(X, X.max(axis=(1, 2))).predict(X).shape
    (12,)
    """

    def _predict(self, X: Any) -> NDArray[np.float64]:
        return self.estimator_.predict(as_series(X))


class ShapeletTransformer(_SktimeAdapter, BaseTransformer, of=estimators.ShapeletTransformer):
    """Turn series into discrepancies from shapelets: `genshapelets.ShapeletTransformer` for sktime.

    A transformer from panels to tables. With targets the shapelets are learnt; without, they are
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
    >>> import numpy as np
    >>> from genshapelets.sktime import ShapeletTransformer
    >>> X = np.random.default_rng(0).normal(size=(12, 2, 20))
    >>> ShapeletTransformer(n_shapelets=4, random_state=0).fit_transform(X).shape
    (12, 4)
    """

    _tags = {  # noqa: RUF012
        "scitype:transform-output": "Primitives",
        "scitype:instancewise": False,
        "fit_is_empty": False,
        "capability:unequal_length:removes": True,
        "capability:missing_values:removes": True,
    }

    def _transform(self, X: Any, y: Any = None) -> pd.DataFrame:  # noqa: ARG002
        discrepancies = self.estimator_.transform(as_series(X))
        return pd.DataFrame(discrepancies, columns=self.estimator_.get_feature_names_out())
