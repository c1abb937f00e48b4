"""Reading fitted models: where, why, what it looks like. Nothing here trains."""

from .beside import CovariateParts
from .channels import channel_importance, covariate_importance
from .counter import Turn, WhatIf
from .hearing import hear_shapelet
from .local import Explanation, explain_series
from .matches import ShapeletMatches, Window, find_matches
from .measures import Interpretability, interpretability, measure
from .overall import Claims, ModelExplanation, explain_model
from .plot_models import (
    plot_contributions,
    plot_lengths,
    plot_metric,
    plot_series,
    plot_sizes,
    plot_spectrum,
)
from .plot_shapelets import (
    plot_area,
    plot_channels,
    plot_classes,
    plot_curve,
    plot_heat_maps,
    plot_shapelet,
)
from .reasons import Reason, Reasons

__all__ = [
    "Claims",
    "CovariateParts",
    "Explanation",
    "Interpretability",
    "ModelExplanation",
    "Reason",
    "Reasons",
    "ShapeletMatches",
    "Turn",
    "WhatIf",
    "Window",
    "channel_importance",
    "covariate_importance",
    "explain_model",
    "explain_series",
    "find_matches",
    "hear_shapelet",
    "interpretability",
    "measure",
    "plot_area",
    "plot_channels",
    "plot_classes",
    "plot_contributions",
    "plot_curve",
    "plot_heat_maps",
    "plot_lengths",
    "plot_metric",
    "plot_series",
    "plot_shapelet",
    "plot_sizes",
    "plot_spectrum",
]
