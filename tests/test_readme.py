"""The examples of README and docs/choosing.md run as they stand, in order, from any directory."""

import re
import runpy
from pathlib import Path

import pytest

from genshapelets import Discrepancy
from tests.examples import run_examples

ROOT = Path(__file__).resolve().parents[1]
README, CHOOSING = ROOT / "README.md", ROOT / "docs" / "choosing.md"


@pytest.fixture(autouse=True)
def own_classes(monkeypatch):
    """What pages define is forgotten afterwards: other tests have classes of the same names."""
    monkeypatch.setattr(Discrepancy, "_classes", dict(Discrepancy._classes))


def test_examples_run(tmp_path, monkeypatch, capsys):
    for library in ("pandas", "aeon", "sktime"):
        pytest.importorskip(library)
    pytest.importorskip("matplotlib").use("Agg")
    monkeypatch.chdir(tmp_path)
    run_examples(README)
    assert "tensor" in capsys.readouterr().out
    assert {path.name for path in tmp_path.iterdir()} == {"bumps.safetensors", "report.html"}


def test_examples_of_choosing_run_and_say_what_the_page_says(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = run_examples(CHOOSING)
    scores = [float(score) for score in capsys.readouterr().out.split()]
    assert all(0.0 <= score <= 1.0 for score in scores)
    assert scores[0] < 1.0, "the page says that L2 is not always right"
    assert scores[1] == 1.0, "the page says that the log-signature is always right"
    assert names["sounds"].score(names["clips"], ["low", "high"] * 4) == 1.0
    assert [path.name for path in tmp_path.iterdir()] == ["shapelet.wav"]


@pytest.mark.parametrize("page", [README, CHOOSING], ids=lambda page: page.stem)
def test_links_and_pictures_exist(page):
    targets = re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8"))
    local = [target for target in targets if "://" not in target]
    assert local
    assert [target for target in local if not (page.parent / target).exists()] == []


@pytest.mark.parametrize(
    "script", sorted((ROOT / "docs" / "pictures").glob("*.py")), ids=lambda p: p.stem
)
def test_pictures_are_drawn_by_their_scripts(script, monkeypatch):
    pytest.importorskip("matplotlib").use("Agg")
    saved = []
    monkeypatch.setattr(
        "matplotlib.figure.Figure.savefig", lambda _, path, **__: saved.append(path)
    )
    runpy.run_path(str(script), run_name="__main__")
    assert saved == [ROOT / "docs" / "images" / f"{script.stem}.png"]
    assert saved[0].exists()
