"""Pairs of rows of different classes, visited one by one: those of a list, and the few active of a block.

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

from mloml.kernels.eights import WIDE, below, choose, fma, load, minus, plus, spread, store, total
from mloml.kernels.simd import exact_inline
from mloml.kernels.wide import borrowing, count_places

Array = NDArray[np.float64]
Singles = NDArray[np.float32]
Index = NDArray[np.intp]

BLOCK = 2 * WIDE  # rows of a register in single precision
CHUNK = 512  # listed pairs that are measured before the active ones among them are visited
NOT_A_ROW = 1e300  # squared length of a row that is no data

LISTED = 0  # state: how many pairs are listed, -1: no list


class Rough(NamedTuple):
    """What a visit of all pairs reads in single precision, scaled by a power of two; see ``lmnn_all``."""

    Z: Singles
    ZT: Singles
    h: Singles  # squared lengths, lowered so that squared distances made of them are too small
    doubt: Singles  # what each of two rows adds to how much too small they may be
    reach: Singles
    highest: Singles
    maybe: Singles  # thresholds rounded up
    surely: Singles  # and down
    counts: Singles  # how many pairs are below each threshold, as far as blocks were visited as a whole
    weights: Singles  # their row sums of V
    D: Singles  # of eight rows and a block


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
    Y: Array
    levels: Array  # thresholds, a row's beside each other: one load, one comparison for a pair
    tallies: Array  # how many pairs are below each, as far as they were visited one by one
    highest: Array  # threshold of each row, at least 0
    weights: Array
    reach: Array
    moved: Array  # how far each row is from where it was then, growth aside
    h: Array  # squared length of each row of Z; beyond all reach for rows that are no data
    reference: Array  # Z when the pairs were listed
    pairs: NDArray[np.int32]
    near: NDArray[np.int32]  # which pairs of a chunk are active
    apart: Array  # and their squared distances
    state: NDArray[np.int64]
    rough: Rough
    V: Array  # weights of the pairs of eight rows and a tile
    padded_H: Array
    H: Array
    S: Array


@exact_inline
def squared_distance(p: Triples, i: int, l: int) -> float:  # noqa: E741
    """Return the squared distance of two mapped rows."""
    m, squares = p.Z.shape[1], spread(0.0)
    for a in range(0, m, WIDE):
        difference = minus(load(p.Z, i * m + a), load(p.Z, l * m + a))
        squares = fma(difference, difference, squares)
    return total(squares)


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


@borrowing
def visit_listed(p: Triples) -> None:
    """Add to tallies, row sums of V and Y what the active pairs give, over the listed pairs only.

    A chunk is measured first and its active pairs noted, without a branch on what cannot be foreseen.
    """
    listed = p.state[LISTED]
    for begin in range(0, listed, CHUNK):
        found = np.intp(0)
        for e in range(begin, min(begin + CHUNK, listed)):
            i, l = np.intp(p.pairs[0, e]), np.intp(p.pairs[1, e])  # noqa: E741 (the formula's symbol)
            D = squared_distance(p, i, l)
            p.near[found], p.apart[found] = e, D
            found += np.intp(max(p.highest[i], p.highest[l]) > D)
        for k in range(found):
            active = np.intp(p.near[k])
            visit_pair(p, np.intp(p.pairs[0, active]), np.intp(p.pairs[1, active]), p.apart[k])
