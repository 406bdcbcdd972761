"""All pairs of rows of different classes, visited once: what LMNN's push term costs before there is a list.

Distances are rough, in single precision, sixteen at a time: ``D = h_i + h_l - 2 z_i'z_l`` with each squared
length h lowered by as much as all roundings can do, so that no D is too large. A pair whose D is not below a
threshold is not active, one whose ``D + doubt_i + doubt_l`` is below is active, and one between the two is
measured in double precision. So the active pairs are exactly those of the double precision.

Roundings of ``z_i'z_l``: (d + 3) u |z_i| |z_l| for the sum of d products of rounded numbers, ``u = 2^-24``;
twice that is at most ``(d + 3) u (h_i + h_l)``. The h, their sum and that of both terms: 4 u (h_i + h_l).
"""

from __future__ import annotations

from math import frexp, ldexp

import numpy as np
from numba import types

from mloml.kernels import eights
from mloml.kernels.eights import WIDE, total
from mloml.kernels.lmnn_pairs import BLOCK, LISTED, NOT_A_ROW, Rough, Triples, squared_distance, visit_pair
from mloml.kernels.simd import exact_inline
from mloml.kernels.wide import Vectors, borrowing, count_places, first_doubles, first_place, last_doubles

_singles = Vectors(types.float32)
load, store, spread, spread_from = _singles.load, _singles.store, _singles.spread, _singles.spread_from
plus, most, fma, below, choose = _singles.plus, _singles.most, _singles.fma, _singles.below, _singles.choose
total_of_singles = _singles.total
load_doubles, store_doubles, fma_doubles = eights.load, eights.store, eights.fma
spread_doubles = eights.spread

ROWS = 8  # rows whose distances to a block are computed together: as many sums as keep the processor busy
TILE = 256  # columns of the mapped and the input rows that stay in the second-level cache together
REACH = 1.4  # pairs nearer than this share of a margin are listed
FEW = 4  # so many active pairs of a block are treated one by one
UNIT = 2.0**-24  # rounding of a number in single precision, relative
UNDERFLOW = 1e-30  # far above what all numbers too small for single precision can add up to


@borrowing
def visit_all(p: Triples) -> None:
    """Visit every pair, adding to counts, row sums of V and Y; list those within reach if there is room."""
    n = p.Z.shape[0]
    p.state[LISTED] = 0 if p.pairs.shape[1] > 0 else -1
    _round(p)
    for c in range(p.starts.size - 2):
        for first in range(p.starts[c + 1], n, TILE):
            last = min(first + TILE, n)
            for i in range(p.starts[c], p.ends[c], ROWS):  # a class is filled up with rows that are no data
                _visit_rows(p, i, first, last)
    for i in range(n):
        p.weights[i] += p.rough.weights[i]
        for t in range(p.rough.counts.shape[0]):
            p.tallies[i, t] += p.rough.counts[t, i]


