"""Where each shapelet fits each path best. Never differentiates."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..discrepancies import ClassicalDiscrepancy, Discrepancy, L2Discrepancy
from ..offsets import FREE, Offsets, Then
from ..paths import Array, Paths
from .classical import search_classical
from .compiled import search_compiled
from .convolution import begin_convolution
from .exact import search_exact
from .lattice import choose_form
from .problem import L2Problem, pose_l2
from .reference import search_reference

SEARCHES = ("grid", "exact")
BACKENDS = ("auto", "convolution", "fft", "compiled", "reference")


def check_lengths(lengths: Tensor) -> None:
    """Refuse lengths that are not numbers."""
    spans = _numbers(lengths)
    if not np.isfinite(spans).all():
        k = int(np.isfinite(spans).argmin())
        raise ValueError(
            f"the length of shapelet {k} is {float(spans[k])!r}: training has diverged. Lower the "
            "learning rate, or look for NaN in the loss."
        )


def _numbers(tensor: Tensor) -> NDArray[Any]:
    """Return float32 or float64 as an array, other floats as float64."""
    tensor = tensor.detach().cpu()
    return (tensor if tensor.dtype in (torch.float32, torch.float64) else tensor.double()).numpy()


def begin_search(
    paths: Paths,
    discrepancy: Discrepancy,
    values: Tensor,
    lengths: Tensor,
    search: str = "grid",
    backend: str = "auto",
    then: Then | None = None,
) -> Callable[[], Offsets]:
    """Begin to find the offset of least discrepancy, for every path and shapelet.

    Other threads, if there are any, begin at once. The result joins in and returns the offsets.

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
    then : callable, optional
        Called as soon as some paths are searched, on the thread that did it, with the array of
        indices (see `Offsets`) and the numbers of these paths; or never.
    """
    if isinstance(discrepancy, ClassicalDiscrepancy):
        if search != "grid" or backend not in ("auto", "convolution", "fft"):
            raise ValueError(
                'the classical discrepancy is searched with search="grid" and backend="auto", '
                f'"convolution" or "fft"; got {search!r} and {backend!r}.'
            )
        return partial(search_classical, paths, values, backend)
    if not isinstance(discrepancy, L2Discrepancy):
        raise TypeError(f"no search is known for {type(discrepancy).__name__}.")
    _check_backend(paths, search, backend)
    spans, shapelets = _numbers(lengths).astype(np.float64), _numbers(values)
    if backend == "reference":
        return partial(_reference, paths, discrepancy, shapelets, spans, values.device)
    problems = pose_l2(paths, discrepancy, shapelets, spans)
    if len(problems) == 1:
        return _begin(problems[0], search, backend, values.device, then)

    def one_by_one() -> Offsets:
        parts = [_begin(problem, search, backend, values.device, None)() for problem in problems]
        return Offsets(
            torch.cat([part.start for part in parts], dim=1),
            torch.cat([part.slope for part in parts], dim=1),
            torch.cat([part.index for part in parts], dim=1),
            parts[0].backend,
        )

    return one_by_one


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


def _begin(
    problem: L2Problem, search: str, backend: str, device: torch.device, then: Then | None
) -> Callable[[], Offsets]:
    if search == "exact":
        return lambda: _move(search_exact(problem), device)
    if backend == "compiled" or not problem.paths.common_step:
        return lambda: _move(search_compiled(problem), device)
    form = choose_form(problem) if backend == "auto" else backend
    return begin_convolution(problem, form, device, then)


def _move(found: Offsets, device: torch.device) -> Offsets:
    if device.type == "cpu":
        return found
    dtype = torch.float32 if device.type == "mps" else torch.float64
    start, slope = found.start.to(device, dtype), found.slope.to(device, dtype)
    return Offsets(start, slope, found.index.to(device), found.backend)


@torch.no_grad()
def _reference(
    paths: Paths, discrepancy: L2Discrepancy, values: Array, lengths: Array, device: torch.device
) -> Offsets:
    metrics = np.broadcast_to(
        discrepancy.matrix().cpu().double().numpy(), (len(values), *[values.shape[1]] * 2)
    )
    level_free = discrepancy.level_free_of(len(values)).cpu().numpy()
    _, start = search_reference(paths, values, lengths, metrics, level_free)
    # How the found offset moves with the length: see list_offsets in `compiled`.
    room = paths.spans[:, None] - lengths
    share = start / np.where(room > 0, room, np.inf)
    slope = -np.where((paths.step > 0)[:, None], share == 1.0, share)
    index = torch.full(start.shape, FREE)
    return Offsets(
        torch.from_numpy(start).to(device), torch.from_numpy(slope).to(device), index.to(device),
        "reference",
    )  # fmt: skip
