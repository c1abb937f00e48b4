"""Shapelets: learnt functions on [0, 1], stretched to learnt lengths."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from .base import ShapeletFamily, as_tensor
from .basis import BasisShapelets
from .knots import Shapelets
from .network import NetworkShapelets

__all__ = [
    "FAMILIES",
    "BasisShapelets",
    "NetworkShapelets",
    "ShapeletFamily",
    "Shapelets",
    "as_tensor",
]

# Families by name: what makes shapelets of (values, lengths, max_length).
FAMILIES: dict[str, Callable[..., ShapeletFamily]] = {
    "knots": Shapelets,
    "bspline": partial(BasisShapelets, basis="bspline"),
    "fourier": partial(BasisShapelets, basis="fourier"),
    "legendre": partial(BasisShapelets, basis="legendre"),
    "network": NetworkShapelets,
}
