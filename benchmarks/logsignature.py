"""The log-signature discrepancy beside another library: see `benchmarks.discrepancies`."""

from __future__ import annotations

import numpy as np
import torch

from benchmarks.workloads import least_time
from genshapelets import (
    GeneralisedShapeletTransform,
    LogSignatureDiscrepancy,
    RaggedSeries,
    interpolate,
)


def problem(n_series, n_times, n_channels, n_shapelets, lengths):
    """Random walks, and shapelets cut from them."""
    random = np.random.default_rng(0)
    walks = random.normal(size=(n_series, n_channels, n_times)).cumsum(axis=2) / np.sqrt(n_times)
    values = walks[random.integers(n_series, size=n_shapelets), :, : min(24, n_times)]
    transform = GeneralisedShapeletTransform.from_shapelets(
        values, lengths, discrepancy=LogSignatureDiscrepancy(n_channels)
    ).float()
    return walks, interpolate(RaggedSeries.from_arrays(walks)), transform


def step_of(transform, paths):
    def step():
        transform.zero_grad()
        transform(paths).discrepancy.log().sum().backward()

    return step


def from_scratch(walks, n_points, target):
    """Every window by itself, in one batch, and gradients through all of them."""
    from pysiglib import torch_api as pysiglib

    n_letters = walks.shape[1] + 1
    pysiglib.prepare_log_sig(n_letters, 3, 1)
    rows = torch.from_numpy(walks).transpose(1, 2)
    windows = rows.unfold(1, n_points, 1).transpose(2, 3).contiguous()
    time = torch.arange(float(n_points), dtype=torch.float64)[:, None]
    windows = torch.cat([windows, time.expand(*windows.shape[:3], 1)], dim=3)
    flat = windows.flatten(0, 1).contiguous().requires_grad_()
    n_coordinates = pysiglib.log_sig_length(n_letters, 3)
    weight = torch.ones(n_coordinates, dtype=torch.float64, requires_grad=True)

    def step():
        found = pysiglib.log_sig(flat, 3, method=1)
        distance = ((found - target) * weight).norm(dim=1).reshape(len(walks), -1)
        distance.amin(dim=1).log().sum().backward()

    return step


def logsignature():
    """Training steps; every window from scratch by pysiglib, with gradients through all of them."""
    print("log-signature, depth 3, with time; CPU ms of a training step, one thread")
    walks, paths, transform = problem(100, 100, 6, 1, [49.0])
    target = torch.zeros(140, dtype=torch.float64)
    ours = least_time(step_of(transform, paths), seconds=3.0)
    theirs = least_time(from_scratch(walks, 50, target), seconds=6.0)
    print(
        f"100 series, 100 times, 6 channels, windows of 50: {ours:.1f}; every window from scratch "
        f"(pysiglib): {theirs:.1f}; ratio {ours / theirs:.2f} (at most 0.33)"
    )
    random = np.random.default_rng(1)
    for name, lengths in (
        ("lengths of 0.3 to 0.6 of the span", random.uniform(8.4, 16.8, 18)),
        ("lengths of 0.05 to 0.8, as the default starts", np.exp(random.uniform(0.4, 3.1, 18))),
    ):
        _, paths, transform = problem(216, 29, 12, 18, lengths)
        ours = least_time(step_of(transform, paths), seconds=6.0)
        print(f"216 series, 29 times, 12 channels, 18 shapelets, {name}: {ours:.0f} (at most 500)")
