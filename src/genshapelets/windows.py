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
    n_series, _, n_shapelets = start.shape
    n_knots = values.shape[2]
    since = start.detach().flatten(1).contiguous()
    until = (start + lengths).detach().flatten(1).contiguous()
    # Rows inside a window, first..after; the fullest window has room for all of them.
    first = torch.searchsorted(knots, since, right=True).reshape(start.shape)[..., None]
    after = torch.searchsorted(knots, until).reshape(start.shape)[..., None]
    row = first + torch.arange(int((after - first).clamp(min=0).max()), device=start.device)
    is_inside = row < after
    own = torch.linspace(0, 1, n_knots, dtype=lengths.dtype, device=start.device)
    own = (own * lengths[:, None]).expand(*start.shape, -1)
    arrivals = _at_rows(knots[..., None], row)[..., 0] - start[..., None]
    arrivals = torch.where(is_inside, torch.minimum(arrivals, own[..., -1:]), own[..., -1:])
    # Of knots that coincide the shapelet's come first. What counts is this order, not the rounding of
    # times: else a window would have no derivative there.
    times, order = torch.cat([own, arrivals], dim=-1).sort(dim=-1, stable=True)
    n_own = (order < n_knots).cumsum(dim=-1)
    is_inside = torch.cat([torch.zeros_like(own, dtype=torch.bool), is_inside], dim=-1)
    n_arrived = is_inside.gather(-1, order).cumsum(dim=-1)
    path = _path_at(paths, first - 1 + n_arrived, start[..., None] + times)
    shapelet = torch.arange(n_shapelets, device=start.device)[:, None]
    piece = (n_own - 1).clamp(max=n_knots - 2)
    by_knot = values.transpose(1, 2)
    w, v = by_knot[shapelet, piece], by_knot[shapelet, piece + 1]
    share = times / lengths[:, None] * (n_knots - 1) - piece
    return Window(times, path, w + share[..., None] * (v - w))


def sample_paths(paths: PaddedPaths, t: Tensor) -> Tensor:
    """Values (series, …, channels) of paths at times (series, …), counted as offsets are."""
    since = t.detach().flatten(1).contiguous()
    row = torch.searchsorted(paths.knots, since, right=True).reshape(t.shape) - 1
    return _path_at(paths, row, t)


def _path_at(paths: PaddedPaths, row: Tensor, t: Tensor) -> Tensor:
    """Values (series, …, channels) of paths at times (series, …), each after a row; constant outside."""
    row = row.clamp(0, paths.knots.shape[1] - 1)
    following = (row + 1).clamp(max=paths.knots.shape[1] - 1)
    before, after = (_at_rows(paths.knots[..., None], at)[..., 0] for at in (row, following))
    f, g = (_at_rows(paths.values, at) for at in (row, following))
    gap = after - before
    share = ((t - before) / torch.where(gap > 0, gap, 1.0)).clamp(0.0, 1.0)
    return f + share[..., None] * (g - f)


def _at_rows(values: Tensor, row: Tensor) -> Tensor:
    """Rows (series, …) of values (series, rows, channels); (series, …, channels)."""
    at = row.flatten(1).clamp(max=values.shape[1] - 1)[..., None].expand(-1, -1, values.shape[2])
    return values.gather(1, at).reshape(*row.shape, values.shape[2])
