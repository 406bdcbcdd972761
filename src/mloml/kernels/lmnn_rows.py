"""What an evaluation of LMNN's objective does row by row, before and after its pairs are visited.

Beside a list of pairs this is no small part of the work, and the larger one on a few hundred rows.
"""

from __future__ import annotations

from math import sqrt

from mloml.kernels.eights import WIDE, fma, load, minus, spread, store, total
from mloml.kernels.lmnn_pairs import LISTED, Triples
from mloml.kernels.wide import borrowing


@borrowing
def set_thresholds(p: Triples) -> None:
    """Set how near a pair must be to be active, from the mapped rows; all sums over pairs to zero."""
    (n, K), m = p.targets.shape, p.Z.shape[1]
    zero = spread(0.0)
    for i in range(n):
        highest = 0.0
        for t in range(K):
            j = p.targets[i, t]
            squares = zero
            for a in range(0, m, WIDE):
                apart = minus(load(p.Z, i * m + a), load(p.Z, j * m + a))
                squares = fma(apart, apart, squares)
            s = p.margins[i] + total(squares)
            p.levels[i, t] = s
            p.tallies[i, t] = 0.0
            highest = max(highest, s)
        p.highest[i] = highest
        p.weights[i] = 0.0
        for a in range(0, m, WIDE):
            store(p.Y, i * m + a, zero)


@borrowing
def add_targets(p: Triples) -> float:
    """Add the targets' part of the active triplets to Y, and that of the row sums; return their number."""
    (n, K), m = p.targets.shape, p.Z.shape[1]
    active = 0.0
    for i in range(n):
        for t in range(K):
            count = p.tallies[i, t]
            if count > 0.0:
                active += count
                j = p.targets[i, t]
                p.weights[i] -= count
                p.weights[j] -= count
                share = spread(-count)
                for a in range(0, m, WIDE):
                    store(p.Y, i * m + a, fma(share, load(p.X, j * m + a), load(p.Y, i * m + a)))
    for i in range(n):
        share = spread(-0.5 * p.weights[i])
        for a in range(0, m, WIDE):
            store(p.Y, i * m + a, fma(share, load(p.X, i * m + a), load(p.Y, i * m + a)))
    return active


@borrowing
def list_is_complete(p: Triples) -> bool:
    """Whether no pair can be active beside those listed."""
    if p.state[LISTED] < 0:
        return False
    n, m = p.Z.shape
    both = old = spread(0.0)
    for at in range(0, n * m, WIDE):
        reference = load(p.reference, at)
        both, old = fma(load(p.Z, at), reference, both), fma(reference, reference, old)
    growth = max(0.0, total(both) / (total(old) + 1e-300))
    shrunk = spread(-growth)
    farthest = 0.0
    for i in range(n):
        squares = spread(0.0)
        for a in range(0, m, WIDE):
            moved = fma(shrunk, load(p.reference, i * m + a), load(p.Z, i * m + a))
            squares = fma(moved, moved, squares)
        p.moved[i] = sqrt(total(squares))
        farthest = max(farthest, p.moved[i])
    for i in range(n):
        margin = p.highest[i]
        reached = growth * sqrt(p.reach[i]) * (1.0 - 1e-9) - p.moved[i] - farthest
        if margin > 0.0 and not reached >= sqrt(margin):
            return False
    return True
