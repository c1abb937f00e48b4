"""
Digits, with pictures
=====================

Scikit-learn carries small pictures of written digits. The outline of a digit is a series: a point
walks around it, and its height and sideways position are two channels. Outlines are of different
lengths and their points are not evenly spaced, which needs no preparation here.
"""

import contourpy
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from genshapelets import RaggedSeries, ShapeletClassifier

SIDES = ["across", "up"]


def outline(picture):
    """(2, points) array: once around the digit, from its highest point on; and how far was walked."""
    lines = contourpy.contour_generator(z=np.pad(picture, 1)).lines(6.0)
    line = max(lines, key=len)[:-1]
    line = np.roll(line, -line[:, 1].argmin(), axis=0)
    steps = np.hypot(*np.diff(line, axis=0).T)
    keep = np.r_[True, steps > 1e-6]
    return (line * [1, -1])[keep].T, np.r_[0.0, steps.cumsum()][keep]


pictures, digits = load_digits(n_class=4, return_X_y=True)
pictures = pictures.reshape(-1, 8, 8)[:400]
digits = digits[:400]
walks, times = zip(*(outline(picture) for picture in pictures))
series = RaggedSeries.from_arrays(walks, times, channel_names=SIDES)
print(series)

# %%
# Some of them, with the points that the model gets to see:
figure, axes = plt.subplots(1, 4, figsize=(9, 2.6), layout="constrained")
for ax, picture, walk in zip(axes, pictures, walks):
    ax.imshow(np.pad(picture, 1), cmap="Greys", alpha=0.5)
    ax.plot(walk[0], -walk[1], ".-")
    ax.axis("off")
plt.show()

# %%
# Fit
# ---
# Series are indexed like arrays; scikit-learn's tools split their indices.
train, test = train_test_split(np.arange(400), stratify=digits, random_state=0)
model = ShapeletClassifier(n_shapelets=8, max_epochs=60, random_state=0)
model.fit(series[train], digits[train])
print(f"accuracy on {len(test)} other digits: {model.score(series[test], digits[test]):.3f}")

# %%
# Which piece of the outline?
# ---------------------------
# For each digit the shapelet that speaks most for it in one test series, where it was found:
# drawn back onto the picture.
explanation = model.explain(series[test])
figure, axes = plt.subplots(1, 4, figsize=(9, 2.8), layout="constrained")
for digit, ax in enumerate(axes):
    right = (digits[test] == digit) & (explanation.predicted == digit)
    n = int(np.flatnonzero(right)[0])
    top = explanation.to_frame(series=n, top=1).iloc[0]
    picture, walk, walked = (these[test[n]] for these in (pictures, walks, times))
    piece = (walked >= top["start"]) & (walked <= top["end"])
    ax.imshow(np.pad(picture, 1), cmap="Greys", alpha=0.5)
    ax.plot(walk[0], -walk[1], color="0.4", lw=1)
    ax.plot(walk[0][piece], -walk[1][piece], color="tab:orange", lw=4)
    ax.set_title(f"{digit}: shapelet {top['shapelet']}")
    ax.axis("off")
plt.show()
