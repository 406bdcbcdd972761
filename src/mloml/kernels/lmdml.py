"""Compiled steps of LMDML: impostor search by one pass over the rows, safe step, tracked inverse.

Rows are sorted by class and padded, as are the matrices M and K = M⁻¹ (see ``padding``); ``blocks`` holds
the rows in the order in which a pass reads them. ``h`` holds ``x_l' M x_l`` of every row, kept up to date, so
that the search needs one product per row only: ``D(x_i, x_l) = h_i + h_l - 2 x_l'(M x_i)``. What a step does
to h is done in the pass of the next visit, see ``rows``: all rows are read once per visit.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mloml.kernels.lmdml_rows import row_pass, row_pass_after_step
from mloml.kernels.padding import WIDTH
from mloml.kernels.simd import exact, fma, load, minus, spread, store, total

Array = NDArray[np.float64]
Index = NDArray[np.intp]
SAFETY = 0.9  # share of the largest step that keeps M positive definite
REINVERT_EVERY = 500
DRIFT = 1e-7  # |M K u - u| / |u| above which the tracked inverse K is renewed at once
USELESS = 1e-3  # still above this after renewal: M is too near singular for a step


@exact
def quadratic(A: Array, X: Array, i: int, out: Array) -> float:
    """``out = A x`` for row i of X; return ``x' A x``."""
    d, m = A.shape
    value = 0.0
    for a in range(d):
        s = spread(0.0)
        for b in range(0, m, WIDTH):
            s = fma(load(A, a * m + b), load(X, i * m + b), s)
        out[a] = total(s)
        value += out[a] * X[i, a]
    return value


@exact
def difference(X: Array, j: int, i: int, out: Array, k: int) -> None:
    """``out_k = x_j - x_i``."""
    m = X.shape[1]
    for a in range(0, m, WIDTH):
        store(out, k * m + a, minus(load(X, j * m + a), load(X, i * m + a)))


@exact
def invert(M: Array, K: Array) -> None:
    """``K = M⁻¹`` of a positive definite M, by sweeping one diagonal element after the other.

    Own loops rather than LAPACK: the result does not depend on the library, nor on its threads.
    """
    d, m = M.shape
    for a in range(d):
        for b in range(m):  # K[:] = M would compile a message about shapes, for seconds
            K[a, b] = M[a, b]
    for k in range(d):
        pivot = 1.0 / K[k, k]
        K[k, k] = 1.0
        for b in range(d):
            K[k, b] *= pivot
        for a in range(d):
            if a != k:
                factor = K[a, k]
                K[a, k] = 0.0
                for b in range(d):
                    K[a, b] -= factor * K[k, b]


@exact
def self_products(M: Array, X: Array, h: Array) -> None:
    """``h_l = x_l' M x_l`` for all rows."""
    work = np.empty(M.shape[1])
    for i in range(X.shape[0]):
        h[i] = quadratic(M, X, i, work)


@exact
def nearest(D: Array, n: int, first: int, last: int) -> int:
    """Return the row outside ``first:last`` (the class of the anchor) with the least entry of D."""
    best, row = np.inf, -1
    for b in range(n):
        if D[b] < best and (b < first or b >= last):
            best = D[b]
            row = b
    return row


@exact
def farthest_target(M: Array, X: Array, targets: Index, i: int, V: Array, work: Array) -> float:
    """Put ``x⁺ - x_i`` of the target x⁺ farthest from row i under M into the first row of V; return D."""
    worst, farthest = -1.0, targets[i, 0]
    for t in range(targets.shape[1]):
        difference(X, targets[i, t], i, V, 0)
        D = quadratic(M, V, 0, work)
        if D > worst:  # noqa: SIM300
            worst = D
            farthest = targets[i, t]
    difference(X, farthest, i, V, 0)
    return worst


@exact
def _drift(M: Array, Ku: Array, V: Array, work: Array) -> float:
    quadratic(M, Ku, 0, work)
    error, size = 0.0, 0.0
    for a in range(M.shape[0]):
        error += (work[a] - V[0, a]) ** 2
        size += V[0, a] ** 2
    return np.sqrt(error / size) if size > 0.0 else 0.0


