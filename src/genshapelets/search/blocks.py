"""Part of a path, cut out for the exact search, with times since its start.

So digits go to what a window sees, however long and far away the rest of the path is.
"""

from __future__ import annotations

import numpy as np

from ..parallel import kernel, u
from .knots import integrate_once
from .rows import integrate_density, integrate_rows
from .sums import running_sum


@kernel
def cut_knots(knots, first_row, last_row, begin, end, out, inverse_gap):
    """Times since ``begin`` of the rows first_row..last_row, the first moved to it, the last to ``end``.

    Returns at which shares of their pieces these two come to lie.
    """
    out[0] = 0.0
    for row in range(1, last_row - first_row + 1):
        time = min(knots[first_row + row], end) - begin
        out[row] = max(time, np.nextafter(out[row - 1], np.inf))  # an ulp apart they stay apart
        inverse_gap[row - 1] = 1.0 / (out[row] - out[row - 1])
    left, right = knots[first_row], knots[last_row - 1]
    return (
        (begin - left) / (knots[first_row + 1] - left),
        min((end - right) / (knots[last_row] - right), 1.0),
    )


@kernel
def cut_values(values, first, n_rows, cut, out, begin):
    """Values at the rows of a block, of a function linear between rows."""
    opening, closing = cut
    last = first + n_rows - 1
    out[begin] = values[first] + opening * (values[first + 1] - values[first])
    for row in range(u(1), u(n_rows - 1)):
        out[u(begin) + row] = values[u(first) + row]
    out[begin + n_rows - 1] = values[last - 1] + closing * (values[last] - values[last - 1])


@kernel
def cut_energy(energy, first, n_rows, column, cut, out):
    """Density of the energy on the pieces of a block, (rows, 1, 3)."""
    opening, closing = cut
    for row in range(n_rows - 1):
        e, b, d = (
            energy[first + row, column, 0], energy[first + row, column, 1],
            energy[first + row, column, 2],
        )  # fmt: skip
        x = opening if row == 0 else 0.0
        share = (closing if row == n_rows - 2 else 1.0) - x
        out[row, 0, 0] = e + x * (2.0 * b + x * d)
        out[row, 0, 1] = share * (b + x * d)
        out[row, 0, 2] = share * share * d


@kernel
def new_block(n_rows, n_columns, n_channels):
    """Room for what `cut_block` fills."""
    return (
        np.empty(n_rows), np.empty(n_rows), np.empty(n_rows * n_columns), np.empty((2, 2, n_rows)),
        np.empty((4, n_rows)), np.empty((4, n_rows)),
        np.empty((n_rows, n_channels)), np.empty((n_rows, n_channels)),
    )  # fmt: skip


@kernel
def cut_block(
    knots, path, energy, column, table, n_columns, level_free, first_row, begin, end, density, terms,
    block,
):  # fmt: skip
    """Cut the part between two times out of a path, looking for its first row from a row on.

    Fills the block: times since ``begin``, the gaps' inverses, the table, running integrals of energy
    and |A f'|^2, `fill_ends`, values and their integral (if level-free). Returns its first and last row.
    """
    times, inverse_gap, cut_table, sums, ending, starting, values, integral = block
    while knots[first_row + 1] <= begin:
        first_row += 1
    last_row = first_row + 1
    while last_row + 1 < len(knots) and knots[last_row] < end:
        last_row += 1
    n_rows = last_row - first_row + 1
    times = times[:n_rows]
    cut = cut_knots(knots, first_row, last_row, begin, end, times, inverse_gap)
    for j in range(n_columns):
        cut_values(table, j * len(knots) + first_row, n_rows, cut, cut_table, j * n_rows)
    cut_energy(energy, first_row, n_rows, column, cut, density)
    integrate_density(times, density, 0, 0, terms, sums)
    for row in range(n_rows - 1):
        terms[row] = density[row, 0, 2] * inverse_gap[row]
    running_sum(terms, n_rows - 1, sums, 1)
    place = (n_columns - 2) * n_rows
    fill_ends(times, inverse_gap, density, cut_table, place, ending, starting)
    if level_free:
        for channel in range(path.shape[1]):
            cut_values(path[:, channel], first_row, n_rows, cut, values[:, channel], 0)
        integrate_rows(times, values, integral)
    return first_row, last_row


@kernel
def fill_ends(knots, inverse_gap, energy, table, place, ending, starting):
    """Energy since the row less twice w(S).F1, and less twice w(0).F1, on the pieces of a block."""
    n_rows = len(knots)
    integrate_once(knots, inverse_gap, 0, n_rows, table, place, -2.0, ending)
    integrate_once(knots, inverse_gap, 0, n_rows, table, place + n_rows, -2.0, starting)
    for row in range(n_rows - 1):
        e, b, d = energy[row, 0, 0], energy[row, 0, 1], energy[row, 0, 2]
        slope, curve = b * inverse_gap[row], d * inverse_gap[row] * inverse_gap[row] / 3.0
        for polynomials in (ending, starting):
            polynomials[1, row] += e
            polynomials[2, row] += slope
            polynomials[3, row] += curve
