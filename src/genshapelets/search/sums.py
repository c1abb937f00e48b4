"""Running sums whose differences keep their digits.

A window's sum is the difference of two running sums. After one wild observation these are huge and
their difference would be noise, so each carries what rounding has taken from it (Neumaier).
"""

from __future__ import annotations

from ..parallel import strict_kernel, u


@strict_kernel
def running_sum(terms, n_terms, sums, column):
    """sums[column, 0, i] + sums[column, 1, i] = the sum of the first i terms."""
    total, lost = 0.0, 0.0
    for item in range(n_terms):
        sums[column, 0, item], sums[column, 1, item] = total, lost
        term = terms[item]
        after = total + term
        if abs(total) >= abs(term):
            lost += (total - after) + term
        else:
            lost += (term - after) + total
        total = after
    sums[column, 0, n_terms], sums[column, 1, n_terms] = total, lost


@strict_kernel
def sum_between(sums, column, first, last):
    """Sum of the terms first..last."""
    high = sums[column, 0, last] - sums[column, 0, first]
    return high + (sums[column, 1, last] - sums[column, 1, first])


@strict_kernel
def sliding_sums(sums, column, width, n_sums, out):
    """out[i] = the sum of the terms i..i + width."""
    for i in range(u(n_sums)):
        j = i + u(width)
        high = sums[column, 0, j] - sums[column, 0, i]
        out[i] = high + (sums[column, 1, j] - sums[column, 1, i])
