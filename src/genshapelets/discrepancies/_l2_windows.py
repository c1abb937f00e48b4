"""The L2 kernels behind one autograd function."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..offsets import Offsets
from ..parallel import queue_of, run_together
from ..paths import Array, Index, Paths, see_through
from ._l2_arrays import L2Arrays, as_tensor, float64
from ._lattice_windows import LatticeWindows
from ._union import gram_backward, union_backward, union_forward
from .base import Ahead, Evaluation

# Gradients of free windows are summed in blocks of paths. Their number is fixed, so that the sum, to the
# last bit, does not depend on how many threads share the work.
N_BLOCKS = 8


class L2Windows(torch.autograd.Function):
    r"""Discrepancies at given offsets, :math:`(\int |A(f(s+t) - w(t))|^2 dt)^{1/2}`.

    Tensors are there to be differentiated by; their numbers are those of the prepared ``metric``. The
    backward pass walks the best windows once more; nothing of their size is kept.
    """

    @staticmethod
    def forward(
        ctx: Any,
        values: Tensor,
        lengths: Tensor,
        matrix: Tensor | None,
        metric: Metric,
        offsets: Offsets,
    ) -> Tensor:
        squared = metric.forward(offsets)
        ctx.metric, ctx.offsets, ctx.squared = metric, offsets, squared
        ctx.dtypes = (values.dtype, lengths.dtype, None if matrix is None else matrix.dtype)
        return as_tensor(np.sqrt(squared), values.dtype)

    @staticmethod
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor | None, ...]:
        if torch.is_grad_enabled():
            raise RuntimeError(
                "the shapelet transform has no second derivatives. Leave out create_graph=True."
            )
        sigma = np.sqrt(ctx.squared)
        # The square root has no derivative at 0; 0 is the subgradient that leaves a perfect match be.
        half = 0.5 / np.where(sigma > 0, sigma, np.inf)
        grads = ctx.metric.backward(ctx.offsets, float64(upstream) * half, ctx.squared)
        values, lengths, matrix = (
            None if grad is None else as_tensor(grad, dtype)
            for grad, dtype in zip(grads, ctx.dtypes, strict=True)
        )
        assert values is not None
        return values.transpose(1, 2), lengths, matrix, None, None


def prepare_windows(
    values: Tensor,
    lengths: Tensor,
    matrix: Tensor | None,
    level_free: NDArray[np.bool_],
    paths: Paths,
) -> Evaluation:
    """Prepare what does not depend on the offsets."""
    tensors = (values, lengths) if matrix is None else (values, lengths, matrix)
    with_gradients = torch.is_grad_enabled() and any(x.requires_grad for x in tensors)
    arrays = L2Arrays.of(values, lengths, matrix, level_free)
    metric = Metric(arrays, paths, keep_moments=with_gradients)

    def at(offsets: Offsets) -> Tensor:
        if with_gradients:
            return L2Windows.apply(values, lengths, matrix, metric, offsets)  # type: ignore[no-any-return]
        return as_tensor(np.sqrt(metric.forward(offsets)), values.dtype)

    return Evaluation(at, metric.ahead)


class Metric:
    """Windows seen through a metric: None, diagonals (metrics, channels) or matrices (metrics, D, D).

    A diagonal becomes weights a^2. A full matrix is applied to paths and shapelets beforehand, to each
    shapelet by itself if each has its own.
    """

    def __init__(self, arrays: L2Arrays, paths: Paths, keep_moments: bool) -> None:
        self.arrays = arrays
        self.windows = _Windows(paths, paths.values, arrays, keep_moments)
        matrix = self.matrix = arrays.matrix
        self.full = matrix is not None and matrix.ndim == 3
        self.apart = self.full and len(matrix) > 1  # type: ignore[arg-type]
        self.squared = np.empty((len(paths), len(arrays.shapelets)))
        # By each call of `some`: how many paths it has evaluated, and of how many windows it has not.
        self.evaluated: list[tuple[int, int]] = []

    @property
    def ahead(self) -> Ahead:
        """What the search may use and do."""
        return Ahead(self.arrays, [] if self.full else self.windows.lattices, self.some)

    def some(self, index: Index, members: Index) -> None:
        """Evaluate the windows of some paths beforehand: see `Ahead`."""
        if self.full:
            return
        n_free = len(members) * index.shape[1]
        for lattice in self.windows.lattices:  # one at most: the search was on a lattice
            n_free = lattice.forward(queue_of(len(members)), members, index, self.squared)
        self.evaluated.append((len(members), n_free))

    def forward(self, offsets: Offsets) -> Array:
        """Squared discrepancies, (series, shapelets)."""
        if self.apart:
            for k, part in enumerate(self._parts()):
                self.squared[:, k : k + 1] = part.forward(offsets.of_shapelet(k))
        elif sum(n_paths for n_paths, _ in self.evaluated) < len(self.squared):
            self.squared = self._parts()[0].forward(offsets)
        elif any(n_free for _, n_free in self.evaluated):
            self.windows.forward_free(offsets, self.squared)
        return self.squared

    def backward(
        self, offsets: Offsets, upstream: Array, squared: Array
    ) -> tuple[Array, Array, Array | None]:
        """Gradients of values (shapelets, knots, channels), lengths and matrix."""
        parts = self._parts()
        if not self.apart:
            grad_values, grad_lengths, grad_weights = parts[0].backward(offsets, upstream, squared)
        else:
            grads = [
                part.backward(
                    offsets.of_shapelet(k),
                    np.ascontiguousarray(upstream[:, k : k + 1]),
                    np.ascontiguousarray(squared[:, k : k + 1]),
                )
                for k, part in enumerate(parts)
            ]
            grad_values, grad_lengths, grad_weights = (
                np.concatenate(parts_of_grad) for parts_of_grad in zip(*grads, strict=True)
            )
        if self.matrix is None:
            return grad_values, grad_lengths, None
        if not self.full:
            if len(self.matrix) == 1:
                grad_weights = grad_weights.sum(axis=0, keepdims=True)
            return grad_values, grad_lengths, 2.0 * self.matrix * grad_weights
        gram = self.windows.gram(offsets, upstream)
        if len(self.matrix) == 1:
            gram = gram.sum(axis=0, keepdims=True)
        return grad_values @ self.matrix, grad_lengths, 2.0 * self.matrix @ gram

    def _parts(self) -> list[_Windows]:
        """Made anew for the backward pass if the metric is full: they hold as much as the paths."""
        if not self.full:
            return [self.windows]
        assert self.matrix is not None
        paths, rows, arrays, keep_moments = self.windows.given
        return [
            _Windows(paths, see_through(A, rows), part, keep_moments)
            for part, A in zip(arrays.seen_through_metric(), self.matrix, strict=True)
        ]


class _Windows:
    """Windows of some paths for some shapelets. The backward pass asks for moments."""

    def __init__(self, paths: Paths, rows: Array, arrays: L2Arrays, keep_moments: bool) -> None:
        self.given = paths, rows, arrays, keep_moments
        self.paths, self.rows = paths, rows
        self.shapelets, self.lengths = arrays.shapelets, arrays.lengths
        self.weights, self.level_free = arrays.weights, arrays.level_free

    def forward(self, offsets: Offsets) -> Array:
        out = np.empty(offsets.index.shape)
        self.forward_free(offsets, out)
        if offsets.n_free < out.size:
            for lattice in self.lattices:
                members = lattice.members
                lattice.ensure_projected()
                run_together(lattice.forward, len(members), members, offsets.index, out)
        return out

    def forward_free(self, offsets: Offsets, out: Array) -> None:
        """Evaluate the windows that are not on a lattice."""
        if offsets.n_free:
            paths = self.paths
            run_together(
                union_forward, len(paths), paths.knots, self.rows, paths.row_offsets, offsets.index,
                offsets.start, self.shapelets, self.lengths, self.weights, self.level_free, out,
            )  # fmt: skip

    def backward(
        self, offsets: Offsets, upstream: Array, squared: Array
    ) -> tuple[Array, Array, Array]:
        paths = self.paths
        n_shapelets = len(self.shapelets)
        n_blocks = min(N_BLOCKS, len(paths))
        grad_shapelets = np.zeros(self.shapelets.shape)
        grad_lengths = np.zeros(n_shapelets)
        grad_weights = np.zeros((n_shapelets, self.rows.shape[1]))
        if offsets.n_free:
            by_block = (
                np.empty((n_blocks, *grad_shapelets.shape)),
                np.empty((n_blocks, *grad_lengths.shape)),
                np.empty((n_blocks, *grad_weights.shape)),
            )
            per_shapelet = np.ascontiguousarray(np.broadcast_to(self.weights, grad_weights.shape))
            run_together(
                union_backward, n_blocks, paths.knots, self.rows, paths.row_offsets, offsets.index,
                offsets.start, offsets.slope, self.shapelets, self.lengths, per_shapelet,
                self.level_free, upstream, squared, *by_block,
            )  # fmt: skip
            for total, part in zip(
                (grad_shapelets, grad_lengths, grad_weights), by_block, strict=True
            ):
                total += part.sum(axis=0)
        if offsets.n_free < squared.size:
            for lattice in self.lattices:
                lattice.backward(
                    offsets, upstream, squared, grad_shapelets, grad_lengths, grad_weights
                )
        return grad_shapelets, grad_lengths, grad_weights

    def gram(self, offsets: Offsets, upstream: Array) -> Array:
        """Sum over paths of upstream * int r r^T, (shapelets, channels, channels)."""
        paths = self.paths
        n_channels = self.rows.shape[1]
        out = np.zeros((len(self.shapelets), n_channels, n_channels))
        run_together(
            gram_backward, len(self.shapelets), paths.knots, self.rows, paths.row_offsets, offsets.start,
            self.shapelets, self.lengths, self.level_free, upstream, out,
        )  # fmt: skip
        return out

    @cached_property
    def lattices(self) -> list[LatticeWindows]:
        """One for each distinct step of the regularly sampled paths."""
        paths, rows, arrays, keep_moments = self.given
        return [
            LatticeWindows(arrays, rows, paths.row_offsets, lattice, keep_moments)
            for lattice in paths.lattices
        ]
