"""OPML's closed-form step ``L <- L (I + gamma A)^-1``, and a whole scan of it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mloml.kernels.compiled import kernel
from mloml.kernels.passes import differences, dot, products

Array = NDArray[np.float64]


@kernel
def opml_step(L: Array, p: Array, q: Array, u: Array, v: Array, gamma: float) -> bool:
    """Take one step on ``L`` in place; ``u = L p`` and ``v = L q`` are given.

    Returns False, with ``L`` untouched, when ``I + gamma A`` is not positive definite
    (``gamma q'q >= 1`` or a determinant ``<= 0``); unit rows with ``gamma < 1/4`` never get there.
    """
    a = dot(p, p)
    b = dot(q, q)
    c = dot(p, q)
    den = (1.0 + gamma * a) * (1.0 - gamma * b) + gamma * gamma * c * c
    if gamma * b >= 1.0 or den <= 0.0:
        return False
    k = gamma / den
    up = k * (1.0 - gamma * b)
    cross = k * gamma * c
    vq = k * (1.0 + gamma * a)
    for i in range(L.shape[0]):
        f = up * u[i] + cross * v[i]
        g = cross * u[i] - vq * v[i]
        for j in range(L.shape[1]):
            L[i, j] -= f * p[j] + g * q[j]
    return True


@kernel
def opml_scan(
    rows: Array, triplets: NDArray[np.intp], L: Array, gamma: float, counters: NDArray[np.int64]
) -> None:
    """Run OPML over ``triplets`` of ``rows`` in order; ``counters`` gains [updates, refused steps]."""
    d = L.shape[0]
    p, q, u, v = np.empty(d), np.empty(d), np.empty(d), np.empty(d)
    for k in range(triplets.shape[0]):
        t = triplets[k, 0]
        differences(rows, t, triplets[k, 1], p)
        differences(rows, t, triplets[k, 2], q)
        products(L, p, q, u, v)
        if 1.0 + dot(u, u) - dot(v, v) > 0.0:
            if opml_step(L, p, q, u, v, gamma):
                counters[0] += 1
            else:
                counters[1] += 1
