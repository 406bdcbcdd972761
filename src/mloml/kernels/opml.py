"""OPML's closed-form step on the factor ``L``, and a whole scan of it.

A step draws ``p`` together and pushes ``q`` apart: ``L <- L (I + gamma p p' - g_q q q')^-1``. The bracket is
positive definite while ``g_q s' < 1``, with ``s' = q'(I + gamma p p')^-1 q = b - gamma c² / (1 + gamma a)``
and ``a = p'p``, ``b = q'q``, ``c = p'q``. So the push is ``g_q = min(gamma, (1 - KEPT) / s')``: the whole of
it wherever rows have a length near 1, and a part of it where they are long, but never no step at all.
"""

from __future__ import annotations

import numpy as np

from mloml.arrays import Array, Counts, Triplets
from mloml.kernels.compiled import kernel
from mloml.kernels.linalg.passes import LIMIT, differences, dot, products
from mloml.kernels.simd import exact
from mloml.kernels.stack.layout import FAILURES, UPDATES, WEAK, WEAK_SHARE

KEPT = 0.1
"""What a push leaves of the determinant of ``I + gamma p p'`` at least: it grows ``L`` tenfold at most."""

FULL, SHORTENED, HARDLY, BEYOND = range(4)
"""What became of a step: taken in full, with a shorter push, hardly at all, or numbers beyond all bounds."""


@exact
def split_push(a: float, b: float, c: float, gamma: float) -> float:
    """Return ``g_q``; ``s'`` is written without cancellation, ``(b + gamma (ab - c²)) / (1 + gamma a)``."""
    pulled = 1.0 + gamma * a
    s = b + gamma * max(0.0, a * b - c * c)
    return gamma if gamma * s <= (1.0 - KEPT) * pulled else (1.0 - KEPT) * pulled / s


@exact
def weak_split(a: float, b: float, c: float, gamma: float, push: float) -> bool:
    """Say whether ``gamma p p' - g_q q q'`` is a small share of ``gamma A`` (Frobenius norms)."""
    taken = gamma * gamma * a * a + push * push * b * b - 2.0 * gamma * push * c * c
    asked = gamma * gamma * (a * a + b * b - 2.0 * c * c)
    return taken < WEAK_SHARE * WEAK_SHARE * asked


@kernel
def opml_step(L: Array, p: Array, q: Array, u: Array, v: Array, gamma: float) -> int:
    """Take one step on ``L`` in place; ``u = L p`` and ``v = L q`` are given. Returns what became of it."""
    a = dot(p, p)
    b = dot(q, q)
    c = dot(p, q)
    den = (1.0 + gamma * a) * (1.0 - gamma * b) + gamma * gamma * c * c
    if not (gamma * b < 1.0 - KEPT and a < LIMIT):  # s' is at most b
        return long_step(L, p, q, u, v, gamma, a, b, c)
    k = gamma / den
    up = k * (1.0 - gamma * b)
    cross = k * gamma * c
    vq = k * (1.0 + gamma * a)
    for i in range(L.shape[0]):
        f = up * u[i] + cross * v[i]
        g = cross * u[i] - vq * v[i]
        for j in range(L.shape[1]):
            L[i, j] -= f * p[j] + g * q[j]
    return FULL


@exact
def long_step(
    L: Array, p: Array, q: Array, u: Array, v: Array, gamma: float, a: float, b: float, c: float
) -> int:
    """Take a step whose push may have to be shortened; the three products of ``p`` and ``q`` are given."""
    if not a + b < LIMIT:
        return BEYOND
    push = split_push(a, b, c, gamma)
    pulled = 1.0 + gamma * a
    den = KEPT * pulled if push < gamma else pulled * (1.0 - gamma * b) + gamma * gamma * c * c
    up, cross, vq = gamma * (1.0 - push * b) / den, gamma * push * c / den, push * pulled / den
    for i in range(L.shape[0]):
        f = up * u[i] + cross * v[i]
        g = cross * u[i] - vq * v[i]
        for j in range(L.shape[1]):
            L[i, j] -= f * p[j] + g * q[j]
    if push == gamma:
        return FULL
    return HARDLY if weak_split(a, b, c, gamma, push) else SHORTENED


@kernel
def opml_scan(rows: Array, triplets: Triplets, L: Array, gamma: float, counters: Counts) -> int:
    """Run OPML over ``triplets`` of ``rows`` in order; return how many were seen (fewer: diverged).

    ``counters`` gains updates, failures (shortened pushes) and weak steps.
    """
    d = L.shape[0]
    p, q, u, v = np.empty(d), np.empty(d), np.empty(d), np.empty(d)
    for k in range(triplets.shape[0]):
        t = triplets[k, 0]
        differences(rows, t, triplets[k, 1], p)
        differences(rows, t, triplets[k, 2], q)
        products(L, p, q, u, v)
        hinge = 1.0 + dot(u, u) - dot(v, v)
        if not hinge <= 0.0:  # not a number: beyond all bounds as well
            if not hinge < LIMIT:
                return k
            became = opml_step(L, p, q, u, v, gamma)
            if became == BEYOND:
                return k
            counters[UPDATES] += 1
            counters[FAILURES] += became != FULL
            counters[WEAK] += became == HARDLY
    return triplets.shape[0]
