"""Pictures of what a model looks at, and of single predictions."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..paths import Array, Index
from ..shown import count
from .drawing import (
    AGAINST,
    SEGMENT,
    SERIES,
    SHAPELET,
    STYLES,
    WINDOWS,
    add_legend,
    draw_series,
    explanation_of,
    grid_of_axes,
    in_numbers,
    learnt_of,
    name_of,
    new_axes,
    said,
    set_title,
)
from .local import Explanation
from .matches import place
from .overall import ModelExplanation
from .reasons import all_parts

NAMED = 40  # channels below an axis; more are numbered


def plot_metric(learnt: ModelExplanation, *, shapelet: int | None = None, ax: Any = None) -> Any:
    """Draw how much predictions rest on each channel, or how much one shapelet looks at its own.

    Parameters
    ----------
    learnt : ModelExplanation
    shapelet : int, optional
        Default: the model, its `channel_importance`.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    bars = _bars(learnt, shapelet, "plot_metric")
    few = len(bars.channels) <= NAMED
    ax = new_axes(ax, figsize=(min(2.0 + 0.35 * len(bars.channels), 9.0), 3.2))
    places = np.arange(len(bars.channels)) if few else bars.channels
    ax.bar(places, bars.sizes, color=SHAPELET, width=0.8)
    _finish_bars(ax, learnt, bars, places if few else None, "channel")
    set_title(ax, bars.title)
    return ax


def plot_spectrum(learnt: ModelExplanation, *, shapelet: int | None = None, ax: Any = None) -> Any:
    """Draw the same as `plot_metric`, largest first: a gap tells those needed from the rest.

    Parameters
    ----------
    learnt, shapelet, ax
        As for `plot_metric`.

    Returns
    -------
    matplotlib Axes
    """
    bars = _bars(learnt, shapelet, "plot_spectrum")
    order = np.argsort(-bars.sizes, kind="stable")
    bars = bars._replace(channels=bars.channels[order], sizes=bars.sizes[order])
    ax = new_axes(ax, figsize=(min(max(2.0 + 0.25 * len(order), 5.0), 9.0), 3.2))
    places = np.arange(1, len(order) + 1)
    ax.plot(places, bars.sizes, "o-", color=SHAPELET, ms=4, lw=1)
    few = len(order) <= NAMED
    _finish_bars(ax, learnt, bars, places if few else None, "channels, most important first")
    ax.set_ylim(bottom=min(0.0, ax.get_ylim()[0]) if (bars.sizes < 0).any() else 0.0)
    set_title(ax, f"{bars.title}, sorted")
    return ax


