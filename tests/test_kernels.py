"""Kernels in threads: every item is worked on once, and torch keeps its own number of threads."""

import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from problems import SERIES, irregular, make_transform, ragged, regular

from genshapelets import ShapeletClassifier, caching, interpolate, kernels, warming, warmup
from genshapelets.kernels import run, scratch, threads


def python(script, *arguments, timeout=120, **environment):
    """Run a script in a Python of its own, and return what it prints."""
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=timeout,
        env=os.environ | environment,
        cwd=Path(__file__).parent,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


# Items and chunks


@pytest.mark.parametrize("n_threads", [1, 2, 5])
@pytest.mark.parametrize("n_items", [0, 1, 3, 13, 1000, 100_003])
def test_every_item_is_worked_on_once(n_threads, n_items):
    counts = np.zeros(n_items, np.int64)

    def count(first, last):
        assert 0 <= first < last <= n_items
        counts[first:last] += 1

    with threads(n_threads):
        run(count, n_items)
    assert (counts == 1).all()


@pytest.mark.parametrize(
    ("n_threads", "chunk"), [(1, 1), (1, 7), (2, 1000), (2, 7), (5, 1), (5, 64)]
)
def test_chunks_are_as_large_as_asked_for(n_threads, chunk):
    counts, sizes = np.zeros(1000, np.int64), []

    def count(first, last):
        counts[first:last] += 1
        sizes.append(last - first)

    with threads(n_threads):
        run(count, 1000, chunk)
    assert (counts == 1).all()
    assert sorted(sizes)[1:] == [chunk] * (len(sizes) - 1) and max(sizes) <= chunk


@pytest.mark.parametrize("n_threads", [2, 5])
def test_there_are_several_chunks_for_each_thread(n_threads):
    sizes = []
    with threads(n_threads):
        run(lambda first, last: sizes.append(last - first), 1000)
    assert len(sizes) >= 2 * n_threads


def test_one_thread_takes_all_items_at_once():
    calls = []
    with threads(1):
        run(lambda first, last: calls.append((first, last, threading.get_ident())), 1000)
    assert calls == [(0, 1000, threading.get_ident())]


def test_a_single_chunk_is_worked_on_by_the_caller():
    callers = []
    with threads(4):
        run(lambda first, last: callers.append(threading.get_ident()), 1)
    assert callers == [threading.get_ident()]


def test_many_callers_at_once():
    counts = np.zeros((8, 2000), np.int64)

    def call(own):
        def count(first, last):
            own[first:last] += 1

        with threads(3):
            for _ in range(30):
                run(count, own.size)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(call, counts))
    assert (counts == 30).all()


def test_scratch_belongs_to_its_thread_and_is_used_again():
    mine = scratch("test", (3, 4), torch.float32)
    assert mine.shape == (3, 4) and mine.dtype == torch.float32
    assert scratch("test", (2, 5), torch.float32).data_ptr() == mine.data_ptr()
    assert scratch("test", (50, 4), torch.float32).shape == (50, 4)
    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(scratch, "test", (2, 5), torch.float32).result()
    assert other.data_ptr() != scratch("test", (2, 5), torch.float32).data_ptr()


# Failures


@pytest.mark.parametrize("who", ["caller", "helper"])
def test_a_failure_is_raised_and_the_others_stop(who):
    main, failed = threading.get_ident(), threading.Event()
    both, done = threading.Barrier(2), []

    def fail_once(first, last):
        if not failed.is_set():
            both.wait(10)  # both threads have an item
            if (threading.get_ident() == main) == (who == "caller"):
                failed.set()
                raise RuntimeError(f"of the {who}")
            failed.wait(10)
        time.sleep(0.01)
        done.append(first)

    with threads(2), pytest.raises(RuntimeError, match=f"of the {who}"):
        run(fail_once, 1000, 1)
    assert len(done) < 500
    counts = np.zeros(1000, np.int64)

    def count(first, last):
        counts[first:last] += 1

    with threads(2):
        run(count, 1000)
    assert (counts == 1).all()


