"""Run compiled kernels in threads.

The kernels release the GIL, so plain threads suffice: no numba threading layer, which would not
survive a fork or a second caller. The number of threads is `torch.get_num_threads()`, the one knob
users already know, unless `threads` says otherwise.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, partial
from math import prod
from queue import SimpleQueue
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
DONE = 3  # where a queue holds the number of items done
LOOKS = 10_000  # at what others still have to do, before one sleeps: some 0.1 ms
PAUSE = 1e-4  # seconds of that sleep

Queue = NDArray[np.int64]
Work = tuple[Callable[[Queue], Any], Queue]

_threads: list[threading.Thread] = []
_calls: list[SimpleQueue[Callable[[], None]]] = [SimpleQueue()]


def _forget_threads() -> None:
    _threads.clear()
    _calls[0] = SimpleQueue()


os.register_at_fork(after_in_child=_forget_threads)

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


class _OneBlasThread:
    """Keeps the BLAS that kernels call from starting threads inside our own.

    The number of threads is the library's, not the caller's: the last of those who are inside at once
    restores what the first has found.
    """

    def __init__(self) -> None:
        self.lock, self.n_inside, self.before = threading.Lock(), 0, list[int]()

    def __enter__(self) -> None:
        with self.lock:
            if self.n_inside == 0:
                self.before = [library.get_num_threads() for library in _blas()]
                for library in _blas():
                    library.set_num_threads(1)
            self.n_inside += 1

    def __exit__(self, *_: object) -> None:
        with self.lock:
            self.n_inside -= 1
            if self.n_inside == 0:
                for library, n_threads in zip(_blas(), self.before, strict=True):
                    library.set_num_threads(n_threads)


one_blas_thread = _OneBlasThread()
os.register_at_fork(after_in_child=one_blas_thread.__init__)  # type: ignore[misc]


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


@intrinsic  # type: ignore[misc]
def _fetch_and_add(typing_context, address, amount):  # type: ignore[no-untyped-def]  # noqa: ARG001
    """Add to an int64 in memory and return what it was, with no other thread in between."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]  # noqa: ARG001
        pointer = builder.inttoptr(arguments[0], IntType(64).as_pointer())
        return builder.atomic_rmw("add", pointer, arguments[1], "seq_cst")

    return types.int64(types.uint64, types.int64), generate


# These know a queue by its address: a generator of numba never gives back an array.


@generator
def _blocks(address: int, n_items: int, size: int) -> Iterator[tuple[int, int]]:
    first = _fetch_and_add(address, size)
    while first < n_items:
        last = min(first + size, n_items)
        yield first, last
        _fetch_and_add(address + 8 * DONE, last - first)
        first = _fetch_and_add(address, size)


@generator
def _items(address: int, n_items: int, size: int) -> Iterator[int]:
    for first, last in _blocks(address, n_items, size):
        for item in range(first, last):  # noqa: UP028  numba knows no `yield from`
            yield item


@generator
def blocks_of(queue: Queue) -> Iterator[tuple[int, int]]:
    """Take blocks (first, last) from a queue until it is empty. Other threads take theirs meanwhile."""
    return _blocks(queue.ctypes.data, queue[1], queue[2])  # type: ignore[no-any-return]


@generator
def items_of(queue: Queue) -> Iterator[int]:
    """Take items from a queue, block by block: see `blocks_of`."""
    return _items(queue.ctypes.data, queue[1], queue[2])  # type: ignore[no-any-return]


@kernel
def _becomes(numbers, index, value, n_looks):  # type: ignore[no-untyped-def]
    """Whether a number that other threads change is, or becomes while one looks, so much."""
    address = numbers.ctypes.data + 8 * index
    while n_looks > 0 and _fetch_and_add(address, 0) != value:
        n_looks -= 1
    return n_looks > 0


def is_done(queue: Queue, n_looks: int = 1) -> bool:
    """Whether all items of a queue have been taken and finished. Looks so often if not."""
    return bool(_becomes(queue, DONE, queue[1], n_looks))


def queue_of(n_items: int, most: int | None = None) -> Queue:
    """Queue for `blocks_of`: next item, items, items in a block (at most so many), items done."""
    n_threads = n_threads_now()
    n_blocks = 1 if n_threads == 1 else BLOCKS_PER_THREAD * n_threads
    size = -(-n_items // n_blocks)
    return np.array([0, n_items, size if most is None else min(size, most), 0])


def run_together(
    task: Callable[..., Any], n_items: int, *arguments: Any, most: int | None = None
) -> None:
    """Call ``task(queue, *arguments)`` on all threads, which share out the items among themselves.

    Items may be worked on at the same time, so each must write only to its own part of the output.
    """
    run_in_turn((lambda queue: task(queue, *arguments), queue_of(n_items, most)))


def run_in_turn(*works: Work) -> None:
    """Let all threads work off one queue after the other, each when the one before is done.

    No more threads than a queue has blocks. A helper that comes when all is done does nothing.
    """
    n_threads = n_threads_now()
    if n_threads > 1:
        n_threads = min(n_threads, max(_n_blocks(queue) for _, queue in works))
    if n_threads > 1:
        _Team(works, n_threads - 1).run()
        return
    for task, queue in works:
        task(queue)


class _Team:
    """The threads that share the work of one call: the caller, and so many helpers."""

    def __init__(self, works: Sequence[Work], n_helpers: int) -> None:
        self.works, self.closed = works, False
        self.errors: list[BaseException] = []
        self.begun, self.left = np.zeros((2, n_helpers), np.int64)  # 1 for each helper that has
        for helper in range(_ensure_threads(n_helpers)):
            _calls[0].put(partial(self.help, helper))

    def run(self) -> None:
        """Work as the caller, then wait for the helpers that have begun."""
        try:
            self.work()
        finally:
            self.closed = True
            for helper in np.flatnonzero(self.begun):
                while not _becomes(self.left, helper, 1, LOOKS):
                    time.sleep(PAUSE)
        if self.errors:
            raise self.errors[0]

    def help(self, helper: int) -> None:
        """Work as a helper, unless the caller has left before."""
        self.begun[helper] = 1
        try:
            if not self.closed:
                self.work()
        except BaseException as error:  # noqa: BLE001  the caller raises it
            self.errors.append(error)
        finally:
            self.left[helper] = 1

    def work(self) -> None:
        """Take from each queue what others leave, and see that all is done before the next."""
        for task, queue in self.works:
            if self.closed or self.errors:
                return
            task(queue)
            if queue is self.works[-1][1]:
                return
            # All end at about the same time: to sleep and be woken would take longer.
            while not is_done(queue, LOOKS):
                if self.closed or self.errors:
                    return
                time.sleep(PAUSE)


def _n_blocks(queue: Queue) -> int:
    _, n_items, size, _ = queue.tolist()
    return -(-n_items // max(size, 1))


def _ensure_threads(n_threads: int) -> int:
    """Have so many threads wait for something to call, or as many as there can be. Returns how many."""
    while len(_threads) < n_threads:
        thread = threading.Thread(
            target=_serve, args=(_calls[0],), name="genshapelets", daemon=True
        )
        try:
            thread.start()
        except RuntimeError:  # the system gives no more
            break
        _threads.append(thread)
    return min(len(_threads), n_threads)


def _serve(calls: SimpleQueue[Callable[[], None]]) -> None:
    while True:
        calls.get()()
