"""The learnt L2 discrepancy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor, nn

from .base import Discrepancy, learnt_metric, safe_sqrt

FLAGS = "level_free", "scale_free"
FLAT = 1e-11  # norm of what varies, relative to that of the level, at which there is no shape


class L2Discrepancy(Discrepancy):
    r"""Distance in L2 after a learnt linear map of the channels.

    .. math:: \pi(f, w) = \Big(\int_0^S |A(f(s+t) - w(t))|^2 \, dt\Big)^{1/2}

    A level-free shapelet asks only for the shape: each channel's mean difference over the window is
    taken off first, which is the best constant c per channel in
    :math:`\int |A(f - w - c)|^2`. That too is a pseudometric.

    A scale-free shapelet does not see the size either. With :math:`\tilde f` the window less the mean of
    each channel, :math:`\tilde w` likewise, and one size for all channels together,

    .. math:: \|g\|^2 = \frac1S \int_0^S |A g|^2 \, dt, \qquad
              \pi(f, w)^2 = \int_0^S \Big|A\Big(\frac{\tilde f}{\|\tilde f\|}
              - \frac{\tilde w}{\|\tilde w\|}\Big)\Big|^2 dt = 2 S (1 - \rho),

    :math:`\rho` the correlation: a pseudometric, from 0 to :math:`2 \sqrt S`. With one channel it is the
    distance of z-normalised series of classical shapelet work. Of several channels the relative sizes
    count. A flat window or shapelet, all but constant, has no shape: 0 stands for it, so that it is
    :math:`\sqrt S` from whatever has a shape and 0 from another flat one, and nothing is learnt from it.

    Parameters
    ----------
    n_channels : int
    metric : "none", "diagonal" or "full"
        A: the identity, a learnt scale for each channel (the paper's choice), or a learnt matrix.
    n_shapelets : int, optional
        If given, each of this number of shapelets learns a metric of its own. By default all share one.
    level_free : bool or sequence of bool
        Whether shapelets ignore the level of a window: all of them, or one answer for each.
    scale_free : bool or sequence of bool
        Whether they ignore its level and its scale, in the same way.

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
    scale_free: Tensor

    def __init__(
        self,
        n_channels: int,
        metric: Literal["none", "diagonal", "full"] = "diagonal",
        *,
        n_shapelets: int | None = None,
        level_free: bool | Sequence[bool] | Tensor = False,
        scale_free: bool | Sequence[bool] | Tensor = False,
    ) -> None:
        super().__init__()
        if n_channels < 1:
            raise ValueError(f"n_channels must be at least 1; got {n_channels}.")
        if n_shapelets is not None and n_shapelets < 1:
            raise ValueError(f"n_shapelets must be at least 1, or None; got {n_shapelets}.")
        self.register_parameter("weight", learnt_metric(metric, n_channels, n_shapelets))
        self.n_channels = n_channels
        self.n_shapelets = n_shapelets
        self.metric = metric
        self.register_buffer("level_free", _as_flags(level_free, "level_free"))
        self.register_buffer("scale_free", _as_flags(scale_free, "scale_free"))

    def forward(self, times: Tensor, path: Tensor, shapelet: Tensor) -> Tensor:
        """Integrate the squared difference, which loses no digits in a close match."""
        if self.scale_free.any():
            path, shapelet = self._unit(times, path), self._unit(times, shapelet)
        difference = path - shapelet
        return safe_sqrt(self._square(times, difference - self._level(times, difference)))

    def _square(self, times: Tensor, difference: Tensor) -> Tensor:
        """Integral of |A r|^2, exactly: r is straight from p to q on each piece.

        Over a piece of width h that is h/6 (p^2 + q^2 + (p + q)^2).
        """
        if self.metric == "full":
            difference = difference @ self.matrix().mT.to(difference.dtype)
        elif self.weight is not None:
            difference = difference * self.weight[:, None]
        p, q = difference[..., :-1, :], difference[..., 1:, :]
        width = times.diff(dim=-1)[..., None]
        squares = p.square() + q.square() + (p + q).square()
        overflown = (width == 0) & (squares == torch.inf)  # a piece of no width counts for nothing
        squares = torch.where(overflown, 0.0, width * squares)
        return squares.sum(dim=(-2, -1)) / 6

    def _norm(self, times: Tensor, values: Tensor) -> Tensor:
        """Norm of functions less their means, (…, shapelets, 1, 1); 0 if they are flat."""
        mean, length = _mean(times, values), times[..., -1]
        square = self._square(times, values - mean) / length
        level = self._square(times[..., [0, -1]], torch.cat([mean, mean], dim=-2)) / length
        has_shape = (square > FLAT**2 * level) & (square < torch.inf)
        return safe_sqrt(torch.where(has_shape, square, 0.0))[..., None, None]

    def _unit(self, times: Tensor, values: Tensor) -> Tensor:
        """What scale-free shapelets see of functions: less the mean, of norm 1, or 0."""
        norm = self._norm(times, values)
        scale = torch.where(norm > 0, 1 / torch.where(norm > 0, norm, 1.0), 0.0)
        unit = scale * (values - _mean(times, values))
        return torch.where(self.scale_free[..., None, None], unit, values)

    def normalised(self, values: Tensor) -> Tensor:
        """Values (shapelets, channels, knots) with those of scale-free shapelets as they are compared.

        In float64 then; the length does not matter. They come back as they are if none is scale-free.
        """
        if not self.scale_free.any():
            return values
        values = values.double()
        times = torch.linspace(0.0, 1.0, values.shape[2], dtype=values.dtype, device=values.device)
        return self._unit(times, values.mT).mT

    def drawn(self, times: Tensor, path: Tensor, shapelet: Tensor) -> Tensor:
        """The shapelet as it is compared with a window: at its level and scale if they do not count.

        Over a flat window a scale-free shapelet keeps its own scale.
        """
        if self.scale_free.any():
            size, own = self._norm(times, path), self._norm(times, shapelet)
            has_shape = (size > 0) & (own > 0) & self.scale_free[..., None, None]
            shapelet = shapelet * torch.where(has_shape, size / torch.where(has_shape, own, 1), 1)
        return shapelet + self._level(times, path - shapelet)

    def _level(self, times: Tensor, difference: Tensor) -> Tensor:
        """What level-free shapelets ignore: the mean difference of each channel over the window."""
        mean = _mean(times, difference)
        return torch.where(self._ignores_level()[..., None, None], mean, 0.0)

    def matrix(self) -> Tensor:
        """A as (metrics, channels, channels), whatever the kind of metric."""
        if self.weight is None:
            return torch.eye(self.n_channels, device=self.level_free.device)[None]
        return self.weight if self.metric == "full" else torch.diag_embed(self.weight)

    @torch.no_grad()
    def leave_out(self, channels: Tensor) -> None:
        """Set weights to 0, of shapelets that have a diagonal of their own."""
        if self.metric == "diagonal" and self.weight is not None and self.n_shapelets is not None:
            self.weight[channels.to(self.weight.device)] = 0.0

    def channel_weights(self, n_channels: int) -> Tensor:  # noqa: ARG002
        """Lengths of the columns of A, (1 or shapelets, channels)."""
        return torch.linalg.vector_norm(self.matrix(), dim=1)

    def ignores_level(self, n_shapelets: int) -> Tensor:
        """Which shapelets are level-free, scale-free ones among them, (shapelets,) bool."""
        return self._ignores_level().expand(n_shapelets)

    def ignores_scale(self, n_shapelets: int) -> Tensor:
        """Which shapelets are scale-free, (shapelets,) bool."""
        return self.scale_free.expand(n_shapelets)

    def _ignores_level(self) -> Tensor:
        return self.level_free | self.scale_free

    def config(self) -> dict[str, Any]:
        """Arguments that make this discrepancy again: see `Discrepancy`."""
        return {
            "n_channels": self.n_channels,
            "metric": self.metric,
            "n_shapelets": self.n_shapelets,
            "level_free": self.level_free.tolist(),
            "scale_free": self.scale_free.tolist(),
        }

    def check(self, n_shapelets: int, n_channels: int) -> None:
        """Refuse shapelets that this discrepancy was not made for."""
        super().check(n_shapelets, n_channels)
        for name in FLAGS:
            flags = getattr(self, name)
            if flags.ndim == 1 and len(flags) != n_shapelets:
                raise ValueError(f"{name} holds {len(flags)} answers for {n_shapelets} shapelets.")

    def chosen(self, shapelets: Sequence[int]) -> Discrepancy:
        """The discrepancy of some of the shapelets: their own metrics and levels, if they have them."""
        twin: Any = super().chosen(shapelets)
        for name in ("level_free", "scale_free"):
            if getattr(self, name).ndim:
                setattr(twin, name, getattr(self, name)[list(shapelets)])
        return twin

    def extra_repr(self) -> str:
        """Describe the settings for `repr`."""
        shared = "" if self.n_shapelets is None else f", n_shapelets={self.n_shapelets}"
        flags = ""
        for name in FLAGS:
            own = getattr(self, name)
            flags += f", {name}={int(own.sum()) if own.ndim else bool(own)}"
        return f"n_channels={self.n_channels}, metric={self.metric!r}{shared}{flags}"

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *args: Any) -> None:
        # Files of before have no such flags.
        state_dict.setdefault(f"{prefix}scale_free", torch.zeros_like(self.scale_free))
        super()._load_from_state_dict(state_dict, prefix, *args)


def _mean(times: Tensor, values: Tensor) -> Tensor:
    """Mean of each channel over the window, (…, shapelets, 1, channels)."""
    width = times.diff(dim=-1)[..., None]
    twice = (width * (values[..., 1:, :] + values[..., :-1, :])).sum(-2, keepdim=True)
    return twice / (2 * times[..., -1:, None])


def _as_flags(given: bool | Sequence[bool] | Tensor, name: str) -> Tensor:
    """Return booleans as a tensor; refuse numbers, which might be meant to number shapelets."""
    flags = given if isinstance(given, Tensor) else np.array(given)
    if str(flags.dtype) not in ("bool", "torch.bool"):
        raise TypeError(
            f"{name} must be True, False, or one of them for each shapelet; "
            f"got {given!r}. Use np.isin(range(n_shapelets), chosen) if you number them."
        )
    if flags.ndim > 1:
        raise ValueError(
            f"{name} must be True, False, or one of them for each shapelet; "
            f"got shape {tuple(flags.shape)}."
        )
    return torch.as_tensor(flags)
