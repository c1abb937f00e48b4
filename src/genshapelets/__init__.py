"""Interpretable shapelets for irregular time series."""

from .discrepancies import ClassicalDiscrepancy, Discrepancy, L2Discrepancy
from .estimators import ShapeletClassifier, ShapeletRegressor, ShapeletTransformer, load
from .explain import explain_model, explain_series, interpretability
from .objective import interpretable_regularisation
from .paths import Paths, interpolate
from .series import RaggedSeries
from .shapelets import Shapelets
from .transform import GeneralisedShapeletTransform, Matches

__version__ = "0.1.0"

__all__ = [
    "ClassicalDiscrepancy",
    "Discrepancy",
    "GeneralisedShapeletTransform",
    "L2Discrepancy",
    "Matches",
    "Paths",
    "RaggedSeries",
    "ShapeletClassifier",
    "ShapeletRegressor",
    "ShapeletTransformer",
    "Shapelets",
    "explain_model",
    "explain_series",
    "interpolate",
    "interpretability",
    "interpretable_regularisation",
    "load",
]
