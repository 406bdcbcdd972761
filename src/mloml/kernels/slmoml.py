"""SLMOML's passive-aggressive LogDet step on the metric ``M``, and a whole scan of it."""

from __future__ import annotations

from math import inf, sqrt

import numpy as np

from mloml.arrays import Array, Counts, Triplets
from mloml.kernels.compiled import kernel
from mloml.kernels.linalg.passes import LIMIT, differences, dot, products, symmetrise
from mloml.kernels.stack.layout import UPDATES


@kernel
def step_length(a: float, b: float, c: float, C: float, margin: float) -> float:
    """Return ``tau``: the length that brings the hinge to 0, at most ``C``; 0 when the hinge is inactive.

    ``a = p'Mp``, ``b = q'Mq``, ``c = p'Mq``. With ``s = a - b`` and ``g = ab - c²`` the trace ``tr(M A)``
    after a step is ``(s - 2 tau g) / (1 + tau s - tau² g)``; it is ``-margin`` at a root of a quadratic.
    """
    s = a - b
    hinge = margin + s
    if hinge <= 0.0:
        return 0.0
    g = max(a * b - c * c, 0.0)  # not negative but for rounding
    linear = 2.0 * g - margin * s
    denominator = linear + sqrt(linear * linear + 4.0 * margin * g * hinge)
    zeroing = 2.0 * hinge / denominator if denominator > 0.0 else inf
    return min(C, zeroing)


@kernel
def slmoml_step(M: Array, P: Array, Q: Array, a: float, b: float, c: float, tau: float) -> None:
    """Set ``M`` to the inverse of ``M^-1 + tau A``; ``P = M p``, ``Q = M q`` and their products are given."""
    k = tau / (1.0 + tau * (a - b) - tau * tau * max(a * b - c * c, 0.0))
    pp = k * (1.0 - tau * b)
    qq = k * (1.0 + tau * a)
    pq = k * tau * c
    for i in range(M.shape[0]):
        f = pp * P[i] + pq * Q[i]
        g = pq * P[i] - qq * Q[i]
        for j in range(M.shape[1]):
            M[i, j] -= f * P[j] + g * Q[j]


@kernel
def slmoml_scan(rows: Array, triplets: Triplets, M: Array, C: float, margin: float, counters: Counts) -> int:
    """Run SLMOML over ``triplets`` of ``rows`` in order; return how many were seen (fewer: diverged).

    ``counters`` gains updates.
    """
    d = M.shape[0]
    p, q, P, Q = np.empty(d), np.empty(d), np.empty(d), np.empty(d)
    seen = 0
    for k in range(triplets.shape[0]):
        t = triplets[k, 0]
        differences(rows, t, triplets[k, 1], p)
        differences(rows, t, triplets[k, 2], q)
        products(M, p, q, P, Q)
        a, b, c = dot(p, P), dot(q, Q), dot(p, Q)
        if not abs(a) + abs(b) < LIMIT:
            break
        tau = step_length(a, b, c, C, margin)
        if tau > 0.0:
            slmoml_step(M, P, Q, a, b, c, tau)
            counters[UPDATES] += 1
        seen += 1
    symmetrise(M)
    return seen
