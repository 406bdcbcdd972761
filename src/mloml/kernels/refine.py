"""Newton's step for ``K = L^-T``: rounding errors of thousands of rank-2 changes are squared away."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mloml.kernels.padding import WIDTH
from mloml.kernels.simd import exact, fma, load, spread, spread_from, store, store_totals

Array = NDArray[np.float64]

TOO_FAR = 0.25
"""Sum of squares of the residual beyond which Newton's step is not trusted and K is computed anew."""


@exact
def refine(L: Array, K: Array, base: int, m: int, d: int, work: Array) -> None:
    """Set ``K += (I - K L') K``; ``work`` is (2, m, m)."""
    if residual(L, K, base, m, d, work) > TOO_FAR:
        recompute(L, K, base, m, d, work)
        return
    correction(K, base, m, d, work)
    for j in range(0, d * m, WIDTH):
        store(K, base + j, fma(spread(1.0), load(work, m * m + j), load(K, base + j)))


@exact
def residual(L: Array, K: Array, base: int, m: int, d: int, work: Array) -> float:
    """Set the first matrix of ``work`` to ``T = I - K L'`` and return the sum of its squares."""
    size = 0.0
    for r in range(0, d, 2):
        a = base + r * m
        for s in range(0, d, 2):
            b = base + s * m
            t00 = t01 = t10 = t11 = spread(0.0)
            for j in range(0, m, WIDTH):
                k0, k1, l0, l1 = load(K, a + j), load(K, a + m + j), load(L, b + j), load(L, b + m + j)
                t00, t01 = fma(k0, l0, t00), fma(k0, l1, t01)
                t10, t11 = fma(k1, l0, t10), fma(k1, l1, t11)
            store_totals(work, r * m + s, t00, t01)
            store_totals(work, r * m + m + s, t10, t11)
    for r in range(d):
        for s in range(d):
            work[0, r, s] = (1.0 if r == s else 0.0) - work[0, r, s]
            size += work[0, r, s] * work[0, r, s]
    return size


@exact
def correction(K: Array, base: int, m: int, d: int, work: Array) -> None:
    """Set the second matrix of ``work`` to ``T K``, two rows by eight columns at a time."""
    for r in range(0, d, 2):
        out = m * m + r * m
        for j in range(0, m, 2 * WIDTH):
            wide = j + WIDTH < m
            a0 = a1 = b0 = b1 = spread(0.0)
            for s in range(d):
                t0, t1 = spread_from(work, r * m + s), spread_from(work, r * m + m + s)
                k = load(K, base + s * m + j)
                a0, a1 = fma(t0, k, a0), fma(t1, k, a1)
                if wide:
                    k = load(K, base + s * m + j + WIDTH)
                    b0, b1 = fma(t0, k, b0), fma(t1, k, b1)
            store(work, out + j, a0)
            store(work, out + m + j, a1)
            if wide:
                store(work, out + j + WIDTH, b0)
                store(work, out + m + j + WIDTH, b1)


@exact
def recompute(L: Array, K: Array, base: int, m: int, d: int, work: Array) -> None:
    """Set ``K = L^-T`` by Gauss-Jordan elimination; a singular ``L`` leaves K as it is."""
    i = base // (m * m)
    A, B = work[0], work[1]
    for r in range(d):
        for j in range(d):
            A[r, j] = L[i, r, j]
            B[r, j] = 1.0 if r == j else 0.0
    for k in range(d):
        pivot = k
        for r in range(k + 1, d):
            if abs(A[r, k]) > abs(A[pivot, k]):
                pivot = r
        if not abs(A[pivot, k]) > 1e-300:
            return
        factor = 1.0 / A[pivot, k]
        for j in range(d):
            a, b = A[pivot, j], B[pivot, j]
            A[pivot, j], B[pivot, j] = A[k, j], B[k, j]
            A[k, j], B[k, j] = a * factor, b * factor
        for r in range(d):
            if r != k:
                factor = A[r, k]
                for j in range(d):
                    A[r, j] -= factor * A[k, j]
                    B[r, j] -= factor * B[k, j]
    for r in range(d):
        for j in range(d):
            K[i, j, r] = B[r, j]
