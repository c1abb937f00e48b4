"""What every family of shapelets offers: functions on [0, 1], stretched to learnt lengths."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor, nn

from ..columns import as_array, as_floats, check_tensor
from ..described import Described
from ..shown import count

# Log of the shortest length relative to the longest: above the underflow of float32.
SHORTEST = -60.0
GIVEN = ("values", "lengths", "max_length")


class ShapeletFamily(Described, nn.Module):
    r"""K shapelets, learnt functions of one family, and their learnt lengths.

    Shapelet k is :math:`w^k(t)` on :math:`[0, S_k]`, straight lines between its M values at
    :math:`u_j = j S_k / (M - 1)`. Its length is a transform of a free parameter,
    :math:`S_k = S_{\max} e^{-|\rho_k|}`, so it stays in :math:`(0, S_{\max}]` whatever the optimiser
    does, and can both reach :math:`S_{\max}` and leave it again.

    To write one, write ``__init__``, which makes the parameters that are learnt so that the shapelets
    start near the given values, and the property `values`. Settings are keywords after the arguments
    below, kept as attributes of the same name. See `BasisShapelets`.

    Parameters
    ----------
    values : (shapelets, channels, knots) array or tensor
        What the shapelets start as, or as near to it as the family can come: values at the knots; at
        least two knots. Their dtype becomes that of the parameters.
    lengths : number or (shapelets,) array or tensor
        Lengths, in the unit of the series' times.
    max_length : float, optional
        :math:`S_{\max}`. Default: twice the longest of the given lengths. The longest span of the
        training series is a good choice: beyond it a shapelet matches nothing that was observed.

    Attributes
    ----------
    values : (shapelets, channels, knots) tensor
        Values at even knots; differentiable in the parameters.
    lengths : (shapelets,) tensor
    """

    family = "family of shapelets"
    _classes: ClassVar[dict[str, type[Any]]] = {}
    values: Tensor
    max_length: Tensor

    def __init__(
        self,
        values: ArrayLike | Tensor,
        lengths: ArrayLike | Tensor,
        max_length: float | None = None,
    ) -> None:
        super().__init__()
        values = as_tensor(values, "values")
        _check_values(values)
        n_shapelets = len(values)
        lengths = as_tensor(lengths, "lengths").detach().to(values)
        if lengths.ndim == 0:
            lengths = lengths.expand(n_shapelets)
        if lengths.shape != (n_shapelets,):
            raise ValueError(
                f"lengths must hold one length for each of the {n_shapelets} shapelets; "
                f"got shape {tuple(lengths.shape)}."
            )
        bad = ~(torch.isfinite(lengths) & (lengths > 0))
        if bad.any():
            k = int(bad.nonzero()[0])
            raise ValueError(
                f"length of shapelet {k} must be a positive number; got {float(lengths[k])!r}."
            )
        if max_length is None:
            max_length = 2.0 * float(lengths.max())
        longest = torch.tensor(max_length, dtype=values.dtype)
        if not float(lengths.max()) <= float(longest) < float("inf"):
            k = int(lengths.argmax())
            raise ValueError(
                f"length of shapelet {k} is {float(lengths[k])!r}, above max_length={max_length!r}. "
                "Shorten it or raise max_length."
            )
        self.n_shapelets, self.n_channels, self.n_knots = values.shape
        self.raw_lengths = nn.Parameter(
            torch.log(lengths / longest.to(lengths)).clamp(SHORTEST, 0.0)
        )
        self.register_buffer("max_length", longest.to(values.device))

    def of_values(self) -> list[nn.Parameter]:
        """Parameters that the values depend on: all but those of the lengths."""
        return [x for name, x in self.named_parameters() if name != "raw_lengths"]

    def config(self) -> dict[str, Any]:
        """Settings that, with values and lengths, make these shapelets again: for files and `repr`."""
        own = set(inspect.signature(type(self)).parameters) - set(GIVEN)
        return {name: getattr(self, name) for name in sorted(own)}

    def chosen(self, shapelets: Sequence[int]) -> ShapeletFamily:
        """Some of the shapelets, numbered in any order.

        By default a copy whose parameters of this many rows are taken to have one for each shapelet.
        """
        twin: Any = copy.deepcopy(self)
        twin.n_shapelets = len(shapelets)
        for name, parameter in self.named_parameters(recurse=False):
            if len(parameter) == self.n_shapelets:
                setattr(twin, name, nn.Parameter(parameter.detach()[list(shapelets)]))
        return twin

    @property
    def lengths(self) -> Tensor:
        """Lengths S_k in (0, max_length], (shapelets,)."""
        # -|raw|, written so that the derivative at raw = 0, the longest length, is that from below:
        # torch's abs has derivative 0 there and would hold the length for ever.
        raw = torch.sub(self.raw_lengths, self.raw_lengths.relu(), alpha=2)
        return self.max_length * raw.clamp(min=SHORTEST).exp()

    def extra_repr(self) -> str:
        """Describe the settings for `repr`."""
        settings = "".join(f", {name}={value!r}" for name, value in self.config().items())
        return (
            f"{count(self.n_shapelets, 'shapelet')}, {count(self.n_channels, 'channel')}, "
            f"{count(self.n_knots, 'knot')}, "
            f"max_length={float(self.max_length):g}{settings}"
        )


def as_tensor(values: ArrayLike | Tensor, what: str) -> Tensor:
    """Return real numbers as a floating-point tensor, integers in torch's default dtype."""
    if not isinstance(values, Tensor):
        try:
            array = as_array(values)
        except ValueError:  # lists of different lengths
            raise ValueError(
                f"{what} must make one array. Give all shapelets the same channels and knots."
            ) from None
        values = torch.from_numpy(np.array(as_floats(array, what), order="C"))
        return values if array.dtype.kind == "f" else values.to(torch.get_default_dtype())
    check_tensor(values, what)
    if values.is_complex():
        raise TypeError(
            f"{what} must be real numbers; got dtype {values.dtype}. Convert them to floats first."
        )
    return values if values.is_floating_point() else values.to(torch.get_default_dtype())


def _check_values(values: Tensor) -> None:
    if values.ndim != 3 or min(values.shape[:2]) < 1 or values.shape[2] < 2:
        raise ValueError(
            "values must be (shapelets, channels, knots) with at least one shapelet, one channel and "
            f"two knots; got shape {tuple(values.shape)}."
        )
    finite = torch.isfinite(values).flatten(1).all(dim=1)
    if not finite.all():
        k = int((~finite).nonzero()[0])
        raise ValueError(f"values of shapelet {k} must be finite; got NaN or infinity.")
