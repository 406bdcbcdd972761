"""Triplets, neighbours and the batch learners' passes again in plain NumPy, in their most obvious form.

Each function has the name and signature of the compiled one.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Index = NDArray[np.intp]


def triplet_pass(
    codes: Index, order: Index, offset: int, released: bool, latest: Index, slots: Index, state: Index
) -> Index:
    """Pair each row of a known class with the latest of its class and one of another class."""
    triplets = []
    last, other, seen = (int(place) for place in state)
    for row in order:
        y = int(codes[row])
        newest_other = next((int(c) for c in slots[:seen][::-1] if c != y), -1)
        if latest[y] >= 0 and seen > 1:
            negative = last if y != last else newest_other if released else other
            triplets.append((offset + row, latest[y], latest[negative]))
        if latest[y] < 0:
            slots[seen] = y
            seen += 1
        if y != last:
            last, other = y, last
        latest[y] = offset + row
    state[:] = last, other, seen
    return np.array(triplets, dtype=np.intp).reshape(-1, 3)


def nearest_rows(
    closeness: NDArray[np.float32],
    test_squares: Array,
    margins: Array,
    per_unit: float,
    train: Array,
    test: Array,
    neighbours: Index,
) -> None:
    """Sort all training rows by distance, ties by their number."""
    for i, row in enumerate(test):
        distances = ((row - train) ** 2).sum(axis=1)
        neighbours[i] = np.argsort(distances, kind="stable")[: neighbours.shape[1]]


def majority(neighbours: Index, codes: NDArray[np.int64], n_classes: int) -> NDArray[np.int64]:
    """Count votes; the smallest of the most frequent codes wins."""
    return np.array([np.bincount(codes[row], minlength=n_classes).argmax() for row in neighbours])


def nearest_of_class(X: Array, starts: Index, out: Index) -> None:
    """Sort the other rows of a row's class by distance."""
    out[:] = -1
    for first, last in pairwise(starts):
        for i in range(first, last):
            others = [j for j in range(first, last) if j != i]
            nearest = sorted(others, key=lambda j: ((X[i] - X[j]) ** 2).sum())[: out.shape[1]]
            out[i, : len(nearest)] = nearest


def squared_distances(Z: Array) -> Array:
    """Return the squared distances between all rows."""
    return np.asarray(((Z[:, None] - Z[None]) ** 2).sum(axis=2))


def target_distances(Z: Array, targets: Index, out: Array) -> None:
    """Look up the squared distances of rows to their targets."""
    out[:] = np.take_along_axis(squared_distances(Z), targets, axis=1).T


def dense_pass(
    Z: Array,
    ZT: Array,
    XT: Array,
    starts: Index,
    thresholds: Array,
    counts: Array,
    weights: Array,
    cross: Array,
) -> float:
    """Visit every pair of rows of different classes, earlier row first."""
    classes = np.repeat(np.arange(starts.size - 1), np.diff(starts))
    pairs = [(i, j) for i in range(len(Z)) for j in range(i, len(Z)) if classes[i] != classes[j]]
    return _visit(pairs, Z, XT.T, thresholds, counts, weights, cross)


def find_candidates(
    Z: Array,
    ZT: Array,
    starts: Index,
    reach: Array,
    pointers: NDArray[np.int64],
    candidates: NDArray[np.int32],
) -> bool:
    """List the near pairs of rows of different classes."""
    classes = np.repeat(np.arange(starts.size - 1), np.diff(starts))
    D, found = squared_distances(Z), 0
    for i in range(len(Z)):
        pointers[i] = found
        for j in range(i, len(Z)):
            if classes[i] != classes[j] and D[i, j] < max(reach[i], reach[j]):
                candidates[found] = j
                found += 1
    pointers[len(Z)] = found
    return True


def sparse_pass(
    Z: Array,
    X: Array,
    thresholds: Array,
    pointers: NDArray[np.int64],
    candidates: NDArray[np.int32],
    counts: Array,
    weights: Array,
    cross: Array,
) -> float:
    """Visit the listed pairs."""
    pairs = [(i, int(j)) for i in range(len(Z)) for j in candidates[pointers[i] : pointers[i + 1]]]
    return _visit(pairs, Z, X, thresholds, counts, weights, cross)


def _visit(
    pairs: list[tuple[int, int]],
    Z: Array,
    X: Array,
    thresholds: Array,
    counts: Array,
    weights: Array,
    cross: Array,
) -> float:
    D, loss = squared_distances(Z), 0.0
    for i, j in pairs:
        active = 0
        for t in range(len(thresholds)):
            for anchor in (i, j):
                hinge = thresholds[t, anchor] - D[i, j]
                loss += max(0.0, hinge)
                counts[t, anchor] += hinge > 0
                active += hinge > 0
        weights[i] += active
        weights[j] += active
        cross[i] += active * X[j]
    return loss