@exact
def safe_step(M: Array, K: Array, V: Array, rate: float, bound: float, work: Array) -> tuple[float, float]:
    """``M += α (vv' - uu')`` with ``K = M⁻¹`` following, then the trace bound; return α and the scaling.

    u and v are the rows of V. α is the rate, or nine tenths of the largest step that keeps M positive
    definite if that is smaller. ``work`` is (3, m), zero in the padding. α = 0: no step was possible.
    """
    Ku, Kv, w = work[0], work[1], work[2]
    u, v = V[0], V[1]
    d, m = M.shape
    uu = quadratic(K, V, 0, Ku)
    if not _drift(M, work, V, w) <= DRIFT:
        invert(M, K)
        uu = quadratic(K, V, 0, Ku)
        if not _drift(M, work, V, w) <= USELESS:
            return 0.0, 1.0
    vv = quadratic(K, V, 1, Kv)
    uv = 0.0
    for a in range(d):
        uv += Ku[a] * v[a]
    G = max(0.0, vv * uu - uv * uv)
    denominator = (uu - vv) + np.sqrt((vv - uu) ** 2 + 4.0 * G)
    largest = 2.0 / denominator if denominator > 0.0 else np.inf
    alpha = min(SAFETY * largest, rate)

    shrink_v = alpha / (1.0 + alpha * vv)
    uw = uu - shrink_v * uv * uv
    for a in range(d):
        w[a] = Ku[a] - shrink_v * uv * Kv[a]
    if not 1.0 - alpha * uw > 0.0:
        return 0.0, 1.0
    grow_u = alpha / (1.0 - alpha * uw)
    trace = 0.0
    for a in range(d):
        trace += M[a, a] + alpha * (v[a] * v[a] - u[a] * u[a])
    scaling = bound / trace if trace > bound else 1.0
    back = 1.0 / scaling
    for a in range(d):
        for b in range(m):
            M[a, b] = scaling * (M[a, b] + alpha * (v[a] * v[b] - u[a] * u[b]))
            K[a, b] = back * (K[a, b] + grow_u * w[a] * w[b] - shrink_v * Kv[a] * Kv[b])
    return alpha, scaling


@exact
def epoch(
    M: Array,
    K: Array,
    h: Array,
    X: Array,
    blocks: Array,
    starts: Index,
    codes: Index,
    targets: Index,
    order: Index,
    step: int,
    max_steps: int,
    updates: int,
    bound: float,
) -> tuple[int, int]:
    """Visit the rows in ``order``, violators moving to its front; return the steps and updates so far."""
    n, m = X.shape
    V, y, work, D = np.zeros((2, m)), np.zeros(m), np.zeros((3, m)), np.empty(h.size)
    front = 0
    alpha, scaling = 0.0, 1.0  # of a step that h does not know yet
    for position in range(order.size):
        if step >= max_steps:
            break
        step += 1
        i = order[position]
        quadratic(M, X, i, y)
        if alpha > 0.0:
            row_pass_after_step(blocks, y, V, alpha, scaling, h, D)
            alpha = 0.0
        else:
            row_pass(blocks, y, h, D)
        near = farthest_target(M, X, targets, i, V, y)
        difference(X, nearest(D, n, starts[codes[i]], starts[codes[i] + 1]), i, V, 1)
        if 1.0 + near - quadratic(M, V, 1, y) <= 0.0:
            continue
        order[position], order[front] = order[front], i
        front += 1
        alpha, scaling = safe_step(M, K, V, 1.0 / np.sqrt(step), bound, work)
        if alpha == 0.0:
            continue
        updates += 1
        if updates % REINVERT_EVERY == 0:
            invert(M, K)
            self_products(M, X, h)
            alpha = 0.0
    if alpha > 0.0:
        row_pass_after_step(blocks, y, V, alpha, scaling, h, D)
    return step, updates


@exact
def mean_hinge(
    M: Array, h: Array, X: Array, blocks: Array, starts: Index, codes: Index, targets: Index, anchors: Index
) -> float:
    """Return the mean over the anchors of ``[1 + D(x, x+) - D(x, x-)]₊``; h is brought up to M first."""
    n, m = X.shape
    V, y, D = np.zeros((2, m)), np.zeros(m), np.empty(h.size)
    self_products(M, X, h)
    value = 0.0
    for i in anchors:
        quadratic(M, X, i, y)
        row_pass(blocks, y, h, D)
        near = farthest_target(M, X, targets, i, V, y)
        difference(X, nearest(D, n, starts[codes[i]], starts[codes[i] + 1]), i, V, 1)
        value += max(0.0, 1.0 + near - quadratic(M, V, 1, y))
    return value / anchors.size
