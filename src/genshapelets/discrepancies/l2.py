"""The learnt L2 discrepancy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor, nn

from .base import Discrepancy, safe_sqrt


class L2Discrepancy(Discrepancy):
    r"""Distance in L2 after a learnt linear map of the channels.

    .. math:: \pi(f, w) = \Big(\int_0^S |A(f(s+t) - w(t))|^2 \, dt\Big)^{1/2}

    A level-free shapelet asks only for the shape: each channel's mean difference over the window is
    taken off first, which is the best constant c per channel in
    :math:`\int |A(f - w - c)|^2`. That too is a pseudometric.

    Parameters
    ----------
    n_channels : int
    metric : "none", "diagonal" or "full"
        A: the identity, a learnt scale for each channel (the paper's choice), or a learnt matrix.
    n_shapelets : int, optional
        If given, each of this number of shapelets learns a metric of its own. By default all share one.
    level_free : bool or sequence of bool
        Whether shapelets ignore the level of a window: all of them, or one answer for each.

    Examples
    --------
    >>> from genshapelets import L2Discrepancy
    >>> L2Discrepancy(n_channels=3).weight
    Parameter containing:
    tensor([[1., 1., 1.]], requires_grad=True)
    """

    title = "L2"
    grows_with_length = True
    weight: nn.Parameter | None
    level_free: Tensor

    def __init__(
        self,
        n_channels: int,
        metric: Literal["none", "diagonal", "full"] = "diagonal",
        *,
        n_shapelets: int | None = None,
        level_free: bool | Sequence[bool] | Tensor = False,
    ) -> None:
        super().__init__()
        if n_channels < 1:
            raise ValueError(f"n_channels must be at least 1; got {n_channels}.")
        if n_shapelets is not None and n_shapelets < 1:
            raise ValueError(f"n_shapelets must be at least 1, or None; got {n_shapelets}.")
        n_metrics = 1 if n_shapelets is None else n_shapelets
        if metric == "none":
            self.register_parameter("weight", None)
        elif metric == "diagonal":
            self.weight = nn.Parameter(torch.ones(n_metrics, n_channels))
        elif metric == "full":
            self.weight = nn.Parameter(torch.eye(n_channels).repeat(n_metrics, 1, 1))
        else:
            raise ValueError(f'metric must be "none", "diagonal" or "full"; got {metric!r}.')
        self.n_channels = n_channels
        self.n_shapelets = n_shapelets
        self.metric = metric
        self.register_buffer("level_free", _as_flags(level_free))
        if self.level_free.ndim > 1:
            raise ValueError(
                "level_free must be True, False, or one of them for each shapelet; "
                f"got shape {tuple(self.level_free.shape)}."
            )

    def forward(self, times: Tensor, path: Tensor, shapelet: Tensor) -> Tensor:
        """Integrate the squared difference, exactly: it is straight from p to q on each piece.

        Over a piece of width h that is h/6 (p^2 + q^2 + (p + q)^2), which loses no digits in a close
        match.
        """
        difference = path - shapelet
        difference = difference - self._level(times, difference)
        if self.metric == "full":
            difference = difference @ self.matrix().mT
        elif self.weight is not None:
            difference = difference * self.weight[:, None]
        p, q = difference[..., :-1, :], difference[..., 1:, :]
        width = times.diff(dim=-1)[..., None]
        squares = p.square() + q.square() + (p + q).square()
        overflown = (width == 0) & (squares == torch.inf)  # a piece of no width counts for nothing
        squares = torch.where(overflown, 0.0, width * squares)
        return safe_sqrt(squares.sum(dim=(-2, -1)) / 6)

    def _level(self, times: Tensor, difference: Tensor) -> Tensor:
        """What level-free shapelets ignore: the mean difference of each channel over the window."""
        width = times.diff(dim=-1)[..., None]
        twice = (width * (difference[..., 1:, :] + difference[..., :-1, :])).sum(-2, keepdim=True)
        mean = twice / (2 * times[..., -1:, None])
        return torch.where(self.level_free.reshape(-1, 1, 1), mean, 0.0)

    def drawn(self, times: Tensor, path: Tensor, shapelet: Tensor) -> Tensor:
        """The shapelet as it is compared with a window: at its level if it is level-free."""
        return shapelet + self._level(times, path - shapelet)

    def matrix(self) -> Tensor:
        """A as (metrics, channels, channels), whatever the kind of metric."""
        if self.weight is None:
            return torch.eye(self.n_channels, device=self.level_free.device)[None]
        return self.weight if self.metric == "full" else torch.diag_embed(self.weight)

    def channel_weights(self, n_channels: int) -> Tensor:  # noqa: ARG002
        """Lengths of the columns of A, (1 or shapelets, channels)."""
        return torch.linalg.vector_norm(self.matrix(), dim=1)

    def ignores_level(self, n_shapelets: int) -> Tensor:
        """Which shapelets are level-free, (shapelets,) bool."""
        return self.level_free.expand(n_shapelets)

    def config(self) -> dict[str, Any]:
        """Arguments that make this discrepancy again: see `Discrepancy`."""
        return {
            "n_channels": self.n_channels,
            "metric": self.metric,
            "n_shapelets": self.n_shapelets,
            "level_free": self.level_free.tolist(),
        }

    def check(self, n_shapelets: int, n_channels: int) -> None:
        """Refuse shapelets that this discrepancy was not made for."""
        if n_channels != self.n_channels:
            raise ValueError(
                f"the shapelets have {n_channels} channels, but the discrepancy was made for "
                f"{self.n_channels}: use L2Discrepancy(n_channels={n_channels})."
            )
        if self.n_shapelets not in (None, n_shapelets):
            raise ValueError(
                f"there are {n_shapelets} shapelets, but the discrepancy holds {self.n_shapelets} "
                f"metrics: use n_shapelets={n_shapelets}, or None for a shared metric."
            )
        if self.level_free.ndim == 1 and len(self.level_free) != n_shapelets:
            raise ValueError(
                f"level_free holds {len(self.level_free)} answers for {n_shapelets} shapelets."
            )

    def chosen(self, shapelets: Sequence[int]) -> Discrepancy:
        """The discrepancy of some of the shapelets: their own metrics and levels, if they have them."""
        twin: Any = super().chosen(shapelets)
        if self.level_free.ndim:
            twin.level_free = self.level_free[list(shapelets)]
        return twin

    def extra_repr(self) -> str:
        """Describe the settings for `repr`."""
        shared = "" if self.n_shapelets is None else f", n_shapelets={self.n_shapelets}"
        count = int(self.level_free.sum()) if self.level_free.ndim else bool(self.level_free)
        return f"n_channels={self.n_channels}, metric={self.metric!r}{shared}, level_free={count}"


def _as_flags(level_free: bool | Sequence[bool] | Tensor) -> Tensor:
    """Return booleans as a tensor; refuse numbers, which might be meant to number shapelets."""
    flags = level_free if isinstance(level_free, Tensor) else np.array(level_free)
    if str(flags.dtype) not in ("bool", "torch.bool"):
        raise TypeError(
            "level_free must be True, False, or one of them for each shapelet; "
            f"got {level_free!r}. Use np.isin(range(n_shapelets), chosen) if you number them."
        )
    return torch.as_tensor(flags)
