"""Any window against any shapelet: walk the union of their knots.

Between neighbouring knots of the union both the path and the shapelet are straight, and so is their
difference. If it goes from p to q in a time h, then int |p..q|^2 = h/3 (p^2 + p q + q^2) exactly,
a sum without cancellation however close the match.
"""

from __future__ import annotations

import numpy as np

from ..offsets import FREE
from ..parallel import items_of, kernel
from ..paths import longest_path


@kernel
def node_arrays(size):
    """Room for the nodes of a window: arrivals, row, part, segment, share, time (see `merge_knots`)."""
    return (
        np.empty(size), np.empty(size, np.int64), np.empty(size), np.empty(size, np.int64),
        np.empty(size), np.empty(size),
    )  # fmt: skip


@kernel
def merge_knots(arrivals, n_arrivals, before, length, n_knots, row, part, segment, share, time):
    """List the nodes of a window: the union of the path's and the shapelet's knots on [0, length].

    The path's knots inside the window come at the times ``arrivals[:n_arrivals]``, the one before the
    window ``before`` ago. Node x lies at ``time[x]``, a share ``part[x]`` of the way from the path's
    row ``row[x]`` (0: the row at or before the window's start) to the next, and a share ``share[x]``
    of the way through the shapelet's piece ``segment[x]``. Returns the number of nodes.
    """
    spacing = length / (n_knots - 1)
    row[0] = 0
    part[0] = before / (arrivals[0] + before) if before > 0.0 and n_arrivals > 0 else 0.0
    segment[0] = 0
    share[0] = 0.0
    time[0] = 0.0
    previous = -before
    arrived = 0
    knot = 0
    node = 1
    while knot < n_knots - 1:
        next_knot = length if knot + 1 == n_knots - 1 else (knot + 1) * spacing
        next_arrival = arrivals[arrived] if arrived < n_arrivals else np.inf
        if next_arrival < next_knot:
            time[node] = next_arrival
            segment[node] = knot
            share[node] = (next_arrival - knot * spacing) / spacing
            arrived += 1
            row[node] = arrived
            part[node] = 0.0
            previous = next_arrival
        else:
            time[node] = next_knot
            knot += 1
            segment[node] = min(knot, n_knots - 2)
            share[node] = 1.0 if knot == n_knots - 1 else 0.0
            if next_arrival == next_knot:
                arrived += 1
                row[node] = arrived
                part[node] = 0.0
                previous = next_arrival
            else:
                row[node] = arrived
                part[node] = 0.0
                if arrived < n_arrivals:
                    part[node] = (next_knot - previous) / (next_arrival - previous)
        node += 1
    return node


@kernel
def find_nodes(knots, start, length, n_knots, arrivals, row, part, segment, share, time):
    """Nodes of the window [start, start + length]; returns its first row and the number of nodes."""
    first_row = max(np.searchsorted(knots, start, side="right") - 1, 0)
    n_arrivals = 0
    for knot in range(first_row + 1, len(knots)):
        arrivals[n_arrivals] = knots[knot] - start
        n_arrivals += 1
        if arrivals[n_arrivals - 1] >= length:
            break
    n_nodes = merge_knots(
        arrivals, n_arrivals, start - knots[first_row], length, n_knots, row, part, segment, share, time
    )  # fmt: skip
    return first_row, n_nodes


@kernel
def path_at(values, row, part, out):
    """Values of a path a share ``part`` of the way from a row to the next; constant after the last."""
    last = len(values) - 1
    here = min(row, last)
    there = min(row + 1, last)
    for channel in range(values.shape[1]):
        rise = values[there, channel] - values[here, channel]
        out[channel] = values[here, channel] + part * rise


@kernel
def mean_difference(values, first_row, n_nodes, row, part, segment, share, time, shapelet, mean):
    """Time mean of path minus shapelet over a window, one for each channel."""
    last = len(values) - 1
    mean[:] = 0.0
    for node in range(n_nodes):
        width = 0.0
        if node > 0:
            width += time[node] - time[node - 1]
        if node < n_nodes - 1:
            width += time[node + 1] - time[node]
        weight = 0.5 * width / time[n_nodes - 1]
        here = min(first_row + row[node], last)
        there = min(here + 1, last)
        piece = segment[node]
        for channel in range(values.shape[1]):
            f = values[here, channel] + part[node] * (
                values[there, channel] - values[here, channel]
            )
            rise = shapelet[piece + 1, channel] - shapelet[piece, channel]
            mean[channel] += weight * (f - shapelet[piece, channel] - share[node] * rise)


