"""Draw docs/images/logsignatures.png: loops in two channels, and what a log-signature tells of them.

Run it with ``python docs/pictures/logsignatures.py``.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import torch

from genshapelets import L2Discrepancy, LogSignatureDiscrepancy

PICTURE = Path(__file__).resolve().parents[1] / "images" / "logsignatures.png"
AREA = LogSignatureDiscrepancy(2, depth=2, metric="none", include_time=False)
L2 = L2Discrepancy(2, "none")
TIMES = np.linspace(0.0, 1.0, 201)


def loop(turns, speed=1.0, centre=(0.0, 0.0)):
    """A circle from its top, at a speed that may vary; anticlockwise if turns > 0."""
    angle = np.pi / 2 + 2 * np.pi * turns * TIMES**speed
    return np.stack([centre[0] + np.cos(angle), centre[1] + np.sin(angle)])


PANELS = {
    "the shapelet": loop(1),
    "clockwise": loop(-1),
    "elsewhere": loop(1, centre=(0.5, 0.7)),
    "slow, then fast": loop(1, speed=2.0),
}


def draw():
    """Above: the loop in the plane of its channels; below: the channels in time."""
    figure, panels = plt.subplots(
        2, 4, figsize=(10.0, 4.4), height_ratios=[2.2, 1.0], sharey="row", layout="constrained"
    )
    shapelet = _tensor(loop(1))
    for (title, path), above, below in zip(PANELS.items(), *panels):
        times, window = torch.from_numpy(TIMES)[None], _tensor(path)
        area = AREA.coordinates(times, window)[0, -1].item()
        above.fill(*path, color="C0" if area > 0 else "C3", alpha=0.18, lw=0)
        above.plot(*path, color="black", lw=1.2)
        for begin in range(20, 200, 45):
            above.annotate(
                "", path[:, begin + 4], path[:, begin],
                arrowprops={"arrowstyle": "-|>", "color": "black"},
            )  # fmt: skip
        above.plot(*path[:, 0], "o", color="black", ms=5)
        middle = (path.min(axis=1) + path.max(axis=1)) / 2
        above.text(*middle, f"area {area:+.1f}", ha="center", va="center", fontsize=11)
        above.set_title(title, fontsize=10, fontweight="bold")
        above.set(aspect="equal", xticks=[], yticks=[], xlim=(-1.2, 1.7), ylim=(-1.2, 1.9))
        below.plot(TIMES, path[0], color="C0", lw=1.4)
        below.plot(TIMES, path[1], color="C1", lw=1.4)
        signature, l2 = (one(times, window, shapelet).item() for one in (AREA, L2))
        below.set_xlabel(f"L2 {abs(l2):.2f}\nlog-signature {abs(signature):.2f}", fontsize=10)
        below.set(xticks=[], yticks=[])
        for panel in (above, below):
            panel.spines[["top", "right"]].set_visible(False)
    return figure


def _tensor(path):
    return torch.from_numpy(path.T)[None]  # one shapelet, knots, channels


if __name__ == "__main__":
    draw().savefig(PICTURE, dpi=110)
