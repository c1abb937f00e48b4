"""A batch of series as a notebook shows it."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from .series import RaggedSeries

SHOWN = 5  # series, and as many channels


def as_html(batch: RaggedSeries) -> str:
    """Return a small table: what the batch is, and its first series."""
    ids = np.arange(len(batch)) if batch.series_ids is None else batch.series_ids
    rows = []
    for n in range(min(len(batch), SHOWN)):
        times, values = batch[n]
        first, last = batch.to_user_time(times[0]), batch.to_user_time(times[-1])
        cells = (ids[n], len(times), _said(first), _said(last), _missing(values))
        rows.append("".join(f"<td>{escape(str(cell))}</td>" for cell in cells))
    if len(batch) > SHOWN:
        rows.append('<td colspan="5">…</td>')
    names = ("series", "times", "first", "last", "missing")
    head = "".join(f"<th>{name}</th>" for name in names)
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    return (
        f"<div><p>{escape(_summary(batch))}</p>"
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _summary(batch: RaggedSeries) -> str:
    channels = f"{batch.n_channels} channel{'s' if batch.n_channels > 1 else ''}"
    if batch.channel_names is not None:
        more = ", …" if batch.n_channels > SHOWN else ""
        channels += f" ({', '.join(batch.channel_names[:SHOWN])}{more})"
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
