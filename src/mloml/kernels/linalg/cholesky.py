"""Rank-one changes of a Cholesky factor: ``M = R'R``, ``R`` upper triangular with a positive diagonal.

Matrices may be padded: the length of the vector says how much of them is meant.
"""

from __future__ import annotations

from math import hypot, sqrt

from mloml.arrays import Array
from mloml.kernels.compiled import kernel


@kernel
def update(R: Array, v: Array) -> None:
    """Turn the factor of ``M`` into that of ``M + v v'``; ``v`` is used up."""
    d = v.shape[0]
    for k in range(d):
        h = hypot(R[k, k], v[k])
        c, s = h / R[k, k], v[k] / R[k, k]
        R[k, k] = h
        for j in range(k + 1, d):
            R[k, j] = (R[k, j] + s * v[j]) / c
            v[j] = c * v[j] - s * R[k, j]


@kernel
def downdate(R: Array, v: Array) -> bool:
    """Turn the factor of ``M`` into that of ``M - v v'``; ``v`` is used up.

    Returns False when that is not positive definite; ``R`` is then spoilt, so work on a copy.
    """
    d = v.shape[0]
    for k in range(d):
        square = (R[k, k] - v[k]) * (R[k, k] + v[k])
        if not square > 0.0:
            return False
        h = sqrt(square)
        c, s = h / R[k, k], v[k] / R[k, k]
        R[k, k] = h
        for j in range(k + 1, d):
            R[k, j] = (R[k, j] - s * v[j]) / c
            v[j] = c * v[j] - s * R[k, j]
    return True


@kernel
def factorise(M: Array, R: Array, d: int) -> bool:
    """Set ``R`` to the Cholesky factor of the leading d x d block of ``M``; False when it has none."""
    for k in range(d):
        for j in range(d):
            R[k, j] = M[k, j] if j >= k else 0.0
    for k in range(d):
        if not R[k, k] > 0.0:
            return False
        pivot = sqrt(R[k, k])
        for j in range(k, d):
            R[k, j] /= pivot
        for i in range(k + 1, d):
            factor = R[k, i]
            for j in range(i, d):
                R[i, j] -= factor * R[k, j]
    return True


@kernel
def copy_triangle(R: Array, out: Array, d: int) -> None:
    """Copy an upper triangular factor, with zeros below the diagonal whatever ``R`` has there."""
    for k in range(d):
        for j in range(k):
            out[k, j] = 0.0
        for j in range(k, d):
            out[k, j] = R[k, j]


@kernel
def solve_transposed(R: Array, b: Array, x: Array) -> None:
    """Set ``x = R^-T b``."""
    d = b.shape[0]
    for j in range(d):
        x[j] = b[j]
    for k in range(d):
        x[k] /= R[k, k]
        for j in range(k + 1, d):
            x[j] -= R[k, j] * x[k]