@kernel
def union_forward(
    queue, knots, values, row_offsets, index, start, shapelets, lengths, weights, level_free,
    out,
):  # fmt: skip
    """Squared discrepancies of the free windows."""
    n_shapelets, n_knots, n_channels = shapelets.shape
    size = longest_path(row_offsets) + n_knots + 2
    arrivals, row, part, segment, share, time = node_arrays(size)
    mean, difference = np.zeros(n_channels), np.empty(n_channels)
    for series in items_of(queue):
        begin, end = row_offsets[series], row_offsets[series + 1]
        path = values[begin:end]
        last_row = end - begin - 1
        for k in range(n_shapelets):
            if index[series, k] != FREE:
                continue
            first_row, n_nodes = find_nodes(
                knots[begin:end], start[series, k], lengths[k], n_knots,
                arrivals, row, part, segment, share, time,
            )  # fmt: skip
            shapelet = shapelets[k]
            weight = weights[min(k, len(weights) - 1)]
            mean[:] = 0.0
            if level_free[k]:
                mean_difference(
                    path, first_row, n_nodes, row, part, segment, share, time, shapelet, mean
                )
            total = 0.0
            for node in range(n_nodes):
                here = min(first_row + row[node], last_row)
                there = min(here + 1, last_row)
                piece, p_part, w_share = segment[node], part[node], share[node]
                energy = 0.0
                for channel in range(n_channels):
                    f = path[here, channel] + p_part * (path[there, channel] - path[here, channel])
                    w = shapelet[piece, channel] + w_share * (
                        shapelet[piece + 1, channel] - shapelet[piece, channel]
                    )
                    q = f - w - mean[channel]
                    p = difference[channel]
                    energy += weight[channel] * (p * p + p * q + q * q)
                    difference[channel] = q
                if node > 0:
                    total += energy * (time[node] - time[node - 1])
            out[series, k] = total / 3.0


@kernel
def union_backward(
    queue, knots, values, row_offsets, index, start, slope, shapelets, lengths, weights, level_free,
    upstream, out, grad_shapelets, grad_lengths, grad_weights,
):  # fmt: skip
    """Write the gradients of sum(upstream * squared discrepancy) over the free windows, by blocks.

    Blocks of paths are the first axis of the gradients; the queue is of blocks.
    """
    n_series, n_blocks = len(row_offsets) - 1, len(grad_lengths)
    for block in items_of(queue):
        grad_shapelets[block], grad_lengths[block], grad_weights[block] = 0.0, 0.0, 0.0
        add_union_gradients(
            n_series * block // n_blocks, n_series * (block + 1) // n_blocks, knots, values,
            row_offsets, index, start, slope, shapelets, lengths, weights, level_free, upstream, out,
            grad_shapelets[block], grad_lengths[block], grad_weights[block],
        )  # fmt: skip


