"""The numbers of shapelets and of their L2 discrepancy, for the compiled kernels."""

from __future__ import annotations

from math import isfinite
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..parallel import kernel
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
    level : (shapelets, channels) array
        What kernels take off a shapelet, lest large numbers cost digits: the mean of all, or its own
        integral mean if it is level-free.
    common : (channels,) array
        The mean of all.
    """

    shapelets: Array
    lengths: Array
    matrix: Array | None
    weights: Array
    level_free: NDArray[np.bool_]
    level: Array
    common: Array

    @classmethod
    def of(
        cls, values: Tensor, lengths: Tensor, matrix: Tensor | None, level_free: NDArray[np.bool_]
    ) -> L2Arrays:
        """Copy tensors; refuse lengths that are not numbers."""
        spans = float64(lengths)
        if not all(map(isfinite, spans.tolist())):
            k = int(np.isfinite(spans).argmin())
            raise ValueError(
                f"the length of shapelet {k} is {float(spans[k])!r}: training has diverged. Lower the "
                "learning rate, or look for NaN in the loss."
            )
        metric = None if matrix is None else float64(matrix)
        n_shapelets, n_channels, n_knots = values.shape
        if metric is None or metric.ndim == 3:
            weights = np.ones((1, n_channels))
        else:
            weights = metric * metric
        shapelets = np.empty((n_shapelets, n_knots, n_channels))
        level, common = np.empty((n_shapelets, n_channels)), np.empty(n_channels)
        _copy_and_find_levels(_numbers(values), level_free, shapelets, level, common)
        return cls(shapelets, spans, metric, weights, level_free, level, common)

    def seen_through_metric(self) -> list[L2Arrays]:
        """The shapelets after the map of a full metric, each by itself if each has its own."""
        assert self.matrix is not None
        if len(self.matrix) == 1:
            parts = [self]
        else:
            parts = [
                self._replace(
                    shapelets=self.shapelets[k : k + 1],
                    lengths=self.lengths[k : k + 1],
                    level_free=self.level_free[k : k + 1],
                    level=self.level[k : k + 1],
                )
                for k in range(len(self.shapelets))
            ]
        return [
            part._replace(shapelets=part.shapelets @ A.T, level=part.level @ A.T, matrix=None)
            for part, A in zip(parts, self.matrix, strict=True)
        ]


@kernel
def _copy_and_find_levels(values, level_free, shapelets, level, common):
    n_shapelets, n_channels, n_knots = values.shape
    common[:] = 0.0
    for k in range(n_shapelets):
        for channel in range(n_channels):
            total = 0.0
            for knot in range(n_knots):
                shapelets[k, knot, channel] = values[k, channel, knot]
                total += shapelets[k, knot, channel]
            ends = shapelets[k, 0, channel] + shapelets[k, n_knots - 1, channel]
            level[k, channel] = (total - 0.5 * ends) / (n_knots - 1)
            common[channel] += total / (n_shapelets * n_knots)
    for k in range(n_shapelets):
        if not level_free[k]:
            level[k] = common


# NumPy converts, not torch: OpenMP's threads, which torch would wake for it, go on spinning for a while
# and take the processors from ours.


def float64(tensor: Tensor) -> Array:
    """Copy a tensor."""
    return np.array(_numbers(tensor), dtype=np.float64)


def _numbers(tensor: Tensor) -> NDArray[Any]:
    """Return float32 or float64 as a contiguous array, other floats as float64."""
    if tensor.dtype not in (torch.float32, torch.float64):
        tensor = tensor.double()
    return np.ascontiguousarray(tensor.numpy(force=True))


def as_tensor(array: Array, dtype: torch.dtype) -> Tensor:
    """Convert to a tensor, which may share the array's memory."""
    if dtype == torch.float32:
        return torch.from_numpy(array.astype(np.float32))
    return torch.from_numpy(array).to(dtype)
