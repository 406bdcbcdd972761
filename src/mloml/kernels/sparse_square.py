"""OPML and OASIS on sparse rows: a square matrix of which only the features that rows have are looked up.

A step of OPML costs O(d non-zeros), one of OASIS O(non-zeros²); the matrix takes d² numbers all the same.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mloml.kernels.linalg.passes import LIMIT
from mloml.kernels.opml import split_push, weak_split
from mloml.kernels.simd import exact
from mloml.kernels.sparse import Places, Starts, longest_triplet, sparse_triplet
from mloml.kernels.stack.layout import FAILURES, UPDATES, WEAK

Array = NDArray[np.float64]
Counts = NDArray[np.int64]
Triplets = NDArray[np.intp]


@exact
def sparse_opml_scan(
    data: Array,
    indices: Places,
    starts: Starts,
    triplets: Triplets,
    L: Array,
    gamma: float,
    counters: Counts,
) -> int:
    """Run OPML over ``triplets`` of sparse rows in order, see :func:`mloml.kernels.opml.opml_scan`."""
    d = L.shape[0]
    longest = longest_triplet(starts, d)
    index, p, q = np.empty(longest, np.int32), np.empty(longest), np.empty(longest)
    u, v = np.empty(d), np.empty(d)
    for m in range(triplets.shape[0]):
        t, i, j = triplets[m, 0], triplets[m, 1], triplets[m, 2]
        n = sparse_triplet(data, indices, starts, t, i, j, index, p, q)
        hinge = 1.0 + sparse_products(L, index, p, q, n, u, v)
        if hinge <= 0.0:
            continue
        a, b, c = 0.0, 0.0, 0.0
        for k in range(n):
            a += p[k] * p[k]
            b += q[k] * q[k]
            c += p[k] * q[k]
        if not (hinge < LIMIT and a + b < LIMIT):
            return m
        push = split_push(a, b, c, gamma)
        den = (1.0 + gamma * a) * (1.0 - push * b) + gamma * push * c * c
        up, cross, vq = gamma * (1.0 - push * b) / den, gamma * push * c / den, push * (1.0 + gamma * a) / den
        for r in range(d):
            f = up * u[r] + cross * v[r]
            g = cross * u[r] - vq * v[r]
            for k in range(n):
                L[r, index[k]] -= f * p[k] + g * q[k]
        counters[UPDATES] += 1
        if push < gamma:
            counters[FAILURES] += 1
            counters[WEAK] += weak_split(a, b, c, gamma, push)
    return triplets.shape[0]


@exact
def sparse_products(L: Array, index: Places, p: Array, q: Array, n: int, u: Array, v: Array) -> float:
    """Set ``u = L p`` and ``v = L q``; return ``u'u - v'v``."""
    difference = 0.0
    for r in range(L.shape[0]):
        ur, vr = 0.0, 0.0
        for k in range(n):
            ur += L[r, index[k]] * p[k]
            vr += L[r, index[k]] * q[k]
        u[r], v[r] = ur, vr
        difference += ur * ur - vr * vr
    return difference


@exact
def sparse_oasis_scan(
    data: Array,
    indices: Places,
    starts: Starts,
    triplets: Triplets,
    W: Array,
    C: float,
    counters: Counts,
) -> int:
    """Run OASIS over ``triplets`` of sparse rows in order, see :func:`mloml.kernels.oasis.oasis_scan`."""
    longest = longest_triplet(starts, W.shape[0])
    index, r, same = np.empty(longest, np.int32), np.empty(longest), np.empty(longest)
    for m in range(triplets.shape[0]):
        i, j = triplets[m, 1], triplets[m, 2]
        n = sparse_triplet(data, indices, starts, i, j, j, index, r, same)  # r = xp - xq
        first, last = starts[triplets[m, 0]], starts[triplets[m, 0] + 1]
        loss, xx, rr = 1.0, 0.0, 0.0
        for k in range(n):
            rr += r[k] * r[k]
        for e in range(first, last):
            inner = 0.0
            for k in range(n):
                inner += W[indices[e], index[k]] * r[k]
            loss -= data[e] * inner
            xx += data[e] * data[e]
        if not (abs(loss) < LIMIT and xx * rr < LIMIT * LIMIT):
            return m
        if loss <= 0.0 or xx * rr <= 0.0:
            continue
        tau = min(C, loss / (xx * rr))
        for e in range(first, last):
            for k in range(n):
                W[indices[e], index[k]] += tau * data[e] * r[k]
        counters[UPDATES] += 1
    return triplets.shape[0]
