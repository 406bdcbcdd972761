"""Compiled passes over pairs of rows of different classes, for LMNN.

Rows are sorted by class; ``starts[c]:starts[c + 1]`` are the rows of class c. A pair (i, l) is visited once,
with i in the earlier class, and serves both ways: l as impostor of i, and i as impostor of l. Its weight

    V_il = #{j in T(i): D_il < 1 + D_ij} + #{j in T(l): D_il < 1 + D_lj}

is all that the push term's gradient needs, so no triplet is ever stored:
``Σ_active C_il = Σ V_il C_il``, accumulated as row sums of V and as ``cross_i = Σ_l V_il x_l``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mloml.kernels.compiled import kernel

Array = NDArray[np.float64]
TILE = 128  # columns of the mapped and the input rows that stay in the first-level cache together


@kernel
def target_distances(Z: Array, targets: NDArray[np.intp], out: Array) -> None:
    """Fill ``out[t, i]`` with the squared distance of row i to its t-th target."""
    n, K = targets.shape
    for i in range(n):
        for t in range(K):
            j = targets[i, t]
            s = 0.0
            for a in range(Z.shape[1]):
                s += (Z[i, a] - Z[j, a]) ** 2
            out[t, i] = s


@kernel
def _tile_distances(z: Array, ZT: Array, first: int, last: int, D: Array) -> None:
    """Fill D with the squared distances of one mapped row to the rows ``first:last``."""
    m = last - first
    for b in range(m):
        D[b] = 0.0
    for a in range(z.size):
        za = z[a]
        row = ZT[a, first:last]
        for b in range(m):
            D[b] += (za - row[b]) ** 2


@kernel
def dense_pass(
    Z: Array,
    ZT: Array,
    XT: Array,
    starts: NDArray[np.intp],
    thresholds: Array,
    counts: Array,
    weights: Array,
    cross: Array,
) -> float:
    """Visit every pair; add to ``counts``, ``weights`` (row sums of V) and ``cross``; return the loss."""
    n_classes, K, d = starts.size - 1, thresholds.shape[0], Z.shape[1]
    D, V = np.empty(TILE), np.empty(TILE)
    loss = 0.0
    for c in range(n_classes - 1):
        for first in range(starts[c + 1], starts[n_classes], TILE):
            last = min(first + TILE, starts[n_classes])
            m = last - first
            for i in range(starts[c], starts[c + 1]):
                _tile_distances(Z[i], ZT, first, last, D)
                V[:m] = 0.0
                for t in range(K):
                    own = thresholds[t, i]
                    theirs = thresholds[t, first:last]
                    tallies = counts[t, first:last]
                    active_own = 0.0
                    for b in range(m):
                        h = own - D[b]
                        g = theirs[b] - D[b]
                        on = 1.0 if h > 0.0 else 0.0
                        there = 1.0 if g > 0.0 else 0.0
                        loss += on * h + there * g
                        active_own += on
                        tallies[b] += there
                        V[b] += on + there
                    counts[t, i] += active_own
                total = 0.0
                for b in range(m):
                    total += V[b]
                    weights[first + b] += V[b]
                if total > 0.0:
                    weights[i] += total
                    for a in range(d):
                        row = XT[a, first:last]
                        s = 0.0
                        for b in range(m):
                            s += V[b] * row[b]
                        cross[i, a] += s
    return loss


@kernel
def find_candidates(
    Z: Array,
    ZT: Array,
    starts: NDArray[np.intp],
    reach: Array,
    pointers: NDArray[np.int64],
    candidates: NDArray[np.int32],
) -> bool:
    """List, row by row, the pairs nearer than the larger reach of their rows; False if they do not fit."""
    n_classes = starts.size - 1
    D = np.empty(TILE)
    found = 0
    for c in range(n_classes):
        for i in range(starts[c], starts[c + 1]):
            pointers[i] = found
            for first in range(starts[c + 1], starts[n_classes], TILE):
                last = min(first + TILE, starts[n_classes])
                _tile_distances(Z[i], ZT, first, last, D)
                near = 0
                for b in range(last - first):
                    near += 1 if D[b] < max(reach[i], reach[first + b]) else 0
                if found + near > candidates.size:
                    return False
                if near > 0:
                    for b in range(last - first):
                        if D[b] < max(reach[i], reach[first + b]):
                            candidates[found] = first + b
                            found += 1
    pointers[starts[n_classes]] = found
    return True


@kernel
def sparse_pass(
    Z: Array,
    X: Array,
    thresholds: Array,
    pointers: NDArray[np.int64],
    candidates: NDArray[np.int32],
    counts: Array,
    weights: Array,
    cross: Array,
) -> float:
    """Do as :func:`dense_pass` over the listed pairs only."""
    (n, d), K = Z.shape, thresholds.shape[0]
    loss = 0.0
    for i in range(n):
        for e in range(pointers[i], pointers[i + 1]):
            l = candidates[e]  # noqa: E741 (the formula's symbol)
            D = 0.0
            for a in range(d):
                D += (Z[i, a] - Z[l, a]) ** 2
            v = 0.0
            for t in range(K):
                h = thresholds[t, i] - D
                if h > 0.0:
                    loss += h
                    counts[t, i] += 1.0
                    v += 1.0
                g = thresholds[t, l] - D
                if g > 0.0:
                    loss += g
                    counts[t, l] += 1.0
                    v += 1.0
            if v > 0.0:
                weights[i] += v
                weights[l] += v
                for a in range(d):
                    cross[i, a] += v * X[l, a]
    return loss
