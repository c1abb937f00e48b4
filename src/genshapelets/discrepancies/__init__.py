"""How far a window of a path is from a shapelet."""

from .base import Discrepancy, safe_sqrt
from .classical import ClassicalDiscrepancy
from .dtw import DTWDiscrepancy
from .l2 import L2Discrepancy
from .logsignature import LogSignatureDiscrepancy
from .mfc import MFCDiscrepancy
from .mixed import MixedDiscrepancy

__all__ = [
    "ClassicalDiscrepancy",
    "DTWDiscrepancy",
    "Discrepancy",
    "L2Discrepancy",
    "LogSignatureDiscrepancy",
    "MFCDiscrepancy",
    "MixedDiscrepancy",
    "safe_sqrt",
]
