"""Series with a known shape hidden in them, to see whether it is found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..series import RaggedSeries

_U = np.linspace(0.0, 1.0, 17)
_HALF_WAVES = (2, -2, 3, -3, 4, -4)  # of each shape; below 0 it starts downwards


@dataclass(frozen=True, eq=False)
class PlantedPattern:
    """Series in which a shape is hidden, and the truth about it.

    Attributes
    ----------
    series : RaggedSeries
    labels : (n_series,) int64
        0 if no shape is hidden in the series, c if shape c - 1 is.
    patterns : (n_classes - 1, 17) float64
        The shapes, at evenly spaced knots with straight lines between them.
    channel : int
        The channel they are hidden in.
    length : float
        Their length, in the unit of the series' times.
    starts : (n_series,) float64
        When the shape starts; NaN where there is none.
    heights : (n_series,) float64
        Factor by which the shape is scaled, a target for regression; 0 where there is none.
    """

    series: RaggedSeries
    labels: NDArray[np.int64]
    patterns: NDArray[np.float64]
    channel: int
    length: float
    starts: NDArray[np.float64]
    heights: NDArray[np.float64]


def planted_pattern(
    n_series: int,
    *,
    n_channels: int = 1,
    n_classes: int = 2,
    channel: int = 0,
    length: float = 3.0,
    n_times: tuple[int, int] = (100, 140),
    height: tuple[float, float] = (1.0, 1.0),
    noise: float = 0.05,
    background: float = 1.0,
    missing: float = 0.0,
    random_state: int | np.random.Generator = 0,
) -> PlantedPattern:
    r"""Make irregular, noisy series with a shape at a random place.

    The shape is :math:`2 \sin(2 \pi u^{1.5})`, a wide bump and then a narrower dip, from 0 to 0;
    further classes have more waves or start downwards. It takes the place of a smooth random
    background rather than being added to it. So its length can be learnt: beyond its ends each
    series goes on differently, and a window that is shorter tells less of it from the background.
    Being smooth, it is within reach from a start of quite another length.

    Parameters
    ----------
    n_series : int
    n_channels, n_classes : int
        Class 0 has no shape; each other class, up to six, has one of its own. All are equally
        frequent.
    channel : int
        Where the shape is; all other channels are background.
    length : float
        Length of the shape. Samples are 0.1 apart on average.
    n_times, height : (least, greatest)
        Range of the number of samples, and of the factor on the shape: (0.5, 1.5), say, makes
        `heights` a target for regression.
    noise, background : float
        Standard deviation of the noise on each value, and of the background.
    missing : float
        Share of values that are not observed.
    random_state : int or numpy.random.Generator

    Examples
    --------
    >>> planted = planted_pattern(20, n_channels=3, channel=1, missing=0.1)
    >>> planted.series
    RaggedSeries(20 series, 3 channels, 10... to 1... times each, ... % of values missing, float64)
    >>> np.bincount(planted.labels), planted.patterns.shape
    (array([10, 10]), (1, 17))
    """
    _check(n_channels, n_classes, channel, missing)
    rng = np.random.default_rng(random_state)
    waves = np.array(_HALF_WAVES[: n_classes - 1])[:, None]
    patterns = 2.0 * np.sin(np.pi * waves * _U**1.5)
    patterns[:, -1] = 0.0  # not 1e-16
    labels = rng.permutation(np.arange(n_series) % n_classes)
    has_shape = labels > 0
    heights = np.where(has_shape, rng.uniform(*height, n_series), 0.0)
    starts = np.full(n_series, np.nan)
    all_times: list[NDArray[Any]] = []
    all_values: list[NDArray[Any]] = []
    for i, label in enumerate(labels):
        size = rng.integers(n_times[0], n_times[1] + 1)
        times = rng.uniform(0.0, 5.0) + np.cumsum(rng.uniform(0.03, 0.17, size))
        values = background * _smooth_noise(times, n_channels, rng)
        if label:
            if times[-1] - times[0] <= length:
                raise ValueError(
                    f"n_times must leave room for a shape of length {length}, with samples 0.1 "
                    f"apart; got {size} samples. Raise n_times or shorten the shape."
                )
            starts[i] = rng.uniform(times[0], times[-1] - length)
            phase = (times - starts[i]) / length
            inside = (phase >= 0.0) & (phase <= 1.0)
            shape = heights[i] * patterns[label - 1]
            values[channel, inside] = np.interp(phase[inside], _U, shape)
        values += noise * rng.standard_normal(values.shape)
        gaps = rng.random(values.shape) < missing
        gaps[channel, rng.integers(size)] = False  # each series has an observation
        values[gaps] = np.nan
        all_times.append(times)
        all_values.append(values)
    series = RaggedSeries.from_arrays(all_values, all_times)
    return PlantedPattern(series, labels, patterns, channel, float(length), starts, heights)


def _smooth_noise(
    times: NDArray[np.float64], n_channels: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Sum eight waves of random periods of 2 to 10: mean 0, variance 1, (n_channels, n_times)."""
    frequencies = rng.uniform(0.1, 0.5, (n_channels, 8, 1))
    phases = rng.uniform(0.0, 2.0 * np.pi, (n_channels, 8, 1))
    return np.sin(2.0 * np.pi * frequencies * times + phases).sum(axis=1) / 2.0


def _check(n_channels: int, n_classes: int, channel: int, missing: float) -> None:
    if not 2 <= n_classes <= 1 + len(_HALF_WAVES):
        raise ValueError(
            f"n_classes must be from 2, no shape and one, to {1 + len(_HALF_WAVES)}; got {n_classes}."
        )
    if not 0 <= channel < n_channels:
        raise ValueError(
            f"channel must be one of the {n_channels} channels, from 0; got {channel}."
        )
    if not 0.0 <= missing < 1.0:
        raise ValueError(f"missing must be a share of at least 0, below 1; got {missing}.")
