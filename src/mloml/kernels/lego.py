"""LEGO's LogDet step on the factor ``L`` of the metric, and a whole scan of it."""

from __future__ import annotations

from math import sqrt

import numpy as np

from mloml.arrays import Array, Counts, Triplets
from mloml.kernels.compiled import kernel
from mloml.kernels.linalg.passes import (
    LIMIT,
    differences,
    dot,
    products_and_back,
    subtract_rank_one,
    subtract_rank_two,
)
from mloml.kernels.stack.layout import REFUSED, UPDATES, WEAK

SMALLEST_DISTANCE = 1e-12
"""A pair nearer than this (squared) has no direction to learn from."""


@kernel
def new_distance(old: float, target: float, eta: float) -> float:
    """Return the squared distance after the step: the positive root, in its cancellation-free form."""
    linear = 1.0 - eta * target * old
    root = sqrt(linear * linear + 4.0 * eta * old * old)
    if linear > 0.0:
        return 2.0 * old / (linear + root)
    return (root - linear) / (2.0 * eta * old)


@kernel
def shrinkage(old: float, target: float, eta: float) -> float:
    """Return ``k`` of the factor update ``L <- L - k (L z)(M z)'``."""
    new = new_distance(old, target, eta)
    # k = (1 - ratio) / old, and 1 + c old = old / new: no nearly equal numbers are subtracted
    ratio = sqrt(new / old)
    return eta * (new - target) * (new / old) / (1.0 + ratio)


@kernel
def lego_step(L: Array, z: Array, u: Array, w: Array, target: float, eta: float) -> bool:
    """Move the squared distance of one pair towards ``target``; ``u = L z`` is given, ``w`` is workspace.

    Returns False, with ``L`` untouched, when the pair coincides under the metric.
    """
    old = dot(u, u)
    if old < SMALLEST_DISTANCE:
        return False
    for j in range(L.shape[1]):
        w[j] = 0.0
    for i in range(L.shape[0]):
        ui = u[i]
        for j in range(L.shape[1]):
            w[j] += ui * L[i, j]
    subtract_rank_one(L, shrinkage(old, target, eta), u, w)
    return True


@kernel
def lego_scan(
    rows: Array,
    triplets: Triplets,
    L: Array,
    lower: float,
    upper: float,
    gate: bool,
    eta: float,
    counters: Counts,
) -> int:
    """Run LEGO over the pairs of ``triplets`` in order; return how many triplets were seen (fewer: diverged).

    ``counters`` gains updates, and refused (weak) steps: pairs too near under the metric, but not the same.

    Each triplet gives (x, xp), aimed at ``lower``, then (x, xq), aimed at ``upper``. With ``gate`` a pair is
    moved only when it violates its target. Both pairs are measured in one pass over ``L``; what the first
    step changes for the second pair follows from vectors, and both steps are applied in a second pass.
    """
    d = L.shape[0]
    z, u, w = np.empty(d), np.empty(d), np.empty(d)
    zq, uq, wq = np.empty(d), np.empty(d), np.empty(d)
    if not upper < LIMIT:
        return 0
    for n in range(triplets.shape[0]):
        t = triplets[n, 0]
        differences(rows, t, triplets[n, 1], z)
        differences(rows, t, triplets[n, 2], zq)
        products_and_back(L, z, zq, u, uq, w, wq)
        k = 0.0
        old = dot(u, u)
        if not old + dot(uq, uq) < LIMIT:
            return n
        if old < SMALLEST_DISTANCE:
            note_refusal(z, counters)
        elif not (gate and old <= lower):
            k = shrinkage(old, lower, eta)
            counters[UPDATES] += 1
            after_first_step(k, zq, u, w, uq, wq)
        kq = 0.0
        old = dot(uq, uq)
        if old < SMALLEST_DISTANCE:
            note_refusal(zq, counters)
        elif not (gate and old >= upper):
            kq = shrinkage(old, upper, eta)
            counters[UPDATES] += 1
        for i in range(d):
            u[i] *= k
            uq[i] *= kq
        subtract_rank_two(L, u, uq, w, wq)
    return triplets.shape[0]


@kernel
def note_refusal(z: Array, counters: Counts) -> None:
    """Count a pair that is too near to learn from, unless its samples are one and the same."""
    for j in range(z.shape[0]):
        if z[j] != 0.0:
            counters[REFUSED] += 1
            counters[WEAK] += 1
            break


@kernel
def after_first_step(k: float, zq: Array, u: Array, w: Array, uq: Array, wq: Array) -> None:
    """Turn ``uq = L zq`` and ``wq = L'L zq`` into what they are once ``k u w'`` has been taken from ``L``."""
    along_w = k * dot(w, zq)
    for i in range(u.shape[0]):
        uq[i] -= along_w * u[i]
    along_u = along_w + k * dot(u, uq)
    for i in range(u.shape[0]):
        wq[i] -= along_u * w[i]
