"""A few combinations of options in which every two values of any two options meet."""

from itertools import combinations, product


def pairwise(*options):
    """Rows of one value of each option; far fewer than their product.

    Greedily: of all combinations that one next which has most pairs that have not met yet.
    """
    left = {
        (i, one, j, other)
        for (i, first), (j, second) in combinations(enumerate(map(len, options)), 2)
        for one, other in product(range(first), range(second))
    }
    rows = []
    while left:
        row, met = max(
            ((row, left & _pairs(row)) for row in product(*(range(len(x)) for x in options))),
            key=lambda found: len(found[1]),
        )
        rows.append(tuple(values[at] for values, at in zip(options, row, strict=True)))
        left -= met
    return rows


def _pairs(row):
    return {(i, one, j, other) for (i, one), (j, other) in combinations(enumerate(row), 2)}
