"""The online learners again in plain NumPy: explicit inverses and eigenvalues, one triplet after the other.

Every function takes dense rows, triplets of row numbers and the settings, starts where the learner starts,
and returns the learned matrix and ``[updates, cone failures]``. To a list ``outputs`` it appends, after each
triplet, what the factor makes of ``p = x - xp``, ``q = x - xq`` and ``h = x``: an array (3, d).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from mloml.arrays import Array, Triplets

Learned = tuple[Array, Any]


def differences(rows: Array, triplets: Triplets) -> Iterator[tuple[Array, Array, Array]]:
    """Yield p, q and h of each triplet."""
    for t, i, j in triplets:
        yield rows[t] - rows[i], rows[t] - rows[j], rows[t]


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


def moml(
    rows: Array,
    triplets: Triplets,
    gamma: float,
    keep: float = 0.1,
    floor: float = 0.1,
    outputs: list[Array] | None = None,
) -> Learned:
    """The whole push and a pull that is shortened to stay in the cone; returns the factor."""
    L, counts = np.eye(rows.shape[1]), np.zeros(2)
    for p, q, h in differences(rows, triplets):
        if hinge(L, p, q) > 0:
            pushed = L.T @ L + gamma * np.outer(q, q)
            s = p @ np.linalg.solve(pushed, p)
            pull = max(0.0, min(gamma, (1 - keep) / s, 1 / s - floor / (p @ p))) if s > 0 else gamma
            L = frame(L, pushed - pull * np.outer(p, p))
            counts += 1, pull < gamma
        if outputs is not None:
            outputs.append(np.stack([p, q, h]) @ L.T)
    return L, counts


def moml_free(rows: Array, triplets: Triplets, gamma: float) -> Learned:
    """Eq. 6 as it is printed; returns M, which may be indefinite."""
    M, counts = np.eye(rows.shape[1]), np.zeros(2)
    for p, q, _ in differences(rows, triplets):
        if 1 + p @ M @ p - q @ M @ q > 0:
            M = M - gamma * (np.outer(p, p) - np.outer(q, q))
            counts += 1, 0
    return M, counts


def opml(
    rows: Array,
    triplets: Triplets,
    gamma: float,
    start: Array | None = None,
    outputs: list[Array] | None = None,
) -> Learned:
    """``L (I + gamma pp' - g_q qq')^-1``; returns the factor, which may have fewer rows than features."""
    d = rows.shape[1]
    L, counts = np.eye(d) if start is None else start, np.zeros(2)
    for p, q, h in differences(rows, triplets):
        if hinge(L, p, q) > 0:
            pulled = np.eye(d) + gamma * np.outer(p, p)
            s = q @ np.linalg.solve(pulled, q)
            push = min(gamma, 0.9 / s) if s > 0 else gamma
            L = L @ np.linalg.inv(pulled - push * np.outer(q, q))
            counts += 1, push < gamma
        if outputs is not None:
            outputs.append(np.stack([p, q, h]) @ L.T)
    return L, counts


def low_rank_moml(
    rows: Array, triplets: Triplets, gamma: float, start: Array, outputs: list[Array] | None = None
) -> Learned:
    """OPML's step with half of gamma; returns the factor."""
    return opml(rows, triplets, gamma / 2, start, outputs)


def diagonal_moml(
    rows: Array, triplets: Triplets, gamma: float, keep: float = 0.1, floor: float = 0.1
) -> Learned:
    """The whole push on each weight and MOML's rule for its pull; returns the weights."""
    w, counts = np.ones(rows.shape[1]), np.zeros(2)
    for p, q, _ in differences(rows, triplets):
        if 1 + w @ (p**2 - q**2) > 0:
            pushed, pull = w + gamma * q**2, np.full(len(w), gamma)
            for i in np.flatnonzero(p):
                s = p[i] ** 2 / pushed[i]
                pull[i] = max(0.0, min(gamma, (1 - keep) / s, 1 / s - floor / p[i] ** 2))
            w = pushed - pull * p**2
            counts += 1, np.any(pull < gamma)
    return w, counts


