"""The stack again in plain NumPy, formula by formula: oracle of the tests, yardstick of the benchmarks.

The scans have the names of the compiled ones and take the same arguments; workspace is ignored. Factors are
computed from explicit inverses and eigendecompositions, and nothing is kept waiting.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mloml.arrays import Array, Counts, Triplets
from mloml.kernels.opml import KEPT
from mloml.kernels.stack import layout
from mloml.kernels.stack.layout import CLIP, FREE, SHRINK, SPLIT
from mloml.kernels.stack.rdml_frame import FLOOR, HALF


def phi(Z: Array, activation: int) -> Array:
    """Return the activation of ``Z``."""
    return (np.maximum(Z, 0), 1 / (1 + np.exp(-Z)), np.tanh(Z))[activation]


def phi_slope(Z: Array, activation: int) -> Array:
    """Return the derivative of the activation at ``Z``."""
    H = phi(Z, activation)
    return ((Z > 0).astype(float), H * (1 - H), 1 - H**2)[activation]


def hinge(Z: Array) -> float:
    """Return ``1 + ||z_t - z_p||² - ||z_t - z_q||²`` for the columns t, p, q of ``Z``."""
    u, v = Z[:, 0] - Z[:, 1], Z[:, 0] - Z[:, 2]
    return float(1 + u @ u - v @ v)


def largest_step(M: Array, A: Array) -> float:
    """Return where ``M - g A`` becomes singular: the inverse of the largest eigenvalue of ``M^-1 A``."""
    R = np.linalg.cholesky(M)
    top = np.linalg.eigvalsh(np.linalg.solve(R, np.linalg.solve(R, A).T))[-1]
    return float(1 / top) if top > 0 else np.inf


def split_metric(M: Array, p: Array, q: Array, g: float, keep: float, floor: float) -> tuple[Array, bool]:
    """Return the metric after the whole push and an admissible pull, and whether the pull was shortened."""
    pushed = M + g * np.outer(q, q)
    s = float(p @ np.linalg.solve(pushed, p))
    pull = max(0.0, min(g, (1 - keep) / s, 1 / s - floor / float(p @ p))) if s > 0 else g
    return pushed - pull * np.outer(p, p), pull < g


def moml_metric(
    M: Array, p: Array, q: Array, g: float, policy: int, keep: float = 0.1, floor: float = 0.1
) -> tuple[Array, bool]:
    """Return the metric after MOML's step and whether the full step was too much for the policy."""
    if policy == SPLIT:
        return split_metric(M, p, q, g, keep, floor)
    A = np.outer(p, p) - np.outer(q, q)
    trial = M - g * A
    if policy == FREE:
        return trial, False
    values, vectors = np.linalg.eigh(trial)
    if values[0] > 0:
        return trial, False
    if policy == SHRINK:
        return M - 0.9 * largest_step(M, A) * A, True
    if policy == CLIP:
        return (vectors * np.maximum(values, 1e-8)) @ vectors.T, True
    return M, True


def passive_step(A: Array, excess: float) -> float:
    """Return the step that brings the hinge to 0."""
    norm = float(np.sum(A**2))
    return excess / norm if norm > 0 else np.inf


