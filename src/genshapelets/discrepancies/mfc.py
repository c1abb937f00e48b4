"""The MFC discrepancy: how different two sounds are to the ear."""

from __future__ import annotations

from typing import Any, Literal

import torch
from torch import Tensor, nn

from ..cepstrum import MelFrequencyCepstrum
from .base import Discrepancy, learnt_metric, safe_sqrt


class MFCDiscrepancy(Discrepancy):
    r"""L2 distance of mel-frequency cepstra, on waveforms: equation (8) of the paper.

    .. math:: \pi(f, w) = \Big(\int_0^S |A(\mathrm{MFC}(f)(t) - \mathrm{MFC}(w)(t))|^2 \, dt\Big)^{1/2}

    Window and shapelet are sampled every ``step`` from 0 on and cut into the frames that lie within
    [0, S]. Neither is mirrored at its ends, and quiet places are only held at an absolute ``floor``, so
    that the frames of a window are frames of the whole path. The integral is S times the mean over
    frames. So that it does not jump where a longer shapelet gains a frame, frame :math:`j \geq 1`
    counts only

    .. math:: r_j = \min(1, \max(0, x - j)), \qquad x = (S / \text{step} - \text{bins} + 1) / \text{hop}

    in this mean, and the first one fully. A shapelet shorter than a frame is held at its last value to
    fill one, and so is its window.

    A waveform takes as many knots as samples. To learn shapelets in MFC space instead, as the paper's
    experiment does, put `MelFrequencyCepstrum` before an estimator with the L2 discrepancy.

    Parameters
    ----------
    sample_rate : number
        Samples in a second, which says what frequencies are.
    metric : "none", "diagonal" or "full"
        A: the identity, a learnt scale for each coefficient of each channel, or a learnt matrix.
    n_channels : int
        Number of channels of the waveforms, each with a cepstrum of its own.
    n_shapelets : int, optional
        If given, each of this number of shapelets learns a metric of its own. By default all share one.
    step : number, optional
        Time between samples. Default: one over ``sample_rate``, for times in seconds. Use 1 where
        times count samples, as those of arrays do.
    **options
        As for `MelFrequencyCepstrum`, but for ``centre`` and ``top_db``.

    Examples
    --------
    >>> from genshapelets import MFCDiscrepancy
    >>> MFCDiscrepancy(16000, n_coefficients=13).weight.shape
    torch.Size([1, 13])
    """

    title = "mel-frequency cepstrum"
    grows_with_length = True
    weight: nn.Parameter | None

    def __init__(
        self,
        sample_rate: float = 16000.0,
        metric: Literal["none", "diagonal", "full"] = "diagonal",
        *,
        n_channels: int = 1,
        n_shapelets: int | None = None,
        step: float | None = None,
        **options: Any,
    ) -> None:
        super().__init__()
        for name in ("centre", "top_db"):
            if name in options:
                raise TypeError(
                    f"{name} is not an option of MFCDiscrepancy: frames of a window have to be frames "
                    "of the whole path. Leave it out."
                )
        self.cepstrum = MelFrequencyCepstrum(
            sample_rate=sample_rate, centre=False, top_db=None, **options
        )
        self.cepstrum.check()
        if n_channels < 1:
            raise ValueError(f"n_channels must be at least 1; got {n_channels}.")
        if n_shapelets is not None and n_shapelets < 1:
            raise ValueError(f"n_shapelets must be at least 1, or None; got {n_shapelets}.")
        if step is not None and not 0 < step < float("inf"):
            raise ValueError(f"step must be a positive number, or None; got {step!r}.")
        self.n_features = n_channels * self.cepstrum.n_coefficients
        self.register_parameter("weight", learnt_metric(metric, self.n_features, n_shapelets))
        self.sample_rate = sample_rate
        self.metric = metric
        self.n_channels = n_channels
        self.n_shapelets = n_shapelets
        self.step = 1.0 / sample_rate if step is None else step

    def forward(self, times: Tensor, path: Tensor, shapelet: Tensor) -> Tensor:
        """Sample both, cut them into frames, and compare frame by frame."""
        n_frames = self.n_frames(times[..., -1])
        difference = self.cepstra(times, path, n_frames) - self.cepstra(times, shapelet, n_frames)
        squares = self.scaled(difference).square().sum(dim=-1)
        return safe_sqrt((self.frame_weights(times[..., -1], n_frames) * squares).sum(dim=-1))

    def n_frames(self, lengths: Tensor) -> int:
        """Number of frames that count in the longest of these lengths."""
        return max(1, int(self._position(lengths.detach()).max().ceil()))

    def frame_weights(self, lengths: Tensor, n_frames: int) -> Tensor:
        """How much time each frame stands for, (…, frames), for lengths (…); S in all."""
        frame = torch.arange(n_frames, dtype=lengths.dtype, device=lengths.device)
        counts = (self._position(lengths)[..., None] - frame).clamp(0.0, 1.0)
        counts = torch.where(frame == 0, 1.0, counts)
        return lengths[..., None] * counts / counts.sum(dim=-1, keepdim=True)

    def cepstra(self, times: Tensor, values: Tensor, n_frames: int) -> Tensor:
        """Cepstra (…, frames, features) of functions given at knots, held at their last value behind.

        Parameters
        ----------
        times : (…, knots) tensor
        values : (…, knots, channels) tensor
        n_frames : int
        """
        n_samples = (n_frames - 1) * self.cepstrum.hop + self.cepstrum.n_bins
        lattice = self.step * torch.arange(n_samples, dtype=times.dtype, device=times.device)
        waveform = _lines_at(times, values, torch.minimum(lattice, times[..., -1:]))
        return self.features(waveform)

    def features(self, waveform: Tensor) -> Tensor:
        """Cepstra (…, frames, features) of samples (…, samples, channels), channel by channel."""
        return self.cepstrum(waveform.mT).flatten(-3, -2).mT

    def scaled(self, features: Tensor) -> Tensor:
        """A applied to features (…, shapelets, frames, features)."""
        if self.weight is None:
            return features
        return (
            features @ self.weight.mT if self.metric == "full" else features * self.weight[:, None]
        )

    def matrix(self) -> Tensor:
        """A as (metrics, features, features), whatever the kind of metric."""
        if self.weight is None:
            return torch.eye(self.n_features)[None]
        return self.weight if self.metric == "full" else torch.diag_embed(self.weight)

    def channel_weights(self, n_channels: int) -> Tensor:
        """Root mean square of the columns of A that belong to a channel, (1 or shapelets, channels)."""
        squares = self.matrix().square().sum(dim=1)
        return squares.reshape(len(squares), n_channels, -1).mean(dim=-1).sqrt()

    def config(self) -> dict[str, Any]:
        """Arguments that make this discrepancy again: see `Discrepancy`."""
        options = self.cepstrum.config()
        del options["centre"], options["top_db"]
        return {
            "metric": self.metric,
            "n_channels": self.n_channels,
            "n_shapelets": self.n_shapelets,
            "step": self.step,
            **options,
        }

    def _position(self, lengths: Tensor) -> Tensor:
        """x: how many frames would fit behind the first; negative if not even the first one does."""
        return (lengths / self.step - (self.cepstrum.n_bins - 1)) / self.cepstrum.hop


def _lines_at(times: Tensor, values: Tensor, t: Tensor) -> Tensor:
    """Straight lines through values (…, knots, channels) at times (…, knots), at t (…, samples)."""
    knots, samples = times.detach().contiguous(), t.detach().contiguous()
    right = torch.searchsorted(knots, samples, right=True)
    right = right.clamp(1, times.shape[-1] - 1)
    before, after = times.gather(-1, right - 1), times.gather(-1, right)
    gap = after - before
    share = ((t - before) / torch.where(gap > 0, gap, 1.0)).clamp(0.0, 1.0)[..., None]
    index = right[..., None].expand(*right.shape, values.shape[-1])
    f, g = values.gather(-2, index - 1), values.gather(-2, index)
    return f + share * (g - f)
