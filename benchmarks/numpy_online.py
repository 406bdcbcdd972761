"""The online methods in good plain NumPy, O(d²) wherever that is easy: what our learners are timed against.

Every function takes rows, triplets of row numbers and the settings, and learns from a fresh start.
"""

import numpy as np

Array = np.ndarray


def moml(X: Array, triplets: Array, gamma: float) -> Array:
    """MOML on the metric alone: two matrix-vector products and two outer products per triplet."""
    M = np.eye(X.shape[1])
    for t, i, j in triplets:
        p, q = X[t] - X[i], X[t] - X[j]
        if 1.0 + p @ (M @ p) - q @ (M @ q) > 0:
            M -= gamma * (np.outer(p, p) - np.outer(q, q))
    return M


def opml(X: Array, triplets: Array, gamma: float) -> Array:
    """``L (I + gamma pp' - gamma qq')^-1``, the inverse written out."""
    L = np.eye(X.shape[1])
    for t, i, j in triplets:
        p, q = X[t] - X[i], X[t] - X[j]
        u, v = L @ p, L @ q
        if 1 + u @ u - v @ v <= 0:
            continue
        a, b, c = p @ p, q @ q, p @ q
        determinant = (1 + gamma * a) * (1 - gamma * b) + (gamma * c) ** 2
        to_u = gamma * (1 - gamma * b) * p + gamma * gamma * c * q
        to_v = gamma * (1 + gamma * a) * q - gamma * gamma * c * p
        L -= (np.outer(u, to_u) - np.outer(v, to_v)) / determinant
    return L


def lego(X: Array, triplets: Array, eta: float, lower: float, upper: float) -> Array:
    """Draw each pair's squared distance towards its target by the LogDet step on the factor."""
    L = np.eye(X.shape[1])
    for t, i, j in triplets:
        for z, target in ((X[t] - X[i], lower), (X[t] - X[j], upper)):
            u = L @ z
            old = u @ u
            linear = 1 - eta * target * old
            new = 2 * old / (linear + np.sqrt(linear**2 + 4 * eta * old**2))
            s = eta * (new - target) / (1 + eta * (new - target) * old)
            L -= (1 - np.sqrt(1 - s * old)) / old * np.outer(u, L.T @ u)
    return L


def rdml(X: Array, triplets: Array, lam: float) -> Array:
    """Perceptron steps on pairs; negative eigenvalues are cut after a similar pair's step."""
    M = np.eye(X.shape[1])
    for t, i, j in triplets:
        for z, sign in ((X[t] - X[i], 1), (X[t] - X[j], -1)):
            if sign * (1 - z @ M @ z) > 0:
                continue
            M -= lam * sign * np.outer(z, z)
            if sign == 1:
                values, vectors = np.linalg.eigh(M)
                if values[0] < 0:
                    M = (vectors * np.maximum(values, 0)) @ vectors.T
    return M


def oasis(X: Array, triplets: Array, C: float) -> Array:
    """Passive-aggressive steps on the similarity ``u'Wv``."""
    W = np.eye(X.shape[1])
    for t, i, j in triplets:
        x, r = X[t], X[i] - X[j]
        loss, square = 1 - x @ W @ r, (x @ x) * (r @ r)
        if loss > 0 and square > 0:
            W += min(C, loss / square) * np.outer(x, r)
    return W


def slmoml(X: Array, triplets: Array, C: float) -> Array:
    """``(M^-1 + tau A)^-1`` with margin 1, the inverse written out."""
    M = np.eye(X.shape[1])
    for t, i, j in triplets:
        p, q = X[t] - X[i], X[t] - X[j]
        P, Q = M @ p, M @ q
        a, b, c = p @ P, q @ Q, p @ Q
        s, g = a - b, max(a * b - c**2, 0.0)
        if 1 + s <= 0:
            continue
        denominator = 2 * g - s + np.sqrt((2 * g - s) ** 2 + 4 * g * (1 + s))
        tau = min(C, 2 * (1 + s) / denominator if denominator > 0 else np.inf)
        pp, qq, pq = np.outer(P, P), np.outer(Q, Q), np.outer(P, Q)
        change = (1 - tau * b) * pp - (1 + tau * a) * qq + tau * c * (pq + pq.T)
        M -= tau / (1 + tau * s - tau**2 * g) * change
    return M


def phi(Z: Array, activation: str) -> Array:
    if activation == "relu":
        return np.maximum(Z, 0.0)
    return np.tanh(Z) if activation == "tanh" else 1.0 / (1.0 + np.exp(-Z))


def slope(H: Array, activation: str) -> Array:
    if activation == "relu":
        return H > 0
    return 1.0 - H * H if activation == "tanh" else H * (1.0 - H)


def mloml(
    X: Array, triplets: Array, n: int, activation: str, strategy: str, gamma: float, rate: float
) -> list[Array]:
    """Forward, backward or combined propagation; LAPACK's Cholesky factor after each step of a layer."""
    M = [np.eye(X.shape[1]) for _ in range(n)]
    L = [np.eye(X.shape[1]) for _ in range(n)]
    for triplet in triplets:
        H, inputs = X[triplet].T, []
        for i in range(n):
            inputs.append(H)
            if strategy != "bp":
                p, q = H[:, 0] - H[:, 1], H[:, 0] - H[:, 2]
                if 1.0 + p @ (M[i] @ p) - q @ (M[i] @ q) > 0:
                    M[i] -= gamma * (np.outer(p, p) - np.outer(q, q))
                    L[i] = np.linalg.cholesky(M[i]).T
            Z = L[i] @ H
            H = phi(Z, activation)
        if strategy != "fp":
            descend(L, M, inputs, Z, activation, rate)
    return L


def descend(
    L: list[Array], M: list[Array], inputs: list[Array], Z: Array, activation: str, rate: float
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
