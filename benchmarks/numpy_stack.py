"""A stack of metric layers in good plain NumPy: what the compiled scans are measured against."""

import numpy as np


def phi(Z: np.ndarray, activation: str) -> np.ndarray:
    if activation == "relu":
        return np.maximum(Z, 0.0)
    return np.tanh(Z) if activation == "tanh" else 1.0 / (1.0 + np.exp(-Z))


def slope(H: np.ndarray, activation: str) -> np.ndarray:
    if activation == "relu":
        return H > 0
    return 1.0 - H * H if activation == "tanh" else H * (1.0 - H)


def root(M: np.ndarray) -> np.ndarray:
    values, vectors = np.linalg.eigh(M)
    return (vectors * np.sqrt(values)) @ vectors.T


def metric_scan(X: np.ndarray, triplets: np.ndarray, gamma: float) -> np.ndarray:
    """MOML on the metric: two matrix-vector products and two outer products per triplet."""
    M = np.eye(X.shape[1])
    for t, i, j in triplets:
        p, q = X[t] - X[i], X[t] - X[j]
        if 1.0 + p @ (M @ p) - q @ (M @ q) > 0:
            M -= gamma * (np.outer(p, p) - np.outer(q, q))
    return M


def scan(
    X: np.ndarray,
    triplets: np.ndarray,
    n: int,
    factor: str,
    activation: str,
    strategy: str,
    gamma: float,
    rate: float,
) -> list[np.ndarray]:
    """Forward, backward or combined propagation over all triplets from a fresh start; return the layers."""
    d = X.shape[1]
    M = [np.eye(d) for _ in range(n)]
    L = [np.eye(d) for _ in range(n)]
    for triplet in triplets:
        H = X[triplet].T
        inputs = []
        for i in range(n):
            inputs.append(H)
            if strategy != "bp":
                p, q = H[:, 0] - H[:, 1], H[:, 0] - H[:, 2]
                if 1.0 + p @ (M[i] @ p) - q @ (M[i] @ q) > 0:
                    M[i] -= gamma * (np.outer(p, p) - np.outer(q, q))
                    L[i] = root(M[i]) if factor == "symmetric" else np.linalg.cholesky(M[i]).T
            Z = L[i] @ H
            H = phi(Z, activation) if i + 1 < n else Z
        if strategy != "fp":
            descend(L, M, inputs, Z, activation, rate)
    return L


def descend(
    L: list[np.ndarray],
    M: list[np.ndarray],
    inputs: list[np.ndarray],
    Z: np.ndarray,
    activation: str,
    rate: float,
) -> None:
    """One gradient step on half the last hinge, for all layers."""
    zt, zp, zq = Z.T
    u, v = zt - zp, zt - zq
    if 1.0 + u @ u - v @ v <= 0:
        return
    delta = np.column_stack([u - v, -u, v])
    gradients = []
    for i in range(len(L) - 1, -1, -1):
        gradients.append(delta @ inputs[i].T)
        if i:
            delta = (L[i].T @ delta) * slope(inputs[i], activation)
    for i, gradient in enumerate(reversed(gradients)):
        L[i] = L[i] - rate * gradient
        M[i] = L[i].T @ L[i]
