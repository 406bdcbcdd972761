"""Compiled steps of LMDML: impostor search by one pass over the rows, safe step, tracked inverse.

Rows are sorted by class and padded, as are the matrices M and K = M⁻¹ (see ``padding``). How the nearest
impostor is found is told in ``lmdml_search``, the pass over all rows that it rests on in ``lmdml_rows``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mloml.kernels.lmdml_rows import WIDTH, places_of_class
from mloml.kernels.lmdml_search import (
    error_of_pass,
    error_of_products,
    farthest_target,
    nearest_impostor,
    quadratic,
    search_pass,
    self_products,
)
from mloml.kernels.simd import exact

Array = NDArray[np.float64]
Index = NDArray[np.intp]
Singles = NDArray[np.float32]
SAFETY = 0.9  # share of the largest step that keeps M positive definite
REINVERT_EVERY = 500
DRIFT = 1e-7  # |M K u - u| / |u| above which the tracked inverse K is renewed at once
USELESS = 1e-3  # still above this after renewal: M is too near singular for a step


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
    h: Singles,
    X: Array,
    blocks: Singles,
    units: Array,
    places: Index,
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
    d, m = M.shape
    V, y, work = np.zeros((2, m)), np.zeros(m), np.zeros((3, m))
    W, D = np.zeros((3, d), dtype=np.float32), np.empty(h.size, dtype=np.float32)
    least = np.empty(blocks.shape[0] * WIDTH, dtype=np.float32)
    front = 0
    error = error_of_products(M, units)
    alpha, scaling = 0.0, 1.0  # of a step that h does not know yet
    for position in range(order.size):
        if step >= max_steps:
            break
        step += 1
        i = order[position]
        quadratic(M, X, i, y)
        own = places_of_class(places, starts, codes[i], h.size)
        error = search_pass(blocks, y, V, W, units, alpha, scaling, M, error, h, own, D, least)
        alpha = 0.0
        margin = 2.0 * (error + error_of_pass(y, units, M, d))
        near = farthest_target(M, X, places, targets, i, h, units, margin, D, V, y)
        far = nearest_impostor(M, X, places, starts, codes[i], i, D, least, margin, V, y)
        if 1.0 + near - far <= 0.0:
            continue
        order[position], order[front] = order[front], i
        front += 1
        alpha, scaling = safe_step(M, K, V, 1.0 / np.sqrt(step), bound, work)
        if alpha == 0.0:
            continue
        updates += 1
        if updates % REINVERT_EVERY == 0:
            invert(M, K)
            self_products(M, X, units, places, h)
            error = error_of_products(M, units)
            alpha = 0.0
    if alpha > 0.0:
        own = places_of_class(places, starts, 0, h.size)
        search_pass(blocks, y, V, W, units, alpha, scaling, M, error, h, own, D, least)
    return step, updates


@exact
def mean_hinge(
    M: Array,
    h: Singles,
    X: Array,
    blocks: Singles,
    units: Array,
    places: Index,
    starts: Index,
    codes: Index,
    targets: Index,
    anchors: Index,
) -> float:
    """Return the mean over the anchors of ``[1 + D(x, x+) - D(x, x-)]₊``; h is brought up to M first."""
    d, m = M.shape
    V, y = np.zeros((2, m)), np.zeros(m)
    W, D = np.zeros((3, d), dtype=np.float32), np.empty(h.size, dtype=np.float32)
    least = np.empty(blocks.shape[0] * WIDTH, dtype=np.float32)
    self_products(M, X, units, places, h)
    error = error_of_products(M, units)
    value = 0.0
    for i in anchors:
        quadratic(M, X, i, y)
        own = places_of_class(places, starts, codes[i], h.size)
        search_pass(blocks, y, V, W, units, 0.0, 1.0, M, error, h, own, D, least)
        margin = 2.0 * (error + error_of_pass(y, units, M, d))
        near = farthest_target(M, X, places, targets, i, h, units, margin, D, V, y)
        far = nearest_impostor(M, X, places, starts, codes[i], i, D, least, margin, V, y)
        value += max(0.0, 1.0 + near - far)
    return value / anchors.size
