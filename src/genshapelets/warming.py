"""Compile beforehand what fits and predictions will need."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from .caching import cache_folder, compilations, telling, to_stderr
from .datasets.parsing import parse_numbers
from .estimators import ShapeletClassifier
from .names import CHOICES
from .series import RaggedSeries

# Settings whose kernels differ, as parameters of the estimators.
SETTINGS: tuple[dict[str, Any], ...] = (
    {},
    {"search": "exact"},
    {"search": "refined"},
    {"search": "grid"},
    {"metric": "full"},
    {"metric": "none"},
    {"scale_free": 0.5},
    {"minimum": "softmin"},
    {"initial": "search"},
    {"procedure": "paper"},
    *({"discrepancy": name} for name in ("logsignature", "dtw")),
)
OF_REGULAR_SERIES: tuple[dict[str, Any], ...] = (
    {"discrepancy": "mfc"},
    {"discrepancy": "classical"},
    {"procedure": "learning_shapelets"},
)


def warmup(*, verbose: bool = True) -> str:
    """Compile all kernels, so that no fit or prediction has to wait for them.

    Kernels are compiled when they are first called, which takes a minute in all, and are kept on disk
    for later processes. Call this once where a package is installed for many, such as an image or a
    cluster; the shell has it as ``genshapelets warmup``. If there is nothing to compile it takes
    seconds. Another version of the package, or another type of processor, has kernels of its own.

    Parameters
    ----------
    verbose : bool
        Whether to say on standard error what is done.

    Returns
    -------
    str
        The folder that holds them: where `genshapelets` is installed or, if that cannot be written,
        in the user's cache folder or a temporary one. The environment variable NUMBA_CACHE_DIR names
        another. "" if none can be written.
    """
    begun, before = time.monotonic(), compilations.count
    with telling(to_stderr if verbose else None):
        _use_all()
    folder, n_compiled = cache_folder(), compilations.count - before
    if verbose:
        done = "no kernels had to be compiled"
        if n_compiled:
            done = f"{n_compiled} kernels were compiled in {time.monotonic() - begun:.0f} seconds"
        to_stderr(f"{done}; all are kept in {folder}" if folder else f"{done}, and not kept")
    return folder


def _use_all() -> None:
    """Fit small models of every kind."""
    parse_numbers("1,2", 2)
    random = np.random.default_rng(0)
    y = np.arange(12) % 2
    even = random.normal(size=(12, 2, 24)).cumsum(axis=2)
    times = np.sort(random.uniform(0.0, 24.0, (12, 24)), axis=1)
    gaps = np.where(random.random(even.shape) < 0.2, np.nan, even)
    gaps[:, :, :2] = even[:, :, :2]
    regular, irregular = RaggedSeries.from_arrays(even), RaggedSeries.from_arrays(gaps, times)
    wide = RaggedSeries.from_arrays(even.repeat(12, axis=1))  # more channels than a shapelet sees
    for series, settings in (
        (wide, {}),
        *((series, each) for each in SETTINGS for series in (regular, irregular)),
        *((irregular, {"interpolation": name}) for name in CHOICES["interpolation"][1:]),
        *((regular, each) for each in OF_REGULAR_SERIES),
    ):
        estimator = ShapeletClassifier(n_shapelets=4, max_epochs=1, random_state=0, **settings)
        estimator.fit(series, y).predict(series)
