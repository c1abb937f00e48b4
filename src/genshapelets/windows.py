"""Windows of paths beside shapelets, on common knots: plain torch, any device, gradients by autograd."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from .paths import Paths


class Window(NamedTuple):
    """Pieces of paths and the shapelets laid over them.

    Attributes
    ----------
    times : (…, shapelets, knots) tensor
        Knots of either, from 0 to the shapelet's length. They never decrease; neighbours may coincide.
    path, shapelet : (…, shapelets, knots, channels) tensors
        Values at the knots. Both run in straight lines between them.
    """

    times: Tensor
    path: Tensor
    shapelet: Tensor


class PaddedPaths(NamedTuple):
    """Paths as tensors, the last row of the shorter ones repeated.

    Attributes
    ----------
    knots : (series, rows) tensor
    values : (series, rows, channels) tensor
    """

    knots: Tensor
    values: Tensor

    @classmethod
    def of(cls, paths: Paths, device: torch.device) -> PaddedPaths:
        """Pad in float64, or in float32 where the device knows no other."""
        dtype = wide_dtype(device)
        row = np.minimum(np.arange(paths.lengths.max()), paths.lengths[:, None] - 1)
        row += paths.row_offsets[:-1, None]
        return cls(
            torch.from_numpy(paths.knots[row]).to(device, dtype),
            torch.from_numpy(paths.values[row]).to(device, dtype),
        )


def wide_dtype(device: torch.device) -> torch.dtype:
    """Float64, or float32 where the device knows no other."""
    return torch.float32 if device.type == "mps" else torch.float64


def lay(paths: PaddedPaths, start: Tensor, values: Tensor, lengths: Tensor) -> Window:
    """Lay every shapelet over a window of every path, on the union of their knots.

    Differentiable in all but the paths.

    Parameters
    ----------
    paths : PaddedPaths
    start : (series, offsets, shapelets) tensor
        Offsets, counted from the path's first knot.
    values : (shapelets, channels, knots) tensor
    lengths : (shapelets,) tensor

    Returns
    -------
    Window
        Of (series, offsets, shapelets, …) tensors.
    """
    knots, rows = paths
    n_series, n_offsets, n_shapelets = start.shape
    flat = start.reshape(n_series, -1).contiguous()  # (series, windows)
    until = flat + lengths.repeat(n_offsets)
    # Rows inside the window (first, after]; the number of knots is that of the fullest window.
    first = torch.searchsorted(knots, flat.detach(), right=True)
    after = torch.searchsorted(knots, until.detach())
    n_inside = int((after - first).clamp(min=0).max())
    inside = first[..., None] + torch.arange(n_inside, device=start.device)
    at = inside.clamp(max=knots.shape[1] - 1).flatten(1)
    arrivals = knots.gather(1, at).reshape(inside.shape) - flat[..., None]
    arrivals = arrivals.reshape(n_series, n_offsets, n_shapelets, n_inside)
    arrivals = torch.minimum(arrivals.clamp(min=0.0), lengths[:, None])
    own = torch.linspace(0, 1, values.shape[2], dtype=lengths.dtype, device=start.device)
    own = (own * lengths[:, None]).expand(n_series, n_offsets, -1, -1)
    times = torch.cat([arrivals, own], dim=-1).sort(dim=-1).values
    path = _path_at(knots, rows, start[..., None] + times)
    return Window(times, path, _shapelet_at(values, times / lengths[:, None]))


def _path_at(knots: Tensor, rows: Tensor, t: Tensor) -> Tensor:
    """Values (series, …, channels) of paths at times (series, …); constant outside their span."""
    flat = t.flatten(1)
    right = torch.searchsorted(knots, flat.detach(), right=True).clamp(max=knots.shape[1] - 1)
    left = (right - 1).clamp(min=0)
    before, after = knots.gather(1, left), knots.gather(1, right)
    gap = after - before
    share = ((flat - before) / torch.where(gap > 0, gap, 1.0)).clamp(0.0, 1.0)[..., None]
    f, g = (rows.gather(1, at[..., None].expand(-1, -1, rows.shape[2])) for at in (left, right))
    return (f + share * (g - f)).reshape(*t.shape, -1)


def _shapelet_at(values: Tensor, t: Tensor) -> Tensor:
    """Values (…, shapelets, times, channels) of shapelets at times (…, shapelets, times) in [0, 1]."""
    n_pieces = values.shape[2] - 1
    position = t * n_pieces
    piece = position.detach().floor().long().clamp(0, n_pieces - 1)
    share = (position - piece)[..., None]
    shapelet = torch.arange(len(values), device=t.device)[:, None]
    by_knot = values.transpose(1, 2)
    w, v = by_knot[shapelet, piece], by_knot[shapelet, piece + 1]
    return w + share * (v - w)
