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
    channels : (shapelets, channels) array
        Which channels of the paths values and weights belong to: see `narrowed`.
    n_active : (shapelets,) array
        How many of them, the first ones, count.
    """

    values: Array
    lengths: Array
    weights: Array
    level_free: NDArray[np.bool_]
    scale_free: NDArray[np.bool_]
    channels: Index
    n_active: Index


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
        np.tile(np.arange(n_channels), (n_shapelets, 1)),
        np.full(n_shapelets, n_channels),
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
                shapes.channels[part],
                shapes.n_active[part],
            ),
            part,
            A,
        )
        for part, A in zip(parts, weight, strict=True)
    ]


def narrowed(shapes: Shapes) -> Shapes:
    """Shapelets of the channels whose weights are not 0, which come first, in their order.

    There are as many as the shapelet that has most needs; another one keeps some that do not count.
    """
    counts = shapes.weights != 0
    if counts.all():
        return shapes
    n_active = counts.sum(axis=1)
    order = np.argsort(~counts, axis=1, kind="stable")
    channels = np.ascontiguousarray(order[:, : max(int(n_active.max()), 1)])
    return shapes._replace(
        values=np.take_along_axis(shapes.values, channels[:, None], axis=2),
        weights=np.take_along_axis(shapes.weights, channels, axis=1),
        channels=channels,
        n_active=n_active,
    )


def spread(values: Array, shapes: Shapes, n_channels: int) -> Array:
    """What belongs to the channels of narrowed shapelets, (shapelets, …, channels), for all channels."""
    if values.shape[-1] == n_channels and (shapes.n_active == n_channels).all():
        return values
    out = np.zeros((*values.shape[:-1], n_channels), values.dtype)
    place = shapes.channels.reshape(len(values), *[1] * (values.ndim - 2), -1)
    np.put_along_axis(out, place, values, axis=-1)
    return out


def map_channels(matrix: Array, values: Array) -> Array:
    """Multiply the last axis by a matrix. Without BLAS, which rounds as the number of rows suits it."""
    return np.einsum("...d,ed->...e", values, matrix)


def as_array(tensor: Tensor) -> Array:
    """Copy a tensor to a float64 array."""
    array: Array = tensor.detach().cpu().double().numpy()
    return array.copy() if tensor.dtype == torch.float64 else array
