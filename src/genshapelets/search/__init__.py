"""Where each shapelet fits each path best. Never differentiates."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from ..discrepancies import ClassicalDiscrepancy, Discrepancy, L2Discrepancy
from ..discrepancies._l2_arrays import L2Arrays
from ..discrepancies.base import Ahead
from ..offsets import FREE, Offsets
from ..paths import Paths
from ._convolution_torch import search_torch
from .classical import search_classical
from .compiled import search_compiled
from .convolution import search_convolution
from .exact import search_exact
from .lattice import choose_form
from .problem import L2Problem, pose_l2
from .reference import search_reference

SEARCHES = ("grid", "exact")
BACKENDS = ("auto", "convolution", "fft", "compiled", "reference")


def best_offsets(
    paths: Paths,
    discrepancy: Discrepancy,
    values: Tensor,
    lengths: Tensor,
    search: str = "grid",
    backend: str = "auto",
    ahead: Ahead | None = None,
) -> Offsets:
    """Find the offset of least discrepancy, for every path and shapelet.

    Parameters
    ----------
    paths : Paths
    discrepancy : Discrepancy
    values : (shapelets, channels, knots) tensor
    lengths : (shapelets,) tensor
    search : "grid" or "exact"
        As many evenly spaced offsets as the path has observations (on a regularly sampled path: every
        sample and the last possible start), or the true minimum over continuous offsets.
    backend : "auto", "convolution", "fft", "compiled" or "reference"
        What does the work. "convolution" and "fft" take a grid on regularly sampled paths of one
        common step, "compiled" takes anything, "reference" is the slow and obvious grid search.
        "auto" takes the fastest that applies.
    ahead : Ahead, optional
        What the discrepancy has prepared. The convolution begins to evaluate while it searches.
    """
    if isinstance(discrepancy, ClassicalDiscrepancy):
        if search != "grid" or backend not in ("auto", "convolution", "fft"):
            raise ValueError(
                'the classical discrepancy is searched with search="grid" and backend="auto", '
                f'"convolution" or "fft"; got {search!r} and {backend!r}.'
            )
        return search_classical(paths, values, backend)
    if not isinstance(discrepancy, L2Discrepancy):
        raise TypeError(f"no search is known for {type(discrepancy).__name__}.")
    _check_backend(paths, search, backend)
    arrays = discrepancy.arrays(values, lengths) if ahead is None else ahead.arrays
    if backend == "reference":
        return _reference(paths, discrepancy, arrays)
    problems = pose_l2(paths, arrays)
    if len(problems) == 1:
        return _search(problems[0], search, backend, values.device, ahead)
    parts = [_search(problem, search, backend, values.device, None) for problem in problems]
    return Offsets.concatenate(parts)


def _check_backend(paths: Paths, search: str, backend: str) -> None:
    if search == "exact" and backend not in ("auto", "compiled"):
        raise ValueError(
            f'the exact search runs on backend="compiled" (or "auto"); got {backend!r}.'
        )
    if backend in ("convolution", "fft") and not paths.common_step:
        raise ValueError(
            f"backend={backend!r} needs regularly sampled series with one common step; series "
            f"{paths.odd_one()} "
            'is irregular or has another step. Use backend="compiled" or "auto".'
        )


def _search(
    problem: L2Problem, search: str, backend: str, device: torch.device, ahead: Ahead | None
) -> Offsets:
    if search == "exact":
        return search_exact(problem)
    if backend == "compiled" or not problem.paths.common_step:
        return search_compiled(problem)
    form = choose_form(problem) if backend == "auto" else backend
    if device.type == "cpu":
        return search_convolution(problem, form, ahead)
    return search_torch(problem, form, device)


@torch.no_grad()
def _reference(paths: Paths, discrepancy: L2Discrepancy, arrays: L2Arrays) -> Offsets:
    values, lengths = arrays.shapelets.transpose(0, 2, 1), arrays.lengths
    metrics = np.broadcast_to(
        discrepancy.matrix().cpu().double().numpy(), (len(values), *[values.shape[1]] * 2)
    )
    _, start = search_reference(paths, values, lengths, metrics, arrays.level_free)
    # How the found offset moves with the length: see list_offsets in `compiled`.
    room = paths.spans[:, None] - lengths
    share = start / np.where(room > 0, room, np.inf)
    slope = -np.where((paths.step > 0)[:, None], share == 1.0, share)
    return Offsets(start, slope, np.full(start.shape, FREE), "reference")
