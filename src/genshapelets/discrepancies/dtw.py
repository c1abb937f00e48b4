"""Dynamic time warping with a band."""

from __future__ import annotations

import math
from typing import ClassVar, Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from .base import Discrepancy, learnt_metric, safe_sqrt

# Of the length: knots no farther apart than this count as one. A line through two that differ by
# rounding alone would have no slope to speak of.
ROUNDING = 2.0**-44


class DTWDiscrepancy(Discrepancy):
    r"""Dynamic time warping: the L2 distance after the best warp of time, within a band.

    .. math:: \pi(f, w) = \Big(\frac{S}{n} \min_p \sum_{(i, j) \in p} |A(f(s+t_i) - w(t_j))|^2\Big)^{1/2}

    Window and shapelet are sampled at n evenly spaced times :math:`t_i = i S / (n - 1)`. A warping path
    p goes from (0, 0) to (n - 1, n - 1) in steps (1, 0), (0, 1) or (1, 1), and no farther from the
    diagonal than the band: :math:`|i - j| \le b`, b = ``band * n_points`` rounded down. The gradient is
    that along the best path.

    Not a pseudometric. It is symmetric, not negative, and 0 from a function to itself, but the triangle
    inequality fails: two functions may both be near a third which is warped towards each of them.

    Parameters
    ----------
    n_channels : int
    metric : "none", "diagonal" or "full"
        A: the identity, a learnt scale for each channel, or a learnt matrix.
    band : float
        How far a path may leave the diagonal, as a fraction of the length: 0 for the sampled L2
        distance, 1 for no band.
    n_points : int
        n, at least 2. Details finer than S / n are not seen.
    n_shapelets : int, optional
        If given, each of this number of shapelets learns a metric of its own. By default all share one.

    Examples
    --------
    >>> import torch
    >>> from genshapelets import DTWDiscrepancy
    >>> times, early = torch.linspace(0, 8, 9)[None], torch.zeros(1, 9, 1)
    >>> early[0, 3] = 1.0
    >>> late = early.roll(1, dims=1)
    >>> for band in (0.0, 0.12):
    ...     print(DTWDiscrepancy(1, band=band, n_points=9)(times, late, early).item())
    1.3333333730697632
    0.0
    """

    title: ClassVar[str] = "dynamic time warping"
    grows_with_length = True
    weight: nn.Parameter | None

    def __init__(
        self,
        n_channels: int,
        metric: Literal["none", "diagonal", "full"] = "diagonal",
        *,
        band: float = 0.1,
        n_points: int = 32,
        n_shapelets: int | None = None,
    ) -> None:
        super().__init__()
        if n_channels < 1:
            raise ValueError(f"n_channels must be at least 1; got {n_channels}.")
        if n_shapelets is not None and n_shapelets < 1:
            raise ValueError(f"n_shapelets must be at least 1, or None; got {n_shapelets}.")
        if not 0.0 <= band <= 1.0:
            raise ValueError(
                f"band must be a fraction of the length, from 0 to 1 (no band); got {band!r}."
            )
        if n_points != int(n_points) or n_points < 2:
            raise ValueError(f"n_points must be a whole number, at least 2; got {n_points!r}.")
        self.register_parameter("weight", learnt_metric(metric, n_channels, n_shapelets))
        self.n_channels, self.metric, self.n_shapelets = n_channels, metric, n_shapelets
        self.band, self.n_points = float(band), int(n_points)

    @property
    def n_band(self) -> int:
        """How many points a warping path may leave the diagonal by."""
        return math.floor(self.band * self.n_points + 1e-9)

    def forward(self, times: Tensor, path: Tensor, shapelet: Tensor) -> Tensor:
        """Find the best path by dynamic programming, one anti-diagonal i + j = d after another.

        The least sum up to (i, j) is its own cost and the least of those up to (i - 1, j), (i, j - 1)
        and (i - 1, j - 1).
        """
        n, band = self.n_points, self.n_band
        f, w = self._sampled(times, path), self._sampled(times, shapelet)
        # Least sums on the last two anti-diagonals, and their first and last i. All begins at (-1, -1).
        earlier = (torch.zeros_like(f[..., :1, 0]), -1, -1)
        before = (f[..., :0, 0], 0, -1)
        for d in range(2 * n - 1):
            first, last = max(0, d - n + 1, -((band - d) // 2)), min(n - 1, d, (d + band) // 2)
            difference = f[..., first : last + 1, :] - w[..., d - last : d - first + 1, :].flip(-2)
            cost = self.mapped(difference).square().sum(dim=-1)
            beside = _within(before, first - 1, last)
            least = torch.minimum(beside[..., :-1], beside[..., 1:])
            least = torch.minimum(least, _within(earlier, first - 1, last - 1))
            earlier, before = before, (cost + least, first, last)
        return safe_sqrt(times[..., -1] / n * before[0][..., 0])

    def _sampled(self, times: Tensor, values: Tensor) -> Tensor:
        """Values (…, points, channels) at evenly spaced times, on the lines between the knots."""
        share = torch.linspace(0, 1, self.n_points, dtype=times.dtype, device=times.device)
        length = times[..., -1:]
        t = share * length
        # The piece that a time lies in, or that follows; at the end that before it.
        inside = torch.minimum(t + ROUNDING * length, (1 - ROUNDING) * length).detach()
        piece = torch.searchsorted(times.detach().contiguous(), inside, right=True) - 1
        piece = piece.clamp(0, times.shape[-1] - 2)
        before, after = times.gather(-1, piece), times.gather(-1, piece + 1)
        row = piece[..., None].expand(*piece.shape, values.shape[-1])
        f, g = values.gather(-2, row), values.gather(-2, row + 1)
        part = (t - before) / torch.where(after > before, after - before, 1.0)
        return f + part[..., None] * (g - f)

    def mapped(self, difference: Tensor) -> Tensor:
        """A times differences (…, shapelets, any, channels)."""
        if self.weight is None:
            return difference
        weight = self.weight.to(difference.dtype)
        return difference @ weight.mT if self.metric == "full" else difference * weight[:, None]

    def channel_weights(self, n_channels: int) -> Tensor:
        """Lengths of the columns of A, (1 or shapelets, channels)."""
        if self.weight is None:
            return torch.ones(1, n_channels)
        columns = self.weight if self.metric == "full" else self.weight[:, None]
        return torch.linalg.vector_norm(columns, dim=1)


def _within(diagonal: tuple[Tensor, int, int], first: int, last: int) -> Tensor:
    """Sums from first to last i of an anti-diagonal; infinite where it has none."""
    least, own_first, own_last = diagonal
    return pad(least, (own_first - first, last - own_last), value=math.inf)
