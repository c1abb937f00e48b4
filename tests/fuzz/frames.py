"""Calls of from_long, in Python text."""

from .arrays import listed, numbers

PANDAS = [
    "float64", "Float64", "float32", "int64", "Int64", "object", "string", "category", "boolean",
    "double[pyarrow]",
]  # fmt: skip
POLARS = [
    "Float64", "Float32", "Int64", "Int128", "UInt8", "Decimal(38, 6)", "String", "Object", "Boolean",
    "List(pl.Float64)",
]  # fmt: skip
TYPES = ["", "", "String", "object", "category"]
MERGES = ["mean", "median", "first", "last", "min", "max", "sum", "x"]
WRONG = ["series=['who']", "series='x'", "time='who'", "time=5", "series=None"]
MEASURED = [
    *["channels=['x', 'y']"] * 9, *["variable='v', value='x'"] * 3,
    "channels='x'", "channels=5", "channels=['x', 'x']", "channels=['z']", "channels=[]",
]  # fmt: skip
WHENS = ["nan", "None", "inf", "'x'", "1e200", "1e-320", "pd.NaT"]
IDS = [
    ["'a'", "'b'", "'c'"],
    ["3", "1", "2"],
    ["0.5", "1.5", "2.5"],
    ["True", "False", "None"],
    ["'a'", "1", "(2, 3)"],
]


def frame_case(random):
    """A call of from_long: (ending, content)."""
    odd = random.choice([0, 0, 0.01, 0.05])
    names = random.choice(IDS[: random.choice([1, 3, 99])])
    rows = []
    for name in names[: random.randint(1, 3)]:
        for step in range(random.randint(9, 12)):
            rows.append(
                (name, step if random.random() < 0.9 else random.choice([0, 0.5, 3]) + step // 2)
            )
    if random.random() < 0.5:
        random.shuffle(rows)
    who, when = [name for name, _ in rows], [step for _, step in rows]
    library = random.choice(["pandas", "pandas", "polars", "pyarrow", "dict"])
    x, y = (listed(numbers(random, len(rows), odd)) for _ in range(2))
    variables = listed([random.choice(["'p'", "'q'"]) for _ in rows])
    columns = {
        "who": _column(listed(who), library, random.choice(TYPES), random),
        "when": _when(when, library, random),
        "x": _column(x, library, "any", random),
        "y": _column(y, library, random.choice(["", "", "any"]), random),
        "v": _column(variables, library, random.choice(TYPES), random),
    }
    table = "{" + ", ".join(f"{name!r}: {column}" for name, column in columns.items()) + "}"
    table = {"pandas": f"pd.DataFrame({table})", "polars": f"pl.DataFrame({table})",
             "pyarrow": f"pa.table({table})", "dict": table}[library]  # fmt: skip
    arguments = [table, "series='who'", "time='when'"]
    if random.random() < 0.2:
        arguments[random.choice([1, 2])] = random.choice(WRONG)
    arguments.append(random.choice(MEASURED))
    if random.random() < 0.5:
        arguments.append(f"aggregate={random.choice(MERGES)!r}")
    return ".call", f"from_long({', '.join(arguments)})\n".encode()


def _column(cells, library, dtype, random):
    """An expression for a vector of a library."""
    if library == "pandas":
        dtype = random.choice(PANDAS) if dtype == "any" else dtype if dtype in PANDAS else ""
        return f"pd.Series({cells}, dtype={dtype!r})" if dtype else f"pd.Series({cells})"
    if library == "polars":
        dtype = random.choice(POLARS) if dtype == "any" else dtype if dtype in POLARS else ""
        more = f"dtype=pl.{dtype}, " if dtype else ""
        return f"pl.Series(values={cells}, {more}strict=False)"
    if library == "pyarrow":
        return f"pa.array({cells}{', from_pandas=True' if random.random() < 0.5 else ''})"
    return random.choice(
        [cells, f"np.array({cells})", f"np.array({cells}, object)", f"pd.Series({cells})"]
    )


def _when(steps, library, random):
    what = random.choice(["numbers", "numbers", "dates", "zone", "odd"])
    cells = [repr(step) for step in steps]
    if what in ("dates", "zone"):
        zone = ", tz='America/New_York'" if what == "zone" else ""
        cells = [
            f"pd.Timestamp('2024-03-10 00:30'{zone}) + pd.Timedelta({step}, 'h')" for step in steps
        ]
    if what == "odd":
        cells[random.randrange(len(cells))] = random.choice(WHENS)
    return _column(listed(cells), library, "", random)