def plot_lengths(learnt: ModelExplanation, *, ax: Any = None) -> Any:
    """Draw the lengths of the shapelets before and after training.

    Parameters
    ----------
    learnt : ModelExplanation
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    if learnt_of(learnt, "plot_lengths").initial_lengths is None:
        raise ValueError(
            "the model does not know the lengths it started with: it was saved by an earlier version. "
            "Fit it again."
        )
    both, unit = in_numbers(np.concatenate([learnt.initial_lengths, learnt.lengths]))
    start, end = np.split(both, 2)
    ax = new_axes(ax, figsize=(3.8, 3.8))
    longest = 1.05 * both.max()
    ax.plot([0, longest], [0, longest], color=SERIES, lw=1, ls=":", label="unchanged")
    ax.plot(start, end, "o", color=SHAPELET, ms=5, alpha=0.7, label="shapelet")
    ax.set_xlim(0, longest)
    ax.set_ylim(0, longest)
    ax.set_aspect("equal")
    ax.locator_params(nbins=6)
    ax.set_xlabel(f"length before training ({unit})")
    ax.set_ylabel(f"learnt length ({unit})")
    set_title(ax, "lengths of the shapelets")
    add_legend(ax, loc="upper left")
    return ax


def plot_contributions(
    explanation: Explanation,
    series: int,
    *,
    answer: int | None = None,
    top: int = 10,
    ax: Any = None,
) -> Any:
    """Draw what the shapelets contribute to one prediction, largest first, as bars.

    The bars, with that of all other shapelets and the bias, sum to the logit (or number). Those
    against it are hatched. The series "has" a shapelet that fits better than in a usual training
    series, and "lacks" any other: then its absence counts.

    Parameters
    ----------
    explanation : Explanation
    series : int
        Position of the series.
    answer : int, optional
        Index of a class; default: the predicted one.
    top : int
        Shapelets, and covariates, with a bar of their own.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    explanation = explanation_of(explanation, "plot_contributions")
    column = explanation.column(series, answer)
    parts = all_parts(explanation, series)[column]
    order = np.argsort(-np.abs(parts), kind="stable")[:top]
    alike = explanation.alike[series]
    found, beside = explanation.matches, explanation.covariates

    def reason(k: int) -> str:
        if beside is not None and k >= found.n_shapelets:
            return beside.said(series, k - found.n_shapelets)
        return f"{'has' if alike[k] else 'lacks'} {name_of(found, k)}"

    names = [reason(k) for k in order.tolist()]
    sizes = parts[order].tolist()
    n_others = len(parts) - len(order)
    if n_others:
        names.append(count(n_others, "other"))
        sizes.append(parts.sum() - parts[order].sum())
    names.append("bias")
    sizes.append(explanation.bias[column])
    is_class = explanation.probabilities is not None
    if not is_class:  # from where the bars set out; on its own it would dwarf them
        del names[-1], sizes[-1]
    ax = new_axes(ax, figsize=(5.0, 0.9 + 0.3 * len(names)))
    places = np.arange(len(names))
    size = np.array(sizes)
    for chosen, colour, hatch, label in (
        (size >= 0, SHAPELET, None, "speaks for it" if is_class else "raises it"),
        (size < 0, AGAINST, "////", "speaks against it" if is_class else "lowers it"),
    ):
        if chosen.any():
            ax.barh(
                places[chosen],
                size[chosen],
                color=colour,
                hatch=hatch,
                ec="white",
                lw=0,
                label=label,
            )
    ax.axvline(0, color="black", lw=0.8)
    ax.locator_params(axis="x", nbins=6)
    ax.set_yticks(places, names, fontsize="small")
    ax.invert_yaxis()
    total = explanation.answers[series, column]
    name = said(explanation.matches.names[series])
    label = said(explanation.answer_names[column])
    if explanation.probabilities is None:
        ax.set_xlabel(f"contribution to the prediction, in the unit of {label}")
        number = f"{total:.4g}" if explanation.target_names is None else f"{label} {total:.4g}"
        title = f"series {name}: {number} = bias {explanation.bias[column]:.4g} + the bars"
    else:
        ax.set_xlabel(f"contribution to the logit of {label}")
        share = 100 * explanation.probabilities[series, column]
        title = f"series {name}: {label}, {share:.0f} % (logit {total:.2f})"
    set_title(ax, title)
    add_legend(ax)
    return ax


