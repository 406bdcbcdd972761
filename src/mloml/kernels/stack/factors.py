"""MOML's step on the other two factors: Cholesky (F1) and the symmetric root (F2).

Steps answer with a pair: were they taken, and would the full step have left the cone. ``L`` is one layer's
padded matrix (m, m), the difference vectors are (d,), ``work`` is (2, m, m) and ``scratch`` (3, m).
:func:`split_step` takes the whole stack and positions in it.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from mloml.arrays import Array
from mloml.kernels.compiled import kernel
from mloml.kernels.linalg.cholesky import (
    copy_triangle,
    downdate,
    factorise,
    solve_transposed,
    update,
)
from mloml.kernels.linalg.passes import dot
from mloml.kernels.linalg.triangle import pull, push_and_solve
from mloml.kernels.padding import WIDTH
from mloml.kernels.simd import exact, spread, store
from mloml.kernels.stack.frame import SHRINKAGE, largest_step, pull_step
from mloml.kernels.stack.layout import CLIP, INPUT, SHRINK, SPARE
from mloml.kernels.stack.vectors import copy, inner

CLIPPED = 1e-8
"""What the policy `clip` puts in place of an eigenvalue that is not positive."""


@kernel
def cholesky_step(
    L: Array,
    p: Array,
    q: Array,
    g: float,
    policy: int,
    moved: bool,
    work: Array,
    scratch: Array,
) -> tuple[bool, bool]:
    """Step from ``M = L'L`` to ``M - g A`` on the triangular factor.

    The update with ``q`` comes first: the other order can fail although the result is positive definite.
    ``moved`` says that ``L`` is not triangular (back-propagation moved it) and has to be factorised first.
    """
    R, trial = work[0], work[1]
    if moved:
        multiply_transposed(L, trial)
        if not factorise(trial, R, p.shape[0]):
            return False, True
    else:
        copy_matrix(L, R)
    failed = False
    if not _try(R, p, q, g, trial, scratch[0]):
        failed = True
        if policy != SHRINK:
            return False, True
        a, b, c = relative_gram(R, p, q, scratch)
        if not _try(R, p, q, SHRINKAGE * largest_step(a, b, c), trial, scratch[0]):
            return False, True
    copy_triangle(trial, L, p.shape[0])
    return True, failed


@kernel
def _try(R: Array, p: Array, q: Array, g: float, trial: Array, v: Array) -> bool:
    """Set ``trial`` to the factor after the step; False when there is none."""
    d = q.shape[0]
    copy_matrix(R, trial)
    for j in range(d):
        v[j] = sqrt(g) * q[j]
    update(trial, v[:d])
    return _pull(trial, p, g, v)


@exact
def split_step(
    i: int,
    L: Array,
    V: Array,
    own: int,
    g: float,
    keep: float,
    floor: float,
    moved: bool,
    work: Array,
    d: int,
) -> tuple[bool, bool]:
    """Take the whole push and an admissible pull on a triangular factor; answers as :func:`cholesky_step`.

    ``own`` is the first of layer ``i``'s rows in ``V``. Views of arrays are made only where they must be:
    each counts its users, which costs more than a step on four features.
    """
    m = V.shape[1]
    x, spare = (own + INPUT) * m, own + SPARE
    copy(V, x + m, spare * m, 1)
    copy(V, x, (spare + 1) * m, 1)
    if moved:
        multiply_transposed(L[i], work[1])
        if not factorise(work[1], work[0], d):
            return False, True
        s = push_and_solve(work, 0, work, 1, V, spare, g, d)
    else:
        s = push_and_solve(L, i, work, 1, V, spare, g, d)
    part = pull_step(s, inner(V, x, x), g, keep, floor)
    if not 1.0 - part * s > 0.0:
        return False, True
    copy(V, x, (spare + 1) * m, 1)
    if moved:
        for j in range(i * m * m, (i + 1) * m * m, WIDTH):
            store(L, j, spread(0.0))
    pull(work, 1, L, i, V, spare + 1, part, d)
    return True, part < g


@kernel
def _pull(trial: Array, p: Array, g: float, v: Array) -> bool:
    """Turn the factor of ``M`` into that of ``M - g p p'``; False when there is none."""
    d = p.shape[0]
    for j in range(d):
        v[j] = sqrt(g) * p[j]
    return downdate(trial, v[:d])


