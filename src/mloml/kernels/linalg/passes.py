"""Passes over a square matrix that the updates are made of: each touches a row once, while it is in cache."""

from __future__ import annotations

from mloml.arrays import Array
from mloml.kernels.compiled import kernel

LIMIT = 1e30
"""A squared distance beyond this is taken as the sign of a diverging run."""


@kernel
def products(A: Array, p: Array, q: Array, u: Array, v: Array) -> None:
    """Set ``u = A p`` and ``v = A q``."""
    for i in range(A.shape[0]):
        a = 0.0
        b = 0.0
        for j in range(A.shape[1]):
            a += A[i, j] * p[j]
            b += A[i, j] * q[j]
        u[i] = a
        v[i] = b


@kernel
def product(A: Array, z: Array, u: Array) -> None:
    """Set ``u = A z``."""
    for i in range(A.shape[0]):
        a = 0.0
        for j in range(A.shape[1]):
            a += A[i, j] * z[j]
        u[i] = a


@kernel
def subtract_rank_two(A: Array, f: Array, g: Array, r: Array, s: Array) -> None:
    """Set ``A -= f r' + g s'``."""
    for i in range(A.shape[0]):
        fi = f[i]
        gi = g[i]
        for j in range(A.shape[1]):
            A[i, j] -= fi * r[j] + gi * s[j]


@kernel
def subtract_rank_one(A: Array, scale: float, f: Array, r: Array) -> None:
    """Set ``A -= scale f r'``."""
    for i in range(A.shape[0]):
        fi = scale * f[i]
        for j in range(A.shape[1]):
            A[i, j] -= fi * r[j]


@kernel
def dot(a: Array, b: Array) -> float:
    """Return ``a'b``."""
    total = 0.0
    for j in range(a.shape[0]):
        total += a[j] * b[j]
    return total


@kernel
def differences(rows: Array, t: int, s: int, z: Array) -> None:
    """Set ``z = rows[t] - rows[s]``."""
    for j in range(z.shape[0]):
        z[j] = rows[t, j] - rows[s, j]


@kernel
def products_and_back(A: Array, p: Array, q: Array, u: Array, v: Array, r: Array, s: Array) -> None:
    """Set ``u = A p``, ``v = A q``, ``r = A' u`` and ``s = A' v``, all while a row is at hand."""
    for j in range(r.shape[0]):
        r[j] = 0.0
        s[j] = 0.0
    for i in range(A.shape[0]):
        a = 0.0
        b = 0.0
        for j in range(A.shape[1]):
            a += A[i, j] * p[j]
            b += A[i, j] * q[j]
        u[i] = a
        v[i] = b
        for j in range(A.shape[1]):
            r[j] += a * A[i, j]
            s[j] += b * A[i, j]


@kernel
def symmetrise(M: Array) -> None:
    """Set ``M = (M + M') / 2``: rounding makes the halves of a symmetric matrix drift apart."""
    for i in range(M.shape[0]):
        for j in range(i):
            mean = 0.5 * (M[i, j] + M[j, i])
            M[i, j] = mean
            M[j, i] = mean
