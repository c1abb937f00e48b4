"""What every discrepancy offers."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from ..described import Described


class Discrepancy(Described, nn.Module, ABC):
    r"""How far a window of a path is from a shapelet: a (learnt) pseudometric :math:`\pi(f, w)`.

    To write one, write `forward`: the formula. It then works in the transform, the estimators, model
    files, explanations and the report. Parameters that it holds are learnt. A fast search or evaluation
    can be added with `genshapelets.search.register` and `genshapelets.evaluation.register`.

    Attributes
    ----------
    title : str
        What explanations call it; by default the name of the class.
    grows_with_length : bool
        Whether a discrepancy grows like the root of the shapelet's length, as an L2 norm does. The
        default procedure then divides by that root.
    counts_samples : bool
        Whether a shapelet is a number of samples, its length fixed, rather than a function of time.
    squared : bool
        Whether it is a sum of squares, of which measures of interpretability take the root.

    Examples
    --------
    >>> class Largest(Discrepancy):
    ...     def forward(self, times, path, shapelet):
    ...         return (path - shapelet).abs().amax(dim=(-2, -1))
    >>> from genshapelets import GeneralisedShapeletTransform
    >>> transform = GeneralisedShapeletTransform.from_shapelets(
    ...     [[[0.0, 1.0, 0.0]]], lengths=[2.0], discrepancy=Largest()
    ... )
    >>> transform([[[0.0, 0.0, 0.0, 1.5, 0.0, 0.0]]]).discrepancy.item()
    0.5
    """

    family = "discrepancy"
    _classes: ClassVar[dict[str, type[Any]]] = {}
    title: ClassVar[str] = ""
    grows_with_length: ClassVar[bool] = False
    counts_samples: ClassVar[bool] = False
    squared: ClassVar[bool] = False

    @abstractmethod
    def forward(self, times: Tensor, path: Tensor, shapelet: Tensor) -> Tensor:
        """Discrepancy of windows from shapelets, both given on common knots.

        Both run in straight lines between the knots. The knots are those of either, so neighbours may
        coincide: a piece of no width must count for nothing.

        Parameters
        ----------
        times : (…, shapelets, knots) tensor
            From 0 to the shapelet's length, never decreasing.
        path, shapelet : (…, shapelets, knots, channels) tensors
            Values at the knots, in float64 where the device can.

        Returns
        -------
        (…, shapelets) tensor
            Not negative; 0 where the two are the same.
        """

    def check(self, n_shapelets: int, n_channels: int) -> None:
        """Refuse, with a ValueError, shapelets that this discrepancy was not made for.

        By default by its attributes `n_channels` and `n_shapelets`, where it has them.
        """
        name = type(self).__name__
        own_channels, own_metrics = (
            getattr(self, own, None) for own in ("n_channels", "n_shapelets")
        )
        if own_channels not in (None, n_channels):
            raise ValueError(
                f"the shapelets have {n_channels} channels, but the discrepancy was made for "
                f"{own_channels}: use {name}(n_channels={n_channels})."
            )
        if own_metrics not in (None, n_shapelets):
            raise ValueError(
                f"there are {n_shapelets} shapelets, but the discrepancy holds {own_metrics} "
                f"metrics: use n_shapelets={n_shapelets}, or None for a shared metric."
            )

    def chosen(self, shapelets: Sequence[int]) -> Discrepancy:
        """The discrepancy of some of the shapelets, numbered in any order, any of them several times.

        By default a copy; if it has an attribute `n_shapelets` that is not None, its parameters are
        taken to have a row for each shapelet.
        """
        twin: Any = copy.deepcopy(self)
        if getattr(self, "n_shapelets", None) is not None:
            twin.n_shapelets = len(shapelets)
            for name, parameter in self.named_parameters(recurse=False):
                setattr(twin, name, nn.Parameter(parameter.detach()[list(shapelets)]))
        return twin

    def leave_out(self, channels: Tensor) -> None:
        """Let channels count nothing, where (shapelets, channels) is True.

        By default nothing changes: not every discrepancy can leave out channels.
        """

    def channel_weights(self, n_channels: int) -> Tensor:
        """How much each channel counts, (1 or shapelets, channels), on any scale. By default equally."""
        return torch.ones(1, n_channels)

    def ignores_level(self, n_shapelets: int) -> Tensor:
        """Which shapelets see only the shape of a window, not its level, (shapelets,) bool."""
        return torch.zeros(n_shapelets, dtype=torch.bool)

    def ignores_scale(self, n_shapelets: int) -> Tensor:
        """Which shapelets see a window's shape whatever its scale, too, (shapelets,) bool."""
        return torch.zeros(n_shapelets, dtype=torch.bool)

    def titles(self, n_shapelets: int) -> list[str]:
        """What explanations call the discrepancy of each shapelet."""
        return [self.title or type(self).__name__] * n_shapelets

    def grows(self, n_shapelets: int) -> Tensor:
        """Of which shapelets the discrepancy grows with the length, (shapelets,) bool."""
        return torch.full((n_shapelets,), self.grows_with_length)

    def squares(self, n_shapelets: int) -> Tensor:
        """Of which shapelets the discrepancy is a sum of squares, (shapelets,) bool."""
        return torch.full((n_shapelets,), self.squared)

    def drawn(self, times: Tensor, path: Tensor, shapelet: Tensor) -> Tensor:  # noqa: ARG002
        """The shapelet as it is compared with a window; arguments as for `forward`.

        By default as it is. A discrepancy that ignores the level, say, lifts it to that of the window;
        one that ignores the scale gives it that of the window.
        """
        return shapelet

    def extra_repr(self) -> str:
        """Describe the settings for `repr`."""
        try:
            return ", ".join(f"{name}={value!r}" for name, value in self.config().items())
        except TypeError:  # an argument that is not kept: no reason not to be printed
            return ""


def learnt_metric(metric: str, size: int, n_shapelets: int | None) -> nn.Parameter | None:
    """A as a parameter: none, (metrics, size) scales or (metrics, size, size) matrices, all identities.

    One for each shapelet, or a single one if their number is None.
    """
    n_metrics = 1 if n_shapelets is None else n_shapelets
    if metric == "none":
        return None
    if metric == "diagonal":
        return nn.Parameter(torch.ones(n_metrics, size))
    if metric == "full":
        return nn.Parameter(torch.eye(size).repeat(n_metrics, 1, 1))
    raise ValueError(f'metric must be "none", "diagonal" or "full"; got {metric!r}.')


def safe_sqrt(x: Tensor) -> Tensor:
    """Square root whose derivative at 0 is 0: a perfect match is left as it is. Of NaN, NaN."""
    zero = x <= 0
    return torch.where(zero, 0.0, torch.where(zero, 1.0, x).sqrt())
