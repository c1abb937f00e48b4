"""Any discrepancy on any device: its formula on windows, chunk by chunk, gradients by autograd."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.func import functional_call
from torch.utils.checkpoint import checkpoint

from ..discrepancies import Discrepancy
from ..offsets import Offsets
from ..paths import Paths
from ..windows import PaddedPaths, lay, wide_dtype

MAX_ELEMENTS = 2**22  # of the largest tensor of one chunk

Measure = Callable[[Discrepancy, PaddedPaths, Tensor, Tensor, Tensor], Tensor]


def evaluate_generic(
    discrepancy: Discrepancy,
    paths: Paths,
    values: Tensor,
    lengths: Tensor,
    offsets: Offsets,
    measure: Measure | None = None,
    n_nodes: int = 0,
) -> Tensor:
    """Discrepancies (series, shapelets, candidates): see `genshapelets.evaluation.evaluate`.

    A chunk's windows are laid again in the backward pass rather than kept. ``measure`` may take the
    place of `checked`; ``n_nodes`` is then how many numbers for each channel of a window it needs.
    """
    measure = measure or checked
    dtype = wide_dtype(values.device)
    wide_values, wide_lengths = values.to(dtype), lengths.to(dtype)
    start, slope = (
        torch.from_numpy(x).to(values.device, dtype).transpose(1, 2)
        for x in (offsets.start, offsets.slope)
    )
    # Through the offset runs the part of the length's gradient that moves the window.
    start = start + slope * (wide_lengths - wide_lengths.detach())

    def chunk(first: int, last: int, start: Tensor, values: Tensor, lengths: Tensor) -> Tensor:
        padded = PaddedPaths.of(paths[first:last], values.device)
        return measure(discrepancy, padded, start, values, lengths)

    n_shapelets, n_channels, n_knots = values.shape
    n_nodes = max(n_nodes, int(paths.lengths.max()) + n_knots)
    found = in_chunks(chunk, start, (wide_values, wide_lengths), n_shapelets * n_nodes * n_channels)
    return found.transpose(1, 2).to(values.dtype)


def in_chunks(
    function: Callable[..., Tensor],
    start: Tensor,
    tensors: tuple[Tensor, ...],
    per_offset: int,
    most: int | None = None,
) -> Tensor:
    """Results (series, offsets, …) of a function of starts (series, offsets, …), chunk by chunk.

    It takes (first series, last, their starts or some of them, *tensors). A chunk holds as many series,
    or if one is too large as many of its offsets, as ``most`` elements (`MAX_ELEMENTS`) allow at
    ``per_offset`` for each offset. If there are several they are computed again in the backward pass.
    """
    most = most or MAX_ELEMENTS
    n_series, n_offsets = start.shape[:2]
    width = min(max(1, most // per_offset), n_offsets)
    size = max(1, most // (per_offset * n_offsets))
    again = torch.is_grad_enabled() and (size < n_series or width < n_offsets)
    rows = []
    for first in range(0, n_series, size):
        last = min(first + size, n_series)
        parts = []
        for some in start[first:last].split(width, dim=1):
            arguments = (first, last, some, *tensors)
            parts.append(
                checkpoint(function, *arguments, use_reentrant=False)
                if again
                else function(*arguments)
            )
        rows.append(torch.cat(parts, dim=1) if len(parts) > 1 else parts[0])
    return torch.cat(rows)


def checked(
    discrepancy: Discrepancy, paths: PaddedPaths, start: Tensor, values: Tensor, lengths: Tensor
) -> Tensor:
    """Discrepancies (series, offsets, shapelets) at starts of that shape; refuse what cannot be one."""
    name = type(discrepancy).__name__
    window = lay(paths, start, values, lengths)
    # In the dtype of the windows: a formula may multiply matrices.
    tensors = {
        name: tensor.to(start.dtype) if tensor.is_floating_point() else tensor
        for name, tensor in (*discrepancy.named_parameters(), *discrepancy.named_buffers())
    }
    found = functional_call(discrepancy, tensors, tuple(window))
    if not isinstance(found, Tensor) or found.shape != start.shape:
        got = f"shape {tuple(found.shape)}" if isinstance(found, Tensor) else repr(found)
        raise ValueError(
            f"{name}.forward must return one number for each window, shape {tuple(start.shape)}, for "
            f"times {tuple(window.times.shape)} and values {tuple(window.path.shape)}; got {got}. "
            "Sum over the last two axes, knots and channels."
        )
    wrong = torch.isnan(found) | (found < 0)
    if wrong.any():
        at = tuple(wrong.nonzero()[0].tolist())
        own = (values[at[2]], lengths[at[2]], *tensors.values())
        if not all(torch.isfinite(tensor).all() for tensor in own):
            raise ValueError(
                f"shapelet {at[2]} or a parameter of {name} is NaN or infinite: training has diverged. "
                "Lower the learning rate, or look for NaN in the loss."
            )
        raise ValueError(
            f"{name}.forward must return numbers that are not negative; got {float(found[at])!r} for "
            f"shapelet {at[2]} at offset {float(start[at]):g}. Neighbouring knots may coincide: see "
            "that no difference of times is divided by."
        )
    if window.shapelet.requires_grad and not found.requires_grad:
        raise ValueError(
            f"{name}.forward must be differentiable in the shapelet; its result has no gradient. Use "
            "torch operations throughout, without detach, numpy or no_grad."
        )
    return found
