"""What the benchmarks share: runs of this and of an older commit, and what was run where."""

from __future__ import annotations

import contextlib
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import genshapelets

REPOSITORY = Path(__file__).resolve().parents[1]
PACKAGES = ("torch", "numpy", "numba", "scipy")


@contextlib.contextmanager
def sources(beside: str | None) -> Iterator[dict[str, Path]]:
    """Folders of the package: "here" and, if a revision is given, "older"."""
    with tempfile.TemporaryDirectory() as folder:
        found = {"here": REPOSITORY / "src"}
        if beside:
            archive = subprocess.run(
                ["git", "archive", beside, "src"], capture_output=True, cwd=REPOSITORY, check=True
            )
            subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)
            found["older"] = Path(folder) / "src"
        yield found


def run_in(source: Path, script: str, *arguments: str) -> dict[str, float]:
    """Run a script of the benchmarks in a new process, on one thread, with the package in a folder.

    It prints a JSON object in its last line.
    """
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(REPOSITORY / "benchmarks" / script), *arguments],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(source), "OMP_NUM_THREADS": "1"},
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{script} {' '.join(arguments)} failed in {source}:\n{done.stderr}")
    return json.loads(done.stdout.strip().splitlines()[-1])


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
