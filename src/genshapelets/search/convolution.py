"""Grid search on regularly sampled paths: it is a convolution.

With samples h apart, f = sum_i x_i hat_i, and int f(s + t).w(t) dt = sum_m x_{s/h + m}.v_m: the same
taps v for every offset s on the lattice and every path, exact in continuous time for any length. The
window's energy comes from running sums. The last possible offset, which lies between samples, is one
more product, with taps counted from the end.

One compiled loop does all of it, path by path; `_convolution_torch` is the twin for other devices.
"""

from __future__ import annotations

import numpy as np

from ..discrepancies._lattice import is_whole, last_share, n_pieces
from ..discrepancies.base import Ahead
from ..offsets import AT_END, FREE, Offsets
from ..parallel import (
    Queue,
    Work,
    blocks_of,
    inlined_kernel,
    kernel,
    queue_of,
    run_in_turn,
    scratch,
    u,
)
from ..paths import Array, Index
from .fourier import roots_of_unity
from .lattice import side_by_side_applies, window_taps
from .problem import L2Problem
from .side_by_side import Search, side_by_side
from .spectra import Layout, correlate_spectra, spectra_of_taps, transform_paths
from .sums import running_sum, sliding_sums, sum_between


def search_convolution(problem: L2Problem, form: str, ahead: Ahead | None = None) -> Offsets:
    """Find the best offset among every sample and the last possible start.

    Parameters
    ----------
    problem : L2Problem
        Its paths share one sampling step.
    form : "convolution" or "fft"
        Multiply windows by taps, or spectra by spectra.
    ahead : Ahead, optional
        Each thread evaluates the paths that it has searched.
    """
    n_series, n_shapelets = len(problem.paths), len(problem.lengths)
    start, slope = np.empty((2, n_series, n_shapelets))
    index = np.empty((n_series, n_shapelets), np.int64)
    if form == "convolution" and side_by_side_applies(problem):
        preparing, search, most = side_by_side(problem, ahead, start, slope, index)
    else:
        preparing, search, most = _path_by_path(problem, ahead, form, start, slope, index)

    def search_some(queue: Queue) -> None:
        found = scratch("found", (n_series,), np.int64)
        n_found = search(queue, found)
        if ahead is not None:
            ahead.some(index, found[:n_found])

    run_in_turn(*preparing, (search_some, queue_of(n_series, most)))
    return Offsets(start, slope, index, form)


def _path_by_path(
    problem: L2Problem, ahead: Ahead | None, form: str, start: Array, slope: Array, index: Index
) -> tuple[list[Work], Search, int]:
    """Prepare to search one path after the other: see `side_by_side`."""
    paths, n_channels = problem.paths, problem.rows.shape[1]
    taps, finding_taps = window_taps(problem, ahead)
    preparing = [finding_taps]
    layout = Layout.of(max(paths.longest, taps.shape[2]), n_channels, len(problem.lengths))
    roots = roots_of_unity(layout.period)
    spectra, largest_tap, room = np.empty((0, 0, 0, 0, 0)), np.empty((0, 0, 0)), 0
    if form == "fft":
        spectra, largest_tap, transform_taps = spectra_of_taps(taps[0], layout, roots)
        preparing.append(transform_taps)
        room = layout.room(n_channels)

    def search(queue: Queue, found: Index) -> int:
        n_found: int = _search_paths(
            problem.rows, paths.row_offsets, paths.longest, paths.common_step, problem.shift,
            problem.column_weights, problem.column_level, problem.column, problem.level_free,
            problem.weights, problem.lengths, taps, spectra, largest_tap, layout, roots,
            scratch("columns", (room,)), start, slope, index, queue, found,
        )  # fmt: skip
        return n_found

    return preparing, search, layout.n_loaded


