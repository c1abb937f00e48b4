"""What is loaded when: names before torch, help before either."""

import subprocess
import sys

import pytest

import genshapelets
from genshapelets import public
from genshapelets.interpolation import INTERPOLATIONS
from genshapelets.kinds import DISCREPANCIES
from genshapelets.minimum import MINIMA
from genshapelets.names import CHOICES
from genshapelets.procedures import PREPROCESSING, PROCEDURES
from genshapelets.shapelets import FAMILIES

HEAVY = {"numba", "numpy", "pandas", "scipy", "sklearn", "torch"}


def python(script):
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["--version"], ["fit", "--help"], ["predict", "--help"], ["predict", "--wrong"]],
)
def test_help_loads_nothing_heavy(arguments):
    said = python(
        f"""
import sys
from genshapelets.cli import main
try:
    main({arguments!r})
except SystemExit:
    print("loaded", *sorted({HEAVY!r} & set(sys.modules)))
"""
    )
    assert said.endswith("loaded\n"), said[-200:]


def test_importing_loads_nothing_until_a_name_is_asked_for():
    said = python(
        f"""
import sys
import genshapelets
loaded = lambda: sorted({HEAVY - {"pandas"}!r} & set(sys.modules))
print(genshapelets.__version__, hasattr(genshapelets, "__wrapped__"), loaded())
genshapelets.RaggedSeries
print(loaded(), genshapelets.explain.__name__)
"""
    )
    before, after = said.splitlines()
    assert before == f"{genshapelets.__version__} False []"
    assert after == f"{sorted(HEAVY - {'pandas'})} genshapelets.explain"


def test_every_public_name_is_there():
    names = {}
    exec("from genshapelets import *", names)
    assert set(public.__all__) <= set(names) and set(public.__all__) <= set(dir(genshapelets))
    for name in public.__all__:
        assert getattr(genshapelets, name) is getattr(public, name)
    with pytest.raises(AttributeError, match="module 'genshapelets' has no attribute 'Shapelet'"):
        genshapelets.Shapelet  # noqa: B018
    with pytest.raises(ImportError, match="cannot import name 'Shapelet'"):
        from genshapelets import Shapelet  # noqa: F401


@pytest.mark.parametrize(
    ("parameter", "known"),
    [
        ("discrepancy", DISCREPANCIES),
        ("interpolation", INTERPOLATIONS),
        ("minimum", MINIMA),
        ("preprocessing", PREPROCESSING),
        ("procedure", PROCEDURES),
        ("shapelets", FAMILIES),
    ],
)
def test_choices_are_those_that_exist(parameter, known):
    assert CHOICES[parameter] == tuple(known)
