"""Sphinx: ``make docs``. The pages fetch nothing: system fonts, formulas as MathML."""

import importlib
import inspect
import re
from pathlib import Path

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.errors import ExtensionError

import genshapelets

project = "genshapelets"
copyright = "the genshapelets developers"  # noqa: A001
version = release = genshapelets.__version__

extensions = ["sphinx.ext.autodoc", "numpydoc", "myst_parser", "sphinx_gallery.gen_gallery"]
exclude_patterns = ["_build", "tutorials"]
nitpicky = True

autodoc_typehints = "none"  # docstrings say it
autodoc_default_options = {"members": True, "inherited-members": True, "member-order": "bysource"}
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3

sphinx_gallery_conf = {
    "examples_dirs": "tutorials",
    "gallery_dirs": "_tutorials",
    "filename_pattern": r"\.py$",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "only_warn_on_example_error": False,
    "download_all_examples": False,
    "show_signature": False,
    "show_memory": False,
    "min_reported_time": 10**6,
    "write_computation_times": False,
    "remove_config_comments": True,
    "capture_repr": ("_repr_html_",),
    "notebook_images": False,
}

html_theme = "furo"
html_title = "genshapelets"
html_math_renderer = "mathml"
html_show_sphinx = False
html_copy_source = False
PARTS = ("explain", "datasets", "aeon", "sktime")
DOCUMENTED = ["genshapelets", *(f"genshapelets.{part}" for part in PARTS)]


def mathml(node, as_block):
    """Formula for browsers, in which parentheses grow by themselves."""
    return tex2mathml(re.sub(r"\\[Bb]igg?(?![a-zA-Z])", "", node.astext()), as_block=as_block)


def inline_formula(writer, node):
    writer.body.append(mathml(node, as_block=False))
    raise nodes.SkipNode


def formula(writer, node):
    writer.body.append(f'<div class="math">{mathml(node, as_block=True)}</div>')
    raise nodes.SkipNode


def missing_names(environment):
    """Public names that no page of the API documents."""
    documented = set(environment.get_domain("py").objects)
    return [
        f"{module}.{name}"
        for module in DOCUMENTED
        for name in importlib.import_module(module).__all__
        if not {f"{where}.{name}" for where in DOCUMENTED} & documented
    ]


def fetched(folder):
    """What pages would load from the net: links to click on are not among it."""
    element = re.compile(
        r"<(?:script|link|img|iframe|source)\b[^>]*?(?:src|href)=\"(?:https?:)?//[^\"]*"
    )
    style = re.compile(r"(?:@import|url\()\s*[\"']?(?:https?:)?//[^\"')\s]*")
    return [
        f"{page.relative_to(folder)}: {found}"
        for pattern, suffix in ((element, "*.html"), (style, "*.css"))
        for page in sorted(folder.rglob(suffix))
        for found in pattern.findall(page.read_text(encoding="utf-8"))
    ]


def check(app, exception):
    if exception is None and app.builder.format == "html":
        if missing := missing_names(app.env):
            raise ExtensionError(f"public, and on no page of docs/api: {', '.join(missing)}")
        if loads := fetched(Path(app.outdir)):
            raise ExtensionError("pages must be readable offline:\n" + "\n".join(loads))


def own_methods_only(app, what, name, thing, skip, options):
    """Leave out what torch and scikit-learn say of their own classes."""
    if skip or not inspect.isroutine(thing):
        return skip
    return not (getattr(thing, "__module__", "") or "").startswith("genshapelets")


def setup(app):
    app.add_html_math_renderer("mathml", (inline_formula, None), (formula, None))
    app.connect("build-finished", check)
    app.connect("autodoc-skip-member", own_methods_only)
