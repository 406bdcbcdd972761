"""LMDML visit by visit, with all distances and the inverse computed anew: slow and obvious."""

import numpy as np

from mloml.arrays import Array, Codes, Index


def hinge(M: Array, X: Array, codes: Codes, targets: Index, i: int) -> tuple[float, Array, Array]:
    """Return 1 + D(x, x+) - D(x, x-), x+ - x and x- - x."""
    differences = X - X[i]
    D = np.einsum("ja,ab,jb->j", differences, M, differences)
    farthest = max(targets[i], key=lambda j: D[j])
    nearest = min(np.flatnonzero(codes != codes[i]), key=lambda j: D[j])
    return 1 + D[farthest] - D[nearest], differences[farthest], differences[nearest]


def mean_hinge(M: Array, X: Array, codes: Codes, targets: Index) -> float:
    """Return LMDML's objective over all samples that have targets."""
    anchors = np.flatnonzero(targets[:, 0] >= 0)
    return float(np.mean([max(0.0, hinge(M, X, codes, targets, i)[0]) for i in anchors]))


def largest_step(M: Array, u: Array, v: Array) -> float:
    """Return the alpha that makes M + alpha (vv' - uu') singular: 1 / top eigenvalue of K (uu' - vv')."""
    U = np.linalg.solve(np.linalg.cholesky(M), np.array([u, v]).T)
    top = np.linalg.eigvalsh(np.outer(U[:, 0], U[:, 0]) - np.outer(U[:, 1], U[:, 1]))[-1]
    return float(1 / top) if top > 0 else np.inf


def step_from(M: Array, u: Array, v: Array, rate: float, bound: float) -> Array:
    """Return M after the safe step and the trace bound."""
    M = M + min(0.9 * largest_step(M, u, v), rate) * (np.outer(v, v) - np.outer(u, u))
    return M * min(1.0, bound / np.trace(M))


def epoch(
    M: Array,
    X: Array,
    codes: Codes,
    targets: Index,
    order: list[int],
    step: int,
    bound: float,
    rate: float = 1.0,
) -> tuple[Array, list[int], int, float]:
    """Visit the samples in order; return M, the next order, the updates and the sum of the hinges."""
    order, front, loss = list(order), 0, 0.0
    for position, i in enumerate(order):
        step += 1
        value, u, v = hinge(M, X, codes, targets, i)
        if value > 0:
            M, loss = step_from(M, u, v, rate * step**-0.5, bound), loss + value
            order[position], order[front] = order[front], order[position]
            front += 1
    return M, order, front, loss
