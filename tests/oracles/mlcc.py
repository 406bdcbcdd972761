"""ML-CC's objectives as sums over all constraints, and k-means, in their most obvious form."""

from collections.abc import Iterator

import numpy as np

from mloml.arrays import Array, Index

Triple = tuple[Array, Array, list[Array]]


def per_class(X: Array, labels: Index, codes: Index) -> Iterator[Triple]:
    """Yield each row, the centre it is pulled to, and the centres of other classes."""
    for i in range(len(X)):
        others = np.unique(labels[codes != codes[i]])
        yield X[i], X[labels == labels[i]].mean(axis=0), [X[labels == k].mean(axis=0) for k in others]


def whole(X: Array, labels: Index, codes: Index) -> Iterator[Triple]:
    """Yield each row, each other one of its class and cluster, and the rows of other classes there."""
    for i in range(len(X)):
        mates = [j for j in range(len(X)) if labels[j] == labels[i] and j != i]
        impostors = [X[j] for j in mates if codes[j] != codes[i]]
        for j in mates:
            if codes[j] == codes[i]:
                yield X[i], X[j], impostors


def objective(L: Array, triples: Iterator[Triple], mu: float) -> tuple[float, Array]:
    """Return (1 - μ) Σ D(x, x⁺) + μ Σ [1 + D(x, x⁺) - D(x, x⁻)]₊ and its gradient."""
    value, S = 0.0, np.zeros((L.shape[1], L.shape[1]))
    for x, target, impostors in triples:
        near, pull = ((L @ (x - target)) ** 2).sum(), np.outer(x - target, x - target)
        value += (1 - mu) * near
        S += (1 - mu) * pull
        for impostor in impostors:
            hinge = 1 + near - ((L @ (x - impostor)) ** 2).sum()
            if hinge > 0:
                value += mu * hinge
                S += mu * (pull - np.outer(x - impostor, x - impostor))
    return float(value), 2 * L @ S


def lloyd(X: Array, centres: Array, max_iter: int) -> tuple[Index, Array]:
    """Alternate nearest centres, the first of several, and means; return the labels and the centres."""
    labels, centres = np.full(len(X), -1), centres.copy()
    for _ in range(max_iter):
        nearest = ((X[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
        if np.array_equal(nearest, labels):
            break
        labels = nearest
        for c in np.unique(labels):
            centres[c] = X[labels == c].mean(axis=0)
    return labels, centres
