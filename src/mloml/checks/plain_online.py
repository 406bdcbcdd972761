"""The scans again in plain NumPy, formula by formula: oracle of the tests, yardstick of the benchmarks.

Each function has the name and signature of the compiled one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mloml.arrays import Array, Counts, Triplets


def opml_scan(rows: Array, triplets: Triplets, L: Array, gamma: float, counters: Counts) -> int:
    """``L <- L (I + gamma p p' - g_q q q')^-1`` while the hinge is active, the inverse written out."""
    for t, i, j in triplets:
        p, q = rows[t] - rows[i], rows[t] - rows[j]
        u, v = L @ p, L @ q
        if 1 + u @ u - v @ v <= 0:
            continue
        a, b, c = p @ p, q @ q, p @ q
        s = b - gamma * c**2 / (1 + gamma * a)
        push = min(gamma, 0.9 / s) if s > 0 else gamma
        counters[1] += push < gamma
        determinant = (1 + gamma * a) * (1 - push * b) + gamma * push * c**2
        towards_p = np.outer(u, gamma * (1 - push * b) * p + gamma * push * c * q)
        towards_q = np.outer(v, push * (1 + gamma * a) * q - gamma * push * c * p)
        L -= (towards_p - towards_q) / determinant
        counters[0] += 1
    return len(triplets)


def diagonal_scan(
    rows: Array,
    triplets: Triplets,
    w: Array,
    gamma: float,
    keep: float,
    floor: float,
    variant: int,
    counters: Counts,
) -> int:
    """``w <- w + gamma q² - g_p p²`` while the hinge is active, each weight's ``g_p`` by the split rule."""
    for t, i, j in triplets:
        p2, q2 = (rows[t] - rows[i]) ** 2, (rows[t] - rows[j]) ** 2
        hinge, size = 1 + w @ (p2 - q2), ((p2 - q2) ** 2).sum()
        if hinge <= 0 or gamma <= 0:
            continue
        g = min(gamma, hinge / size) if variant == 1 and size > 0 else gamma
        pushed = w + g * q2
        pulled = p2 > 0
        s = p2[pulled] / pushed[pulled]
        pull = np.full(len(w), g)
        pull[pulled] = np.maximum(0, np.minimum(g, np.minimum((1 - keep) / s, 1 / s - floor / p2[pulled])))
        w[:] = pushed - pull * p2
        counters[0] += 1
        counters[1] += np.any(pull < g)
    return len(triplets)


def sparse_diagonal_scan(
    data: Array, indices: Triplets, starts: Triplets, triplets: Triplets, w: Array, *rest: Any
) -> int:
    """Do the same for rows that are given by their entries."""
    return diagonal_scan(dense_rows(data, indices, starts, len(w)), triplets, w, *rest)


def low_rank_scan(
    rows: Array, triplets: Triplets, W: Array, gamma: float, outputs: Array, counters: Counts
) -> int:
    """``L <- L (I + gamma/2 p p' - g_q q q')^-1`` while the hinge is active, ``L = W'``."""
    for m, (t, i, j) in enumerate(triplets):
        p, q = rows[t] - rows[i], rows[t] - rows[j]
        if 1 + np.sum((W.T @ p) ** 2) - np.sum((W.T @ q) ** 2) > 0 and gamma > 0:
            pulled = np.eye(len(p)) + gamma / 2 * np.outer(p, p)
            s = q @ np.linalg.solve(pulled, q)
            push = min(gamma / 2, 0.9 / s) if s > 0 else gamma / 2
            W[:] = np.linalg.solve(pulled - push * np.outer(q, q), W)
            counters[0] += 1
            counters[1] += push < gamma / 2
        if len(outputs):
            outputs[m] = rows[[t, i, j]] @ W
    return len(triplets)


def sparse_low_rank_scan(
    data: Array, indices: Triplets, starts: Triplets, triplets: Triplets, W: Array, *rest: Any
) -> int:
    """Do the same for rows that are given by their entries."""
    return low_rank_scan(dense_rows(data, indices, starts, len(W)), triplets, W, *rest)


def sparse_opml_scan(
    data: Array, indices: Triplets, starts: Triplets, triplets: Triplets, L: Array, *rest: Any
) -> int:
    """OPML of rows that are given by their entries."""
    return opml_scan(dense_rows(data, indices, starts, len(L)), triplets, L, *rest)


def sparse_oasis_scan(
    data: Array, indices: Triplets, starts: Triplets, triplets: Triplets, W: Array, *rest: Any
) -> int:
    """OASIS of rows that are given by their entries."""
    return oasis_scan(dense_rows(data, indices, starts, len(W)), triplets, W, *rest)


