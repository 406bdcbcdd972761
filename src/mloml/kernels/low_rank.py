"""The closed-form step on a factor ``L`` of k rows, and whole scans of it over dense and sparse rows.

With ``M = L'L`` of rank k, ``p = x - xp``, ``q = x - xq`` and ``A = p p' - q q'``, the objective is ::

    min_L  1/2 ||L - L_prev||²_F + gamma/4 [1 + tr(L A L')]+

Where the hinge at ``L_prev`` is positive, its active side has the gradient ``L - L_prev + gamma/2 L A``,
which is zero at ``L = L_prev (I + gamma/2 A)^-1``. With orthonormal rows of ``L_prev`` that is, to first
order in gamma, MOML's step ``M - gamma A`` seen from the span of these rows: hence the weight 1/4. ``A`` has
rank 2, so the inverse is written out, and the step adds two outer products: ``L <- L - f p' - g q'`` with f
and g combinations of ``L p`` and ``L q``. Only features that a row of the triplet has are touched, and p and
q bring new directions into the span of ``L``.

The pull on p is a contraction, whatever its length; the push along q is shortened as
:mod:`mloml.kernels.opml` does it, with ``gamma/2`` in place of gamma, so that the inverse exists and is
bounded. Multiplying by an invertible matrix keeps the rank of ``L``: it does not collapse.

``W`` is ``L'``, (d, k): a feature's k numbers lie side by side.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mloml.kernels.linalg.passes import LIMIT
from mloml.kernels.opml import split_push, weak_split
from mloml.kernels.simd import exact
from mloml.kernels.sparse import Places, Starts, dense_triplet, longest_triplet, sparse_triplet
from mloml.kernels.stack.layout import FAILURES, UPDATES, WEAK

Array = NDArray[np.float64]
Counts = NDArray[np.int64]
Triplets = NDArray[np.intp]


@exact
def low_rank_step(
    W: Array, index: Places, p: Array, q: Array, n: int, room: Array, gamma: float, counts: Counts
) -> bool:
    """Learn from a triplet with ``n`` entries, that of ``p[m]`` and ``q[m]`` being feature ``index[m]``.

    ``room`` (2, k) is workspace. Returns False, with nothing changed, beyond all bounds.
    """
    k = W.shape[1]
    u, v = room[0], room[1]
    a, b, c = 0.0, 0.0, 0.0
    u[:] = 0.0
    v[:] = 0.0
    for m in range(n):
        pm, qm, row = p[m], q[m], index[m]
        a += pm * pm
        b += qm * qm
        c += pm * qm
        for r in range(k):
            u[r] += pm * W[row, r]
            v[r] += qm * W[row, r]
    hinge = 1.0
    for r in range(k):
        hinge += u[r] * u[r] - v[r] * v[r]
    if not (abs(hinge) < LIMIT and a + b < LIMIT):
        return False
    if hinge <= 0.0 or gamma <= 0.0:
        return True
    g = 0.5 * gamma
    push = split_push(a, b, c, g)
    den = (1.0 + g * a) * (1.0 - push * b) + g * push * c * c
    up, cross, vq = g * (1.0 - push * b) / den, g * push * c / den, push * (1.0 + g * a) / den
    for r in range(k):
        f = up * u[r] + cross * v[r]
        v[r] = cross * u[r] - vq * v[r]
        u[r] = f
    for m in range(n):
        pm, qm, row = p[m], q[m], index[m]
        for r in range(k):
            W[row, r] -= pm * u[r] + qm * v[r]
    counts[UPDATES] += 1
    if push < g:
        counts[FAILURES] += 1
        counts[WEAK] += weak_split(a, b, c, g, push)
    return True


@exact
def low_rank_scan(
    rows: Array, triplets: Triplets, W: Array, gamma: float, outputs: Array, counts: Counts
) -> int:
    """Run over ``triplets`` of dense ``rows`` in order; return how many were seen (fewer: diverged).

    ``outputs`` (triplets, 3, k) gains what the three samples are mapped to after each step, for the next
    layer; with no room in it, nothing.
    """
    d, k = W.shape
    index, p, q, room = np.arange(d).astype(np.int32), np.empty(d), np.empty(d), np.empty((2, k))
    for m in range(triplets.shape[0]):
        n = dense_triplet(rows, triplets[m, 0], triplets[m, 1], triplets[m, 2], p, q)
        if not low_rank_step(W, index, p, q, n, room, gamma, counts):
            return m
        if outputs.shape[0] > 0:
            for side in range(3):
                row = triplets[m, side]
                map_row(W, rows[row], index, d, outputs[m, side])
    return triplets.shape[0]


@exact
def sparse_low_rank_scan(
    data: Array,
    indices: Places,
    starts: Starts,
    triplets: Triplets,
    W: Array,
    gamma: float,
    outputs: Array,
    counts: Counts,
) -> int:
    """Do the same for sparse rows: row i has ``data[starts[i]:starts[i + 1]]`` at these ``indices``."""
    longest = longest_triplet(starts, W.shape[0])
    index, p, q = np.empty(longest, np.int32), np.empty(longest), np.empty(longest)
    room = np.empty((2, W.shape[1]))
    for m in range(triplets.shape[0]):
        t, i, j = triplets[m, 0], triplets[m, 1], triplets[m, 2]
        n = sparse_triplet(data, indices, starts, t, i, j, index, p, q)
        if not low_rank_step(W, index, p, q, n, room, gamma, counts):
            return m
        if outputs.shape[0] > 0:
            for side in range(3):
                first, last = starts[triplets[m, side]], starts[triplets[m, side] + 1]
                map_row(W, data[first:last], indices[first:last], last - first, outputs[m, side])
    return triplets.shape[0]


@exact
def map_row(W: Array, x: Array, index: Places, n: int, z: Array) -> None:
    """Set ``z = L x``, x with ``n`` entries at these features."""
    z[:] = 0.0
    for m in range(n):
        for r in range(W.shape[1]):
            z[r] += x[m] * W[index[m], r]
