"""Kernels in threads: every item is worked on once, whoever takes it."""

import sys
import threading
import time
from contextlib import ExitStack

import numpy as np
import pytest
import torch

from genshapelets import parallel
from genshapelets.parallel import (
    blocks_of,
    items_of,
    kernel,
    one_blas_thread,
    queue_of,
    run_in_turn,
    run_together,
    threads,
)


@kernel
def count_items(queue, counts):
    for item in items_of(queue):
        counts[item] += 1


@kernel
def count_blocks(queue, counts, sizes):
    for first, last in blocks_of(queue):
        counts[first:last] += 1
        sizes[first] = last - first


@pytest.mark.parametrize("n_threads", [1, 2, 5])
@pytest.mark.parametrize("n_items", [0, 1, 3, 1000, 100_003])
def test_every_item_is_taken_once(n_threads, n_items):
    counts = np.zeros(n_items, np.int64)
    with threads(n_threads):
        run_together(count_items, n_items, counts)
    assert (counts == 1).all()


def test_kernels_give_their_queues_back():
    counts, sizes = np.zeros((2, 10), np.int64)
    for run in (lambda queue: count_items(queue, counts), lambda q: count_blocks(q, counts, sizes)):
        run(queue_of(10))  # whoever compiles may hold it for a while
        queue = queue_of(10)
        held = sys.getrefcount(queue)
        run(queue)
        assert sys.getrefcount(queue) == held


@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize("most", [None, 1, 7])
def test_blocks_are_no_larger_than_asked_for(n_threads, most):
    counts, sizes = np.zeros((2, 1000), np.int64)
    with threads(n_threads):
        run_in_turn((lambda queue: count_blocks(queue, counts, sizes), queue_of(1000, most)))
    assert (counts == 1).all() and sizes.sum() == 1000
    assert most is None or sizes.max() <= most
    assert n_threads == 1 or sizes.max() <= 1000 / n_threads


def test_a_failure_in_another_thread_is_raised():
    main = threading.get_ident()
    begun = threading.Event()

    def fail_elsewhere(queue):
        if threading.get_ident() != main:
            begun.set()
            raise RuntimeError("elsewhere")
        begun.wait(10)

    with threads(2), pytest.raises(RuntimeError, match="elsewhere"):
        run_in_turn((fail_elsewhere, queue_of(2)))


@kernel
def add_one_to(queue, before, after):
    for item in items_of(queue):
        after[item] = before[: len(before)].min() + 1


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_a_queue_is_begun_when_the_one_before_is_done(n_threads):
    a, b, c = np.zeros((3, 500))
    with threads(n_threads):
        for turn in range(20):
            a[:], b[:], c[:] = turn, -1.0, -1.0
            run_in_turn(
                (lambda queue: add_one_to(queue, a, b), queue_of(500, 1)),
                (lambda queue: add_one_to(queue, b, c), queue_of(500, 7)),
            )
            assert (b == turn + 1).all() and (c == turn + 2).all()


@pytest.mark.parametrize("who", ["caller", "helper"])
def test_nobody_waits_for_a_queue_that_failed(who):
    main = threading.get_ident()
    begun = threading.Barrier(2)
    went_on = []

    def fail(queue):
        begun.wait(10)
        if (threading.get_ident() == main) == (who == "caller"):
            raise RuntimeError("of the first queue")

    with threads(2), pytest.raises(RuntimeError, match="of the first queue"):
        run_in_turn((fail, queue_of(2)), (went_on.append, queue_of(2)))
    assert went_on == []
    counts = np.zeros(1000, np.int64)
    with threads(2):
        run_together(count_items, 1000, counts)
    assert (counts == 1).all()


@pytest.mark.parametrize("who", ["caller", "helper"])
def test_a_failure_ends_the_work_of_all(who):
    main = threading.get_ident()
    begun = threading.Barrier(2)
    counts = np.zeros(10, np.int64)

    def fail(queue):
        begun.wait(10)
        if (threading.get_ident() == main) == (who == "caller"):
            raise RuntimeError("of the first queue")
        time.sleep(0.2)
        count_items(queue, np.zeros(2, np.int64))  # the other has taken nothing: this queue is done

    with threads(2), pytest.raises(RuntimeError, match="of the first queue"):
        run_in_turn((fail, queue_of(2)), (lambda queue: count_items(queue, counts), queue_of(10)))
    assert (counts == 0).all()


def test_calls_do_without_threads_that_cannot_be_started(monkeypatch):
    def refuse(thread):
        raise RuntimeError("can't start new thread")

    counts = np.zeros(1000, np.int64)
    monkeypatch.setattr(threading.Thread, "start", refuse)
    with threads(len(parallel._threads) + 3):
        run_together(count_items, 1000, counts)
    assert (counts == 1).all()


def test_many_callers_at_once():
    counts = np.zeros((8, 20_000), np.int64)

    def call(own):
        with threads(3):
            for _ in range(30):
                run_together(count_items, own.size, own)

    callers = [threading.Thread(target=call, args=(own,)) for own in counts]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert (counts == 30).all()


def test_no_more_threads_begin_than_there_are_blocks():
    began = []
    with threads(4):
        run_in_turn((lambda queue: began.append(threading.get_ident()), queue_of(1)))
        run_in_turn((lambda queue: began.append(threading.get_ident()), queue_of(0)))
    assert began == [threading.get_ident()] * 2


def test_blas_gets_its_threads_back_from_the_last_of_many_callers():
    libraries = parallel._blas()
    before = [library.get_num_threads() for library in libraries]
    for library in libraries:
        library.set_num_threads(2)
    want = [library.get_num_threads() for library in libraries]
    try:
        with ExitStack() as first, ExitStack() as second:
            first.enter_context(one_blas_thread)
            second.enter_context(one_blas_thread)
            first.close()
            assert all(library.get_num_threads() == 1 for library in libraries)
            second.close()
            assert [library.get_num_threads() for library in libraries] == want
    finally:
        for library, n_threads in zip(libraries, before, strict=True):
            library.set_num_threads(n_threads)


def test_torch_gets_its_threads_back():
    before = torch.get_num_threads()
    with threads(before + 1):
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == before
