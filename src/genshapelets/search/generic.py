"""Any discrepancy on any device: try a grid of offsets, then refine between neighbours if asked.

Obvious, and the judge of every faster search.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np
import torch
from torch import Tensor

from ..discrepancies import Discrepancy
from ..evaluation.generic import MAX_ELEMENTS, checked
from ..offsets import Offsets
from ..paths import Paths
from ..windows import PaddedPaths, wide_dtype

GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0
N_REFINEMENTS = 40  # which narrow a bracket to 4e-9 of its width


@torch.no_grad()
def search_generic(
    discrepancy: Discrepancy,
    paths: Paths,
    values: Tensor,
    lengths: Tensor,
    search: str,
    n_best: int,
) -> Offsets:
    """Best offsets of a grid: every sample and the last possible start, or evenly spaced ones.

    On an irregular path as many evenly spaced offsets as it has observations, ends included. The
    candidates are the best local minima on the grid, of equal ones the earliest.
    """
    dtype = wide_dtype(values.device)
    values, lengths = values.to(dtype), lengths.to(dtype)
    n_shapelets, n_channels, n_knots = values.shape
    start, slope = np.empty((2, len(paths), n_shapelets, n_best))
    count = np.empty((len(paths), n_shapelets), np.int64)
    for n in range(len(paths)):
        path = PaddedPaths.of(paths[n : n + 1], values.device)
        room = (float(paths.spans[n]) - lengths).clamp(min=0.0)
        tried, moves = grid(int(paths.lengths[n]), float(paths.step[n]), room)
        per_offset = n_shapelets * (int(paths.lengths[n]) + n_knots) * n_channels
        cost = torch.cat(
            [
                checked(discrepancy, path, chunk[None], values, lengths)[0]
                for chunk in tried.split(max(1, MAX_ELEMENTS // per_offset))
            ]
        )
        cost[1:][tried[1:] == tried[:-1]] = torch.inf  # else rounding makes minima of repeated ones
        best, found = best_minima(cost, n_best)
        at, move = tried.gather(0, best), moves.gather(0, best)
        if search == "refined" or (search == "auto" and not paths.step[n]):
            low = tried.gather(0, (best - 1).clamp(min=0))
            high = tried.gather(0, (best + 1).clamp(max=len(tried) - 1))
            least = cost.gather(0, best)
            twice = PaddedPaths(path.knots.repeat(2, 1), path.values.repeat(2, 1, 1))
            cost_at = partial(_cost, discrepancy, twice, values, lengths)
            at = refine(cost_at, (low, at, high, least))
            move = torch.where((at == room) & (room > 0), -1.0, 0.0).to(dtype)
        start[n], slope[n] = at.T.cpu().numpy(), move.T.cpu().numpy()
        count[n] = found.cpu().numpy()
    return Offsets(start, slope, count, "generic")


def _cost(
    discrepancy: Discrepancy, paths: PaddedPaths, values: Tensor, lengths: Tensor, start: Tensor
) -> Tensor:
    return checked(discrepancy, paths, start, values, lengths)


def grid(n_rows: int, step: float, room: Tensor) -> tuple[Tensor, Tensor]:
    """Offsets to try, (offsets, shapelets), and how they move with the length.

    ``room`` (shapelets,) is the last possible start. On a regular path offsets beyond it repeat it.
    """
    row = torch.arange(n_rows, dtype=room.dtype, device=room.device)[:, None]
    if step:
        sample = row * step
        return torch.minimum(sample, room), torch.where((sample >= room) & (room > 0), -1.0, 0.0)
    share = row / max(n_rows - 1, 1)
    return share * room, torch.where(room > 0, -share, 0.0)


def best_minima(cost: Tensor, n_best: int) -> tuple[Tensor, Tensor]:
    """Positions of the best local minima of cost (offsets, shapelets), (n_best, shapelets); how many.

    Missing ones repeat the best.
    """
    beyond = torch.full_like(cost[:1], torch.inf)
    before, after = torch.cat([beyond, cost[:-1]]), torch.cat([cost[1:], beyond])
    is_minimum = (cost < before) & (cost <= after)
    is_minimum[0] |= ~is_minimum.any(dim=0)  # all infinite
    ranked = torch.where(is_minimum, cost, torch.inf).sort(dim=0, stable=True).indices[:n_best]
    found = is_minimum.sum(dim=0).clamp(max=n_best)
    missing = torch.arange(n_best, device=cost.device)[:, None] >= found
    ranked = torch.cat([ranked, ranked[:1].expand(n_best - len(ranked), -1)])
    return torch.where(missing, ranked[:1], ranked), found


def refine(
    cost_at: Callable[[Tensor], Tensor], bracket: tuple[Tensor, Tensor, Tensor, Tensor]
) -> Tensor:
    """Minimise over continuous offsets by golden sections.

    ``bracket`` holds (low, middle, high) offsets and the discrepancy in the middle, all of one shape;
    ``cost_at`` gives discrepancies at two offsets for each, (2, …). Returns the best offset seen, the
    middle unless another is better.
    """
    low, best, high, least = bracket
    inner = torch.stack([high - GOLDEN * (high - low), low + GOLDEN * (high - low)])
    cost = cost_at(inner)
    for _ in range(N_REFINEMENTS):
        for at, found in zip(inner, cost, strict=True):
            best, least = torch.where(found < least, at, best), torch.minimum(found, least)
        left = cost[0] <= cost[1]
        low, high = torch.where(left, low, inner[0]), torch.where(left, inner[1], high)
        inner = torch.stack([high - GOLDEN * (high - low), low + GOLDEN * (high - low)])
        cost = cost_at(inner)
    return best
