"""One pass over all training rows in single precision, 64 at a time in registers: LMDML's impostor search.

``blocks`` holds the rows in the order in which a pass reads them: 64 rows' first features, the same rows'
second features and so on, then the next 64 rows: as many sums as it takes to keep the processor busy. Each
class begins a new block (``places``); its last one is filled up with zeros, and vectors over the rows (h, D)
have as many entries as there are places in all blocks. No distance is computed to the rows of the visited
row's own class, ``own[0] <= place < own[1]``; of each other block the smallest ones are kept, in ``least``.

A pass finds the few rows that may be the nearest; those are measured in double precision. ``units`` are the
two powers of two, of the rows and of M, that bring the longest row and the trace bound to at most 1, so that
nothing overflows. All that a pass reads and writes is in these units.
"""

from __future__ import annotations

import numpy as np
from numba import types
from numpy.typing import NDArray

from mloml.kernels.simd import exact
from mloml.kernels.wide import Vectors

Array = NDArray[np.float64]
Singles = NDArray[np.float32]
Index = NDArray[np.intp]

_singles = Vectors(types.float32)
WIDTH = _singles.width
load, store, spread, spread_from = _singles.load, _singles.store, _singles.spread, _singles.spread_from
times, minus, fma, smaller = _singles.times, _singles.minus, _singles.fma, _singles.least
below, smallest = _singles.below, _singles.smallest

BLOCK = 4 * WIDTH
ROUNDING = 2.0**-24  # of a number in single precision, relative


def units_of(X: Array, bound: float) -> Array:
    """Return the units of the rows and of M, and the squared length of the longest row in these units.

    >>> units_of(np.array([[3.0, 4.0], [0.0, 0.0]]), bound=0.2)
    array([0.125   , 4.      , 0.390625])
    """
    exponents = np.frexp([np.abs(X).max() * np.sqrt(X.shape[1]), bound])[1]
    units = np.ldexp(1.0, -np.clip(exponents, -500, 500))
    return np.array([*units, ((X * units[0]) ** 2).sum(axis=1).max()])


