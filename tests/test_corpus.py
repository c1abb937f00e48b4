"""Files that once did harm: a clear error or a sound result, never a crash, a traceback or NaN."""

import shutil
from pathlib import Path

import pytest
from fuzz.judging import LONGEST, REFUSED, SOUND
from fuzz.kinds import CHECKS, judge_file

from genshapelets.cli import main

CORPUS = Path(__file__).parent / "corpus"
LARGEST = 10_000  # bytes
FILES = sorted(file for file in CORPUS.iterdir() if file.name != "README.md")


def of_files(files):
    assert files and max(file.stat().st_size for file in files) < LARGEST
    return pytest.mark.parametrize("file", files, ids=lambda file: file.name)


@of_files(FILES)
def test_files_that_once_did_harm(file, tmp_path):
    copy = Path(shutil.copy(file, tmp_path))  # which a check may change
    word, text = judge_file(copy)
    assert word in (SOUND, REFUSED), f"{word}: {text}"
    if word == REFUSED and file.suffix in (".model", ".ckpt", ".ts"):
        assert str(copy) in text


@of_files([file for file in FILES if file.suffix == ".model"])
def test_models_in_the_shell(file, capsys):
    status = main(["info", str(file)])
    said = capsys.readouterr().err
    assert status in (0, 1) and said.count("\n") == status
    assert not status or (str(file) in said and len(said) < LONGEST + len(str(file)))


def test_there_are_files_of_all_kinds():
    assert {next(e for e in CHECKS if file.name.endswith(e)) for file in FILES} >= {
        ".model",
        ".ckpt",
    }
