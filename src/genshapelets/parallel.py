"""Run compiled kernels in threads.

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
from math import prod
from typing import Any

import numpy as np
import scipy.linalg.cython_blas  # noqa: F401  loads the BLAS that numba's dot calls
import torch
from llvmlite.ir import IntType
from numba import njit, types, uint64
from numba.extending import intrinsic
from numpy.typing import DTypeLike, NDArray
from threadpoolctl import LibController, ThreadpoolController

# `contract` and `reassoc` let sums vectorise; NaN and infinity keep their meaning.
FAST = {"contract", "reassoc", "nsz", "arcp"}
kernel = njit(nogil=True, cache=True, fastmath=FAST)
# A part of one kernel's innermost loop. A call would cost as much as its work.
inlined_kernel = njit(nogil=True, cache=True, fastmath=FAST, forceinline=True)
# For sums that must be added as they are written. Said aloud, or a caller's fastmath is inherited.
strict_kernel = njit(nogil=True, cache=True, fastmath=False)

# Loaded from its cache, a generator would be unknown to numba when a kernel that uses it is compiled.
generator = njit(nogil=True)

# An index known not to be negative. Where a loop mixes it with nothing but its like, the compiler drops
# Python's wrap-around of negative indices and vectorises the loop.
u = uint64

CACHE_LINE = 64  # bytes
BLOCKS_PER_THREAD = 8  # of a queue: enough that threads end at about the same time

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


@intrinsic  # type: ignore[misc]
def _fetch_and_add(typing_context, address, amount):  # type: ignore[no-untyped-def]  # noqa: ARG001
    """Add to an int64 in memory and return what it was, with no other thread in between."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]  # noqa: ARG001
        pointer = builder.inttoptr(arguments[0], IntType(64).as_pointer())
        return builder.atomic_rmw("add", pointer, arguments[1], "seq_cst")

    return types.int64(types.uint64, types.int64), generate


# The generators know of a queue but its address: a numba generator never gives back an array.


@generator
def _blocks(address: int, n_items: int, size: int) -> Iterator[tuple[int, int]]:
    first = _fetch_and_add(address, size)
    while first < n_items:
        yield first, min(first + size, n_items)
        first = _fetch_and_add(address, size)


@generator
def _items(address: int, n_items: int, size: int) -> Iterator[int]:
    for first, last in _blocks(address, n_items, size):
        for item in range(first, last):  # noqa: UP028  numba knows no `yield from`
            yield item


@generator
def blocks_of(queue: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Take blocks (first, last) from a queue until it is empty. Other threads take theirs meanwhile."""
    return _blocks(queue.ctypes.data, queue[1], queue[2])  # type: ignore[no-any-return]


@generator
def items_of(queue: NDArray[np.int64]) -> Iterator[int]:
    """Take items from a queue, block by block: see `blocks_of`."""
    return _items(queue.ctypes.data, queue[1], queue[2])  # type: ignore[no-any-return]


def queue_of(n_items: int, most: int | None = None) -> NDArray[np.int64]:
    """Queue for `blocks_of`: next item, number of items, and items in a block, at most so many."""
    n_threads = n_threads_now()
    n_blocks = 1 if n_threads == 1 else BLOCKS_PER_THREAD * n_threads
    size = -(-n_items // n_blocks)
    return np.array([0, n_items, size if most is None else min(size, most)])


def run_together(
    task: Callable[..., Any], n_items: int, *arguments: Any, most: int | None = None
) -> None:
    """Call ``task(queue, *arguments)`` on all threads, which share out the items among themselves.

    Items may be worked on at the same time, so each must write only to its own part of the output.
    """
    begin_together(lambda queue: task(queue, *arguments), queue_of(n_items, most))()


def begin_together(
    task: Callable[[NDArray[np.int64]], Any], queue: NDArray[np.int64]
) -> Callable[[], None]:
    """Let other threads begin to work off a queue. Returns what joins in and waits for them.

    No more threads than the queue has blocks. One that is busy until all others are done does not begin
    any more.
    """
    _, n_items, size = queue.tolist()
    n_threads = n_threads_now()
    n_helpers = min(n_threads, -(-n_items // max(size, 1))) - 1
    helpers = [_helpers(n_threads - 1).submit(task, queue) for _ in range(n_helpers)]

    def join() -> None:
        task(queue)
        for helper in helpers:
            if not helper.cancel():
                helper.result()

    return join


def begin_apart(task: Callable[[], None]) -> Callable[[], None]:
    """Let another thread do a task, or do it now if there is none. Returns what waits for its end."""
    n_threads = n_threads_now()
    if n_threads > 1:
        return _helpers(n_threads - 1).submit(task).result
    task()
    return lambda: None
