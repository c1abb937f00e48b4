"""Estimators for scikit-learn."""

from .classifier import ShapeletClassifier
from .files import load
from .regressor import ShapeletRegressor
from .transformer import ShapeletTransformer

__all__ = ["ShapeletClassifier", "ShapeletRegressor", "ShapeletTransformer", "load"]
