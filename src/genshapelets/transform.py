"""The generalised shapelet transform: search, then evaluate at the best offset with gradients."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import torch
from numpy.typing import ArrayLike
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.func import functional_call

from .discrepancies import Discrepancy, L2Discrepancy
from .evaluation import evaluate
from .minimum import Minimum
from .paths import Paths, check_fill, paths_of
from .search import BACKENDS, SEARCHES, best_offsets
from .series import RaggedSeries
from .shapelets import ShapeletFamily, Shapelets, as_tensor
from .shown import count

MAX_CANDIDATES = 2**20  # at a time, if all offsets are


@dataclass(frozen=True, eq=False, repr=False)
class Matches:
    """How well each shapelet fits each series, and where.

    Attributes
    ----------
    discrepancy : (series, shapelets) tensor
        Least discrepancy; differentiable.
    start : (series, shapelets) float64 tensor
        When the best window starts, in the series' own time. It ends one shapelet length later.
    backend : str
        Which search ran: "lattice", "exact", "convolution" or "generic"; "grid" if none did, because
        all offsets of the grid count.
    """

    discrepancy: Tensor
    start: Tensor
    backend: str

    def __repr__(self) -> str:
        n_series, n_shapelets = self.discrepancy.shape
        return f"Matches({count(n_series, 'series')}, {count(n_shapelets, 'shapelet')}, {self.backend})"


class GeneralisedShapeletTransform(nn.Module):
    r"""Series become vectors: the discrepancy of each shapelet at the best place.

    .. math:: \sigma_k(f) = \min_{s \in [t_0, t_{T-1} - S_k]} \pi(f|_{[s, s + S_k]}, w^k)

    Differentiable in the shapelets' values, their lengths and the metric. A series shorter than a
    shapelet is held at its last value and compared from its first time on.

    Parameters
    ----------
    shapelets : ShapeletFamily
    discrepancy : Discrepancy
    search : "auto", "grid", "refined" or "exact"
        Which offsets are tried. "grid": every sample and the last possible start, or as many evenly
        spaced ones as there are observations; "refined": on from there to the local minimum over
        continuous offsets; "exact": the true minimum. "auto": "grid" on regularly sampled series,
        "refined" on others. See `genshapelets.search.best_offsets`.
    backend : "auto" or "generic"
        "generic" evaluates the discrepancy's formula at every offset, on any device: slow and obvious.
        "auto" is faster where the discrepancy knows a faster way.
    minimum : Minimum, optional
        How candidates become one number; default: the least. `SoftMinimum` looks at the best few
        local minima, `Softmin` at all offsets of the grid.
    fill : number or (channels,) array
        Value of a channel in a series that never observes it.

    Examples
    --------
    A bump is found where it is.

    >>> from genshapelets import GeneralisedShapeletTransform
    >>> transform = GeneralisedShapeletTransform.from_shapelets([[[0.0, 1.0, 0.0]]], lengths=[2.0])
    >>> matches = transform([[[0.0, 0.0, 0.0, 1.0, 0.0, 0.0]]])
    >>> matches.start.item(), matches.discrepancy.item()
    (2.0, 0.0)
    """

    def __init__(
        self,
        shapelets: ShapeletFamily,
        discrepancy: Discrepancy,
        *,
        search: str = "auto",
        backend: str = "auto",
        minimum: Minimum | None = None,
        fill: ArrayLike = 0.0,
    ) -> None:
        super().__init__()
        if search not in SEARCHES:
            raise ValueError(f"search must be one of {', '.join(SEARCHES)}; got {search!r}.")
        if backend not in BACKENDS:
            raise ValueError(f"backend must be one of {', '.join(BACKENDS)}; got {backend!r}.")
        _check_kind(discrepancy, shapelets.n_channels)
        discrepancy.check(shapelets.n_shapelets, shapelets.n_channels)
        check_fill(fill, shapelets.n_channels)
        if not isinstance(minimum, Minimum | None):
            raise TypeError(f"minimum must be a Minimum, such as SoftMinimum(); got {minimum!r}.")
        self.shapelets = shapelets
        self.discrepancy = discrepancy
        self.search = search
        self.backend = backend
        self.minimum = Minimum() if minimum is None else minimum
        self.fill = fill

    @classmethod
    def from_shapelets(
        cls,
        values: ArrayLike | Tensor,
        lengths: ArrayLike | Tensor | None = None,
        *,
        discrepancy: Discrepancy | None = None,
        max_length: float | None = None,
        search: str = "auto",
        backend: str = "auto",
        minimum: Minimum | None = None,
        fill: ArrayLike = 0.0,
    ) -> GeneralisedShapeletTransform:
        """Build a transform from given shapelets.

        Parameters
        ----------
        values : (shapelets, channels, knots) array
            Values at evenly spaced knots. Their dtype becomes the transform's.
        lengths : number or (shapelets,) array, optional
            Lengths in the unit of the series' times; default: one unit between neighbouring knots.
        discrepancy : Discrepancy, optional
            Default: ``L2Discrepancy(n_channels)``, L2 with a learnt scale for each channel. It is
            copied, in the dtype of the values.
        max_length : float, optional
            Upper bound of the lengths when they are learnt; default: twice the longest.
        search, backend, minimum, fill
            As for the class.
        """
        values = as_tensor(values, "values")
        if lengths is None:
            lengths = float(max(values.shape[-1] - 1, 1)) if values.ndim else 1.0
        shapelets = Shapelets(values, lengths, max_length)
        if discrepancy is None:
            discrepancy = L2Discrepancy(shapelets.n_channels)
        _check_kind(discrepancy, shapelets.n_channels)
        discrepancy = copy.deepcopy(discrepancy).to(dtype=values.dtype, device=values.device)
        return cls(
            shapelets, discrepancy, search=search, backend=backend, minimum=minimum, fill=fill
        )

    def forward(self, series: RaggedSeries | Paths | ArrayLike) -> Matches:
        """Match every shapelet with every series.

        Parameters
        ----------
        series : RaggedSeries, Paths, or whatever `RaggedSeries.from_arrays` takes
            A `RaggedSeries` that is matched again is not interpolated again.
        """
        paths = self._as_paths(series)
        size = len(paths)
        if self.minimum.n_best is None:
            per_path = self.shapelets.n_shapelets * int(paths.lengths.max())
            size = max(1, MAX_CANDIDATES // per_path)
        if size >= len(paths):
            return self._match(paths)
        names, parameters = zip(*self.named_parameters(), strict=True)
        parts = [
            _Part.apply(self, paths[first : first + size], names, *parameters)  # type: ignore[no-untyped-call]
            for first in range(0, len(paths), size)
        ]
        discrepancy, start = (torch.cat(tensors) for tensors in zip(*parts, strict=True))
        return Matches(discrepancy, start, "grid")

    def _match(self, paths: Paths) -> Matches:
        values, lengths = self.shapelets.values, self.shapelets.lengths
        offsets = best_offsets(
            self.discrepancy, paths, values, lengths,
            search=self.search, backend=self.backend, n_best=self.minimum.n_best,
        )  # fmt: skip
        candidates = evaluate(self.discrepancy, paths, values, lengths, offsets, self.backend)
        count = torch.from_numpy(offsets.count).to(values.device)
        start = torch.from_numpy(offsets.start + paths.origin[:, None, None])
        if values.device.type != "cpu":  # MPS knows no float64
            start = (start.float() if values.device.type == "mps" else start).to(values.device)
        best = candidates.detach().argmin(dim=-1, keepdim=True)
        return Matches(
            self.minimum(candidates, count), start.gather(-1, best)[..., 0], offsets.backend
        )

    def _as_paths(self, series: RaggedSeries | Paths | ArrayLike) -> Paths:
        if not isinstance(series, (RaggedSeries, Paths)):
            series = RaggedSeries.from_arrays(series)
        if series.n_channels != self.shapelets.n_channels:
            raise ValueError(
                f"the series have {count(series.n_channels, 'channel')}, the shapelets "
                f"{self.shapelets.n_channels}. Give series with the channels of the shapelets."
            )
        return series if isinstance(series, Paths) else paths_of(series, self.fill)

    def extra_repr(self) -> str:
        """Describe the settings for `repr`."""
        return f"search={self.search!r}, backend={self.backend!r}"


class _Part(torch.autograd.Function):
    """Matches of some of the paths, whose many candidates are not kept but found again for gradients."""

    @staticmethod
    def forward(  # type: ignore[override]
        ctx: Any,
        transform: GeneralisedShapeletTransform,
        paths: Paths,
        names: tuple[str, ...],
        *parameters: Tensor,
    ) -> tuple[Tensor, Tensor]:
        ctx.transform, ctx.paths, ctx.names = transform, paths, names
        ctx.save_for_backward(*parameters)
        matches = transform._match(paths)
        ctx.mark_non_differentiable(matches.start)
        return matches.discrepancy, matches.start

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, upstream: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        inputs = [
            parameter.detach().requires_grad_(needed)
            for parameter, needed in zip(ctx.saved_tensors, ctx.needs_input_grad[3:], strict=True)
        ]
        given = dict(zip(ctx.names, inputs, strict=True))
        with torch.enable_grad():
            found = functional_call(ctx.transform, given, (ctx.paths,)).discrepancy
        wanted = [tensor for tensor in inputs if tensor.requires_grad]
        gradients = iter(torch.autograd.grad(found, wanted, upstream, allow_unused=True))
        return None, None, None, *(next(gradients) if x.requires_grad else None for x in inputs)


def _check_kind(discrepancy: object, n_channels: int) -> None:
    if not isinstance(discrepancy, Discrepancy):
        raise TypeError(
            f"discrepancy must be a Discrepancy; got {discrepancy!r}. "
            f"Use L2Discrepancy(n_channels={n_channels}) or ClassicalDiscrepancy()."
        )
