"""Edits of bytes, of text, of what JSON says and of tensors."""

import copy

import torch

NUMBERS = [
    0, 1, -1, 2, 0.5, 10**6, 10**12, 2**63, 10**400, -(10**400), 1e39, 1e308, -1e308, 1e-320,
    float("nan"), float("inf"), -float("inf"),
]  # fmt: skip
ODD = [
    *NUMBERS, True, None, "", "x", "nan", "a" * 3000, "\x00", "\n\x1b[31m", "U1000000000",
    [], {}, [[]], {"dict": []}, {"dict": [[[], 1]]}, {"tuple": []}, {"tuple": [1, 2]},
    {"array": [1, 2, 3], "dtype": "U1000000000"}, {"array": ["a", "b"], "dtype": "V1000000000"},
    {"array": [], "dtype": "<f8"}, {"array": [1.0], "dtype": "M8[ns]"},
    {"array": [[1, 2], [3, 4]], "dtype": "<f8"}, {"array": [10**400, 1], "dtype": "object"},
    {"class": "L2Discrepancy", "config": {"dict": [["n_channels", 10**10]]}, "family": "discrepancy"},
]  # fmt: skip
FILLS = [
    float("nan"), float("inf"), -float("inf"), 0.0, -1.0, 1e30, -1e30, 1e300, 1e-40, 1e-320, 1e6, 255,
]  # fmt: skip
DTYPES = [
    torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.int32,
    torch.uint8, torch.bool, torch.complex64,
]  # fmt: skip


def edit_bytes(content, random):
    """Damage of a disk or a transfer: bits, a hole, an end, something twice."""
    content = bytearray(content)
    for _ in range(random.choice([1, 1, 2, 5])):
        place = random.randrange(len(content) + 1)
        size = random.choice([1, 2, 8, 100])
        what = random.choice(["bits", "bits", "end", "hole", "twice", "noise", "zeros"])
        if what == "bits":
            content[place : place + 1] = bytes(
                x ^ 1 << random.randrange(8) for x in content[place : place + 1]
            )
        elif what == "end":
            del content[place:]
        elif what == "hole":
            del content[place : place + size]
        elif what == "twice":
            content[place:place] = content[place : place + size]
        elif what == "noise":
            content[place : place + size] = random.randbytes(size)
        else:
            content[place : place + size] = bytes(size)
    return bytes(content)


def edit_lines(text, random, pieces):
    """Edit a text by lines, and by what is between its separators, for which `pieces` has others."""
    lines = text.split("\n")
    for _ in range(random.choice([0, 1, 1, 2, 3])):
        at = random.randrange(len(lines))
        what = random.choice(
            ["piece", "piece", "piece", "drop", "twice", "swap", "into", "end", "empty"]
        )
        if what == "piece":
            separator = random.choice([",", ",", ":", "\t"])
            parts = lines[at].split(separator)
            parts[random.randrange(len(parts))] = random.choice(pieces)
            lines[at] = separator.join(parts)
        elif what == "drop" and len(lines) > 1:
            del lines[at]
        elif what == "twice":
            lines.insert(at, lines[at])
        elif what == "swap":
            other = random.randrange(len(lines))
            lines[at], lines[other] = lines[other], lines[at]
        elif what == "into":
            place = random.randrange(len(lines[at]) + 1)
            lines[at] = lines[at][:place] + random.choice(pieces) + lines[at][place:]
        elif what == "end":
            lines[at] = lines[at][: random.randrange(len(lines[at]) + 1)]
            del lines[at + 1 :]
        else:
            lines.insert(at, random.choice(["", " ", "\r", "#", "%", ","]))
    return random.choice(["\n"] * 9 + ["\r\n"]).join(lines)


def edit_json(contents, random):
    """Change, remove, double or add one entry of what JSON says, in place."""
    path = random.choice([path for path in _paths(contents) if path])
    within = contents
    for key in path[:-1]:
        within = within[key]
    key, old = path[-1], within[path[-1]]
    what = random.choice(["set", "set", "set", "near", "near", "remove", "twice", "add"])
    if what == "remove":
        del within[key]
    elif what == "twice" and isinstance(within, list):
        within.insert(key, copy.deepcopy(old))
    elif what == "add" and isinstance(old, dict):
        old["strange"] = copy.deepcopy(random.choice(ODD))
    elif what == "add" and isinstance(old, list):
        old.append(copy.deepcopy(random.choice(ODD)))
    elif what == "near" and type(old) in (int, float) and abs(old) < 1e200:
        within[key] = random.choice([old + 1, old - 1, -old, old * 1e39, float(old), old * 10**9])
    else:
        within[key] = copy.deepcopy(random.choice(ODD))


def _paths(contents, before=()):
    yield before
    if isinstance(contents, dict):
        for key in contents:
            yield from _paths(contents[key], (*before, key))
    elif isinstance(contents, list):
        for index in range(len(contents)):
            yield from _paths(contents[index], (*before, index))


def edit_tensors(tensors, random):
    """Change one tensor of a dict: its numbers, dtype, shape or name, in place."""
    name, other = random.choice(sorted(tensors)), random.choice(sorted(tensors))
    tensor = tensors[name].clone()
    what = random.choice(
        ["fill", "fill", "one", "one", "dtype", "shape", "shape", "remove", "rename", "swap", "add"]
    )
    if what in ("fill", "one"):
        value = torch.tensor(random.choice(FILLS), dtype=torch.float64).to(tensor.dtype)
        place = random.randrange(max(tensor.numel(), 1))
        tensor.view(-1)[slice(place, place + 1) if what == "one" else slice(None)] = value
        tensors[name] = tensor
    elif what == "dtype":
        tensors[name] = tensor.to(random.choice(DTYPES))
    elif what == "shape":
        tensors[name] = _reshaped(tensor, random)
    elif what == "remove":
        del tensors[name]
    elif what == "rename":
        tensors[random.choice([name + "x", name[1:], other])] = tensors.pop(name)
    elif what == "swap":
        tensors[name], tensors[other] = tensors[other], tensors[name]
    else:
        tensors[
            random.choice([name.rpartition(".")[0] + ".strange", "strange", "optimiser/99/step"])
        ] = tensor


def _reshaped(tensor, random):
    what = random.choice(["flat", "deep", "resized", "resized", "resized"])
    if what == "flat":
        return tensor.reshape(-1)
    if what == "deep":
        return tensor[None]
    shape = list(tensor.shape) or [1]
    at = random.randrange(len(shape))
    shape[at] = random.choice([shape[at] + 1, max(shape[at] - 1, 0), 0, 1000])
    return torch.ones(shape).to(tensor.dtype)
