"""
Stays in intensive care
=======================

Each stay in intensive care has measurements of its own, at times of its own, and most variables
are missing most of the time. The stays below are made up: in some of them blood pressure falls
while the heart speeds up, within a few hours, at any time; those patients are likely to die, the
old ones above all.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score

from genshapelets import RaggedSeries, ShapeletClassifier
from genshapelets.explain import plot_contributions, plot_series

random = np.random.default_rng(0)
USUAL = {"heart rate": (80, 8), "blood pressure": (85, 7), "temperature": (37, 0.4)}
CHANGE = {"heart rate": 45, "blood pressure": -35, "temperature": 0.0}

rows, people = [], []
for stay in range(300):
    age, shock = random.uniform(30, 90), random.random() < 0.4
    risk = 0.05 + shock * (0.4 + 0.5 * (age > 60))
    people.append({"stay": stay, "age": age, "died": random.random() < risk})
    begins = random.uniform(8, 32)
    for variable, (mean, spread) in USUAL.items():
        hours = np.sort(random.uniform(0, 48, random.integers(12, 30)))
        values = random.normal(mean, spread / 2) + random.normal(scale=spread / 2, size=len(hours))
        since = np.clip((hours - begins) / 4, 0, None)
        values += shock * CHANGE[variable] * since * np.exp(1 - since)
        rows.append(
            pd.DataFrame({"stay": stay, "hour": hours, "variable": variable, "value": values})
        )
table, people = pd.concat(rows, ignore_index=True), pd.DataFrame(people).set_index("stay")
table.head()

# %%
# From a long table
# -----------------
# One row for each measurement, as such data usually come. Nothing is binned, resampled or filled
# in. (A table with one column for each variable is read by ``channels=[…]``.)
series = RaggedSeries.from_long(
    table, series="stay", time="hour", variable="variable", value="value"
)
print(series)
died = np.where(people.loc[series.series_ids, "died"], "died", "lived")

# %%
# Fit
# ---
# Fewer die than live; ``class_weight="balanced"`` makes both count as much. Where classes are of
# different sizes, accuracy says little; the area under the ROC curve says more.
train, test = series[:200], series[200:]
model = ShapeletClassifier(n_shapelets=6, max_epochs=60, class_weight="balanced", random_state=0)
model.fit(train, died[:200])
probability = model.predict_proba(test)[:, list(model.classes_).index("died")]
area = roc_auc_score(died[200:] == "died", probability)
print(f"{np.mean(died == 'died'):.0%} died; area under the curve {area:.2f}")

# %%
# Why?
# ----
# The stay of the test series with the highest risk: what was found in it, when, and what each
# adds.
n = int(probability.argmax())
explanation = model.explain(test)
print(explanation.reasons(series=n))
plot_series(explanation, series=n)
plt.show()

# %%
plot_contributions(explanation, series=n)
plt.show()

# %%
# What does not change
# --------------------
# Age does not move within a stay, so no shapelet can see it. What is known of a patient as a whole is
# given by ``static``, a table with a row for each stay, found by its index; ``summaries`` adds numbers
# for each variable, here how often it was measured and what was measured last. Both are weighed beside
# the shapelets, and are among the reasons.
both = ShapeletClassifier(
    n_shapelets=6,
    max_epochs=60,
    class_weight="balanced",
    summaries=["count", "last"],
    random_state=0,
)
both.fit(train, died[:200], static=people[["age"]])
probability = both.predict_proba(test, static=people[["age"]])[:, list(both.classes_).index("died")]
print(f"area under the curve {roc_auc_score(died[200:] == 'died', probability):.2f}, with age")

# %%
# Scores, explanations and pages take ``static``, too. For cross-validation the series hold their table
# themselves: ``test.with_static(people[["age"]])``.
explanation = both.explain(test, static=people[["age"]])
print(explanation.reasons(series=n))
print(explanation.covariates.to_frame())
plot_contributions(explanation, series=n)
plt.show()
