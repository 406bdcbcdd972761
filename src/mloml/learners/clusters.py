"""Clusters of mapped rows, and the two large-margin objectives that ML-CC builds on them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.cluster import kmeans_plusplus

from mloml.kernels.mlcc import Centres, centre_descent, centre_objective, lloyd_in_groups
from mloml.kernels.mlcc_whole import Clusters, cluster_descent, cluster_objective

from .base import Array
from .batch import Codes
from .descent import Descent, descend

LLOYD_STEPS = 100


def first_centres(Z: Array, groups: Codes, n_clusters: int, seed: np.random.RandomState) -> list[Array]:
    """Choose centres in each group by k-means++, as many as asked for or as the group has rows."""
    members = [Z[groups == g] for g in range(int(groups.max()) + 1)]
    return [kmeans_plusplus(rows, min(n_clusters, len(rows)), random_state=seed)[0] for rows in members]


def cluster(Z: Array, group_starts: Codes, centres: Array, centre_starts: Codes) -> Codes:
    """Run k-means in each group from its centres; number the clusters through, empty ones left out.

    Rows ``group_starts[g]:group_starts[g + 1]`` are a group; so are its centres by ``centre_starts``.
    """
    labels = np.empty(len(Z), dtype=np.intp)
    lloyd_in_groups(Z, group_starts, centres.copy(), centre_starts, labels, LLOYD_STEPS)
    return labels


@dataclass(frozen=True)
class Clustered:
    """Rows sorted by cluster: ``starts[c]:starts[c + 1]`` are those of cluster c, with mean ``means[c]``."""

    order: Codes
    X: Array
    starts: Codes
    means: Array

    @classmethod
    def of(cls, X: Array, labels: Codes) -> Clustered:
        """Sort the rows by their labels ``0 … labels.max()``; every label occurs."""
        order = np.argsort(labels.astype(np.int32), kind="stable")
        sizes = np.bincount(labels)
        starts = np.concatenate([[0], np.cumsum(sizes)])
        rows = X[order]
        return cls(order, rows, starts, np.add.reduceat(rows, starts[:-1]) / sizes[:, None])

    def apart(self) -> Array:
        """Return each row minus the mean of its cluster."""
        return self.X - np.repeat(self.means, np.diff(self.starts), axis=0)


class CentreMargin:
    """Each row nearer to its own cluster's centre than to any centre of another class, by a margin of one.

    ``(1 - μ) Σ_i D(xi, m⁺) + μ Σ_i Σ_{m of other classes} [1 + D(xi, m⁺) - D(xi, m)]₊``

    Rows are in the coordinates ``x W``. Clusters are numbered class by class; ``codes`` are the sorted rows'.
    """

    def __init__(self, data: Clustered, codes: Codes, W: Array, scatter: Array) -> None:
        X, M = data.X @ W, data.means @ W
        classes = codes[data.starts[:-1]]
        ends = np.searchsorted(classes, [classes, classes + 1])  # first and last cluster of the class
        (k, d), n = M.shape, len(X)
        self.room = Centres(
            X, np.ascontiguousarray(X.T), M, np.ascontiguousarray(M.T), W.T @ scatter @ W, data.starts,
            np.ascontiguousarray(data.starts[ends].T), np.empty((d, k)), np.empty((k, d)), np.empty((k, n)),
            np.empty((k, d)), np.empty((d, d)), np.empty((d, d)), np.empty(n), np.empty(n), np.empty(k),
            np.empty(k),
        )  # fmt: skip

    def evaluate(self, L: Array, mu: float) -> tuple[float, Array]:
        """Return the objective and its gradient with respect to L."""
        gradient = np.empty_like(L)
        return centre_objective(np.ascontiguousarray(L), mu, self.room, gradient), gradient

    def minimise(self, L: Array, mu: float, tol: float, max_iter: int) -> Descent:
        """Minimise from L."""
        return descend(centre_descent, L, mu, self.room, tol, max_iter)


class ClusterMargin:
    """LMNN inside each cluster, with all members of a row's class as targets and all others as impostors."""

    def __init__(self, data: Clustered, codes: Codes, W: Array, scatter: Array) -> None:
        X = data.X @ W
        n, d = X.shape
        self.room = Clusters(
            X, np.ascontiguousarray(X.T), data.starts, codes, np.empty((n, d)), np.empty((n, d)), np.empty(n),
            np.zeros((d, d)), np.empty((d, d)), np.empty((d, d)),
        )  # fmt: skip

    def evaluate(self, L: Array, mu: float) -> tuple[float, Array]:
        """Return the objective and its gradient with respect to L."""
        gradient = np.empty_like(L)
        return cluster_objective(np.ascontiguousarray(L), mu, self.room, gradient), gradient

    def minimise(self, L: Array, mu: float, tol: float, max_iter: int) -> Descent:
        """Minimise from L."""
        return descend(cluster_descent, L, mu, self.room, tol, max_iter)
