"""
A first model: gun or finger?
=============================

An actor draws a gun from a holster, aims, and puts it back; or only points with a finger. The
series is the position of the hand, 150 samples. The data were among the first that shapelets were
tried on, and come with the package aeon: 50 series to learn from, 150 to be tested on.
"""

import matplotlib.pyplot as plt
import numpy as np
from aeon.datasets import load_gunpoint

from genshapelets import ShapeletClassifier
from genshapelets.explain import plot_classes, plot_series

X, y = load_gunpoint(split="train")
X_test, y_test = load_gunpoint(split="test")
y, y_test = (np.where(labels == "1", "gun", "finger") for labels in (y, y_test))
print(X.shape, np.unique(y, return_counts=True))

# %%
# Fit and score
# -------------
# ``X`` is (series, channels, times). Five shapelets are enough to be read at a glance; without
# ``n_shapelets`` the classifier chooses by itself, up to 60. The same ``random_state`` gives the
# same model.
model = ShapeletClassifier(n_shapelets=5, random_state=0).fit(X, y)
print(f"accuracy on the test series: {model.score(X_test, y_test):.3f}")

# %%
# What does it look for?
# ----------------------
# For each class the shapelet that speaks most for it, over the training series it resembles most.
learnt = model.explain_model(X, y)
plot_classes(learnt)
plt.show()

# %%
# Why this answer?
# ----------------
# An explanation says where each shapelet was found in a series, and what it adds to the answer.
# ``reasons`` picks the few that carry it.
explanation = model.explain(X_test[:10])
print(explanation.reasons(series=0))
plot_series(explanation, series=0)
plt.show()

# %%
# As a table, in the units of your data:
explanation.to_frame(series=0, top=3)[["shapelet", "start", "end", "contribution"]]

# %%
# Keep it
# -------
# ``model.save("gun.safetensors")`` writes a file without pickle, ``genshapelets.load`` reads it,
# and ``model.report("gun.html", X_test, y_test)`` writes one page for the browser with all of
# the above.
