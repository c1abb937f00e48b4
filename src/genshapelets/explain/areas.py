r"""Signed areas: what the second level of a log-signature sees of a curve in the plane.

.. math:: A = \tfrac{1}{2} \int (x - x_0) \, dy - (y - y_0) \, dx

This is Lévy's area, between a curve and its chord: positive where it is run round against the clock,
negative clockwise.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..paths import Array
from .drawing import in_numbers
from .matches import ShapeletMatches

TINY = 1e-6  # share of all area
Axes = tuple[int | None, int]  # channels across and up; None is time


class InPlane(NamedTuple):
    """A shapelet and its segment as curves in the plane, both moved to start at 0.

    Attributes
    ----------
    axes : (across, up)
        Channels; None is time.
    names : (str, str)
        What is drawn across and up.
    shapelet, segment : (2, points) arrays
        In the units of the data.
    same_scale : bool
        Whether a unit should be as long across as up: not if one varies over four times as much.
    """

    axes: Axes
    names: tuple[str, str]
    shapelet: Array
    segment: Array
    same_scale: bool


def in_plane(
    matches: ShapeletMatches, shapelet: int, series: int, axes: Axes | None = None
) -> InPlane:
    """By default the two own channels that say most; of one alone, time across and this up."""
    window = matches.window(shapelet, series)
    if axes is None:
        most = np.sort(matches.channels(shapelet, 2)).tolist() or [0]
        axes = (most[0], most[1]) if len(most) > 1 else (None, most[0])
    across, up = axes
    since, unit = in_numbers(window.times - window.times[0])
    name, same_scale = ("time" if unit == "unit of the times" else unit), False
    if across is not None:
        name = matches.channel_names[across]
        same_scale = bool(0.25 <= matches.scale[across] / matches.scale[up] <= 4.0)

    def moved(values: Array, times: Array) -> Array:
        at = [np.interp(times, since, values[d]) for d in axes if d is not None]
        curve = np.array(at if len(at) == 2 else [times, *at])
        return curve - curve[:, :1]

    names = (name, matches.channel_names[up])
    knots = np.linspace(0.0, since[-1], matches.shapelets.shape[2])  # its corners are enough
    own, its = moved(window.shapelet, knots), moved(window.path, since)
    return InPlane(axes, names, own, its, same_scale)


def senses(axes: Axes) -> tuple[str, str]:
    """What a positive and a negative area are called: round which way, or which side of the chord."""
    if axes[0] is None:
        return "below the chord", "above the chord"
    return "against the clock", "clockwise"


def said_areas(curves: InPlane) -> str:
    """Areas of a shapelet and of its segment, with their senses."""
    own, its = (_said(curve, curves.axes) for curve in (curves.shapelet, curves.segment))
    return f"area {own}; of its segment {its}"


def _said(curve: Array, axes: Axes) -> str:
    area = signed_area(*curve)
    if abs(area) <= TINY * np.ptp(curve, axis=1).prod():
        return "0"  # as much on one side as on the other
    return f"{abs(area):.4g} {senses(axes)[int(area < 0)]}"


def signed_area(x: Array, y: Array) -> float:
    """Signed area between a curve through these points and its chord."""
    x, y = x - x[0], y - y[0]
    return float(0.5 * (x[:-1] * y[1:] - y[:-1] * x[1:]).sum())


def loops(x: Array, y: Array) -> list[Array]:
    """Simple loops, (points, 2) each, that a curve and its chord are made of.

    Wherever the line crosses itself, the loop that is closed there is taken off. Their signed areas
    sum to that of the curve; each loop runs one way round only. Loops too small to be seen are left out.
    """
    found: list[Array] = []
    line: list[NDArray[np.float64]] = [np.array([x[0], y[0]])]
    for corner in [*np.column_stack([x, y])[1:], line[0]]:
        while (crossing := _crossing(np.array(line), corner)) is not None:
            i, point = crossing
            found.append(np.array([point, *line[i + 1 :]]))
            line = [*line[: i + 1], point]
        line.append(corner)
    found.append(np.array(line[:-1]))
    sizes = np.abs([signed_area(*loop.T) for loop in found])
    return [loop for loop, size in zip(found, sizes, strict=True) if size > TINY * sizes.sum()]


def _crossing(line: Array, end: Array) -> tuple[int, Array] | None:
    """Where the way from the last point of a line to `end` first meets the line: a piece, a point.

    The last piece does not count: it ends where the way begins.
    """
    begin, step = line[-1], end - line[-1]
    first, piece = line[:-2], np.diff(line[:-1], axis=0)
    if not len(piece):
        return None
    turn = step[0] * piece[:, 1] - step[1] * piece[:, 0]
    to = first - begin
    with np.errstate(divide="ignore", invalid="ignore"):
        along = (to[:, 0] * piece[:, 1] - to[:, 1] * piece[:, 0]) / turn
        on_piece = (to[:, 0] * step[1] - to[:, 1] * step[0]) / turn
    meets = (along >= 0) & (along <= 1) & (on_piece >= 0) & (on_piece <= 1)
    if not meets.any():
        return None
    i = int(np.where(meets, along, np.inf).argmin())
    return i, begin + along[i] * step
