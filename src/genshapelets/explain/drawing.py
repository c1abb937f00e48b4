"""What the pictures share: colours, axes, labels."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..paths import Index
from .kinds import PLAIN
from .local import Explanation
from .matches import ShapeletMatches, place
from .overall import ModelExplanation

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


def matches_of(found: Any, plot: str = "a plot") -> ShapeletMatches:
    """The matches of whatever explains a model or its predictions."""
    matches = getattr(found, "matches", found)
    if not isinstance(matches, ShapeletMatches):
        raise TypeError(
            f"{plot} needs an explanation: model.explain_model(X, y) or model.explain(X), or "
            f"find_matches(model, X) if it is a transformer; got {type(found).__name__}."
        )
    return matches


def explanation_of(found: Any, plot: str) -> Explanation:
    """Explained predictions, which what a model has learnt holds, too."""
    explanation = getattr(found, "explanation", found)
    if not isinstance(explanation, Explanation):
        raise TypeError(
            f"{plot} needs an explanation: model.explain(X); got {type(found).__name__}."
        )
    return explanation


def learnt_of(found: Any, plot: str) -> ModelExplanation:
    """What a model has learnt, checked."""
    if not isinstance(found, ModelExplanation):
        raise TypeError(
            f"{plot} needs an explanation of the whole model: model.explain_model(X, y); got "
            f"{type(found).__name__}."
        )
    return found


def own_channels(matches: ShapeletMatches, shapelet: int, channels: ArrayLike | None) -> Index:
    """Channels to draw: by default all that a shapelet looks at; others there is nothing to see in."""
    own = matches.own_channels(shapelet)
    if channels is None:
        return own
    asked = np.atleast_1d(channels).tolist()
    for channel in asked:
        channel = place(channel, matches.shapelets.shape[1], "channel")
        if channel not in own:
            raise ValueError(
                f"shapelet {shapelet} does not look at channel {channel}: it looks at "
                f"{', '.join(map(str, own.tolist())) or 'none'}. Leave it out."
            )
    return np.array(asked, dtype=np.int64)


def say_nothing_is_looked_at(ax: Any) -> None:
    """Write in place of a picture that a shapelet looks at no channel."""
    ax.set(xticks=[], yticks=[])
    ax.text(0.5, 0.5, "looks at no channel", ha="center", va="center", transform=ax.transAxes)


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


def claim_of(found: Any, shapelet: int) -> str:
    """What a shapelet says, on a line of its own; nothing if it is not known."""
    return f"\n{said(found.claim(shapelet), 48)}" if isinstance(found, ModelExplanation) else ""


def title_of(found: Any, shapelet: int, series: int) -> str:
    """Which shapelet over which series."""
    matches = matches_of(found)
    text = f"{name_of(matches, shapelet)} over series {said(matches.names[series])}"
    return f"{text} ({said(found.label_of(series))})" if hasattr(found, "label_of") else text


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
