"""Where a training step spends its time: ``python -m benchmarks.step``.

Runs steps of the training loop, head, loss and optimiser included, on the benchmark's two larger
workloads, on one thread, and adds up the time inside the transform's compiled kernels. Each call from
Python is timed by itself; a profiler would add its own cost to every line of Python and to no kernel.
"""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from benchmarks.timing import provenance
from genshapelets import RaggedSeries
from genshapelets.estimators.goals import class_goal
from genshapelets.model import observed_moments, standardise
from genshapelets.paths import interpolate
from genshapelets.procedures import PROCEDURES, build
from genshapelets.training import Trainer

# Series, times, channels, shapelets, knots, fraction: as in benchmarks.transform.
WORKLOADS = {"c": (109, 206, 3, 20, 123, 0.5), "e": (1024, 81, 40, 40, 24, 0.3)}
N_STEPS = 50
PARTS = ("genshapelets.search", "genshapelets.discrepancies", "genshapelets.paths")  # the transform
spent: dict[str, float] = defaultdict(float)  # seconds in each kernel


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


def timed(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*arguments: Any, **options: Any) -> Any:
        begun = time.perf_counter()
        result = function(*arguments, **options)
        spent[name] += time.perf_counter() - begun
        return result

    return call


def time_kernels() -> None:
    """Time every kernel where Python calls it. What is compiled by now goes on calling its like."""
    for module in [m for name, m in sys.modules.items() if name.startswith(PARTS)]:
        for name, function in vars(module).copy().items():
            if hasattr(function, "py_func"):
                setattr(module, name, timed(name, function))


def main() -> None:
    torch.set_num_threads(1)
    print(", ".join(f"{name} {value}" for name, value in provenance().items()))
    print(f"{'workload':10}{'procedure':12}{'ms/step':>9}{'in kernels':>12}")
    trainers = {
        (workload, procedure): trainer_of(workload, procedure)
        for workload in WORKLOADS
        for procedure in PROCEDURES
    }
    for trainer in trainers.values():
        for _ in range(3):  # until all is compiled
            trainer._step(np.arange(len(trainer.paths)))
    time_kernels()
    for (workload, procedure), trainer in trainers.items():
        everyone = np.arange(len(trainer.paths))
        spent.clear()
        begun = time.perf_counter()
        for _ in range(N_STEPS):
            trainer._step(everyone)
        total = time.perf_counter() - begun
        share = sum(spent.values()) / total
        print(f"{workload:10}{procedure:12}{1e3 * total / N_STEPS:9.1f}{share:12.0%}")
        for name, seconds in sorted(spent.items(), key=lambda item: -item[1]):
            print(
                f"{'':22}{1e3 * seconds / N_STEPS:9.2f}{seconds / total:12.0%}  {name}", flush=True
            )


if __name__ == "__main__":
    main()