def plot_series(
    explanation: Explanation,
    series: int,
    *,
    top: int = 3,
    channel: int | None = None,
    ax: Any = None,
) -> Any:
    """Draw a series with the shapelets that contribute most to its prediction where they match.

    Only shapelets that fit better than in a usual training series: of others there is nothing to see.

    Parameters
    ----------
    explanation : Explanation
    series : int
        Position of the series.
    top : int
        How many shapelets.
    channel : int, optional
        Default: the one that says most for these shapelets. A shapelet is pale if its metric looks
        at the channel little: there it need not match. One that does not look at it is only named.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    explanation = explanation_of(explanation, "plot_series")
    matches = explanation.matches
    column = explanation.chosen(series)
    order = explanation.top(series)
    order = order[explanation.alike[series][order]][:top]
    parts = explanation.contributions(series)[column]
    if channel is not None:
        place(channel, len(matches.channel_names), "channel")
    else:
        height = np.ptp(matches.shapelets[order], axis=2) / matches.scale
        heard = np.array([matches.metric_of(int(k)) for k in order]).reshape(height.shape)
        channel = int((heard * height).sum(axis=0).argmax())
    ax = new_axes(ax, figsize=(7.0, 3.4))
    draw_series(ax, matches, series, channel)
    elsewhere = [int(k) for k in order if not matches.metric_of(int(k))[channel]]
    for i, k in enumerate(k for k in order if k not in elsewhere):
        colour, style = WINDOWS[i % len(WINDOWS)], STYLES[i % len(STYLES)]
        window, weight = matches.window(int(k), series), matches.metric_of(int(k))
        strength = 0.3 + 0.7 * weight[channel] / max(weight.max(), 1e-300)
        ax.axvspan(window.times[0], window.times[-1], color=colour, alpha=0.08, lw=0)
        ax.plot(
            window.times, window.shapelet[channel], style, color=colour, lw=2.5, alpha=strength,
            label=f"{name_of(matches, int(k))} contributes {parts[k]:+.2f}",
        )  # fmt: skip
    title = f"series {said(matches.names[series])} is predicted "
    title += said(explanation.reasons(series).statement, 38)
    if elsewhere:
        listed = ", ".join(f"{k} ({parts[k]:+.2f})" for k in elsewhere)
        title += f"\nin other channels: shapelet{'s' * (len(elsewhere) > 1)} {listed}"
    set_title(ax, title)
    add_legend(ax)
    return ax


def plot_sizes(path: Any, *, axes: Any = None) -> Any:
    """Draw score and loss against the number of shapelets, along the path that a model was cut down.

    The dotted line is one standard error above the least loss; the ring is the size that was chosen.

    Parameters
    ----------
    path : fitted estimator, or its ``path_``
    axes : array of two matplotlib Axes, optional
        For the score, and for the loss.

    Returns
    -------
    array of two matplotlib Axes
    """
    path = getattr(path, "path_", path)
    if not hasattr(path, "loss") or not hasattr(path, "chosen"):
        raise TypeError(
            "plot_sizes needs the path of sizes that a model was cut down along: give it a model fitted "
            f'with n_shapelets="auto", or its path_; got {type(path).__name__}, which has none.'
        )
    sizes, loss = np.asarray(path.n_shapelets), np.asarray(path.loss, dtype=np.float64)
    error = np.nan_to_num(np.asarray(path.loss_error, dtype=np.float64))
    axes = grid_of_axes(axes, 2, 1, (5.5, 2.3))
    is_chosen = sizes == path.chosen
    for ax, values, name in ((axes[0], path.score, path.score_name), (axes[1], loss, "loss")):
        values = np.asarray(values, dtype=np.float64)
        ax.plot(sizes, values, "o-", color=SHAPELET, ms=4, lw=1.5)
        ring = {"mfc": "none", "mec": SEGMENT, "mew": 2, "ms": 11}
        label = f"chosen: {path.chosen}"
        ax.plot(sizes[is_chosen], values[is_chosen], "o", ls="none", label=label, **ring)
        ax.set_xscale("log")
        ax.set_xticks(_apart(sizes), [str(size) for size in _apart(sizes)])
        ax.minorticks_off()
        ax.set_ylabel(f"validation {name}")
        ax.spines[["top", "right"]].set_visible(False)
    if error.any():
        band = {"color": SHAPELET, "alpha": 0.2, "lw": 0, "label": "± one standard error"}
        axes[1].fill_between(sizes, loss - error, loss + error, **band)
        best = int(np.nanargmin(loss))
        line = {"color": SERIES, "lw": 1.2, "ls": ":"}
        label = "within one standard error of the best"
        axes[1].axhline(loss[best] + error[best], **line, label=label)
    axes[1].set_xlabel("number of shapelets")
    set_title(axes[0], "how many shapelets are enough")
    add_legend(axes[0])
    add_legend(axes[1])
    return axes


def _apart(sizes: NDArray[Any]) -> list[int]:
    """Sizes far enough from each other to be written below a logarithmic axis, from the largest on."""
    kept: list[int] = []
    for size in sorted(map(int, sizes), reverse=True):
        if not kept or kept[-1] >= 1.2 * size:
            kept.append(size)
    return kept


def _name_ticks(ax: Any, places: Any, names: Any) -> None:
    """Write names below bars, turned if they are long."""
    size = "medium" if len(names) <= 20 else "small"
    turned = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"}
    long = max(map(len, names)) > 4
    ax.set_xticks(
        places, [said(name, 18) for name in names], fontsize=size, **turned if long else {}
    )


class _Bars(NamedTuple):
    """A number for each of some channels, and what it is."""

    channels: Index
    sizes: Array
    title: str
    unit: str


def _bars(learnt: ModelExplanation, shapelet: int | None, plot: str) -> _Bars:
    """Importance of all channels, or the metric of a shapelet in those that it looks at."""
    matches = learnt_of(learnt, plot).matches
    if shapelet is not None:
        own = matches.own_channels(shapelet)
        share = 100 * matches.metric_of(shapelet)[own]
        return _Bars(own, share, f"what {name_of(matches, shapelet)} looks at", "metric (%)")
    importance = learnt.channel_importance
    is_class = learnt.explanation.probabilities is not None
    lost = "log-probability lost" if is_class else "squared error added"
    everyone = np.arange(len(importance))
    return _Bars(everyone, importance, "how much predictions rest on each channel", lost)


def _finish_bars(ax: Any, learnt: ModelExplanation, bars: _Bars, places: Any, label: str) -> None:
    """Name channels where there is room, or else the axis."""
    if places is None:
        ax.set_xlabel(label)
    elif len(places):
        _name_ticks(ax, places, [learnt.matches.channel_names[d] for d in bars.channels])
    ax.set_ylabel(bars.unit)
    if (bars.sizes < 0).any():
        ax.axhline(0.0, color="black", lw=0.8)