def lloyd(Z: Array, centres: Array, labels: Index, max_iter: int) -> None:
    """Alternate nearest centres and means until nothing changes."""
    labels[:] = -1
    for _ in range(max_iter):
        nearest = ((Z[:, None] - centres[None]) ** 2).sum(axis=2).argmin(axis=1)
        if np.array_equal(nearest, labels):
            return
        labels[:] = nearest
        for c in np.unique(labels):
            centres[c] = Z[labels == c].mean(axis=0)


def centre_pass(
    Z: Array,
    C: Array,
    centres: Array,
    labels: Index,
    codes: Index,
    centre_codes: Index,
    mu: float,
    row_weights: Array,
    centre_weights: Array,
    cross: Array,
) -> float:
    """Add up the weight of every pair of a row and a centre."""
    V = np.zeros((len(Z), len(C)))
    D, value = ((Z[:, None] - C[None]) ** 2).sum(axis=2), 0.0
    for i, own in enumerate(labels):
        V[i, own] += 1 - mu
        value += (1 - mu) * D[i, own]
        for c in np.flatnonzero(centre_codes != codes[i]):
            hinge = 1 + D[i, own] - D[i, c]
            if hinge > 0:
                value += mu * hinge
                V[i, own] += mu
                V[i, c] -= mu
    row_weights += V.sum(axis=1)
    centre_weights += V.sum(axis=0)
    cross += V @ centres
    return float(value)


def cluster_pass(
    Z: Array, X: Array, starts: Index, codes: Index, mu: float, weights: Array, cross: Array
) -> float:
    """Visit every triple inside every cluster."""
    V = np.zeros((len(Z), len(Z)))
    D, value = squared_distances(Z), 0.0
    clusters = np.repeat(np.arange(starts.size - 1), np.diff(starts))
    for i in range(len(Z)):
        for j in np.flatnonzero((clusters == clusters[i]) & (codes == codes[i])):
            if j == i:
                continue
            V[i, j] += 1 - mu
            value += (1 - mu) * D[i, j]
            for k in np.flatnonzero((clusters == clusters[i]) & (codes != codes[i])):
                hinge = 1 + D[i, j] - D[i, k]
                if hinge > 0:
                    value += mu * hinge
                    V[i, j] += mu
                    V[i, k] -= mu
    weights += V.sum(axis=0) + V.sum(axis=1)
    cross += V @ X
    return float(value)


def self_products(M: Array, X: Array, h: Array) -> None:
    """``h_l = x_l' M x_l``; M has no rows for the padding of X."""
    d = len(M)
    h[: len(X)] = np.einsum("ia,ab,ib->i", X[:, :d], M[:, :d], X[:, :d])


def epoch(
    M: Array,
    K: Array,
    h: Array,
    X: Array,
    blocks: Array,
    starts: Index,
    codes: Index,
    targets: Index,
    order: Index,
    step: int,
    max_steps: int,
    updates: int,
    bound: float,
) -> tuple[int, int]:
    """Visit rows; the inverse comes from the metric itself at each step, and ``h`` at the end."""
    d, front = len(M), 0
    for position, i in enumerate(order.copy()):
        if step >= max_steps:
            break
        step += 1
        u, v, hinge = _worst(M[:, :d], X[:, :d], codes, targets, i)
        if hinge <= 0:
            continue
        order[position], order[front] = order[front], i
        front += 1
        A = np.outer(v, v) - np.outer(u, u)
        least = np.linalg.eigvals(np.linalg.inv(M[:, :d]) @ A).real.min()
        alpha = min(1 / np.sqrt(step), 0.9 / -least if least < 0 else np.inf)
        M[:, :d] += alpha * A
        M[:, :d] *= min(1.0, bound / np.trace(M[:, :d]))
        updates += 1
    K[:, :d] = np.linalg.inv(M[:, :d])
    self_products(M, X, h)
    return step, updates


def mean_hinge(
    M: Array, h: Array, X: Array, blocks: Array, starts: Index, codes: Index, targets: Index, anchors: Index
) -> float:
    """Average the hinges of the farthest target and the nearest impostor."""
    d = len(M)
    self_products(M, X, h)
    return float(np.mean([max(0.0, _worst(M[:, :d], X[:, :d], codes, targets, i)[2]) for i in anchors]))


def _worst(M: Array, X: Array, codes: Index, targets: Index, i: int) -> tuple[Array, Array, float]:
    """Return row i's differences to its farthest target and its nearest impostor, and their hinge."""
    differences = X - X[i]
    D = np.einsum("ia,ab,ib->i", differences, M, differences)
    far = targets[i][D[targets[i]].argmax()]
    near = np.where(codes == codes[i], np.inf, D).argmin()
    return differences[far], differences[near], float(1 + D[far] - D[near])
