"""What the pictures share: colours, axes, labels."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .kinds import PLAIN
from .matches import ShapeletMatches

# Okabe and Ito's colours, which everybody can tell apart. In black and white a shapelet is the thick
# solid line, the segment of a series dashed.
SHAPELET = "#0072B2"  # blue
SEGMENT = "#D55E00"  # vermilion
AGAINST = "#E69F00"  # orange
SERIES = "#767676"
POSITIVE, NEGATIVE = "#56B4E9", "#E69F00"  # areas; the negative ones are hatched, too
WINDOW = "#FCF8D0"  # pale yellow, behind everything
WINDOWS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
STYLES = ("-", "--", "-.", ":")


def pyplot() -> Any:
    """Import matplotlib, or say how to get it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError(
            "plots need the package matplotlib: pip install 'genshapelets[plot]'."
        ) from None
    return plt


def new_axes(ax: Any, **size: Any) -> Any:
    """The axes given, or those of a new figure."""
    if ax is None:
        ax = pyplot().subplots(layout="constrained", **size)[1]
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def grid_of_axes(axes: Any, count: int, n_columns: int, size: tuple[float, float]) -> Any:
    """So many axes, those given or new ones, as a flat array."""
    if axes is not None:
        flat = np.ravel(axes)
        if len(flat) < count:
            raise ValueError(f"axes must hold {count} axes; got {len(flat)}.")
        return flat[:count]
    n_columns = min(n_columns, count)
    n_rows = -(-count // n_columns)
    figsize = (size[0] * n_columns, size[1] * n_rows)
    made = pyplot().subplots(
        n_rows, n_columns, figsize=figsize, squeeze=False, layout="constrained"
    )
    flat = made[1].ravel()
    for ax in flat[count:]:
        ax.remove()
    return flat[:count]


def room(ax: Any) -> float:
    """Width of axes, in inches."""
    return float(ax.bbox.width / ax.figure.dpi)


def wrapped(text: str, inches: float, size: str = "medium") -> str:
    """Break text into lines of about this width, between words only: names may hold an escaped $."""
    width = max(int({"medium": 12, "small": 15}[size] * inches), 20)
    lines = (textwrap.fill(line, width, break_long_words=False) for line in text.split("\n"))
    return "\n".join(lines)


def set_title(ax: Any, text: str, size: str = "medium") -> None:
    """Write a title on the left, in as many lines as it takes to stay within the axes."""
    ax.set_title(wrapped(text, room(ax), size), fontsize=size, loc="left")


def add_legend(ax: Any, **settings: Any) -> None:
    """Explain the lines, on a ground that keeps words readable where lines run below them."""
    ax.legend(fontsize="small", framealpha=0.8, edgecolor="none", **settings)


def draw_series(ax: Any, matches: ShapeletMatches, series: int, channel: int) -> None:
    """Draw the path of one channel, with dots where it was observed."""
    times, path = matches.path(series)
    own = matches.series[series]
    observed = np.flatnonzero(~np.isnan(own.values[channel]))
    if len(times) == len(own.times):
        ax.plot(
            times, path[channel], "o-", color=SERIES, lw=1, ms=3, markevery=observed.tolist(),
            label="series (dots: observed)",
        )  # fmt: skip
    else:  # a curve with knots of its own, which need not pass through the observations
        ax.plot(times, path[channel], color=SERIES, lw=1, label="series, interpolated")
        seen = matches.series.to_user_time(own.times[observed])
        ax.plot(seen, own.values[channel, observed], "o", color=SERIES, ms=3, label="observed")
    ax.set_ylabel(said(matches.channel_names[channel]))
    label_time(ax, times)


def matches_of(found: Any) -> ShapeletMatches:
    """The matches of whatever explains a model or its predictions."""
    return found if isinstance(found, ShapeletMatches) else found.matches


def said(value: Any, width: int = 32) -> str:
    """A name from data as plain text: no mathematics in it, and not too long."""
    text = " ".join(str(value).split())
    if len(text) > width:
        text = text[: width - 1] + "…"
    return text.replace("$", r"\$")


def kind_of(matches: ShapeletMatches, shapelet: int) -> str:
    """What is to be said of how a shapelet is compared; nothing if it is by plain L2."""
    if matches.kinds[shapelet] != PLAIN:
        return matches.kinds[shapelet]
    if matches.scale_free[shapelet]:
        return "scale-free"
    return "level-free" if matches.level_free[shapelet] else ""


def name_of(matches: ShapeletMatches, shapelet: int) -> str:
    """Number of a shapelet and its kind, such as "log-signature shapelet 3"."""
    return f"{said(kind_of(matches, shapelet))} shapelet {shapelet}".lstrip()


def title_of(found: Any, shapelet: int, series: int) -> str:
    """Which shapelet over which series."""
    matches = matches_of(found)
    text = f"{name_of(matches, shapelet)} over series {said(matches.names[series])}"
    labels = getattr(found, "labels", None)
    return text if labels is None else f"{text} ({said(labels[series])})"


def label_time(ax: Any, times: NDArray[Any]) -> None:
    """Name the axis of time; dates are written as short as they can be."""
    if times.dtype.kind == "M":
        from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

        # With fewer than five it finds no step for, say, 100 minutes.
        locator = AutoDateLocator(minticks=2, maxticks=max(5, min(int(room(ax) / 0.6), 8)))
        ax.xaxis.set_major_locator(locator)
        ax.xaxis.set_major_formatter(ConciseDateFormatter(locator))
        ax.set_xlabel("time", loc="left")  # the day is written on the right
    else:
        ax.set_xlabel("time")


def in_numbers(lengths: NDArray[Any]) -> tuple[NDArray[np.float64], str]:
    """Lengths as numbers, and the name of their unit: durations get one that suits them."""
    if lengths.dtype.kind != "m":
        return lengths.astype(np.float64), "unit of the times"
    seconds = lengths / np.timedelta64(1, "s")
    for size, name in ((86400.0, "days"), (3600.0, "hours"), (60.0, "minutes"), (1.0, "seconds")):
        if np.median(seconds) >= size:
            return seconds / size, name
    return seconds * 1e3, "milliseconds"
