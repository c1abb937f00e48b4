"""Search for the MFC discrepancy: windows of a path share the frames of the whole path."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import conv1d, pad

from ..discrepancies import Discrepancy, MFCDiscrepancy
from ..evaluation.generic import checked
from ..offsets import Offsets
from ..paths import Array, Index, Paths
from ..windows import PaddedPaths
from .generic import best_minima

FAR = 4  # steps of the discrepancy in one of a path: more is another rate, or a mistaken unit
CHUNK = 1024  # frames that are transformed at a time


@dataclass(frozen=True)
class PathFrames:
    """Cepstra of all frames of each path, (frames, features)."""

    features: list[Array]

    def __getitem__(self, chosen: Index) -> PathFrames:
        return PathFrames([self.features[n] for n in chosen])


@dataclass(frozen=True)
class FramesOf:
    """Cuts paths into frames, one every hop. Equal settings are one key of `Paths.prepared`."""

    options: tuple[tuple[str, object], ...]

    def __call__(self, paths: Paths) -> PathFrames:
        """Cepstra of the frames of each path."""
        options = dict(self.options)
        discrepancy = MFCDiscrepancy(**options)  # type: ignore[arg-type]
        samples = np.split(paths.values, paths.row_offsets[1:-1])
        return PathFrames([_features(discrepancy, x, discrepancy.cepstrum.hop) for x in samples])


def prepare_mfc(discrepancy: Discrepancy, paths: Paths, search: str) -> None:
    """Compute the cepstra of whole paths, once."""
    assert isinstance(discrepancy, MFCDiscrepancy)
    if search == "auto" and _on_lattice(discrepancy, paths):
        paths.prepared(_frames_of(discrepancy))


@torch.no_grad()
def search_mfc(
    discrepancy: Discrepancy,
    paths: Paths,
    values: Tensor,
    lengths: Tensor,
    search: str,
    n_best: int,
) -> Offsets | None:
    """Best offsets among every hop ("auto") or every sample ("grid"), and the last possible start.

    Only of paths sampled as the discrepancy samples; all else is left to the generic search. With every
    sample frames are cut at every sample, path by path, and not kept.
    """
    assert isinstance(discrepancy, MFCDiscrepancy)
    _check_unit(discrepancy, paths)
    if search not in ("auto", "grid") or not _on_lattice(discrepancy, paths):
        return None
    values, lengths = values.double(), lengths.double()
    stride = discrepancy.cepstrum.hop if search == "auto" else 1
    shapes = _Shapes.of(discrepancy, values, lengths)
    whole = paths.prepared(_frames_of(discrepancy)) if search == "auto" else None
    start, slope = np.zeros((2, len(paths), len(values), n_best))
    count = np.ones((len(paths), len(values)), np.int64)
    for n in range(len(paths)):
        samples = paths.values[paths.row_offsets[n] : paths.row_offsets[n + 1]]
        room = (float(paths.spans[n]) - lengths).clamp(min=0.0)
        features = whole.features[n] if whole else _features(discrepancy, samples, stride)
        offsets = torch.from_numpy(paths.step[n] * np.arange(0, len(samples), stride))[:, None]
        cost = shapes.costs(features, samples, len(offsets), stride)
        is_before = offsets < room  # the last possible start
        path = PaddedPaths.of(paths[n : n + 1], values.device)
        last = checked(discrepancy, path, room[None, None], values, lengths)[0]
        cost = torch.cat([cost.where(is_before, torch.inf), torch.full_like(last, torch.inf)])
        cost = cost.scatter(0, is_before.sum(dim=0, keepdim=True), last)
        best, found = best_minima(cost, n_best)
        at = torch.cat([offsets.where(is_before, room), room[None]]).gather(0, best)
        start[n], count[n] = at.T.numpy(), found.numpy()
        slope[n] = torch.where((at == room) & (room > 0), -1.0, 0.0).T.numpy()
    return Offsets(start, slope, count, "frames")


@dataclass(frozen=True)
class _Shapes:
    """Shapelets as frames.

    Attributes
    ----------
    matrix : (shapelets or 1, features, features) tensor
    taps : (shapelets, features, frames) tensor
        A applied to the cepstra of the shapelets.
    weights : (shapelets, frames) tensor
        How much time each frame stands for.
    short : dict
        Lengths of the shapelets that are shorter than a frame, by number.
    """

    discrepancy: MFCDiscrepancy
    matrix: Tensor
    taps: Tensor
    weights: Tensor
    short: dict[int, float]

    @classmethod
    def of(cls, discrepancy: MFCDiscrepancy, values: Tensor, lengths: Tensor) -> _Shapes:
        n_frames = discrepancy.n_frames(lengths)
        times = torch.linspace(0, 1, values.shape[2], dtype=torch.float64) * lengths[:, None]
        matrix = discrepancy.matrix().double()
        taps = matrix @ discrepancy.cepstra(times, values.mT, n_frames).mT
        extent = (discrepancy.cepstrum.n_bins - 1) * discrepancy.step
        short = {k: float(s) for k, s in enumerate(lengths) if s < extent}
        weights = discrepancy.frame_weights(lengths, n_frames)
        return cls(discrepancy, matrix, taps, weights, short)

    def costs(self, features: Array, samples: Array, n_offsets: int, stride: int) -> Tensor:
        """Discrepancies (offsets, shapelets) at every stride; beyond the end of the path, anything.

        The sum over frames of r |a - b|^2 is taken apart: r |a|^2 - 2 r a.b + r |b|^2.
        """
        dilation = self.discrepancy.cepstrum.hop // stride
        n_frames = self.taps.shape[2]
        beyond = n_offsets - len(features) + (n_frames - 1) * dilation
        frames = pad(torch.from_numpy(features), (0, 0, 0, max(beyond, 0)))
        scaled = self.matrix @ frames.T  # (shapelets or 1, features, frames)
        n_groups = len(scaled)
        weights = self.weights[:, None]
        squared = scaled.square().sum(dim=1)[None]
        energy = conv1d(squared, weights, dilation=dilation, groups=n_groups)[0]
        taps = self.taps * weights
        cross = conv1d(scaled.flatten(0, 1)[None], taps, dilation=dilation, groups=n_groups)[0]
        own = (self.taps.square() * weights).sum(dim=(1, 2))[:, None]
        squares = (energy - 2.0 * cross + own)[:, :n_offsets]
        for k, length in self.short.items():
            held = _features(self.discrepancy, samples, stride, length, n_offsets)
            difference = self.matrix[k % n_groups] @ torch.from_numpy(held).T - self.taps[k, :, :1]
            squares[k] = self.weights[k, 0] * difference.square().sum(dim=0)
        return squares.clamp(min=0.0).sqrt().T


def _features(
    discrepancy: MFCDiscrepancy,
    samples: Array,
    stride: int,
    held_from: float | None = None,
    n_frames: int | None = None,
) -> Array:
    """Cepstra (frames, features) of samples (samples, channels), a frame at every stride.

    ``held_from`` is the time, counted from where a frame begins, from which on its value is held. There
    are as many frames as fit, or a given number, for which the last sample is repeated.
    """
    n_bins = discrepancy.cepstrum.n_bins
    if n_frames is None:
        n_frames = max(0, (len(samples) - n_bins) // stride + 1)
    needed = max(n_frames - 1, 0) * stride + n_bins
    samples = np.pad(samples, ((0, max(0, needed - len(samples))), (0, 0)), mode="edge")
    frames = np.lib.stride_tricks.sliding_window_view(samples, n_bins, axis=0)[::stride][:n_frames]
    parts = [np.empty((0, discrepancy.n_features))]
    for at in range(0, n_frames, CHUNK):
        part = frames[at : at + CHUNK]  # (frames, channels, bins)
        if held_from is not None:
            whole = int(held_from / discrepancy.step)
            share = held_from / discrepancy.step - whole
            end = part[..., whole] + share * (part[..., whole + 1] - part[..., whole])
            part = np.where(np.arange(n_bins) <= whole, part, end[..., None])
        level = discrepancy.cepstrum.decibels(torch.from_numpy(np.ascontiguousarray(part)))
        parts.append(discrepancy.cepstrum.coefficients(level).flatten(1).numpy())
    return np.concatenate(parts)


def _frames_of(discrepancy: MFCDiscrepancy) -> FramesOf:
    """What prepares paths; it does not depend on the metric."""
    settings = discrepancy.config() | {"metric": "none", "n_shapelets": None}
    return FramesOf(tuple(settings.items()))


def _on_lattice(discrepancy: MFCDiscrepancy, paths: Paths) -> bool:
    several = paths.lengths > 1
    off = np.abs(paths.step - discrepancy.step) > 1e-9 * discrepancy.step
    return not (several & off).any()


def _check_unit(discrepancy: MFCDiscrepancy, paths: Paths) -> None:
    gap = paths.spans / np.maximum(paths.lengths - 1, 1)
    far = gap > FAR * discrepancy.step
    if far.any():
        n = int(far.argmax())
        raise ValueError(
            f"series {n} is observed every {gap[n]:g} on average, but the MFC discrepancy samples every "
            f"{discrepancy.step:g}. Resample it to that rate; or, if times are not in seconds, "
            f"set step={gap[n]:g}: 1 where they count samples."
        )
