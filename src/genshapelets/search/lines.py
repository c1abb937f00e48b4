"""Windows between two knots of a path, which see a straight line.

On f_i + v t, with m + b (t - S/2) the straight line nearest to w and R its squared discrepancy from w,

    int |A(f - w)|^2 = S |A(f(s + S/2) - m)|^2 + S^3/12 |A(v - b)|^2 + R,

whose minimum over the windows on this line is at hand (if level-free the first term drops out).
"""

from __future__ import annotations

import numpy as np

from ..parallel import kernel
from ..paths import Array
from .problem import L2Problem


def nearest_lines(problem: L2Problem) -> tuple[Array, Array, Array]:
    """Of the straight line nearest to each centred shapelet: m and b as above, and R."""
    w, lengths = problem.centred_shapelets, problem.lengths
    time = np.linspace(-0.5, 0.5, w.shape[1])[:, None]  # since the middle, in lengths
    share = 1.0 / (w.shape[1] - 1)
    p, q, before, after = w[:, :-1], w[:, 1:], time[:-1], time[1:]
    mean = (p + q).sum(axis=1) * share / 2
    tilt = ((2 * p + q) * before + (p + 2 * q) * after).sum(axis=1) * share * 2
    rest = w - mean[:, None] - tilt[:, None] * time
    p, q = rest[:, :-1], rest[:, 1:]
    with np.errstate(over="ignore", invalid="ignore"):
        squares = (p * p + p * q + q * q).sum(axis=1) * share / 3
        return mean, tilt / lengths[:, None], lengths * (squares * problem.weights).sum(axis=1)


@kernel
def match_lines(knots, path, inverse_gap, shift, weight, level_free, length, mean, tilt):
    """Best window between two knots of a path: its squared discrepancy, less R, and its offset."""
    best, best_start = np.inf, 0.0
    for row in range(len(knots) - 1):
        room = knots[row + 1] - knots[row] - length
        if room < 0.0:
            continue
        # Where the window's middle is nearest to the mean.
        steepness, downhill = 0.0, 0.0
        for channel in range(path.shape[1]):
            slope = (path[row + 1, channel] - path[row, channel]) * inverse_gap[row]
            level = path[row, channel] + shift[channel] - mean[channel]
            steepness += weight[channel] * slope * slope
            downhill -= weight[channel] * slope * level
        place = 0.0
        if not level_free and steepness > 0.0:
            place = min(max(downhill / steepness - 0.5 * length, 0.0), room)
        squares, tilts = 0.0, 0.0
        for channel in range(path.shape[1]):
            slope = (path[row + 1, channel] - path[row, channel]) * inverse_gap[row]
            level = path[row, channel] + shift[channel] - mean[channel]
            level += (place + 0.5 * length) * slope
            squares += weight[channel] * level * level
            tilts += weight[channel] * (slope - tilt[channel]) ** 2
        if level_free:
            squares = 0.0
        found = length * (squares + length * length / 12.0 * tilts)
        if found < best:
            best, best_start = found, min(knots[row] + place, knots[row + 1] - length)
    return best, best_start


@kernel
def next_walk(knots, length, row):
    """First and last offset of the windows that hold this row's knot or, next to those, a later one's.

    Returns the row of the first knot they do not hold, too.
    """
    last_row = len(knots) - 1
    begin = max(knots[row] - length, 0.0)
    while row + 1 < last_row and knots[row + 1] - knots[row] <= length:
        row += 1
    return begin, min(knots[row], knots[last_row] - length), row + 1
