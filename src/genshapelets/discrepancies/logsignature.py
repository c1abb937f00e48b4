"""The learnt log-signature discrepancy."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import ClassVar, Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import linear
from torch.utils.checkpoint import checkpoint

from ..signatures import (
    at_lyndon_words,
    check_memory,
    logarithm,
    lyndon_words,
    n_lyndon_words,
    signature,
)
from .base import Discrepancy, learnt_metric

MAX_ELEMENTS = 2**22  # of the largest tensor of one chunk of windows
BYTES_PER_WORD = 200  # of a tuple of a few letters, and of its place


DEEPEST = 30


class LogSignatureDiscrepancy(Discrepancy):
    r"""Distance of log-signatures after a learnt linear map: of order and area rather than of values.

    .. math:: \pi(f, w) = \| A(\mathrm{LogSig}^R(f) - \mathrm{LogSig}^R(w)) \|_p

    The log-signature of depth R describes a path by its increment (R = 1), the signed areas between its
    channels (R = 2) and finer facts about the order in which channels move (R > 2). It does not see
    the level at which a path starts. Its coordinates are the values of the logarithm of the signature at
    Lyndon words: see `genshapelets.signatures`.

    Parameters
    ----------
    n_channels : int
    depth : int
        R; the paper takes 3. The number of coordinates grows like n_channels^R / R.
    p : float
        Of the norm, from 1 to infinity.
    metric : "none", "diagonal" or "full"
        A: the identity, a learnt scale for each coordinate (the paper's choice), or a learnt matrix.
    include_time : bool
        Whether time, from 0 to the shapelet's length, is a further channel, the last letter. Without it
        the speed at which a path is run through does not matter.
    n_shapelets : int, optional
        If given, each of this number of shapelets learns a metric of its own. By default all share one.

    Examples
    --------
    Once around a square of side 1: no increment, and area 1.

    >>> import torch
    >>> from genshapelets import LogSignatureDiscrepancy
    >>> discrepancy = LogSignatureDiscrepancy(2, depth=2, metric="none", include_time=False)
    >>> discrepancy.words
    ((0,), (1,), (0, 1))
    >>> square = torch.tensor([[[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.0, 0.0]]])
    >>> discrepancy.coordinates(torch.arange(5.0)[None], square)
    tensor([[0., 0., 1.]])
    """

    title: ClassVar[str] = "log-signature"
    weight: nn.Parameter | None

    def __init__(
        self,
        n_channels: int,
        depth: int = 3,
        p: float = 2,
        metric: Literal["none", "diagonal", "full"] = "diagonal",
        include_time: bool = True,
        *,
        n_shapelets: int | None = None,
    ) -> None:
        super().__init__()
        self.n_channels = _count(n_channels, "n_channels")
        self.depth = _count(depth, "depth")
        self.n_shapelets = None if n_shapelets is None else _count(n_shapelets, "n_shapelets")
        self.p = _power(p)
        if metric not in ("none", "diagonal", "full"):
            raise ValueError(f'metric must be "none", "diagonal" or "full"; got {metric!r}.')
        self.metric = metric
        self.include_time = _flag(include_time)
        self._check_size()
        self.register_parameter("weight", learnt_metric(metric, self.n_coordinates, n_shapelets))

    def _check_size(self) -> None:
        """Refuse what cannot fit in memory, before anything is made."""
        if self.depth > DEEPEST:
            raise ValueError(f"depth must be at most {DEEPEST}; got {self.depth}.")
        n, name = self.n_coordinates, f"a log-signature of {self.n_letters} letters, depth"
        advice = "Take a smaller depth, or fewer channels."
        n_numbers = sum(self.n_letters**k for k in range(1, self.depth + 1))
        n_numbers += n * BYTES_PER_WORD // 8
        check_memory(n_numbers, f"{name} {self.depth}, with {n} coordinates,", advice)
        if self.metric == "full":  # beside the matrix, its gradient and two moments of it
            n_numbers = 4 * (self.n_shapelets or 1) * n**2
            advice = 'Take metric="diagonal", n_shapelets=None or a smaller depth.'
            check_memory(n_numbers, f"learning {self.n_shapelets or 1} x {n} x {n} metrics", advice)

    @property
    def n_letters(self) -> int:
        """Channels, with time if it is one of them."""
        return self.n_channels + self.include_time

    @property
    def n_coordinates(self) -> int:
        """Number of coordinates of a log-signature: Witt's formula."""
        return n_lyndon_words(self.n_letters, self.depth)

    @property
    def words(self) -> tuple[tuple[int, ...], ...]:
        """The Lyndon words that the coordinates belong to; letters are channels, time the last."""
        return lyndon_words(self.n_letters, self.depth)

    def forward(self, times: Tensor, path: Tensor, shapelet: Tensor) -> Tensor:
        """Norm of the mapped difference of log-signatures."""
        return self.norm(self.coordinates(times, path) - self.coordinates(times, shapelet))

    def coordinates(self, times: Tensor, values: Tensor) -> Tensor:
        """Log-signatures (…, coordinates) of paths (…, knots, channels) at times (…, knots).

        In chunks, whose steps are taken again in the backward pass rather than kept.
        """
        increments = self.letters(times, values).diff(dim=-2).flatten(end_dim=-3)
        per_path = increments.shape[-2] * self.n_letters ** (self.depth - 1)
        check_memory(4 * per_path, f"the signature of {increments.shape[-2]} pieces", "Take fewer.")
        parts = increments.split(max(1, MAX_ELEMENTS // per_path))
        again = torch.is_grad_enabled() and len(parts) > 1
        found = [
            checkpoint(self._log_signature, part, use_reentrant=False)
            if again
            else self._log_signature(part)
            for part in parts
        ]
        return torch.cat(found).reshape(*values.shape[:-2], -1)

    def letters(self, times: Tensor, values: Tensor) -> Tensor:
        """Values (…, knots, letters): the channels, and time if it is one of them."""
        if not self.include_time:
            return values
        return torch.cat([values, times[..., None].expand(*values.shape[:-1], 1)], dim=-1)

    def _log_signature(self, increments: Tensor) -> Tensor:
        return at_lyndon_words(logarithm(signature(increments, self.depth)))

    def norm(self, difference: Tensor) -> Tensor:
        """Norm (…, shapelets) of differences (…, shapelets, coordinates) after the map A."""
        weight = None if self.weight is None else self.weight.to(difference)
        if weight is None:
            mapped = difference
        elif self.metric == "diagonal":
            mapped = difference * weight
        elif len(weight) == 1:
            mapped = linear(difference, weight[0])
        else:
            mapped = torch.einsum("...kd,ked->...ke", difference, weight)
        if self.p in (1.0, 2.0, math.inf):
            return torch.linalg.vector_norm(mapped, ord=self.p, dim=-1)
        # Divided by the largest, so that powers neither overflow nor vanish.
        largest = mapped.detach().abs().amax(dim=-1, keepdim=True)
        scale = torch.where((largest > 0) & (largest < math.inf), largest, 1.0)
        return scale[..., 0] * torch.linalg.vector_norm(mapped / scale, ord=self.p, dim=-1)

    def channel_weights(self, n_channels: int) -> Tensor:
        """Sum over coordinates of their weight times the share of the channel's letter in the word."""
        share = torch.zeros(self.n_coordinates, self.n_letters)
        for i, word in enumerate(self.words):
            for letter in word:
                share[i, letter] += 1 / len(word)
        share = share[:, :n_channels]
        if self.weight is None:
            return share.sum(dim=0, keepdim=True)
        full = self.metric == "full"
        size = torch.linalg.vector_norm(self.weight, dim=1) if full else self.weight.abs()
        return size @ share.to(size)

    def ignores_level(self, n_shapelets: int) -> Tensor:
        """All do: a signature is made of increments."""
        return torch.ones(n_shapelets, dtype=torch.bool)

    def drawn(self, times: Tensor, path: Tensor, shapelet: Tensor) -> Tensor:  # noqa: ARG002
        """The shapelet, lifted to start where the window starts."""
        return shapelet + (path - shapelet)[..., :1, :]


def _count(value: object, name: str) -> int:
    """Return a whole number of at least 1, or refuse it."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be a whole number; got {value!r}.")
    if value < 1:
        raise ValueError(f"{name} must be at least 1; got {value!r}.")
    return int(value)


def _power(value: object) -> float:
    """Return the p of a norm, or refuse it."""
    if not isinstance(value, Real) or not float(value) >= 1:
        raise ValueError(f"p must be a number of at least 1, or infinity; got {value!r}.")
    return float(value)


def _flag(value: object) -> bool:
    """Return True or False, or refuse anything else."""
    if not isinstance(value, bool):
        raise TypeError(f"include_time must be True or False; got {value!r}.")
    return value
