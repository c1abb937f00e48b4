"""Where each shapelet fits each path best. Never differentiates."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor

from ..discrepancies import (
    ClassicalDiscrepancy,
    Discrepancy,
    DTWDiscrepancy,
    L2Discrepancy,
    LogSignatureDiscrepancy,
    MFCDiscrepancy,
    MixedDiscrepancy,
)
from ..names import CHOICES
from ..offsets import Offsets
from ..paths import Paths
from .classical import search_classical
from .dtw import search_dtw
from .everywhere import all_offsets
from .generic import search_generic
from .l2 import prepare_l2, search_l2
from .logsignature import search_logsignature
from .mfc import prepare_mfc, search_mfc

SEARCHES = CHOICES["search"]
BACKENDS = ("auto", "generic")

Search = Callable[[Discrepancy, Paths, Tensor, Tensor, str, int], Offsets | None]

Prepare = Callable[[Discrepancy, Paths, str], object]

# By exact type: a subclass may compute something else.
_FAST: dict[type[Discrepancy], Search] = {}
_PREPARE: dict[type[Discrepancy], Prepare] = {}


def register(kind: type[Discrepancy], search: Search, prepare: Prepare | None = None) -> None:
    """Let a function search for discrepancies of exactly this class.

    Without it, or on another device than the CPU, the generic search runs; an exact search, and one that
    counts samples, runs on any device.

    It takes (discrepancy, paths, values, lengths, search, n_best), as `best_offsets` does, and returns
    None for what it leaves to the generic search. ``prepare`` takes
    (discrepancy, paths, search) and does, by `Paths.prepared`, what depends on the paths alone.
    """
    _FAST[kind] = search
    if prepare is not None:
        _PREPARE[kind] = prepare


register(L2Discrepancy, search_l2, lambda _, paths, search: prepare_l2(paths, search))
register(LogSignatureDiscrepancy, search_logsignature)
register(ClassicalDiscrepancy, search_classical)
register(DTWDiscrepancy, search_dtw)
register(MFCDiscrepancy, search_mfc, prepare_mfc)


def has_fast_search(discrepancy: Discrepancy) -> bool:
    """Whether a search is registered for this class, so that its formula need not try every offset."""
    return type(discrepancy) in _FAST


def prepare_paths(discrepancy: Discrepancy, paths: Paths, search: str) -> None:
    """Prepare paths for many searches: batches that are chosen from them need not be prepared again."""
    if isinstance(discrepancy, MixedDiscrepancy):
        for part, _ in discrepancy.shares():
            prepare_paths(part, paths, search)
    prepare = _PREPARE.get(type(discrepancy))
    if prepare is not None:
        prepare(discrepancy, paths, search)


def search_mixed(
    discrepancy: Discrepancy,
    paths: Paths,
    values: Tensor,
    lengths: Tensor,
    search: str,
    n_best: int,
) -> Offsets:
    """Let each part of a mixed discrepancy search for its own shapelets."""
    assert isinstance(discrepancy, MixedDiscrepancy)
    found = [
        best_offsets(part, paths, values[own], lengths[own], search=search, n_best=n_best)
        for part, own in discrepancy.shares()
    ]
    return Offsets.joined(found)


register(MixedDiscrepancy, search_mixed)


def best_offsets(
    discrepancy: Discrepancy,
    paths: Paths,
    values: Tensor,
    lengths: Tensor,
    *,
    search: str = "auto",
    backend: str = "auto",
    n_best: int | None = 1,
) -> Offsets:
    """Find the offsets of least discrepancy, for every path and shapelet.

    Parameters
    ----------
    discrepancy : Discrepancy
    paths : Paths
    values : (shapelets, channels, knots) tensor
    lengths : (shapelets,) tensor
    search : "auto", "grid", "refined" or "exact"
        "grid": on a regularly sampled path every sample and the last possible start, on another one as
        many evenly spaced offsets as it has observations. "refined": from the best few of such offsets
        to the local minimum over continuous ones. "exact": the true minimum over continuous offsets
        (L2 only). "auto": "grid" on regularly sampled paths, "refined" on others.
    backend : "auto" or "generic"
        What the class of the discrepancy has registered, if anything, or its formula at every offset.
    n_best : int, optional
        How many candidates: the best local minima. None: all offsets of the grid, none searched for.
    """
    found = None
    on_cpu = values.device.type == "cpu"
    fast = _FAST.get(type(discrepancy))
    if fast is None and discrepancy.counts_samples:
        raise TypeError(
            f"{type(discrepancy).__name__} counts samples, but no search is registered for this class: "
            "use genshapelets.search.register and genshapelets.evaluation.register, or measure in "
            "continuous time."
        )
    if n_best is None:
        own = lengths.detach().cpu().double().numpy()
        return all_offsets(discrepancy, paths, values.shape[2], own, search)
    if discrepancy.counts_samples or search == "exact" or (backend == "auto" and on_cpu):
        if fast is not None:
            found = fast(discrepancy, paths, values.detach(), lengths.detach(), search, n_best)
    if found is not None:
        return found
    if search == "exact":
        raise ValueError(
            f'search="exact" is not known for {type(discrepancy).__name__}. Use "refined".'
        )
    return search_generic(discrepancy, paths, values.detach(), lengths.detach(), search, n_best)
