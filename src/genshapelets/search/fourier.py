"""Fourier transforms of many columns at once, in compiled code.

A matrix (times, columns) is transformed along its times. Whatever is done to one column is done to its
neighbours by the same instruction, no column is ever moved, and a search may call it from the middle
of a compiled loop. Real and imaginary parts are separate, flat arrays.

Stockham's algorithm, decimated in time: a pass of radix r reads r rows one after the other and writes
to r distant places that do not overlap from the first row to the last, which is what lets the compiler
use vectors.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ..parallel import kernel, u
from ..paths import Array

ROOT = np.sqrt(3.0) / 2.0


def fast_period(n: int) -> int:
    """Smallest number from n on without prime factors above 3."""
    while True:
        rest = n
        for factor in (2, 3):
            while rest % factor == 0:
                rest //= factor
        if rest == 1:
            return n
        n += 1


@lru_cache(maxsize=64)
def roots_of_unity(period: int) -> Array:
    """Cos and -sin of the period's parts, (2, period)."""
    angle = 2.0 * np.pi * np.arange(period) / period
    return np.stack([np.cos(angle), -np.sin(angle)])


@kernel
def transform_columns(re, im, other_re, other_im, period, n_columns, roots):
    """Transform the columns of re + i im, (period * n_columns,) each.

    Returns whether the result is in the other two arrays; both pairs are written on. The inverse, times
    the period, comes from swapping real and imaginary parts before and after.
    """
    n, flipped = 1, False
    while n < period:
        rest = period // n
        radix = 3 if rest % 3 == 0 else 4 if rest % 4 == 0 else 2
        n *= radix
        width = n_columns * (period // n)
        if flipped:
            _one_pass(radix, other_re, other_im, re, im, period, n, width, roots)
        else:
            _one_pass(radix, re, im, other_re, other_im, period, n, width, roots)
        flipped = not flipped
    return flipped


@kernel
def _one_pass(radix, re, im, out_re, out_im, period, n, width, roots):
    """Make transforms of length n out of ``radix`` shorter ones."""
    if radix == 4:
        _pass_of_four(re, im, out_re, out_im, period, n, width, roots)
    elif radix == 3:
        _pass_of_three(re, im, out_re, out_im, period, n, width, roots)
    else:
        _pass_of_two(re, im, out_re, out_im, period, n, width, roots)


@kernel
def _pass_of_two(re, im, out_re, out_im, period, n, width, roots):
    part = n // 2
    for p in range(part):
        turn = p * (period // n)
        c, s = roots[0, turn], roots[1, turn]
        i0, o0 = u(2 * width * p), u(width * p)
        i1, o1 = i0 + u(width), o0 + u(width * part)
        for x in range(u(width)):
            a_re, a_im, x_re, x_im = re[i0 + x], im[i0 + x], re[i1 + x], im[i1 + x]
            b_re, b_im = c * x_re - s * x_im, c * x_im + s * x_re
            out_re[o0 + x] = a_re + b_re
            out_im[o0 + x] = a_im + b_im
            out_re[o1 + x] = a_re - b_re
            out_im[o1 + x] = a_im - b_im


@kernel
def _pass_of_three(re, im, out_re, out_im, period, n, width, roots):
    part = n // 3
    for p in range(part):
        turn = p * (period // n)
        c1, s1 = roots[0, turn], roots[1, turn]
        c2, s2 = roots[0, 2 * turn], roots[1, 2 * turn]
        i0, o0 = u(3 * width * p), u(width * p)
        i1, o1 = i0 + u(width), o0 + u(width * part)
        i2, o2 = i1 + u(width), o1 + u(width * part)
        for x in range(u(width)):
            a_re, a_im, x_re, x_im = re[i0 + x], im[i0 + x], re[i1 + x], im[i1 + x]
            b_re, b_im = c1 * x_re - s1 * x_im, c1 * x_im + s1 * x_re
            x_re, x_im = re[i2 + x], im[i2 + x]
            c_re, c_im = c2 * x_re - s2 * x_im, c2 * x_im + s2 * x_re
            sum_re, sum_im = b_re + c_re, b_im + c_im
            turned_re, turned_im = ROOT * (b_im - c_im), ROOT * (c_re - b_re)
            mid_re, mid_im = a_re - 0.5 * sum_re, a_im - 0.5 * sum_im
            out_re[o0 + x] = a_re + sum_re
            out_im[o0 + x] = a_im + sum_im
            out_re[o1 + x] = mid_re + turned_re
            out_im[o1 + x] = mid_im + turned_im
            out_re[o2 + x] = mid_re - turned_re
            out_im[o2 + x] = mid_im - turned_im


@kernel
def _pass_of_four(re, im, out_re, out_im, period, n, width, roots):
    part = n // 4
    for p in range(part):
        turn = p * (period // n)
        c1, s1 = roots[0, turn], roots[1, turn]
        c2, s2 = roots[0, 2 * turn], roots[1, 2 * turn]
        c3, s3 = roots[0, 3 * turn], roots[1, 3 * turn]
        i0, o0 = u(4 * width * p), u(width * p)
        i1, o1 = i0 + u(width), o0 + u(width * part)
        i2, o2 = i1 + u(width), o1 + u(width * part)
        i3, o3 = i2 + u(width), o2 + u(width * part)
        for x in range(u(width)):
            a_re, a_im, x_re, x_im = re[i0 + x], im[i0 + x], re[i1 + x], im[i1 + x]
            b_re, b_im = c1 * x_re - s1 * x_im, c1 * x_im + s1 * x_re
            x_re, x_im = re[i2 + x], im[i2 + x]
            c_re, c_im = c2 * x_re - s2 * x_im, c2 * x_im + s2 * x_re
            x_re, x_im = re[i3 + x], im[i3 + x]
            d_re, d_im = c3 * x_re - s3 * x_im, c3 * x_im + s3 * x_re
            plus_re, plus_im, minus_re, minus_im = (
                a_re + c_re,
                a_im + c_im,
                a_re - c_re,
                a_im - c_im,
            )
            sum_re, sum_im = b_re + d_re, b_im + d_im
            turned_re, turned_im = b_im - d_im, d_re - b_re
            out_re[o0 + x] = plus_re + sum_re
            out_im[o0 + x] = plus_im + sum_im
            out_re[o1 + x] = minus_re + turned_re
            out_im[o1 + x] = minus_im + turned_im
            out_re[o2 + x] = plus_re - sum_re
            out_im[o2 + x] = plus_im - sum_im
            out_re[o3 + x] = minus_re - turned_re
            out_im[o3 + x] = minus_im - turned_im
