"""How observations become paths."""

from __future__ import annotations

from typing import Any

from .base import Interpolation
from .constant import Constant
from .cubic import Cubic
from .gaussian_process import GaussianProcess
from .kernel_smoothing import KernelSmoothing
from .linear import Linear
from .smooth import SmoothInterpolation

INTERPOLATIONS: dict[str, type[Interpolation]] = {
    "linear": Linear,
    "constant": Constant,
    "cubic": Cubic,
    "smoothing": KernelSmoothing,
    "gaussian_process": GaussianProcess,
}

__all__ = [
    "INTERPOLATIONS",
    "Constant",
    "Cubic",
    "GaussianProcess",
    "Interpolation",
    "KernelSmoothing",
    "Linear",
    "SmoothInterpolation",
    "make_interpolation",
]


def make_interpolation(interpolation: str | Interpolation) -> Interpolation:
    """Return a new interpolation, not fitted: by its name, or like a given one.

    Examples
    --------
    >>> make_interpolation("cubic")
    Cubic(kind='hermite', tolerance=0.01, max_pieces=8)
    >>> make_interpolation(Cubic("natural"))
    Cubic(kind='natural', tolerance=0.01, max_pieces=8)
    """
    given: Any = interpolation
    if isinstance(given, Interpolation):
        return type(given)(**given.config())
    if not isinstance(given, str) or given not in INTERPOLATIONS:
        raise ValueError(
            f"interpolation must be one of {', '.join(INTERPOLATIONS)}, or an Interpolation; got "
            f"{given!r}."
        )
    return INTERPOLATIONS[given]()
