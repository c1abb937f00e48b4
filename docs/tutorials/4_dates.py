"""
A number from dated readings
============================

160 made-up rivers are read by hand, at irregular hours of irregular days. A storm in March made
each of them rise and fall; how much rain fell upstream is to be told from the readings alone.
`ShapeletRegressor` predicts numbers, and times are dates throughout.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from genshapelets import RaggedSeries, ShapeletRegressor
from genshapelets.explain import plot_series

random = np.random.default_rng(0)
rows, rain = [], {}
for n in range(160):
    river = f"river {n:03d}"
    rain[river] = random.uniform(10, 80)  # millimetres
    days = np.sort(random.uniform(0, 30, random.integers(50, 80)))
    storm = random.uniform(5, 20)
    since = np.clip(days - storm, 0, None)
    level = 1.0 + 0.03 * rain[river] * since * np.exp(1 - since) + 0.1 * np.sin(days / 3)
    level += random.normal(scale=0.05, size=len(days))
    when = pd.Timestamp("2026-03-01") + pd.to_timedelta(days, unit="D")
    rows.append(pd.DataFrame({"river": river, "when": when, "level": level}))
readings = pd.concat(rows, ignore_index=True)
readings.head()

# %%
# From a table to series
# ----------------------
series = RaggedSeries.from_long(readings, series="river", time="when", channels=["level"])
y = np.array([rain[river] for river in series.series_ids])
print(series)

# %%
# Fit
# ---
model = ShapeletRegressor(n_shapelets=8, max_epochs=60, random_state=0).fit(series[:120], y[:120])
predicted = model.predict(series[120:])
print(
    f"R² {model.score(series[120:], y[120:]):.2f}, off by {np.abs(predicted - y[120:]).mean():.1f} mm"
)

figure, ax = plt.subplots(figsize=(4, 4), layout="constrained")
ax.plot(y[120:], predicted, "o", alpha=0.6)
ax.axline((40, 40), slope=1, color="0.6", lw=1)
ax.set_xlabel("rain (mm)")
ax.set_ylabel("predicted (mm)")
plt.show()

# %%
# Lengths are time differences, windows are dates
# -----------------------------------------------
print(pd.to_timedelta(model.lengths_).round("h"))
explanation = model.explain(series[120:])
plot_series(explanation, series=0)
plt.show()
explanation.to_frame(series=0, top=3)[["shapelet", "start", "end", "contribution"]]
