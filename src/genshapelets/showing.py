"""A batch of series as a notebook shows it."""

from __future__ import annotations

from typing import Any

import numpy as np

from .series import RaggedSeries
from .shown import MOST, count, few, table


def as_html(batch: RaggedSeries) -> str:
    """Return a small table: what the batch is, and its first series."""
    ids = np.arange(len(batch)) if batch.series_ids is None else batch.series_ids
    rows: list[tuple[Any, ...]] = []
    for n in range(min(len(batch), MOST)):
        times, values = batch[n]
        first, last = batch.to_user_time(times[0]), batch.to_user_time(times[-1])
        rows.append((ids[n], len(times), _said(first), _said(last), _missing(values)))
    if len(batch) > MOST:
        rows.append(("…", "", "", "", ""))
    return table(rows, ("series", "times", "first", "last", "missing"), _summary(batch))


def _summary(batch: RaggedSeries) -> str:
    channels = count(batch.n_channels, "channel")
    if batch.channel_names is not None:
        channels += f" ({few(batch.channel_names)})"
    lengths = sorted({int(batch.lengths.min()), int(batch.lengths.max())})
    first, last = (batch.to_user_time(t) for t in (batch.times.min(), batch.times.max()))
    return (
        f"RaggedSeries: {len(batch)} series, {channels}, {' to '.join(map(str, lengths))} "
        f"time{'s' if lengths[-1] > 1 else ''} each, "
        f"from {_said(first)} to {_said(last)}, {_missing(batch.values)} of values missing, "
        f"{batch.dtype}"
    )


def _said(time: Any) -> str:
    """A time; dates to the second, unless there is a fraction of it."""
    if not isinstance(time, np.datetime64):
        return f"{time:g}"
    return str(time).replace("T", " ").rstrip("0").removesuffix(".")


def _missing(values: Any) -> str:
    return f"{100 * np.isnan(values).mean():.3g} %"