def root(M: Array) -> Array:
    """Return the symmetric root."""
    values, vectors = np.linalg.eigh(M)
    return (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T


def factor(kind: int, L: Array, M: Array) -> Array:
    """Return the factor of ``M`` that follows ``L``."""
    if kind == layout.CHOLESKY:
        return np.asarray(np.linalg.cholesky(M).T, dtype=np.float64)
    if kind == layout.SYMMETRIC:
        return root(M)
    K = np.linalg.inv(L).T
    return root(K @ M @ K.T) @ L


def learn(i: int, L: Array, K: Array, H: Array, numbers: Array, counts: Counts, options: Counts) -> Array:
    """Return layer ``i`` after it has seen the samples ``H``."""
    kind, policy, variant = options[i]
    step, lower, upper = numbers[i, :3]
    d = len(H)
    layer = L[i, :d, :d]
    p, q = H[:, 0] - H[:, 1], H[:, 0] - H[:, 2]
    if step == 0:
        return layer
    if kind == layout.LEGO:
        for z, target in ((p, lower), (q, upper)):
            layer = lego_layer(layer, z, target, step)
        counts[i, layout.UPDATES] += 2
        return layer
    if kind == layout.RDML:
        return rdml_layer(i, layer, p, q, step, counts)
    M = layer.T @ layer
    excess = float(1 + p @ M @ p - q @ M @ q)
    if excess <= 0:
        return layer
    A = np.outer(p, p) - np.outer(q, q)
    if kind == layout.OPML:
        counts[i, layout.UPDATES] += 1
        s = q @ np.linalg.solve(np.eye(d) + step * np.outer(p, p), q)
        push = min(step, (1 - KEPT) / s) if s > 0 else step
        counts[i, layout.FAILURES] += push < step
        return layer @ np.linalg.inv(np.eye(d) + step * np.outer(p, p) - push * np.outer(q, q))
    g = min(step, passive_step(A, excess)) if variant == layout.PASSIVE_AGGRESSIVE else step
    new, failed = moml_metric(M, p, q, g, policy, numbers[i, layout.KEEP], numbers[i, layout.FLOOR])
    counts[i, layout.FAILURES] += failed
    if new is M:
        return layer
    counts[i, layout.UPDATES] += 1
    return factor(kind, layer, new)


def lego_layer(L: Array, z: Array, target: float, eta: float) -> Array:
    """Return ``L`` after a LEGO step on one pair."""
    w = L.T @ (L @ z)
    old = z @ w
    linear = eta * target * old - 1
    new = (linear + np.sqrt(linear**2 + 4 * eta * old**2)) / (2 * eta * old)
    s = eta * (new - target) / (1 + eta * (new - target) * old)
    return L - (1 - np.sqrt(1 - s * old)) / old * np.outer(L @ z, w)


def rdml_layer(i: int, L: Array, p: Array, q: Array, lam: float, counts: Counts) -> Array:
    """Return the factor after RDML's steps on both pairs: the metric stays above a floor."""
    for z, sign in ((p, 1), (q, -1)):
        M = L.T @ L
        if sign * (1 - z @ M @ z) > 0:
            continue
        counts[i, layout.UPDATES] += 1
        new = M - lam * sign * np.outer(z, z)
        if 1 - lam * sign * (z @ np.linalg.solve(M, z)) < HALF:
            values, vectors = np.linalg.eigh(new)
            if values[0] < FLOOR:
                counts[i, layout.FAILURES] += 1
                new += (FLOOR - values[0]) * np.outer(vectors[:, 0], vectors[:, 0])
        L = factor(layout.FRAME, L, new)
    return L


def fp_scan(rows: Array, triplets: Triplets, *stack: Any) -> int:
    """Forward propagation."""
    L, K, _, numbers, counts, options, activation, _, d = stack
    for triplet in triplets:
        forward(rows[triplet, :d].T, L, K, numbers, counts, options, activation)
    return len(triplets)


def forward(
    H: Array, L: Array, K: Array, numbers: Array, counts: Counts, options: Counts, activation: int
) -> tuple[list[Array], list[Array]]:
    """Let every layer learn from the samples in the columns of ``H``; return all inputs and outputs."""
    d = len(H)
    inputs, outputs = [], []
    for i in range(len(L)):
        inputs.append(H)
        L[i, :d, :d] = learn(i, L, K, H, numbers, counts, options)
        outputs.append(L[i, :d, :d] @ H)
        H = phi(outputs[-1], activation)
    return inputs, outputs


def gradients(
    L: Array, inputs: list[Array], outputs: list[Array], activation: int, local: list[float], own_too: bool
) -> list[Array]:
    """Return the gradient of the loss by each ``L_i`` (without the penalty); ``local`` are ``w_i s_i``."""
    result: list[Any] = [None] * len(L)
    above = np.zeros_like(outputs[-1])
    for i in reversed(range(len(L))):
        zt, zp, zq = outputs[i].T
        E = np.column_stack([zq - zp, zp - zt, zt - zq])
        active = hinge(outputs[i]) > 0
        own = active * E if i == len(L) - 1 else above * phi_slope(outputs[i], activation)
        full = own + 2 * local[i] * active * E
        result[i] = (full if own_too else own) @ inputs[i].T
        above = L[i].T @ full
    return result


def bp_scan(rows: Array, triplets: Triplets, *stack: Any) -> int:
    """Backward propagation."""
    L, K, _, numbers, counts, options, activation, rate, decay, d = stack
    still = numbers.copy()
    still[:, layout.STEP] = 0
    for triplet in triplets:
        layers = L[:, :d, :d]
        inputs, outputs = forward(rows[triplet, :d].T, L, K, still, counts, options, activation)
        dL = gradients(layers, inputs, outputs, activation, [0.0] * len(L), False)
        counts[:, layout.UPDATES] += hinge(outputs[-1]) > 0
        for i in range(len(L)):
            L[i, :d, :d] -= rate * (dL[i] + decay * layers[i])
    return len(triplets)


def fbp_scan(rows: Array, triplets: Triplets, *stack: Any) -> int:
    """Forward, then backward propagation."""
    L, K, _, numbers, counts, options, activation, rate, decay, local, own_too, freeze, _, d = stack
    for triplet in triplets:
        inputs, outputs = forward(rows[triplet, :d].T, L, K, numbers, counts, options, activation)
        scale = np.ones(len(L)) if local == 1 else numbers[:, layout.STEP]
        layers = L[:, :d, :d].copy()
        w = numbers[:, layout.WEIGHT]
        dL = gradients(layers, inputs, outputs, activation, list(w * scale), own_too)
        for i in range(len(L)):
            L[i, :d, :d] -= rate * (dL[i] + decay * layers[i])
            if not freeze:
                w[i] = max(0.0, w[i] - rate * scale[i] * max(0.0, hinge(outputs[i])))
    return len(triplets)


def moml_scan(rows: Array, triplets: Triplets, M: Array, *state: Any) -> int:
    """MOML on the metric itself."""
    _, _, counts, gamma, policy, variant, _, d = state
    metric = M[:d, :d]
    for t, i, j in triplets:
        p, q = rows[t, :d] - rows[i, :d], rows[t, :d] - rows[j, :d]
        excess = float(1 + p @ metric @ p - q @ metric @ q)
        if excess <= 0 or gamma == 0:
            continue
        A = np.outer(p, p) - np.outer(q, q)
        g = min(gamma, passive_step(A, excess)) if variant == layout.PASSIVE_AGGRESSIVE else gamma
        new, failed = moml_metric(metric, p, q, g, policy)
        counts[layout.FAILURES] += failed
        counts[layout.UPDATES] += new is not metric
        metric[:] = new
    return len(triplets)
