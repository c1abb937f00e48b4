r"""Signatures and log-signatures of piecewise-linear paths, in plain torch.

The signature of a path x holds one iterated integral for each word of letters, which are its channels:

.. math:: \mathrm{Sig}(x)_w = \int_{t_1 < \ldots < t_k} dx_{w_1}(t_1) \cdots dx_{w_k}(t_k)

Signatures multiply as their paths are put one after another (Chen), and that of a straight line is the
exponential of its increment. Up to a depth it is a list of levels: level k has the words of k letters
along its last axis, the last letter running fastest. The word of no letters, always 1, is not kept.

The logarithm of a signature is known by its values at the Lyndon words, those that are smaller than each
of their endings. Here these values themselves are the coordinates, not coefficients of brackets: the two
differ from depth 3 on.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache

import torch
from torch import Tensor

Levels = Sequence[Tensor]


def n_lyndon_words(n_letters: int, depth: int) -> int:
    """Number of Lyndon words of at most ``depth`` letters: Witt's formula.

    Each word is a power of a word that is no power, which has as many rotations as letters, one of them
    a Lyndon word: n^k is the sum of d times the Lyndon words of d letters, over the divisors d of k.

    Examples
    --------
    >>> n_lyndon_words(7, 3)
    140
    """
    counts: list[int] = []
    for k in range(1, depth + 1):
        shorter = sum(d * counts[d - 1] for d in range(1, k) if k % d == 0)
        counts.append((n_letters**k - shorter) // k)
    return sum(counts)


@cache
def lyndon_words(n_letters: int, depth: int) -> tuple[tuple[int, ...], ...]:
    """Lyndon words of at most ``depth`` letters, shorter ones first, then by alphabet (Duval).

    Examples
    --------
    >>> lyndon_words(2, 4)
    ((0,), (1,), (0, 1), (0, 0, 1), (0, 1, 1), (0, 0, 0, 1), (0, 0, 1, 1), (0, 1, 1, 1))
    """
    words, word = [], [-1]
    while word:
        word[-1] += 1
        words.append(tuple(word))
        word = [word[i % len(word)] for i in range(depth)]
        while word and word[-1] == n_letters - 1:
            word.pop()
    return tuple(sorted(words, key=lambda word: (len(word), word)))


def position(word: Sequence[int], n_letters: int) -> int:
    """Place of a word in its level."""
    place = 0
    for letter in word:
        place = place * n_letters + letter
    return place


def signature(increments: Tensor, depth: int) -> list[Tensor]:
    """Signatures of paths of straight pieces.

    By Chen's identity a piece of increment d adds sum_i x_(k-i) d^i / i! to level k, where x is the
    signature of all that came before. So the levels are sums over pieces, one after another.

    Parameters
    ----------
    increments : (…, pieces, letters) tensor
    depth : int

    Returns
    -------
    list of (…, letters^k) tensors, k = 1 … depth
    """
    before: list[Tensor] = []
    levels = []
    for k in range(1, depth + 1):
        # Horner's rule: x_(k-1) + (x_(k-2) + (…) d/3) d/2, which is then multiplied by d.
        inner = torch.ones_like(increments[..., :1])
        for j in range(1, k):
            inner = before[j - 1] + _outer(inner, increments / (k - j + 1))
        levels.append((inner.mT @ increments).flatten(-2))
        if k < depth:
            until = _outer(inner, increments).cumsum(dim=-2)
            before.append(torch.nn.functional.pad(until[..., :-1, :], (0, 0, 1, 0)))
    return levels


def logarithm(x: Levels) -> list[Tensor]:
    """Levels of log(1 + x) = x - x^2/2 + x^3/3 - …, which ends at the depth of x."""
    found, power = list(x), list(x)
    for n in range(2, len(x) + 1):
        power = [
            sum((_outer(power[i - 1], x[k - i - 1]) for i in range(n - 1, k)), torch.zeros_like(y))
            for k, y in enumerate(x, start=1)
        ]
        found = [y - (-1) ** n / n * z for y, z in zip(found, power, strict=True)]
    return found


def at_lyndon_words(x: Levels) -> Tensor:
    """Coordinates (…, words) of a logarithm, in the order of `lyndon_words`."""
    n_letters = x[0].shape[-1]
    places: list[list[int]] = [[] for _ in x]
    for word in lyndon_words(n_letters, len(x)):
        places[len(word) - 1].append(position(word, n_letters))
    return torch.cat(
        [level[..., torch.tensor(p, device=level.device)] for level, p in zip(x, places) if p],
        dim=-1,
    )


def _outer(x: Tensor, y: Tensor) -> Tensor:
    """Tensor product along the last axes."""
    return (x[..., :, None] * y[..., None, :]).flatten(-2)


# Many windows at once: words along the first axis, windows along the last. A *state* is a list of
# levels, of which the last holds only the words that are asked for: in a product they need nothing of
# the other words of that level.

State = list[Tensor]


class Words:
    """The longest words of a state, and where their parts are in the levels below.

    Parameters
    ----------
    words : sequence of words of ``depth`` letters
    n_letters, depth : int
    """

    def __init__(self, words: Sequence[Sequence[int]], n_letters: int, depth: int) -> None:
        self.letters = torch.tensor(words, dtype=torch.int64).reshape(len(words), depth)
        self.n_letters, self.depth = n_letters, depth
        # Places of the first j letters and of the others, j = 1 … depth - 1.
        self.splits = [(self.places(0, j), self.places(j, depth)) for j in range(1, depth)]
        self.all_but_last, self.all_but_first = self.places(0, depth - 1), self.places(1, depth)

    def places(self, first: int, last: int) -> Tensor:
        """Place in its level of each word's part between two letters."""
        place = torch.zeros(len(self.letters), dtype=torch.int64)
        for i in range(first, last):
            place = place * self.n_letters + self.letters[:, i]
        return place


