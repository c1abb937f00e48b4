"""The shape of the repository: direction of imports, bare install, nothing local in the files."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement

REPOSITORY = Path(__file__).resolve().parents[1]
PACKAGE = REPOSITORY / "src" / "genshapelets"

# Data flows one way: a module (a folder counts as one) imports only modules on lines above its own.
# Edit here when a module is added or moved; a line whose module does not exist yet does no harm.
ROAD = [
    "names",
    "shown",
    "described",
    "durations",
    "caching",
    "kernels",
    "columns",
    "tables",
    "static",
    "checks",
    "labelled",
    "arrays",
    "series",
    "covariates",
    "showing",
    "preprocessing",
    "paths",
    "interpolation",
    "cepstrum",
    "windows",
    "shapelets",
    "initial",
    "signatures",
    "discrepancies",
    "offsets",
    "evaluation",
    "search",
    "minimum",
    "transform",
    "splits",
    "selection",
    "elimination",
    "objective",
    "owners",
    "model",
    "sources",
    "pace",
    "progress",
    "writing",
    "saving",
    "training",
    "checkpoints",
    "readable",
    "few_channels",
    "sizes",
    "kinds",
    "procedures",
    "estimators",
    "sound",
    "explain",
    "adapters",
    "aeon",
    "sktime",
    "datasets",
    "warming",
    "public",
    "__init__",  # only what starts the program may import from here
    "cli",
    "__main__",
]

# Stricter than the road: these import nothing but the modules named.
ONLY = {"datasets": {"kernels", "series", "shown"}}

# Two files look ahead: they give the estimators methods that explain them, and series methods that show
# them. The import is for types alone or inside a function, so that loading these does not load what
# comes after them.
AHEAD = {"estimators/reading.py": {"explain"}, "series.py": {"showing", "explain"}}

# Modules of the package that give a library its own classes, and need the library of the same name.
LIBRARIES = ["aeon", "sktime"]
OPTIONAL = [
    "matplotlib", "pandas", "polars", "pyarrow", "soundfile", "safetensors", "tqdm", *LIBRARIES
]  # fmt: skip


# ------------------------------------------------------------------ direction of imports


def place_of(file, package):
    """Name on the road of a file of the package: its module, or the folder it lies in."""
    first = file.relative_to(package).parts[0]
    return first.removesuffix(".py")


def imported_places(file, package):
    """Yield (line, name on the road) for each import of the package itself, wherever it stands."""
    children = {place_of(path, package) for path in package.rglob("*.py")}
    for node in ast.walk(parsed(file)):
        if isinstance(node, ast.Import):
            targets = [alias.name.split(".") for alias in node.names]  # all parts are modules
        elif isinstance(node, ast.ImportFrom):
            base = node.module.split(".") if node.module else []
            if node.level:
                above = [package.name, *file.relative_to(package).parts[:-1]]
                base = above[: len(above) - node.level + 1] + base
            # `from . import paths` names a module, `from .paths import Paths` what is in one.
            names = [alias.name for alias in node.names]
            targets = [[*base, name] if name in children else base for name in names]
        else:
            continue
        for target in targets:
            if target[:1] == [package.name]:
                yield node.lineno, target[1] if len(target) > 1 else "__init__"


def parsed(file):
    return ast.parse(file.read_text(encoding="utf-8"), filename=str(file))


def lines_run_later(file):
    """Lines inside functions and of imports for types alone."""
    return {
        line
        for node in ast.walk(parsed(file))
        if isinstance(node, ast.FunctionDef)
        or (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
        for line in range(node.lineno, node.end_lineno + 1)
    }


def wrong_turns(package, road, only, ahead):
    """List each import that goes against the road, and each module that is not on it."""
    problems = []
    for file in sorted(package.rglob("*.py")):
        here = place_of(file, package)
        name = file.relative_to(package.parent).as_posix()
        if here not in road:
            problems.append(
                f"{name}: '{here}' is not on the road. Place it in ROAD, tests/test_layout.py."
            )
            continue
        allowed = set(only.get(here, road[: road.index(here)])) | {here}
        seen_ahead = ahead.get(file.relative_to(package).as_posix(), set())
        later = lines_run_later(file) if seen_ahead else set()
        for line, target in imported_places(file, package):
            if target not in road or target in allowed:
                continue  # a target off the road is reported where it is defined
            if target in seen_ahead and line in later:
                continue
            if target == "__init__":
                advice = "import from the module that defines the name, not from the package"
            else:
                advice = f"may import only: {', '.join(sorted(allowed - {here})) or 'nothing'}"
            problems.append(f"{name}:{line}: '{here}' imports '{target}'; {advice}.")
    return problems


def test_modules_import_only_what_is_above_them_on_the_road():
    problems = wrong_turns(PACKAGE, ROAD, ONLY, AHEAD)
    assert not problems, "\n" + "\n".join(problems)


RIGHT_WAYS = [
    ("paths.py", "from .series import RaggedSeries"),
    ("paths.py", "from pkg.series import RaggedSeries"),
    ("paths.py", "import numpy.series\nfrom search import x"),
    ("search/grid.py", "from ..paths import Paths"),
    ("search/grid.py", "from .. import paths"),
    ("search/grid.py", "from . import kernels\nfrom .kernels import f"),
    ("search/__init__.py", "from .grid import best"),
    ("cli.py", "from . import __version__"),
    ("__init__.py", "from .search import best"),
    ("data/archive.py", "from ..series import RaggedSeries"),
    ("search/doors.py", "def f():\n    from ..data import g"),
    ("search/doors.py", "if TYPE_CHECKING:\n    from ..data import G"),
]
WRONG_WAYS = [
    ("series.py", "from .paths import Paths"),
    ("series.py", "from . import paths"),
    ("series.py", "import pkg.paths"),
    ("series.py", "import pkg.search.grid as grid"),
    ("series.py", "from pkg import paths"),
    ("series.py", "from pkg.search.grid import best"),
    ("series.py", "def f():\n    from .paths import Paths"),
    ("series.py", "if TYPE_CHECKING:\n    from .paths import Paths"),
    ("search/grid.py", "from ..cli import main"),
    ("search/grid.py", "from .. import cli"),
    ("search/__init__.py", "from ..cli import main"),
    ("paths.py", "from . import RaggedSeries"),
    ("paths.py", "from pkg import RaggedSeries"),
    ("__init__.py", "from .cli import main"),
    ("data/archive.py", "from ..paths import Paths"),
    ("helpers.py", ""),
    ("search/doors.py", "from ..data import g"),
    ("search/doors.py", "if True:\n    from ..data import g"),
    ("search/doors.py", "def f():\n    from ..cli import main"),
    ("search/grid.py", "def f():\n    from ..data import g"),
]


@pytest.mark.parametrize(
    ("imports", "fine"), [(RIGHT_WAYS, True), (WRONG_WAYS, False)], ids=["right", "wrong"]
)
def test_the_road_is_read_off_every_form_of_import(tmp_path, imports, fine):
    modules = ["__init__", "series", "paths", "search/__init__", "search/grid", "search/kernels"]
    road = ["series", "paths", "search", "data", "__init__", "cli"]
    ahead = {"search/doors.py": {"data"}}
    for n, (file, source) in enumerate(imports):
        package = tmp_path / str(n) / "pkg"
        for module in [*modules, "data/__init__", "cli"]:
            path = package / f"{module}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        (package / file).write_text(source, encoding="utf-8")
        problems = wrong_turns(package, road, {"data": {"series"}}, ahead)
        assert (not problems) == fine, (file, source, problems)


# ------------------------------------------------------------------ bare install

BLOCKED_IMPORT = """
import importlib, sys

