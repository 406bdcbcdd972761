"""Compiled steps of LMDML: impostor search by one pass over the rows, safe step, tracked inverse.

Rows are sorted by class; ``XT`` is their transpose, so that a pass runs along contiguous memory. ``h`` holds
``x_l' M x_l`` of every row, kept up to date, so that the search needs one product per row only:
``D(x_i, x_l) = h_i + h_l - 2 x_l'(M x_i)``.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Array = NDArray[np.float64]
Index = NDArray[np.intp]
FAST = {"reassoc", "contract", "arcp", "nsz"}
SAFETY = 0.9  # share of the largest step that keeps M positive definite
REINVERT_EVERY = 500
DRIFT = 1e-7  # |M K u - u| / |u| above which the tracked inverse K is renewed at once
USELESS = 1e-3  # still above this after renewal: M is too near singular for a step


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def _times(A: Array, x: Array, out: Array) -> float:
    """``out = A x``; return ``x' A x``."""
    total = 0.0
    for a in range(x.size):
        s = 0.0
        for b in range(x.size):
            s += A[a, b] * x[b]
        out[a] = s
        total += s * x[a]
    return total


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def _difference(X: Array, j: int, i: int, out: Array) -> None:
    for a in range(out.size):
        out[a] = X[j, a] - X[i, a]


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def invert(M: Array, K: Array) -> None:
    """``K = M⁻¹`` of a positive definite M, by sweeping one diagonal element after the other.

    Own loops rather than LAPACK: the result does not depend on the library, nor on its threads.
    """
    d = M.shape[0]
    K[:, :] = M
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


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def _projections(XT: Array, x: Array, out: Array) -> None:
    """``out_l = x_l' x`` for all rows."""
    out[:] = 0.0
    for a in range(x.size):
        row = XT[a]
        xa = x[a]
        for b in range(out.size):
            out[b] += xa * row[b]


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def self_products(M: Array, X: Array, h: Array) -> None:
    """``h_l = x_l' M x_l`` for all rows."""
    work = np.empty(M.shape[0])
    for i in range(X.shape[0]):
        h[i] = _times(M, X[i], work)


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def nearest_impostor(
    M: Array, X: Array, XT: Array, h: Array, i: int, first: int, last: int, y: Array, products: Array
) -> int:
    """Return the row outside ``first:last`` (the class of row i) that is nearest to row i under M."""
    _times(M, X[i], y)
    _projections(XT, y, products)
    best, nearest = np.inf, -1
    for b in range(h.size):
        if b < first or b >= last:
            D = h[b] - 2.0 * products[b]
            if D < best:  # noqa: SIM300
                best = D
                nearest = b
    return nearest


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def farthest_target(M: Array, X: Array, targets: Index, i: int, u: Array, work: Array) -> int:
    """Return the target of row i that is farthest under M."""
    worst, farthest = -1.0, targets[i, 0]
    for t in range(targets.shape[1]):
        _difference(X, targets[i, t], i, u)
        D = _times(M, u, work)
        if D > worst:  # noqa: SIM300
            worst = D
            farthest = targets[i, t]
    return farthest


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def _drift(M: Array, Ku: Array, u: Array, work: Array) -> float:
    _times(M, Ku, work)
    error, size = 0.0, 0.0
    for a in range(u.size):
        error += (work[a] - u[a]) ** 2
        size += u[a] ** 2
    return np.sqrt(error / size) if size > 0.0 else 0.0


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def safe_step(
    M: Array, K: Array, u: Array, v: Array, rate: float, bound: float, work: Array
) -> tuple[float, float]:
    """``M += α (vv' - uu')`` with ``K = M⁻¹`` following, then the trace bound; return α and the scaling.

    α is the rate, or nine tenths of the largest step that keeps M positive definite if that is smaller.
    ``work`` is (3, d). α = 0: no step was possible.
    """
    Ku, Kv, w = work[0], work[1], work[2]
    d = u.size
    uu = _times(K, u, Ku)
    if not _drift(M, Ku, u, w) <= DRIFT:
        invert(M, K)
        uu = _times(K, u, Ku)
        if not _drift(M, Ku, u, w) <= USELESS:
            return 0.0, 1.0
    vv = _times(K, v, Kv)
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
        for b in range(d):
            M[a, b] += alpha * (v[a] * v[b] - u[a] * u[b])
            K[a, b] += grow_u * w[a] * w[b] - shrink_v * Kv[a] * Kv[b]
        trace += M[a, a]
    scaling = 1.0
    if trace > bound:
        scaling = bound / trace
        for a in range(d):
            for b in range(d):
                M[a, b] *= scaling
                K[a, b] /= scaling
    return alpha, scaling


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def epoch(
    M: Array,
    K: Array,
    h: Array,
    X: Array,
    XT: Array,
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
    n, d = X.shape
    u, v, y, work = np.empty(d), np.empty(d), np.empty(d), np.empty((3, d))
    products, along_v = np.empty(n), np.empty(n)
    front = 0
    for position in range(order.size):
        if step >= max_steps:
            break
        step += 1
        i = order[position]
        first, last = starts[codes[i]], starts[codes[i] + 1]
        impostor = nearest_impostor(M, X, XT, h, i, first, last, y, products)
        target = farthest_target(M, X, targets, i, u, y)
        _difference(X, target, i, u)
        _difference(X, impostor, i, v)
        if 1.0 + _times(M, u, y) - _times(M, v, y) <= 0.0:
            continue
        order[position], order[front] = order[front], i
        front += 1
        alpha, scaling = safe_step(M, K, u, v, 1.0 / np.sqrt(step), bound, work)
        if alpha == 0.0:
            continue
        updates += 1
        if updates % REINVERT_EVERY == 0:
            invert(M, K)
            self_products(M, X, h)
        else:
            _projections(XT, u, products)
            _projections(XT, v, along_v)
            for b in range(n):
                h[b] = scaling * (h[b] + alpha * (along_v[b] ** 2 - products[b] ** 2))
    return step, updates


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def mean_hinge(
    M: Array, X: Array, XT: Array, starts: Index, codes: Index, targets: Index, anchors: Index
) -> float:
    """Return the mean over the anchors of ``[1 + D(x, x+) - D(x, x-)]₊``."""
    n, d = X.shape
    u, y, h, products = np.empty(d), np.empty(d), np.empty(n), np.empty(n)
    self_products(M, X, h)
    total = 0.0
    for i in anchors:
        impostor = nearest_impostor(M, X, XT, h, i, starts[codes[i]], starts[codes[i] + 1], y, products)
        target = farthest_target(M, X, targets, i, u, y)
        _difference(X, target, i, u)
        near = _times(M, u, y)
        _difference(X, impostor, i, u)
        total += max(0.0, 1.0 + near - _times(M, u, y))
    return total / anchors.size
