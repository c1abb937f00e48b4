"""Measuring: times on a noisy machine, memory of a fresh process, and what was run where."""

from __future__ import annotations

import contextlib
import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import genshapelets

REPOSITORY = Path(__file__).resolve().parents[1]
PACKAGES = ("torch", "numpy", "numba", "scipy")


def fastest(
    competitors: dict[str, Callable[[], object]],
    clock: Callable[[], float],
    budget: float,
    min_rounds: int = 3,
    max_rounds: int = 300,
) -> dict[str, float]:
    """Seconds that each competitor needs, the minimum over rounds.

    One warm-up each, then rounds in which every competitor has its turn, so that a slow minute of the
    machine meets them all. In its turn a competitor runs twice and the second run counts: the first
    brings back what the others drove from the caches. A minimum, because what other programs do can
    only add.

    Parameters
    ----------
    competitors : dict of functions
    clock : function
        `time.process_time` (CPU time of all threads) or `time.perf_counter` (wall clock).
    budget : float
        Seconds after which no new round starts.
    min_rounds, max_rounds : int
        Rounds to run whatever the budget, and at most.
    """
    for run in competitors.values():
        run()
    best = dict.fromkeys(competitors, float("inf"))
    begun = time.perf_counter()
    for round_ in range(max_rounds):
        if round_ >= min_rounds and time.perf_counter() - begun > budget:
            break
        for name, run in competitors.items():
            run()
            start = clock()
            run()
            best[name] = min(best[name], clock() - start)
    return best


def peak_memory() -> int:
    """Largest resident memory of this process so far, bytes.

    On Linux VmHWM, not ru_maxrss: the latter outlives an exec, so that a child would begin with the
    peak of the process that started it.
    """
    status = Path("/proc/self/status")
    if status.exists():
        line = next(s for s in status.read_text().splitlines() if s.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def forget_peak() -> None:
    """Let `peak_memory` begin anew from what is resident now, where the system can (Linux)."""
    # Where it cannot, the peak of loading the libraries hides a part of what comes after.
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def in_fresh_process(module: str, arguments: Iterable[str]) -> str:
    """Run ``python -m module arguments`` from the repository and return what it printed last."""
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        capture_output=True,
        text=True,
        cwd=REPOSITORY,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{module} {' '.join(arguments)} failed:\n{done.stderr}")
    return done.stdout.strip().splitlines()[-1]


def provenance() -> dict[str, object]:
    """Machine, versions and commit, to be stored with the figures."""
    commit = _git("rev-parse", "--short", "HEAD")
    return {
        "date": time.strftime("%Y-%m-%d"),
        "commit": commit or "uncommitted",
        "dirty": not commit
        or bool(_git("status", "--porcelain", "--", ".", ":!benchmarks/results")),
        "platform": platform.platform(),
        "cpu": _cpu_model(),
        "cores": len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count(),
        "genshapelets": genshapelets.__version__,
        "python": platform.python_version(),
        **{package: _version(package) for package in PACKAGES},
    }


def _git(*arguments: str) -> str:
    try:
        done = subprocess.run(
            ["git", *arguments], capture_output=True, text=True, cwd=REPOSITORY, check=False
        )
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def _cpu_model() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor() or platform.machine()


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
