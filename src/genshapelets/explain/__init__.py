"""Reading fitted models: where, why, what it looks like. Nothing here trains."""

from .counter import Turn, WhatIf
from .local import Explanation, explain_series
from .matches import ShapeletMatches, Window, find_matches
from .measures import Interpretability, interpretability, measure
from .overall import ModelExplanation, explain_model

__all__ = [
    "Explanation",
    "Interpretability",
    "ModelExplanation",
    "ShapeletMatches",
    "Turn",
    "WhatIf",
    "Window",
    "explain_model",
    "explain_series",
    "find_matches",
    "interpretability",
    "measure",
]
