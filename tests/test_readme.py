"""The README's examples run as they stand, in order, from any directory."""

import re
from pathlib import Path

import pytest

README = Path(__file__).resolve().parents[1] / "README.md"


def code_blocks(text):
    """List (line of the first statement, source) of each Python block."""
    blocks = re.finditer(r"^```python\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    return [(text.count("\n", 0, block.start(1)) + 1, block[1]) for block in blocks]


def test_examples_run(tmp_path, monkeypatch, capsys):
    pytest.importorskip("pandas")
    pytest.importorskip("matplotlib").use("Agg")
    monkeypatch.chdir(tmp_path)
    blocks = code_blocks(README.read_text(encoding="utf-8"))
    assert len(blocks) >= 3
    names = {"__name__": "readme"}
    for line, source in blocks:
        # Blank lines in front: a failure then names the line of the README.
        exec(compile("\n" * (line - 1) + source, str(README), "exec"), names)
    assert "tensor" in capsys.readouterr().out
    assert {path.name for path in tmp_path.iterdir()} == {"bumps.safetensors", "report.html"}


def test_links_and_pictures_exist():
    targets = re.findall(r"\]\(([^)#\s]+)", README.read_text(encoding="utf-8"))
    local = [target for target in targets if "://" not in target]
    assert local
    assert [target for target in local if not (README.parent / target).exists()] == []
