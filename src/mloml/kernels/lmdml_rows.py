"""One pass over all training rows, sixteen at a time in registers: what LMDML's impostor search costs.

``blocks`` holds the rows in the order in which a pass reads them: sixteen rows' first features, the same
rows' second features and so on, then the next sixteen rows. The last block is filled up with zeros, and
vectors over the rows (h, D) have as many entries as there are rows in all blocks.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mloml.kernels.padding import zeros
from mloml.kernels.simd import exact, fma, load, minus, spread, spread_from, store, times

Array = NDArray[np.float64]
BLOCK = 16


def in_blocks(X: Array) -> Array:
    """Return the rows of X in blocks of shape (n_blocks, n_features, BLOCK).

    >>> in_blocks(np.ones((17, 2))).shape
    (2, 2, 16)
    """
    n, d = X.shape
    rows = np.zeros((-(-n // BLOCK) * BLOCK, d))
    rows[:n] = X
    blocks = zeros(len(rows) // BLOCK, d, BLOCK)
    blocks[:] = rows.reshape(-1, BLOCK, d).transpose(0, 2, 1)
    return blocks


@exact
def row_pass(blocks: Array, y: Array, h: Array, D: Array) -> None:
    """``D_l = h_l - 2 x_l'y`` for all rows."""
    count, d, _ = blocks.shape
    two = spread(-2.0)
    for b in range(0, count * BLOCK, BLOCK):
        y0 = y1 = y2 = y3 = spread(0.0)
        for a in range(d):
            ya, at = spread_from(y, a), b * d + a * BLOCK
            y0 = fma(ya, load(blocks, at), y0)
            y1 = fma(ya, load(blocks, at + 4), y1)
            y2 = fma(ya, load(blocks, at + 8), y2)
            y3 = fma(ya, load(blocks, at + 12), y3)
        store(D, b, fma(two, y0, load(h, b)))
        store(D, b + 4, fma(two, y1, load(h, b + 4)))
        store(D, b + 8, fma(two, y2, load(h, b + 8)))
        store(D, b + 12, fma(two, y3, load(h, b + 12)))


@exact
def _renew(h: Array, D: Array, b: int, y: object, u: object, v: object, alpha: float, scaling: float) -> None:
    """``h = scaling (h + alpha (v² - u²))``, then ``D = h - 2 y``, for four rows."""
    moved = minus(times(v, v), times(u, u))
    new = times(spread(scaling), fma(spread(alpha), moved, load(h, b)))
    store(h, b, new)
    store(D, b, fma(spread(-2.0), y, new))


@exact
def row_pass_after_step(
    blocks: Array, y: Array, V: Array, alpha: float, scaling: float, h: Array, D: Array
) -> None:
    """Bring ``h_l = x_l'M x_l`` up to ``scaling (M + alpha (vv' - uu'))``; then like :func:`row_pass`.

    u and v are the rows of V.
    """
    count, d, _ = blocks.shape
    m = V.shape[1]
    for b in range(0, count * BLOCK, BLOCK):
        y0 = y1 = y2 = y3 = u0 = u1 = u2 = u3 = v0 = v1 = v2 = v3 = spread(0.0)
        for a in range(d):
            ya, ua, va = spread_from(y, a), spread_from(V, a), spread_from(V, m + a)
            at = b * d + a * BLOCK
            x = load(blocks, at)
            y0, u0, v0 = fma(ya, x, y0), fma(ua, x, u0), fma(va, x, v0)
            x = load(blocks, at + 4)
            y1, u1, v1 = fma(ya, x, y1), fma(ua, x, u1), fma(va, x, v1)
            x = load(blocks, at + 8)
            y2, u2, v2 = fma(ya, x, y2), fma(ua, x, u2), fma(va, x, v2)
            x = load(blocks, at + 12)
            y3, u3, v3 = fma(ya, x, y3), fma(ua, x, u3), fma(va, x, v3)
        _renew(h, D, b, y0, u0, v0, alpha, scaling)
        _renew(h, D, b + 4, y1, u1, v1, alpha, scaling)
        _renew(h, D, b + 8, y2, u2, v2, alpha, scaling)
        _renew(h, D, b + 12, y3, u3, v3, alpha, scaling)
