"""Everything that ``genshapelets`` offers by name, loaded when the first of it is asked for."""

from .cepstrum import MelFrequencyCepstrum
from .discrepancies import (
    ClassicalDiscrepancy,
    Discrepancy,
    DTWDiscrepancy,
    L2Discrepancy,
    LogSignatureDiscrepancy,
    MFCDiscrepancy,
    MixedDiscrepancy,
    safe_sqrt,
)
from .estimators import ShapeletClassifier, ShapeletRegressor, ShapeletTransformer, load
from .explain import explain_model, explain_series, interpretability
from .interpolation import (
    Constant,
    Cubic,
    GaussianProcess,
    Interpolation,
    KernelSmoothing,
    Linear,
)
from .minimum import Minimum, Softmin, SoftMinimum
from .objective import interpretable_regularisation
from .paths import Paths, interpolate
from .preprocessing import Preprocessing
from .series import RaggedSeries
from .shapelets import BasisShapelets, NetworkShapelets, ShapeletFamily, Shapelets
from .sound import to_sound, write_wav
from .transform import GeneralisedShapeletTransform, Matches
from .warming import warmup

__all__ = [
    "BasisShapelets",
    "ClassicalDiscrepancy",
    "Constant",
    "Cubic",
    "DTWDiscrepancy",
    "Discrepancy",
    "GaussianProcess",
    "GeneralisedShapeletTransform",
    "Interpolation",
    "KernelSmoothing",
    "L2Discrepancy",
    "Linear",
    "LogSignatureDiscrepancy",
    "MFCDiscrepancy",
    "Matches",
    "MelFrequencyCepstrum",
    "Minimum",
    "MixedDiscrepancy",
    "NetworkShapelets",
    "Paths",
    "Preprocessing",
    "RaggedSeries",
    "ShapeletClassifier",
    "ShapeletFamily",
    "ShapeletRegressor",
    "ShapeletTransformer",
    "Shapelets",
    "SoftMinimum",
    "Softmin",
    "explain_model",
    "explain_series",
    "interpolate",
    "interpretability",
    "interpretable_regularisation",
    "load",
    "safe_sqrt",
    "to_sound",
    "warmup",
    "write_wav",
]
