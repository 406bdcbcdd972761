"""MOML's step on a diagonal metric ``M = diag(w)``, and whole scans of it over dense and sparse rows.

Restricted to diagonal ``M`` the objective (Eq. 4) reads ::

    min_w  1/2 ||w - w_prev||² + gamma [1 + sum_i w_i (p_i² - q_i²)]+

because ``tr(M A)`` sees only the diagonal of ``A = p p' - q q'``. Where the hinge at ``w_prev`` is positive,
the step along its gradient is ``w_i = w_prev_i + gamma q_i² - gamma p_i²``: a push and a pull on each weight.
The split rule takes the whole push and shortens the pull, here one weight at a time. With
``w+ = w_prev_i + gamma q_i²`` and ``s = p_i² / w+`` it is ``g_p = max(0, min(gamma, (1 - keep)/s, 1/s -
floor/p_i²))``, which in terms of the new weight says ::

    w_i = max(w+ - gamma p_i²,  keep w+,  min(w+, floor))

So weights, which start at 1, never fall below ``floor``; for ``floor = keep = 0`` this is the exact minimiser
under ``w >= 0`` of the objective with the hinge taken as linear, since the problem falls apart by weight.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mloml.kernels.linalg.passes import LIMIT
from mloml.kernels.simd import exact
from mloml.kernels.sparse import Places, Starts, dense_triplet, longest_triplet, sparse_triplet
from mloml.kernels.stack.layout import FAILURES, PASSIVE_AGGRESSIVE, UPDATES, WEAK, WEAK_SHARE

Array = NDArray[np.float64]
Counts = NDArray[np.int64]
Triplets = NDArray[np.intp]


@exact
def diagonal_step(
    w: Array,
    index: Places,
    p: Array,
    q: Array,
    n: int,
    gamma: float,
    keep: float,
    floor: float,
    variant: int,
    counts: Counts,
) -> bool:
    """Learn from a triplet with ``n`` entries, that of ``p[k]`` and ``q[k]`` being feature ``index[k]``.

    Returns False, with nothing changed, when the numbers are beyond all bounds.
    """
    hinge, size, lengths = 1.0, 0.0, 0.0
    for k in range(n):
        pull, push = p[k] * p[k], q[k] * q[k]
        hinge += w[index[k]] * (pull - push)
        size += (pull - push) ** 2
        lengths += pull + push
    if not (abs(hinge) < LIMIT and lengths < LIMIT):  # long rows may cancel in the hinge
        return False
    if hinge <= 0.0 or gamma <= 0.0:
        return True
    g = min(gamma, hinge / size) if variant == PASSIVE_AGGRESSIVE and size > 0.0 else gamma
    asked, taken, shortened = 0.0, 0.0, False
    for k in range(n):
        old = w[index[k]]
        pushed = old + g * q[k] * q[k]
        least = max(keep * pushed, min(pushed, floor))
        new = pushed - g * p[k] * p[k]
        asked += (new - old) ** 2
        if new < least:
            new = least
            shortened = True
        taken += (new - old) ** 2
        w[index[k]] = new
    counts[UPDATES] += 1
    counts[FAILURES] += shortened
    counts[WEAK] += taken < WEAK_SHARE * WEAK_SHARE * asked
    return True


@exact
def diagonal_scan(
    rows: Array,
    triplets: Triplets,
    w: Array,
    gamma: float,
    keep: float,
    floor: float,
    variant: int,
    counts: Counts,
) -> int:
    """Run over ``triplets`` of dense ``rows`` in order; return how many were seen (fewer: diverged)."""
    d = w.shape[0]
    index, p, q = np.arange(d).astype(np.int32), np.empty(d), np.empty(d)
    for k in range(triplets.shape[0]):
        n = dense_triplet(rows, triplets[k, 0], triplets[k, 1], triplets[k, 2], p, q)
        if not diagonal_step(w, index, p, q, n, gamma, keep, floor, variant, counts):
            return k
    return triplets.shape[0]


@exact
def sparse_diagonal_scan(
    data: Array,
    indices: Places,
    starts: Starts,
    triplets: Triplets,
    w: Array,
    gamma: float,
    keep: float,
    floor: float,
    variant: int,
    counts: Counts,
) -> int:
    """Do the same for sparse rows: row i has ``data[starts[i]:starts[i + 1]]`` at these ``indices``."""
    longest = longest_triplet(starts, w.shape[0])
    index, p, q = np.empty(longest, np.int32), np.empty(longest), np.empty(longest)
    for k in range(triplets.shape[0]):
        t, i, j = triplets[k, 0], triplets[k, 1], triplets[k, 2]
        n = sparse_triplet(data, indices, starts, t, i, j, index, p, q)
        if not diagonal_step(w, index, p, q, n, gamma, keep, floor, variant, counts):
            return k
    return triplets.shape[0]
