"""What an estimator makes of the series, and of the targets, that it is given."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data
from torch import Tensor

from ..columns import as_array, is_default
from ..labelled import is_labelled, refuse_long
from ..model import ShapeletModel
from ..paths import observed
from ..preprocessing import Preprocessing
from ..procedures import PREPROCESSING
from ..series import OneSeries, RaggedSeries
from ..shown import count
from .by_id import in_order
from .goals import checked_weight, targets_of
from .parameters import check_parameters, check_used


class TakesSeries:
    """Whatever a user may call series, as a batch that an estimator can be fitted to, or predict."""

    target_names_: tuple[str, ...] | None = None
    _TARGET = "{}"  # what the first, second, … of several targets is called if y does not say

    def _as_series(self: Any, X: Any, static: Any = None, *, fitting: bool) -> RaggedSeries:
        """Whatever a user may call series, as a batch, with the very times that its paths will have."""
        if fitting:
            check_parameters(self)
            check_used(self)
        series, step = self._read(X, static, fitting=fitting), self._preprocessing()
        if step is not None:
            series = replace(step.transform(series), static=series.static)
        return observed(series)

    def _preprocessing(self: Any) -> Preprocessing | None:
        given = self.preprocessing
        return PREPROCESSING[given]() if isinstance(given, str) else given

    def _known(self: Any, X: Any, static: Any) -> RaggedSeries:
        """Series for a fitted model, as a batch that holds what is known of each."""
        self._fitted()
        return self._read(X, static, fitting=False)

    def _read(self: Any, X: Any, static: Any = None, *, fitting: bool) -> RaggedSeries:
        """Whatever a user may call series, as a batch that holds what is known of each."""
        series = self._batch(X, fitting=fitting)
        return series if static is None else series.with_static(static)

    def _batch(self: Any, X: Any, *, fitting: bool) -> RaggedSeries:
        """Whatever a user may call series, as a batch."""
        if isinstance(X, RaggedSeries):
            return X
        if isinstance(X, OneSeries):
            raise TypeError(
                "X is one series; give a batch, with series[[n]] rather than series[n]."
            )
        if is_labelled(X):
            return RaggedSeries.from_arrays(X)
        if isinstance(X, Tensor):
            X = as_array(X, "X")
        if isinstance(X, np.ma.MaskedArray):
            X = np.ma.filled(X.astype(np.result_type(X, np.float32)), np.nan)
        ndim = getattr(X, "ndim", None)
        if isinstance(X, np.ndarray) and X.dtype == object and ndim == 1:
            X = list(X)
        if isinstance(X, list | tuple):
            dims = {as_array(x, f"values of series {n}").ndim for n, x in enumerate(X)}
            if dims == {1}:  # univariate
                if len({len(x) for x in X}) > 1:
                    return RaggedSeries.from_arrays([as_array(x)[None] for x in X])
            elif 0 not in dims:
                return RaggedSeries.from_arrays(X)
        if ndim == 3:
            return RaggedSeries.from_arrays(X)
        refuse_long(X)
        if hasattr(X, "notna") and "object" in map(str, X.dtypes):  # perhaps with pandas.NA
            X = X.where(X.notna(), np.nan)
        table = validate_data(
            self, X, reset=fitting, dtype=[np.float64, np.float32], ensure_all_finite="allow-nan"
        )
        series = RaggedSeries.from_arrays(table[:, None, :])
        index: Any = getattr(X, "index", None)  # a dataframe's, which names its rows
        if hasattr(index, "to_numpy") and not is_default(index):
            series = replace(series, series_ids=index.to_numpy())
        return series

    def _weighted(
        self: Any, series: RaggedSeries, y: Any, sample_weight: Any
    ) -> tuple[RaggedSeries, Any, NDArray[np.float64]]:
        """Series, targets and weights without those series whose weight is 0; names of several."""
        given = in_order(sample_weight, series, "sample_weight")
        weight = checked_weight(given, len(series))
        y, names = targets_of(in_order(y, series), len(series))
        if names is not None:
            named = (name or self._TARGET.format(n) for n, name in enumerate(names))
            self.target_names_ = tuple(named)
        used = np.flatnonzero(weight > 0)
        return (series, y, weight) if len(used) == len(y) else (series[used], y[used], weight[used])

    def _paired(
        self: Any, X: Any, y: Any, static: Any, sample_weight: Any = None
    ) -> tuple[RaggedSeries, Any, Any]:
        """X as a batch that holds static, and what belongs to it in its order."""
        series = self._known(X, static)
        return series, in_order(y, series), in_order(sample_weight, series, "sample_weight")

    def _check_like_training(self: Any, series: RaggedSeries, model: ShapeletModel) -> None:
        name = type(self).__name__
        if series.n_channels != self.n_channels_in_:
            hint = "Give the same channels in the same order."
            if series.n_channels == 1:
                hint += (
                    " (An array of two dimensions holds a univariate series in each row; a single "
                )
                hint += "series of several channels is X[None].)"
            raise ValueError(
                f"X has {count(series.n_channels, 'channel')}, but {name} was fitted on "
                f"{self.n_channels_in_}. {hint}"
            )
        here, there = series.channel_names, self.channel_names_
        if here is not None and there is not None and here != there:
            raise ValueError(
                f"the channels of X are {', '.join(here)}, but {name} was fitted on "
                f"{', '.join(there)}. Give the same channels in the same order."
            )
        if (series.time_origin is not None) != self.has_datetimes_:
            kinds = ("datetimes", "numbers") if self.has_datetimes_ else ("numbers", "datetimes")
            raise ValueError(
                f"{name} was fitted on series whose times are {kinds[0]}; those of X are {kinds[1]}. "
                "Give times of the same kind."
            )
        shortest = float(model.transform.shapelets.lengths.min())
        short = series.spans < min(shortest, self.shortest_span_)
        if self.short_series == "error" and short.any():
            n = int(short.argmax())
            raise ValueError(
                f"series {n} spans {series.spans[n]:g}, less than every shapelet (the shortest is "
                f"{shortest:g} long) and every training series. Leave it out, or set "
                'short_series="hold" to compare it held at its last value.'
            )


def tell_of_constant_channels(series: RaggedSeries) -> None:
    """Warn of channels that never vary, if there are others."""
    values = series.values
    low = np.fmin.reduce(values, axis=0)  # NaN of a channel that is never observed
    constant = np.flatnonzero(~(np.fmax.reduce(values, axis=0) > low))
    if 0 < len(constant) < series.n_channels:
        names = series.channel_names or range(series.n_channels)
        warnings.warn(
            f"nothing can be learnt from channels that never vary: "
            f"{', '.join(str(names[c]) for c in constant)}. No shapelet has to look at them; leave them "
            "out.",
            stacklevel=4,
        )
