"""Windows on a sampling lattice: regularly sampled paths, offsets at a sample or at the end.

All windows of one shapelet then share their nodes: the samples in the window, and where it ends (or,
for the last possible window, starts) between two samples. Let V be the piecewise-linear functions on
these nodes and Pw the L2 projection of the shapelet w onto V. The path f lies in V, so

    int |f - w|^2 = int |f - Pw|^2 + int |w - Pw|^2,

two sums of squares, no cancellation, and the second belongs to the shapelet alone. What remains for
each window is a pass over its samples. Constants lie in V, so ignoring the level changes nothing here.

`_union` is the obvious twin.
"""

from __future__ import annotations

import numpy as np

from ..offsets import AT_END, FREE
from ..parallel import blocks_of, items_of, kernel, strict_kernel, u
from ._union import merge_knots, node_arrays

NOT_WANTED = np.empty((0, 0, 0, 0))  # for outputs of `project`
ROUNDING = 1e-12  # of a length: one that exceeds n steps by less has n pieces
MOST_PIECES = 1e15


# Strict, so that whoever asks gets the same answer: buffers are laid out by it.


@strict_kernel
def n_pieces(length, step):
    """Pieces that a window of this length has on the lattice."""
    n_steps = min(length / step, MOST_PIECES)
    return max(int(np.ceil(n_steps - ROUNDING * max(n_steps, 1.0))), 1)


@strict_kernel
def last_share(length, step, pieces):
    """Share of a step that the last piece takes."""
    return (length - (pieces - 1) * step) / step


@strict_kernel
def is_whole(share, pieces):
    """Whether the last piece takes a whole step: the last possible start is then a sample."""
    return share > 1.0 - ROUNDING * pieces


@kernel
def lattice_times(at_end, step, length, pieces, out):
    """Times of a window's nodes after its start: the partial piece is the last, or first at the end."""
    for piece in range(pieces):
        if at_end:
            out[piece] = length - (pieces - 1 - piece) * step
        else:
            out[piece] = length if piece == pieces - 1 else (piece + 1) * step


@kernel
def integrate_hats(shapelet, n_nodes, row, part, segment, share, time, value, out):
    """Write int (w - w(0)) phi_r, phi_r the hat function of the window's node r."""
    n_channels = shapelet.shape[1]
    out[:] = 0.0
    for node in range(n_nodes):
        now, then = node % 2, (node + 1) % 2
        for channel in range(n_channels):
            rise = shapelet[segment[node] + 1, channel] - shapelet[segment[node], channel]
            above = shapelet[segment[node], channel] - shapelet[0, channel]
            value[now, channel] = above + share[node] * rise
        if node == 0:
            continue
        sixth = (time[node] - time[node - 1]) / 6.0
        piece = row[node - 1]
        left = part[node - 1]
        right = part[node] if row[node] == piece else 1.0
        for channel in range(n_channels):
            at_p = sixth * (2.0 * value[then, channel] + value[now, channel])
            at_q = sixth * (value[then, channel] + 2.0 * value[now, channel])
            out[piece, channel] += (1.0 - left) * at_p + (1.0 - right) * at_q
            out[piece + 1, channel] += left * at_p + right * at_q


@kernel
def project(
    queue, step, shapelets, level, lengths, weights, taps, projection, residual, moment, first_moment
):  # fmt: skip
    """Lay shapelets on the lattice, for windows at a sample [0] and at the end [1].

    Writes, where there is room for them,
    - taps v with int f W (w - level) = sum_r f_r v_r over the samples r of a window, W the weights; the
      samples reach one beyond the window where it ends, or starts, between two of them; they begin with
      the first tap, and at the end they end with the last;
    - the values of Pw at the nodes, and int |w - Pw|^2 for each channel;
    - for each piece of width h the moments (2/h) int (w - Pw) and (2/h) int (w - Pw) t / step.
    """
    n_knots, n_channels = shapelets.shape[1:]
    n_nodes = max(taps.shape[2], projection.shape[2])
    size = n_nodes + n_knots + 2
    arrivals, row, part, segment, share, time = nodes = node_arrays(size)
    ratio, value, hats = np.empty(size), np.empty((2, n_channels)), np.empty((n_nodes, n_channels))
    for k in items_of(queue):
        pieces = n_pieces(lengths[k], step)
        partial = last_share(lengths[k], step, pieces)
        for at_end in (0, 1):
            lattice_times(at_end, step, lengths[k], pieces, arrivals)
            n_merged = merge_knots(
                arrivals, pieces, 0.0, lengths[k], n_knots, row, part, segment, share, time
            )
            integrate_hats(shapelets[k], n_merged, row, part, segment, share, time, value, hats)
            if len(taps) > 0:
                own = taps[at_end, k, taps.shape[2] - 1 - pieces if at_end else 0 :]
                find_taps(
                    at_end, pieces, partial, arrivals, hats, shapelets[k, 0], level[k],
                    weights[min(k, len(weights) - 1)], own,
                )  # fmt: skip
            if len(projection) > 0:
                project_one(
                    step, shapelets[k], pieces, n_merged, hats, projection[at_end, k],
                    residual[at_end, k], moment[at_end, k], first_moment[at_end, k], nodes, ratio, value,
                )  # fmt: skip


