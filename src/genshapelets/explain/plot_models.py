"""Pictures of what a model looks at, and of single predictions."""

from __future__ import annotations

from typing import Any

import numpy as np

from .drawing import (
    AGAINST,
    SERIES,
    SHAPELET,
    STYLES,
    WINDOWS,
    add_legend,
    draw_series,
    in_numbers,
    matches_of,
    name_of,
    new_axes,
    said,
    set_title,
)
from .local import Explanation
from .overall import ModelExplanation


def plot_metric(learnt: ModelExplanation, *, shapelet: int | None = None, ax: Any = None) -> Any:
    """Draw how much the model, or one shapelet, looks at each channel, as bars.

    Parameters
    ----------
    learnt : ModelExplanation
    shapelet : int, optional
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    weight, of = _metric(learnt, shapelet)
    names = learnt.matches.channel_names
    ax = new_axes(ax, figsize=(min(2.0 + 0.35 * len(names), 9.0), 3.2))
    ax.bar(np.arange(len(names)), 100 * weight, color=SHAPELET, width=0.8)
    if len(names) <= 20:
        _name_ticks(ax, np.arange(len(names)), names)
    else:
        ax.set_xlabel("channel")
    ax.set_ylabel("importance (%)")
    set_title(ax, f"what {of} looks at")
    return ax


def plot_spectrum(learnt: ModelExplanation, *, shapelet: int | None = None, ax: Any = None) -> Any:
    """Draw the channels' importance, largest first: a gap tells those needed from the rest.

    Parameters
    ----------
    learnt, shapelet, ax
        As for `plot_metric`.

    Returns
    -------
    matplotlib Axes
    """
    weight, of = _metric(learnt, shapelet)
    order = np.argsort(-weight, kind="stable")
    ax = new_axes(ax, figsize=(5.0, 3.2))
    ax.plot(np.arange(1, len(order) + 1), 100 * weight[order], "o-", color=SHAPELET, ms=4, lw=1)
    if len(order) <= 20:
        names = [learnt.matches.channel_names[d] for d in order]
        _name_ticks(ax, np.arange(1, len(order) + 1), names)
    else:
        ax.set_xlabel("channels, most important first")
    ax.set_ylim(bottom=0)
    ax.set_ylabel("importance (%)")
    set_title(ax, f"what {of} looks at, sorted")
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
    if learnt.initial_lengths is None:
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
    against it are hatched. "like" a shapelet means: it fits better than in a usual training series.

    Parameters
    ----------
    explanation : Explanation
    series : int
        Position of the series.
    answer : int, optional
        Index of a class; default: the predicted one.
    top : int
        Shapelets with a bar of their own.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    column = explanation.column(series, answer)
    parts = explanation.contributions(series)[column]
    order = explanation.top(series, top, column)
    alike = explanation.alike[series]
    found = explanation.matches
    names = [f"{'like' if alike[k] else 'unlike'} {name_of(found, int(k))}" for k in order]
    sizes = parts[order].tolist()
    n_others = len(parts) - len(order)
    if n_others:
        names.append(f"{n_others} others")
        sizes.append(parts.sum() - parts[order].sum())
    names.append("bias")
    sizes.append(explanation.bias[column])
    is_class = explanation.classes is not None
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
    if explanation.classes is None or explanation.probabilities is None:
        ax.set_xlabel("contribution to the prediction, in the unit of y")
        title = f"series {name}: {total:.4g} = bias {explanation.bias[column]:.4g} + the bars"
    else:
        label = said(explanation.classes[column])
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
        at the channel little: there it need not match.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    matches = matches_of(explanation)
    column = explanation.chosen(series)
    order = explanation.top(series)
    order = order[explanation.alike[series][order]][:top]
    parts = explanation.contributions(series)[column]
    if channel is None:
        height = np.ptp(matches.shapelets[order], axis=2) / matches.scale
        heard = np.array([matches.metric_of(int(k)) for k in order]).reshape(height.shape)
        channel = int((heard * height).sum(axis=0).argmax())
    ax = new_axes(ax, figsize=(7.0, 3.4))
    draw_series(ax, matches, series, channel)
    for place, k in enumerate(order):
        colour, style = WINDOWS[place % len(WINDOWS)], STYLES[place % len(STYLES)]
        window, weight = matches.window(int(k), series), matches.metric_of(int(k))
        strength = 0.3 + 0.7 * weight[channel] / max(weight.max(), 1e-300)
        ax.axvspan(window.times[0], window.times[-1], color=colour, alpha=0.08, lw=0)
        ax.plot(
            window.times, window.shapelet[channel], style, color=colour, lw=2.5, alpha=strength,
            label=f"{name_of(matches, int(k))} contributes {parts[k]:+.2f}",
        )  # fmt: skip
    predicted = explanation.predicted[series]
    answer = f"{predicted:.4g}" if explanation.classes is None else said(predicted)
    name = said(matches.names[series])
    set_title(ax, f"series {name} is predicted to be {answer}")
    add_legend(ax)
    return ax


def _name_ticks(ax: Any, places: Any, names: Any) -> None:
    """Write names below bars, turned if they are long."""
    turned = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"}
    ax.set_xticks(
        places, [said(name, 18) for name in names], **turned if max(map(len, names)) > 4 else {}
    )


def _metric(learnt: ModelExplanation, shapelet: int | None) -> tuple[Any, str]:
    if not isinstance(learnt, ModelExplanation):
        raise TypeError(
            "learnt must be a ModelExplanation, which explain_model makes of a model and its training "
            f"series; got {type(learnt).__name__}."
        )
    if shapelet is None:
        return learnt.channel_importance, "the model"
    return learnt.matches.metric_of(shapelet), name_of(learnt.matches, shapelet)
