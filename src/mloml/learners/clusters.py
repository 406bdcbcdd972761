"""Clusters of mapped rows, and the two large-margin objectives that ML-CC builds on them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mloml.kernels.eights import wide_zeros
from mloml.kernels.mlcc import centre_descent, centre_value, room_for
from mloml.kernels.mlcc_lloyd import about_means, lloyd_in_groups
from mloml.kernels.mlcc_whole import Clusters, cluster_descent, cluster_objective

from .base import Array
from .batch import Codes
from .descent import Descent, descend

LLOYD_STEPS = 100


def first_centres(Z: Array, groups: Codes, n_clusters: int, seed: np.random.RandomState) -> list[Array]:
    """Choose centres in each group by k-means++, as many as asked for or as the group has rows."""
    members = [Z[groups == g] for g in range(int(groups.max()) + 1)]
    return [rows[far_apart(rows, min(n_clusters, len(rows)), seed)] for rows in members]


def far_apart(rows: Array, count: int, seed: np.random.RandomState) -> Codes:
    """Choose rows by k-means++: those that scikit-learn chooses, without its checks at each of many calls.

    Same random numbers, same products: rows at equal distances are told apart by their rounding alone.
    """
    n, trials = len(rows), 2 + int(np.log(count))
    chosen, ones = np.empty(count, dtype=np.intp), np.ones((n, 1))
    squares = np.einsum("ij,ij->i", rows, rows)
    chosen[0] = seed.choice(n, p=np.full(n, 1.0 / n))
    nearest = _squared_distances(rows, chosen[:1], squares)
    total = (nearest @ ones[:, 0])[0]
    for c in range(1, count):
        draws = seed.uniform(size=trials) * total
        candidates = np.minimum(np.searchsorted(np.cumsum(nearest), draws), n - 1)
        trial = np.minimum(nearest, _squared_distances(rows, candidates, squares))
        totals = (trial @ ones)[:, 0]
        best = int(totals.argmin())
        chosen[c], nearest, total = candidates[best], trial[best], totals[best]
    return chosen


def _squared_distances(rows: Array, some: Codes, squares: Array) -> Array:
    """Return the squared distances of some rows, one line each, from all."""
    D = -2.0 * (rows[some] @ rows.T)
    D += squares[some, None]
    D += squares
    return np.maximum(D, 0.0, out=D)


def cluster(Z: Array, group_starts: Codes, centres: Array, centre_starts: Codes) -> Codes:
    """Run k-means in each group from its centres; number the clusters through, empty ones left out.

    Rows ``group_starts[g]:group_starts[g + 1]`` are a group; so are its centres by ``centre_starts``.
    """
    labels = np.empty(len(Z), dtype=np.intp)
    lloyd_in_groups(Z, group_starts, centres.copy(), centre_starts, labels, LLOYD_STEPS)
    return labels


@dataclass(frozen=True)
class Clustered:
    """Rows with the number of the cluster of each, the clusters' means, and the rows minus their means."""

    X: Array
    labels: Codes
    means: Array
    apart: Array

    @classmethod
    def of(cls, X: Array, labels: Codes) -> Clustered:
        """Take rows with labels ``0 … labels.max()``; every label occurs."""
        X = np.ascontiguousarray(X)
        means, apart = np.empty((int(labels.max()) + 1, X.shape[1])), np.empty_like(X)
        about_means(X, labels, means, apart)
        return cls(X, labels, means, apart)


class CentreMargin:
    """Each row nearer to its own cluster's centre than to any centre of another class, by a margin of one.

    ``(1 - μ) Σ_i D(xi, m⁺) + μ Σ_i Σ_{m of other classes} [1 + D(xi, m⁺) - D(xi, m)]₊``

    Rows are in the coordinates ``x W``, in which the scatter about the means, ``scatter`` in those of X, is
    diagonal; ``codes`` are the rows' classes.
    """

    def __init__(self, data: Clustered, codes: Codes, W: Array, scatter: Array) -> None:
        k, d = data.means.shape
        classes = np.empty(k, dtype=np.intp)
        classes[data.labels] = codes
        padded, M = wide_zeros(d, d)[:d], wide_zeros(k, d)
        padded[:, :d] = W
        np.matmul(data.means, padded, out=M[:k])
        pulls = np.einsum("ab,ab->b", W, scatter @ W)
        self.room = room_for(data.X @ padded, data.labels, M, classes, pulls)

    def evaluate(self, L: Array, mu: float) -> tuple[float, Array]:
        """Return the objective and its gradient with respect to L."""
        gradient = np.empty_like(L)
        return centre_value(np.ascontiguousarray(L), mu, self.room, gradient), gradient

    def minimise(self, L: Array, mu: float, tol: float, max_iter: int) -> Descent:
        """Minimise from L."""
        return descend(centre_descent, L, mu, self.room, tol, max_iter)


class ClusterMargin:
    """LMNN inside each cluster, with all members of a row's class as targets and all others as impostors."""

    def __init__(self, data: Clustered, codes: Codes, W: Array, scatter: Array) -> None:
        order = np.argsort(data.labels.astype(np.int32), kind="stable")
        X = data.X[order] @ W
        n, d = X.shape
        starts = np.concatenate([[0], np.cumsum(np.bincount(data.labels))])
        self.room = Clusters(
            X, np.ascontiguousarray(X.T), starts, codes[order], np.empty((n, d)), np.empty((n, d)),
            np.empty(n), np.zeros((d, d)), np.empty((d, d)), np.empty((d, d)),
        )  # fmt: skip

    def evaluate(self, L: Array, mu: float) -> tuple[float, Array]:
        """Return the objective and its gradient with respect to L."""
        gradient = np.empty_like(L)
        return cluster_objective(np.ascontiguousarray(L), mu, self.room, gradient), gradient

    def minimise(self, L: Array, mu: float, tol: float, max_iter: int) -> Descent:
        """Minimise from L."""
        return descend(cluster_descent, L, mu, self.room, tol, max_iter)
