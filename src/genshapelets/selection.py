"""Shapelets chosen by search: the windows of training series that tell targets apart best.

After Ye and Keogh (2009): a candidate's discrepancies from all series are split at the best threshold,
and the candidates of the highest gain are taken (see `Splits`). Candidates are compared with one block
of series after another; one that cannot become one of the best any more is dropped.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from .discrepancies import Discrepancy
from .evaluation import evaluate
from .initial import windows_at
from .paths import Array, Index, Paths
from .search import best_offsets, prepare_paths
from .splits import ROUNDING, Splits

AT_A_TIME = 128  # candidates
MOST_BLOCKS = 4  # of series
LEAST_BLOCK = 8  # series

Share = tuple[Index, int]  # candidates of a class, and how many of them are to be chosen


@dataclass(frozen=True)
class Candidates:
    """Windows of training series.

    Attributes
    ----------
    series : (candidates,) array
    start : (candidates,) array
        In the series' own time.
    lengths : (candidates,) array
    """

    series: Index
    start: Array
    lengths: Array

    def __len__(self) -> int:
        return len(self.series)

    def cut(self, paths: Paths, chosen: Index, n_knots: int) -> Array:
        """Values of the chosen ones at evenly spaced knots, (chosen, channels, knots)."""
        return windows_at(
            paths, self.series[chosen], self.start[chosen], self.lengths[chosen], n_knots
        )


class Chosen(NamedTuple):
    """The best candidates, best first.

    Attributes
    ----------
    values : (shapelets, channels, knots) array
    lengths : (shapelets,) array
    gain : (shapelets,) array
        In bits, or in squares of the target's unit.
    threshold : (shapelets,) array
        Discrepancy that separates best: halfway between two series.
    series : (shapelets,) array
        From which each was cut.
    start : (shapelets,) array
        Where, in the series' own time.
    index : (shapelets,) array
        Which candidate each was.
    n_compared : int
        Candidates were compared with series this many times; all with all would be their product.
    """

    values: Array
    lengths: Array
    gain: Array
    threshold: Array
    series: Index
    start: Array
    index: Index  # type: ignore[assignment]  # tuple has a method of this name
    n_compared: int


def draw_candidates(
    paths: Paths,
    lengths: Array,
    n_candidates: int | None,
    target: NDArray[Any],
    random: np.random.Generator,
) -> Candidates:
    """Windows of given lengths that start at observations, all of them or some at random, none twice.

    Parameters
    ----------
    paths : Paths
    lengths : (lengths,) array
        Each is tried on every series. Of a series shorter than that there is one window, held at the
        last value.
    n_candidates : int, optional
        Default: all.
    target : (series,) array
        If they are integers, classes, which take turns, so that a rare one gets its candidates too.
    random : numpy.random.Generator
    """
    lengths = np.asarray(lengths, dtype=np.float64)
    if lengths.ndim != 1 or not len(lengths) or not ((lengths > 0) & (lengths < np.inf)).all():
        raise ValueError(f"lengths must be positive numbers, at least one; got {lengths!r}.")
    if n_candidates is not None and n_candidates < 1:
        raise ValueError(f"n_candidates must be at least 1, or None for all; got {n_candidates}.")
    room = np.maximum(paths.spans[:, None] - lengths, 0.0)
    n_starts = np.stack(
        [np.add.reduceat(paths.knots <= np.repeat(room[:, k], paths.lengths), paths.row_offsets[:-1])
         for k in range(len(lengths))], axis=1,
    ).astype(np.int64)  # fmt: skip
    drawn, turn = [], []
    for group in _classes(target):
        until = n_starts[group].cumsum()
        size = int(until[-1]) if n_candidates is None else min(n_candidates, int(until[-1]))
        number = random.choice(until[-1], size, replace=False)
        cell = np.searchsorted(until, number, side="right")
        row = number - until[cell] + n_starts[group].ravel()[cell]
        drawn.append(np.stack([group[cell // len(lengths)], cell % len(lengths), row]))
        turn.append(np.arange(size))
    order = np.argsort(np.concatenate(turn), kind="stable")[:n_candidates]
    series, which, row = np.concatenate(drawn, axis=1)[:, order]
    start = paths.origin[series] + paths.knots[paths.row_offsets[series] + row]
    return Candidates(series, start, lengths[which])


def choose_shapelets(
    paths: Paths,
    target: NDArray[Any],
    discrepancy: Discrepancy,
    candidates: Candidates,
    n_shapelets: int,
    n_knots: int,
    *,
    search: str = "auto",
    prune: bool = True,
) -> Chosen:
    """Choose the candidates whose discrepancies separate the targets best.

    Every class gets its share of shapelets, cut from its own series, if there are enough of them. Of
    two windows of one series that share more than half of the shorter one only the better is taken,
    unless there are too few others. Of equal gains the one whose two sides are further apart, relative
    to the mean, is better.

    Parameters
    ----------
    paths : Paths
    target : (series,) array
        Integers: classes. Floats: numbers.
    discrepancy : Discrepancy
        Of the candidates: if shapelets have parameters of their own, it has them for each candidate.
    candidates : Candidates
        See `draw_candidates`.
    n_shapelets : int
        If there are fewer candidates, all of them are chosen.
    n_knots : int
        Points at which a window is read, evenly spaced.
    search : str
        As in `best_offsets`.
    prune : bool
        Drop a candidate as soon as no discrepancies from the series still to come could make it one of
        the best. That changes no result.
    """
    if len(target) != len(paths):
        raise ValueError(
            f"target must have one entry for each of the {len(paths)} series; got {len(target)}."
        )
    if n_shapelets < 1:
        raise ValueError(f"n_shapelets must be at least 1; got {n_shapelets}.")
    if np.issubdtype(target.dtype, np.integer) and len(np.unique(target)) < 2:
        raise ValueError("shapelets are chosen by what separates classes; target has one class.")
    discrepancy.check(len(candidates), paths.n_channels)
    prepare_paths(discrepancy, paths, search)
    shares = _shares(candidates, target, n_shapelets)
    measured = _Measured(paths, discrepancy, candidates, n_knots, search)
    first_of = target.reshape(len(target), -1)[:, 0]
    order = np.argsort(first_of, kind="stable")  # every n-th of them: a block is like the whole
    n_blocks = max(1, min(MOST_BLOCKS, len(paths) // LEAST_BLOCK))
    blocks = [order[first::n_blocks] for first in range(n_blocks)]
    gain, gap, threshold, n_compared = _gains(
        measured, Splits(target), blocks, shares if prune else []
    )
    rank = np.lexsort((-gap, -gain.round(12)))
    taken = np.concatenate(
        [_different(candidates, rank[np.isin(rank, members)], share) for members, share in shares]
    )
    taken = rank[np.isin(rank, taken)]
    return Chosen(
        values=candidates.cut(paths, taken, n_knots),
        lengths=candidates.lengths[taken],
        gain=gain[taken],
        threshold=threshold[taken],
        series=candidates.series[taken],
        start=candidates.start[taken],
        index=taken,
        n_compared=n_compared,
    )


class _Measured(NamedTuple):
    """Candidates, and how their discrepancies from paths are found."""

    paths: Paths
    discrepancy: Discrepancy
    candidates: Candidates
    n_knots: int
    search: str

    @torch.no_grad()
    def discrepancies(self, paths: Paths, chosen: Index) -> Array:
        """Least discrepancies of the chosen candidates, (series, chosen)."""
        values = torch.from_numpy(self.candidates.cut(self.paths, chosen, self.n_knots))
        lengths = torch.from_numpy(self.candidates.lengths[chosen])
        own = self.discrepancy.chosen(chosen.tolist())
        offsets = best_offsets(own, paths, values, lengths, search=self.search)
        return evaluate(own, paths, values, lengths, offsets)[..., 0].numpy()


def _gains(
    measured: _Measured, splits: Splits, blocks: list[Index], shares: list[Share]
) -> tuple[Array, Array, Array, int]:
    """Gain, gap and threshold of each candidate, and how many comparisons that took.

    The gain of one that was dropped is minus infinity. Without shares none is.
    """
    candidates = measured.candidates
    parts = [measured.paths[block] for block in blocks]
    gain, gap, threshold = np.full((3, len(candidates)), -np.inf)
    floor = np.full(len(candidates), -np.inf)
    n_compared = 0
    for first in range(0, len(candidates), AT_A_TIME):
        alive = np.arange(first, min(first + AT_A_TIME, len(candidates)))
        for members, share in shares:
            floor[members] = _floor(gain[members], candidates.series[members], share)
        found = measured.discrepancies(parts[0], alive)
        n_compared += found.size
        for n_seen, part in enumerate(parts[1:], start=1):
            if floor[alive].max() > -np.inf:
                bound = splits.bound(found, np.concatenate(blocks[:n_seen]))
                hope = bound >= floor[alive] - ROUNDING
                alive, found = alive[hope], found[:, hope]
            if not len(alive):
                break
            more = measured.discrepancies(part, alive)
            n_compared += more.size
            found = np.concatenate([found, more])
        else:
            gain[alive], gap[alive], threshold[alive] = splits.best(found, np.concatenate(blocks))
    return gain, gap, threshold, n_compared


def _classes(target: NDArray[Any]) -> list[Index]:
    """Series of each class; all of them if targets are numbers."""
    if not np.issubdtype(target.dtype, np.integer):
        return [np.arange(len(target))]
    return [np.flatnonzero(target == code) for code in np.unique(target)]


def _shares(candidates: Candidates, target: NDArray[Any], n_shapelets: int) -> list[Share]:
    """Candidates of each class, and how many of them are to be chosen: in turn, while there are some.

    Of all classes together if there are fewer shapelets than classes.
    """
    classes = _classes(target)
    if n_shapelets < len(classes):
        classes = [np.arange(len(target))]
    groups = [np.flatnonzero(np.isin(candidates.series, members)) for members in classes]
    sizes = np.array([len(group) for group in groups])
    shares = np.zeros_like(sizes)
    while shares.sum() < min(n_shapelets, sizes.sum()):
        open_ = np.flatnonzero(shares < sizes)
        shares[open_[shares[open_].argmin()]] += 1
    return [(group, int(share)) for group, share in zip(groups, shares, strict=True)]


def _floor(gain: Array, series: Index, share: int) -> float:
    """Gain without which no candidate of a class can be chosen any more.

    Windows that cover each other may oust one another, but the best of each series stays.
    """
    best = np.full(series.max() + 1, -np.inf)
    np.maximum.at(best, series, gain)
    return float(np.sort(best)[-share]) if share <= len(best) else -np.inf


def _different(candidates: Candidates, ranked: Index, share: int) -> Index:
    """The first of ranked candidates that do not cover each other; filled up with the next ones."""
    series, start, lengths = candidates.series, candidates.start, candidates.lengths
    taken: list[int] = []
    left: list[int] = []
    for k in ranked:
        if len(taken) == share:
            break
        rivals = [j for j in taken if series[j] == series[k]]
        common = np.minimum(start[k] + lengths[k], start[rivals] + lengths[rivals])
        common = common - np.maximum(start[k], start[rivals])
        is_new = (common <= 0.5 * np.minimum(lengths[k], lengths[rivals])).all()
        (taken if is_new else left).append(int(k))
    return np.array((taken + left)[:share])
