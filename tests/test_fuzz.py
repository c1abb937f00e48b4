"""A slice of what `make fuzz` runs; and that the fuzzer would see what it looks for."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from fuzz import children
from fuzz.__main__ import case_of
from fuzz.judging import SOUND, Failure, judge
from fuzz.kills import resumed_alike
from fuzz.kinds import KINDS
from fuzz.models import check_answers
from fuzz.plain import compare, of_table
from fuzz.soak import Use, is_flat, soak

from genshapelets import RaggedSeries

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs forks and signals")


def test_no_case_fails():
    """In a process of its own: a fork of one in which polars has been used may hang in polars."""
    run = [sys.executable, "-m", "tests.fuzz", "--cases", "320", "--seed", "1"]
    done = subprocess.run(
        run, cwd=Path(__file__).parents[1], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "320 cases, 0 failures" in done.stdout


@pytest.mark.parametrize("kind", KINDS)
def test_a_seed_names_a_case(kind):
    assert case_of(kind, 3, 7) == case_of(kind, 3, 7) != case_of(kind, 3, 8)


def test_a_child_that_dies_is_named_and_others_go_on(monkeypatch):
    monkeypatch.setattr(children, "SECONDS", 1)

    def run(number):
        if number == 1:
            os.kill(os.getpid(), signal.SIGSEGV)
        while number == 3:
            pass
        return "sound", str(number)

    found = {number: (word, text) for number, word, text in children.outcomes(run, range(5))}
    assert list(found) == [0, 1, 2, 3, 4]
    assert [found[number] for number in (0, 2, 4)] == [
        ("sound", "0"),
        ("sound", "2"),
        ("sound", "4"),
    ]
    assert found[1] == ("crash", "the process ended with -11") and found[3][0] == "hang"


def test_memory_is_limited():
    gigabytes = children.MEMORY // 2**30 + 1

    def run(number):
        return judge(lambda _: np.ones(gigabytes * 2**27), None)

    ((_, word, text),) = children.outcomes(run, [0])
    assert word == "untyped" and "MemoryError" in text


def test_the_fuzzer_itself_must_not_fail():
    with pytest.raises(RuntimeError, match="the fuzzer itself failed, in case 5"):
        list(children.outcomes(lambda number: 1 / 0, [5]))


def said(raised):
    """What is judged of a case that raises."""

    def check(file):
        raise raised

    return judge(check, "case")[0]


def test_what_is_a_failure():
    assert judge(lambda file: None, "case") == (SOUND, "")
    assert said(KeyError("x")) == "untyped" and said(Failure("NaN", "x")) == "NaN"
    assert judge(lambda file: RaggedSeries.from_arrays([]), "case")[0] == "refused"
    assert judge(lambda file: RaggedSeries.from_arrays({"a\nb": 1}), "case")[0] != SOUND


def test_values_that_differ_are_seen():
    series = RaggedSeries.from_arrays([[[1.0, np.nan, 3.0]]])
    cases = [([0, 1, 2], [[1.0], [None], [3.0]])]
    compare(series, cases)
    for wrong in (
        cases * 2,
        [([0, 1], cases[0][1][:2])],
        [([0, 1, 5], cases[0][1])],
        [([0, 1, 2], [[1.0], [2.0], [3.0]])],
        [([0, 1, 2], [[1.0], [None], [3.0000001]])],
    ):
        with pytest.raises(Failure):
            compare(series, wrong)
    table = of_table("abab", [1, 0, 0, 5], [[1, 2, None, 4]])
    assert [times for times, _ in table] == [[0.0, 1.0], [0.0, 5.0]]
    assert [rows[-1] for _, rows in table] == [[1.0], [4.0]]


def test_nan_is_seen():
    class Silent:
        def predict_proba(self, series):
            return np.array([[0.5, np.nan]])

    with pytest.raises(Failure, match="predict_proba gives nan"):
        check_answers(Silent(), None)


def test_killed_fits_go_on_bit_for_bit(capsys):
    assert resumed_alike(2, seed=0, longest=0.9) == (2, 2), capsys.readouterr().out


def test_rounds_leave_nothing_behind(capsys):
    assert is_flat(*soak(30)), capsys.readouterr().out
    before = Use(300.0, 5, 9)
    assert not is_flat(before, before._replace(files=10))
    assert not is_flat(before, before._replace(threads=6))
    assert not is_flat(before, before._replace(memory=330.0))
