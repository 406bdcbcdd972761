"""Newton's step for ``K = L^-T``: rounding errors of thousands of rank-2 changes are squared away."""

from __future__ import annotations

from mloml.arrays import Array
from mloml.kernels.padding import WIDTH
from mloml.kernels.simd import exact, fma, load, spread, spread_from, store, store_totals

TOO_FAR = 0.25
"""Sum of squares of the residual beyond which Newton's step is not trusted and K is computed anew."""


TILE = 8
"""Rows of L that are compared with all rows of K before the next ones are."""


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
    for tile in range(0, d, TILE):  # these rows of L stay in the nearest cache
        for r in range(0, d, 2):
            a = base + r * m
            for s in range(tile, min(tile + TILE, d), 4):
                b = base + s * m
                t00 = t01 = t02 = t03 = t10 = t11 = t12 = t13 = spread(0.0)
                for j in range(0, m, WIDTH):
                    k0, k1 = load(K, a + j), load(K, a + m + j)
                    row = load(L, b + j)
                    t00, t10 = fma(k0, row, t00), fma(k1, row, t10)
                    row = load(L, b + m + j)
                    t01, t11 = fma(k0, row, t01), fma(k1, row, t11)
                    row = load(L, b + 2 * m + j)
                    t02, t12 = fma(k0, row, t02), fma(k1, row, t12)
                    row = load(L, b + 3 * m + j)
                    t03, t13 = fma(k0, row, t03), fma(k1, row, t13)
                store_totals(work, r * m + s, t00, t01)
                store_totals(work, r * m + s + 2, t02, t03)
                store_totals(work, r * m + m + s, t10, t11)
                store_totals(work, r * m + m + s + 2, t12, t13)
    size = 0.0
    for r in range(d):
        for s in range(d):
            work[0, r, s] = (1.0 if r == s else 0.0) - work[0, r, s]
            size += work[0, r, s] * work[0, r, s]
    return size


@exact
def correction(K: Array, base: int, m: int, d: int, work: Array) -> None:
    """Set the second matrix of ``work`` to ``T K``, four rows by eight columns at a time."""
    for j in range(0, m, 2 * WIDTH):  # these columns of K stay in the nearest cache
        beside = WIDTH if j + WIDTH < m else 0  # at the end the last columns may come twice
        for r in range(0, d, 4):
            t, out = r * m, m * m + r * m + j
            a0 = a1 = a2 = a3 = b0 = b1 = b2 = b3 = spread(0.0)
            for s in range(d):
                row = base + s * m + j
                ka, kb = load(K, row), load(K, row + beside)
                factor = spread_from(work, t + s)
                a0, b0 = fma(factor, ka, a0), fma(factor, kb, b0)
                factor = spread_from(work, t + m + s)
                a1, b1 = fma(factor, ka, a1), fma(factor, kb, b1)
                factor = spread_from(work, t + 2 * m + s)
                a2, b2 = fma(factor, ka, a2), fma(factor, kb, b2)
                factor = spread_from(work, t + 3 * m + s)
                a3, b3 = fma(factor, ka, a3), fma(factor, kb, b3)
            store(work, out + beside, b0)
            store(work, out + m + beside, b1)
            store(work, out + 2 * m + beside, b2)
            store(work, out + 3 * m + beside, b3)
            store(work, out, a0)
            store(work, out + m, a1)
            store(work, out + 2 * m, a2)
            store(work, out + 3 * m, a3)


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
