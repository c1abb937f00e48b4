"""
Your own discrepancy
====================

What counts as alike is yours to say: one method, the formula in torch. Here somebody has plugged
in half of the electrodes the wrong way round, and nobody knows which: a pulse upside down is the
same pulse. No discrepancy that comes with the package knows that.
"""

import matplotlib.pyplot as plt
import numpy as np
import torch

from genshapelets import Discrepancy, ShapeletClassifier, safe_sqrt


def recordings(n_series, seed):
    """Noise with one hump or two, upside down or not, somewhere."""
    random = np.random.default_rng(seed)
    X, y = random.normal(scale=0.3, size=(n_series, 1, 60)), np.arange(n_series) % 2
    for series, two in zip(X[:, 0], y):
        start, sign = random.integers(0, 36), random.choice([-1, 1])
        series[start : start + 24] += sign * np.sin(np.linspace(0, np.pi * (1 + two), 24)) ** 2
    return X, np.where(y, "two humps", "one hump")


X, y = recordings(80, seed=0)
X_test, y_test = recordings(400, seed=1)
figure, axes = plt.subplots(2, 2, figsize=(8, 4), layout="constrained", sharex=True, sharey=True)
for ax, series, label in zip(axes.T.flat, X[[0, 2, 1, 5], 0], y[[0, 2, 1, 5]]):
    ax.plot(series)
    ax.set_title(label)
plt.show()

# %%
# The formula
# -----------
# ``forward`` gets windows and shapelets on common knots, straight in between: times (…, knots),
# values (…, knots, channels). Along a piece of width h the square of what goes from p to q
# integrates to h (p² + p q + q²) / 3. What a discrepancy keeps as a ``torch.nn.Parameter`` is
# learnt; arguments of its ``__init__`` are kept under their names, for model files.


class EitherWay(Discrepancy):
    grows_with_length = True  # like an L2 norm, with the root of the shapelet's length

    def forward(self, times, path, shapelet):
        width = times.diff(dim=-1)[..., None]

        def square(difference):
            p, q = difference[..., :-1, :], difference[..., 1:, :]
            return (width * (p * p + p * q + q * q) / 3).sum(dim=(-2, -1))

        return safe_sqrt(torch.minimum(square(path - shapelet), square(path + shapelet)))


# %%
# Fit
# ---
# It works in estimators, model files, explanations and the report. It is evaluated at every
# offset by its formula, so it is slower than the discrepancies that come with kernels.
model = ShapeletClassifier(discrepancy=EitherWay(), n_shapelets=2, max_epochs=30, random_state=0)
model.fit(X, y)
print(f"accuracy {model.score(X_test, y_test):.2f} with two shapelets")

# %%
# Each of the two stands for both ways up. Which way it is drawn is chance:
figure, axes = plt.subplots(1, 2, figsize=(8, 2.5), layout="constrained", sharey=True)
for ax, values, length in zip(axes, model.shapelets_[:, 0], model.lengths_):
    ax.plot(np.linspace(0, length, len(values)), values, ".-")
plt.show()