@kernel
def find_taps(at_end, pieces, partial, arrivals, hats, first, level, weights, taps):
    """Write the taps of a window, given the hats' integrals of w - w(0): see `project`."""
    edge, inner = (0, 1) if at_end else (pieces, pieces - 1)
    for node in range(pieces + 1):
        begin = arrivals[node - 2] if node > 1 else 0.0
        end = arrivals[node] if node < pieces else arrivals[node - 1]
        for channel in range(len(weights)):
            rest = 0.5 * (end - begin) * (first[channel] - level[channel])
            taps[node, channel] = weights[channel] * (hats[node, channel] + rest)
    for channel in range(len(weights)):
        taps[inner, channel] += (1.0 - partial) * taps[edge, channel]
        taps[edge, channel] *= partial


@kernel
def project_one(
    step, shapelet, pieces, n_nodes, hats, projected, residual, moment, first_moment, nodes, ratio,
    value,
):  # fmt: skip
    """Project one shapelet: see `project`."""
    n_channels = shapelet.shape[1]
    arrivals, row, part, segment, share, time = nodes
    projected[: pieces + 1] = hats[: pieces + 1]
    # Solve with the tridiagonal mass matrix of the hat functions (diagonally dominant).
    pivot = arrivals[0] / 3.0
    for channel in range(n_channels):
        projected[0, channel] /= pivot
    for node in range(1, pieces + 1):
        width = arrivals[node - 1] - (arrivals[node - 2] if node > 1 else 0.0)
        following = arrivals[node] - arrivals[node - 1] if node < pieces else 0.0
        ratio[node - 1] = width / 6.0 / pivot
        pivot = (width + following) / 3.0 - width / 6.0 * ratio[node - 1]
        for channel in range(n_channels):
            projected[node, channel] = (
                projected[node, channel] - width / 6.0 * projected[node - 1, channel]
            ) / pivot
    for node in range(pieces - 1, -1, -1):
        for channel in range(n_channels):
            projected[node, channel] -= ratio[node] * projected[node + 1, channel]
    # What the projection leaves.
    residual[:] = 0.0
    moment[:] = 0.0
    first_moment[:] = 0.0
    with_moments = len(moment) > 0
    for node in range(n_nodes):
        now, then = node % 2, (node + 1) % 2
        here, there = row[node], min(row[node] + 1, pieces)
        for channel in range(n_channels):
            rise = shapelet[segment[node] + 1, channel] - shapelet[segment[node], channel]
            w = shapelet[segment[node], channel] - shapelet[0, channel] + share[node] * rise
            rise = projected[there, channel] - projected[here, channel]
            value[now, channel] = w - projected[here, channel] - part[node] * rise
        if node == 0:
            continue
        before, after = time[node - 1], time[node]
        width = after - before
        piece = row[node - 1]
        whole = arrivals[piece] - (arrivals[piece - 1] if piece > 0 else 0.0)
        for channel in range(n_channels):
            p, q = value[then, channel], value[now, channel]
            residual[channel] += width / 3.0 * (p * p + p * q + q * q)
        if with_moments:
            share_of_piece = width / whole
            for channel in range(n_channels):
                p, q = value[then, channel], value[now, channel]
                moment[piece, channel] += share_of_piece * (p + q)
                first_moment[piece, channel] += (
                    share_of_piece / (3.0 * step) * (before * (2.0 * p + q) + after * (p + 2.0 * q))
                )
    for node in range(pieces + 1):
        for channel in range(n_channels):
            projected[node, channel] += shapelet[0, channel]


