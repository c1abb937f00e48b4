"""The examples of README and docs/choosing.md, and the commands, run in order, from any directory."""

import io
import re
import runpy
import shlex
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from genshapelets import Discrepancy, load, write_wav
from genshapelets.cli import main
from genshapelets.procedures import PROCEDURES
from tests.examples import run_examples, shell_lines
from tests.test_cli import bumps, frame, write_ts

ROOT = Path(__file__).resolve().parents[1]
README, CHOOSING = ROOT / "README.md", ROOT / "docs" / "choosing.md"


@pytest.fixture(autouse=True)
def own_classes(monkeypatch):
    """What pages define is forgotten afterwards: other tests have classes of the same names."""
    monkeypatch.setattr(Discrepancy, "_classes", dict(Discrepancy._classes))


@pytest.mark.slow  # `make dist` runs them with the wheel
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
    assert scores[:2] == [1.0, 1.0], "the page says that L2 and the log-signature are always right"
    assert names["sounds"].score(names["clips"], ["low", "high"] * 4) == 1.0
    assert [path.name for path in tmp_path.iterdir()] == ["shapelet.wav"]


def small_files():
    """Write what the commands of README read."""
    for name, seed in (("TRAIN.ts", 0), ("TEST.ts", 1)):
        write_ts(Path(name), bumps(8, seed=seed), ["flat", "bump"] * 4)
    stays = frame(8).drop(columns="days").rename(columns={"who": "patient"})
    stays.to_csv("stays.csv", index=False)
    stays.to_parquet("stays.parquet")
    patients = {"patient": stays["patient"].unique(), "age": np.arange(60, 68)}
    pd.DataFrame(patients).to_csv("patients.csv", index=False)
    noise = np.random.default_rng(0).normal(scale=0.1, size=(2, 3, 4000))
    for label, pitch, clips in zip(("no", "yes"), (440, 880), noise, strict=True):
        Path("words", label).mkdir(parents=True)
        for n, clip in enumerate(clips):
            sound = clip + 0.5 * np.sin(2 * np.pi * pitch * np.arange(4000) / 16_000)
            write_wav(Path("words", label, f"{n}.wav"), sound, 16_000)


def test_commands_run(tmp_path, monkeypatch, capsys):
    """All but how long is trained is as README shows it."""
    for library in ("pyarrow", "soundfile", "safetensors"):
        pytest.importorskip(library)
    short = replace(PROCEDURES["default"], max_epochs=3, candidates=1, first=8)
    monkeypatch.setitem(PROCEDURES, "default", short)
    monkeypatch.chdir(tmp_path)
    small_files()
    lines = shell_lines(README)
    assert len(lines) == 9
    said, written = {}, set()
    for line in lines:
        program, *words = shlex.split(line, comments=True)
        assert program == "genshapelets"
        redirected = dict(pairwise(words))
        if "<" in redirected:
            stdin = io.TextIOWrapper(io.BytesIO(Path(redirected["<"]).read_bytes()))
            monkeypatch.setattr(sys, "stdin", stdin)
        end = next((place for place, word in enumerate(words) if word in ("<", ">")), None)
        assert main(words[:end]) == 0, line
        said[line] = capsys.readouterr().out
        if words[0] in ("fit", "report"):
            written.add(redirected["--out"])
    assert {path.name for path in tmp_path.glob("*.safetensors")} | {"report.html"} == written
    from_file, from_input = (said[line].splitlines() for line in lines if " predict " in line)
    assert [row.split(",")[:2] for row in from_file] == [row.split(",") for row in from_input]
    assert len(from_file) == 9
    assert "accuracy:" in next(said[line] for line in lines if " evaluate " in line)
    assert load("more.safetensors").model_.covariates.columns == ("age",)


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
