"""Several discrepancies side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from .base import Discrepancy


class MixedDiscrepancy(Discrepancy):
    """Shapelets of several kinds in one model: the first few by one discrepancy, the next by another.

    Parameters
    ----------
    parts : sequence of Discrepancy
        None of them may count samples, as the classical one does: its shapelets have no length of
        their own.
    counts : sequence of int
        How many shapelets each part measures.

    Examples
    --------
    >>> from genshapelets import L2Discrepancy, MixedDiscrepancy
    >>> levels = L2Discrepancy(n_channels=2), L2Discrepancy(n_channels=2, level_free=True)
    >>> MixedDiscrepancy(levels, counts=[10, 5]).ignores_level(15).sum().item()
    5
    """

    def __init__(self, parts: Sequence[Discrepancy], counts: Sequence[int]) -> None:
        super().__init__()
        if not parts or len(parts) != len(counts) or min(counts) < 1:
            raise ValueError(
                "counts must hold one positive number of shapelets for each part; got "
                f"{list(counts)} for {len(parts)} parts."
            )
        for part in parts:
            if not isinstance(part, Discrepancy):
                raise TypeError(f"parts must be instances of Discrepancy; got {part!r}.")
            if part.counts_samples:
                raise ValueError(
                    f"{type(part).__name__} counts samples: its shapelets have no length of their own, "
                    "so it cannot stand beside others. Use L2Discrepancy."
                )
        self.parts = nn.ModuleList(parts)
        self.counts = [int(count) for count in counts]

    def forward(self, times: Tensor, path: Tensor, shapelet: Tensor) -> Tensor:
        """Let each part measure its own shapelets."""
        found = [
            part(times[..., own, :], path[..., own, :, :], shapelet[..., own, :, :])
            for part, own in self.shares()
        ]
        return torch.cat(found, dim=-1)

    def shares(self) -> list[tuple[Discrepancy, slice]]:
        """Each part, and which shapelets it measures."""
        ends = torch.tensor(self.counts).cumsum(0).tolist()
        own = [slice(end - count, end) for end, count in zip(ends, self.counts, strict=True)]
        parts: Any = self.parts
        return list(zip(parts, own, strict=True))

    def drawn(self, times: Tensor, path: Tensor, shapelet: Tensor) -> Tensor:
        """Each shapelet as its part compares it."""
        drawn = [
            part.drawn(times[..., own, :], path[..., own, :, :], shapelet[..., own, :, :])
            for part, own in self.shares()
        ]
        return torch.cat(drawn, dim=-3)

    def check(self, n_shapelets: int, n_channels: int) -> None:
        """Refuse shapelets that the parts were not made for."""
        if sum(self.counts) != n_shapelets:
            raise ValueError(
                f"there are {n_shapelets} shapelets, but the parts measure "
                f"{' + '.join(map(str, self.counts))}: set counts accordingly."
            )
        for part, own in self.shares():
            part.check(own.stop - own.start, n_channels)

    def chosen(self, shapelets: Sequence[int]) -> MixedDiscrepancy:
        """The discrepancy of some of the shapelets: a part for each run of those of the same part."""
        parts: list[Discrepancy] = []
        counts: list[int] = []
        part_of = np.repeat(np.arange(len(self.counts)), self.counts)[list(shapelets)]
        for run in np.split(np.asarray(shapelets), np.flatnonzero(np.diff(part_of)) + 1):
            part, own = self.shares()[part_of[sum(counts)]]
            parts.append(part.chosen((run - own.start).tolist()))
            counts.append(len(run))
        return MixedDiscrepancy(parts, counts)

    def leave_out(self, channels: Tensor) -> None:
        """Let each part leave out channels, if it can."""
        for part, own in self.shares():
            part.leave_out(channels[own])

    def channel_weights(self, n_channels: int) -> Tensor:
        """How much each channel counts, (shapelets, channels); each part on its own scale."""
        return self._each(lambda part, n: part.channel_weights(n_channels).expand(n, -1))

    def ignores_level(self, n_shapelets: int) -> Tensor:  # noqa: ARG002
        """Which shapelets see only the shape of a window, (shapelets,) bool."""
        return self._each(lambda part, n: part.ignores_level(n))

    def ignores_scale(self, n_shapelets: int) -> Tensor:  # noqa: ARG002
        """Which shapelets see a window's shape whatever its scale, too, (shapelets,) bool."""
        return self._each(lambda part, n: part.ignores_scale(n))

    def grows(self, n_shapelets: int) -> Tensor:  # noqa: ARG002
        """Of which shapelets the discrepancy grows with the length, (shapelets,) bool."""
        return self._each(lambda part, n: part.grows(n))

    def squares(self, n_shapelets: int) -> Tensor:  # noqa: ARG002
        """Of which shapelets the discrepancy is a sum of squares, (shapelets,) bool."""
        return self._each(lambda part, n: part.squares(n))

    def titles(self, n_shapelets: int) -> list[str]:  # noqa: ARG002
        """What explanations call the discrepancy of each shapelet."""
        return [title for part, own in self.shares() for title in part.titles(own.stop - own.start)]

    def config(self) -> dict[str, Any]:
        """Arguments that make this discrepancy again: see `Discrepancy`."""
        return {"parts": list(self.parts), "counts": self.counts}

    def extra_repr(self) -> str:
        """Describe the settings for `repr`."""
        return f"counts={self.counts}"

    def _each(self, ask: Callable[[Discrepancy, int], Tensor]) -> Tensor:
        return torch.cat([ask(part, own.stop - own.start) for part, own in self.shares()])
