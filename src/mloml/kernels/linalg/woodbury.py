"""K follows a gradient step: ``L <- c (L - r G H')`` gives ``K <- (K + r U S^-T V') / c`` in O(d²).

``U = K H``, ``V = K'G`` and ``S = I - r U'G`` (3 x 3), with ``H = [p q h]`` and ``G`` the gradient in these
terms.
"""

from __future__ import annotations

from mloml.arrays import Array, Counts
from mloml.kernels.simd import exact
from mloml.kernels.stack import layout as at
from mloml.kernels.stack.row_passes import exchange_rows, scale_rows
from mloml.kernels.stack.vectors import add, clear, copy, inner

SINGULAR = 1e-10
"""A determinant of S below this (or above its inverse) would make ``L`` or K
useless: the gradient step of that layer is left out."""


@exact
def follow_inverse(
    i: int, K: Array, V: Array, counts: Counts, options: Counts, r: float, c: float, d: int
) -> bool:
    """Leave K's change waiting; G is in SPARE, DELTA is used up. False: the step would make L singular."""
    if options[i, at.KIND] != at.FRAME:
        return True
    m = V.shape[1]
    base, own = i * m * m, i * at.ROWS * m
    g, out, sums = own + at.SPARE * m, own + at.DELTA * m, own + at.SUMS * m
    left, right = own + at.K_LEFT * m, own + at.K_RIGHT * m
    exchange_rows(K, base, V, own + at.INPUT * m, g, out, sums, left, right, counts[i, at.K_RANK], d)
    counts[i, at.K_RANK] = 0
    # T = S^T = I - r G'U, then its inverse by cofactors
    t00, t01, t02 = 1.0 - r * inner(V, g, out), -r * inner(V, g, out + m), -r * inner(V, g, out + 2 * m)
    g += m
    t10, t11, t12 = -r * inner(V, g, out), 1.0 - r * inner(V, g, out + m), -r * inner(V, g, out + 2 * m)
    g += m
    t20, t21, t22 = -r * inner(V, g, out), -r * inner(V, g, out + m), 1.0 - r * inner(V, g, out + 2 * m)
    c00, c01, c02 = t11 * t22 - t12 * t21, t12 * t20 - t10 * t22, t10 * t21 - t11 * t20
    c10, c11, c12 = t02 * t21 - t01 * t22, t00 * t22 - t02 * t20, t01 * t20 - t00 * t21
    c20, c21, c22 = t01 * t12 - t02 * t11, t02 * t10 - t00 * t12, t00 * t11 - t01 * t10
    determinant = t00 * c00 + t01 * c01 + t02 * c02
    if not SINGULAR < abs(determinant) < 1.0 / SINGULAR:
        counts[i, at.FAILURES] += 1
        return False
    k = r / (c * determinant)
    copy(V, out, left, 3)
    clear(V, right, 3)
    combine(V, sums, right, k * c00, k * c10, k * c20)
    combine(V, sums, right + m, k * c01, k * c11, k * c21)
    combine(V, sums, right + 2 * m, k * c02, k * c12, k * c22)
    if c != 1.0:
        scale_rows(K, base, m, 1.0 / c)
    counts[i, at.K_RANK] = 3
    counts[i, at.AGE] += 1
    return True


@exact
def combine(V: Array, a: int, out: int, f: float, g: float, h: float) -> None:
    """Add ``f a0 + g a1 + h a2`` to one vector."""
    m = V.shape[1]
    add(V, a, out, f)
    add(V, a + m, out, g)
    add(V, a + 2 * m, out, h)
