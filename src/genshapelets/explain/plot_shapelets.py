"""Pictures of shapelets over the segments of series that they match."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .areas import Axes, in_plane, loops, said_areas, senses, signed_area
from .drawing import (
    NEGATIVE,
    POSITIVE,
    SEGMENT,
    SERIES,
    SHAPELET,
    WINDOW,
    add_legend,
    claim_of,
    draw_series,
    grid_of_axes,
    label_time,
    learnt_of,
    matches_of,
    name_of,
    new_axes,
    own_channels,
    said,
    say_nothing_is_looked_at,
    set_title,
    title_of,
    wrapped,
)
from .kinds import LOG_SIGNATURE
from .matches import ShapeletMatches
from .overall import ModelExplanation, Order

COLUMNS = 240  # of a heat map


def plot_shapelet(
    found: Any,
    shapelet: int,
    *,
    series: int | None = None,
    channel: int | None = None,
    ax: Any = None,
) -> Any:
    """Draw one channel of a shapelet, against time, over the segment that it matches.

    Dots are values that were observed, straight lines join them where others are missing. A
    level-free shapelet is drawn at the level of the segment, a scale-free one at its scale, too; a
    log-signature one, of which `plot_area` shows more, starts where the segment does.

    Parameters
    ----------
    found : ModelExplanation, Explanation or ShapeletMatches
    shapelet : int
    series : int, optional
        Position of a series; default: the most similar one.
    channel : int, optional
        One that the shapelet looks at; default: the one that says most, heavy in the metric and not
        flat in the shapelet.
    ax : matplotlib Axes, optional
        Default: those of a new figure.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import numpy as np
    >>> from genshapelets import ShapeletTransformer
    >>> from genshapelets.explain import find_matches, plot_shapelet
    >>> X = np.random.default_rng(0).normal(size=(6, 1, 30))
    >>> found = find_matches(ShapeletTransformer(n_shapelets=2, random_state=0).fit(X), X)
    >>> plot_shapelet(found, 1).get_ylabel()
    'channel 0'
    """
    matches = matches_of(found, "plot_shapelet")
    n = matches.series_of(shapelet, series)
    ax = new_axes(ax, figsize=(5.5, 3.2))
    set_title(ax, title_of(found, shapelet, n) + claim_of(found, shapelet))
    most = matches.channels(shapelet, 1) if channel is None else channel
    own = own_channels(matches, shapelet, most).tolist()
    if not own:
        say_nothing_is_looked_at(ax)
        return ax
    channel = own[0]
    window = matches.window(shapelet, n)
    draw_series(ax, matches, n, channel)
    ax.plot(window.times, window.path[channel], "--", color=SEGMENT, lw=2, label="its segment")
    ax.plot(window.times, window.shapelet[channel], color=SHAPELET, lw=3, label="shapelet")
    ax.axvspan(window.times[0], window.times[-1], color=WINDOW, lw=0, zorder=0, label="best window")
    add_legend(ax)
    return ax


def plot_channels(
    found: Any,
    shapelet: int,
    *,
    series: int | None = None,
    channels: ArrayLike | None = None,
    axes: Any = None,
) -> Any:
    """Draw the channels of a shapelet over its segment as small multiples.

    Titles say what share of the metric each channel has. Channels that it looks at little are drawn
    pale: there the shapelet need not match. Those of weight 0 are not drawn.

    Parameters
    ----------
    found, shapelet, series
        As for `plot_shapelet`.
    channels : list of ints, optional
        Default: all that the shapelet looks at, in their order.
    axes : array of matplotlib Axes, optional

    Returns
    -------
    array of matplotlib Axes
    """
    matches = matches_of(found, "plot_channels")
    n = matches.series_of(shapelet, series)
    chosen = own_channels(matches, shapelet, channels)
    own = axes is None
    n_rows = max(-(-len(chosen) // 5), 1)
    size = (2.3 if len(chosen) > 2 else 3.6, 1.7 + 0.8 / n_rows)  # title and legend need room, too
    axes = grid_of_axes(axes, max(len(chosen), 1), 5, size)
    if not len(chosen):
        say_nothing_is_looked_at(axes[0])
        set_title(axes[0], title_of(found, shapelet, n), "small")
        return axes
    window = matches.window(shapelet, n)
    weight = matches.metric_of(shapelet)
    for ax, channel in zip(axes, chosen, strict=True):
        strength = 0.3 + 0.7 * weight[channel] / max(weight.max(), 1e-300)
        segment, shape = window.path[channel], window.shapelet[channel]
        ax.plot(window.times, segment, "--", color=SEGMENT, lw=1.5, alpha=strength, label="segment")
        ax.plot(window.times, shape, color=SHAPELET, lw=2, alpha=strength, label="shapelet")
        name = said(matches.channel_names[channel], 18)
        ax.set_title(f"{name} · metric {100 * weight[channel]:.0f} %", fontsize="small", loc="left")
        ax.tick_params(labelsize="x-small")
        ax.xaxis.get_offset_text().set_size("x-small")
        ax.spines[["top", "right"]].set_visible(False)
        label_time(ax, window.times)
        ax.xaxis.label.set_size("x-small")
    _finish(axes, own, title_of(found, shapelet, n) + claim_of(found, shapelet))
    return axes


def plot_curve(
    found: Any,
    shapelet: int,
    *,
    channels: tuple[int, int] | None = None,
    series: int | None = None,
    ax: Any = None,
) -> Any:
    """Draw two channels of a shapelet as a curve in the plane, over the segment that it matches.

    Arrows show the direction, a ring the start. A unit is as long across as up, unless one channel
    varies over four times as much as the other.

    Parameters
    ----------
    found, shapelet, series, ax
        As for `plot_shapelet`.
    channels : (across, up), optional
        Default: of those that the shapelet looks at, the two that say most.

    Returns
    -------
    matplotlib Axes
    """
    matches = matches_of(found, "plot_curve")
    n = matches.series_of(shapelet, series)
    most = np.sort(matches.channels(shapelet, 2)) if channels is None else channels
    drawn = own_channels(matches, shapelet, most).tolist()
    if len(drawn) != 2:
        raise ValueError(
            f"a curve in the plane needs two channels; shapelet {shapelet} has {len(drawn)} to draw. "
            "Use plot_shapelet."
        )
    across, up = drawn
    ax = new_axes(ax, figsize=(3.6, 3.8))
    _, path = matches.path(n)
    window = matches.window(shapelet, n)
    ax.plot(path[across], path[up], color=SERIES, lw=1, alpha=0.6, label="series")
    for values, colour, width, style, name in (
        (window.path, SEGMENT, 2.0, "--", "its segment"),
        (window.shapelet, SHAPELET, 3.0, "-", "shapelet"),
    ):
        x, y = values[across], values[up]
        ax.plot(x, y, style, color=colour, lw=width, label=name)
        _mark_direction(ax, x, y, colour)
        start = "start" if name == "shapelet" else None
        ax.plot(x[0], y[0], "o", color=colour, ms=7, mfc="white", mew=2, label=start)
    if 0.25 <= matches.scale[across] / matches.scale[up] <= 4.0:
        ax.set_aspect("equal", adjustable="datalim")
    set_title(ax, title_of(found, shapelet, n) + claim_of(found, shapelet))
    add_legend(ax)
    ax.set_xlabel(said(matches.channel_names[across]))
    ax.set_ylabel(said(matches.channel_names[up]))
    return ax


def plot_area(
    found: Any,
    shapelet: int,
    *,
    channels: Axes | None = None,
    series: int | None = None,
    ax: Any = None,
) -> Any:
    r"""Draw a shapelet in the plane with its signed area, as a log-signature sees it.

    .. math:: A = \tfrac{1}{2} \int (x - x_0) \, dy - (y - y_0) \, dx

    is the area between a curve and its chord, in the units of the data: positive where the curve is run
    round against the clock, negative clockwise (hatched). Shapelet and segment are moved to start at the
    same point, as their levels do not count. Arrows show the direction.

    Parameters
    ----------
    found, shapelet, series, ax
        As for `plot_shapelet`.
    channels : (across, up), optional
        None across is time. Default: of those that the shapelet looks at, the two that say most; of
        one alone, time and this one.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import numpy as np
    >>> from genshapelets import ShapeletTransformer
    >>> from genshapelets.explain import find_matches, plot_area
    >>> X = np.random.default_rng(0).normal(size=(6, 3, 30))
    >>> model = ShapeletTransformer(n_shapelets=2, discrepancy="logsignature", random_state=0).fit(
    ...     X
    ... )
    >>> plot_area(find_matches(model, X), 1, channels=(0, 2)).get_ylabel()
    'channel 2, from the start'
    """
    matches = matches_of(found, "plot_area")
    n = matches.series_of(shapelet, series)
    ax = new_axes(ax, figsize=(4.4, 4.2))
    asked = None if channels is None else [d for d in channels if d is not None]
    if not len(own_channels(matches, shapelet, asked)):
        say_nothing_is_looked_at(ax)
        set_title(ax, title_of(found, shapelet, n))
        return ax
    curves = in_plane(matches, shapelet, n, channels)
    for loop in loops(*curves.shapelet):
        against = signed_area(*loop.T) < 0
        ax.fill(
            *loop.T, fc=NEGATIVE if against else POSITIVE, hatch="////" if against else None,
            ec="white", lw=0, alpha=0.45, label=senses(curves.axes)[against],
        )  # fmt: skip
    for values, colour, width, style, name in (
        (curves.segment, SEGMENT, 2.0, "--", "its segment"),
        (curves.shapelet, SHAPELET, 3.0, "-", "shapelet"),
    ):
        x, y = values
        ax.plot(x[[0, -1]], y[[0, -1]], ":", color=colour, lw=1.2)
        ax.plot(x, y, style, color=colour, lw=width, label=name)
        _mark_direction(ax, x, y, colour)
    ax.plot(0.0, 0.0, "o", color=SHAPELET, ms=7, mfc="white", mew=2, label="start")
    if curves.same_scale:
        ax.set_aspect("equal", adjustable="datalim")
    title = title_of(found, shapelet, n) + claim_of(found, shapelet)
    set_title(ax, f"{title}\n{said_areas(curves)}")
    add_legend(ax, handles=list(_legend(ax).values()), labels=list(_legend(ax)))
    ax.set_xlabel(f"{said(curves.names[0])}, from the start")
    ax.set_ylabel(f"{said(curves.names[1])}, from the start")
    return ax


def plot_heat_maps(
    found: Any, shapelet: int, *, series: int | None = None, axes: Any = None
) -> Any:
    """Draw the channels of a shapelet as heat maps: the series, the shapelet, the difference.

    Only those that the shapelet looks at. A dashed box marks in the series where the shapelet matches.
    Values are in standard deviations of their channel, from its mean.

    Parameters
    ----------
    found, shapelet, series
        As for `plot_shapelet`.
    axes : array of three matplotlib Axes, optional

    Returns
    -------
    array of three matplotlib Axes
    """
    matches = matches_of(found, "plot_heat_maps")
    n = matches.series_of(shapelet, series)
    own = own_channels(matches, shapelet, None)
    n_channels = len(own)
    axes = grid_of_axes(axes, 3, 3, (3.6, min(2.2 + 0.12 * n_channels, 7.0)))
    if not n_channels:
        for ax in axes:
            say_nothing_is_looked_at(ax)
        set_title(axes[0], title_of(found, shapelet, n))
        return axes
    window = matches.window(shapelet, n)
    times, path = matches.path(n)
    whole, segment, shape = (
        _standard(matches, values)[own] for values in (path, window.path, window.shapelet)
    )
    most = float(np.percentile(np.abs(whole), 99)) or 1.0
    for ax, (instants, values, title) in zip(
        axes,
        (
            (times, whole, title_of(found, shapelet, n).partition(" over ")[2]),
            (window.times, shape, name_of(matches, shapelet)),
            (window.times, segment - shape, "series − shapelet"),
        ),
        strict=True,
    ):
        edges, image = _image(instants, values)
        rows = np.arange(n_channels + 1) - 0.5
        # One scale for all, whose lightness rises: 0 is the same grey everywhere.
        mesh = ax.pcolormesh(
            edges, rows, image, cmap="cividis", vmin=-most, vmax=most, rasterized=True
        )
        set_title(ax, title)
        label_time(ax, instants)
        names = [matches.channel_names[d] for d in own]
        _name_rows(ax, names if ax is axes[0] else None, n_channels)
    bar = axes[-1].figure.colorbar(mesh, ax=axes[-1])
    bar.set_label("standard deviations", fontsize="small")
    begin, end = window.times[0], window.times[-1]
    box = np.array([begin, end, end, begin, begin])
    inset = np.array([0.0, 0.0, 1.0, 1.0, 0.0]) * (n_channels - 0.1) - 0.45
    for colour, style in (("black", "-"), ("white", "--")):  # seen on light and on dark
        axes[0].plot(box, inset, style, color=colour, lw=1.8)
    return axes


def plot_classes(
    learnt: ModelExplanation,
    *,
    by: Order = "effect",
    rank: int = 1,
    plane: bool = False,
    axes: Any = None,
) -> Any:
    """Draw for each class the shapelet that speaks most for it, over its most similar series.

    Where that shapelet says more of another class, the title says what. A log-signature shapelet is
    drawn with its area, `plot_area`.

    Parameters
    ----------
    learnt : ModelExplanation
    by : "effect" or "weight"
    rank : int
        1 for the top shapelet, 2 for the next, ….
    plane : bool
        Whether to draw two channels of other shapelets as a curve in the plane, `plot_curve`, rather
        than the channel that says most against time, `plot_shapelet`; one that looks at a single
        channel is drawn against time.
    axes : array of matplotlib Axes, optional
        One for each class.

    Returns
    -------
    array of matplotlib Axes
    """
    learnt_of(learnt, "plot_classes")
    if not 1 <= rank <= learnt.matches.n_shapelets:
        raise ValueError(f"rank must be from 1 to {learnt.matches.n_shapelets}; got {rank}.")
    names = learnt.explanation.answer_names
    own = axes is None
    top = learnt.ranking(by)[:, rank - 1].tolist()
    areas = [learnt.matches.kinds[k] == LOG_SIGNATURE for k in top]
    size = (3.2, 3.4) if any(areas) else (2.6, 2.8) if plane else (3.2, 2.4)
    axes = grid_of_axes(axes, len(names), 5, size)
    claims = learnt.claims(by)
    for c, (ax, name, k, has_area) in enumerate(zip(axes, names, top, areas, strict=True)):
        n, n_own = int(learnt.nearest[k]), len(learnt.matches.own_channels(k))
        in_a_plane = plane and n_own > 1
        (plot_area if has_area else plot_curve if in_a_plane else plot_shapelet)(learnt, k, ax=ax)
        first, _, second = title_of(learnt, k, n).partition(" over ")
        title = f"{said(name, 18)}: {first}\nover {second}"
        if claims.against[k] or claims.answer[k] != c:
            title += f"\n({said(learnt.claim(k))})"
        if has_area and n_own:
            title += f"\n{said_areas(in_plane(learnt.matches, k, n))}"
        set_title(ax, title, "small")
        if ax.get_legend():
            ax.get_legend().remove()
    _finish(axes, own)
    return axes


def _finish(axes: Any, own: bool, title: str = "") -> None:
    """One legend and title for a figure of ours; those of the user are left as they are."""
    if own:
        figure = axes[0].figure
        entries = {name: handle for ax in axes for name, handle in _legend(ax).items()}
        columns = min(len(entries), max(int(figure.get_figwidth() / 1.7), 2))
        place = {"loc": "outside lower center", "ncols": columns, "frameon": False}
        legend = figure.legend(list(entries.values()), list(entries), **place)
        if title:
            figure.suptitle(wrapped(title, figure.get_figwidth()), fontsize="medium")
    else:
        add_legend(axes[0])
        legend = axes[0].get_legend()
    for handle in legend.legend_handles:
        handle.set_alpha(1.0)  # the first channel may be pale


def _legend(ax: Any) -> dict[str, Any]:
    """What there is to be explained, each name once."""
    handles, names = ax.get_legend_handles_labels()
    return dict(zip(names, handles, strict=True))


def _mark_direction(ax: Any, x: NDArray[Any], y: NDArray[Any], colour: str) -> None:
    """Put arrow heads a third and two thirds along a curve, and at its end."""
    steps = np.hypot(np.diff(x), np.diff(y))
    along = np.concatenate([[0.0], np.cumsum(steps)])
    if along[-1] == 0:
        return
    for share in (1 / 3, 2 / 3, 1.0):
        tip, tail = share * along[-1], (share - 0.02) * along[-1]
        ends = [(np.interp(at, along, x), np.interp(at, along, y)) for at in (tail, tip)]
        style = {"arrowstyle": "-|>,head_width=0.55,head_length=1.0", "color": colour, "lw": 0}
        ax.annotate("", ends[1], ends[0], arrowprops=style | {"shrinkA": 0, "shrinkB": 0})


def _standard(matches: ShapeletMatches, values: NDArray[Any]) -> NDArray[Any]:
    return (values - matches.centre[:, None]) / matches.scale[:, None]


def _image(times: NDArray[Any], values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Edges of evenly spaced columns, and the values in their middles, (channels, columns)."""
    since = (times - times[0]) / (np.timedelta64(1, "s") if times.dtype.kind == "M" else 1.0)
    edges = np.linspace(0.0, max(float(since[-1]), 1e-9), COLUMNS + 1)
    middle = 0.5 * (edges[1:] + edges[:-1])
    image = np.array([np.interp(middle, since, row) for row in values])
    if times.dtype.kind == "M":
        return times[0] + (edges * 1e9).astype("m8[ns]"), image
    return times[0] + edges, image


def _name_rows(ax: Any, names: list[str] | None, count: int) -> None:
    """Write the channels' names where there is room for them, numbers otherwise, first on top."""
    ax.invert_yaxis()
    if names is None:
        ax.set_yticks([])
    elif count <= 20:
        ax.set_yticks(range(count), [said(name, 16) for name in names], fontsize="x-small")
    else:
        ax.set_ylabel("channel")
