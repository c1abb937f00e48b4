"""Draw docs/images/discrepancies.png: three windows and one shapelet, as each discrepancy sees them.

Run it with ``python docs/pictures/discrepancies.py``.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import torch

from genshapelets import DTWDiscrepancy, L2Discrepancy

PICTURE = Path(__file__).resolve().parents[1] / "images" / "discrepancies.png"
COLUMNS = {
    "L2": L2Discrepancy(1, "none"),
    "level-free": L2Discrepancy(1, "none", level_free=True),
    "scale-free": L2Discrepancy(1, "none", scale_free=True),
    "DTW": DTWDiscrepancy(1, "none"),
}


def shape(t):
    """A tall bump and a low one."""
    return np.exp(-(((t - 3.0) / 0.9) ** 2)) + 0.5 * np.exp(-(((t - 6.5) / 1.2) ** 2))


ROWS = {
    "lifted": lambda t: shape(t) + 0.6,
    "lifted, twice as large": lambda t: 2.0 * shape(t) + 0.6,
    "late in the middle": lambda t: shape(t - 0.9 * np.sin(np.pi * t / 10.0)),
}


def best_path(f, w, band):
    """Pairs (i, j) of the best warping path, by dynamic programming."""
    n = len(f)
    least = np.full((n + 1, n + 1), np.inf)
    least[0, 0] = 0.0
    for i in range(n):
        for j in range(max(0, i - band), min(n, i + band + 1)):
            least[i + 1, j + 1] = (f[i] - w[j]) ** 2 + least[i : i + 2, j : j + 2].min()
    pairs = [(n - 1, n - 1)]
    while pairs[-1] != (0, 0):
        i, j = pairs[-1]
        before = [(i - 1, j - 1), (i - 1, j), (i, j - 1)]
        pairs.append(min(before, key=lambda pair: least[pair[0] + 1, pair[1] + 1]))
    return pairs


def tensor(x):
    return torch.from_numpy(x)[None, :, None]  # one shapelet, one channel


def draw():
    """A row for each window, a column for each discrepancy: green where they are alike."""
    t = np.linspace(0.0, 10.0, 401)
    figure, panels = plt.subplots(
        3, 4, figsize=(10.0, 5.6), sharex=True, sharey="row", layout="constrained"
    )
    for row, (name, window) in zip(panels, ROWS.items()):
        f, w = window(t), shape(t)
        row[0].set_ylabel(name.replace(", ", ",\n"), fontsize=9)
        for panel, discrepancy in zip(row, COLUMNS.values()):
            of = torch.from_numpy(t)[None], tensor(f), tensor(w)
            value, compared = discrepancy(*of).item(), discrepancy.drawn(*of)[0, :, 0].numpy()
            panel.plot(t, f, color="black", lw=1.2)
            panel.plot(t, compared, color="C0", lw=2.0, alpha=0.85)
            if isinstance(discrepancy, DTWDiscrepancy):
                at = np.linspace(0.0, 10.0, discrepancy.n_points)
                pairs = best_path(window(at), shape(at), discrepancy.n_band)
                for i, j in pairs:
                    panel.plot(at[[i, j]], [window(at[i]), shape(at[j])], color="C1", lw=0.7)
            else:
                panel.fill_between(t, f, compared, color="C1", alpha=0.35, lw=0)
            panel.text(
                0.97, 0.93, f"{value:.2f}", transform=panel.transAxes, ha="right", va="top",
                fontsize=12, fontweight="bold", color="C2" if value < 0.3 else "0.3",
            )  # fmt: skip
            panel.spines[["top", "right"]].set_visible(False)
            panel.set(xticks=[], yticks=[])
    for panel, title in zip(panels[0], COLUMNS):
        panel.set_title(title, fontsize=10, fontweight="bold")
    return figure


if __name__ == "__main__":
    draw().savefig(PICTURE, dpi=110)
