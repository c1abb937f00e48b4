"""The windows form of the convolution search as a product of small matrices.

The windows of a path that start at its samples are the rows of one matrix, the taps of four shapelets of
about one length the columns of the other; taps that a shorter one does not have are zero. Four windows
are multiplied at a time, their sums kept in registers.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from ..discrepancies._lattice import is_whole, last_share, n_pieces
from ..discrepancies.base import Ahead
from ..offsets import AT_END, FREE
from ..parallel import Queue, Work, inlined_kernel, items_of, kernel, queue_of, u
from ..paths import Array, Index
from .lanes import N_LANES, add, add_product, load, spread, store, where_less
from .lattice import window_taps
from .problem import L2Problem, energy_density
from .sums import running_sum, sum_between

N_WINDOWS, UNROLLED = 4, 4  # multiplied at a time: windows, and taps of a single one

Search = Callable[[Queue, Index], int]


def side_by_side(
    problem: L2Problem, ahead: Ahead | None, start: Array, slope: Array, index: Index
) -> tuple[list[Work], Search, None]:
    """Prepare to write the best offsets.

    Returns work to be done before, in turn; what searches the paths of a queue, writes which they were
    to its second argument, and returns their number; and how many paths to take at once, if not any.
    """
    paths = problem.paths
    taps, finding_taps = window_taps(problem, ahead)
    _, n_shapelets, n_taps, n_channels = taps.shape
    order = np.argsort(problem.lengths, kind="stable")
    size = n_taps * n_channels + UNROLLED - 1
    beside = np.zeros((2, -(-n_shapelets // N_LANES), size, N_LANES))
    set_beside: Work = (
        lambda queue: _set_side_by_side(queue, taps, order, beside), queue_of(n_shapelets)
    )  # fmt: skip
    search = partial(
        _search_paths, problem.rows, paths.row_offsets, paths.longest, paths.common_step,
        problem.shift, problem.weights, problem.lengths, order, n_taps, beside, start, slope, index,
    )  # fmt: skip
    return [finding_taps, set_beside], search, None


@kernel
def _set_side_by_side(queue, taps, order, beside):
    for k in items_of(queue):
        for at_end in range(2):
            own = taps[at_end, order[k]].ravel()
            for tap in range(len(own)):
                beside[at_end, k // N_LANES, tap, k % N_LANES] = own[tap]


@kernel
def _search_paths(
    rows, row_offsets, longest, step, shift, weights, lengths, order, n_taps, taps, start, slope,
    index, queue, found,
):  # fmt: skip
    """Search paths of a queue; writes which they were to ``found`` and returns their number.

    Taps are (2, blocks, taps * channels, lanes), shapelets in ``order``, the shortest first.
    """
    n_shapelets, n_channels = len(lengths), rows.shape[1]
    n_blocks, block_size = taps.shape[1], taps.shape[2] * N_LANES
    pieces, whole = np.empty(n_shapelets, np.int64), np.empty(n_shapelets, np.int64)
    of_density = np.zeros((2, n_blocks, 3, N_LANES))
    for k in range(n_shapelets):
        length = lengths[order[k]]
        pieces[k] = n_pieces(length, step)
        share = last_share(length, step, pieces[k])
        whole[k] = 1 if is_whole(share, pieces[k]) else 0
        # Of the partial piece at the end a window has a share; of the one at its start, all but a part.
        for at_end, part, width in ((0, share, step), (1, 1.0 - share, -step)):
            own = of_density[at_end, k // N_LANES, :, k % N_LANES]
            own[0], own[1], own[2] = width * part, width * part**2, width * part**3 / 3.0
    run_end, spread_of_pieces = np.empty(n_shapelets, np.int64), 0
    for k in range(n_shapelets - 1, -1, -1):
        same = k + 1 < n_shapelets and (k + 1) % N_LANES > 0
        same = same and pieces[k] == pieces[k + 1] and whole[k] == whole[k + 1]
        run_end[k] = run_end[k + 1] if same else k + 1
        first = k - k % N_LANES
        spread_of_pieces = max(spread_of_pieces, min(pieces[k], longest - 1) - pieces[first])
    with_level, flat_rows = np.ones(1), rows.ravel()
    x = np.empty((longest + spread_of_pieces + N_WINDOWS) * n_channels + UNROLLED)
    correlations, costs = np.empty((2, longest + N_WINDOWS, N_LANES))
    end_correlation, end_cost, best, best_cost = np.empty((4, N_LANES))
    terms, density, sums = np.empty(longest), np.empty((3, 1, longest)), np.empty((1, 2, longest))
    n_found = 0
    for series in items_of(queue):
        found[n_found] = series
        n_found += 1
        begin, end = row_offsets[series], row_offsets[series + 1]
        path, n_rows = u(series), end - begin
        last_row = n_rows - 1
        span = last_row * step
        x[: n_rows * n_channels] = flat_rows[begin * n_channels : end * n_channels]
        x[n_rows * n_channels :] = 0.0
        energy_density(rows, begin, end, shift[series], weights, with_level, density)
        for row in range(n_rows):
            terms[row] = step * (density[0, 0, row] + density[1, 0, row] + density[2, 0, row] / 3.0)
        running_sum(terms, last_row, sums, 0)
        for block in range(n_blocks):
            first, last = block * N_LANES, min((block + 1) * N_LANES, n_shapelets)
            n_used = min(pieces[last - 1] + 1, n_rows)
            multiply_windows(
                x, n_channels, n_rows - pieces[first] - whole[first], taps, block * block_size,
                n_used * n_channels, correlations,
            )  # fmt: skip
            multiply_window(
                x, (n_rows - n_used) * n_channels, taps,
                (n_blocks + block) * block_size + (n_taps - n_used) * n_channels * N_LANES,
                n_used * n_channels, end_correlation,
            )  # fmt: skip
            low = first
            while low < last:
                high, width = run_end[low], pieces[low]
                n_offsets = max(n_rows - width - whole[low], 0)
                add_energy(
                    density, sums, 0, n_offsets, width - 1, width - 1, of_density, block,
                    correlations, costs,
                )  # fmt: skip
                if width <= last_row:
                    add_energy(
                        density, sums, last_row - width, 1, width, 0, of_density, n_blocks + block,
                        end_correlation, end_cost,
                    )  # fmt: skip
                earliest_least(costs, n_offsets, best, best_cost)
                for k in range(u(low), u(high)):
                    shapelet, lane = u(order[k]), k - u(first)
                    free = span <= lengths[shapelet]
                    at_end = best[lane] < 0.0 or end_cost[lane] < best_cost[lane]
                    at = span - lengths[shapelet] if at_end else best[lane] * step
                    start[path, shapelet] = 0.0 if free else at
                    slope[path, shapelet] = -1.0 if at_end and not free else 0.0
                    sample = AT_END if at_end else np.int64(best[lane])
                    index[path, shapelet] = FREE if free else sample
                low = high
    return n_found


@kernel
def multiply_windows(x, n_channels, n_windows, taps, first, size, out):
    """Multiply the windows of a path, a row apart, by the taps of a block from ``first`` on."""
    for window in range(0, n_windows, N_WINDOWS):
        a = u(window * n_channels)
        b, c, d = a + u(n_channels), a + u(2 * n_channels), a + u(3 * n_channels)
        # Even and odd taps have sums of their own, so that none waits for the last.
        a0 = a1 = b0 = b1 = c0 = c1 = d0 = d1 = spread(0.0)
        for even in range(u(0), u(size), u(2)):
            odd = even + u(1)
            tap0 = load(taps, u(first) + even * u(N_LANES))
            tap1 = load(taps, u(first) + odd * u(N_LANES))
            a0 = add_product(spread(x[a + even]), tap0, a0)
            b0 = add_product(spread(x[b + even]), tap0, b0)
            c0 = add_product(spread(x[c + even]), tap0, c0)
            d0 = add_product(spread(x[d + even]), tap0, d0)
            a1 = add_product(spread(x[a + odd]), tap1, a1)
            b1 = add_product(spread(x[b + odd]), tap1, b1)
            c1 = add_product(spread(x[c + odd]), tap1, c1)
            d1 = add_product(spread(x[d + odd]), tap1, d1)
        at = u(window * N_LANES)
        store(out, at, add(a0, a1))
        store(out, at + u(N_LANES), add(b0, b1))
        store(out, at + u(2 * N_LANES), add(c0, c1))
        store(out, at + u(3 * N_LANES), add(d0, d1))


@inlined_kernel
def multiply_window(x, begin, taps, first, size, out):
    """Multiply one window."""
    a = b = c = d = spread(0.0)
    for i in range(u(0), u(size), u(UNROLLED)):
        row, tap = u(begin) + i, u(first) + i * u(N_LANES)
        a = add_product(spread(x[row]), load(taps, tap), a)
        b = add_product(spread(x[row + u(1)]), load(taps, tap + u(N_LANES)), b)
        c = add_product(spread(x[row + u(2)]), load(taps, tap + u(2 * N_LANES)), c)
        d = add_product(spread(x[row + u(3)]), load(taps, tap + u(3 * N_LANES)), d)
    store(out, u(0), add(add(a, b), add(c, d)))


@inlined_kernel
def add_energy(
    density, sums, first, n_windows, width, partial, of_density, block, correlations, costs
):  # fmt: skip
    """Cost of windows: energy less twice the correlation.

    Their energy is that of ``width`` pieces from row ``first`` + i on, and shares of that of the piece
    ``partial`` further.
    """
    at = u(block * 3 * N_LANES)
    of_e, of_b, of_d = (
        load(of_density, at), load(of_density, at + u(N_LANES)), load(of_density, at + u(2 * N_LANES))
    )  # fmt: skip
    for i in range(u(n_windows)):
        begin = u(first) + i
        row = begin + u(partial)
        cost = add_product(spread(-2.0), load(correlations, i * u(N_LANES)), spread(0.0))
        cost = add_product(spread(density[2, 0, row]), of_d, cost)
        cost = add_product(spread(density[1, 0, row]), of_b, cost)
        cost = add_product(spread(density[0, 0, row]), of_e, cost)
        energy = spread(sum_between(sums, 0, begin, begin + u(width)))
        store(costs, i * u(N_LANES), add(energy, cost))


@inlined_kernel
def earliest_least(costs, n_windows, best, best_cost):
    """Window of least cost, the earliest if there are several, and its cost; -1 if there is none."""
    lowest, where = spread(np.inf), spread(-1.0)
    for i in range(u(n_windows)):
        cost = load(costs, i * u(N_LANES))
        where = where_less(cost, lowest, spread(np.float64(i)), where)
        lowest = where_less(cost, lowest, cost, lowest)
    store(best, u(0), where)
    store(best_cost, u(0), lowest)
