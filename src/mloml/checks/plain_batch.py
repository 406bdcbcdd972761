"""Triplets, neighbours and the batch learners' passes again in plain NumPy, in their most obvious form.

Each function has the name of the compiled one and takes the same arguments.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mloml.arrays import Array, Index
from mloml.kernels.lmnn_pairs import NOT_A_ROW

Singles = NDArray[np.float32]


def triplet_pass(
    codes: Index,
    order: Index,
    offset: int,
    released: bool,
    latest: Index,
    slots: Index,
    state: Index,
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


def nearest_rows(*arguments: Any) -> None:
    """Sort all training rows by distance, ties by their number."""
    train, first, test, distances, neighbours = arguments[4:]
    for i, row in enumerate(test):
        squares = ((row - train[first:]) ** 2).sum(axis=1)
        neighbours[i] = np.argsort(squares, kind="stable")[: neighbours.shape[1]]
        distances[i] = squares[neighbours[i]]


def most_similar_rows(similarity: Array, neighbours: Index) -> None:
    """Largest entries first, ties by column."""
    neighbours[:] = np.argsort(-similarity, axis=1, kind="stable")[:, : neighbours.shape[1]]


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


def lmnn_objective(A: Array, mu: float, room: Any) -> tuple[float, Array]:
    """Return value and gradient: pulls to the targets, hinges against all rows of other classes."""
    data = room.h < NOT_A_ROW
    X, targets = room.X[:, : len(A)], room.targets
    classes = np.searchsorted(room.starts, np.arange(len(X)), side="right")
    D = squared_distances(X @ A.T)
    V, value = np.zeros(D.shape), 0.0
    for i in np.flatnonzero(data):
        for j in targets[i]:
            V[i, j] += 1 - mu
            value += (1 - mu) * D[i, j]
            for k in np.flatnonzero(data & (classes != classes[i])):
                hinge = 1 + D[i, j] - D[i, k]
                if hinge > 0:
                    value += mu * hinge
                    V[i, j] += mu
                    V[i, k] -= mu
    return float(value), gradient_of_pairs(A, X, X, V)


def gradient_of_pairs(A: Array, X: Array, Y: Array, V: Array) -> Array:
    """Return the gradient of ``Σ V_ij ||A (x_i - y_j)||²``."""
    differences = X[:, None] - Y[None]
    return np.asarray(2 * A @ np.einsum("ij,ija,ijb->ab", V, differences, differences))


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


def about_means(X: Array, labels: Index, means: Array, apart: Array) -> None:
    """Average the rows of each cluster."""
    for c in range(len(means)):
        means[c] = X[labels == c].mean(axis=0)
    apart[:] = X - means[labels]


def lloyd_in_groups(
    Z: Array, group_starts: Index, centres: Array, centre_starts: Index, labels: Index, max_iter: int
) -> None:
    """Cluster each group, and number the clusters through."""
    used = 0
    for rows, own in zip(pairwise(group_starts), pairwise(centre_starts), strict=True):
        members = labels[slice(*rows)]
        lloyd(Z[slice(*rows)], centres[slice(*own)], members, max_iter)
        members[:] = np.unique(members, return_inverse=True)[1] + used
        used = members.max() + 1


def centre_objective(A: Array, mu: float, room: Any) -> tuple[float, Array]:
    """Return value and gradient: pulls to the own centre, hinges against those of other classes."""
    X, M = room.X[: room.own.size, : len(A)], room.M[: room.classes.size, : len(A)]
    D = ((X @ A.T)[:, None] - (M @ A.T)[None]) ** 2
    D, V, value = D.sum(axis=2), np.zeros((len(X), len(M))), 0.0
    for i, c in enumerate(room.own):
        V[i, c] += 1 - mu
        value += (1 - mu) * D[i, c]
        for m in np.flatnonzero(room.classes != room.classes[c]):
            hinge = 1 + D[i, c] - D[i, m]
            if hinge > 0:
                value += mu * hinge
                V[i, c] += mu
                V[i, m] -= mu
    return float(value), gradient_of_pairs(A, X, M, V)


def cluster_objective(A: Array, mu: float, room: Any) -> tuple[float, Array]:
    """Return value and gradient: pulls and hinges over every triple inside every cluster."""
    X, codes = room.X, room.codes
    D = squared_distances(X @ A.T)
    V, value = np.zeros(D.shape), 0.0
    clusters = np.repeat(np.arange(room.starts.size - 1), np.diff(room.starts))
    for i in range(len(X)):
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
    return float(value), gradient_of_pairs(A, X, X, V)


def self_products(M: Array, X: Array, units: Array, places: Index, h: Singles) -> None:
    """``h_l = x_l' M x_l`` in units; M has no rows for the padding of X."""
    d = len(M)
    rows, metric = X[:, :d] * units[0], M[:, :d] * units[1]
    h[places] = np.einsum("ia,ab,ib->i", rows, metric, rows)


def epoch(M: Array, K: Array, h: Singles, X: Array, *progress: Any) -> tuple[int, int]:
    """Visit rows; the inverse comes from the metric itself at each step, and ``h`` at the end."""
    _, units, places, _, codes, targets, order, step, max_steps, updates, bound = progress
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
    self_products(M, X, units, places, h)
    return step, updates


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
    """Average the hinges of the farthest target and the nearest impostor."""
    d = len(M)
    self_products(M, X, units, places, h)
    return float(np.mean([max(0.0, _worst(M[:, :d], X[:, :d], codes, targets, i)[2]) for i in anchors]))


def _worst(M: Array, X: Array, codes: Index, targets: Index, i: int) -> tuple[Array, Array, float]:
    """Return row i's differences to its farthest target and its nearest impostor, and their hinge."""
    differences = X - X[i]
    D = np.einsum("ia,ab,ib->i", differences, M, differences)
    far = targets[i][D[targets[i]].argmax()]
    near = np.where(codes == codes[i], np.inf, D).argmin()
    return differences[far], differences[near], float(1 + D[far] - D[near])
