"""Lloyd's k-means in groups of rows, for ML-CC: 16 rows against four centres at a time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mloml.kernels.compiled import kernel
from mloml.kernels.eights import (
    ROWS,
    WIDE,
    below,
    choose,
    fma,
    load,
    minus,
    plus,
    spread,
    spread_from,
    store,
)
from mloml.kernels.simd import exact

Array = NDArray[np.float64]
Index = NDArray[np.intp]

BLOCK = 2 * WIDE
"""Rows that are treated at a time: a block holds their first features, then their second ones and so on."""

EPSILON, TINY = 2.220446049250313e-16, 1e-300


@exact
def fill_blocks(rows: Array, n: int, blocks: Array) -> None:
    """Put n rows into ``blocks`` of shape (n_blocks, n_features, BLOCK); zeros fill up the last one."""
    d = blocks.shape[1]
    for b in range(blocks.shape[0]):
        for j in range(BLOCK):
            i = b * BLOCK + j
            for a in range(d):
                blocks[b, a, j] = rows[i, a] if i < n else 0.0


@exact
def about_means(X: Array, labels: Index, means: Array, apart: Array) -> None:
    """Find the mean of each cluster and how far each row is from that of its own."""
    (n, d), k = X.shape, means.shape[0]
    sizes = np.zeros(k)
    means[:] = 0.0
    for i in range(n):
        c = labels[i]
        sizes[c] += 1.0
        for a in range(d):
            means[c, a] += X[i, a]
    for c in range(k):
        for a in range(d):
            means[c, a] /= sizes[c]
    for i in range(n):
        c = labels[i]
        for a in range(d):
            apart[i, a] = X[i, a] - means[c, a]


@exact
def lloyd_in_groups(
    Z: Array, group_starts: Index, centres: Array, centre_starts: Index, labels: Index, max_iter: int
) -> None:
    """Run k-means in each group of rows; number the clusters through, empty ones left out.

    ``centres`` are moved; those of group g are ``centre_starts[g]:centre_starts[g + 1]``.
    """
    largest = 0
    for g in range(group_starts.size - 1):
        largest = max(largest, group_starts[g + 1] - group_starts[g])
    room = np.empty((-(-largest // BLOCK), Z.shape[1], BLOCK))
    numbers = np.empty(centres.shape[0], np.intp)
    used = 0
    for g in range(group_starts.size - 1):
        first, last = group_starts[g], group_starts[g + 1]
        own = labels[first:last]
        blocks = room[: -(-(last - first) // BLOCK)]
        fill_blocks(Z[first:last], last - first, blocks)
        lloyd(Z[first:last], blocks, centres[centre_starts[g] : centre_starts[g + 1]], own, max_iter)
        numbers[:] = -1
        for i in range(last - first):
            numbers[own[i]] = 0
        for c in range(centre_starts[g + 1] - centre_starts[g]):
            if numbers[c] == 0:
                numbers[c] = used
                used += 1
        for i in range(last - first):
            own[i] = numbers[own[i]]


@exact
def lloyd(Z: Array, blocks: Array, centres: Array, labels: Index, max_iter: int) -> None:
    """Alternate nearest centres (ties: the first) and means, in place, until no row changes its cluster.

    A centre that loses all its rows stays where it is. Rows of zeros and ones are exactly as far from several
    centres, and rounding decides: where two are that near to each other, a plain sum is asked.
    """
    (n, d), k = Z.shape, centres.shape[0]
    padded = np.zeros((-(-k // ROWS) * ROWS, d))  # centres are taken four at a time
    sizes, D, nearest = np.empty(k), np.empty((padded.shape[0], BLOCK)), np.empty(BLOCK)
    moved = np.empty(k, np.bool_)
    labels[:] = -1
    for _ in range(max_iter):
        padded[:k] = centres
        changed = False
        moved[:] = False
        for b in range(blocks.shape[0]):
            close = _nearest(blocks, b, padded, k, D, nearest)
            for i in range(b * BLOCK, min(n, (b + 1) * BLOCK)):
                c = int(nearest[i - b * BLOCK])
                if close >> (i - b * BLOCK) & 1:
                    c = plain_nearest(Z, i, centres)
                if labels[i] != c:
                    if labels[i] >= 0:
                        moved[labels[i]] = True
                    moved[c] = True
                    labels[i] = c
                    changed = True
        if not changed:
            return
        move_to_means(Z, labels, moved, sizes, centres)


@kernel
def plain_nearest(Z: Array, i: int, centres: Array) -> int:
    """Return which centre is the nearest to row i."""
    best, nearest = np.inf, 0
    for c in range(centres.shape[0]):
        D = 0.0
        for a in range(Z.shape[1]):
            D += (Z[i, a] - centres[c, a]) ** 2
        if D < best:  # noqa: SIM300
            best = D
            nearest = c
    return nearest


@exact
def move_to_means(Z: Array, labels: Index, moved: NDArray[np.bool_], sizes: Array, centres: Array) -> None:
    """Move each centre that has rows, and other ones than before, to their mean."""
    sizes[:] = 0.0
    for i in range(Z.shape[0]):
        sizes[labels[i]] += 1.0
    for c in range(sizes.size):
        if sizes[c] > 0.0 and moved[c]:
            centres[c, :] = 0.0
    for i in range(Z.shape[0]):
        c = labels[i]
        if moved[c]:
            _add_share(Z, i, sizes[c], centres, c)


@exact
def _add_share(Z: Array, i: int, size: float, centres: Array, c: int) -> None:
    """``m_c += z_i / size``; a quotient corrected by its remainder is rounded as a division, and quicker."""
    d = Z.shape[1]
    reciprocal, divisor = spread(1.0 / size), spread(-size)
    a = 0
    while a + WIDE <= d:
        z = load(Z, i * d + a)
        quotient = fma(z, reciprocal, spread(0.0))
        quotient = fma(fma(quotient, divisor, z), reciprocal, quotient)
        store(centres, c * d + a, plus(load(centres, c * d + a), quotient))
        a += WIDE
    while a < d:
        centres[c, a] += Z[i, a] / size
        a += 1


@exact
def _nearest(blocks: Array, b: int, centres: Array, k: int, D: Array, nearest: Array) -> int:
    """Find the nearest of the first k centres for each row of block b; return where two may be as near.

    Bit j of what is returned is set when a second centre is as near to row j as rounding can make it.
    """
    d = blocks.shape[1]
    for c in range(0, k, ROWS):
        at = c * d
        p0 = p1 = p2 = p3 = q0 = q1 = q2 = q3 = spread(0.0)
        for a in range(d):
            place = (b * d + a) * BLOCK
            x, y = load(blocks, place), load(blocks, place + WIDE)
            m = spread_from(centres, at + a)
            u, v = minus(x, m), minus(y, m)
            p0, q0 = fma(u, u, p0), fma(v, v, q0)
            m = spread_from(centres, at + d + a)
            u, v = minus(x, m), minus(y, m)
            p1, q1 = fma(u, u, p1), fma(v, v, q1)
            m = spread_from(centres, at + 2 * d + a)
            u, v = minus(x, m), minus(y, m)
            p2, q2 = fma(u, u, p2), fma(v, v, q2)
            m = spread_from(centres, at + 3 * d + a)
            u, v = minus(x, m), minus(y, m)
            p3, q3 = fma(u, u, p3), fma(v, v, q3)
        _store_pair(D, c, p0, q0)
        _store_pair(D, c + 1, p1, q1)
        _store_pair(D, c + 2, p2, q2)
        _store_pair(D, c + 3, p3, q3)
    return _least(D, 0, k, d, nearest) | _least(D, WIDE, k, d, nearest) << WIDE


@exact
def _least(D: Array, at: int, k: int, d: int, nearest: Array) -> int:
    """Find the least of k distances for eight rows; return where a second one is as small."""
    best, second, number = load(D, at), spread(np.inf), spread(0.0)
    for c in range(1, k):
        x = load(D, c * BLOCK + at)
        number = choose(below(x, best), spread(float(c)), number)
        second = choose(below(x, best), best, choose(below(x, second), x, second))
        best = choose(below(x, best), x, best)
    store(nearest, at, number)
    share = spread(4.0 * (d + 4) * EPSILON)
    return below(second, plus(fma(best, share, best), spread(TINY)))


@exact
def _store_pair(D: Array, c: int, x: object, y: object) -> None:
    store(D, c * BLOCK, x)
    store(D, c * BLOCK + WIDE, y)
