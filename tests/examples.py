"""The Python blocks of a page, run as one program: ``python tests/examples.py PAGE.md``."""

import re
import sys
from pathlib import Path


def code_blocks(text):
    """List (line of the first statement, source) of each Python block."""
    blocks = re.finditer(r"^```python\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    return [(text.count("\n", 0, block.start(1)) + 1, block[1]) for block in blocks]


def shell_lines(page):
    """The commands of a page's one block of them."""
    text = page.read_text(encoding="utf-8")
    (block,) = re.findall(r"^```\n((?:genshapelets .*\n)+)```", text, flags=re.MULTILINE)
    return block.splitlines()


def run_examples(page):
    """Run the blocks of a page in order; returns the names that they leave."""
    blocks = code_blocks(page.read_text(encoding="utf-8"))
    assert len(blocks) >= 3
    names = {"__name__": page.stem}
    for line, source in blocks:
        # Blank lines in front: a failure then names the line of the page.
        exec(compile("\n" * (line - 1) + source, str(page), "exec"), names)
    return names


if __name__ == "__main__":
    run_examples(Path(sys.argv[1]))