def dense_rows(data: Array, indices: Triplets, starts: Triplets, d: int) -> Array:
    """Return rows that are given by their entries as an array."""
    rows = np.zeros((len(starts) - 1, d))
    for i in range(len(rows)):
        part = slice(starts[i], starts[i + 1])
        rows[i, indices[part]] = data[part]
    return rows


def lego_scan(
    rows: Array,
    triplets: Triplets,
    L: Array,
    lower: float,
    upper: float,
    gate: bool,
    eta: float,
    counters: Counts,
) -> int:
    """Draw each pair's squared distance towards its target by the LogDet step on the factor."""
    for t, i, j in triplets:
        for z, target, similar in ((rows[t] - rows[i], lower, True), (rows[t] - rows[j], upper, False)):
            u = L @ z
            old = u @ u
            met = old <= target if similar else old >= target
            if old < 1e-12 or (gate and met):
                continue
            linear = 1 - eta * target * old
            new = 2 * old / (linear + np.sqrt(linear**2 + 4 * eta * old**2))
            c = eta * (new - target)
            s = c / (1 + c * old)
            L -= (1 - np.sqrt(1 - s * old)) / old * np.outer(u, L.T @ u)
            counters[0] += 1
    return len(triplets)


def rdml_scan(
    rows: Array, triplets: Triplets, M: Array, adjacent: bool, project: bool, lam: float, counters: Counts
) -> int:
    """Perceptron steps on pairs; negative eigenvalues are clipped after the step of a similar pair."""
    for t, i, j in triplets:
        for partner, sign in ((i, 1), (j, -1)):
            if adjacent and partner != max(i, j):
                continue
            z = rows[t] - rows[partner]
            if sign * (1 - z @ M @ z) > 0:
                continue
            M -= lam * sign * np.outer(z, z)
            counters[0] += 1
            if sign == 1 and project:
                values, vectors = np.linalg.eigh(M)
                if values[0] < -1e-13 * max(np.diag(M).max(), lam * z @ z):
                    M[:] = (vectors * np.maximum(values, 0)) @ vectors.T
                    counters[1] += 1
    return len(triplets)


def oasis_scan(rows: Array, triplets: Triplets, W: Array, C: float, counters: Counts) -> int:
    """Passive-aggressive steps on the bilinear similarity ``u' W v``."""
    for t, i, j in triplets:
        x, r = rows[t], rows[i] - rows[j]
        loss = 1 - x @ W @ r
        square = (x @ x) * (r @ r)
        if loss <= 0 or square == 0:
            continue
        W += min(C, loss / square) * np.outer(x, r)
        counters[0] += 1
    return len(triplets)


def slmoml_scan(rows: Array, triplets: Triplets, M: Array, C: float, margin: float, counters: Counts) -> int:
    """``M^-1 <- M^-1 + tau A`` while the hinge is active, the inverse written out."""
    for t, i, j in triplets:
        p, q = rows[t] - rows[i], rows[t] - rows[j]
        P, Q = M @ p, M @ q
        a, b, c = p @ P, q @ Q, p @ Q
        s, g = a - b, max(a * b - c**2, 0.0)
        hinge = margin + s
        if hinge <= 0:
            continue
        linear = 2 * g - margin * s
        denominator = linear + np.sqrt(linear**2 + 4 * margin * g * hinge)
        tau = min(C, 2 * hinge / denominator if denominator > 0 else np.inf)
        pp, qq, pq = np.outer(P, P), np.outer(Q, Q), np.outer(P, Q)
        step = (1 - tau * b) * pp - (1 + tau * a) * qq + tau * c * (pq + pq.T)
        M -= tau / (1 + tau * s - tau**2 * g) * step
        counters[0] += 1
    return len(triplets)


def add_lengths(rows: Array, sums: Array) -> None:
    """Count the rows, find the largest entry, and add up the squares in units of its square."""
    sums[:] = len(rows), np.abs(rows).max(), (rows**2).sum() / np.abs(rows).max() ** 2


def one_row(
    x: Array,
    scale: float,
    y: int,
    number: int,
    released: bool,
    samples: Array,
    latest: Triplets,
    slots: Triplets,
    state: Triplets,
    rows: Array,
) -> int:
    """Take in a row of another class than the latest sample's, which is its negative then."""
    d = len(x)
    order = np.argsort(latest[[y, state[0]]])
    rows[:2, :d], rows[2, :d] = samples[np.array([y, state[0]])[order]], x / scale
    samples[y], latest[y] = x / scale, number
    state[:] = y, state[0], state[2]
    return 1 + int(order[0] == 1)
