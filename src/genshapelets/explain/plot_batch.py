"""Series as they are, before any model."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..paths import Index
from ..series import RaggedSeries
from ..shown import few
from .drawing import STYLES, WINDOWS, add_legend, grid_of_axes, label_time, said
from .matches import place

MOST_SERIES, MOST_CHANNELS = 4, 6  # if nobody says which
MANY = 150  # observations whose dots would hide the line


def plot_batch(batch: RaggedSeries, series: Any, channels: Any, axes: Any) -> NDArray[Any]:
    """Draw series of a batch; see `RaggedSeries.plot`."""
    names = batch.channel_names or tuple(f"channel {d}" for d in range(batch.n_channels))
    chosen = _positions(_found(batch, series), len(batch), MOST_SERIES, "series")
    if channels is not None:
        asked = [channels] if isinstance(channels, str | int | np.integer) else list(channels)
        for name in asked:
            if isinstance(name, str) and name not in names:
                raise ValueError(f"there is no channel {name!r}; there are {', '.join(names)}.")
        channels = [names.index(name) if isinstance(name, str) else name for name in asked]
    drawn = _positions(channels, batch.n_channels, MOST_CHANNELS, "channel")
    ids = np.arange(len(batch)) if batch.series_ids is None else batch.series_ids
    axes = grid_of_axes(axes, len(drawn), 1, (7.0, 1.2 + 1.2 / len(drawn)))
    for ax, channel in zip(axes, drawn, strict=True):
        ax.spines[["top", "right"]].set_visible(False)
        for place_of, n in enumerate(chosen):
            times, values = batch[n]
            look = {
                "color": WINDOWS[place_of % len(WINDOWS)],
                "label": said(ids[n], 20),
                "style": STYLES[place_of // len(WINDOWS) % len(STYLES)],
            }
            _draw(ax, batch.to_user_time(times), values[channel], **look)
        ax.set_ylabel(said(names[channel]))
        if ax is not axes[-1]:
            ax.sharex(axes[-1])
            ax.tick_params(labelbottom=False)
    label_time(axes[-1], batch.to_user_time(batch[chosen[0]].times))
    if len(chosen) > 1 or batch.series_ids is not None:
        add_legend(axes[0], title="series", loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return axes


def _draw(
    ax: Any, times: NDArray[Any], values: NDArray[Any], *, color: str, label: str, style: str
) -> None:
    """Draw one channel of a series: solid where nothing is missing, dotted over gaps."""
    seen = np.flatnonzero(~np.isnan(values))
    if len(seen) and len(seen) < seen[-1] - seen[0] + 1:
        ax.plot(times[seen], values[seen], ":", color=color, lw=0.8, alpha=0.8)
    alone = np.ones(len(values), bool)
    neighbours = ~np.isnan(values[:-1]) & ~np.isnan(values[1:])
    alone[:-1] &= ~neighbours
    alone[1:] &= ~neighbours
    dots = seen if len(seen) <= MANY else np.flatnonzero(alone & ~np.isnan(values))
    ax.plot(
        times, values, style, color=color, lw=1.2, marker="o", ms=3, markevery=dots.tolist(),
        label=label,
    )  # fmt: skip


def _found(batch: RaggedSeries, asked: Any) -> Any:
    """Series as positions; what is none may be an id."""
    if asked is None or batch.series_ids is None:
        return asked
    ids = batch.series_ids.tolist()
    each = asked.tolist() if hasattr(asked, "tolist") else asked
    each = each if isinstance(each, list) else [each]
    is_position = [isinstance(one, int | np.integer) and 0 <= one < len(ids) for one in each]
    for one, known in zip(each, is_position, strict=True):
        if not known and one not in ids:
            raise ValueError(f"there is no series {one!r}; there are {few(ids, repr)}.")
    return [one if known else ids.index(one) for one, known in zip(each, is_position, strict=True)]


def _positions(asked: Any, count: int, most: int, what: str) -> Index:
    """Positions that are asked for, or the first few."""
    if asked is None:
        return np.arange(min(count, most))
    return np.array([place(n, count, what) for n in np.atleast_1d(asked).tolist()], dtype=np.int64)