def test_the_caller_waits_for_its_helpers_before_it_fails():
    main, both, ended = threading.get_ident(), threading.Barrier(2), []

    def fail(first, last):
        both.wait(10)
        if threading.get_ident() == main:
            raise KeyboardInterrupt
        time.sleep(0.1)
        ended.append(first)

    with threads(2), pytest.raises(KeyboardInterrupt):
        run(fail, 2, 1)
    assert len(ended) == 1


# Torch's own threads


def in_new_thread(function):
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function).result(60)


@contextmanager
def torch_threads(n_threads):
    """Let torch have so many threads, here and in threads to come."""
    before = torch.get_num_threads()
    torch.set_num_threads(n_threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def assert_torch_has(n_threads):
    assert torch.get_num_threads() == n_threads
    assert in_new_thread(torch.get_num_threads) == n_threads


def test_torch_has_one_thread_inside_and_its_own_afterwards():
    with torch_threads(3):
        with threads(4):
            assert torch.get_num_threads() == 1
            with threads(2):
                assert torch.get_num_threads() == 1
            assert torch.get_num_threads() == 1
        assert_torch_has(3)
        with pytest.raises(RuntimeError, match="inside"), threads(4):
            raise RuntimeError("inside")
        assert_torch_has(3)


def test_tasks_see_one_thread_of_torch():
    seen = []
    with torch_threads(3):
        run(lambda first, last: seen.append(torch.get_num_threads()), 100, 1)
        assert set(seen) == {1}
        assert_torch_has(3)


@pytest.mark.parametrize("first_to_leave", [0, 1])
def test_overlapping_callers_leave_torch_its_threads(first_to_leave):
    both, leave = threading.Barrier(3), [threading.Event(), threading.Event()]

    def call(own):
        before = torch.get_num_threads()
        both.wait(10)
        with threads(2):
            both.wait(10)
            leave[own].wait(10)
            inside = torch.get_num_threads()
        return before, inside, torch.get_num_threads()

    with torch_threads(3), ThreadPoolExecutor(2) as pool:
        callers = [pool.submit(call, own) for own in range(2)]
        both.wait(10)
        both.wait(10)  # both are inside
        for own in (first_to_leave, 1 - first_to_leave):
            leave[own].set()
            assert callers[own].result(10) == (3, 1, 3)
        assert_torch_has(3)


def test_a_thread_that_began_while_torch_was_held_leaves_it_its_threads():
    inside, begun = threading.Event(), threading.Event()

    def hold():
        with threads(2):
            inside.set()
            begun.wait(10)

    def late():
        inside.wait(10)
        torch.get_num_threads()  # for good, as this thread sees it
        begun.set()
        holder.result(10)
        allowed = kernels.threads_allowed()
        with threads(2):
            pass
        return allowed

    with torch_threads(3), ThreadPoolExecutor(2) as pool:
        holder = pool.submit(hold)
        assert pool.submit(late).result(10) == 3
        assert_torch_has(3)


def test_helpers_that_start_late_leave_torch_its_threads(monkeypatch):
    """A helper may begin when the work is done, and must not set torch's threads then."""
    starts, set_num_threads = itertools.count(1), torch.set_num_threads

    def late(n_threads):
        if threading.current_thread().name.startswith("genshapelets"):
            time.sleep(0.1 * next(starts))
        set_num_threads(n_threads)

    kernels._pool.cache_clear()
    try:
        with torch_threads(3):
            monkeypatch.setattr(torch, "set_num_threads", late)
            with threads(4):
                run(lambda first, last: None, 4, 1)
            monkeypatch.undo()
            time.sleep(0.5)
            assert_torch_has(3)
    finally:
        kernels._pool.cache_clear()


# The transform in threads and processes


def results(transform, paths):
    """Everything that a forward and a backward pass give."""
    transform.zero_grad()
    matches = transform(paths)
    matches.discrepancy.sum().backward()
    gradients = [parameter.grad.clone() for parameter in transform.parameters()]
    return [matches.discrepancy.detach(), matches.start, *gradients]


def assert_same_bits(got, want):
    assert len(got) == len(want)
    assert all(torch.equal(one, other) for one, other in zip(got, want))


@pytest.mark.parametrize(
    ("kind", "search", "metric"),
    [
        ("regular", "grid", "diagonal"),
        ("regular", "refined", "full"),
        ("irregular", "refined", "diagonal"),
        ("ragged", "auto", "full"),
        ("ragged", "exact", "none"),
    ],
)
def test_the_number_of_threads_does_not_change_a_bit(kind, search, metric, monkeypatch):
    monkeypatch.setattr("genshapelets.search.l2.CHUNK_ELEMENTS", 1)  # a chunk for each path
    rng = np.random.default_rng(0)
    series = SERIES[kind](rng)
    transform = make_transform(rng, metric=metric, level_free="mixed", search=search)
    found = []
    for n_threads in (1, 2, 5):
        with threads(n_threads):
            found.append(results(transform, interpolate(series)))
    assert_same_bits(found[1], found[0])
    assert_same_bits(found[2], found[0])


@pytest.mark.parametrize("n_threads", [1, 3])
def test_two_transforms_at_once(n_threads):
    rng = np.random.default_rng(1)
    batches = [interpolate(maker(rng, 12)) for maker in (regular, irregular)]
    transforms = [make_transform(rng, metric=metric) for metric in ("full", "diagonal")]
    want = [results(*both) for both in zip(transforms, batches)]

    def repeat(transform, paths):
        with threads(n_threads):
            return [results(transform, paths) for _ in range(10)]

    with ThreadPoolExecutor(2) as pool:
        got = list(pool.map(repeat, transforms, batches))
    for own, expected in zip(got, want):
        for one in own:
            assert_same_bits(one, expected)


def test_paths_may_be_shared_by_transforms_at_once():
    """Whoever comes first lays the paths on their lattice."""
    rng = np.random.default_rng(2)
    series, transforms = ragged(rng), [make_transform(rng) for _ in range(4)]
    want = [transform(series) for transform in transforms]
    for _ in range(5):
        paths = interpolate(series)
        with ThreadPoolExecutor(4) as pool:
            got = list(pool.map(lambda transform, paths=paths: transform(paths), transforms))
        for one, other in zip(got, want):
            assert torch.equal(one.discrepancy, other.discrepancy)


AFTER_FORK = """
import os
import signal

import numpy as np
import torch
from problems import irregular, make_transform, regular

from genshapelets.kernels import threads

torch.set_num_threads(2)
rng = np.random.default_rng(0)
batches = [regular(rng), irregular(rng)]
transform = make_transform(rng)


def results():
    found = []
    for series in batches:
        matches = transform(series)
        matches.discrepancy.sum().backward()
        found.append(matches.discrepancy)
    return torch.cat(found)


def status_of_child():
    child = os.fork()
    if child == 0:
        signal.alarm(30)  # which ends a child that waits for ever
        os._exit(0 if torch.equal(results(), want) else 3)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


want = results()  # the pool of threads is running
assert status_of_child() == 0
with threads(3):
    assert status_of_child() == 0
assert torch.equal(results(), want) and torch.get_num_threads() == 2
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_can_use_the_transform():
    python(AFTER_FORK)


USED_AFTER_FORK = """
import os
import signal
import threading

import numpy as np
import torch

from genshapelets import RaggedSeries, ShapeletClassifier

torch.set_num_threads(2)
rng = np.random.default_rng(0)
X, y = rng.normal(size=(9000, 1, 5)), np.arange(9000) % 4
models = []
network = ShapeletClassifier(shapelets="network", n_shapelets=3, max_epochs=1).fit(X[:40], y[:40])


def fit(seed):
    tiny = dict(n_shapelets=4, max_epochs=2 + seed, n_jobs=2, random_state=seed)
    models.append(ShapeletClassifier(**tiny).fit(X[:40], y[:40]))


fits = [threading.Thread(target=fit, args=[seed]) for seed in range(2)]
for one in fits:
    one.start()
for one in fits:
    one.join()
assert torch.get_num_threads() == 2
torch.ones(10**6).exp()  # by torch's own threads, which no child has
explanation = models[0].explain(X)
for use in (
    lambda: models[0].predict_proba(X),
    lambda: models[0].predict(X),
    lambda: models[0].explain(X),
    lambda: explanation.matches.features,
    lambda: network.shapelets_,
    lambda: models[0].model_.discrepancies(models[0].model_.paths(RaggedSeries.from_arrays(X))),
    lambda: models[0].model_.outputs(torch.ones(300_000, 4)),
    lambda: torch.ones(10**6).exp(),
):
    child = os.fork()
    if child == 0:
        signal.alarm(30)  # which ends a child that waits for ever
        use()
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_can_use_a_model_and_two_fits_at_once_leave_torch_its_threads():
    python(USED_AFTER_FORK)


FORK_AMID = """
import os
import signal
import threading

import numba
import numpy as np
import torch
from numba.core.compiler_lock import global_compiler_lock

from genshapelets import RaggedSeries, interpolate, kernels

torch.set_num_threads(3)
series = RaggedSeries.from_arrays(np.ones((3, 1, 4)))
paths, others = interpolate(series), interpolate(series)
amid, go_on, diff = [threading.Event() for _ in range(3)], threading.Event(), np.diff


def slow_diff(x):
    amid[0].set()
    go_on.wait(30)
    return diff(x)


def ask():
    paths.lengths


def compile():
    with global_compiler_lock:
        amid[1].set()
        go_on.wait(0.5)


def hold_torch():
    with kernels.threads(2):
        amid[2].set()
        go_on.wait(30)


np.diff = slow_diff
for work, at_work in zip((ask, compile, hold_torch), amid):
    threading.Thread(target=work).start()
    at_work.wait()
child = os.fork()
np.diff = diff
if child == 0:
    signal.alarm(20)  # which ends a child that waits for ever
    assert others.lengths.tolist() == [4, 4, 4]
    assert numba.njit(lambda x: x + 1)(1) == 2
    known = []
    new = threading.Thread(target=lambda: known.append(torch.get_num_threads()))
    new.start()
    new.join()
    os._exit(0 if known == [1] else 3)
go_on.set()
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_fork_while_other_threads_are_at_work():
    python(FORK_AMID)


# Other surroundings


WITHOUT_AT_FORK = """
import os

import numba
import scipy.fft
import sklearn.utils
import torch

del os.register_at_fork

import numpy as np

import genshapelets

paths = genshapelets.interpolate(genshapelets.RaggedSeries.from_arrays(np.ones((3, 1, 4))))
print(paths.evaluate(1.5).sum())
"""


def test_the_package_imports_where_nothing_can_be_registered_at_a_fork():
    assert python(WITHOUT_AT_FORK) == "3.0\n"


WITHOUT_FOLDER = """
import pathlib

make = pathlib.Path.mkdir


def refuse(path, *args, **kwargs):
    if "genshapelets" in str(path):
        raise PermissionError(13, "Permission denied", str(path))
    make(path, *args, **kwargs)


pathlib.Path.mkdir = refuse

import numpy as np

import genshapelets
from genshapelets.caching import cache_folder

assert cache_folder() == "", cache_folder()
paths = genshapelets.interpolate(genshapelets.RaggedSeries.from_arrays(np.ones((3, 1, 4))))
print(paths.evaluate(1.5).sum())
"""


def test_the_package_imports_where_no_folder_can_be_written(tmp_path):
    file = tmp_path / "file"
    file.touch()
    assert python(WITHOUT_FOLDER, HOME=str(file), NUMBA_CACHE_DIR="") == "3.0\n"


def package_copy(folder):
    """The sources alone, in another place; returns the file that looks for a cache."""
    here = Path(caching.__file__).parent
    shutil.copytree(here, folder, ignore=shutil.ignore_patterns("__pycache__", "assets"))
    return folder / "caching.py"


def cache_folder():
    return caching.cache_folder.__wrapped__()


@pytest.fixture
def sources(tmp_path, monkeypatch):
    """A copy of the package's sources that stands in for the package, and a home beside it."""
    file = package_copy(tmp_path / "package")
    monkeypatch.setattr(caching, "__file__", str(file))
    monkeypatch.setattr(caching.config, "CACHE_DIR", "")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    return file.parent


def test_the_cache_has_another_name_when_a_source_has_changed(sources):
    before = cache_folder()
    assert Path(before).parent == sources / "__pycache__" and cache_folder() == before
    with (sources / "evaluation" / "l2_union.py").open("a") as file:
        file.write("\n# changed\n")
    after = cache_folder()
    assert Path(after).parent == Path(before).parent and after != before


def test_the_cache_is_in_the_home_if_the_package_cannot_be_written(sources):
    (sources / "__pycache__").touch()  # no folder, so none can be made in it
    assert Path(cache_folder()).parent == sources.parent / "home" / ".cache" / "genshapelets"


@pytest.mark.parametrize("failure", ["no folder", "no file"])
def test_there_is_no_cache_if_nothing_can_be_written(sources, monkeypatch, failure):
    def refuse(*args, **kwargs):
        raise PermissionError("read-only")

    where, name = (Path, "mkdir") if failure == "no folder" else (tempfile, "TemporaryFile")
    monkeypatch.setattr(where, name, refuse)
    assert cache_folder() == ""


def test_a_user_without_a_home_can_use_the_package(sources, monkeypatch):
    def refuse(path):
        if str(path).startswith("~"):
            raise RuntimeError("Could not determine home directory.")
        return path

    monkeypatch.setattr(Path, "expanduser", refuse)
    monkeypatch.setattr(Path, "home", lambda: refuse("~"))
    assert Path(cache_folder()).parent == sources / "__pycache__"
    (sources / "__pycache__").rename(sources / "elsewhere")
    (sources / "__pycache__").touch()
    assert Path(cache_folder()).parent == in_temporary_folder(sources)


def in_temporary_folder(sources):
    return sources.parent / f"genshapelets-{os.getuid()}"


def test_the_cache_is_in_a_temporary_folder_if_the_home_cannot_be_written(sources):
    (sources / "__pycache__").touch()
    (sources.parent / "home").touch()
    folder = Path(cache_folder())
    assert folder.parent == in_temporary_folder(sources)
    assert folder.parent.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("trap", ["writable", "link"])
def test_a_temporary_folder_of_somebody_else_is_not_used(sources, trap):
    (sources / "__pycache__").touch()
    (sources.parent / "home").touch()
    folder = in_temporary_folder(sources)
    if trap == "link":
        (sources.parent / "theirs").mkdir()
        folder.symlink_to(sources.parent / "theirs")
    else:
        folder.mkdir()
        folder.chmod(0o777)
    assert cache_folder() == ""


def test_the_cache_is_where_numba_is_told(sources, monkeypatch, tmp_path):
    monkeypatch.setattr(caching.config, "CACHE_DIR", str(tmp_path / "told"))
    assert Path(cache_folder()).parent == tmp_path / "told"
    (tmp_path / "file").touch()
    monkeypatch.setattr(caching.config, "CACHE_DIR", str(tmp_path / "file"))
    assert Path(cache_folder()).parent == sources / "__pycache__"


def test_a_full_cache_that_cannot_be_written_is_copied(sources, monkeypatch):
    """As of an image, whose user may not write where the package is."""
    full = Path(cache_folder())
    (full / "of_a_file").mkdir()
    (full / "of_a_file" / "kernel.nbi").write_text("compiled")
    in_turn = tempfile.TemporaryFile

    def refuse(**where):
        if Path(where["dir"]) == full:
            raise PermissionError("read-only")
        return in_turn(**where)

    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    copy = Path(cache_folder())
    assert copy.parent == sources.parent / "home" / ".cache" / "genshapelets"
    assert (copy / "of_a_file" / "kernel.nbi").read_text() == "compiled"


PARSE = """
from genshapelets.datasets import parsing
print(parsing.parse_numbers("1,2.5", 2))
stats = parsing._parse_simple.stats
print(sum(stats.cache_hits.values()), sum(stats.cache_misses.values()))
"""


def test_what_was_compiled_survives_new_times_of_the_files(tmp_path):
    """An image, or a copy, may round them."""
    package_copy(tmp_path / "genshapelets")
    where = {"PYTHONPATH": str(tmp_path), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    assert python(PARSE, **where) == "[1.  2.5]\n0 1\n"
    for file in (tmp_path / "genshapelets").rglob("*.py"):
        os.utime(file, (1_000_000_000, 1_000_000_000))
    assert python(PARSE, **where) == "[1.  2.5]\n1 0\n"


NOWHERE = """
import logging, pathlib, sys, warnings
logging.basicConfig(level="INFO", stream=sys.stdout, format="%(message)s")
warnings.showwarning = lambda message, *_, **__: print("warning:", message)
from genshapelets.datasets import parsing
print(parsing.parse_numbers("1,2.5", 2), parsing.parse_numbers("3", 1))
"""


def test_without_any_folder_kernels_are_compiled_anew_with_one_warning(tmp_path):
    folder, file = tmp_path / "genshapelets", tmp_path / "file"
    package_copy(folder)
    (folder / "__pycache__").touch()
    file.touch()
    temporary = tmp_path / f"genshapelets-{os.getuid()}"
    temporary.touch()
    said = python(
        NOWHERE,
        PYTHONPATH=str(tmp_path),
        NUMBA_CACHE_DIR=str(file),
        HOME=str(file),
        TMPDIR=str(tmp_path),
        PYTHONDONTWRITEBYTECODE="1",
    ).splitlines()
    assert said[0].startswith("compiling kernels for this machine") and "not kept" in said[0]
    assert said[1].startswith("warning: no folder for compiled kernels can be written")
    assert said[2:] == ["[1.  2.5] [3.]"]


# What is said while kernels are compiled


def compilation(module="genshapelets.search.l2"):
    return SimpleNamespace(data={"dispatcher": SimpleNamespace(__module__=module)})


@pytest.fixture
def compilations(monkeypatch):
    """None yet, in a process that nobody looks at."""
    monkeypatch.delattr(sys, "ps1", raising=False)
    monkeypatch.setattr(caching, "_tell", [])
    return caching._Compilations()


def test_the_first_compilation_is_told_once(compilations, caplog, capsys):
    caplog.set_level("INFO", "genshapelets")
    outer, inner = [], []
    compilations.on_start(compilation("somebody.elses"))
    with caching.telling(outer.append), caching.telling(inner.append), caching.telling(None):
        compilations.on_start(compilation())
        compilations.on_start(compilation())
    assert compilations.count == 2 and inner == [] and len(outer) == len(caplog.messages) == 1
    assert "which may take a minute" in outer[0] and caching.cache_folder() in outer[0]
    assert capsys.readouterr().err == "" and caching._tell == []


def test_somebody_at_a_prompt_is_told_of_compilation(compilations, capsys, monkeypatch):
    monkeypatch.setattr(sys, "ps1", ">>> ", raising=False)
    compilations.on_start(compilation())
    assert capsys.readouterr().err.startswith("compiling kernels for this machine")


@pytest.mark.parametrize("verbose", [0, 1])
def test_a_verbose_fit_tells_of_compilation(verbose, capsys, monkeypatch, compilations):
    def fit(*_, **__):
        compilations.on_start(compilation())
        raise KeyError("enough")

    monkeypatch.setattr("genshapelets.estimators.base.Fitter.fit", fit)
    X = np.random.default_rng(0).normal(size=(6, 1, 9))
    with pytest.raises(KeyError, match="enough"):
        ShapeletClassifier(verbose=verbose, random_state=0).fit(X, [0, 1] * 3)
    assert ("compiling kernels" in capsys.readouterr().err) == bool(verbose)


def test_warming_up_says_what_it_did(capsys, monkeypatch):
    monkeypatch.setattr(warming, "_use_all", lambda: None)
    assert warmup() == caching.cache_folder()
    assert capsys.readouterr().err == (
        f"no kernels had to be compiled; all are kept in {caching.cache_folder()}\n"
    )
    warmup(verbose=False)
    assert capsys.readouterr().err == ""


WARM = """
import sys, warnings
warnings.simplefilter("ignore")
from genshapelets import warmup
warmup(verbose=False)
ours = [module for name, module in sys.modules.items() if name.startswith("genshapelets")]
kernels = {each for module in ours for each in vars(module).values() if hasattr(each, "py_func")}
whole = [each for each in kernels if not each.targetoptions.get("forceinline")]
print(len(whole), *(each.__name__ for each in whole if not each.signatures))
"""


@pytest.mark.slow
def test_warming_up_compiles_every_kernel():
    n_kernels, *missed = python(WARM, timeout=900).split()
    assert int(n_kernels) > 15 and not missed


FORWARD_AND_BACKWARD = """
import json
import sys

import numpy as np
from problems import irregular, make_transform, regular


def results():
    rng = np.random.default_rng(3)
    found = []
    for maker, metric, search in (
        (regular, "diagonal", "grid"),
        (irregular, "full", "refined"),
        (irregular, "none", "exact"),
    ):
        series = maker(rng, n_series=2, n_times=(7, 9))
        transform = make_transform(
            rng, n_shapelets=2, n_knots=3, lengths=[1.1, 2.0], metric=metric, level_free="mixed",
            search=search,
        )
        matches = transform(series)
        matches.discrepancy.sum().backward()
        gradients = [parameter.grad for parameter in transform.parameters()]
        # Not the starts: all that lie on a straight line may be equally good.
        for tensor in (matches.discrepancy.detach(), *gradients):
            found += tensor.flatten().tolist()
    return found


if __name__ == "__main__":
    import numba

    assert numba.config.DISABLE_JIT
    print(json.dumps(results()))
"""


def test_the_kernels_run_without_compilation():
    compiled = {"__name__": "compiled"}
    exec(FORWARD_AND_BACKWARD, compiled)
    plain = json.loads(python(FORWARD_AND_BACKWARD, NUMBA_DISABLE_JIT="1"))
    np.testing.assert_allclose(plain, compiled["results"](), rtol=1e-12, atol=1e-12)


FIT = """
import hashlib
import numpy as np
from genshapelets import ShapeletClassifier
random = np.random.default_rng(0)  # flat parts, where rounding decides which of many windows is best
steps = random.normal(size=(30, 4, 65)) * (random.random((30, 4, 65)) < 0.05)
X, y = steps.cumsum(axis=2), np.arange(30) % 6
model = ShapeletClassifier(n_shapelets=30, max_epochs=10, random_state=0, n_jobs=1).fit(X, y)
print(hashlib.sha256(model.shapelets_.tobytes()).hexdigest())
"""


def test_what_kernels_call_is_part_of_them():
    """Otherwise a call would go to the copy that was loaded first, and copies may round differently."""
    found = 0
    ours = [module for name, module in sys.modules.items() if name.startswith("genshapelets")]
    for module in ours:
        for each in [each for each in vars(module).values() if hasattr(each, "py_func")]:
            used = map(each.py_func.__globals__.get, each.py_func.__code__.co_names)
            for inner in (each for each in used if hasattr(each, "targetoptions")):
                assert inner.targetoptions.get("forceinline"), (each, inner)
                found += 1
    assert found > 50


@pytest.mark.slow
def test_a_model_does_not_depend_on_whether_its_kernels_were_compiled_before(tmp_path):
    first, second = (python(FIT, NUMBA_CACHE_DIR=str(tmp_path)) for _ in range(2))
    assert first == second
