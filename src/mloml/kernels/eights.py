"""Eight doubles at a time (see ``wide``), and the small products made of them.

For passes that do nothing but multiply and compare: where the processor has registers of eight doubles, they
take half the time of four. Matrices are padded with zeros to a multiple of eight columns and of four rows.
"""

from __future__ import annotations

import numpy as np
from numba import types
from numpy.typing import NDArray

from mloml.kernels.simd import exact
from mloml.kernels.wide import Vectors

Array = NDArray[np.float64]

_doubles = Vectors(types.float64)
load, store, spread, spread_from = _doubles.load, _doubles.store, _doubles.spread, _doubles.spread_from
plus, minus, most, fma = _doubles.plus, _doubles.minus, _doubles.most, _doubles.fma
below, choose, total = _doubles.below, _doubles.choose, _doubles.total

WIDE = _doubles.width
"""Doubles that are treated at a time."""

ROWS = 4
"""Rows of a product that are made at a time."""


def wide_zeros(rows: int, columns: int) -> Array:
    """Return zeros with rows and columns padded, whose data start at a cache line.

    >>> wide_zeros(5, 9).shape
    (8, 16)
    """
    shape = -(-rows // ROWS) * ROWS, -(-columns // WIDE) * WIDE
    size = shape[0] * shape[1]
    buffer = np.zeros(size + WIDE)
    skip = (-buffer.ctypes.data % 64) // 8
    return buffer[skip : skip + size].reshape(shape)


@exact
def multiply(P: Array, Q: Array, inner: int, R: Array) -> None:
    """Set ``R = P Q`` with all three padded; ``inner`` is the number of columns of P that count."""
    (rows, p), m = P.shape, Q.shape[1]
    for i in range(0, rows, ROWS):
        at, j = i * p, 0
        while j + 2 * WIDE <= m:  # eight sums at once: with four, each waits for the one before
            r0 = r1 = r2 = r3 = s0 = s1 = s2 = s3 = spread(0.0)
            for a in range(inner):
                q, t = load(Q, a * m + j), load(Q, a * m + j + WIDE)
                w = spread_from(P, at + a)
                r0, s0 = fma(w, q, r0), fma(w, t, s0)
                w = spread_from(P, at + p + a)
                r1, s1 = fma(w, q, r1), fma(w, t, s1)
                w = spread_from(P, at + 2 * p + a)
                r2, s2 = fma(w, q, r2), fma(w, t, s2)
                w = spread_from(P, at + 3 * p + a)
                r3, s3 = fma(w, q, r3), fma(w, t, s3)
            _store_column(R, i * m + j, m, r0, r1, r2, r3)
            _store_column(R, i * m + j + WIDE, m, s0, s1, s2, s3)
            j += 2 * WIDE
        if j < m:
            r0 = r1 = r2 = r3 = spread(0.0)
            for a in range(inner):
                q = load(Q, a * m + j)
                r0 = fma(spread_from(P, at + a), q, r0)
                r1 = fma(spread_from(P, at + p + a), q, r1)
                r2 = fma(spread_from(P, at + 2 * p + a), q, r2)
                r3 = fma(spread_from(P, at + 3 * p + a), q, r3)
            _store_column(R, i * m + j, m, r0, r1, r2, r3)


@exact
def _store_column(R: Array, at: int, m: int, r0: object, r1: object, r2: object, r3: object) -> None:
    store(R, at, r0)
    store(R, at + m, r1)
    store(R, at + 2 * m, r2)
    store(R, at + 3 * m, r3)


@exact
def two_products(C: Array, U: Array, E: Array, M: Array, inner: int, R: Array) -> None:
    """Set ``R = C'U + E'M``, all padded alike; ``inner`` is the number of their rows that count."""
    m = U.shape[1]
    for i in range(0, R.shape[0], ROWS):
        for j in range(0, m, WIDE):
            r0 = r1 = r2 = r3 = s0 = s1 = s2 = s3 = spread(0.0)
            for c in range(inner):
                at = c * m + i
                u, v = load(U, c * m + j), load(M, c * m + j)
                r0 = fma(spread_from(C, at), u, r0)
                r1 = fma(spread_from(C, at + 1), u, r1)
                r2 = fma(spread_from(C, at + 2), u, r2)
                r3 = fma(spread_from(C, at + 3), u, r3)
                s0 = fma(spread_from(E, at), v, s0)
                s1 = fma(spread_from(E, at + 1), v, s1)
                s2 = fma(spread_from(E, at + 2), v, s2)
                s3 = fma(spread_from(E, at + 3), v, s3)
            r0, r1, r2, r3 = plus(r0, s0), plus(r1, s1), plus(r2, s2), plus(r3, s3)
            _store_column(R, i * m + j, m, r0, r1, r2, r3)
