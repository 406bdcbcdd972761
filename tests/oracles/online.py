"""The online learners again in plain NumPy: explicit inverses and eigenvalues, one triplet after the other.

A step takes what was learned so far, the rows ``p = x - xp``, ``q = x - xq`` and ``h = x`` of a triplet, the
counters ``[updates, cone failures]`` and the settings, and returns what is learned then. :func:`scan` takes
one for each triplet.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from mloml.arrays import Array, Triplets

Learned = tuple[Array, Any]


def differences(rows: Array, triplets: Triplets) -> Iterator[Array]:
    """Yield p, q and h of each triplet."""
    for t, i, j in triplets:
        yield np.stack([rows[t] - rows[i], rows[t] - rows[j], rows[t]])


def scan(
    step: Any, rows: Array, triplets: Triplets, *settings: Any, start: Any = None, outputs: Any = None
) -> Learned:
    """Start at the identity, or elsewhere; return what was learned and the counters.

    To a list ``outputs`` append, after each triplet, what the factor makes of p, q and h: an array (3, d).
    """
    learned, counts = np.eye(rows.shape[1]) if start is None else start, np.zeros(2)
    for D in differences(rows, triplets):
        learned = step(learned, D, counts, *settings)
        if outputs is not None:
            outputs.append(D @ learned.T)
    return learned, counts


def hinge(L: Array, p: Array, q: Array) -> float:
    """Return ``1 + |Lp|² - |Lq|²``."""
    return float(1 + (L @ p) @ (L @ p) - (L @ q) @ (L @ q))


def root(M: Array) -> Array:
    """Return the symmetric root."""
    values, vectors = np.linalg.eigh(M)
    return (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T


def frame(L: Array, M: Array) -> Array:
    """Return the factor of M that follows L and keeps its axes: root(K M K') L with K = L^-T."""
    K = np.linalg.inv(L).T
    return root(K @ M @ K.T) @ L


# Factors: these learn as layers of a stack, too -------------------------------------------------------------


def moml(L: Array, D: Array, counts: Array, gamma: float, keep: float = 0.1, floor: float = 0.1) -> Array:
    """The whole push and a pull that is shortened to stay in the cone."""
    p, q, _ = D
    if hinge(L, p, q) <= 0:
        return L
    pushed = L.T @ L + gamma * np.outer(q, q)
    s = p @ np.linalg.solve(pushed, p)
    pull = max(0.0, min(gamma, (1 - keep) / s, 1 / s - floor / (p @ p))) if s > 0 else gamma
    counts += 1, pull < gamma
    return frame(L, pushed - pull * np.outer(p, p))


def opml(L: Array, D: Array, counts: Array, gamma: float) -> Array:
    """``L (I + gamma pp' - g_q qq')^-1``; the factor may have fewer rows than features."""
    p, q, _ = D
    if hinge(L, p, q) <= 0:
        return L
    pulled = np.eye(len(p)) + gamma * np.outer(p, p)
    s = q @ np.linalg.solve(pulled, q)
    push = min(gamma, 0.9 / s) if s > 0 else gamma
    counts += 1, push < gamma
    return L @ np.linalg.inv(pulled - push * np.outer(q, q))


def low_rank_moml(L: Array, D: Array, counts: Array, gamma: float) -> Array:
    """OPML's step with half of gamma."""
    return opml(L, D, counts, gamma / 2)


def lego(L: Array, D: Array, counts: Array, eta: float, targets: tuple[float, float] = (0.1, 1.0)) -> Array:
    """Draw each pair to its target by the LogDet step on M; the factor follows."""
    for z, target in zip(D[:2], targets, strict=True):
        old = (L @ z) @ (L @ z)
        if old < 1e-12:
            continue
        linear = eta * target * old - 1
        new = (linear + np.sqrt(linear**2 + 4 * eta * old**2)) / (2 * eta * old)
        L = frame(L, np.linalg.inv(np.linalg.inv(L.T @ L) + eta * (new - target) * np.outer(z, z)))
        counts += 1, 0
    return L


def rdml_layer(L: Array, D: Array, counts: Array, lam: float) -> Array:
    """RDML in a stack, where the metric stays above 1e-4."""
    for z, sign in zip(D[:2], (1, -1), strict=True):
        M = L.T @ L
        if sign * (1 - z @ M @ z) > 0:
            continue
        new, failed = M - lam * sign * np.outer(z, z), False
        if 1 - lam * sign * (z @ np.linalg.solve(M, z)) < 0.5:
            values, vectors = np.linalg.eigh(new)
            failed = values[0] < 1e-4
            new = new + failed * (1e-4 - values[0]) * np.outer(vectors[:, 0], vectors[:, 0])
        L = frame(L, new)
        counts += 1, failed
    return L


# Matrices and weights ---------------------------------------------------------------------------------------


def moml_free(M: Array, D: Array, counts: Array, gamma: float) -> Array:
    """Eq. 6 as it is printed; M may become indefinite."""
    p, q, _ = D
    active = 1 + p @ M @ p - q @ M @ q > 0
    counts += active, 0
    return M - active * gamma * (np.outer(p, p) - np.outer(q, q))


def diagonal_moml(
    w: Array, D: Array, counts: Array, gamma: float, keep: float = 0.1, floor: float = 0.1
) -> Array:
    """The whole push on each weight and MOML's rule for its pull."""
    p, q, _ = D
    if 1 + w @ (p**2 - q**2) <= 0:
        return w
    pushed, pull = w + gamma * q**2, np.full(len(w), gamma)
    for i in np.flatnonzero(p):
        s = p[i] ** 2 / pushed[i]
        pull[i] = max(0.0, min(gamma, (1 - keep) / s, 1 / s - floor / p[i] ** 2))
    counts += 1, np.any(pull < gamma)
    return pushed - pull * p**2


def rdml(M: Array, D: Array, counts: Array, lam: float, project: bool = True, only: Any = None) -> Array:
    """Perceptron steps on pairs; negative eigenvalues are cut after a similar pair's step.

    ``only`` yields for each triplet which of its pairs counts: 0 both, 1 the similar one, 2 the other.
    """
    side = next(only) if only else 0
    for z, sign, own in ((D[0], 1, 1), (D[1], -1, 2)):
        if side == 3 - own or sign * (1 - z @ M @ z) > 0:
            continue
        M, failed = M - lam * sign * np.outer(z, z), False
        if sign == 1 and project:
            values, vectors = np.linalg.eigh(M)
            failed = values[0] < -1e-13 * max(np.diag(M).max(), lam * z @ z)
            M = (vectors * np.maximum(values, 0)) @ vectors.T if failed else M
        counts += 1, failed
    return M


def oasis(W: Array, D: Array, counts: Array, C: float) -> Array:
    """Passive-aggressive steps on the similarity ``u'Wv``."""
    x, r = D[2], D[1] - D[0]  # xp - xq
    loss, square = 1 - x @ W @ r, (x @ x) * (r @ r)
    if loss <= 0 or square == 0:
        return W
    counts += 1, 0
    return W + min(C, loss / square) * np.outer(x, r)


def slmoml(M: Array, D: Array, counts: Array, C: float, margin: float = 1.0) -> Array:
    """``(M^-1 + tau A)^-1``, tau by bisection: up to C, and not past where the hinge is 0."""
    p, q, _ = D
    N, A = np.linalg.inv(M), np.outer(p, p) - np.outer(q, q)
    if margin + np.sum(M * A) <= 0:
        return M
    low, high, tau = 0.0, C, C
    while low < tau:
        new = N + tau * A
        past = np.linalg.eigvalsh(new)[0] <= 0 or margin + np.sum(np.linalg.inv(new) * A) < 0
        low, high = (low, tau) if past else (tau, high)
        tau = (low + high) / 2 if low < (low + high) / 2 < high else low
    counts += 1, 0
    return np.linalg.inv(N + tau * A)


def triplets_of(codes: Any, order: Any, released: bool) -> Array:
    """Return the triplets (x, xp, xq) that rows in this order give, by a look at all that arrived before."""
    found, arrived = [], []
    for row in order:
        own = [r for r in arrived if codes[r] == codes[row]]
        others = [r for r in arrived if codes[r] != codes[row]]
        if own and others:
            other = others[-1]
            if released and codes[arrived[-1]] == codes[row]:  # then of the class whose first row came last
                newest = max({codes[r] for r in others}, key=[codes[r] for r in arrived].index)
                other = [r for r in others if codes[r] == newest][-1]
            found.append((row, own[-1], other))
        arrived.append(row)
    return np.array(found, dtype=np.intp).reshape(-1, 3)
