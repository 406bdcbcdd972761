"""KISSME's covariances and LMDML's steps in plain NumPy, as one would write them from the formulas."""

import numpy as np


def explicit_pair_sums(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return KISSME's S and D by forming the differences of all pairs."""
    i, j = np.triu_indices(len(X), 1)
    differences = X[i] - X[j]
    similar = y[i] == y[j]
    return tuple(part.T @ part / len(part) for part in (differences[similar], differences[~similar]))


def numpy_lmdml_steps(X: np.ndarray, y: np.ndarray, steps: int, bound: float = 1.0) -> np.ndarray:
    """Return M after some single-row steps of LMDML, inverting by two Sherman-Morrison updates."""
    n, d = X.shape
    M, K = np.eye(d) * bound / d, np.eye(d) * d / bound
    rng = np.random.default_rng(0)
    for t, i in enumerate(rng.permutation(n)[:steps], start=1):
        mates = np.flatnonzero(y == y[i])
        targets = mates[np.argsort(((X[mates] - X[i]) ** 2).sum(axis=1))[1:4]]
        to_targets, to_others = X[targets] - X[i], X[y != y[i]] - X[i]
        near = np.einsum("ij,ij->i", to_targets @ M, to_targets)
        far = np.einsum("ij,ij->i", to_others @ M, to_others)
        u, v = to_targets[near.argmax()], to_others[far.argmin()]
        if 1 + near.max() - far.min() <= 0:
            continue
        uu, vv, uv = u @ K @ u, v @ K @ v, u @ K @ v
        largest = 2 / (uu - vv + np.sqrt((vv - uu) ** 2 + 4 * max(0.0, vv * uu - uv**2)))
        alpha = min(0.9 * largest, t**-0.5)
        M += alpha * (np.outer(v, v) - np.outer(u, u))
        K -= alpha * np.outer(K @ v, K @ v) / (1 + alpha * vv)
        K += alpha * np.outer(K @ u, K @ u) / (1 - alpha * (u @ K @ u))
        scaling = min(1.0, bound / np.trace(M))
        M, K = M * scaling, K / scaling
    return M