@kernel
def add_union_gradients(
    first, last, knots, values, row_offsets, index, start, slope, shapelets, lengths, weights,
    level_free, upstream, out, grad_shapelets, grad_lengths, grad_weights,
):  # fmt: skip
    """Add the gradients of the free windows of paths first..last.

    With r = path - shapelet (less its mean if level-free): the shapelet's values get
    -2 a^2 int r hat_j, the weights a^2 get int r^2, and the length, whose knots move with it,
    (1/S) (sigma^2 + 2 int r f' t) + (ds/dS) 2 int r f'.
    """
    n_shapelets, n_knots, n_channels = shapelets.shape
    size = longest_path(row_offsets) + n_knots + 2
    arrivals, row, part, segment, share, time = node_arrays(size)
    mean = np.zeros(n_channels)
    difference, path_value = np.empty((2, n_channels)), np.empty((2, n_channels))
    for series in range(first, last):
        begin, end = row_offsets[series], row_offsets[series + 1]
        path = values[begin:end]
        for k in range(n_shapelets):
            g = upstream[series, k]
            if index[series, k] != FREE or g == 0.0:
                continue
            first_row, n_nodes = find_nodes(
                knots[begin:end], start[series, k], lengths[k], n_knots,
                arrivals, row, part, segment, share, time,
            )  # fmt: skip
            shapelet = shapelets[k]
            weight = weights[min(k, len(weights) - 1)]
            grad_weight = grad_weights[min(k, len(weights) - 1)]
            grad = grad_shapelets[k]
            mean[:] = 0.0
            if level_free[k]:
                mean_difference(
                    path, first_row, n_nodes, row, part, segment, share, time, shapelet, mean
                )
            along, along_time = 0.0, 0.0
            for node in range(n_nodes):
                now, then = node % 2, (node + 1) % 2
                path_at(path, first_row + row[node], part[node], path_value[now])
                piece = segment[node]
                for channel in range(n_channels):
                    rise = shapelet[piece + 1, channel] - shapelet[piece, channel]
                    w = shapelet[piece, channel] + share[node] * rise
                    difference[now, channel] = path_value[now, channel] - w - mean[channel]
                if node == 0:
                    continue
                before, here = time[node - 1], time[node]
                third = g * (here - before) / 3.0
                # Both ends of this piece, seen from the shapelet's piece that holds it.
                piece = segment[node - 1]
                left = share[node - 1]
                right = share[node] if segment[node] == piece else 1.0
                for channel in range(n_channels):
                    p, q = difference[then, channel], difference[now, channel]
                    at_p = -weight[channel] * third * (2.0 * p + q)
                    at_q = -weight[channel] * third * (p + 2.0 * q)
                    grad[piece, channel] += (1.0 - left) * at_p + (1.0 - right) * at_q
                    grad[piece + 1, channel] += left * at_p + right * at_q
                    grad_weight[channel] += third * (p * p + p * q + q * q)
                    rise = weight[channel] * (path_value[now, channel] - path_value[then, channel])
                    along += rise * (p + q)
                    along_time += rise * (before * (2.0 * p + q) + here * (p + 2.0 * q))
            grad_lengths[k] += g * (
                (out[series, k] + along_time / 3.0) / lengths[k] + slope[series, k] * along
            )


@kernel
def gram_backward(
    queue, knots, values, row_offsets, start, shapelets, lengths, level_free, upstream, gram
):  # fmt: skip
    """Add sum over paths of upstream * int r r^T over the best window to gram[k]."""
    n_shapelets, n_knots, n_channels = shapelets.shape
    size = longest_path(row_offsets) + n_knots + 2
    arrivals, row, part, segment, share, time = node_arrays(size)
    mean, difference = np.zeros(n_channels), np.empty((2, n_channels))
    for k in items_of(queue):
        shapelet = shapelets[k]
        for series in range(len(row_offsets) - 1):
            begin, end = row_offsets[series], row_offsets[series + 1]
            path = values[begin:end]
            first_row, n_nodes = find_nodes(
                knots[begin:end], start[series, k], lengths[k], n_knots,
                arrivals, row, part, segment, share, time,
            )  # fmt: skip
            mean[:] = 0.0
            if level_free[k]:
                mean_difference(
                    path, first_row, n_nodes, row, part, segment, share, time, shapelet, mean
                )
            for node in range(n_nodes):
                now, then = node % 2, (node + 1) % 2
                path_at(path, first_row + row[node], part[node], difference[now])
                piece = segment[node]
                for channel in range(n_channels):
                    rise = shapelet[piece + 1, channel] - shapelet[piece, channel]
                    w = shapelet[piece, channel] + share[node] * rise
                    difference[now, channel] -= w + mean[channel]
                if node == 0:
                    continue
                sixth = upstream[series, k] * (time[node] - time[node - 1]) / 6.0
                for one in range(n_channels):
                    p, q = difference[then, one], difference[now, one]
                    at_p, at_q = sixth * (2.0 * p + q), sixth * (p + 2.0 * q)
                    for two in range(n_channels):
                        gram[k, one, two] += (
                            at_p * difference[then, two] + at_q * difference[now, two]
                        )
