"""MOML on the metric itself: ``M <- M - g A`` where the hinge is active, without any factor.

Whether a step leaves the cone cannot be read off ``M`` in O(d²). But ``lambda_min(M - g A) >= lambda_min(M)
- g lambda`` with ``lambda`` the positive eigenvalue of ``A``, which is known in closed form. So a certified
lower bound of ``lambda_min(M)`` is carried along, and only when it is used up is ``M`` factorised to renew
it. The policy `free` takes every step as it is and needs no bound.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from mloml.arrays import Array, Counts, Triplets
from mloml.kernels.linalg.cholesky import factorise, solve_transposed
from mloml.kernels.linalg.passes import symmetrise
from mloml.kernels.padding import WIDTH
from mloml.kernels.simd import exact, load, spread, store, times
from mloml.kernels.stack import layout as at
from mloml.kernels.stack.factors import CLIPPED, compose, eigen, relative_gram, subtract_triplet
from mloml.kernels.stack.frame import SHRINKAGE, largest_step
from mloml.kernels.stack.layers import LIMIT, passive_step
from mloml.kernels.stack.row_passes import fold_rows, map_rows
from mloml.kernels.stack.vectors import copy, gram, inner, take_triplet


@exact
def moml_scan(
    rows: Array,
    triplets: Triplets,
    M: Array,
    V: Array,
    bound: Array,
    counts: Counts,
    gamma: float,
    policy: int,
    variant: int,
    work: Array,
    d: int,
) -> int:
    """Run MOML over ``triplets`` in order; return how many were learned from (fewer: diverged).

    ``M`` (m, m) is changed in place, ``bound`` (1,) is the certified lower bound of its least eigenvalue,
    ``counts`` a layer's counters; ``V`` (ROWS, m) and ``work`` (2, m, m) are workspace.
    """
    m = V.shape[1]
    x, out = at.INPUT * m, at.OUTPUT * m
    done = 0
    for k in range(triplets.shape[0]):
        take_triplet(rows, triplets[k, 0], triplets[k, 1], triplets[k, 2], V, x)
        map_rows(M, 0, V, x, out, at.LEFT * m, at.RIGHT * m, counts[at.RANK], False, None, d)
        counts[at.RANK] = 0
        hinge = 1.0 + inner(V, x, out) - inner(V, x + m, out + m)
        if not abs(hinge) < LIMIT:
            break
        done += 1
        if hinge <= 0.0 or gamma <= 0.0:
            continue
        g = min(gamma, passive_step(V, x, hinge)) if variant == at.PASSIVE_AGGRESSIVE else gamma
        if policy != at.FREE:
            a, b, c = gram(V, x)
            s = a + b
            loss = 0.5 * g * (a - b + sqrt(max(0.0, (s - 2.0 * c) * (s + 2.0 * c))))
            if loss < bound[0]:
                bound[0] -= loss
            else:
                g = careful_step(M, V, bound, counts, g, policy, work, d)
        if g > 0.0:
            leave_waiting(V, counts, g)
    fold_rows(M, 0, V, at.LEFT * m, at.RIGHT * m, counts[at.RANK], d)
    counts[at.RANK] = 0
    symmetrise(M[:d, :d])
    return done


@exact
def leave_waiting(V: Array, counts: Counts, g: float) -> None:
    """Put ``-g p p' + g q q'`` where the next pass over M picks it up."""
    m = V.shape[1]
    copy(V, at.INPUT * m, at.RIGHT * m, 2)
    for j in range(0, m, WIDTH):
        store(V, at.LEFT * m + j, times(spread(-g), load(V, at.INPUT * m + j)))
        store(V, (at.LEFT + 1) * m + j, times(spread(g), load(V, (at.INPUT + 1) * m + j)))
    counts[at.RANK] = 2
    counts[at.UPDATES] += 1


@exact
def careful_step(
    M: Array, V: Array, bound: Array, counts: Counts, g: float, policy: int, work: Array, d: int
) -> float:
    """Look whether ``M - g A`` is positive definite, in O(d³), and renew the bound; return the step to take.

    The policy `clip` is carried out here, on ``M`` itself: the step that remains is then 0.
    """
    p, q, scratch = V[at.INPUT, :d], V[at.INPUT + 1, :d], V[at.SPARE : at.SPARE + 3]
    trial, R = work[0], work[1]
    subtract_triplet(M, p, q, g, trial)
    if not factorise(trial, R, d):
        counts[at.FAILURES] += 1
        if policy == at.CLIP:
            values, vectors = eigen(trial, d)
            compose(vectors, np.maximum(values, CLIPPED), M)
            bound[0] = 0.5 * CLIPPED
            counts[at.UPDATES] += 1
            return 0.0
        if policy != at.SHRINK or not factorise(M, R, d):
            refuse(counts)
            return 0.0
        a, b, c = relative_gram(R, p, q, scratch)
        g = SHRINKAGE * largest_step(a, b, c)
        subtract_triplet(M, p, q, g, trial)
        if not factorise(trial, R, d):
            refuse(counts)
            return 0.0
    bound[0] = certified_bound(trial, R, scratch, d)
    return g


@exact
def refuse(counts: Counts) -> None:
    """Count an active step that is not taken."""
    counts[at.REFUSED] += 1
    counts[at.WEAK] += 1


@exact
def certified_bound(M: Array, R: Array, scratch: Array, d: int) -> float:
    """Return a number that the least eigenvalue of ``M = R'R`` exceeds for sure; ``R`` is overwritten.

    Inverse iteration says how far one may go, a Cholesky factor of ``M - bound I`` proves it.
    """
    x, y = scratch[1, :d], scratch[2, :d]
    for j in range(d):
        x[j] = 1.0 / sqrt(d)
    least = 0.0
    for _ in range(6):
        solve_transposed(R, x, y)
        for k in range(d - 1, -1, -1):
            total = y[k]
            for j in range(k + 1, d):
                total -= R[k, j] * x[j]
            x[k] = total / R[k, k]
        norm = 0.0
        for j in range(d):
            norm += x[j] * x[j]
        norm = sqrt(norm)
        least = 1.0 / norm
        for j in range(d):
            x[j] /= norm
    bound = 0.8 * least
    while bound > 0.1 * CLIPPED:
        for j in range(d):
            M[j, j] -= bound
        proven = factorise(M, R, d)
        for j in range(d):
            M[j, j] += bound
        if proven:
            return bound
        bound *= 0.25
    return 0.0