@exact_inline
def _round(p: Triples) -> None:
    """Keep the rows for reference, and bring them and their thresholds to single precision."""
    n, m = p.Z.shape
    r, d, longest = p.rough, p.rough.ZT.shape[0], 0.0
    for i in range(n):
        p.reach[i] = REACH * p.highest[i]
        s = 0.0
        for a in range(m):
            s += p.Z[i, a] * p.Z[i, a]
            p.reference[i, a] = p.Z[i, a]
        if p.h[i] < NOT_A_ROW:
            p.h[i] = s
            longest = max(longest, s)
    unit = ldexp(1.0, -min(500, max(-500, frexp(longest)[1] // 2)))
    square, error = unit * unit, (d + 12) * UNIT
    for i in range(n):
        for a in range(m):
            r.Z[i, a] = unit * p.Z[i, a]
        for a in range(d):
            r.ZT[a, i] = unit * p.Z[i, a]
        r.h[i] = square * p.h[i] * (1.0 - error) - UNDERFLOW
        r.doubt[i] = 2.0 * error * square * p.h[i] + 4.0 * UNDERFLOW
        up = square * (1.0 + 4.0 * UNIT)
        r.reach[i], r.highest[i] = up * p.reach[i], up * p.highest[i]
        r.weights[i] = 0.0
        for t in range(r.counts.shape[0]):
            r.maybe[t, i] = up * p.levels[i, t]
            r.surely[t, i] = square * (1.0 - 4.0 * UNIT) * p.levels[i, t]
            r.counts[t, i] = 0.0


@exact_inline
def _visit_rows(p: Triples, i: int, first: int, last: int) -> None:
    """Visit the pairs of rows i to i + 7 with the rows ``first:last``, a tile."""
    r, n, m = p.rough, p.Z.shape[0], p.Z.shape[1]
    d = r.ZT.shape[0]
    dense = 0  # bit b: block b has weights in V
    for l in range(first, last, BLOCK):  # noqa: E741 (the formula's symbol)
        s = t = u = v = w = x = y = z = spread(0.0)
        for a in range(d):
            block, own = load(r.ZT, a * n + l), i * m + a
            s, t = fma(spread_from(r.Z, own), block, s), fma(spread_from(r.Z, own + m), block, t)
            u, v = fma(spread_from(r.Z, own + 2 * m), block, u), fma(spread_from(r.Z, own + 3 * m), block, v)
            w, x = fma(spread_from(r.Z, own + 4 * m), block, w), fma(spread_from(r.Z, own + 5 * m), block, x)
            y, z = fma(spread_from(r.Z, own + 6 * m), block, y), fma(spread_from(r.Z, own + 7 * m), block, z)
        h, reach = load(r.h, l), load(r.reach, l)
        near = _note(r, i, 0, s, h, reach) | _note(r, i, 1, t, h, reach)
        near |= _note(r, i, 2, u, h, reach) | _note(r, i, 3, v, h, reach)
        if near != 0:
            dense |= _visit_four(p, i, l, 0, first, near, dense)
        near = _note(r, i, 4, w, h, reach) | _note(r, i, 5, x, h, reach)
        near |= _note(r, i, 6, y, h, reach) | _note(r, i, 7, z, h, reach)
        if near != 0:
            dense |= _visit_four(p, i, l, 4, first, near, dense)
    if dense != 0:
        _add_weighted_rows(p, i, first, 0, dense)
        _add_weighted_rows(p, i + 4, first, 4 * TILE, dense)


@exact_inline
def _note(r: Rough, i: int, k: int, product: object, h: object, reach: object) -> int:
    """Note the rough distances of row i + k to a block; return the pairs that may be within reach.

    Bit ``16 (k % 4)`` is for the first row of the block: four rows have room in one number.
    """
    D = fma(spread(-2.0), product, plus(spread_from(r.h, i + k), h))
    store(r.D, k * BLOCK, D)
    return below(D, most(spread_from(r.reach, i + k), reach)) << (BLOCK * (k % 4))


@exact_inline
def _visit_four(p: Triples, i: int, l: int, k: int, first: int, near: int, dense: int) -> int:  # noqa: E741
    """Visit the pairs of rows i + k to i + k + 3 with a block; return a bit for the block if V is used."""
    bit = 1 << ((l - first) // BLOCK)
    used = dense & bit
    while near != 0:
        row = k + first_place(near) // BLOCK
        of_row = (near >> (BLOCK * (row - k))) & ((1 << BLOCK) - 1)
        near ^= of_row << (BLOCK * (row - k))
        if p.state[LISTED] >= 0:
            _list_block(p, i + row, l, of_row)
        highest = most(spread_from(p.rough.highest, i + row), load(p.rough.highest, l))
        active = below(load(p.rough.D, row * BLOCK), highest)
        if count_places(active) > FEW:
            if used == 0:
                used = bit
                for other in range(l - first, ROWS * TILE, TILE):
                    store_doubles(p.V, other, spread_doubles(0.0))
                    store_doubles(p.V, other + WIDE, spread_doubles(0.0))
            _visit_together(p, i + row, l, row, row * TILE + l - first)
            active = 0
        while active != 0:
            other = l + first_place(active)
            active &= active - 1
            visit_pair(p, i + row, other, squared_distance(p, i + row, other))
    return used


@exact_inline
def _visit_together(p: Triples, i: int, l: int, k: int, at: int) -> None:  # noqa: E741
    """Add what a block of pairs gives to counts and row sums of V; write its weights to V."""
    r, n, K = p.rough, p.Z.shape[0], p.rough.counts.shape[0]
    one, zero = spread(1.0), spread(0.0)
    low = load(r.D, k * BLOCK)
    high = plus(plus(low, spread_from(r.doubt, i)), load(r.doubt, l))
    weights, doubtful = zero, 0
    for t in range(K):
        own, of_l = t * n + i, t * n + l
        surely = below(high, spread_from(r.surely, own))
        doubtful |= surely ^ below(low, spread_from(r.maybe, own))
        r.counts[t, i] += np.float32(count_places(surely))
        weights = plus(weights, choose(surely, one, zero))
        surely = below(high, load(r.surely, of_l))
        doubtful |= surely ^ below(low, load(r.maybe, of_l))
        active = choose(surely, one, zero)
        store(r.counts, of_l, plus(load(r.counts, of_l), active))
        weights = plus(weights, active)
    store(r.weights, l, plus(load(r.weights, l), weights))
    r.weights[i] += total_of_singles(weights)
    store_doubles(p.V, at, first_doubles(weights))
    store_doubles(p.V, at + WIDE, last_doubles(weights))
    while doubtful != 0:
        place = first_place(doubtful)
        doubtful &= doubtful - 1
        _settle(p, i, l + place, r.D[k * BLOCK + place])


@exact_inline
def _settle(p: Triples, i: int, l: int, low: np.float32) -> None:  # noqa: E741
    """Visit a pair again, measured exactly, for the thresholds it was not surely below."""
    r, D, V = p.rough, squared_distance(p, i, l), 0.0
    high = (low + r.doubt[i]) + r.doubt[l]
    for t in range(r.counts.shape[0]):
        if p.levels[i, t] > D and not r.surely[t, i] > high:
            p.tallies[i, t] += 1.0
            V += 1.0
        if p.levels[l, t] > D and not r.surely[t, l] > high:
            p.tallies[l, t] += 1.0
            V += 1.0
    p.weights[i] += V
    p.weights[l] += V
    for a in range(p.X.shape[1]):
        p.Y[i, a] += V * p.X[l, a]


@exact_inline
def _add_weighted_rows(p: Triples, i: int, first: int, v: int, dense: int) -> None:
    """Add ``Σ_l V_il x_l`` over the dense blocks of a tile to Y, for four rows and two features at a time."""
    n = p.Z.shape[0]
    for a in range(0, p.XT.shape[0], 2):
        w0 = w1 = x0 = x1 = y0 = y1 = z0 = z1 = spread_doubles(0.0)
        blocks = dense
        while blocks != 0:
            at = first_place(blocks) * BLOCK
            blocks &= blocks - 1
            row = a * n + first + at
            for half in range(0, BLOCK, WIDE):
                one, other = load_doubles(p.XT, row + half), load_doubles(p.XT, row + n + half)
                weights = load_doubles(p.V, v + at + half)
                w0, w1 = fma_doubles(weights, one, w0), fma_doubles(weights, other, w1)
                weights = load_doubles(p.V, v + TILE + at + half)
                x0, x1 = fma_doubles(weights, one, x0), fma_doubles(weights, other, x1)
                weights = load_doubles(p.V, v + 2 * TILE + at + half)
                y0, y1 = fma_doubles(weights, one, y0), fma_doubles(weights, other, y1)
                weights = load_doubles(p.V, v + 3 * TILE + at + half)
                z0, z1 = fma_doubles(weights, one, z0), fma_doubles(weights, other, z1)
        p.Y[i, a] += total(w0)
        p.Y[i, a + 1] += total(w1)
        p.Y[i + 1, a] += total(x0)
        p.Y[i + 1, a + 1] += total(x1)
        p.Y[i + 2, a] += total(y0)
        p.Y[i + 2, a + 1] += total(y1)
        p.Y[i + 3, a] += total(z0)
        p.Y[i + 3, a + 1] += total(z1)


@exact_inline
def _list_block(p: Triples, i: int, l: int, near: int) -> None:  # noqa: E741
    """List the pairs of a block that may be within reach; give the list up when it is full."""
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
