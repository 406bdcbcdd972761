"""Small linear algebra that the updates share, in plain loops that run along rows.

A piece of a stream is an array ``D`` (T, 3, d): of triplet t, ``D[t, 0]`` is ``p = x - xp``, ``D[t, 1]`` is
``q = x - xq`` and ``D[t, 2]`` is ``h = x`` itself. Functions take ``D`` and ``t``, because a view of a row
costs more than a step on four features.
"""

from math import sqrt

import numpy as np

from mloml.arrays import Array

from .compiled import compiled

# A squared distance beyond this means that the learner has diverged.
LIMIT = 1e30

# A step that is a smaller share of the full one than this hardly counts as learning.
WEAK_SHARE = 0.01

# Counters: steps taken, those that would have left the cone, not taken, weak; and the age of an inverse.
UPDATES, FAILURES, REFUSED, WEAK, AGE = range(5)

# In place of outputs that nobody asks for.
NOTHING = np.empty((0, 3, 0))


@compiled
def map_two(A: Array, D: Array, t: int, u: Array, v: Array) -> tuple[float, float]:
    """Set ``u = A p`` and ``v = A q``; return ``u'u`` and ``v'v``."""
    near = far = 0.0
    for i in range(A.shape[0]):
        r = s = 0.0
        for j in range(A.shape[1]):
            r += A[i, j] * D[t, 0, j]
            s += A[i, j] * D[t, 1, j]
        u[i], v[i] = r, s
        near += r * r
        far += s * s
    return near, far


@compiled
def map_three(A: Array, D: Array, t: int, u: Array, v: Array, z: Array) -> tuple[float, float]:
    """Set ``u = A p``, ``v = A q`` and ``z = A h``; return ``u'u`` and ``v'v``."""
    near = far = 0.0
    for i in range(A.shape[0]):
        r = s = w = 0.0
        for j in range(A.shape[1]):
            r += A[i, j] * D[t, 0, j]
            s += A[i, j] * D[t, 1, j]
            w += A[i, j] * D[t, 2, j]
        u[i], v[i], z[i] = r, s, w
        near += r * r
        far += s * s
    return near, far


@compiled
def map_pair(A: Array, r: Array, s: Array, u: Array, v: Array) -> None:
    """Set ``u = A r`` and ``v = A s``."""
    for i in range(A.shape[0]):
        f = g = 0.0
        for j in range(A.shape[1]):
            f += A[i, j] * r[j]
            g += A[i, j] * s[j]
        u[i], v[i] = f, g


@compiled
def add_two(A: Array, x: Array, y: Array, D: Array, t: int) -> None:
    """Add ``x p' + y q'`` to A."""
    for i in range(A.shape[0]):
        f, g = x[i], y[i]
        for j in range(A.shape[1]):
            A[i, j] += f * D[t, 0, j] + g * D[t, 1, j]


@compiled
def gram(D: Array, t: int) -> tuple[float, float, float]:
    """Return ``p'p``, ``q'q`` and ``p'q``."""
    pp = qq = pq = 0.0
    for j in range(D.shape[2]):
        pp += D[t, 0, j] * D[t, 0, j]
        qq += D[t, 1, j] * D[t, 1, j]
        pq += D[t, 0, j] * D[t, 1, j]
    return pp, qq, pq


@compiled
def hand_on(outputs: Array, t: int, u: Array, v: Array, z: Array) -> None:
    """Put what a layer makes of triplet t where the next layer finds it."""
    for i in range(u.shape[0]):
        outputs[t, 0, i], outputs[t, 1, i], outputs[t, 2, i] = u[i], v[i], z[i]


@compiled
def dot(a: Array, b: Array) -> float:
    """Return ``a'b``."""
    total = 0.0
    for j in range(a.shape[0]):
        total += a[j] * b[j]
    return total


@compiled
def product(A: Array, x: Array, y: Array) -> None:
    """Set ``y = A x``."""
    for i in range(A.shape[0]):
        total = 0.0
        for j in range(A.shape[1]):
            total += A[i, j] * x[j]
        y[i] = total


@compiled
def add_square(A: Array, f: float, z: Array) -> None:
    """Add ``f z z'`` to A, exactly symmetric."""
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            A[i, j] += f * (z[i] * z[j])


@compiled
def symmetrise(M: Array) -> None:
    """``M = (M + M') / 2``: rounding makes the halves of a symmetric matrix drift apart."""
    for i in range(M.shape[0]):
        for j in range(i):
            mean = 0.5 * (M[i, j] + M[j, i])
            M[i, j] = M[j, i] = mean


@compiled
def invert(M: Array, K: Array) -> None:
    """``K = M^-1`` of a symmetric positive definite M, by sweeping one diagonal entry after the other."""
    d = M.shape[0]
    for i in range(d):
        for j in range(d):
            K[i, j] = M[i, j]
    for k in range(d):
        pivot = 1.0 / K[k, k]
        K[k, k] = 1.0
        for j in range(d):
            K[k, j] *= pivot
        for i in range(d):
            if i != k:
                f = K[i, k]
                K[i, k] = 0.0
                for j in range(d):
                    K[i, j] -= f * K[k, j]


@compiled
def renew(L: Array, N: Array) -> None:
    """``N = (L'L)^-1``, computed anew in O(d³)."""
    d = L.shape[0]
    M = np.zeros((d, d))
    for k in range(d):
        for i in range(d):
            f = L[k, i]
            for j in range(d):
                M[i, j] += f * L[k, j]
    invert(M, N)


@compiled
def cholesky(M: Array, shift: float, R: Array) -> bool:
    """Set R, lower triangular, to the factor of ``M + shift I = R R'``; False when there is none.

    The diagonal of R holds its inverses.
    """
    for i in range(M.shape[0]):
        for j in range(i):
            known = 0.0
            for k in range(j):
                known += R[i, k] * R[j, k]
            R[i, j] = (M[i, j] - known) * R[j, j]
        pivot = M[i, i] + shift
        for k in range(i):
            pivot -= R[i, k] * R[i, k]
        if not pivot > 0.0:
            return False
        R[i, i] = 1.0 / sqrt(pivot)
    return True


@compiled
def solve(R: Array, b: Array, x: Array) -> None:
    """Set ``x = (R R')^-1 b`` for a factor of :func:`cholesky`."""
    d = b.shape[0]
    for i in range(d):
        total = b[i]
        for k in range(i):
            total -= R[i, k] * x[k]
        x[i] = total * R[i, i]
    for i in range(d - 1, -1, -1):
        x[i] *= R[i, i]
        for k in range(i):
            x[k] -= R[i, k] * x[i]