@kernel
def _search_paths(
    rows, row_offsets, longest, step, shift, column_weights, column_level, column, level_free, weights,
    lengths, taps, spectra, largest_tap, layout, roots, room, start, slope, index, queue, found,
):  # fmt: skip
    """Search paths of a queue, a few at a time and with a group of shapelets at a time.

    Writes which they were to ``found`` and returns their number.
    """
    n_shapelets, n_channels, n_columns = len(lengths), rows.shape[1], len(column_weights)
    by_spectra, any_level_free = len(spectra) > 0, level_free.any()
    pieces, share = np.empty(n_shapelets, np.int64), np.empty(n_shapelets)
    for k in range(n_shapelets):
        pieces[k] = n_pieces(lengths[k], step)
        share[k] = last_share(lengths[k], step, pieces[k])
    x, integral = np.empty((n_channels, longest + 1)), np.empty((n_channels, longest + 1))
    # Energies as seen by a metric, with or without the level: of all such, or of one at a time.
    few_columns = n_columns <= 2
    density = np.empty((n_columns if few_columns else 1, 3, longest))
    sums, cost = np.empty((len(density), 2, longest)), np.empty(longest)
    correlations = np.empty((2 * layout.n_pairs if by_spectra else 1, longest))
    flat_rows, flat_end_taps = rows.ravel(), taps[1].reshape(n_shapelets, -1)
    path_re, path_im, re, im = room, room, room, room
    largest_value = np.empty((layout.n_loaded, n_channels))
    bound = np.empty((layout.n_paths, 2 * layout.n_pairs))
    most_offsets = longest - pieces.min()
    n_found = 0
    for loaded, until in blocks_of(queue):
        for series in range(loaded, until):
            found[n_found] = series
            n_found += 1
        if by_spectra:
            path_re, path_im = transform_paths(
                loaded, until, rows, row_offsets, layout, roots, room, largest_value
            )
        for part in range(-(-(until - loaded) // layout.n_paths) * layout.n_groups):
            begin = loaded + part // layout.n_groups * layout.n_paths
            end, group = min(begin + layout.n_paths, until), part % layout.n_groups
            if by_spectra:
                re, im = correlate_spectra(
                    begin - loaded, end - begin, group, path_re, path_im, largest_value, spectra,
                    largest_tap, layout, roots, room, bound,
                )  # fmt: skip
            for series in range(begin, end):
                begin_row, end_row = row_offsets[series], row_offsets[series + 1]
                n_rows = end_row - begin_row
                span = (n_rows - 1) * step
                load_channels(rows, begin_row, n_rows, x)
                if any_level_free:
                    integrate(x, n_rows, step, integral)
                for c in range(n_columns if few_columns else 0):
                    sum_energy(
                        x, n_rows, step, shift, series, column_weights, column_level, c, density,
                        sums, c, cost,
                    )  # fmt: skip
                if by_spectra:
                    take_columns(re, im, series - begin, layout, bound, most_offsets, correlations)
                for member in range(2 * layout.n_pairs):
                    k = group * layout.n_pairs + member
                    if member >= layout.n_pairs:
                        k += (layout.n_groups - 1) * layout.n_pairs
                    if k >= n_shapelets:
                        break
                    if span <= lengths[k]:
                        start[series, k], slope[series, k], index[series, k] = 0.0, 0.0, FREE
                        continue
                    n_offsets = n_rows - pieces[k]
                    if is_whole(share[k], pieces[k]):
                        n_offsets -= 1  # the last one is the last possible start
                    if not by_spectra:
                        correlate_windows(x, taps, k, pieces[k] + 1, n_offsets, correlations)
                    if not few_columns:
                        sum_energy(
                            x, n_rows, step, shift, series, column_weights, column_level, k, density,
                            sums, 0, cost,
                        )  # fmt: skip
                    end_correlation = correlate_last(
                        flat_rows,
                        end_row * n_channels,
                        flat_end_taps,
                        k,
                        (pieces[k] + 1) * n_channels,
                    )
                    # Decided before the call: a branch among its arguments counts references to arrays.
                    own_column, own = column[k] if few_columns else 0, member if by_spectra else 0
                    metric = min(k, len(weights) - 1)
                    best = best_sample(
                        x, integral, density, sums, own_column, n_offsets, n_rows - 1, pieces[k],
                        share[k], step, level_free[k], weights, metric, correlations, own,
                        end_correlation, cost,
                    )  # fmt: skip
                    index[series, k] = best
                    slope[series, k] = -1.0 if best == AT_END else 0.0
                    start[series, k] = span - lengths[k] if best == AT_END else best * step
    return n_found


@inlined_kernel
def best_sample(
    x, integral, density, sums, column, n_offsets, last_row, pieces, share, step, level_free, weights,
    metric, correlations, own, end_correlation, cost,
):  # fmt: skip
    """Row at which the window of least cost starts, the earliest if there are several; or AT_END."""
    add_energy(density, sums, column, n_offsets, pieces, share, step, correlations, own, cost)
    end_cost = energy_at_end(density, sums, column, last_row, pieces, share, step)
    end_cost -= 2.0 * end_correlation
    if level_free:
        end_cost -= subtract_level(
            x, integral, weights, metric, n_offsets, last_row, pieces, share, step, cost
        )
    least = least_of(cost, n_offsets)
    if not end_cost < least:
        for offset in range(n_offsets):
            if cost[offset] == least:
                return offset
    return AT_END


@kernel
def load_channels(rows, begin, n_rows, x):
    """Copy a path channel by channel, its last row once more."""
    for channel in range(len(x)):
        for row in range(n_rows):
            x[channel, row] = rows[begin + row, channel]
        x[channel, n_rows] = x[channel, n_rows - 1]


@kernel
def integrate(x, n_rows, step, integral):
    """Integrate each channel up to each row."""
    for channel in range(len(x)):
        total = 0.0
        for row in range(n_rows):
            integral[channel, row] = total
            total += 0.5 * step * (x[channel, row] + x[channel, row + 1])


@kernel
def sum_energy(
    x, n_rows, step, shift, series, weights, level, metric, density, sums, column, terms
):  # fmt: skip
    """Density of the energy after each row, (e, b, d) of `L2Problem.energy`, and its running sum."""
    for row in range(u(n_rows)):
        density[column, 0, row] = 0.0
        density[column, 1, row] = 0.0
        density[column, 2, row] = 0.0
    for channel in range(len(x)):
        weight = weights[metric, channel]
        linear = level[metric] * weight * shift[series, channel]
        for row in range(u(n_rows)):
            f = x[channel, row]
            rise = x[channel, row + u(1)] - f
            density[column, 0, row] += f * (weight * f + 2.0 * linear)
            density[column, 1, row] += rise * (weight * f + linear)
            density[column, 2, row] += rise * (weight * rise)
    for row in range(u(n_rows)):
        terms[row] = step * (
            density[column, 0, row] + density[column, 1, row] + density[column, 2, row] / 3.0
        )
    running_sum(terms, n_rows - 1, sums, column)


@kernel
def take_columns(re, im, path, layout, bound, n_offsets, correlations):
    """Copy the correlations of one path with the shapelets of a group, one after the other."""
    n_pairs, n_columns = layout.n_pairs, len(re) // layout.period
    for offset in range(n_offsets):
        begin = offset * n_columns + path * n_pairs
        for pair in range(n_pairs):
            correlations[pair, offset] = bound[path, pair] * re[begin + pair]
            correlations[n_pairs + pair, offset] = bound[path, n_pairs + pair] * im[begin + pair]


@inlined_kernel
def correlate_windows(x, taps, k, n_taps, n_offsets, correlations):
    """Multiply windows by taps (taps, channels), four taps in one pass over the offsets."""
    for offset in range(u(n_offsets)):
        correlations[0, offset] = 0.0
    for channel in range(len(x)):
        for tap in range(0, n_taps - n_taps % 4, 4):
            t0, t1 = taps[0, k, tap, channel], taps[0, k, tap + 1, channel]
            t2, t3 = taps[0, k, tap + 2, channel], taps[0, k, tap + 3, channel]
            for offset in range(u(n_offsets)):
                at = offset + u(tap)
                correlations[0, offset] += (
                    t0 * x[channel, at] + t1 * x[channel, at + u(1)]
                    + t2 * x[channel, at + u(2)] + t3 * x[channel, at + u(3)]
                )  # fmt: skip
        for tap in range(n_taps - n_taps % 4, n_taps):
            for offset in range(u(n_offsets)):
                correlations[0, offset] += taps[0, k, tap, channel] * x[channel, offset + u(tap)]


@inlined_kernel
def correlate_last(rows, end, taps, k, size):
    """Multiply the last numbers of a path by the last taps of a shapelet."""
    row, tap = u(end - size), u(taps.shape[1] - size)
    total = 0.0
    for i in range(u(size)):
        total += rows[row + i] * taps[k, tap + i]
    return total


@inlined_kernel
def add_energy(density, sums, column, n_offsets, pieces, share, step, correlations, own, cost):
    """Cost of the windows that start at each row: energy less twice the correlation."""
    of_e = share * step
    of_b = of_e * share
    of_d = of_b * share * (1.0 / 3.0)
    whole = u(pieces - 1)
    # In a loop of its own: added up here, the compiler may reorder it and lose the digits.
    sliding_sums(sums, column, whole, n_offsets, cost)
    for offset in range(u(n_offsets)):
        row = offset + whole
        cost[offset] += (
            of_e * density[column, 0, row] + of_b * density[column, 1, row]
            + of_d * density[column, 2, row] - 2.0 * correlations[own, offset]
        )  # fmt: skip


@inlined_kernel
def energy_at_end(density, sums, column, last_row, pieces, share, step):
    """Energy of the last window: that of its pieces, less the part of the first before it starts."""
    row, before = last_row - pieces, 1.0 - share
    return sum_between(sums, column, row, last_row) - before * step * (
        density[column, 0, row]
        + before * (density[column, 1, row] + before * (1.0 / 3.0) * density[column, 2, row])
    )


@inlined_kernel
def subtract_level(
    x, integral, weights, metric, n_offsets, last_row, pieces, share, step, cost
):  # fmt: skip
    """Take off what the windows' mean levels contribute to their cost; return that of the last."""
    per_length = 1.0 / (step * (pieces - 1 + share))
    of_here, of_rise = step * share, 0.5 * step * share * share
    before = 1.0 - share
    whole, end_row, at_end = u(pieces - 1), last_row - pieces, 0.0
    for channel in range(len(x)):
        weight = weights[metric, channel] * per_length
        for offset in range(u(n_offsets)):
            row = offset + whole
            here, rise = x[channel, row], x[channel, row + u(1)] - x[channel, row]
            level = integral[channel, row] - integral[channel, offset]
            level += of_here * here + of_rise * rise
            cost[offset] -= weight * level * level
        here, rise = x[channel, end_row], x[channel, end_row + 1] - x[channel, end_row]
        level = integral[channel, last_row] - integral[channel, end_row]
        level -= before * step * (here + 0.5 * before * rise)
        at_end += weight * level * level
    return at_end


@kernel
def least_of(cost, n_offsets):
    """The least cost, infinite if there is none. Four at a time, so that none waits for the last."""
    a, b, c, d = np.inf, np.inf, np.inf, np.inf
    four = n_offsets - n_offsets % 4
    for offset in range(u(0), u(four), u(4)):
        a = cost[offset] if cost[offset] < a else a
        b = cost[offset + u(1)] if cost[offset + u(1)] < b else b
        c = cost[offset + u(2)] if cost[offset + u(2)] < c else c
        d = cost[offset + u(3)] if cost[offset + u(3)] < d else d
    for offset in range(four, n_offsets):
        a = cost[offset] if cost[offset] < a else a
    return min(a, b, c, d)