@kernel
def load_difference(
    values, first_row, last_row, index, n_channels, pieces, share, projection, at_end, k, level_free,
    mean, out,
):  # fmt: skip
    """Write path minus projected shapelet at the nodes of one window, (pieces + 1) * channels long.

    ``share`` is the partial piece's share of a step; the path's rows are first_row..last_row.
    Indices are unsigned, so that the compiler need not think of negative ones and vectorises.
    """
    size = u(pieces * n_channels)
    stride = u(n_channels)
    if at_end:
        begin = u((last_row - pieces) * n_channels)
        for x in range(stride):
            f = values[begin + x]
            rise = values[begin + stride + x] - f
            out[x] = f + (1.0 - share) * rise - projection[at_end, k, x]
        for x in range(size):
            out[stride + x] = values[begin + stride + x] - projection[at_end, k, stride + x]
    else:
        begin = u((first_row + index) * n_channels)
        for x in range(size):
            out[x] = values[begin + x] - projection[at_end, k, x]
        for x in range(stride):
            f = values[begin + size - stride + x]
            rise = values[begin + size + x] - f
            out[size + x] = f + share * rise - projection[at_end, k, size + x]
    if level_free:
        whole = (pieces - 1) + share
        for x in range(stride):
            mean[x] = 0.0
        for piece in range(pieces):
            at_edge = piece == (0 if at_end else pieces - 1)
            half = 0.5 * (share if at_edge else 1.0) / whole
            begin = u(piece) * stride
            for x in range(stride):
                mean[x] += half * (out[begin + x] + out[begin + stride + x])
        for node in range(pieces + 1):
            begin = u(node) * stride
            for x in range(stride):
                out[begin + x] -= mean[x]


@kernel
def tile(weights, n_nodes):
    """Weights of the channels (metrics, channels), once for each node."""
    n_metrics, n_channels = weights.shape
    tiled = np.empty((n_metrics, n_nodes * n_channels))
    for metric in range(n_metrics):
        for x in range(n_nodes * n_channels):
            tiled[metric, x] = weights[metric, x % n_channels]
    return tiled


@kernel
def lattice_forward(
    queue, members, rows, row_offsets, index, step, lengths, weights, level_free, projection, residual,
    out,
):  # fmt: skip
    """Squared discrepancies of the windows on the lattice, of some paths.

    Returns how many windows of these paths are not on the lattice.
    """
    n_shapelets, n_channels, n_nodes = len(lengths), rows.shape[1], projection.shape[2]
    values, flat = rows.ravel(), projection.reshape(2, n_shapelets, n_nodes * n_channels)
    tiled_weights = tile(weights, n_nodes)
    mean, difference = np.empty(n_channels), np.empty(n_nodes * n_channels)
    pieces_of, share_of = np.empty(n_shapelets, np.int64), np.empty(n_shapelets)
    rest = np.zeros((2, n_shapelets))
    for k in range(n_shapelets):
        for at_end in (0, 1):
            for channel in range(n_channels):
                weight = weights[min(k, len(weights) - 1), channel]
                rest[at_end, k] += weight * residual[at_end, k, channel]
        pieces_of[k] = n_pieces(lengths[k], step)
        share_of[k] = last_share(lengths[k], step, pieces_of[k])
    stride, n_free = u(n_channels), 0
    for member in items_of(queue):
        series = members[member]
        for k in range(n_shapelets):
            if index[series, k] == FREE:
                n_free += 1
                continue
            at_end = 1 if index[series, k] == AT_END else 0
            metric = min(k, len(tiled_weights) - 1)
            pieces, share = pieces_of[k], share_of[k]
            load_difference(
                values, row_offsets[series], row_offsets[series + 1] - 1, index[series, k],
                n_channels, pieces, share, flat, at_end, k, level_free[k], mean, difference,
            )  # fmt: skip
            full, edge = 0.0, 0.0
            begin = u(at_end * n_channels)
            for x in range(u((pieces - 1) * n_channels)):
                p, q = difference[begin + x], difference[begin + stride + x]
                full += tiled_weights[metric, x] * (p * p + p * q + q * q)
            begin = u(0 if at_end else (pieces - 1) * n_channels)
            for x in range(stride):
                p, q = difference[begin + x], difference[begin + stride + x]
                edge += tiled_weights[metric, x] * (p * p + p * q + q * q)
            out[series, k] = (full + edge * share) * step / 3.0 + rest[at_end, k]
    return n_free


