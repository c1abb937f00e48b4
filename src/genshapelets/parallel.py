"""Run compiled kernels over blocks of work in threads.

The kernels release the GIL, so plain threads suffice: no numba threading layer, which would not
survive a fork or a second caller. The number of threads is `torch.get_num_threads()`, the one knob
users already know, unless `threads` says otherwise.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np
import scipy.linalg.cython_blas  # noqa: F401  loads the BLAS that numba's dot calls
import torch
from numba import njit, uint64
from numpy.typing import DTypeLike, NDArray
from threadpoolctl import LibController, ThreadpoolController

# `contract` and `reassoc` let sums vectorise; NaN and infinity keep their meaning.
FAST = {"contract", "reassoc", "nsz", "arcp"}
kernel = njit(nogil=True, cache=True, fastmath=FAST)
# A part of one kernel's innermost loop. A call would cost as much as its work.
inlined_kernel = njit(nogil=True, cache=True, fastmath=FAST, forceinline=True)
# For sums that must be added as they are written. Said aloud, or a caller's fastmath is inherited.
strict_kernel = njit(nogil=True, cache=True, fastmath=False)

# An index known not to be negative. Where a loop mixes it with nothing but its like, the compiler drops
# Python's wrap-around of negative indices and vectorises the loop.
u = uint64

CACHE_LINE = 64  # bytes

_pools: dict[int, ThreadPoolExecutor] = {}
os.register_at_fork(after_in_child=_pools.clear)


_n_threads: ContextVar[int | None] = ContextVar("n_threads", default=None)


@contextmanager
def threads(n_threads: int) -> Iterator[None]:
    """Give our kernels so many threads, and torch a single one.

    Torch's own threads would go on spinning after each of its operations and take the processors from
    ours; what torch does between kernels is too small to be worth them.
    """
    before = torch.get_num_threads()
    token = _n_threads.set(n_threads)
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
        _n_threads.reset(token)


@cache
def _blas() -> list[LibController]:
    return ThreadpoolController().select(user_api="blas").lib_controllers  # type: ignore[no-any-return]


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Keep the BLAS that kernels call from starting threads inside our own."""
    before = [library.get_num_threads() for library in _blas()]
    for library in _blas():
        library.set_num_threads(1)
    try:
        yield
    finally:
        for library, n_threads in zip(_blas(), before, strict=True):
            library.set_num_threads(n_threads)


class _Buffers(threading.local):
    def __init__(self) -> None:
        self.of: dict[str, NDArray[np.uint8]] = {}


_buffers = _Buffers()


def scratch(name: str, shape: tuple[int, ...], dtype: DTypeLike = np.float64) -> NDArray[Any]:
    """Array to write on, this thread's own until it asks for the same name again.

    Kept from call to call: the system takes longer to hand out fresh memory than short work to fill it.
    """
    n_bytes = prod(shape) * np.dtype(dtype).itemsize
    buffer = _buffers.of.get(name)
    if buffer is None or len(buffer) < n_bytes:
        buffer = np.empty(n_bytes + CACHE_LINE, np.uint8)
        buffer = _buffers.of[name] = buffer[-buffer.ctypes.data % CACHE_LINE :]
    return buffer[:n_bytes].view(dtype).reshape(shape)


def n_threads_now() -> int:
    """How many threads our kernels may use."""
    return _n_threads.get() or torch.get_num_threads()


def _helpers(n_helpers: int) -> ThreadPoolExecutor:
    pool = _pools.get(n_helpers)
    if pool is None:
        pool = _pools.setdefault(n_helpers, ThreadPoolExecutor(n_helpers, "genshapelets"))
    return pool


def run_blocks(
    task: Callable[..., None], n_items: int, *arguments: Any, n_blocks: int | None = None
) -> None:
    """Call ``task(first, last, *arguments)`` on blocks that cover ``range(n_items)``.

    Blocks may run at the same time, so each must write only to its own part of the output. The
    calling thread takes its share of them.
    """
    begin_blocks(task, n_items, *arguments, n_blocks=n_blocks)()


def begin_blocks(
    task: Callable[..., None],
    n_items: int,
    *arguments: Any,
    n_blocks: int | None = None,
    per_thread: int = 4,
) -> Callable[[], None]:
    """Let other threads begin what `run_blocks` does. Returns what joins in and waits for the end."""
    n_threads = n_threads_now()
    n_blocks = min(n_items, n_blocks or (1 if n_threads == 1 else per_thread * n_threads))
    bounds = [n_items * block // n_blocks for block in range(n_blocks + 1)]
    blocks = list(pairwise(bounds))[::-1]

    def work() -> None:
        while blocks:
            try:
                first, last = blocks.pop()  # atomic, and so safe among threads
            except IndexError:
                return
            task(first, last, *arguments)

    n_helpers = min(n_threads, n_blocks) - 1
    if n_helpers < 1:
        return work
    helpers = [_helpers(n_helpers).submit(work) for _ in range(n_helpers)]

    def join() -> None:
        work()
        for helper in helpers:
            if not helper.cancel():  # one that has not begun by now has nothing left to do
                helper.result()

    return join


def begin_apart(task: Callable[[], None]) -> Callable[[], None]:
    """Let another thread do a task, or do it now if there is none. Returns what waits for its end."""
    n_threads = n_threads_now()
    if n_threads > 1:
        return _helpers(n_threads - 1).submit(task).result
    task()
    return lambda: None
