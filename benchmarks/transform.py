"""How fast the transform is, beside a bare convolution: ``python -m benchmarks.transform``.

Standardised random walks against random-walk shapelets, all in float32. A forward pass is without
gradients, a training step is forward plus backward of ``discrepancy.sum()``. Paths are prepared
once, outside the timed region. What we compare with is the forward pass of a bare
`torch.nn.functional.conv1d` of the same shape, (N, D, T) by (K, D, taps), in the same run.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from genshapelets import GeneralisedShapeletTransform, Paths, RaggedSeries, interpolate

from . import timing

SECTIONS = ("regular", "irregular", "memory", "growth")
RESULTS = timing.REPOSITORY / "benchmarks" / "results"
ALL_THREADS = torch.get_num_threads()


@dataclass(frozen=True)
class Workload:
    """N series of T times and D channels, K shapelets of M knots; length = fraction of the span."""

    N: int
    T: int
    D: int
    K: int
    M: int
    fraction: float

    def __str__(self) -> str:
        return f"{self.N} x {self.T} x {self.D}, {self.K} of {self.M} knots, {self.fraction:g}"

    def series(self, irregular: bool = False) -> RaggedSeries:
        random = np.random.default_rng(0)
        walks = _random_walks(random, (self.N, self.D, self.T))
        if not irregular:
            return RaggedSeries.from_arrays(walks)
        times = np.sort(random.uniform(0.0, self.T - 1.0, (self.N, self.T)), axis=1)
        times[:, 0], times[:, -1] = 0.0, self.T - 1.0
        return RaggedSeries.from_arrays(walks, times)

    def transform(self, search: str = "grid") -> GeneralisedShapeletTransform:
        random = np.random.default_rng(1)
        lengths = self.fraction * (self.T - 1) * (1.0 + 0.02 * random.standard_normal(self.K))
        shapelets = _random_walks(random, (self.K, self.D, self.M))
        return GeneralisedShapeletTransform.from_shapelets(shapelets, lengths, search=search)

    def convolution(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Input and weights of the bare conv1d."""
        taps = int(self.fraction * (self.T - 1)) + 2
        weights = torch.randn(self.K, self.D, taps, requires_grad=True)
        return torch.randn(self.N, self.D, self.T), weights


WORKLOADS = {
    "a": Workload(32, 100, 6, 12, 60, 0.5),
    "b": Workload(216, 29, 12, 18, 17, 0.5),
    "c": Workload(109, 206, 3, 20, 123, 0.5),
    "d": Workload(1024, 8, 2, 30, 7, 0.5),
    "e": Workload(1024, 81, 40, 40, 24, 0.3),
}
SPEED_UP_TURNS = 5
GROWTH = Workload(8, 2000, 3, 10, 64, 0.3)


def _random_walks(random: np.random.Generator, shape: tuple[int, int, int]) -> np.ndarray:
    walks = random.standard_normal(shape).cumsum(axis=2)
    walks -= walks.mean(axis=(0, 2), keepdims=True)
    return (walks / walks.std(axis=(0, 2), keepdims=True)).astype(np.float32)


# What is timed


def forward(transform: GeneralisedShapeletTransform, series: Paths | RaggedSeries) -> Callable:
    def run() -> None:
        with torch.no_grad():
            transform(series)

    return run


def training(transform: GeneralisedShapeletTransform, paths: Paths) -> Callable:
    def run() -> None:
        transform.zero_grad()
        transform(paths).discrepancy.sum().backward()

    return run


def conv1d(x: torch.Tensor, weights: torch.Tensor, backward: bool = False) -> Callable:
    def run() -> None:
        with torch.set_grad_enabled(backward):
            out = torch.nn.functional.conv1d(x, weights)
            if backward:
                weights.grad = None
                out.sum().backward()

    return run


# Sections


