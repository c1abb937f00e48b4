"""The mean of a Gaussian process, given the observations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import minimize

from ..kernels import inner_kernel, kernel, run
from ..paths import Array
from .mesh import Asked, Mesh
from .smooth import SmoothInterpolation, per_channel, spread

STARTS = [(gaps, noise) for gaps in (1.0, 4.0, 16.0) for noise in (0.01, 0.3)]
GAPS = 0.25, 1000.0  # least and greatest length scale that is learnt, in typical gaps
NOISES = 1e-6, 100.0  # least and greatest share of noise


class GaussianProcess(SmoothInterpolation):
    r"""Posterior mean of a Gaussian process, one for each channel and shared by all series.

    .. math:: \iota(f)(t) = \mu + k(t)^\top (K + \rho I)^{-1} (x - \mu), \quad
        K_{ij} = \Big(1 + \frac{\sqrt 3 |t_i - t_j|}{\ell}\Big) e^{-\sqrt 3 |t_i - t_j| / \ell}

    with the Matérn kernel of order 3/2, whose curves have a slope everywhere; :math:`\ell` is its length
    scale, :math:`\rho` the variance of noise as a share of the process's own, :math:`\mu` the mean of
    the training series. The curve need not go through the observations; in a wide gap it goes back to
    the mean.

    Such a process together with its slope is a Markov chain, so a filter and a smoother (Kalman; Bryson
    and Frazier) take the place of the matrix: exact, and in time linear in the number of observations.

    Parameters
    ----------
    length_scale : float, or list of one for each channel, optional
        In the unit of time (seconds if times are datetimes). By default the one with the greatest
        marginal likelihood of up to 256 training series.
    noise : float, or list of one for each channel, optional
        :math:`\rho`; by default learnt in the same way.
    tolerance, max_pieces
        As for `Cubic`.

    Attributes
    ----------
    length_scale_, noise_, mean_ : list of float
        Of each channel.

    Examples
    --------
    >>> from genshapelets import RaggedSeries
    >>> series = RaggedSeries.from_arrays([[[-1.0, 1.0, 0.0]]])
    >>> process = GaussianProcess(length_scale=2.0, noise=0.1, max_pieces=1).fit(series)
    >>> process(series)[0].values.round(3)
    array([[-0.657,  0.535,  0.181]])
    """

    least = 2
    length_scale_: list[float]
    noise_: list[float]
    mean_: list[float]

    def __init__(
        self,
        length_scale: float | Sequence[float] | None = None,
        noise: float | Sequence[float] | None = None,
        *,
        tolerance: float = 1e-2,
        max_pieces: int = 8,
    ) -> None:
        self.length_scale = per_channel(length_scale, "length_scale")
        self.noise = per_channel(noise, "noise")
        super().__init__(tolerance, max_pieces)

    def learn(self, mesh: Mesh) -> None:
        """Find the mean, the length scale and the noise of each channel."""
        n_channels = mesh.series.n_channels
        scales = spread(self.length_scale, n_channels, "length_scale")
        noises = spread(self.noise, n_channels, "noise")
        values = mesh.series.values.astype(np.float64)
        seen = ~np.isnan(values)
        total = np.where(seen, values, 0.0).sum(axis=0)
        self.mean_ = (total / np.maximum(seen.sum(axis=0), 1)).tolist()
        found = [
            _most_likely(mesh, channel, self.mean_[channel], scales[channel], noises[channel])
            for channel in range(n_channels)
        ]
        self.length_scale_ = [scale for scale, _ in found]
        self.noise_ = [noise for _, noise in found]

    def bends_over(self) -> float:
        """Half the least length scale."""
        return min(self.length_scale_) / 2

    def curve(self, channel: int, asked: Asked) -> Array:
        """Values of the posterior mean at the points asked for."""
        mean, rate = self.mean_[channel], np.sqrt(3.0) / self.length_scale_[channel]
        asked = asked._replace(values=asked.values - mean)
        out, noise = np.empty(len(asked.points)), self.noise_[channel]
        n_series = len(asked.offsets) - 1
        run(lambda first, last: _posterior(first, last, asked, rate, noise, out), n_series)
        return mean + out


def _most_likely(
    mesh: Mesh, channel: int, mean: float, scale: float | None, noise: float | None
) -> tuple[float, float]:
    """Length scale and noise of the greatest likelihood, those that are given kept."""
    gap = mesh.typical_gap(channel)
    asked = mesh.asked(channel, mesh.n_observed()[:, channel] >= 2)
    asked = asked._replace(values=asked.values - mean)
    given = np.array([np.nan if one is None else one for one in (scale, noise)])
    free = np.isnan(given)
    unit = np.array([gap, 1.0])  # length scales are counted in gaps
    bounds = np.log([GAPS, NOISES])[free]

    def settings(free_logs: Array) -> Array:
        whole = given.copy()
        whole[free] = (unit[free] * np.exp(free_logs)).tolist()
        return whole

    def cost(free_logs: Array) -> float:
        return -log_likelihood(asked, *settings(free_logs))

    starts = [np.log(start)[free] for start in STARTS]
    if not free.any() or len(np.unique(asked.values)) < 2:
        best = starts[0]  # nothing to learn, or nothing to learn from
    else:
        best = min(starts, key=cost)
        options = {"xatol": 1e-2, "fatol": 1e-2, "maxfev": 200}
        best = minimize(cost, best, method="Nelder-Mead", bounds=bounds, options=options).x
    found = settings(best)
    return float(found[0]), float(found[1])


def log_likelihood(asked: Asked, length_scale: float, noise: float) -> float:
    """Marginal likelihood of all observations, of the most likely variance of the process.

    They are taken to have mean 0; noise is a share of that variance.
    """
    parts = np.empty((len(asked.offsets) - 1, 2))
    rate = np.sqrt(3.0) / length_scale
    run(lambda first, last: _filter(first, last, asked, rate, noise, parts), len(parts))
    squares, logs = parts.sum(axis=0)
    n_values = len(asked.values)
    return float(-0.5 * (n_values * (np.log(2 * np.pi * squares / n_values) + 1.0) + logs))


# The process f and its slope over `rate` are a state z of two numbers, each of variance 1 as long as
# nothing is observed. A `state` below is the mean of z (two numbers) and its covariance P (00, 01, 11)
# given the observations so far. What later observations add to the mean is P c, where c comes backwards.

UNKNOWN = (0.0, 0.0, 1.0, 0.0, 1.0)


@kernel
def _filter(first, last, asked, rate, noise, parts):
    """Sum of squared innovations over their variances, and of the logarithms of these."""
    for series in range(first, last):
        begin, state = asked.offsets[series], UNKNOWN
        squares = logs = 0.0
        for i in range(begin, asked.offsets[series + 1]):
            if i > begin:
                state = _later(state, rate * (asked.times[i] - asked.times[i - 1]))
            innovation, variance = asked.values[i] - state[0], state[2] + noise
            squares += innovation * innovation / variance
            logs += np.log(variance)
            state = _observed(state, innovation, noise)
        parts[series, 0], parts[series, 1] = squares, logs


@kernel
def _posterior(first, last, asked, rate, noise, out):
    """Mean of f at the points, given all observations of their series."""
    for series in range(first, last):
        begin, n_seen = asked.offsets[series], asked.offsets[series + 1] - asked.offsets[series]
        times, state = asked.times[begin : begin + n_seen], UNKNOWN
        before, after = np.empty((n_seen, 5)), np.empty((n_seen, 5))  # each observation
        for i in range(n_seen):
            if i > 0:
                state = _later(state, rate * (times[i] - times[i - 1]))
            before[i] = state
            state = _observed(state, asked.values[begin + i] - state[0], noise)
            after[i] = state
        back = np.zeros((n_seen, 2))  # c just before each observation
        for i in range(n_seen - 1, -1, -1):
            p, _, g, h, _ = before[i]
            c = (0.0, 0.0)
            if i + 1 < n_seen:
                c = _earlier(back[i + 1], rate * (times[i + 1] - times[i]))
            news = asked.values[begin + i] - p - g * c[0] - h * c[1]
            back[i] = c[0] + news / (g + noise), c[1]
        for point in range(asked.point_offsets[series], asked.point_offsets[series + 1]):
            i, t = asked.left[point] - begin, asked.points[point]
            p, q, u, v, w = after[i]
            p, q, u, v, w = _later((p, q, u, v, w), rate * (t - times[i]))
            out[point] = p
            if i + 1 < n_seen:
                c = _earlier(back[i + 1], rate * (times[i + 1] - t))
                out[point] += u * c[0] + v * c[1]


@inner_kernel
def _later(state, x):
    """State after a time of x / rate without observations: P goes over to T P T' + 1 - T T'."""
    p, q, u, v, w = state
    shrink = np.exp(-x)
    a, b, d = shrink * (1.0 + x), shrink * x, shrink * (1.0 - x)  # T = ((a, b), (-b, d))
    grown = _lost(2 * x)
    return (
        a * p + b * q,
        d * q - b * p,
        a * a * u + 2 * a * b * v + b * b * w + grown,
        -a * b * u + (a * d - b * b) * v + b * d * w + 2 * b * b,
        b * b * u - 2 * b * d * v + d * d * w + grown + 4 * b * shrink,
    )


@inner_kernel
def _lost(y):
    """1 - exp(-y) (1 + y + y^2 / 2), without cancellation: the rest of the series of exp(y)."""
    if y > 1.0:
        return 1.0 - np.exp(-y) * (1.0 + y + 0.5 * y * y)
    rest = 1.0
    for k in range(18, 3, -1):
        rest = 1.0 + rest * y / k
    return np.exp(-y) * y**3 / 6.0 * rest


@inner_kernel
def _observed(state, innovation, noise):
    """State after an observation of f."""
    p, q, u, v, w = state
    variance = u + noise
    return (
        p + u * innovation / variance,
        q + v * innovation / variance,
        u * noise / variance,
        v * noise / variance,
        w - v * v / variance,
    )


@inner_kernel
def _earlier(c, x):
    """T' c, over a time of x / rate."""
    shrink = np.exp(-x)
    return shrink * ((1.0 + x) * c[0] - x * c[1]), shrink * (x * c[0] + (1.0 - x) * c[1])
