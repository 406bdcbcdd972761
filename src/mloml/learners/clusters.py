"""Clusters of mapped rows, and the two large-margin objectives that ML-CC builds on them."""

from __future__ import annotations

import numpy as np
from sklearn.cluster import kmeans_plusplus

from ..kernels.mlcc import centre_pass, cluster_pass, lloyd
from .base import Array
from .batch import Codes

LLOYD_STEPS = 100


def means_of(X: Array, labels: Codes) -> Array:
    """Return the mean row of each label ``0 … labels.max()``; every label occurs."""
    sizes = np.bincount(labels)
    sums = np.add.reduceat(X[np.argsort(labels, kind="stable")], np.cumsum(sizes) - sizes)
    return sums / sizes[:, None]


def first_centres(Z: Array, groups: Codes, n_clusters: int, seed: np.random.RandomState) -> list[Array]:
    """Choose centres in each group by k-means++, as many as asked for or as the group has rows."""
    members = [Z[groups == g] for g in range(int(groups.max()) + 1)]
    return [kmeans_plusplus(rows, min(n_clusters, len(rows)), random_state=seed)[0] for rows in members]


def cluster(Z: Array, groups: Codes, centres: list[Array]) -> Codes:
    """Run k-means in each group from its centres; number the clusters through, empty ones left out."""
    labels = np.empty(len(Z), dtype=np.intp)
    used = 0
    for g, start in enumerate(centres):
        rows = np.flatnonzero(groups == g)
        found = np.empty(rows.size, dtype=np.intp)
        lloyd(np.ascontiguousarray(Z[rows]), start.copy(), found, LLOYD_STEPS)
        kept, found = np.unique(found, return_inverse=True)
        labels[rows] = used + found
        used += kept.size
    return labels


class CentreMargin:
    """Each row nearer to its own cluster's centre than to any centre of another class, by a margin of one.

    ``(1 - μ) Σ_i D(xi, m⁺) + μ Σ_i Σ_{m of other classes} [1 + D(xi, m⁺) - D(xi, m)]₊``
    """

    def __init__(self, X: Array, labels: Codes, codes: Codes) -> None:
        self.X = X - X.mean(axis=0)
        self.centres = means_of(self.X, labels)
        self.labels = labels
        self.codes = codes
        self.centre_codes = codes[np.unique(labels, return_index=True)[1]]

    def evaluate(self, L: Array, mu: float) -> tuple[float, Array]:
        """Return the objective and its gradient with respect to ``M = L'L``."""
        X, centres = self.X, self.centres
        rows, columns, cross = np.zeros(len(X)), np.zeros(len(centres)), np.zeros(X.shape)
        Z, C = np.ascontiguousarray(X @ L.T), np.ascontiguousarray(centres @ L.T)
        value = centre_pass(
            Z, C, centres, self.labels, self.codes, self.centre_codes, mu, rows, columns, cross
        )
        crossed = X.T @ cross
        return value, (X.T * rows) @ X + (centres.T * columns) @ centres - crossed - crossed.T


class ClusterMargin:
    """LMNN inside each cluster, with all members of a row's class as targets and all others as impostors."""

    def __init__(self, X: Array, labels: Codes, codes: Codes) -> None:
        order = np.argsort(labels, kind="stable")
        self.X = np.ascontiguousarray((X - X.mean(axis=0))[order])
        self.codes = codes[order]
        self.starts = np.concatenate([[0], np.cumsum(np.bincount(labels))]).astype(np.intp)

    def evaluate(self, L: Array, mu: float) -> tuple[float, Array]:
        """Return the objective and its gradient with respect to ``M = L'L``."""
        weights, cross = np.zeros(len(self.X)), np.zeros(self.X.shape)
        Z = np.ascontiguousarray(self.X @ L.T)
        value = cluster_pass(Z, self.X, self.starts, self.codes, mu, weights, cross)
        crossed = self.X.T @ cross
        return value, (self.X.T * weights) @ self.X - crossed - crossed.T
