"""Series become other series before anything else is done with them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from .described import Described
from .series import RaggedSeries


class Preprocessing(Described, ABC):
    """A step that estimators take before they look at series: it is kept in model files.

    To write one, write `transform`. Arguments are kept as attributes of the same name.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from genshapelets import Preprocessing, RaggedSeries
    >>> class Scaled(Preprocessing):
    ...     def __init__(self, factor):
    ...         self.factor = factor
    ...
    ...     def transform(self, series):
    ...         return replace(series, values=self.factor * series.values)
    >>> Scaled(3.0).transform(RaggedSeries.from_arrays([[[1.0, 2.0]]]))[0].values
    array([[3., 6.]])
    """

    family = "preprocessing"
    _classes: ClassVar[dict[str, type[Any]]] = {}

    @abstractmethod
    def transform(self, X: RaggedSeries) -> RaggedSeries:
        """Other series, as many and in the same order."""
