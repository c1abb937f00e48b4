"""The log-signature discrepancy at given offsets.

Log-signatures of shapelets are made once, not once for each series. A window depends on the shapelet's
length alone, by where it begins and ends: its derivative is found forwards, with the value.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.autograd import forward_ad

from ..discrepancies import Discrepancy, LogSignatureDiscrepancy
from ..offsets import Offsets
from ..paths import Paths
from ..signatures import Words, log_coordinates, lyndon_level, signature
from ..windows import PaddedPaths, sample_paths
from .generic import in_chunks

MAX_ELEMENTS = 2**24  # of the largest tensor of one chunk
CACHE = 2**18  # numbers that stay in the cache


def evaluate_logsignature(
    discrepancy: Discrepancy, paths: Paths, values: Tensor, lengths: Tensor, offsets: Offsets
) -> Tensor:
    """Discrepancies (series, shapelets, candidates): see `genshapelets.evaluation.evaluate`."""
    assert isinstance(discrepancy, LogSignatureDiscrepancy)
    check_finite(discrepancy, values, lengths)
    wide = lengths.double()
    targets = shapelet_coordinates(discrepancy, values.double(), wide)
    start, slope = (torch.from_numpy(x).transpose(1, 2) for x in (offsets.start, offsets.slope))
    laid = torch.cat([start, slope], dim=2)

    def chunk(first: int, last: int, laid: Tensor, targets: Tensor, lengths: Tensor) -> Tensor:
        start, slope = laid.tensor_split(2, dim=2)
        now = lengths.detach()
        padded = PaddedPaths.of(paths[first:last], values.device)
        found, rate = window_coordinates(discrepancy, padded, start, slope, now)
        difference = found + rate * (lengths - now)[:, None] - targets
        if discrepancy.include_time:  # which both take in full: only rounding differs
            time = torch.tensor(discrepancy.n_channels, device=values.device)
            difference = difference.index_fill(-1, time, 0.0)
        return discrepancy.norm(difference)

    per_window = discrepancy.n_coordinates + int(paths.lengths.max()) * discrepancy.n_letters
    found = in_chunks(chunk, laid, (targets, wide), len(values) * per_window, MAX_ELEMENTS)
    found = found.transpose(1, 2)
    if found.isnan().any():
        n, k, _ = found.isnan().nonzero()[0].tolist()
        raise ValueError(
            f"the log-signature of shapelet {k} or of its window of series {n} is too large for "
            "float64. Standardise the series, or take a smaller depth."
        )
    return found.to(values.dtype)


@torch.no_grad()
def window_coordinates(
    discrepancy: LogSignatureDiscrepancy,
    paths: PaddedPaths,
    start: Tensor,
    slope: Tensor,
    lengths: Tensor,
) -> tuple[Tensor, Tensor]:
    r"""Log-signatures (series, offsets, shapelets, coordinates) of windows, and their rate in lengths.

    .. math:: d\,\mathrm{Sig}(s, s + S) / dS = -\dot s f'(s) \, \mathrm{Sig}
        + (1 + \dot s) \, \mathrm{Sig} \, f'(s + S)
    """
    knots, shape = paths.knots, start.shape
    since, until = start[..., None], (start + lengths)[..., None]
    first = torch.searchsorted(knots, start.flatten(1).contiguous()).reshape(*shape, 1)
    after = torch.searchsorted(knots, until.flatten(1), right=True).reshape(*shape, 1)
    row = first + torch.arange(int((after - first).clamp(min=0).max()), device=start.device)
    inside = knots.gather(1, row.flatten(1).clamp(max=knots.shape[1] - 1)).reshape(row.shape)
    times = torch.cat([since, torch.where(row < after, inside, until), until], dim=-1)
    ends = torch.cat([since, until], dim=-1)
    _, speed = _with_rate(lambda t: sample_paths(paths, t), (ends, torch.ones_like(ends)))
    letters = discrepancy.letters(times - since, sample_paths(paths, times))
    speed = discrepancy.letters(torch.ones_like(ends), speed)
    moved = torch.stack([-slope, 1 + slope], dim=-1)[..., None]
    increments, moved = letters.diff(dim=-2).flatten(0, 2), (moved * speed).flatten(0, 2)
    words = lyndon_level(discrepancy.n_letters, discrepancy.depth)
    size = max(1, CACHE // (increments.shape[1] * discrepancy.n_letters ** (words.depth - 1)))
    chunks = zip(increments.split(size), moved.split(size), strict=True)
    parts = [_coordinates_and_rate(*chunk, words) for chunk in chunks]
    found, rate = (torch.cat(x).reshape(*shape, -1) for x in zip(*parts, strict=True))
    return found, rate


def _coordinates_and_rate(increments: Tensor, moved: Tensor, words: Words) -> tuple[Tensor, Tensor]:
    """Log-signatures (windows, coordinates) of pieces whose first and last end move, and their rate."""
    levels = signature(increments, words.depth)
    left, right = moved[:, 0], moved[:, 1]
    rates = [left + right]
    for level in levels[:-1]:
        from_left = left[:, :, None] * level[:, None]
        from_right = level[:, :, None] * right[:, None]
        rates.append(from_left.flatten(1) + from_right.flatten(1))
    at = words.places(0, words.depth)
    state, moving = (
        [*(level.T for level in x[:-1]), x[-1].index_select(1, at).T] for x in (levels, rates)
    )
    pairs = zip(state, moving, strict=True)
    found, rate = _with_rate(lambda *z: log_coordinates(list(z), words), *pairs)
    return found.T, rate.T


def _with_rate(
    function: Callable[..., Tensor], *arguments: tuple[Tensor, Tensor]
) -> tuple[Tensor, Tensor]:
    """Value of a function of (value, rate) pairs, and its rate (forward differentiation)."""
    with forward_ad.dual_level():
        duals = [forward_ad.make_dual(*pair) for pair in arguments]
        found, rate = forward_ad.unpack_dual(function(*duals))
    return found, torch.zeros_like(found) if rate is None else rate


def check_finite(discrepancy: LogSignatureDiscrepancy, values: Tensor, lengths: Tensor) -> None:
    """Refuse what a training that diverges leaves behind."""
    own = values.flatten(1).isfinite().all(dim=1) & lengths.isfinite()
    weight = discrepancy.weight
    if own.all() and (weight is None or weight.isfinite().all()):
        return
    what = "the metric" if own.all() else f"shapelet {int((~own).nonzero()[0])}"
    raise ValueError(
        f"{what} is NaN or infinite: training has diverged. Lower the learning rate, or look for NaN "
        "in the loss."
    )


def shapelet_coordinates(
    discrepancy: LogSignatureDiscrepancy, values: Tensor, lengths: Tensor
) -> Tensor:
    """Log-signatures (shapelets, coordinates) of shapelets, differentiable in values and lengths."""
    share = torch.linspace(0, 1, values.shape[2], dtype=lengths.dtype, device=lengths.device)
    return discrepancy.coordinates(share * lengths[:, None], values.transpose(1, 2))
