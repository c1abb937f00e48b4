"""What every interpolation offers."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from typing import Any, ClassVar, TypeVar

import numpy as np

from ..described import Described
from ..series import RaggedSeries

I = TypeVar("I", bound="Interpolation")


class Interpolation(Described, ABC):
    r"""How observations become a path: :math:`\iota`, from series to series without gaps.

    What it returns is joined by straight lines (`genshapelets.interpolate`), so it adds as many knots
    as its curves need. To write one, write `__call__`, and `fit` if it learns something: attributes
    whose names end in an underscore, as numbers, text, or lists of them. It can then be saved.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from genshapelets import RaggedSeries
    >>> class Zeros(Interpolation):
    ...     def __call__(self, series):
    ...         return replace(series, values=np.nan_to_num(series.values))
    >>> Zeros()(RaggedSeries.from_arrays([[[1.0, np.nan, 3.0]]]))[0].values
    array([[1., 0., 3.]])
    >>> Interpolation.from_config("Zeros", {}) == Zeros()
    True
    """

    family = "interpolation"
    _classes: ClassVar[dict[str, type[Any]]] = {}

    def fit(self: I, series: RaggedSeries) -> I:  # noqa: ARG002
        """Learn from training series what is needed, once; by default nothing."""
        return self

    @abstractmethod
    def __call__(self, series: RaggedSeries) -> RaggedSeries:
        """Series without gaps between a channel's first and last observation.

        Before and after them a channel is constant; one that a series never observes stays NaN.
        """

    def state(self) -> dict[str, Any]:
        """What `fit` has learnt, by name, as JSON can say it; empty before."""
        own = vars(self).items()
        return {name: value for name, value in own if name[-1] == "_" and name[0] != "_"}

    def with_state(self: I, state: dict[str, Any]) -> I:
        """Take up what `state` told; returns itself."""
        for attribute, value in state.items():
            if attribute[-1:] != "_" or attribute[:1] == "_":
                raise ValueError(
                    f"{attribute!r} is not a name of something learnt by {type(self).__name__}."
                )
            setattr(self, attribute, value)
        return self

    def __repr__(self) -> str:
        settings = ", ".join(f"{name}={value!r}" for name, value in self.config().items())
        return f"{type(self).__name__}({settings})"

    def __eq__(self, other: object) -> bool:
        """Whether the two do the same: same class, same arguments, same state."""
        if not isinstance(other, Interpolation) or type(self) is not type(other):
            return NotImplemented
        return self.config() == other.config() and self.state() == other.state()

    def __hash__(self) -> int:
        return hash((type(self), json.dumps(self.config(), sort_keys=True, default=str)))


def positive(value: Any, name: str) -> float:
    """Return a number above 0, or refuse it."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = np.nan
    if isinstance(value, bool | str) or not 0.0 < number < np.inf:
        raise ValueError(f"{name} must be a number above 0; got {value!r}.")
    return number
