"""LMNN's objective compiled, and the whole descent over it.

A visit of all pairs (see ``impostors``) also lists those nearer than ``REACH`` times their margins. When all
rows have since grown by a factor c and moved by δ beside that, no two are nearer than ``c √D - δ_i - δ_l``:
while that excludes all pairs that are not listed, the listed ones are enough.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
from numpy.typing import NDArray

from mloml.kernels.compiled import kernel
from mloml.kernels.descent.lbfgs import EVALUATE, Memory, advance
from mloml.kernels.descent.margins import value_and_gradient
from mloml.kernels.lmnn_pairs import LISTED, Triples, visit_all, visit_listed

Array = NDArray[np.float64]
DENSE, SPARSE = 1, 2  # state: evaluations by all pairs and by listed ones


@kernel
def objective(A: Array, mu: float, p: Triples, gradient: Array) -> float:
    """Return LMNN's objective and fill its gradient with respect to A."""
    (n, K), m = p.targets.shape, p.Z.shape[1]
    d = A.shape[0]
    for a in range(d):
        for b in range(d):
            p.AT[b, a] = A[a, b]
    np.dot(p.X, p.AT, p.Z)
    for i in range(n):
        p.weights[i] = p.highest[i] = 0.0
        for a in range(m):
            p.Y[i, a] = 0.0
        for t in range(K):
            j = p.targets[i, t]
            s = p.margins[i]
            for a in range(m):
                s += (p.Z[i, a] - p.Z[j, a]) ** 2
            p.thresholds[t, i] = s
            p.highest[i] = max(p.highest[i], s)
            p.counts[t, i] = 0.0
    if list_is_complete(p):
        p.state[SPARSE] += 1
        visit_listed(p)
    else:
        p.state[DENSE] += 1
        visit_all(p)
    active = 0.0
    for i in range(n):
        for t in range(K):
            count = p.counts[t, i]
            if count > 0.0:
                active += count
                j = p.targets[i, t]
                p.weights[i] -= count
                p.weights[j] -= count
                for a in range(m):
                    p.Y[i, a] -= count * p.X[j, a]
    for i in range(n):
        for a in range(m):
            p.Y[i, a] -= 0.5 * p.weights[i] * p.X[i, a]
    np.dot(p.X.T, p.Y, p.padded_H)
    for a in range(d):
        for b in range(d):
            p.H[a, b] = p.padded_H[a, b]
    return value_and_gradient(A, mu, p.pull, p.H, active, p.S, gradient)


@kernel
def list_is_complete(p: Triples) -> bool:
    """Whether no pair can be active beside those listed."""
    if p.state[LISTED] < 0:
        return False
    n, m = p.Z.shape
    both, old = 0.0, 1e-300
    for i in range(n):
        for a in range(m):
            both += p.Z[i, a] * p.reference[i, a]
            old += p.reference[i, a] ** 2
    growth = max(0.0, both / old)
    farthest = 0.0
    for i in range(n):
        s = 0.0
        for a in range(m):
            s += (p.Z[i, a] - growth * p.reference[i, a]) ** 2
        p.moved[i] = sqrt(s)
        farthest = max(farthest, p.moved[i])
    for i in range(n):
        margin = p.highest[i]
        reached = growth * sqrt(p.reach[i]) * (1.0 - 1e-9) - p.moved[i] - farthest
        if margin > 0.0 and not reached >= sqrt(margin):
            return False
    return True


@kernel
def descent(
    A: Array, mu: float, p: Triples, memory: Memory, tol: float, max_iter: int, gradient: Array
) -> int:
    """Minimise :func:`objective` from A, in place; return how it ended, see ``lbfgs``."""
    x, slopes = A.reshape(A.size), gradient.reshape(A.size)
    status = EVALUATE
    while status == EVALUATE:
        status = advance(x, objective(A, mu, p, gradient), slopes, memory, tol, max_iter)
    return status