def lego(
    rows: Array,
    triplets: Triplets,
    eta: float,
    lower: float,
    upper: float,
    outputs: list[Array] | None = None,
) -> Learned:
    """Draw each pair to its target by the LogDet step on M; returns the factor that follows."""
    L, counts = np.eye(rows.shape[1]), np.zeros(2)
    for p, q, h in differences(rows, triplets):
        for z, target in ((p, lower), (q, upper)):
            old = (L @ z) @ (L @ z)
            if old < 1e-12:
                continue
            linear = eta * target * old - 1
            new = (linear + np.sqrt(linear**2 + 4 * eta * old**2)) / (2 * eta * old)
            M = np.linalg.inv(np.linalg.inv(L.T @ L) + eta * (new - target) * np.outer(z, z))
            L = frame(L, M)
            counts += 1, 0
        if outputs is not None:
            outputs.append(np.stack([p, q, h]) @ L.T)
    return L, counts


def rdml(
    rows: Array,
    triplets: Triplets,
    lam: float,
    start: float = 0.0,
    later: Any = None,
    project: bool = True,
) -> Learned:
    """Perceptron steps on pairs; negative eigenvalues are cut after a similar pair's step. Returns M.

    ``later`` are the numbers by which only the pair with the later partner counts: the triplets themselves.
    """
    M, counts = start * np.eye(rows.shape[1]), np.zeros(2)
    for k, (p, q, _) in enumerate(differences(rows, triplets)):
        for z, sign, side in ((p, 1, 1), (q, -1, 2)):
            left_out = later is not None and later[k][side] < later[k][3 - side]
            if left_out or sign * (1 - z @ M @ z) > 0:
                continue
            M = M - lam * sign * np.outer(z, z)
            failed = False
            if sign == 1 and project:
                values, vectors = np.linalg.eigh(M)
                failed = values[0] < -1e-13 * max(np.diag(M).max(), lam * z @ z)
                M = (vectors * np.maximum(values, 0)) @ vectors.T if failed else M
            counts += 1, failed
    return M, counts


def rdml_layer(rows: Array, triplets: Triplets, lam: float, outputs: list[Array] | None = None) -> Learned:
    """The same in a layer of a stack, where the metric stays above 1e-4; returns the factor."""
    L, counts = np.eye(rows.shape[1]), np.zeros(2)
    for p, q, h in differences(rows, triplets):
        for z, sign in ((p, 1), (q, -1)):
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
        if outputs is not None:
            outputs.append(np.stack([p, q, h]) @ L.T)
    return L, counts


def oasis(rows: Array, triplets: Triplets, C: float) -> Learned:
    """Passive-aggressive steps on the similarity ``u'Wv``; returns W."""
    W, counts = np.eye(rows.shape[1]), np.zeros(2)
    for t, i, j in triplets:
        x, r = rows[t], rows[i] - rows[j]
        loss, square = 1 - x @ W @ r, (x @ x) * (r @ r)
        if loss > 0 and square > 0:
            W = W + min(C, loss / square) * np.outer(x, r)
            counts += 1, 0
    return W, counts


def slmoml(rows: Array, triplets: Triplets, C: float, margin: float = 1.0) -> Learned:
    """``(M^-1 + tau A)^-1``, tau by bisection: up to C, and not past where the hinge is 0; returns M."""
    M, counts = np.eye(rows.shape[1]), np.zeros(2)
    for p, q, _ in differences(rows, triplets):
        N, A = np.linalg.inv(M), np.outer(p, p) - np.outer(q, q)
        if margin + np.sum(M * A) <= 0:
            continue
        low, high, tau = 0.0, C, C
        while low < tau:
            new = N + tau * A
            past = np.linalg.eigvalsh(new)[0] <= 0 or margin + np.sum(np.linalg.inv(new) * A) < 0
            low, high = (low, tau) if past else (tau, high)
            tau = (low + high) / 2 if low < (low + high) / 2 < high else low
        M = np.linalg.inv(N + tau * A)
        counts += 1, 0
    return M, counts


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
