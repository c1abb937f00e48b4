"""Draw docs/images/minima.png: which offsets of a series a minimum takes into account, and how much.

Run it with ``python docs/pictures/minima.py``.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import torch
from numpy.lib.stride_tricks import sliding_window_view

from genshapelets import Minimum, Softmin, SoftMinimum

PICTURE = Path(__file__).resolve().parents[1] / "images" / "minima.png"
PANELS = {
    "min": Minimum(),
    "soft": SoftMinimum(),
    "softmin, alpha=-100": Softmin(),
    "softmin, alpha=-3": Softmin(alpha=-3.0),
}


def mean_squares(random_state=3):
    """A shapelet that is found three times in a noisy series: mean squares at all offsets."""
    bump = np.hanning(20)
    series = 0.08 * np.random.default_rng(random_state).normal(size=160)
    for start, height in {20: 0.8, 70: 0.95, 115: 0.9}.items():
        series[start : start + 20] += height * bump
    return ((sliding_window_view(series, 20) - bump) ** 2).mean(axis=1)


def local_minima(cost):
    inner = (cost[1:-1] <= cost[:-2]) & (cost[1:-1] < cost[2:])
    return np.flatnonzero(np.r_[cost[0] < cost[1], inner, cost[-1] < cost[-2]])


def draw():
    """One panel for each minimum: discrepancies at all offsets, and the weights of those it takes."""
    cost = mean_squares()
    figure, panels = plt.subplots(
        1, 4, figsize=(11.0, 2.6), sharey=True, sharex=True, layout="constrained"
    )
    for panel, (title, minimum) in zip(panels, PANELS.items()):
        taken = np.arange(len(cost))
        if minimum.n_best is not None:
            taken = local_minima(cost)
            taken = taken[np.argsort(cost[taken])][: minimum.n_best]
        candidates = torch.from_numpy(cost[taken])[None, None]
        value = minimum(candidates, torch.tensor([[len(taken)]]))
        weights = np.ones(1)
        if isinstance(minimum, SoftMinimum):
            weights = minimum.log_weights(candidates)[0, 0].softmax(dim=-1).numpy()
        panel.plot(cost, color="0.6", lw=1.2)
        panel.scatter(
            taken, cost[taken], s=60 * weights / weights.max(), color="C0", lw=0, zorder=3
        )
        panel.axhline(value.item(), color="C1", lw=1.2, ls="--")
        panel.set_title(title, loc="left", fontsize=10, fontweight="bold")
        panel.set_title(f"{value.item():.3f}", loc="right", fontsize=10, color="C1")
        panel.set(xticks=[], yticks=[], xlabel="offset")
        panel.set_ylim(bottom=-0.02)
        panel.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("discrepancy")
    return figure


if __name__ == "__main__":
    draw().savefig(PICTURE, dpi=110)