def prefixes(increments: Tensor, words: Words) -> State:
    """Signatures of all beginnings of paths, the empty one first.

    Parameters
    ----------
    increments : (letters, pieces, paths) tensor
    words : Words

    Returns
    -------
    list of (words, pieces + 1, paths) tensors
    """
    before: State = []
    for k in range(1, words.depth + 1):
        inner = torch.ones_like(increments[:1])
        for j in range(1, k):  # Horner's rule, as in `signature`
            inner = before[j - 1][:, :-1] + _outer_first(inner, increments / (k - j + 1))
        if k < words.depth:
            added = _outer_first(inner, increments)
        else:
            added = inner[words.all_but_last] * increments[words.letters[:, -1]]
        before.append(torch.nn.functional.pad(added.cumsum(dim=1), (0, 0, 1, 0)))
    return before


def inverse(state: State, last: Tensor) -> State:
    """Inverses: words are read backwards, and their sign changes with each letter (the antipode).

    ``last`` is the last level of the state at the words read backwards.
    """
    n_letters, found = len(state[0]), []
    for k, level in enumerate(state[:-1], start=1):
        batch = level.shape[1:]
        turned = level.reshape(*[n_letters] * k, -1).permute(*range(k - 1, -1, -1), k)
        found.append((-1) ** k * turned.reshape(n_letters**k, *batch))
    return [*found, (-1) ** len(state) * last]


def append(state: State, increments: Tensor, words: Words) -> State:
    """Signatures of paths that go on by straight pieces (letters, windows), by Horner's rule."""
    found = []
    for k in range(1, words.depth + 1):
        inner = torch.ones_like(increments[:1])
        for j in range(1, k):
            inner = state[j - 1] + _outer_first(inner, increments / (k - j + 1))
        if k < words.depth:
            found.append(state[k - 1] + _outer_first(inner, increments))
        else:
            last = increments.index_select(0, words.letters[:, -1])
            found.append(torch.addcmul(state[-1], inner.index_select(0, words.all_but_last), last))
    return found


def prepend(increments: Tensor, state: State, words: Words) -> State:
    """Signatures of straight pieces (letters, windows) after which a path comes."""
    found = []
    for k in range(1, words.depth + 1):
        inner = torch.ones_like(increments[:1])
        for j in range(1, k):
            inner = state[j - 1] + _outer_first(increments / (k - j + 1), inner)
        if k < words.depth:
            found.append(state[k - 1] + _outer_first(increments, inner))
        else:
            first = increments.index_select(0, words.letters[:, 0])
            found.append(
                torch.addcmul(state[-1], first, inner.index_select(0, words.all_but_first))
            )
    return found


def multiply(a: State, b: State, words: Words) -> State:
    """Signatures of paths one after another (Chen)."""
    found = []
    for k in range(1, words.depth):
        level = a[k - 1] + b[k - 1]
        for j in range(1, k):
            level += _outer_first(a[j - 1], b[k - j - 1])
        found.append(level)
    level = a[-1] + b[-1]
    for j, (u, v) in enumerate(words.splits, start=1):
        level.addcmul_(a[j - 1].index_select(0, u), b[words.depth - j - 1].index_select(0, v))
    return [*found, level]


def log_coordinates(z: State, words: Words) -> Tensor:
    """Coordinates (Lyndon words, windows) of log(1 + z); the longest words are Lyndon words.

    log(1 + z) = z + z h with h = -z/2 + z^2/3 - …, of which only the levels below the last are needed.
    """
    depth, n_letters = words.depth, words.n_letters
    h: State = []
    for n in range(depth, 1, -1):  # h = -(z/n)(…): from the innermost bracket outwards
        product = [-level / n for level in z[:-1]]
        if h:
            for k in range(2, depth):
                for j in range(1, k):
                    product[k - 1] -= _outer_first(z[j - 1], h[k - j - 1])
        h = product
    found = []
    for at in [*(lyndon_level(n_letters, k) for k in range(1, depth)), words]:
        level = z[-1].clone() if at is words else z[at.depth - 1][at.places(0, at.depth)]
        for j, (u, v) in enumerate(at.splits, start=1):
            left, right = z[j - 1].index_select(0, u), h[at.depth - j - 1].index_select(0, v)
            level.addcmul_(left, right)
        found.append(level)
    return torch.cat(found)


@cache
def lyndon_level(n_letters: int, depth: int) -> Words:
    """The Lyndon words of exactly ``depth`` letters."""
    known = lyndon_words(n_letters, depth)
    return Words([word for word in known if len(word) == depth], n_letters, depth)


def _outer_first(x: Tensor, y: Tensor) -> Tensor:
    """Tensor product along the first axes."""
    return (x[:, None] * y[None]).flatten(0, 1)


def check_memory(n_numbers: int, what: str, advice: str) -> None:
    """Refuse, with a ValueError, float64 numbers that this machine has no memory for."""
    needed, there = 8 * n_numbers, _memory()
    if needed > there:
        raise ValueError(
            f"{what} would take {needed / 1e9:.3g} GB of memory; this machine has {there / 1e9:.3g}. "
            f"{advice}"
        )


@cache
def _memory() -> int:
    """Bytes of memory of this machine; 16 GB where it does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # Windows
        return 16 * 10**9
