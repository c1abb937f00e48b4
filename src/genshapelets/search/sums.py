"""Running sums whose differences keep their digits.

A window's sum is the difference of two running sums. After one wild observation these are huge and
their difference would be noise, so each carries what rounding has taken from it (Neumaier).
"""

from __future__ import annotations

from ..parallel import strict_kernel


@strict_kernel
def running_sum(terms, n_terms, high, low):
    """high[i] + low[i] = the sum of the first i terms."""
    total, lost = 0.0, 0.0
    for item in range(n_terms):
        high[item], low[item] = total, lost
        term = terms[item]
        after = total + term
        if abs(total) >= abs(term):
            lost += (total - after) + term
        else:
            lost += (term - after) + total
        total = after
    high[n_terms], low[n_terms] = total, lost


@strict_kernel
def sum_between(high, low, first, last):
    """Sum of the terms first..last."""
    return (high[last] - high[first]) + (low[last] - low[first])
