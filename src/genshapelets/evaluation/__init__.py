"""The discrepancy at given offsets, with gradients."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from ..discrepancies import (
    ClassicalDiscrepancy,
    Discrepancy,
    DTWDiscrepancy,
    L2Discrepancy,
    LogSignatureDiscrepancy,
    MixedDiscrepancy,
)
from ..offsets import Offsets
from ..paths import Paths
from .classical import evaluate_classical
from .dtw import evaluate_dtw
from .generic import evaluate_generic
from .l2 import evaluate_l2
from .logsignature import evaluate_logsignature

Evaluate = Callable[[Discrepancy, Paths, Tensor, Tensor, Offsets], Tensor]

# By exact type: a subclass may compute something else.
_FAST: dict[type[Discrepancy], Evaluate] = {}


def register(kind: type[Discrepancy], evaluate: Evaluate) -> None:
    """Let a function evaluate discrepancies of exactly this class on the CPU, instead of autograd."""
    _FAST[kind] = evaluate


register(L2Discrepancy, evaluate_l2)
register(LogSignatureDiscrepancy, evaluate_logsignature)
register(ClassicalDiscrepancy, evaluate_classical)
register(DTWDiscrepancy, evaluate_dtw)


def evaluate_mixed(
    discrepancy: Discrepancy, paths: Paths, values: Tensor, lengths: Tensor, offsets: Offsets
) -> Tensor:
    """Let each part of a mixed discrepancy evaluate its own shapelets."""
    assert isinstance(discrepancy, MixedDiscrepancy)
    found = [
        evaluate(part, paths, values[own], lengths[own], offsets.of(own))
        for part, own in discrepancy.shares()
    ]
    return torch.cat(found, dim=1)


register(MixedDiscrepancy, evaluate_mixed)


def evaluate(
    discrepancy: Discrepancy,
    paths: Paths,
    values: Tensor,
    lengths: Tensor,
    offsets: Offsets,
    backend: str = "auto",
) -> Tensor:
    """Discrepancy of every shapelet from its windows of every path.

    Parameters
    ----------
    discrepancy : Discrepancy
    paths : Paths
    values : (shapelets, channels, knots) tensor
    lengths : (shapelets,) tensor
    offsets : Offsets
    backend : "auto" or "generic"
        What the class of the discrepancy has registered, if anything, or its formula and autograd.

    Returns
    -------
    (series, shapelets, candidates) tensor
        Differentiable in values, lengths and the discrepancy's parameters.
    """
    fast = _FAST.get(type(discrepancy), evaluate_generic)
    if discrepancy.counts_samples or (backend == "auto" and values.device.type == "cpu"):
        return fast(discrepancy, paths, values, lengths, offsets)
    return evaluate_generic(discrepancy, paths, values, lengths, offsets)
