"""What the classes for other libraries share: an estimator's parameters, and the estimator itself."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from .estimators.base import ShapeletEstimator
from .series import RaggedSeries

# For the libraries' own checks: small, quick, and by two procedures.
TEST_PARAMETERS = [
    {"n_shapelets": 3, "max_epochs": 2, "procedure": "paper"},
    {"n_shapelets": 3, "max_epochs": 2, "learn": "head"},
]


class Adapter:
    """A class of another library that does what an estimator of this one does.

    ``class C(Adapter, Base, of=E)`` takes the parameters of the estimator E as they are, and once fitted
    has one in ``estimator_``. Only ``n_jobs`` is 1 by default, as the other libraries want it.
    """

    _of: type[ShapeletEstimator]

    def __init_subclass__(cls, of: type[ShapeletEstimator] | None = None, **others: Any) -> None:
        super().__init_subclass__(**others)
        if of is not None:
            cls._of = of
            cls.__init__ = _initialiser(of)  # type: ignore[method-assign]

    def _fit_estimator(self: Any, series: RaggedSeries, y: Any) -> Any:
        self.estimator_ = self._of(**self.get_params(deep=False)).fit(series, y)
        return self


def _initialiser(of: type[ShapeletEstimator]) -> Callable[..., None]:
    """Make an ``__init__`` that keeps the parameters of an estimator, which its signature names."""
    ours = inspect.signature(of.__init__)
    signature = ours.replace(
        parameters=[
            parameter.replace(default=1) if name == "n_jobs" else parameter
            for name, parameter in ours.parameters.items()
        ]
    )

    def __init__(self: Any, **given: Any) -> None:  # noqa: N807
        taken = signature.bind(self, **given)
        taken.apply_defaults()
        del taken.arguments["self"]
        for name, value in taken.arguments.items():
            setattr(self, name, value)
        super(Adapter, self).__init__()

    __init__.__qualname__ = f"{of.__name__}.__init__"  # errors name it
    __init__.__signature__ = signature  # type: ignore[attr-defined]
    return __init__
