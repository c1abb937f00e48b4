"""Draw docs/images/families.png: one window of a series, as each family of shapelets draws it.

Run it with ``python docs/pictures/families.py``.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from genshapelets.shapelets import FAMILIES

PICTURE = Path(__file__).resolve().parents[1] / "images" / "families.png"


def window(u, random_state=0):
    """A noisy window with a smooth bump and a step."""
    noise = np.random.default_rng(random_state).normal(scale=0.12, size=len(u))
    return np.exp(-(((u - 0.3) / 0.1) ** 2)) - 0.8 / (1 + np.exp(-80 * (u - 0.7))) + noise


def draw():
    """One panel for each family: the window, and the shapelet that starts from it."""
    fine = np.linspace(0.0, 1.0, 70)
    u = fine[::3]  # 24 knots, as in the default procedure
    values = window(fine)
    figure, panels = plt.subplots(
        1, len(FAMILIES), figsize=(11.0, 2.5), sharey=True, layout="constrained"
    )
    for panel, (name, make) in zip(panels, FAMILIES.items()):
        shapelets = make(values[::3][None, None], 1.0, 1.0)
        drawn = shapelets.values[0, 0].detach().numpy()
        n_numbers = sum(x.numel() for x in shapelets.of_values())
        panel.plot(fine, values, color="0.65", lw=0.8)
        panel.plot(u, values[::3], "o", color="0.45", ms=2.5)
        panel.plot(u, drawn, color="C0", lw=2.0)
        panel.set_title(name, loc="left", fontsize=10, fontweight="bold")
        panel.set_xlabel(f"{n_numbers} numbers to learn", fontsize=9, color="0.35")
        panel.spines[["top", "right"]].set_visible(False)
        panel.set(xticks=[], yticks=[])
    return figure


if __name__ == "__main__":
    draw().savefig(PICTURE, dpi=110)
