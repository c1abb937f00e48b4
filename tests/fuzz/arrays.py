"""Calls of from_arrays, in Python text."""

import math

ODD = [
    "nan", "nan", "inf", "-inf", "0.0", "-0.0", "1e15", "1e39", "1e308", "-1e308", "1e-320", "2**53 + 1",
    "2**63", "10**400", "None", "True", "'x'", "'1'", "1j", "pd.NA", "pd.NaT", "[]", "[1.0, 2.0]",
]  # fmt: skip
USUAL = ["float64", "float64", "float32"]
DTYPES = [
    *USUAL, "float16", "int64", "int8", "uint64", "bool", "object", "complex64", "longdouble", "str",
    "M8[D]", "m8[s]",
]  # fmt: skip
TENSORS = [*USUAL, "float16", "bfloat16", "int64", "uint8", "bool", "complex64"]
ORDERS = ["", "", "[::-1]", "[..., ::-1]", ".copy('F')", "[...]", ".astype('>f8')"]
STATES = ["", "", "", ".requires_grad_()", ".neg()", ".to_sparse()", ".to('meta')"]
ONES = ["[]", "[[]]", "1.0", "None", "[1.0, 2.0]", "[[[1.0]]]", "'x'", "{}"]
NAMES = ["'a', 'b'", "'a', 'a'", "1, 2", "'a', None", "'a', 'b', 'c'", "[], []"]
IDS = ["range(3)", "range(1)", "['p']", "[[1]]", "[None, None]", "'ab'", "np.arange(4.0)", "7"]
UNITS = ["", " / 4", " * 1e9", " * 1e-9", " + 1e15", " * 1e29"]
STEPS = [0.0, -1.0, 1e-320, 1e-31, 1e20, 1e31, 1e200, 1e308, math.inf]


def numbers(random, size, odd):
    """Texts of numbers, of which a share are odd."""
    return [random.choice(ODD) if random.random() < odd else _number(random) for _ in range(size)]


def _number(random):
    number = random.gauss(0, 1) * random.choice([1, 1, 1, 1e3, 1e-3])
    return "nan" if random.random() < 0.08 else repr(round(number, 3))


def listed(cells):
    return f"[{', '.join(cells)}]"


def array_case(random):
    """A call of from_arrays: (ending, content)."""
    n_channels, size = random.choice([1, 2, 2, 2, 3]), random.randint(9, 13)
    n_series, odd = random.randint(1, 4), random.choice([0, 0, 0.01, 0.05])
    is_ragged = random.random() < 0.5
    sizes = [random.randint(9, 13) if is_ragged else size for _ in range(n_series)]
    if random.random() < 0.05:
        sizes[-1] = random.choice([0, 1, 2, 3])
    each = [listed([listed(numbers(random, n, odd)) for _ in range(n_channels)]) for n in sizes]
    if random.random() < 0.03:
        each[0] = random.choice(ONES)
    if is_ragged:
        values = listed([_array(one, random) for one in each])
    else:
        values = _array(listed(each), random)
    arguments = [values]
    times = _times(sizes, is_ragged, random)
    if times:
        arguments.append(f"times={times}")
    if random.random() < 0.2:
        arguments.append(f"channel_names=[{random.choice(NAMES)}]")
    if random.random() < 0.2:
        arguments.append(f"series_ids={random.choice(IDS)}")
    return ".call", f"from_arrays({', '.join(arguments)})\n".encode()


def _array(text, random):
    """An expression for an array of numbers, of some container, dtype and layout."""
    what = random.choice(["list", "numpy", "numpy", "numpy", "torch", "masked", "frame"])
    if what == "numpy":
        dtype = random.choice(DTYPES[: random.choice([3, 3, 99])])
        order = random.choice(ORDERS)
        return f"np.array({text}, '{dtype}'){order}"
    if what == "torch":
        dtype = random.choice(TENSORS[: random.choice([3, 99])])
        more = random.choice(STATES)
        return f"torch.tensor({text}, dtype=torch.{dtype}){more}"
    if what == "masked":
        return f"np.ma.masked_greater(np.array({text}, 'float64'), {random.choice([1, 99, -99])})"
    if what == "frame" and text.count("[[") == 1:
        return f"pd.DataFrame({text}).to_numpy()"
    return text


def _times(sizes, is_ragged, random):
    what = random.choice(["none", "none", "shared", "each", "each", "dates", "odd"])
    if what == "none":
        return ""
    if what == "shared":
        return f"np.arange({sizes[0]}){random.choice(UNITS)}"
    if what == "dates":
        size = sizes[0]
        return random.choice([
            f"np.datetime64('2024-01-01') + np.arange({size})",
            f"pd.date_range('2024-01-01', periods={size}, freq='7min', tz='Europe/Berlin')",
            f"pd.period_range('2024-01', periods={size}, freq='M')",
            f"np.datetime64('1500-01-01') + np.arange({size})",
            f"[pd.Timestamp('2024-01-01') + pd.Timedelta(n, 'ns') for n in range({size})]",
        ])  # fmt: skip
    rows = []
    for n in sizes:
        steps = [random.choice([0.25, 0.5, 1.0, 2.0, 1e-3]) for _ in range(n)]
        if what == "odd" and n:
            steps[random.randrange(n)] = random.choice(STEPS)
        rows.append(listed([repr(sum(steps[: i + 1])) for i in range(n)]))
    whole = listed(rows)
    dtype = random.choice(["", "float64", "float32"])
    return f"np.array({whole}, '{dtype}')" if dtype and not is_ragged else whole
