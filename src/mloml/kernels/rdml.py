"""RDML's perceptron step on the metric ``M`` itself, and a whole scan of it."""

from __future__ import annotations

import numpy as np

from mloml.arrays import Array, Counts, Triplets
from mloml.kernels.compiled import kernel
from mloml.kernels.linalg.passes import LIMIT, differences, dot, product, symmetrise
from mloml.kernels.linalg.projection import NONE, UNDONE, subtract_and_project
from mloml.kernels.stack.layout import FAILURES, UPDATES, WEAK


@kernel
def satisfied(M: Array, z: Array, w: Array, similar: bool) -> bool:
    """Say whether the pair lies on its side of the threshold 1; ``w`` becomes ``M z``."""
    product(M, z, w)
    distance = dot(z, w)
    return distance < 1.0 if similar else distance > 1.0


@kernel
def add_term(M: Array, z: Array, lam: float) -> None:
    """Set ``M += lam z z'``: the step of a dissimilar pair, which never leaves the cone, for ``lam > 0``."""
    for i in range(M.shape[0]):
        for j in range(M.shape[1]):
            M[i, j] += lam * (z[i] * z[j])


@kernel
def rdml_step(M: Array, z: Array, w: Array, similar: bool, lam: float) -> int:
    """Take one step on ``M`` in place; return 0 (unchanged), 1 (updated) or 2 (updated and projected).

    ``w`` (d,) becomes ``M z``. A similar pair that is too far allocates the workspace of the projection.
    """
    if satisfied(M, z, w, similar):
        return 0
    if similar:
        d = z.shape[0]
        projected = subtract_and_project(M, z, lam, np.empty((d + 1, d)), np.empty((4, d + 1)))
        return 1 if projected == NONE else 2
    add_term(M, z, lam)
    return 1


@kernel
def rdml_scan(
    rows: Array,
    triplets: Triplets,
    M: Array,
    adjacent: bool,
    project: bool,
    lam: float,
    counters: Counts,
) -> int:
    """Run RDML over the pairs of ``triplets`` in order; return how many triplets were seen (fewer: diverged).

    ``counters`` gains updates, failures (projections) and weak steps, of which the projection left nothing.

    Each triplet gives (x, xp, similar), then (x, xq, dissimilar); with ``adjacent`` only the pair of the two
    samples that stand next to each other in the stream. ``rows`` are in stream order. Without ``project``
    the step of a similar pair may leave the cone.
    """
    d = M.shape[0]
    z, w = np.empty(d), np.empty(d)
    basis, work = np.empty((d + 1, d)), np.empty((4, d + 1))
    for k in range(triplets.shape[0]):
        for side in range(1, 3):
            if adjacent and triplets[k, side] < triplets[k, 3 - side]:
                continue
            differences(rows, triplets[k, 0], triplets[k, side], z)
            fulfilled = satisfied(M, z, w, side == 1)
            if not abs(dot(z, w)) + lam * dot(z, z) < LIMIT:
                symmetrise(M)
                return k
            if fulfilled:
                continue
            counters[UPDATES] += 1
            if side == 2:
                add_term(M, z, lam)
            elif not project:
                add_term(M, z, -lam)
            else:
                projected = subtract_and_project(M, z, lam, basis, work)
                counters[FAILURES] += projected != NONE
                counters[WEAK] += projected == UNDONE
    symmetrise(M)
    return triplets.shape[0]
