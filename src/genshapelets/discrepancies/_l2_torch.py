"""The L2 discrepancy at given offsets in plain torch: any device, gradients by autograd.

The obvious twin of the compiled windows, and what runs where those cannot.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from ..offsets import Offsets
from ..paths import Paths

MAX_ELEMENTS = 2**24  # of the largest array of one chunk of paths


def l2_windows(
    values: Tensor,
    lengths: Tensor,
    matrix: Tensor | None,
    level_free: Tensor,
    paths: Paths,
    offsets: Offsets,
) -> Tensor:
    """Discrepancies at given offsets; the arguments before are those of `prepare_windows`."""
    n_shapelets, n_channels, n_knots = values.shape
    per_path = n_shapelets * n_channels * (int(paths.lengths.max()) + n_knots)
    size = max(1, MAX_ELEMENTS // per_path)
    # Through the offset runs the part of the length's gradient that moves the window.
    start, slope = (torch.from_numpy(x).to(values) for x in (offsets.start, offsets.slope))
    start = start + slope * (lengths - lengths.detach())
    return torch.cat(
        [
            _chunk(values, lengths, matrix, level_free, paths[i : i + size], start[i : i + size])
            for i in range(0, len(paths), size)
        ]
    )


def _chunk(
    values: Tensor,
    lengths: Tensor,
    matrix: Tensor | None,
    level_free: Tensor,
    paths: Paths,
    start: Tensor,
) -> Tensor:
    n_shapelets, n_channels, n_knots = values.shape
    knots, rows = padded(paths, values)  # (series, rows), (series, rows, channels)
    own = torch.linspace(0, 1, n_knots, dtype=values.dtype, device=values.device)
    own = own * lengths[:, None]  # (shapelets, knots)
    inside = torch.minimum((knots[:, None] - start[..., None]).clamp(min=0.0), lengths[:, None])
    nodes = torch.cat([inside, own.expand(len(paths), -1, -1)], dim=-1).sort(dim=-1).values

    spread = knots[:, None].expand(-1, n_shapelets, -1).contiguous()
    f = _lerp(spread, rows[:, None].expand(-1, n_shapelets, -1, -1), nodes + start[..., None])
    shape = values.transpose(1, 2).expand(len(paths), -1, -1, -1)
    w = _lerp(own.expand(len(paths), -1, -1).contiguous(), shape, nodes)

    width = nodes.diff(dim=-1)[..., None]
    r = f - w
    mean = (width * (r[:, :, 1:] + r[:, :, :-1])).sum(dim=2, keepdim=True) / 2
    mean = mean / lengths[:, None, None]
    r = torch.where(level_free[:, None, None], r - mean, r)
    if matrix is not None and matrix.ndim == 2:
        r = r * matrix[:, None]
    elif matrix is not None:
        r = r @ matrix.mT
    p, q = r[:, :, :-1], r[:, :, 1:]
    squared = (width * (p * p + p * q + q * q)).sum(dim=(2, 3)) / 3
    positive = squared > 0
    return torch.where(positive, torch.where(positive, squared, 1.0).sqrt(), 0.0)


def padded(paths: Paths, like: Tensor) -> tuple[Tensor, Tensor]:
    """Knots (series, rows) and values (series, rows, channels), the last row repeated as padding."""
    longest = int(paths.lengths.max())
    row = np.minimum(np.arange(longest), paths.lengths[:, None] - 1) + paths.row_offsets[:-1, None]
    return (
        torch.from_numpy(paths.knots[row]).to(like),
        torch.from_numpy(paths.values[row]).to(like),
    )


def _lerp(knots: Tensor, values: Tensor, t: Tensor) -> Tensor:
    """Piecewise-linear interpolation on the last axis of knots, constant outside."""
    right = torch.searchsorted(knots, t.detach().contiguous(), right=True)
    right = right.clamp(1, knots.shape[-1] - 1) if knots.shape[-1] > 1 else right * 0
    left = (right - 1).clamp(min=0)
    t0, t1 = knots.gather(-1, left), knots.gather(-1, right)
    gap = t1 - t0
    share = ((t - t0) / torch.where(gap > 0, gap, 1.0)).clamp(0.0, 1.0)[..., None]
    take = (*[-1] * left.ndim, values.shape[-1])
    f0 = values.gather(-2, left[..., None].expand(take))
    f1 = values.gather(-2, right[..., None].expand(take))
    return f0 + share * (f1 - f0)
