"""Files are written whole or not at all, also on a full disk, after a kill, and by two at once."""

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from genshapelets import ShapeletClassifier
from genshapelets.saving import read_file, write_file
from genshapelets.writing import check_writable, replace_file, whole_file

posix = pytest.mark.skipif(os.name != "posix", reason="needs limits and signals")


def python(script, *arguments):
    source = Path(sys.modules["genshapelets"].__file__).parents[1]
    return subprocess.run(
        [sys.executable, "-c", script, *map(str, arguments)],
        capture_output=True, text=True, check=False, timeout=60,
        env=os.environ | {"PYTHONPATH": str(source)},
    )  # fmt: skip


FULL = """
import resource, sys
from genshapelets.writing import replace_file
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    replace_file(sys.argv[1], b"x" * 100_000)
except OSError as error:
    print(error)
"""


@posix
@pytest.mark.parametrize("before", [[], ["file"]])
def test_where_there_is_no_room_an_old_file_stays(tmp_path, before):
    file = tmp_path / "file"
    for name in before:
        (tmp_path / name).write_text("old")
    done = python(FULL, file)
    assert done.stdout == f"cannot write {file}: File too large.\n"
    assert os.listdir(tmp_path) == before and all(file.read_text() == "old" for _ in before)


KILLED = """
import os, signal, sys
from genshapelets.writing import whole_file
with whole_file(sys.argv[1]) as file:
    file.write(b"half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


@posix
def test_what_a_kill_left_is_removed_at_the_next_start(tmp_path):
    file, other = tmp_path / "file[1]", tmp_path / "other"
    for name in (file, other):
        python(KILLED, name)
    assert len(os.listdir(tmp_path)) == 2
    with whole_file(file) as content:  # the first is gone, this one is at work
        assert len(os.listdir(tmp_path)) == 2
        check_writable(file)
        content.write(b"whole")
    check_writable(other)
    assert os.listdir(tmp_path) == ["file[1]"] and file.read_bytes() == b"whole"


def test_what_was_left_of_other_files_stays(tmp_path):
    mine, other = (
        tmp_path / f".{name}.ab_9cdef.partial" for name in ("a.model", "a.model.b.model")
    )
    mine.touch(), other.touch()
    check_writable(tmp_path / "a.model")
    assert list(tmp_path.iterdir()) == [other]
    check_writable(tmp_path / "a.model.b.model")
    assert not list(tmp_path.iterdir())


def test_reasons_end_in_one_full_stop(tmp_path):
    with (
        pytest.raises(OSError, match=r"cannot write .*: it is gone\.$"),
        whole_file(tmp_path / "x"),
    ):
        raise OSError("it is gone.")


@pytest.fixture
def small_disk(tmp_path):
    """A folder that holds 64 kB."""
    mount = shutil.which("mount")
    if mount is None or not hasattr(os, "geteuid") or os.geteuid():
        pytest.skip("only root may mount a small disk, by mount")
    command = [mount, "-t", "tmpfs", "-o", "size=64k", "tmpfs", tmp_path]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("a small disk cannot be mounted here")
    yield tmp_path
    subprocess.run(["umount", tmp_path], check=True)


def fill(file):
    """Write until there is no room."""
    with suppress(OSError), open(file, "wb", buffering=0) as much:
        while True:
            much.write(bytes(4096))


@posix
def test_a_full_disk(small_disk):
    x = np.random.default_rng(0).normal(size=(8, 1, 9))
    file, checkpoint = small_disk / "model", small_disk / "checkpoint"
    kept = ShapeletClassifier(n_shapelets=2, max_epochs=2, random_state=0)
    model = kept.fit(x, np.arange(8) % 2)
    model.save(file)
    before = file.read_bytes()
    filler = small_disk / "filler"
    fill(filler)
    for path in (file, small_disk / "new"):
        with pytest.raises(OSError, match=f"cannot write {path}: No space left on device"):
            model.save(path)
    kept.set_params(checkpoint=checkpoint, checkpoint_interval=0)
    with pytest.warns(
        UserWarning, match=f"{checkpoint} could not be written .*No space left on dev"
    ):
        kept.fit(x, np.arange(8) % 2)
    assert set(os.listdir(small_disk)) == {"model", "filler"} and file.read_bytes() == before
    filler.unlink()
    kept.fit(x, np.arange(8) % 2)
    old = checkpoint.read_bytes()
    fill(filler)
    contents, tensors = read_file(checkpoint, "checkpoint")
    with pytest.raises(OSError, match=f"cannot write {checkpoint}: No space left on device"):
        write_file(checkpoint, "checkpoint", contents, tensors)
    assert checkpoint.read_bytes() == old and len(os.listdir(small_disk)) == 3


def test_of_many_writers_at_once_one_is_first(tmp_path):
    contents = [str(n).encode() * 9999 for n in range(8)]

    def write(content):
        try:
            replace_file(tmp_path / "file", content, replace=False)
        except FileExistsError:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        wrote = list(pool.map(write, contents))
    assert sum(wrote) == 1 and os.listdir(tmp_path) == ["file"]
    assert (tmp_path / "file").read_bytes() == contents[np.argmax(wrote)]


def test_many_writers_that_may_replace_leave_a_whole_file(tmp_path):
    contents = [str(n).encode() * 9999 for n in range(8)] * 5
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda content: replace_file(tmp_path / "file", content), contents))
    assert os.listdir(tmp_path) == ["file"] and (tmp_path / "file").read_bytes() in contents


@posix
def test_a_link_is_followed_and_permissions_are_kept(tmp_path):
    file, link = tmp_path / "file", tmp_path / "link"
    file.write_text("old")
    file.chmod(0o640)
    link.symlink_to(file)
    replace_file(link, b"new")
    assert link.is_symlink() and file.read_text() == "new" and file.stat().st_mode & 0o777 == 0o640
    link.unlink()
    link.symlink_to(link)
    with pytest.raises(OSError, match="cannot write"):
        replace_file(link, b"new")
