"""Shapelets that are sums of a few smooth functions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from scipy.interpolate import BSpline
from torch import Tensor, nn

from .base import ShapeletFamily, as_tensor

Array = NDArray[np.float64]


class BasisShapelets(ShapeletFamily):
    r"""Sums of a few smooth functions, with learnt coefficients.

    .. math:: w_d(u) = \sum_j c_{dj} \phi_j(u), \qquad u \in [0, 1]

    Fewer functions than knots make smoother shapelets with fewer numbers to learn.

    Parameters
    ----------
    values, lengths, max_length
        As for `ShapeletFamily`; the coefficients start at the least-squares fit to these values.
    basis : "bspline", "fourier" or "legendre"
        Cubic B-splines between evenly spaced points; cosines :math:`\cos(j \pi u)`, which, unlike a
        series of sines and cosines, let a shapelet end elsewhere than it began; Legendre polynomials.
    n_functions : int
        Their number, at most that of the knots.

    Examples
    --------
    >>> from genshapelets import BasisShapelets
    >>> line = BasisShapelets([[[0.0, 1.0, 2.0, 3.0]]], 3.0, basis="legendre", n_functions=2)
    >>> line.coefficients.shape, line.values.tolist()
    (torch.Size([1, 1, 2]), [[[0.0, 1.0, 2.0, 3.0]]])
    """

    functions: Tensor

    def __init__(
        self,
        values: ArrayLike | Tensor,
        lengths: ArrayLike | Tensor,
        max_length: float | None = None,
        *,
        basis: str = "bspline",
        n_functions: int = 8,
    ) -> None:
        values = as_tensor(values, "values").detach()
        super().__init__(values, lengths, max_length)
        if basis not in BASES:
            raise ValueError(f"basis must be one of {', '.join(BASES)}; got {basis!r}.")
        if not 1 <= n_functions <= self.n_knots:
            raise ValueError(
                f"n_functions must be from 1 to the number of knots, {self.n_knots}; got "
                f"{n_functions}. Take more knots to draw finer curves."
            )
        self.basis, self.n_functions = basis, n_functions
        functions = BASES[basis](np.linspace(0.0, 1.0, self.n_knots), n_functions)
        start = values.double().cpu().numpy() @ np.linalg.pinv(functions).T
        self.coefficients = nn.Parameter(torch.from_numpy(start).to(values))
        self.register_buffer("functions", torch.from_numpy(functions).to(values), persistent=False)

    @property
    def values(self) -> Tensor:  # type: ignore[override]
        """Values at even knots, (shapelets, channels, knots)."""
        return self.coefficients @ self.functions.T


def _bsplines(u: Array, n_functions: int) -> Array:
    """Cubic B-splines, or of a lower degree if there are fewer than four."""
    degree = min(3, n_functions - 1)
    inner = np.linspace(0.0, 1.0, n_functions - degree + 1)
    ends = np.zeros(degree), np.ones(degree)
    return BSpline.design_matrix(u, np.concatenate([ends[0], inner, ends[1]]), degree).toarray()


def _cosines(u: Array, n_functions: int) -> Array:
    return np.cos(np.pi * u[:, None] * np.arange(n_functions))


def _legendre(u: Array, n_functions: int) -> Array:
    return np.asarray(np.polynomial.legendre.legvander(2.0 * u - 1.0, n_functions - 1), np.float64)


# Functions of (u, how many) that give their values, (knots, functions).
BASES: dict[str, Callable[[Array, int], Array]] = {
    "bspline": _bsplines,
    "fourier": _cosines,
    "legendre": _legendre,
}