class Benchmark:
    """Runs sections, prints tables, collects figures and compares them with the requirements."""

    def __init__(self, quick: bool) -> None:
        self.budget, self.min_rounds = (0.3, 1) if quick else (6.0, 3)
        self.lines: list[str] = []
        self.figures: dict[str, Any] = {}
        self.checks: list[tuple[str, float, str, float]] = []

    def say(self, line: str = "") -> None:
        print(line, flush=True)
        self.lines.append(line)

    def row(self, label: str, *cells: str) -> None:
        self.say(f"{label:42}" + "".join(f"{cell:>10}" for cell in cells))

    def title(self, text: str) -> None:
        self.say(f"\n{text}\n{'-' * len(text)}")

    def require(self, what: str, measured: float, relation: str, limit: float) -> None:
        self.checks.append((what, measured, relation, limit))

    def measure(self, competitors: dict[str, Callable], threads: int = 1) -> dict[str, float]:
        """Seconds: CPU time on one thread, wall clock on more."""
        torch.set_num_threads(threads)
        clock = time.process_time if threads == 1 else time.perf_counter
        return timing.fastest(competitors, clock, self.budget, self.min_rounds)

    def regular(self) -> None:
        for threads in sorted({1, ALL_THREADS}):
            unit = "one thread, CPU ms" if threads == 1 else f"{threads} threads, wall clock ms"
            self.title(f"Regular sampling ({unit}); ratios to the forward pass of conv1d")
            heads = ("conv1d", "its step", "forward", "ratio", "step", "ratio", "prepare", "again")
            self.row("", *heads)
            for name, workload in WORKLOADS.items():
                series, transform = workload.series(), workload.transform()
                paths, bare = interpolate(series), workload.convolution()
                t = self.measure(
                    {
                        "conv1d": conv1d(*bare),
                        "conv1d step": conv1d(*bare, backward=True),
                        "forward": forward(transform, paths),
                        "step": training(transform, paths),
                        "prepare": lambda series=series: interpolate(series).centred,
                        "again": forward(transform, series),
                    },
                    threads,
                )
                self.figures[f"regular {name} threads={threads}"] = t
                ratios = t["forward"] / t["conv1d"], t["step"] / t["conv1d"]
                self.row(
                    f"({name}) {workload}",
                    *(ms(t["conv1d"]), ms(t["conv1d step"])),
                    *(ms(t["forward"]), f"{ratios[0]:.1f}", ms(t["step"]), f"{ratios[1]:.1f}"),
                    *(ms(t["prepare"]), ms(t["again"])),
                )
                if threads > 1:
                    continue
                if name in "ce":
                    limits = (2.5, 4.5) if name == "e" else (5.0, 9.0)
                    self.require(f"({name}) forward / conv1d", ratios[0], "<=", limits[0])
                    self.require(f"({name}) training step / conv1d", ratios[1], "<=", limits[1])
                else:
                    self.require(f"({name}) forward, ms", 1e3 * t["forward"], "<", 3.0)
                    self.require(f"({name}) training step, ms", 1e3 * t["step"], "<", 8.0)
        self.say(
            "\nstep: training step. prepare: what is done once, however often series are matched."
        )
        self.say(
            "forward, step: from Paths. again: forward from a RaggedSeries that was matched before."
        )

    def irregular(self) -> None:
        self.title("Each series with its own random times (one thread, CPU ms)")
        heads = ("regular", "grid", "/regular", "exact", "/regular", "/grid", "step", "prepare")
        self.row("", *heads)
        for name, workload in WORKLOADS.items():
            grid, exact = workload.transform(), workload.transform("exact")
            series = workload.series(irregular=True)
            paths = interpolate(series)
            t = self.measure(
                {
                    "regular": forward(grid, interpolate(workload.series())),
                    "grid": forward(grid, paths),
                    "exact": forward(exact, paths),
                    "step": training(grid, paths),
                    "prepare": lambda series=series: interpolate(series),
                }
            )
            self.figures[f"irregular {name}"] = t
            ratio, slower = t["grid"] / t["regular"], t["exact"] / t["grid"]
            self.row(
                f"({name}) {workload}",
                *(ms(t["regular"]), ms(t["grid"]), f"{ratio:.1f}"),
                *(ms(t["exact"]), f"{t['exact'] / t['regular']:.1f}", f"{slower:.2f}"),
                *(ms(t["step"]), ms(t["prepare"])),
            )
            if name in "ce":
                limit = 12.0 if name == "e" else 60.0
                self.require(f"({name}) irregular grid / regular", ratio, "<=", limit)
                self.require(f"({name}) exact / irregular grid", slower, "<=", 2.5)
        self.say("\nstep: training step with the grid search.")
        if ALL_THREADS > 1:
            self.speed_up()

    def speed_up(self) -> None:
        self.title("Two threads against one (wall clock, times faster)")
        self.row("", "regular", "its step", "grid", "exact", "conv1d")
        for name in "ce":
            workload = WORKLOADS[name]
            grid, exact = workload.transform(), workload.transform("exact")
            regular, irregular = interpolate(workload.series()), interpolate(workload.series(True))
            # conv1d last: torch's threads go on spinning for a while and would disturb who comes next.
            runs = {
                "regular forward": forward(grid, regular),
                "regular training step": training(grid, regular),
                "irregular grid": forward(grid, irregular),
                "irregular exact": forward(exact, irregular),
                "conv1d": conv1d(*workload.convolution()),
            }
            faster = {task: self.two_threads(run) for task, run in runs.items()}
            self.figures[f"two threads {name}"] = faster
            self.row(f"({name}) {workload}", *(f"{ratio:.2f}" for ratio in faster.values()))
            for task, ratio in faster.items():
                if task != "conv1d":
                    self.require(f"({name}) two threads, {task}", ratio, ">=", 1.6)

    def two_threads(self, run: Callable[[], object]) -> float:
        """How many times faster two threads are. In turns, as the machine has slow minutes."""
        seconds: dict[int, list[float]] = {1: [], 2: []}
        for _ in range(SPEED_UP_TURNS):
            for threads, measured in seconds.items():
                torch.set_num_threads(threads)
                budget = self.budget / SPEED_UP_TURNS / 2
                t = timing.fastest({"run": run}, time.perf_counter, budget, min_rounds=1)
                measured.append(t["run"])
        return min(seconds[1]) / min(seconds[2])

    def memory(self) -> None:
        self.title("Peak memory added, each in a fresh process (MB)")
        self.row("", "regular", "", "irregular")
        self.row("", "forward", "step", "forward", "step", "exact")
        runs = [
            (task, data)
            for data in ("regular", "irregular")
            for task in ("forward", "training", "exact")
            if (task, data) != ("exact", "regular")
        ]
        for name in "ce":
            added = {f"{task} {data}": _added_memory(name, task, data) for task, data in runs}
            self.figures[f"memory {name}"] = added
            self.row(f"({name}) {WORKLOADS[name]}", *(f"{n / 1e6:.0f}" for n in added.values()))
            if name == "e":
                gigabytes = added["training regular"] / 1e9
                self.require("(e) memory of a training step, GB", gigabytes, "<", 1.0)

    def growth(self) -> None:
        c = WORKLOADS["c"]
        growing = [
            ("T", GROWTH, [replace(GROWTH, T=T) for T in (2000, 4000, 8000)]),
            ("N", c, [replace(c, N=N) for N in (64, 128, 256)]),
            ("K", c, [replace(c, K=K) for K in (10, 20, 40)]),
        ]
        for letter, base, sizes in growing:
            self.title(f"Growth with {letter} (one thread, CPU ms; times the row above)")
            fixed = [f"{key} = {value:g}" for key, value in vars(base).items() if key != letter]
            self.say(", ".join(fixed))
            self.row("", "regular", "", "grid", "", "exact")
            before: dict[str, float] = {}
            for workload in sizes:
                grid, exact = workload.transform(), workload.transform("exact")
                irregular = interpolate(workload.series(irregular=True))
                t = self.measure(
                    {
                        "regular": forward(grid, interpolate(workload.series())),
                        "irregular grid": forward(grid, irregular),
                        "irregular exact": forward(exact, irregular),
                    }
                )
                size = getattr(workload, letter)
                self.figures[f"growth {letter}={size}"] = t
                times = {task: f"x {t[task] / before[task]:.2f}" for task in before}
                cells = [cell for task in t for cell in (ms(t[task]), times.get(task, ""))]
                self.row(f"{letter} = {size}", *cells)
                for task in before if letter == "T" else ():
                    ratio = t[task] / before[task]
                    self.require(f"T = {size // 2} to {size}, {task}", ratio, "<=", 2.6)
                before = t

    def verdict(self) -> None:
        self.title("Requirements (one thread, CPU time, unless they say otherwise)")
        for what, measured, relation, limit in self.checks:
            met = measured <= limit if relation in ("<", "<=") else measured >= limit
            self.say(
                f"{what:44}{measured:9.2f}   {relation:>2} {limit:<6g}{'ok' if met else 'missed'}"
            )

    def save(self, label: str, provenance: dict[str, object]) -> None:
        RESULTS.mkdir(exist_ok=True)
        stem = f"{provenance['date']}-{provenance['commit']}{label}"
        fields = ("what", "measured", "relation", "limit")
        content = {
            "made": provenance,
            "figures": self.figures,  # seconds; bytes; times faster
            "requirements": [dict(zip(fields, check, strict=True)) for check in self.checks],
        }
        (RESULTS / f"{stem}.json").write_text(json.dumps(content, indent=1) + "\n")
        (RESULTS / f"{stem}.txt").write_text("\n".join(self.lines) + "\n")
        print(f"\nWritten: benchmarks/results/{stem}.json and .txt")


