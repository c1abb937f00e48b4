"""The numbers of shapelets and of their L2 discrepancy, for the compiled kernels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..paths import Array


class L2Arrays(NamedTuple):
    """Copies in float64, as an optimiser may change the tensors before the backward pass.

    Attributes
    ----------
    shapelets : (shapelets, knots, channels) array
    lengths : (shapelets,) array
    matrix : None, (metrics, channels) or (metrics, channels, channels) array
        The metric's weights; as many metrics as shapelets, or one.
    weights : (1 or shapelets, channels) array
        Squares of a diagonal metric, or ones.
    level_free : (shapelets,) array
    """

    shapelets: Array
    lengths: Array
    matrix: Array | None
    weights: Array
    level_free: NDArray[np.bool_]

    @classmethod
    def of(
        cls, values: Tensor, lengths: Tensor, matrix: Tensor | None, level_free: NDArray[np.bool_]
    ) -> L2Arrays:
        """Copy tensors; refuse lengths that are not numbers."""
        spans = float64(lengths)
        if not np.isfinite(spans).all():
            k = int(np.isfinite(spans).argmin())
            raise ValueError(
                f"the length of shapelet {k} is {float(spans[k])!r}: training has diverged. Lower the "
                "learning rate, or look for NaN in the loss."
            )
        metric = None if matrix is None else float64(matrix)
        if metric is None or metric.ndim == 3:
            weights = np.ones((1, values.shape[1]))
        else:
            weights = metric * metric
        return cls(float64(values.transpose(1, 2)), spans, metric, weights, level_free)


# NumPy converts, not torch: OpenMP's threads, which torch would wake for it, go on spinning for a while
# and take the processors from ours.


def float64(tensor: Tensor) -> Array:
    """Copy a tensor."""
    if tensor.dtype not in (torch.float32, torch.float64):
        tensor = tensor.double()
    return np.array(tensor.numpy(force=True), dtype=np.float64, order="C")


def as_tensor(array: Array, dtype: torch.dtype) -> Tensor:
    """Convert to a tensor, which may share the array's memory."""
    if dtype == torch.float32:
        return torch.from_numpy(array.astype(np.float32))
    return torch.from_numpy(array).to(dtype)
