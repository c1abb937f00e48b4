"""Weighted means of the observations around."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..kernels import inner_kernel, kernel, run
from ..paths import Array
from .mesh import Asked, Mesh
from .smooth import SmoothInterpolation, per_channel, spread

TRIED = 2.0 ** np.arange(-1.0, 4.5, 0.5)  # bandwidths, in typical gaps between observations
NEGLIGIBLE = 40.0  # exp(-40) is less than rounding


class KernelSmoothing(SmoothInterpolation):
    r"""Weighted means with Gaussian weights (Nadaraya-Watson).

    .. math:: \iota(f)(t) = \frac{\sum_i k_i x_i}{\sum_i k_i}, \quad
        k_i = \exp\Big(-\frac{(t - t_i)^2}{2 b(t)^2}\Big), \quad
        b(t)^2 = b^2 + \Big(\frac{(t - t_a)(t_b - t)}{t_b - t_a}\Big)^2

    where a and b are the observations of the channel around t. So at an observation the bandwidth is b,
    and inside a wide gap it is wider: else the curve would jump there from one nearest value to another.
    The curve need not go through the observations: it takes noise away.

    Parameters
    ----------
    bandwidth : float, or list of one for each channel, optional
        b, in the unit of time (seconds if times are datetimes). By default learnt for each channel: of
        ½ to 16 median gaps, in steps of a root of two, the one that best tells an observation from the
        others of its series (leave one out).
    tolerance, max_pieces
        As for `Cubic`.

    Attributes
    ----------
    bandwidth_ : list of float
        For each channel.

    Examples
    --------
    >>> from genshapelets import RaggedSeries
    >>> series = RaggedSeries.from_arrays([[[0.0, 1.0, 0.0]]])
    >>> KernelSmoothing(bandwidth=0.5, max_pieces=1).fit(series)(series)[0].values.round(3)
    array([[0.119, 0.787, 0.119]])
    """

    bandwidth_: list[float]

    def __init__(
        self,
        bandwidth: float | Sequence[float] | None = None,
        *,
        tolerance: float = 1e-2,
        max_pieces: int = 8,
    ) -> None:
        self.bandwidth = per_channel(bandwidth, "bandwidth")
        super().__init__(tolerance, max_pieces)

    def learn(self, mesh: Mesh) -> None:
        """Choose the bandwidth of each channel."""
        given = spread(self.bandwidth, mesh.series.n_channels, "bandwidth")
        self.bandwidth_ = [
            _best_bandwidth(mesh, channel) if bandwidth is None else bandwidth
            for channel, bandwidth in enumerate(given)
        ]

    def bends_over(self) -> float:
        """Half the least bandwidth."""
        return min(self.bandwidth_) / 2

    def curve(self, channel: int, asked: Asked) -> Array:
        """Values of the weighted means at the points asked for."""
        out = np.empty(len(asked.points))
        bandwidth = self.bandwidth_[channel]
        n_series = len(asked.offsets) - 1
        run(lambda first, last: _smooth(first, last, asked, bandwidth, out), n_series)
        return out


def _best_bandwidth(mesh: Mesh, channel: int) -> float:
    tried = TRIED * mesh.typical_gap(channel)
    asked = mesh.asked(channel, mesh.n_observed()[:, channel] >= 3)
    errors = np.zeros((len(asked.offsets) - 1, len(tried)))
    run(lambda first, last: _leave_one_out(first, last, asked, tried, errors), len(errors))
    return float(tried[errors.sum(axis=0).argmin()])


@kernel
def _smooth(first, last, asked, bandwidth, out):
    for series in range(first, last):
        begin, end = asked.offsets[series], asked.offsets[series + 1]
        for point in range(asked.point_offsets[series], asked.point_offsets[series + 1]):
            left = asked.left[point]
            out[point] = _mean_at(asked.points[point], asked, begin, left, left + 1, end, bandwidth)


@kernel
def _leave_one_out(first, last, asked, bandwidths, errors):
    """Squared errors of the means at inner observations, made of all others; for each bandwidth."""
    for series in range(first, last):
        begin, end = asked.offsets[series], asked.offsets[series + 1]
        for one in range(begin + 1, end - 1):
            t, x = asked.times[one], asked.values[one]
            for k in range(len(bandwidths)):
                error = x - _mean_at(t, asked, begin, one - 1, one + 1, end, bandwidths[k])
                errors[series, k] += error * error


@inner_kernel
def _mean_at(t, asked, begin, left, right, end, bandwidth):
    """Weighted mean at t of observations begin..left and right..end, t being between left and right."""
    times, values = asked.times, asked.values
    nearest = t - times[left]
    variance = bandwidth * bandwidth
    if right < end:
        after = times[right] - t
        variance += (nearest * after / (nearest + after)) ** 2
        nearest = min(nearest, after)
    scale, shift = 0.5 / variance, 0.5 * nearest * nearest / variance
    total, weights = 0.0, 0.0
    for step in (-1, 1):
        i = left if step < 0 else right
        while begin <= i < end:
            away = scale * (t - times[i]) ** 2 - shift
            if away > NEGLIGIBLE:
                break
            weight = np.exp(-away)
            total += weight * values[i]
            weights += weight
            i += step
    return total / weights
