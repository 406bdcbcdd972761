"""All pairs of rows of different classes, visited once: what LMNN's push term costs.

Rows are sorted by class, each class filled up to a multiple of ``BLOCK`` rows, with rows that are no data. A
pair (i, l) is visited once, with i in the earlier class, and serves both ways: l as impostor of i, and i as
impostor of l. Its weight

    V_il = #{j in T(i): D_il < 1 + D_ij} + #{j in T(l): D_il < 1 + D_lj}

is all that the push term needs, so no triplet is ever stored: ``Σ_active C_il = Σ V_il C_il``, accumulated as
row sums of V and as ``Y_i = Σ_l V_il x_l``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mloml.kernels.padding import WIDTH
from mloml.kernels.simd import (
    choose,
    exact,
    exact_inline,
    fma,
    load,
    minus,
    plus,
    spread,
    spread_from,
    store,
    times,
    total,
)

Array = NDArray[np.float64]
Index = NDArray[np.intp]
BLOCK = 16
TILE = 256  # columns of the mapped and the input rows that stay in the second-level cache together
REACH = 1.4  # pairs nearer than this share of a margin are listed
NOT_A_ROW = 1e300  # squared length of a row that is no data

LISTED = 0  # state: how many pairs are listed, -1: no list


class Triples(NamedTuple):
    """Rows by class and their target neighbours, with the room one evaluation needs."""

    X: Array
    XT: Array
    pull: Array  # Σ (xi - xj)(xi - xj)' over targets
    starts: Index  # starts[c]:ends[c] are the rows of class c, starts[c + 1] is a multiple of BLOCK
    ends: Index
    targets: Index  # of row i; i itself where it has none
    margins: Array  # what is added to the squared distance of a target: 1, or far below 0 for none
    AT: Array
    Z: Array
    ZT: Array
    Y: Array
    thresholds: Array
    counts: Array
    weights: Array
    reach: Array
    moved: Array  # how far each row is from where it was then, growth aside
    h: Array  # squared length of each row of Z; beyond all reach for rows that are no data
    reference: Array  # Z when the pairs were listed
    pairs: NDArray[np.int32]
    state: NDArray[np.int64]
    H: Array
    S: Array


@exact
def visit_all(p: Triples) -> None:
    """Visit every pair, adding to counts, row sums of V and Y; list those within reach if there is room."""
    (n, d), K = p.Z.shape, p.thresholds.shape[0]
    p.state[LISTED] = 0 if p.pairs.shape[1] > 0 else -1
    for i in range(n):
        p.reach[i] = 0.0
        for t in range(K):
            p.reach[i] = max(p.reach[i], REACH * p.thresholds[t, i])
        s = 0.0
        for a in range(d):
            s += p.Z[i, a] * p.Z[i, a]
            p.ZT[a, i] = p.Z[i, a]
            p.reference[i, a] = p.Z[i, a]
        if p.h[i] < NOT_A_ROW:
            p.h[i] = s
    D, V, sums, tallies = np.empty(BLOCK), np.empty(BLOCK), np.empty(d * WIDTH), np.empty(K * WIDTH)
    for c in range(p.starts.size - 2):
        for first in range(p.starts[c + 1], n, TILE):
            last = min(first + TILE, n)
            for i in range(p.starts[c], p.ends[c]):
                visit_row(p, i, first, last, D, V, sums, tallies)


@exact_inline
def visit_row(
    p: Triples, i: int, first: int, last: int, D: Array, V: Array, sums: Array, tallies: Array
) -> None:
    """Visit the pairs of row i with the rows ``first:last``."""
    (n, d), K = p.Z.shape, p.thresholds.shape[0]
    seen = False
    weight = spread(0.0)
    for l in range(first, last, BLOCK):  # noqa: E741 (the formula's symbol)
        if not block_distances(p, i, l, D):
            continue
        if p.state[LISTED] >= 0:
            list_block(p, i, l, D)
        if not seen:
            seen = True
            for k in range(sums.size):
                sums[k] = 0.0
            for k in range(tallies.size):
                tallies[k] = 0.0
        weight = plus(weight, block_weights(p, i, l, D, V, tallies))
        v0, v1, v2, v3 = load(V, 0), load(V, 4), load(V, 8), load(V, 12)
        for a in range(d):
            at = a * n + l
            s = fma(v0, load(p.XT, at), load(sums, a * WIDTH))
            t = fma(v2, load(p.XT, at + 8), times(v1, load(p.XT, at + 4)))
            store(sums, a * WIDTH, plus(s, fma(v3, load(p.XT, at + 12), t)))
    if seen:
        p.weights[i] += total(weight)
        for a in range(d):
            p.Y[i, a] += total(load(sums, a * WIDTH))
        for t in range(K):
            p.counts[t, i] += total(load(tallies, t * WIDTH))


@exact_inline
def block_distances(p: Triples, i: int, l: int, D: Array) -> bool:  # noqa: E741
    """Fill D with the squared distances of row i to a block of rows; False if none is within reach."""
    n, d = p.Z.shape
    y0 = y1 = y2 = y3 = spread(0.0)
    for a in range(d):
        z, at = spread_from(p.Z, i * d + a), a * n + l
        y0 = fma(z, load(p.ZT, at), y0)
        y1 = fma(z, load(p.ZT, at + 4), y1)
        y2 = fma(z, load(p.ZT, at + 8), y2)
        y3 = fma(z, load(p.ZT, at + 12), y3)
    own, two = spread_from(p.h, i), spread(-2.0)
    d0 = fma(two, y0, plus(own, load(p.h, l)))
    d1 = fma(two, y1, plus(own, load(p.h, l + 4)))
    d2 = fma(two, y2, plus(own, load(p.h, l + 8)))
    d3 = fma(two, y3, plus(own, load(p.h, l + 12)))
    store(D, 0, d0)
    store(D, 4, d1)
    store(D, 8, d2)
    store(D, 12, d3)
    near = plus(plus(_within(p, i, l, d0), _within(p, i, l + 4, d1)),
                plus(_within(p, i, l + 8, d2), _within(p, i, l + 12, d3)))  # fmt: skip
    return total(near) > 0.0


@exact_inline
def _within(p: Triples, i: int, l: int, D: object) -> object:  # noqa: E741
    one, zero = spread(1.0), spread(0.0)
    by_own = choose(minus(spread_from(p.reach, i), D), one, zero)
    return choose(minus(load(p.reach, l), D), one, by_own)


@exact_inline
def block_weights(p: Triples, i: int, l: int, D: Array, V: Array, tallies: Array) -> object:  # noqa: E741
    """Fill V with the weights of a block of pairs and count active hinges; return the sum of V."""
    n, K = p.Z.shape[0], p.thresholds.shape[0]
    one, zero = spread(1.0), spread(0.0)
    d0, d1, d2, d3 = load(D, 0), load(D, 4), load(D, 8), load(D, 12)
    v0 = v1 = v2 = v3 = spread(0.0)
    for t in range(K):
        own, at = spread_from(p.thresholds, t * n + i), t * n + l
        o0, o1 = choose(minus(own, d0), one, zero), choose(minus(own, d1), one, zero)
        o2, o3 = choose(minus(own, d2), one, zero), choose(minus(own, d3), one, zero)
        tally = plus(plus(o0, o1), plus(o2, o3))
        store(tallies, t * WIDTH, plus(load(tallies, t * WIDTH), tally))
        t0 = choose(minus(load(p.thresholds, at), d0), one, zero)
        t1 = choose(minus(load(p.thresholds, at + 4), d1), one, zero)
        t2 = choose(minus(load(p.thresholds, at + 8), d2), one, zero)
        t3 = choose(minus(load(p.thresholds, at + 12), d3), one, zero)
        store(p.counts, at, plus(load(p.counts, at), t0))
        store(p.counts, at + 4, plus(load(p.counts, at + 4), t1))
        store(p.counts, at + 8, plus(load(p.counts, at + 8), t2))
        store(p.counts, at + 12, plus(load(p.counts, at + 12), t3))
        v0, v1 = plus(v0, plus(o0, t0)), plus(v1, plus(o1, t1))
        v2, v3 = plus(v2, plus(o2, t2)), plus(v3, plus(o3, t3))
    store(V, 0, v0)
    store(V, 4, v1)
    store(V, 8, v2)
    store(V, 12, v3)
    store(p.weights, l, plus(load(p.weights, l), v0))
    store(p.weights, l + 4, plus(load(p.weights, l + 4), v1))
    store(p.weights, l + 8, plus(load(p.weights, l + 8), v2))
    store(p.weights, l + 12, plus(load(p.weights, l + 12), v3))
    return plus(plus(v0, v1), plus(v2, v3))


@exact_inline
def list_block(p: Triples, i: int, l: int, D: Array) -> None:  # noqa: E741
    """List the pairs of a block that are within reach; give the list up when it is full."""
    listed = p.state[LISTED]
    for b in range(BLOCK):
        if D[b] < max(p.reach[i], p.reach[l + b]):
            if listed == p.pairs.shape[1]:
                p.state[LISTED] = -1
                return
            p.pairs[0, listed] = i
            p.pairs[1, listed] = l + b
            listed += 1
    p.state[LISTED] = listed