blocked = set({blocked!r})

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in blocked:
            raise ModuleNotFoundError(f"No module named {{name!r}} (blocked)", name=name)

sys.meta_path.insert(0, Blocker())
for module in {modules!r}:
    importlib.import_module(module)
present = sorted(name for name in sys.modules if name.partition(".")[0] in blocked)
assert not present, f"optional packages were imported: {{present}}"
"""


def import_without(blocked, modules):
    script = BLOCKED_IMPORT.format(blocked=blocked, modules=modules)
    return subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, cwd=REPOSITORY, check=False
    )


def test_the_package_imports_without_optional_packages():
    done = import_without(OPTIONAL, ["genshapelets"])
    assert done.returncode == 0, done.stderr


def test_every_module_imports_without_optional_packages():
    files = [path.relative_to(PACKAGE.parent).with_suffix("") for path in PACKAGE.rglob("*.py")]
    modules = sorted(".".join(file.parts).removesuffix(".__init__") for file in files)
    others = {"genshapelets.__main__", *(f"genshapelets.{library}" for library in LIBRARIES)}
    assert others < set(modules)
    done = import_without(OPTIONAL, [name for name in modules if name not in others])
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_module_for_a_library_says_how_to_install_it(library):
    done = import_without([library], [f"genshapelets.{library}"])
    assert done.returncode != 0
    assert f"needs {library}: pip install 'genshapelets[{library}]'" in done.stderr


def test_blocked_packages_are_indeed_blocked():
    done = import_without(["numpy"], ["numpy.linalg"])
    assert done.returncode != 0
    assert "blocked" in done.stderr


# ------------------------------------------------------------------ nothing local in the files

# Put together here, so that this file does not hold what it looks for.
LOCAL_PATHS = ["/" + folder + "/" for folder in ("home", "root", "tmp")]
REGISTRY_HOSTS = ["pypi" + ".org", "files" + ".pythonhosted"]


def text_files():
    """Yield (path, text) for the files that are tracked, or would be by `git add .`."""
    if not (REPOSITORY / ".git").exists():
        pytest.skip("not a git checkout")
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True,
        cwd=REPOSITORY,
        check=True,
    )
    for name in sorted(set(listing.stdout.decode().split("\0")) - {""}):
        file = REPOSITORY / name
        if not file.is_file():  # deleted, not yet committed
            continue
        content = file.read_bytes()
        if b"\0" not in content[:8192]:
            yield name, content.decode("utf-8", errors="replace")


def lines_with(needles, files):
    return [
        f"{name}:{number}: {needle}"
        for name, text in files
        for number, line in enumerate(text.splitlines(), start=1)
        for needle in needles
        if needle in line
    ]


def test_files_hold_no_local_paths():
    found = lines_with(LOCAL_PATHS, ((n, t) for n, t in text_files() if not n.startswith(".ci/")))
    assert not found, "\n" + "\n".join(found)


def test_files_name_no_package_registry():
    found = lines_with(REGISTRY_HOSTS, text_files())
    assert not found, "\n" + "\n".join(found)


def test_no_function_of_the_core_takes_more_than_eight_arguments():
    folders = [PACKAGE, *(PACKAGE / part for part in ("discrepancies", "evaluation", "search"))]
    files = [file for folder in folders for file in folder.glob("*.py")]
    assert len(files) > 30
    for file in files:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                names = [
                    a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
                ]
                taken = [name for name in names if name not in ("self", "cls", "ctx")]
                assert len(taken) <= 8, f"{file.name}: {node.name}"


# ------------------------------------------------------------------ what is installed and shipped


def pins(file):
    """Versions of the packages that a file names for CPython 3.11 on Linux, but for torch."""
    lines = (REPOSITORY / file).read_text(encoding="utf-8").replace("\\\n", "").splitlines()
    parts = [line.split("--hash=") for line in lines if line and not line.startswith("#")]
    known = [(Requirement(pin), hashes) for pin, *hashes in parts]
    here = {"python_version": "3.11", "sys_platform": "linux"}
    used = [(pin, x) for pin, x in known if pin.marker is None or pin.marker.evaluate(here)]
    return {pin.name: (str(pin.specifier), x) for pin, x in used if pin.name != "torch"}


def test_every_pin_has_a_hash():
    hashed, pinned = pins("hashes.txt"), pins("constraints.txt")
    assert {name: version for name, (version, _) in hashed.items()} == {
        name: version for name, (version, _) in pinned.items()
    }
    assert all(
        re.fullmatch("sha256:[0-9a-f]{64} *", x) for _, all_ in hashed.values() for x in all_
    )
    assert all(of_files for _, of_files in hashed.values())


def test_licences_of_what_is_shipped_are_listed():
    said = (REPOSITORY / "docs" / "licences.md").read_text(encoding="utf-8")
    carried = PACKAGE / "explain" / "report" / "assets" / "echarts"
    for file in [REPOSITORY / "LICENSE", *carried.iterdir()]:
        assert f"{file.name}`" in said
    code = (carried / "echarts.min.js").read_text(encoding="utf-8")
    (version,) = re.findall(r'\.version="([\d.]+)"', code)
    (of_zrender,) = re.findall(r'dependencies=\{zrender:"([\d.]+)"', code)
    assert f"(https://echarts.apache.org) {version}" in said and f"zrender {of_zrender}" in said
