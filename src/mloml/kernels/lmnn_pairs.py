"""All pairs of rows of different classes, visited once: what LMNN's push term costs.

Rows are sorted by class, each class filled up to a multiple of ``BLOCK`` rows with rows that are no data, and
padded with zeros to a multiple of ``WIDE`` columns. A pair (i, l) is visited once, with i in the earlier
class, and serves both ways: l as impostor of i, and i as impostor of l. Its weight

    V_il = #{j in T(i): D_il < 1 + D_ij} + #{j in T(l): D_il < 1 + D_lj}

is all that the push term needs, so no triplet is ever stored: ``Σ_active C_il = Σ V_il C_il``, accumulated as
row sums of V and as ``Y_i = Σ_l V_il x_l``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mloml.kernels.eights import (
    WIDE,
    below,
    choose,
    fma,
    load,
    minus,
    most,
    plus,
    spread,
    spread_from,
    store,
    total,
)
from mloml.kernels.simd import exact_inline
from mloml.kernels.wide import borrowing, count_places, first_place

Array = NDArray[np.float64]
Index = NDArray[np.intp]

BLOCK = 2 * WIDE
ROWS = 4  # rows whose distances to a block are computed together: as many sums as registers hold
TILE = 256  # columns of the mapped and the input rows that stay in the second-level cache together
REACH = 1.4  # pairs nearer than this share of a margin are listed
FEW = 4  # so many active pairs of a block are treated one by one
CHUNK = 512  # listed pairs that are measured before the active ones among them are visited
NOT_A_ROW = 1e300  # squared length of a row that is no data

LISTED = 0  # state: how many pairs are listed, -1: no list


class Triples(NamedTuple):
    """Rows by class and their target neighbours, with the room one evaluation needs."""

    X: Array
    XT: Array  # an even number of features
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
    highest: Array  # threshold of each row, at least 0
    counts: Array
    levels: Array  # thresholds again, a row's beside each other: one load, one comparison for a pair
    tallies: Array  # and what single pairs add to counts
    weights: Array
    reach: Array
    moved: Array  # how far each row is from where it was then, growth aside
    h: Array  # squared length of each row of Z; beyond all reach for rows that are no data
    reference: Array  # Z when the pairs were listed
    pairs: NDArray[np.int32]
    near: NDArray[np.int32]  # which pairs of a chunk are active
    apart: Array  # and their squared distances
    state: NDArray[np.int64]
    D: Array  # of four rows and a block
    V: Array  # weights of the pairs of four rows and a tile
    padded_H: Array
    H: Array
    S: Array


@borrowing
def visit_all(p: Triples) -> None:
    """Visit every pair, adding to counts, row sums of V and Y; list those within reach if there is room."""
    n, m = p.Z.shape
    d = p.ZT.shape[0]
    p.state[LISTED] = 0 if p.pairs.shape[1] > 0 else -1
    for i in range(n):
        p.reach[i] = REACH * p.highest[i]
        s = 0.0
        for a in range(d):
            s += p.Z[i, a] * p.Z[i, a]
            p.ZT[a, i] = p.Z[i, a]
        for a in range(m):
            p.reference[i, a] = p.Z[i, a]
        if p.h[i] < NOT_A_ROW:
            p.h[i] = s
    for c in range(p.starts.size - 2):
        for first in range(p.starts[c + 1], n, TILE):
            last = min(first + TILE, n)
            for i in range(p.starts[c], p.ends[c], ROWS):  # a class is filled up with rows that are no data
                visit_four_rows(p, i, first, last)


@exact_inline
def visit_four_rows(p: Triples, i: int, first: int, last: int) -> None:
    """Visit the pairs of rows i to i + 3 with the rows ``first:last``, a tile."""
    n, m = p.Z.shape
    d = p.ZT.shape[0]
    two = spread(-2.0)
    dense = 0  # bit b: block b has weights in V
    for l in range(first, last, BLOCK):  # noqa: E741 (the formula's symbol)
        w0 = w1 = x0 = x1 = y0 = y1 = z0 = z1 = spread(0.0)
        for a in range(d):
            at, own = a * n + l, i * m + a
            left, right = load(p.ZT, at), load(p.ZT, at + WIDE)
            w, x = spread_from(p.Z, own), spread_from(p.Z, own + m)
            w0, w1, x0, x1 = fma(w, left, w0), fma(w, right, w1), fma(x, left, x0), fma(x, right, x1)
            y, z = spread_from(p.Z, own + 2 * m), spread_from(p.Z, own + 3 * m)
            y0, y1, z0, z1 = fma(y, left, y0), fma(y, right, y1), fma(z, left, z0), fma(z, right, z1)
        left, right = load(p.h, l), load(p.h, l + WIDE)
        w, x, y, z = (
            spread_from(p.h, i),
            spread_from(p.h, i + 1),
            spread_from(p.h, i + 2),
            spread_from(p.h, i + 3),
        )
        store(p.D, 0, fma(two, w0, plus(w, left)))
        store(p.D, WIDE, fma(two, w1, plus(w, right)))
        store(p.D, 2 * WIDE, fma(two, x0, plus(x, left)))
        store(p.D, 3 * WIDE, fma(two, x1, plus(x, right)))
        store(p.D, 4 * WIDE, fma(two, y0, plus(y, left)))
        store(p.D, 5 * WIDE, fma(two, y1, plus(y, right)))
        store(p.D, 6 * WIDE, fma(two, z0, plus(z, left)))
        store(p.D, 7 * WIDE, fma(two, z1, plus(z, right)))
        for k in range(ROWS):
            at = k * TILE + l - first
            store(p.V, at, spread(0.0))
            store(p.V, at + WIDE, spread(0.0))
            if visit_block(p, i + k, l, k, at):
                dense |= 1 << ((l - first) // BLOCK)
    if dense != 0:
        add_weighted_rows(p, i, first, dense)


@exact_inline
def add_weighted_rows(p: Triples, i: int, first: int, dense: int) -> None:
    """Add ``Σ_l V_il x_l`` over the dense blocks of a tile to Y, for four rows and two features at a time."""
    n = p.Z.shape[0]
    for a in range(0, p.XT.shape[0], 2):
        w0 = w1 = x0 = x1 = y0 = y1 = z0 = z1 = spread(0.0)
        blocks = dense
        while blocks != 0:
            at = first_place(blocks) * BLOCK
            blocks &= blocks - 1
            row = a * n + first + at
            for half in range(0, BLOCK, WIDE):
                one, other = load(p.XT, row + half), load(p.XT, row + n + half)
                v = load(p.V, at + half)
                w0, w1 = fma(v, one, w0), fma(v, other, w1)
                v = load(p.V, TILE + at + half)
                x0, x1 = fma(v, one, x0), fma(v, other, x1)
                v = load(p.V, 2 * TILE + at + half)
                y0, y1 = fma(v, one, y0), fma(v, other, y1)
                v = load(p.V, 3 * TILE + at + half)
                z0, z1 = fma(v, one, z0), fma(v, other, z1)
        p.Y[i, a] += total(w0)
        p.Y[i, a + 1] += total(w1)
        p.Y[i + 1, a] += total(x0)
        p.Y[i + 1, a + 1] += total(x1)
        p.Y[i + 2, a] += total(y0)
        p.Y[i + 2, a + 1] += total(y1)
        p.Y[i + 3, a] += total(z0)
        p.Y[i + 3, a + 1] += total(z1)


@exact_inline
def visit_block(p: Triples, i: int, l: int, k: int, at: int) -> bool:  # noqa: E741
    """Visit the pairs of row i, the k-th of four, with a block of rows; say whether V has weights of them."""
    d0, d1 = load(p.D, k * BLOCK), load(p.D, k * BLOCK + WIDE)
    near = below(d0, most(spread_from(p.reach, i), load(p.reach, l)))
    near |= below(d1, most(spread_from(p.reach, i), load(p.reach, l + WIDE))) << WIDE
    if near == 0:
        return False
    if p.state[LISTED] >= 0:
        list_block(p, i, l, near)
    active = below(d0, most(spread_from(p.highest, i), load(p.highest, l)))
    active |= below(d1, most(spread_from(p.highest, i), load(p.highest, l + WIDE))) << WIDE
    if active == 0:
        return False
    if count_places(active) > FEW:
        visit_together(p, i, l, d0, d1, at)
        return True
    while active != 0:
        place = first_place(active)
        active &= active - 1
        visit_pair(p, i, l + place, p.D[k * BLOCK + place])
    return False


@exact_inline
def visit_together(p: Triples, i: int, l: int, d0: object, d1: object, at: int) -> None:  # noqa: E741
    """Add what a block of pairs gives to counts and row sums of V; write its weights to V."""
    n, K = p.Z.shape[0], p.thresholds.shape[0]
    one, zero = spread(1.0), spread(0.0)
    v0 = v1 = spread(0.0)
    for t in range(K):
        own, of_l = spread_from(p.thresholds, t * n + i), t * n + l
        o0, o1 = below(d0, own), below(d1, own)
        p.counts[t, i] += count_places(o0) + count_places(o1)
        t0 = choose(below(d0, load(p.thresholds, of_l)), one, zero)
        t1 = choose(below(d1, load(p.thresholds, of_l + WIDE)), one, zero)
        store(p.counts, of_l, plus(load(p.counts, of_l), t0))
        store(p.counts, of_l + WIDE, plus(load(p.counts, of_l + WIDE), t1))
        v0, v1 = plus(v0, plus(choose(o0, one, zero), t0)), plus(v1, plus(choose(o1, one, zero), t1))
    store(p.weights, l, plus(load(p.weights, l), v0))
    store(p.weights, l + WIDE, plus(load(p.weights, l + WIDE), v1))
    p.weights[i] += total(plus(v0, v1))
    store(p.V, at, v0)
    store(p.V, at + WIDE, v1)


@exact_inline
def visit_pair(p: Triples, i: int, l: int, D: float) -> None:  # noqa: E741
    """Add what one pair at squared distance D gives to tallies, row sums of V and Y.

    Without branches: which of the thresholds a pair is below is as good as random.
    """
    m, w, V = p.X.shape[1], p.levels.shape[1], 0
    far, one, zero = spread(D), spread(1.0), spread(0.0)
    for t in range(0, w, WIDE):
        own, of_l = i * w + t, l * w + t
        below_own, below_l = below(far, load(p.levels, own)), below(far, load(p.levels, of_l))
        store(p.tallies, own, plus(load(p.tallies, own), choose(below_own, one, zero)))
        store(p.tallies, of_l, plus(load(p.tallies, of_l), choose(below_l, one, zero)))
        V += count_places(below_own) + count_places(below_l)
    p.weights[i] += V
    p.weights[l] += V
    weight = spread(V)
    for a in range(0, m, WIDE):
        store(p.Y, i * m + a, fma(weight, load(p.X, l * m + a), load(p.Y, i * m + a)))


@exact_inline
def list_block(p: Triples, i: int, l: int, near: int) -> None:  # noqa: E741
    """List the pairs of a block that are within reach; give the list up when it is full."""
    listed = p.state[LISTED]
    if listed + BLOCK > p.pairs.shape[1]:
        p.state[LISTED] = -1
        return
    while near != 0:
        p.pairs[0, listed] = i
        p.pairs[1, listed] = l + first_place(near)
        near &= near - 1
        listed += 1
    p.state[LISTED] = listed


@borrowing
def visit_listed(p: Triples) -> None:
    """Do as :func:`visit_all` over the listed pairs only.

    A chunk is measured first and its active pairs noted, without a branch on what cannot be foreseen.
    """
    m, listed = p.Z.shape[1], p.state[LISTED]
    for begin in range(0, listed, CHUNK):
        found = 0
        for e in range(begin, min(begin + CHUNK, listed)):
            i, l = np.intp(p.pairs[0, e]), np.intp(p.pairs[1, e])  # noqa: E741 (the formula's symbol)
            squares = spread(0.0)
            for a in range(0, m, WIDE):
                difference = minus(load(p.Z, i * m + a), load(p.Z, l * m + a))
                squares = fma(difference, difference, squares)
            D = total(squares)
            p.near[found], p.apart[found] = e, D
            found += np.intp(max(p.highest[i], p.highest[l]) > D)
        for k in range(found):
            e = np.intp(p.near[k])
            visit_pair(p, np.intp(p.pairs[0, e]), np.intp(p.pairs[1, e]), p.apart[k])
