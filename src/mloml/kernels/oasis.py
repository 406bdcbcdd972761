"""OASIS's passive-aggressive step on the bilinear similarity ``W``, and a whole scan of it."""

from __future__ import annotations

import numpy as np

from mloml.arrays import Array, Counts, Triplets
from mloml.kernels.compiled import kernel
from mloml.kernels.linalg.passes import LIMIT, differences, dot
from mloml.kernels.stack.layout import UPDATES


@kernel
def bilinear(W: Array, x: Array, r: Array) -> float:
    """Return ``x' W r``."""
    total = 0.0
    for i in range(W.shape[0]):
        inner = 0.0
        for j in range(W.shape[1]):
            inner += W[i, j] * r[j]
        total += x[i] * inner
    return total


@kernel
def oasis_step(W: Array, x: Array, r: Array, C: float) -> int:
    """Take one step on ``W`` in place, with ``r = xp - xq``; return 1, or 0 when there was nothing to learn.

    Returns -1, with ``W`` untouched, when the numbers are beyond all bounds.
    """
    loss = 1.0 - bilinear(W, x, r)
    square = dot(x, x) * dot(r, r)
    if not (abs(loss) < LIMIT and square < LIMIT * LIMIT):
        return -1
    if loss <= 0.0 or square <= 0.0:
        return 0
    tau = min(C, loss / square)
    for i in range(W.shape[0]):
        f = tau * x[i]
        for j in range(W.shape[1]):
            W[i, j] += f * r[j]
    return 1


@kernel
def oasis_scan(rows: Array, triplets: Triplets, W: Array, C: float, counters: Counts) -> int:
    """Run OASIS over ``triplets`` of ``rows`` in order; return how many were seen (fewer: diverged).

    ``counters`` gains updates.
    """
    r = np.empty(W.shape[0])
    for k in range(triplets.shape[0]):
        differences(rows, triplets[k, 1], triplets[k, 2], r)
        taken = oasis_step(W, rows[triplets[k, 0]], r, C)
        if taken < 0:
            return k
        counters[UPDATES] += taken
    return triplets.shape[0]
