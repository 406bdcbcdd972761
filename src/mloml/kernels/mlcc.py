"""ML-CC compiled: the descent over margins between centres of clusters."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mloml.kernels.compiled import kernel
from mloml.kernels.descent.lbfgs import EVALUATE, Memory, advance
from mloml.kernels.eights import (
    ROWS,
    WIDE,
    below,
    fma,
    load,
    minus,
    multiply,
    plus,
    spread,
    spread_from,
    store,
    two_products,
    wide_zeros,
)
from mloml.kernels.mlcc_lloyd import BLOCK, fill_blocks
from mloml.kernels.simd import exact

Array = NDArray[np.float64]
Index = NDArray[np.intp]
Bits = NDArray[np.int32]


class Centres(NamedTuple):
    """Rows and the centres of their clusters, what is active, and the room one evaluation needs.

    Matrices are padded as ``eights`` wants them. Bit j of an entry of ``others`` and ``active`` stands for
    row j of a block.
    """

    X: Array
    M: Array  # centres
    pulls: Array  # Σ (xi - m⁺)², of each feature
    own: Index  # the cluster of each row
    classes: Index  # the class of each cluster
    blocks: Array  # the rows again, 16 at a time
    others: Bits  # others[b, c]: the rows of block b of another class than cluster c
    active: Bits  # active[b, c]: those of them with an active hinge
    hinges: Array  # the number of active hinges
    N: Array  # that of the rows that each centre repels, minus that of those it attracts
    T: Array  # their sums
    A: Array
    AT: Array
    C: Array
    B: Array
    U: Array
    E: Array
    G: Array
    V: Array
    bases: Array
    halves: Array


def room_for(X: Array, own: Index, M: Array, classes: Index, pulls: Array) -> Centres:
    """Return the rows and centres, both padded, with their room."""
    n, k, d = own.size, classes.size, pulls.size
    count = -(-n // BLOCK)
    A, C = wide_zeros(d, d), M.shape
    return Centres(
        X, M, pulls, own, classes, np.empty((count, d, BLOCK)), np.empty((count, k), dtype=np.int32),
        np.empty((count, k), dtype=np.int32), np.zeros(1), np.zeros(k), np.zeros(C), A, np.zeros_like(A),
        np.zeros(C), np.zeros(C), np.zeros(C), np.zeros(C), np.zeros_like(A), np.zeros((C[0], BLOCK)),
        np.zeros(BLOCK), np.zeros(k),
    )  # fmt: skip


@exact
def begin(p: Centres) -> None:
    """Put the rows into blocks, with no hinge active: nothing depends on what was evaluated before."""
    fill_blocks(p.X, p.own.size, p.blocks)
    of_class = np.zeros(p.classes.max() + 1, np.int32)
    for b in range(p.blocks.shape[0]):
        of_class[:] = 0
        rows = min(BLOCK, p.own.size - b * BLOCK)
        for j in range(rows):
            of_class[p.classes[p.own[b * BLOCK + j]]] |= 1 << j
        for c in range(p.classes.size):
            p.others[b, c] = ((1 << rows) - 1) ^ of_class[p.classes[c]]
    p.active[:] = 0
    p.hinges[0] = 0.0
    p.N[:] = 0.0
    p.T[:] = 0.0


@kernel
def centre_objective(A: Array, mu: float, p: Centres, gradient: Array) -> float:
    """Return the sum of pulls to the own centre and hinges against centres of other classes.

    ``gradient`` is with respect to A. In ``1 + D(x, m⁺) - D(x, m)`` the term ``x'A'Ax`` cancels: all that an
    evaluation needs of the rows are their products with the vectors ``A'A m``. The weights of the gradient

        Σ_active (x - m⁺)(x - m⁺)' - (x - m)(x - m)'  =  M'U + U'M,    U = T - diag(N) M / 2

    are sums of rows, ``T_c = Σ x`` and counts ``N_c``, over the rows that centre c repels, minus those over
    the rows that it attracts (each as often as the row has active hinges). Few hinges change from one
    evaluation to the next: T and N are brought up to date by those that do. The gradient is
    ``2 ((1 - μ) A P + μ (A M'U + A U'M))``, P diagonal.
    """
    d, k = A.shape[0], p.N.size
    for a in range(d):
        for b in range(d):
            p.A[a, b] = A[a, b]
            p.AT[b, a] = A[a, b]
    multiply(p.M, p.AT, d, p.C)
    multiply(p.C, p.A, d, p.B)
    for c in range(k):
        length = 0.0
        for a in range(d):
            length += p.C[c, a] * p.C[c, a]
        p.halves[c] = 0.5 * length
    _renew_active(p)
    for c in range(k):
        for a in range(d):
            p.U[c, a] = p.T[c, a] - 0.5 * p.N[c] * p.M[c, a]
    multiply(p.U, p.AT, d, p.E)
    two_products(p.C, p.U, p.E, p.M, k, p.G)
    value = 0.0
    for a in range(d):
        for b in range(d):
            slope = (1.0 - mu) * A[a, b] * p.pulls[b] + mu * p.G[a, b]
            value += slope * A[a, b]
            gradient[a, b] = 2.0 * slope
    return value + mu * p.hinges[0]


@exact
def _renew_active(p: Centres) -> None:
    """Find which hinges are active and bring their number, N and T up to date."""
    k, n = p.N.size, p.own.size
    for b in range(p.blocks.shape[0]):
        _products(p.blocks, b, p.B, p.V)
        for j in range(min(BLOCK, n - b * BLOCK)):
            c = p.own[b * BLOCK + j]
            p.bases[j] = 0.5 + p.halves[c] - p.V[c, j]
        low, high = load(p.bases, 0), load(p.bases, WIDE)
        for c in range(k):
            half = spread_from(p.halves, c)
            places = below(half, plus(low, load(p.V, c * BLOCK)))
            places |= below(half, plus(high, load(p.V, c * BLOCK + WIDE))) << WIDE
            places &= p.others[b, c]
            before = p.active[b, c]
            if places != before:
                p.active[b, c] = places
                _flip(p, b, c, places, places ^ before)


@exact
def _flip(p: Centres, b: int, c: int, places: int, changed: int) -> None:
    """Add the rows whose hinge against centre c became active, subtract those where it ceased to be."""
    i, m = b * BLOCK, p.X.shape[1]
    while changed:
        if changed & 1:
            sign = 1.0 if places & 1 else -1.0
            own = p.own[i]
            p.hinges[0] += sign
            p.N[c] += sign
            p.N[own] -= sign
            s = spread(sign)
            for a in range(0, m, WIDE):
                x = load(p.X, i * m + a)
                store(p.T, c * m + a, fma(s, x, load(p.T, c * m + a)))
                t = load(p.T, own * m + a)
                store(p.T, own * m + a, minus(t, fma(s, x, spread(0.0))))
        changed >>= 1
        places >>= 1
        i += 1


@exact
def _products(blocks: Array, b: int, B: Array, V: Array) -> None:
    """``V_cj = x_j'b_c`` for the rows of block b and the rows of B."""
    d, m = blocks.shape[1], B.shape[1]
    for c in range(0, B.shape[0], ROWS):
        at = c * m
        p0 = p1 = p2 = p3 = q0 = q1 = q2 = q3 = spread(0.0)
        for a in range(d):
            place = (b * d + a) * BLOCK
            x, y = load(blocks, place), load(blocks, place + WIDE)
            w = spread_from(B, at + a)
            p0, q0 = fma(w, x, p0), fma(w, y, q0)
            w = spread_from(B, at + m + a)
            p1, q1 = fma(w, x, p1), fma(w, y, q1)
            w = spread_from(B, at + 2 * m + a)
            p2, q2 = fma(w, x, p2), fma(w, y, q2)
            w = spread_from(B, at + 3 * m + a)
            p3, q3 = fma(w, x, p3), fma(w, y, q3)
        store(V, c * BLOCK, p0)
        store(V, c * BLOCK + WIDE, q0)
        store(V, (c + 1) * BLOCK, p1)
        store(V, (c + 1) * BLOCK + WIDE, q1)
        store(V, (c + 2) * BLOCK, p2)
        store(V, (c + 2) * BLOCK + WIDE, q2)
        store(V, (c + 3) * BLOCK, p3)
        store(V, (c + 3) * BLOCK + WIDE, q3)


@kernel
def centre_descent(
    A: Array, mu: float, p: Centres, memory: Memory, tol: float, max_iter: int, gradient: Array
) -> int:
    """Minimise :func:`centre_objective` from A, in place; return how it ended, see ``lbfgs``."""
    begin(p)
    x, slopes = A.reshape(A.size), gradient.reshape(A.size)
    status = EVALUATE
    while status == EVALUATE:
        status = advance(x, centre_objective(A, mu, p, gradient), slopes, memory, tol, max_iter)
    return status


@kernel
def centre_value(A: Array, mu: float, p: Centres, gradient: Array) -> float:
    """Return :func:`centre_objective` of A alone."""
    begin(p)
    return float(centre_objective(A, mu, p, gradient))