@kernel
def lattice_backward(
    queue, members, rows, row_offsets, index, slope, step, shapelets, lengths, weights, level_free,
    projection, residual, moment, first_moment, upstream, out, grad_shapelets, grad_lengths,
    grad_weights,
):  # fmt: skip
    """Add the gradients of sum(upstream * squared discrepancy) over the windows on the lattice.

    The queue is of shapelets. A block of them goes through all paths at once: the sums over the
    windows, from which `add_gradients` makes gradients, then stay in the cache.
    """
    n_shapelets, n_knots, n_channels = shapelets.shape
    n_nodes, most = projection.shape[2], queue[2]
    values, tiled_weights = rows.ravel(), tile(weights, n_nodes)
    nodes, total = node_arrays(n_nodes + n_knots + 2), np.empty((2, n_channels))
    n_windows, sum_upstream = np.empty((2, most), np.int64), np.empty((2, most))
    sum_lengths = np.empty(most)
    sum_difference = np.empty((2, most, n_nodes * n_channels))
    sum_square = np.empty((2, most, n_nodes * n_channels))
    flat = (2, n_shapelets, n_nodes * n_channels)
    tiled_rows = np.repeat(np.arange(n_nodes), n_channels).astype(np.float64)
    for first, last in blocks_of(queue):
        n_windows[:], sum_lengths[:] = 0, 0.0
        sum_over_windows(
            first, last, members, values, n_channels, row_offsets, index, slope, step, lengths,
            tiled_weights, level_free, tiled_rows, projection.reshape(flat), moment.reshape(flat),
            first_moment.reshape(flat), upstream, out, n_windows, sum_upstream, sum_difference,
            sum_square, sum_lengths,
        )  # fmt: skip
        for k in range(first, last):
            grad_lengths[k] += sum_lengths[k - first]
            for at_end in (0, 1):
                if n_windows[at_end, k - first] > 0:
                    add_gradients(
                        at_end, step, shapelets[k], lengths[k], weights[min(k, len(weights) - 1)],
                        projection[at_end, k], residual[at_end, k], sum_upstream[at_end, k - first],
                        sum_difference[at_end, k - first], sum_square[at_end, k - first],
                        grad_shapelets[k], grad_weights[k], nodes, total,
                    )  # fmt: skip


