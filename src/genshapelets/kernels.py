"""Compiled kernels, and the threads they run on.

Kernels release the GIL, so plain threads suffice: no numba threading layer, which would not survive a
second caller or a fork. The number of threads is `torch.get_num_threads()`, the one knob users already
know, unless `threads` says otherwise.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numba import config, njit
from numba.core.compiler_lock import global_compiler_lock
from torch import Tensor

from .caching import cache_folder

CHUNKS_PER_THREAD = 6  # enough that threads end at about the same time
# Sums may be reordered and vectorised; NaN and infinity keep their meaning.
FAST_MATH = {"contract", "reassoc", "nsz", "arcp"}


def kernel(function: Callable, **options: Any) -> Any:
    """Compile a function when it is first called, and keep the result on disk if possible."""
    folder, before = cache_folder(), config.CACHE_DIR
    config.CACHE_DIR = folder
    settings = {"nogil": True, "cache": bool(folder), "fastmath": FAST_MATH} | options
    try:
        compiled = njit(**settings)(function)
    finally:
        config.CACHE_DIR = before
    if folder and Path(function.__code__.co_filename).is_relative_to(Path(__file__).parent):
        # The folder's name tells of changes. Times of files change when they are copied to an image.
        with suppress(AttributeError):
            compiled._cache._cache_file._source_stamp = Path(folder).name
    return compiled


def inner_kernel(function: Callable) -> Any:
    """Compile a function that only kernels call: without a way in from Python it compiles faster.

    It becomes part of its caller. A call would go to whichever copy was loaded first, compiled just now
    or read from disk; they may round differently.
    """
    return kernel(function, no_cpython_wrapper=True, no_cfunc_wrapper=True, forceinline=True)


# Threads

_n_threads: ContextVar[int | None] = ContextVar("n_threads", default=None)


class _OneTorchThread(threading.local):
    """Holds torch to one thread in the calling thread, while kernels and threads of ours are at work.

    Torch's own threads would go on spinning after each operation and take the processors from ours.
    Several threads may be inside at once; each ends with the number that the first of them found.
    """

    lock, n_inside, before = threading.Lock(), 0, 1
    depth = 0  # of this thread
    has_looked = False  # this thread, at how many there are

    def n_outside(self) -> int:
        """Torch's threads, were it not held to one."""
        if _OneTorchThread.n_inside:
            return _OneTorchThread.before
        if torch.get_num_threads() == 1 and not self.has_looked:
            # A thread keeps what torch had when it was first asked there: one, if others were inside.
            with ThreadPoolExecutor(1) as fresh:
                torch.set_num_threads(fresh.submit(torch.get_num_threads).result())
        self.has_looked = True
        return torch.get_num_threads()

    def __enter__(self) -> None:
        self.depth += 1
        if self.depth > 1:
            return
        cls = _OneTorchThread
        with cls.lock:
            if cls.n_inside == 0:
                cls.before = self.n_outside()
            cls.n_inside += 1
            torch.set_num_threads(1)

    def __exit__(self, *_: object) -> None:
        self.depth -= 1
        if self.depth:
            return
        cls = _OneTorchThread
        with cls.lock:
            cls.n_inside -= 1
            torch.set_num_threads(cls.before)


one_torch_thread = _OneTorchThread()


def threads_allowed() -> int:
    """Threads that kernels may use now."""
    return _n_threads.get() or one_torch_thread.n_outside()


@contextmanager
def threads(n_threads: int) -> Iterator[None]:
    """Give our kernels this many threads, and torch a single one."""
    token = _n_threads.set(n_threads)
    try:
        with one_torch_thread:
            yield
    finally:
        _n_threads.reset(token)


@cache
def _pool(n_threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(n_threads, "genshapelets")


def run(task: Callable[[int, int], object], n_items: int, chunk: int | None = None) -> None:
    """Call ``task(first, last)`` on chunks of the items, in as many threads as allowed.

    Items may be worked on at the same time, so each must write only to its own part of the output, and
    must not depend on how the items are divided. Without a size of the chunks, they are as large as it
    takes to keep all threads busy.
    """
    n_threads = threads_allowed()
    if chunk is None:
        chunk = n_items if n_threads == 1 else -(-n_items // (CHUNKS_PER_THREAD * n_threads))
    chunks = deque((i, min(i + chunk, n_items)) for i in range(0, n_items, max(chunk, 1)))
    n_threads = min(n_threads, len(chunks))

    def work() -> None:
        while chunks:
            try:
                first, last = chunks.popleft()
            except IndexError:  # another thread took the last one
                return
            try:
                task(first, last)
            except BaseException:
                chunks.clear()
                raise

    def help_out() -> None:
        torch.set_num_threads(1)
        work()

    with one_torch_thread:
        helpers = [_pool(n_threads - 1).submit(help_out) for _ in range(n_threads - 1)]
        try:
            work()
        finally:
            # Those that have not begun, behind another caller's work, are not needed any more.
            helpers = [helper for helper in helpers if not helper.cancel()]
            for helper in helpers:
                helper.exception()  # wait for all, whatever happens
        for helper in helpers:
            helper.result()


class _Scratch(threading.local):
    def __init__(self) -> None:
        self.memory: dict[str, np.ndarray] = {}


_scratch = _Scratch()


def scratch(name: str, shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
    """Tensor to write on, this thread's own until it asks for the same name again.

    Its memory is kept from call to call: fresh memory may take longer to get than to fill.
    """
    size = prod(shape) * dtype.itemsize
    if name not in _scratch.memory or len(_scratch.memory[name]) < size:
        _scratch.memory[name] = np.empty(size, np.uint8)
    # A new tensor each time: one that was made in inference mode could not be written on outside.
    return torch.from_numpy(_scratch.memory[name][:size]).view(dtype).view(shape)


# Forks. A child has none of its parent's threads, and whatever lock they held stays locked for ever.


class once(property):  # noqa: N801
    """Property that is computed when it is first asked for.

    `functools.cached_property` of Python 3.11 and older holds a lock meanwhile.
    """

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        known, name = vars(instance), self.fget.__name__  # type: ignore[union-attr]
        if name not in known:
            known[name] = super().__get__(instance, owner)
        return known[name]


def _after_fork() -> None:
    """Let torch have one thread in a child: with more it would wait for those that its parent had."""
    _pool.cache_clear()
    cls = _OneTorchThread
    cls.lock, cls.n_inside, cls.before = threading.Lock(), min(one_torch_thread.depth, 1), 1
    torch.set_num_threads(1)


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(
        before=global_compiler_lock.acquire,  # wait until no other thread is compiling
        after_in_parent=global_compiler_lock.release,
        after_in_child=global_compiler_lock.release,
    )
    os.register_at_fork(after_in_child=_after_fork)
