"""A discrepancy of your own: write its formula, and fit a classifier with it.

Run it with ``python docs/own_discrepancy.py``.
"""

import math

import numpy as np
import torch

from genshapelets import Discrepancy, ShapeletClassifier
from genshapelets.discrepancies import safe_sqrt


class Sobolev(Discrepancy):
    r"""Distance of values and of slopes: ( int |f - w|^2 + a |f' - w'|^2 dt )^(1/2), a learnt."""

    grows_with_length = True  # like an L2 norm, with the root of the shapelet's length

    def __init__(self, slope_weight=1.0):
        super().__init__()
        self.slope_weight = slope_weight  # kept for files: what a starts from
        self.log_weight = torch.nn.Parameter(torch.tensor(math.log(slope_weight)))

    def forward(self, times, path, shapelet):
        difference, width = path - shapelet, times.diff(dim=-1)[..., None]
        p, q = difference[..., :-1, :], difference[..., 1:, :]  # straight from p to q
        values = width * (p * p + p * q + q * q) / 3
        slopes = (q - p) ** 2 / width.clamp(min=1e-12)  # neighbouring knots may coincide
        return safe_sqrt((values + self.log_weight.exp() * slopes).sum(dim=(-2, -1)))


def waves(n_series, random_state):
    """Noisy series with a smooth bump (class 0) or a ragged one (class 1) somewhere."""
    rng = np.random.default_rng(random_state)
    X, y = 0.1 * rng.normal(size=(n_series, 1, 30)), np.arange(n_series) % 2
    for series, label in zip(X[:, 0], y):
        start = rng.integers(0, 20)
        ragged = 0.6 * (-1.0) ** np.arange(9) * label
        series[start : start + 9] += np.sin(np.linspace(0.0, np.pi, 9)) * (1.0 + ragged)
    return X, y


if __name__ == "__main__":
    X, y = waves(30, random_state=0)
    model = ShapeletClassifier(
        discrepancy=Sobolev(slope_weight=0.1),
        n_shapelets=4,
        n_knots=9,
        max_epochs=12,
        learning_rate=0.1,
        random_state=0,
    ).fit(X, y)
    learnt = model.model_.transform.discrepancy.log_weight.exp().item()
    print(f"accuracy {model.score(*waves(60, random_state=1)):.2f}, slopes weigh {learnt:.2f}")