@kernel
def sum_over_windows(
    first, last, members, values, n_channels, row_offsets, index, slope, step, lengths, tiled_weights,
    level_free, tiled_rows, projection, moment, first_moment, upstream, out, n_windows, sum_upstream,
    sum_difference, sum_square, sum_lengths,
):  # fmt: skip
    """Sum over the windows of shapelets first..last what their gradients need.

    The length's gradient is (1/S) (sigma^2 + 2 int r f' t) + (ds/dS) 2 int r f'. On each piece
    r = (f - Pw) - (w - Pw), the first straight from p to q, the second known by its moments.
    """
    mean, difference = np.empty(n_channels), np.empty(projection.shape[2])
    stride = u(n_channels)
    for series in members:
        for k in range(first, last):
            g = upstream[series, k]
            if index[series, k] == FREE or g == 0.0:
                continue
            at_end = 1 if index[series, k] == AT_END else 0
            metric = min(k, len(tiled_weights) - 1)
            pieces = n_pieces(lengths[k], step)
            share = last_share(lengths[k], step, pieces)
            load_difference(
                values, row_offsets[series], row_offsets[series + 1] - 1, index[series, k],
                n_channels, pieces, share, projection, at_end, k, level_free[k], mean, difference,
            )  # fmt: skip
            own_difference, own_square = (
                sum_difference[at_end, k - first],
                sum_square[at_end, k - first],
            )
            if n_windows[at_end, k - first] == 0:
                sum_upstream[at_end, k - first] = 0.0
                own_difference[:], own_square[:] = 0.0, 0.0
            n_windows[at_end, k - first] += 1
            sum_upstream[at_end, k - first] += g
            for x in range(u((pieces + 1) * n_channels)):
                own_difference[x] += g * difference[x]
            for x in range(u(pieces * n_channels)):
                p, q = difference[x], difference[stride + x]
                own_square[x] += g * (p * p + p * q + q * q)
            along, along_time = 0.0, 0.0
            begin = u(at_end * n_channels)
            shift = share - 1.0 if at_end else 0.0  # the piece after row r starts at r + shift
            for x in range(begin, begin + u((pieces - 1) * n_channels)):
                p, q = difference[x], difference[stride + x]
                rise = q - p + projection[at_end, k, stride + x] - projection[at_end, k, x]
                rise *= tiled_weights[metric, x]
                along += rise * (p + q - moment[at_end, k, x])
                along_time += rise * (
                    (tiled_rows[x] + shift) * (p + q) + (p + 2.0 * q) / 3.0
                    - first_moment[at_end, k, x]
                )  # fmt: skip
            begin = u(0 if at_end else (pieces - 1) * n_channels)
            start = 0.0 if at_end else pieces - 1.0
            for x in range(begin, begin + stride):
                p, q = difference[x], difference[stride + x]
                rise = q - p + projection[at_end, k, stride + x] - projection[at_end, k, x]
                rise *= tiled_weights[metric, x]
                along += rise * (p + q - moment[at_end, k, x])
                along_time += rise * (
                    start * (p + q) + share * (p + 2.0 * q) / 3.0 - first_moment[at_end, k, x]
                )
            sum_lengths[k - first] += g * (
                (out[series, k] + along_time * step) / lengths[k] + slope[series, k] * along
            )


@kernel
def add_gradients(
    at_end, step, shapelet, length, weight, projected, residual, sum_upstream, sum_difference,
    sum_square, grad_shapelet, grad_weight, nodes, total,
):  # fmt: skip
    """Add one shapelet's gradients.

    The summed difference sum_n g_n (f_n - w) is piecewise linear on the union of the nodes and the
    shapelet's knots, and the gradient of w_j is its integral against the shapelet's hat function j.
    """
    n_knots, n_channels = shapelet.shape
    arrivals, row, part, segment, share, time = nodes
    pieces = n_pieces(length, step)
    lattice_times(at_end, step, length, pieces, arrivals)
    for piece in range(pieces):
        width = arrivals[piece] - (arrivals[piece - 1] if piece > 0 else 0.0)
        for channel in range(n_channels):
            grad_weight[channel] += width / 3.0 * sum_square[piece * n_channels + channel]
    for channel in range(n_channels):
        grad_weight[channel] += sum_upstream * residual[channel]
    n_nodes = merge_knots(arrivals, pieces, 0.0, length, n_knots, row, part, segment, share, time)
    for node in range(n_nodes):
        now, then = node % 2, (node + 1) % 2
        here, there = row[node], min(row[node] + 1, pieces)
        for channel in range(n_channels):
            rise = shapelet[segment[node] + 1, channel] - shapelet[segment[node], channel]
            rest = shapelet[segment[node], channel] + share[node] * rise
            rise = projected[there, channel] - projected[here, channel]
            rest -= projected[here, channel] + part[node] * rise
            a = sum_difference[here * n_channels + channel]
            b = sum_difference[there * n_channels + channel]
            total[now, channel] = a + part[node] * (b - a) - sum_upstream * rest
        if node == 0:
            continue
        third = (time[node] - time[node - 1]) / 3.0
        piece = segment[node - 1]
        left = share[node - 1]
        right = share[node] if segment[node] == piece else 1.0
        for channel in range(n_channels):
            at_p = -weight[channel] * third * (2.0 * total[then, channel] + total[now, channel])
            at_q = -weight[channel] * third * (total[then, channel] + 2.0 * total[now, channel])
            grad_shapelet[piece, channel] += (1.0 - left) * at_p + (1.0 - right) * at_q
            grad_shapelet[piece + 1, channel] += left * at_p + right * at_q
