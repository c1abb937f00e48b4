"""Names that parameters may be given by, for whoever must know them before torch is loaded."""

CHOICES = {
    "procedure": ("default", "paper", "learning_shapelets"),
    "discrepancy": ("l2", "logsignature", "dtw", "mfc", "classical"),
    "metric": ("none", "diagonal", "full"),
    "shapelets": ("knots", "bspline", "fourier", "legendre", "network"),
    "interpolation": ("linear", "constant", "cubic", "smoothing", "gaussian_process"),
    "preprocessing": ("mfc",),
    "search": ("auto", "grid", "refined", "exact"),
    "minimum": ("min", "soft", "softmin"),
    "initial": ("windows", "kmeans", "search"),
    "learn": ("all", "head"),
    "short_series": ("error", "hold"),
    "summaries": ("count", "first", "last", "mean", "min", "max", "std"),
    "aggregate": ("mean", "median", "first", "last", "min", "max", "sum"),
}
