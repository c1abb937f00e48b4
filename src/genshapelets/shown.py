"""How objects show themselves: short texts, and small tables of HTML for notebooks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from html import escape
from typing import Any

MOST = 5  # names that are listed
LONGEST = 24  # letters of a name

# No colours of its own, so that it is as readable as the page around it, dark or light.
STYLE = "border-collapse:collapse;font-size:90%;color:inherit;background:transparent;margin:0.5em 0"
CELL = "padding:0.2em 0.8em;text-align:left;vertical-align:top;color:inherit;background:transparent"
LINE = "border-bottom:1px solid rgba(128,128,128,0.5)"


def few(names: Iterable[Any], say: Callable[[Any], str] = str) -> str:
    """The first names, and how many more there are.

    Examples
    --------
    >>> few(["a", "b"]), few(range(12)), few(["a", 1], say=repr)
    ('a, b', '0, 1, 2, 3, 4 and 7 more', "'a', 1")
    """
    names = list(names)
    said = ", ".join(cut(say(name)) for name in names[:MOST])
    return said if len(names) <= MOST else f"{said} and {len(names) - MOST} more"


def cut(text: str, longest: int = LONGEST) -> str:
    """A text on one line, of so many letters at most, none of which a terminal would obey."""
    text = " ".join("".join(x if x.isprintable() else " " for x in text[: 9 * longest]).split())
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def count(number: int, what: str) -> str:
    """A number of things: "1 channel", "3 channels"."""
    return f"{number} {what if number == 1 or what == 'series' else what + 's'}"


def table(rows: Sequence[Sequence[Any]], header: Sequence[str] = (), caption: str = "") -> str:
    """A table of texts, escaped; the first of each row is its head. Lines of a text stay lines."""
    said = (
        f"<caption style='{CELL};caption-side:top'>{escape(caption)}</caption>" if caption else ""
    )
    if header:
        cells = "".join(f"<th scope='col' style='{CELL}'>{escape(name)}</th>" for name in header)
        said += f"<thead><tr style='{LINE}'>{cells}</tr></thead>"
    body = "".join(
        f"<tr style='{LINE}'><th scope='row' style='{CELL}'>{_lines(first)}</th>"
        + "".join(f"<td style='{CELL}'>{_lines(cell)}</td>" for cell in others)
        + "</tr>"
        for first, *others in rows
    )
    return f"<table style='{STYLE}'>{said}<tbody>{body}</tbody></table>"


def _lines(text: Any) -> str:
    return "<br>".join(escape(line) for line in str(text).split("\n"))