def ms(seconds: float) -> str:
    return f"{1e3 * seconds:.2f}"


def _added_memory(name: str, task: str, data: str) -> int:
    return int(
        timing.in_fresh_process("benchmarks.transform", ["--added-memory", name, task, data])
    )


def print_added_memory(name: str, task: str, data: str) -> None:
    """Print the bytes by which one call raises this process's peak memory."""

    def prepare(workload: Workload) -> Callable:
        transform = workload.transform("exact" if task == "exact" else "grid")
        paths = interpolate(workload.series(data == "irregular"))
        return training(transform, paths) if task == "training" else forward(transform, paths)

    prepare(replace(WORKLOADS[name], N=2, T=8, K=2))()  # loads the kernels
    run = prepare(WORKLOADS[name])
    timing.forget_peak()
    before = timing.peak_memory()
    run()
    print(timing.peak_memory() - before)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="benchmarks.transform", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--only", choices=SECTIONS, help="run one section")
    parser.add_argument("--quick", action="store_true", help="few repetitions: does it run?")
    parser.add_argument("--no-save", action="store_true", help="write no file")
    parser.add_argument("--added-memory", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.added_memory:
        print_added_memory(*options.added_memory)
        return
    provenance = timing.provenance()
    benchmark = Benchmark(options.quick)
    benchmark.say(", ".join(f"{key} {value}" for key, value in provenance.items()))
    benchmark.say("series x times x channels, shapelets of knots, length as a fraction of the span")
    for section in [options.only] if options.only else SECTIONS:
        getattr(benchmark, section)()
    benchmark.verdict()
    if not options.no_save:
        label = "".join(
            f"-{part}" for part in (options.only, "quick" if options.quick else "") if part
        )
        benchmark.save(label, provenance)


if __name__ == "__main__":
    main()
