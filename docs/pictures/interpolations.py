"""Draw docs/images/interpolations.png: one series with gaps, and every interpolation of it.

Run it with ``python docs/pictures/interpolations.py``.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from genshapelets import RaggedSeries, interpolate
from genshapelets.interpolation import (
    Constant,
    Cubic,
    GaussianProcess,
    KernelSmoothing,
    Linear,
)

PICTURE = Path(__file__).resolve().parents[1] / "images" / "interpolations.png"
PANELS = {
    "linear\nstraight lines": Linear(),
    "constant\nthe last value holds": Constant(),
    "cubic, Hermite\nslopes look back only": Cubic(),
    "cubic, natural\nbends least": Cubic("natural"),
    "smoothing\nmeans of what is near": KernelSmoothing(),
    "gaussian_process\nthe likeliest curve, noise apart": GaussianProcess(),
}


def waves(n_series, random_state):
    """Noisy waves at irregular times; nothing from 7 to 11."""
    rng = np.random.default_rng(random_state)
    times = [np.sort(rng.uniform(0.0, 16.0, 30)) for _ in range(n_series)]
    times = [t[(t < 7.0) | (t > 11.0)] for t in times]
    phases = np.append(0.0, rng.uniform(0.0, 6.0, n_series - 1))
    values = [
        (np.sin(0.9 * t + phase) + 0.2 * rng.normal(size=len(t)))[None]
        for t, phase in zip(times, phases)
    ]
    return RaggedSeries.from_arrays(values, times)


def draw(series):
    """One panel for each interpolation: observations, path, and where its knots are."""
    figure, panels = plt.subplots(
        3, 2, figsize=(9.0, 7.2), sharex=True, sharey=True, layout="constrained"
    )
    one = series[0]
    for panel, (title, interpolation) in zip(panels.flat, PANELS.items()):
        path = interpolate(interpolation.fit(series)(series))[:1]
        times = path.origin[0] + path.knots
        panel.plot(times, path.values[:, 0], color="C0", lw=1.4, zorder=2)
        panel.plot(one.times, one.values[0], "o", color="black", ms=4, zorder=3)
        panel.plot(times, np.full(len(times), -2.0), "|", color="C0", ms=6, mew=0.8)
        name, what = title.split("\n")
        panel.set_title(name, loc="left", fontsize=10, fontweight="bold")
        panel.set_title(f"{what}: {len(times)} knots", loc="right", fontsize=9, color="0.35")
        panel.spines[["top", "right"]].set_visible(False)
    for panel in panels[-1]:
        panel.set_xlabel("time")
    return figure


if __name__ == "__main__":
    draw(waves(40, random_state=4)).savefig(PICTURE, dpi=110)
