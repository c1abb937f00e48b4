"""The windows of regularly sampled paths, and the kernels of `_lattice` that evaluate them."""

from __future__ import annotations

import numpy as np

from ..offsets import Offsets
from ..parallel import Queue, is_done, queue_of, run_in_turn, run_together
from ..paths import Array, Index, Lattice
from ._l2_arrays import L2Arrays
from ._lattice import NOT_WANTED, lattice_backward, lattice_forward, n_pieces, project

SUM_BYTES = 2**18  # of sums over windows that are added up at once, to stay in a core's cache


class LatticeWindows:
    """The windows of the paths that share one sampling step."""

    def __init__(
        self,
        arrays: L2Arrays,
        rows: Array,
        row_offsets: Index,
        lattice: Lattice,
        keep_moments: bool,
    ) -> None:
        self.arrays, self.rows, self.row_offsets = arrays, rows, row_offsets
        self.step, self.members, longest_span = lattice
        n_shapelets, _, n_channels = arrays.shapelets.shape
        # A longer shapelet has no window on the lattice: what is computed for it here is not used.
        self.lengths = np.minimum(arrays.lengths, longest_span)
        self.n_nodes = n_pieces(max(self.lengths.tolist()), self.step) + 1
        n_moments = self.n_nodes if keep_moments else 0
        self.projection = np.empty((2, n_shapelets, self.n_nodes, n_channels))
        self.residual = np.empty((2, n_shapelets, n_channels))
        self.moment, self.first_moment = np.empty((2, 2, n_shapelets, n_moments, n_channels))
        self.queue = queue_of(n_shapelets)

    def project(self, queue: Queue, taps: Array = NOT_WANTED) -> None:
        """Project the shapelets of a queue onto the nodes of their windows, and find their taps."""
        a = self.arrays
        project(
            queue, self.step, a.shapelets, a.level, self.lengths, a.weights, taps, self.projection,
            self.residual, self.moment, self.first_moment,
        )  # fmt: skip

    def ensure_projected(self) -> None:
        """Project the shapelets, unless that has been done while searching."""
        if not is_done(self.queue):
            run_in_turn((self.project, self.queue))

    def forward(self, queue: Queue, members: Index, index: Index, out: Array) -> int:
        """Evaluate the windows of some paths. Returns how many of them are not on the lattice."""
        a = self.arrays
        n_free: int = lattice_forward(
            queue, members, self.rows, self.row_offsets, index, self.step, self.lengths, a.weights,
            a.level_free, self.projection, self.residual, out,
        )  # fmt: skip
        return n_free

    def backward(
        self,
        offsets: Offsets,
        upstream: Array,
        squared: Array,
        grad_shapelets: Array,
        grad_lengths: Array,
        grad_weights: Array,
    ) -> None:
        """Add the gradients of sum(upstream * squared) over the windows on the lattice."""
        self.ensure_projected()
        a = self.arrays
        per_shapelet = 32 * self.projection[0, 0].size  # bytes of its sums
        run_together(
            lattice_backward, len(self.lengths), self.members, self.rows, self.row_offsets,
            offsets.index, offsets.slope, self.step, a.shapelets, self.lengths, a.weights, a.level_free,
            self.projection, self.residual, self.moment, self.first_moment, upstream, squared,
            grad_shapelets, grad_lengths, grad_weights, most=max(1, SUM_BYTES // per_shapelet),
        )  # fmt: skip