def places_of(starts: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return where each row stands in the blocks: every class begins a new block.

    >>> places_of(np.array([0, 2, 67, 68]))[[0, 1, 2, 66, 67]]
    array([  0,   1,  64, 128, 192])
    """
    sizes = np.diff(starts)
    begins = np.concatenate([[0], np.cumsum(-(-sizes // BLOCK) * BLOCK)[:-1]])
    return np.arange(starts[-1]) + np.repeat(begins - starts[:-1], sizes)


def in_blocks(X: Array, places: NDArray[np.intp], unit: float) -> Singles:
    """Return the rows of X, times a power of two, in blocks (n_blocks, n_features, BLOCK).

    >>> in_blocks(np.ones((3, 2)), places_of(np.array([0, 2, 3])), 1.0).shape
    (2, 2, 64)
    """
    count = -(-(places[-1] + 1) // BLOCK)
    rows = np.zeros((count * BLOCK, X.shape[1]), dtype=np.float32)
    rows[places] = X * unit
    blocks = _aligned(count, X.shape[1], BLOCK)
    blocks[:] = rows.reshape(-1, BLOCK, X.shape[1]).transpose(0, 2, 1)
    return blocks


def no_products(blocks: Singles) -> Singles:
    """Return room for h: infinite, and never changed, where there is no row, so that none is found there."""
    return np.full(len(blocks) * BLOCK, np.inf, dtype=np.float32)


def _aligned(*shape: int) -> Singles:
    """Return room whose data start at a cache line."""
    size = int(np.prod(shape))
    buffer = np.zeros(size + 16, dtype=np.float32)
    skip = (-buffer.ctypes.data % 64) // 4
    return buffer[skip : skip + size].reshape(shape)


@exact
def places_of_class(places: Index, starts: Index, c: int, size: int) -> tuple[int, int]:
    """Return the first place of a class and the one after its last block; ``size``: of all blocks."""
    return places[starts[c]], (size if c + 2 == starts.size else places[starts[c + 1]])


@exact
def row_pass(
    blocks: Singles, W: Singles, h: Singles, own: tuple[int, int], D: Singles, least: Singles
) -> None:
    """``D_l = h_l - 2 x_l'y`` for the rows of other classes; y is the first row of W."""
    count, d, _ = blocks.shape
    two = spread(-2.0)
    for b in range(0, count * BLOCK, BLOCK):
        if own[0] <= b < own[1]:
            continue
        y0 = y1 = y2 = y3 = spread(0.0)
        for a in range(d):
            ya, at = spread_from(W, a), b * d + a * BLOCK
            y0, y1 = fma(ya, load(blocks, at), y0), fma(ya, load(blocks, at + WIDTH), y1)
            y2, y3 = fma(ya, load(blocks, at + 2 * WIDTH), y2), fma(ya, load(blocks, at + 3 * WIDTH), y3)
        y0, y1 = fma(two, y0, load(h, b)), fma(two, y1, load(h, b + WIDTH))
        y2, y3 = fma(two, y2, load(h, b + 2 * WIDTH)), fma(two, y3, load(h, b + 3 * WIDTH))
        _store_distances(D, least, b, y0, y1, y2, y3)


@exact
def _store_distances(
    D: Singles, least: Singles, b: int, y0: object, y1: object, y2: object, y3: object
) -> None:
    store(D, b, y0)
    store(D, b + WIDTH, y1)
    store(D, b + 2 * WIDTH, y2)
    store(D, b + 3 * WIDTH, y3)
    store(least, b // BLOCK * WIDTH, smaller(smaller(y0, y1), smaller(y2, y3)))


@exact
def _renew(h: Singles, b: int, u: object, v: object, alpha: float, scaling: float) -> object:
    """``h = scaling (h + alpha (v² - u²))`` for as many rows as a register holds; return it."""
    moved = minus(times(v, v), times(u, u))
    new = times(spread(scaling), fma(spread(alpha), moved, load(h, b)))
    store(h, b, new)
    return new


@exact
def row_pass_after_step(
    blocks: Singles,
    W: Singles,
    alpha: float,
    scaling: float,
    h: Singles,
    own: tuple[int, int],
    D: Singles,
    least: Singles,
) -> None:
    """Bring ``h_l = x_l'M x_l`` up to ``scaling (M + alpha (vv' - uu'))``; then like :func:`row_pass`.

    y, u and v are the rows of W.
    """
    count, d, _ = blocks.shape
    two = spread(-2.0)
    for b in range(0, count * BLOCK, BLOCK):
        y0 = y1 = y2 = y3 = u0 = u1 = u2 = u3 = v0 = v1 = v2 = v3 = spread(0.0)
        if own[0] <= b < own[1]:
            for a in range(d):
                ua, va, at = spread_from(W, d + a), spread_from(W, 2 * d + a), b * d + a * BLOCK
                x = load(blocks, at)
                u0, v0 = fma(ua, x, u0), fma(va, x, v0)
                x = load(blocks, at + WIDTH)
                u1, v1 = fma(ua, x, u1), fma(va, x, v1)
                x = load(blocks, at + 2 * WIDTH)
                u2, v2 = fma(ua, x, u2), fma(va, x, v2)
                x = load(blocks, at + 3 * WIDTH)
                u3, v3 = fma(ua, x, u3), fma(va, x, v3)
        else:
            for a in range(d):
                ya, ua, va = spread_from(W, a), spread_from(W, d + a), spread_from(W, 2 * d + a)
                at = b * d + a * BLOCK
                x = load(blocks, at)
                y0, u0, v0 = fma(ya, x, y0), fma(ua, x, u0), fma(va, x, v0)
                x = load(blocks, at + WIDTH)
                y1, u1, v1 = fma(ya, x, y1), fma(ua, x, u1), fma(va, x, v1)
                x = load(blocks, at + 2 * WIDTH)
                y2, u2, v2 = fma(ya, x, y2), fma(ua, x, u2), fma(va, x, v2)
                x = load(blocks, at + 3 * WIDTH)
                y3, u3, v3 = fma(ya, x, y3), fma(ua, x, u3), fma(va, x, v3)
        h0, h1 = _renew(h, b, u0, v0, alpha, scaling), _renew(h, b + WIDTH, u1, v1, alpha, scaling)
        h2 = _renew(h, b + 2 * WIDTH, u2, v2, alpha, scaling)
        h3 = _renew(h, b + 3 * WIDTH, u3, v3, alpha, scaling)
        if not own[0] <= b < own[1]:
            y0, y1, y2, y3 = fma(two, y0, h0), fma(two, y1, h1), fma(two, y2, h2), fma(two, y3, h3)
            _store_distances(D, least, b, y0, y1, y2, y3)
