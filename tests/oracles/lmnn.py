"""LMNN's target neighbours, objective and gradient triple by triple, in their most obvious form."""

import numpy as np

from mloml.arrays import Array, Codes, Index


def target_neighbours(X: Array, y: Codes, K: int) -> Index:
    """Sort the other rows of a row's class by distance, ties by row; -1 for a row alone in its class."""
    targets = np.full((len(X), K), -1)
    for i, row in enumerate(X):
        others = np.flatnonzero((y == y[i]) & (np.arange(len(X)) != i))
        D = ((row - X[others]) ** 2).sum(axis=1)
        if others.size:
            targets[i] = others[np.argsort(D, kind="stable")[:K]]
    return targets


def objective(L: Array, X: Array, y: Codes, targets: Index, mu: float) -> tuple[float, Array]:
    """Return ε(L) and its gradient: pulls to the targets, hinges against all rows of other classes."""
    G, value = np.zeros((X.shape[1], X.shape[1])), 0.0
    for i, row in enumerate(X):
        for j in targets[i][targets[i] >= 0]:
            impostors = row - X[y != y[i]]
            near = row - X[j]
            hinges = 1 + ((L @ near) ** 2).sum() - ((impostors @ L.T) ** 2).sum(axis=1)
            active = impostors[hinges > 0]
            value += (1 - mu) * ((L @ near) ** 2).sum() + mu * hinges[hinges > 0].sum()
            G += (1 - mu + mu * len(active)) * np.outer(near, near) - mu * active.T @ active
    return float(value), 2 * L @ G