@kernel
def relative_gram(R: Array, p: Array, q: Array, scratch: Array) -> tuple[float, float, float]:
    """Return ``p'M^-1p``, ``q'M^-1q``, ``p'M^-1q`` for ``M = R'R``, R upper triangular."""
    d = p.shape[0]
    P, Q = scratch[1, :d], scratch[2, :d]
    solve_transposed(R, p, P)
    solve_transposed(R, q, Q)
    return dot(P, P), dot(Q, Q), dot(P, Q)


@kernel
def multiply_transposed(L: Array, M: Array) -> None:
    """Set ``M = L'L``."""
    for i in range(L.shape[1]):
        for j in range(L.shape[1]):
            M[i, j] = 0.0
    for r in range(L.shape[0]):
        for i in range(L.shape[1]):
            factor = L[r, i]
            for j in range(L.shape[1]):
                M[i, j] += factor * L[r, j]


@kernel
def symmetric_step(
    L: Array, M: Array, p: Array, q: Array, g: float, policy: int, moved: bool, work: Array, scratch: Array
) -> tuple[bool, bool]:
    """Step from ``M`` to ``M - g A`` and set ``L`` to its symmetric root, in O(d³)."""
    d = p.shape[0]
    if moved:
        multiply_transposed(L, M)
    trial = work[0]
    subtract_triplet(M, p, q, g, trial)
    values, vectors = eigen(trial, d)
    failed = not values[0] > 0.0
    if failed:
        if policy == SHRINK:
            R = work[1]
            if not factorise(M, R, d):
                return False, True
            a, b, c = relative_gram(R, p, q, scratch)
            subtract_triplet(M, p, q, SHRINKAGE * largest_step(a, b, c), trial)
            values, vectors = eigen(trial, d)
        elif policy == CLIP:
            values = np.maximum(values, CLIPPED)
            compose(vectors, values, trial)
        else:
            return False, True
    copy_matrix(trial, M)
    compose(vectors, np.sqrt(np.maximum(values, 0.0)), L)
    return True, failed


@kernel
def copy_matrix(source: Array, target: Array) -> None:
    """Copy a matrix entry by entry: assignment of arrays compiles into far more code."""
    for i in range(source.shape[0]):
        for j in range(source.shape[1]):
            target[i, j] = source[i, j]


@kernel
def eigen(M: Array, d: int) -> tuple[Array, Array]:
    """Return eigenvalues, ascending, and eigenvectors (columns) of the leading d x d block."""
    block = np.empty((d, d))
    for i in range(d):
        for j in range(d):
            block[i, j] = M[i, j]
    values, vectors = np.linalg.eigh(block)
    for i in range(d):  # LAPACK's columns into rows that lie in one piece
        for j in range(d):
            block[i, j] = vectors[i, j]
    return values, block


@kernel
def subtract_triplet(M: Array, p: Array, q: Array, g: float, out: Array) -> None:
    """Set ``out = M - g (p p' - q q')``."""
    for i in range(p.shape[0]):
        for j in range(p.shape[0]):
            out[i, j] = M[i, j] - g * (p[i] * p[j] - q[i] * q[j])


@kernel
def compose(vectors: Array, values: Array, out: Array) -> None:
    """Set ``out = vectors diag(values) vectors'``, exactly symmetric."""
    d = values.shape[0]
    product = np.dot(vectors * values, vectors.T)
    for i in range(d):
        for j in range(i + 1):
            out[i, j] = product[i, j]
            out[j, i] = product[i, j]
