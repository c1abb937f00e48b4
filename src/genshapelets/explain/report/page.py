"""The page itself: one file, with all that it needs inside."""

from __future__ import annotations

import html
import json
import re
from functools import cache
from importlib.resources import files
from typing import Any

# Apache ECharts, as its makers publish it (npm: echarts, dist/echarts.min.js).
ECHARTS_VERSION = "6.1.0"
ECHARTS_SHA256 = "b66b25aeb4df84e33199dc21694014d336d222cbd9deb0e5a7c14bd6aa0d0fd0"

SCRIPTS = (
    "dom",
    "words",
    "drawings",
    "matches",
    "planes",
    "kinds",
    "charts",
    "overview",
    "unit_squares",
    "two_classes",
    "about",
    "sizes",
    "claims",
    "sounds",
    "shapelets",
    "by_class",
    "swarm",
    "closest",
    "series",
    "series_chart",
    "contributions",
    "main",
)

# What could end a script or is no character at all.
_DANGEROUS = re.compile("[<>&\u2028\u2029\ud800-\udfff]")


def render(title: str, contents: dict[str, Any]) -> bytes:
    """Put contents, which JSON can say, and all else into one page."""
    parts = {
        "title": html.escape(title),
        "style": asset("page.css"),
        "contents": as_json(contents),
        "echarts": asset("echarts/echarts.min.js"),
        "script": "".join(asset(f"{name}.js") for name in SCRIPTS),
    }
    page = re.sub(r"\{\{(\w+)\}\}", lambda gap: parts[gap[1]], asset("template.html"))
    return page.encode("utf-8", "replace")


def as_json(contents: Any) -> str:
    """JSON that is safe inside a script element, whatever text it holds."""
    text = json.dumps(contents, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return _DANGEROUS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


@cache
def asset(name: str) -> str:
    """Text of a file that the page is made of."""
    return files(__package__).joinpath("assets", *name.split("/")).read_text(encoding="utf-8")
