"""Paths and shapelets as an L2 discrepancy sees them, as arrays for the compiled kernels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..discrepancies import L2Discrepancy
from ..paths import Array, Index, Paths


class Rows(NamedTuple):
    """Knots (rows,) and values (rows, channels) of paths; path i owns row_offsets[i:i + 2]."""

    knots: Array
    values: Array
    row_offsets: Index


class Shapes(NamedTuple):
    """Shapelets and how they are compared.

    Attributes
    ----------
    values : (shapelets, knots, channels) array
    lengths : (shapelets,) array
    weights : (shapelets, channels) array
        Squared weights a^2 of the channels.
    level_free : (shapelets,) bool array
        Scale-free ones among them.
    scale_free : (shapelets,) bool array
        Their values have mean 0 and norm 1, or are 0: see `L2Discrepancy.normalised`.
    """

    values: Array
    lengths: Array
    weights: Array
    level_free: NDArray[np.bool_]
    scale_free: NDArray[np.bool_]


class Problem(NamedTuple):
    """Some shapelets, and the paths beside them, all float64.

    Attributes
    ----------
    rows : Rows
    shapes : Shapes
    chosen : slice
        The shapelets of the whole that this is about.
    matrix : None or (channels, channels) array
        What a full metric has multiplied the channels of both by. Its weights are then 1.
    """

    rows: Rows
    shapes: Shapes
    chosen: slice
    matrix: Array | None


def pose(
    discrepancy: L2Discrepancy, paths: Paths, values: Tensor, lengths: Tensor
) -> list[Problem]:
    """Copy the numbers: an optimiser may change the tensors before the backward pass.

    The values are `L2Discrepancy.normalised`. One problem, except that shapelets with a full metric each
    get one for themselves.
    """
    rows = Rows(paths.knots, paths.values, paths.row_offsets)
    shapelets = np.ascontiguousarray(as_array(values).transpose(0, 2, 1))
    n_shapelets, _, n_channels = shapelets.shape
    shapes = Shapes(
        shapelets,
        as_array(lengths),
        np.ones((n_shapelets, n_channels)),
        np.array(discrepancy.ignores_level(n_shapelets).numpy(force=True)),
        np.array(discrepancy.ignores_scale(n_shapelets).numpy(force=True)),
    )
    finite = np.isfinite(shapes.lengths)
    if not finite.all():
        k = int(finite.argmin())
        raise ValueError(
            f"the length of shapelet {k} is {float(shapes.lengths[k])!r}: training has diverged. Lower "
            "the learning rate, or look for NaN in the loss."
        )
    if discrepancy.weight is None:
        return [Problem(rows, shapes, slice(n_shapelets), None)]
    weight = as_array(discrepancy.weight)
    if discrepancy.metric == "diagonal":
        squares = np.array(np.broadcast_to(weight**2, (n_shapelets, n_channels)))
        return [Problem(rows, shapes._replace(weights=squares), slice(n_shapelets), None)]
    shared = len(weight) == 1
    parts = [slice(n_shapelets)] if shared else [slice(k, k + 1) for k in range(n_shapelets)]
    return [
        Problem(
            rows._replace(values=map_channels(A, rows.values)),
            Shapes(
                map_channels(A, shapelets[part]),
                shapes.lengths[part],
                shapes.weights[part],
                shapes.level_free[part],
                shapes.scale_free[part],
            ),
            part,
            A,
        )
        for part, A in zip(parts, weight, strict=True)
    ]


def map_channels(matrix: Array, values: Array) -> Array:
    """Multiply the last axis by a matrix. Without BLAS, which rounds as the number of rows suits it."""
    return np.einsum("...d,ed->...e", values, matrix)


def as_array(tensor: Tensor) -> Array:
    """Copy a tensor to a float64 array."""
    array: Array = tensor.detach().cpu().double().numpy()
    return array.copy() if tensor.dtype == torch.float64 else array
