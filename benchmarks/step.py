"""Where a training step spends its time: ``python -m benchmarks.step``.

Runs steps of the training loop, head, loss and optimiser included, on the benchmark's two larger
workloads under a profiler, on one thread, and adds up the time inside the transform's kernels: the
compiled ones, and NumPy's FFT and matrix products that the search calls.
"""

from __future__ import annotations

import cProfile
import pstats

import numpy as np
import torch

import genshapelets.discrepancies._lattice
import genshapelets.search.by_channel
import genshapelets.search.convolution
import genshapelets.search.sums
from benchmarks.timing import provenance
from genshapelets import RaggedSeries
from genshapelets.estimators.goals import class_goal
from genshapelets.model import observed_moments, standardise
from genshapelets.paths import interpolate
from genshapelets.procedures import PROCEDURES, build
from genshapelets.training import Trainer

# Series, times, channels, shapelets, knots, fraction: as in benchmarks.transform.
WORKLOADS = {"c": (109, 206, 3, 20, 123, 0.5), "e": (1024, 81, 40, 40, 24, 0.3)}
N_STEPS = 20
MODULES = (
    genshapelets.discrepancies._lattice,
    genshapelets.search.by_channel,
    genshapelets.search.convolution,
    genshapelets.search.sums,
)


def trainer_of(workload: str, procedure_name: str) -> Trainer:
    n_series, n_times, n_channels, n_shapelets, n_knots, fraction = WORKLOADS[workload]
    random = np.random.default_rng(0)
    series = RaggedSeries.from_arrays(
        random.normal(size=(n_series, n_channels, n_times)).cumsum(axis=2)
    )
    choices = {
        "n_shapelets": n_shapelets,
        "n_knots": n_knots,
        "initial_length": (fraction, fraction),
        "batch_size": n_series,
    }
    procedure = PROCEDURES[procedure_name].adapted(choices, n_series)
    _, goal = class_goal(random.integers(0, 5, n_series), None, np.ones(n_series))
    centre, scale = observed_moments(series)
    paths = interpolate(standardise(series, centre, scale))
    everyone = np.arange(n_series)
    model = build(
        procedure, paths, goal.classes_of(everyone), centre, scale, None, goal.n_outputs, random,
        discrepancy="l2", metric="diagonal", search="grid",
    )  # fmt: skip
    task = goal.task(everyone, procedure.smoothing, None)
    return Trainer(model, paths, task, procedure.plan, torch.Generator().manual_seed(0))


def kernels() -> set[tuple[str, str]]:
    """(file, name) of what counts as a kernel."""
    found = {
        (function.py_func.__code__.co_filename, name)
        for module in MODULES
        for name, function in vars(module).items()
        if hasattr(function, "py_func")
    }
    convolution = genshapelets.search.convolution.__file__
    # NumPy's matrix products and copies show as their caller's own time.
    return found | {(convolution, "correlate"), (np.fft._pocketfft.__file__, "_raw_fft")}


def main() -> None:
    torch.set_num_threads(1)
    print(", ".join(f"{name} {value}" for name, value in provenance().items()))
    print(f"{'workload':10}{'procedure':12}{'ms/step':>9}{'in kernels':>12}")
    counted = kernels()
    for workload in WORKLOADS:
        for procedure in PROCEDURES:
            trainer = trainer_of(workload, procedure)
            everyone = np.arange(len(trainer.paths))
            trainer._step(everyone)
            profile = cProfile.Profile()
            profile.enable()
            for _ in range(N_STEPS):
                trainer._step(everyone)
            profile.disable()
            times = pstats.Stats(profile).stats  # type: ignore[attr-defined]
            total = sum(own for _, _, own, _, _ in times.values())
            inside = sum(
                own
                for (file, _, name), (_, _, own, _, _) in times.items()
                if (file, name) in counted
            )
            print(
                f"{workload:10}{procedure:12}{1e3 * total / N_STEPS:9.1f}{inside / total:12.0%}",
                flush=True,
            )


if __name__ == "__main__":
    main()
