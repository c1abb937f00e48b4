"""Run compiled kernels over blocks of work in threads.

The kernels release the GIL, so plain threads suffice: no numba threading layer, which would not
survive a fork or a second caller. The number of threads is `torch.get_num_threads()`, the one knob
users already know.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import cache
from itertools import pairwise
from typing import Any

import scipy.linalg.cython_blas  # noqa: F401  loads the BLAS that numba's dot calls
import torch
from numba import njit, uint64
from threadpoolctl import ThreadpoolController

# `contract` and `reassoc` let sums vectorise; NaN and infinity keep their meaning.
kernel = njit(nogil=True, cache=True, fastmath={"contract", "reassoc", "nsz", "arcp"})

# An index known not to be negative. Where a loop mixes it with nothing but its like, the compiler drops
# Python's wrap-around of negative indices and vectorises the loop.
u = uint64

_pools: dict[int, ThreadPoolExecutor] = {}
os.register_at_fork(after_in_child=_pools.clear)


@cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="blas")


def one_blas_thread() -> AbstractContextManager[None]:
    """Keep the BLAS that kernels call from starting threads inside our own."""
    return _blas().limit(limits=1)  # type: ignore[no-any-return]


def run_blocks(
    task: Callable[..., None], n_items: int, *arguments: Any, n_blocks: int | None = None
) -> None:
    """Call ``task(first, last, *arguments)`` on blocks that cover ``range(n_items)``.

    Blocks may run at the same time, so each must write only to its own part of the output.
    """
    n_threads = torch.get_num_threads()
    n_blocks = min(n_items, n_blocks or (1 if n_threads == 1 else 4 * n_threads))
    bounds = [n_items * block // n_blocks for block in range(n_blocks + 1)]
    if n_threads == 1 or n_blocks == 1:
        for first, last in pairwise(bounds):
            task(first, last, *arguments)
        return
    pool = _pools.get(n_threads)
    if pool is None:
        pool = _pools.setdefault(n_threads, ThreadPoolExecutor(n_threads, "genshapelets"))
    futures = [pool.submit(task, first, last, *arguments) for first, last in pairwise(bounds)]
    for future in futures:
        future.result()
