"""Correlations of paths with taps by way of their spectra, in compiled code.

A few paths are taken at once, and with each all shapelets or, if paths are long, a group of them. Two
real columns go through one complex transform, as its real and its imaginary part: two channels of a
path, and on the way back the correlations of two shapelets. What is paired is first brought to one
size, or the rounding of the larger would drown the smaller.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ..parallel import Queue, Work, items_of, kernel, queue_of, scratch, u
from ..paths import Array
from .fourier import fast_period, transform_columns

COLUMN_BYTES = 2**18  # of the complex columns transformed at once; two of them share a core's cache
LEAST_COLUMNS = 8


class Layout(NamedTuple):
    """Which columns are transformed together.

    Attributes
    ----------
    period : int
        Length of the transforms. Correlations are circular: a period of at least the longest path
        suffices, as a window that would wrap around ends beyond its path and is no candidate.
    n_loaded, n_paths : int
        Paths that are transformed at once, and paths that are then multiplied with shapelets at once.
    n_groups, n_pairs : int
        Groups of shapelets, and pairs in a group. Shapelet k is paired with n_groups * n_pairs + k.
    """

    period: int
    n_loaded: int
    n_paths: int
    n_groups: int
    n_pairs: int

    @classmethod
    @lru_cache(maxsize=64)
    def of(cls, n_rows: int, n_channels: int, n_shapelets: int) -> Layout:
        """Lay out so that the columns stay in a core's cache."""
        period = fast_period(n_rows)
        most = max(COLUMN_BYTES // (16 * period), LEAST_COLUMNS)
        channel_pairs, all_pairs = (n_channels + 1) // 2, (n_shapelets + 1) // 2
        n_groups = -(-all_pairs // most)
        n_pairs = -(-all_pairs // n_groups)
        n_paths = max(most // n_pairs, 1) if n_groups == 1 else 1
        n_loaded = max(most // channel_pairs // n_paths, 1) * n_paths
        return cls(period, n_loaded, n_paths, n_groups, n_pairs)

    def room(self, n_channels: int) -> int:
        """Numbers to be held for the columns of `transform_paths` and `correlate_spectra`."""
        columns = whole_vectors(self.n_loaded * ((n_channels + 1) // 2))
        columns += whole_vectors(self.n_paths * self.n_pairs)
        return 4 * self.period * columns


@kernel
def whole_vectors(n_columns):
    """The next number of columns that vectors divide."""
    return (n_columns + 3) // 4 * 4


def spectra_of_taps(taps: Array, layout: Layout, roots: Array) -> tuple[Array, Array, Work]:
    """Spectra of taps (shapelets, taps, channels), to be multiplied with those of paths.

    Returns (groups, frequencies, channels, 2, 2 * pairs), the last axis with the pairs' first shapelets
    before their second ones, the one before with real and imaginary parts; the largest tap of each
    shapelet and channel, (groups, channels, 2 * pairs); and what finds them.
    """
    period, n_pairs, n_channels = layout.period, layout.n_pairs, taps.shape[2]
    spectra = np.empty((layout.n_groups, period // 2 + 1, n_channels, 2, 2 * n_pairs))
    largest = np.zeros((layout.n_groups, n_channels, 2 * n_pairs))

    def transform_taps(queue: Queue) -> None:
        room = scratch("taps", (4, period * n_pairs))
        _transform_taps(queue, taps, layout, roots, room, spectra, largest)

    return spectra, largest, (transform_taps, queue_of(layout.n_groups * n_channels))


@kernel
def _transform_taps(queue, taps, layout, roots, room, spectra, largest):
    n_shapelets, n_taps, n_channels = taps.shape
    period, n_pairs = layout.period, layout.n_pairs
    n_first = layout.n_groups * n_pairs
    # Half the sums here, half of those over a path's frequencies, and a transform back.
    scale = 0.25 / period
    for item in items_of(queue):
        group, channel = item // n_channels, item % n_channels
        re, im, other_re, other_im = room[0], room[1], room[2], room[3]
        re[:], im[:] = 0.0, 0.0
        size = largest[group, channel]
        for member in range(2 * n_pairs):
            second, pair = member // n_pairs, member % n_pairs
            k = group * n_pairs + pair + second * n_first
            if k < n_shapelets:
                for tap in range(n_taps):
                    size[member] = max(size[member], abs(taps[k, tap, channel]))
                per_size = 1.0 / size[member] if size[member] > 0.0 else 0.0
                into = im if second else re
                for tap in range(n_taps):
                    into[tap * n_pairs + pair] = per_size * taps[k, tap, channel]
        if transform_columns(re, im, other_re, other_im, period, n_pairs, roots):
            re, im = other_re, other_im
        for f in range(period // 2 + 1):
            mirror = period - f if f > 0 else 0
            own = spectra[group, f, channel]
            for pair in range(n_pairs):
                here, there = f * n_pairs + pair, mirror * n_pairs + pair
                first, second = scale * size[pair], scale * size[n_pairs + pair]
                own[0, pair] = first * (re[here] + re[there])
                own[1, pair] = first * (im[here] - im[there])
                own[0, n_pairs + pair] = second * (im[here] + im[there])
                own[1, n_pairs + pair] = second * (re[there] - re[here])


@kernel
def transform_paths(begin, end, rows, row_offsets, layout, roots, room, largest):
    """Spectra of paths begin..end: real and imaginary parts, (period * columns,), two channels each.

    A channel is divided by its largest value on the path, which is written to ``largest``.
    """
    n_channels = rows.shape[1]
    n_columns = whole_vectors((end - begin) * ((n_channels + 1) // 2))
    re, im, other_re, other_im = four_parts(room[: 4 * layout.period * n_columns])
    re[:], im[:] = 0.0, 0.0
    per_size = np.empty(n_channels)
    for series in range(begin, end):
        size = largest[series - begin]
        size[:] = 0.0
        for row in range(row_offsets[series], row_offsets[series + 1]):
            for channel in range(n_channels):
                size[channel] = max(size[channel], abs(rows[row, channel]))
        for channel in range(n_channels):
            per_size[channel] = 1.0 / size[channel] if size[channel] > 0.0 else 0.0
        column = (series - begin) * ((n_channels + 1) // 2)
        for row in range(row_offsets[series], row_offsets[series + 1]):
            at = (row - row_offsets[series]) * n_columns + column
            for pair in range(n_channels // 2):
                re[at + pair] = per_size[2 * pair] * rows[row, 2 * pair]
                im[at + pair] = per_size[2 * pair + 1] * rows[row, 2 * pair + 1]
            if n_channels % 2:
                re[at + n_channels // 2] = per_size[n_channels - 1] * rows[row, n_channels - 1]
    if transform_columns(re, im, other_re, other_im, layout.period, n_columns, roots):
        return other_re, other_im
    return re, im


@kernel
def correlate_spectra(
    first, n_paths, group, path_re, path_im, largest_value, spectra, largest_tap, layout, roots, room,
    bound,
):  # fmt: skip
    """Correlate a group of shapelets with some of the transformed paths, from the ``first`` on.

    Returns the correlations of pairs' first shapelets and of their second ones, (period * columns,),
    divided by a bound of their size, which is written to ``bound`` (paths, 2 * pairs).
    """
    period, n_pairs = layout.period, layout.n_pairs
    n_columns = whole_vectors(n_paths * n_pairs)
    re, im, other_re, other_im = four_parts(room[len(room) - 4 * period * n_columns :])
    n_channels, path_columns = spectra.shape[2], len(path_re) // period
    channel_pairs = (n_channels + 1) // 2
    product_re, product_im = np.empty(2 * n_pairs), np.empty(2 * n_pairs)
    per_bound = np.empty((n_paths, 2 * n_pairs))
    for path in range(n_paths):
        bound[path] = 0.0
        for channel in range(n_channels):
            size = largest_value[first + path, channel]
            for k in range(u(2 * n_pairs)):
                bound[path, k] += size * largest_tap[group, channel, k]
        for k in range(2 * n_pairs):
            per_bound[path, k] = 1.0 / bound[path, k] if bound[path, k] > 0.0 else 0.0
    for f in range(period // 2 + 1):
        mirror = period - f if f > 0 else 0
        for path in range(n_paths):
            product_re[:], product_im[:] = 0.0, 0.0
            for pair in range(channel_pairs):
                column = (first + path) * channel_pairs + pair
                here = f * path_columns + column
                there = mirror * path_columns + column
                size = largest_value[first + path, 2 * pair]
                x_re = size * (path_re[here] + path_re[there])
                x_im = size * (path_im[here] - path_im[there])
                if 2 * pair + 1 < n_channels:
                    size = largest_value[first + path, 2 * pair + 1]
                    add_two_products(
                        spectra[group, f, 2 * pair], spectra[group, f, 2 * pair + 1], x_re, x_im,
                        size * (path_im[here] + path_im[there]),
                        size * (path_re[there] - path_re[here]), product_re, product_im,
                    )  # fmt: skip
                else:
                    add_product(spectra[group, f, 2 * pair], x_re, x_im, product_re, product_im)
            for k in range(u(2 * n_pairs)):
                product_re[k] *= per_bound[path, k]
                product_im[k] *= per_bound[path, k]
            here, there = u(f * n_columns + path * n_pairs), u(mirror * n_columns + path * n_pairs)
            second = u(n_pairs)
            for pair in range(second):
                re[there + pair] = product_re[pair] + product_im[second + pair]
                im[there + pair] = product_re[second + pair] - product_im[pair]
            for pair in range(second):
                re[here + pair] = product_re[pair] - product_im[second + pair]
                im[here + pair] = product_re[second + pair] + product_im[pair]
    # Imaginary parts first: that transforms back.
    if transform_columns(im, re, other_im, other_re, period, n_columns, roots):
        return other_re, other_im
    return re, im


@kernel
def four_parts(room):
    """Cut an array into four."""
    size = len(room) // 4
    return room[:size], room[size : 2 * size], room[2 * size : 3 * size], room[3 * size :]


@kernel
def add_product(spectrum, x_re, x_im, product_re, product_im):
    """Add a channel's spectrum of a path, times the conjugates of the shapelets'."""
    for k in range(u(len(product_re))):
        product_re[k] += spectrum[0, k] * x_re + spectrum[1, k] * x_im
        product_im[k] += spectrum[0, k] * x_im - spectrum[1, k] * x_re


@kernel
def add_two_products(one, other, x_re, x_im, y_re, y_im, product_re, product_im):
    """Add those of two channels: half as often from and to memory."""
    for k in range(u(len(product_re))):
        product_re[k] += (
            one[0, k] * x_re + one[1, k] * x_im + other[0, k] * y_re + other[1, k] * y_im
        )
        product_im[k] += (
            one[0, k] * x_im - one[1, k] * x_re + other[0, k] * y_im - other[1, k] * y_re
        )
