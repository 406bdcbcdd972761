"""k-means inside groups of rows, with ties that every processor breaks alike."""

from collections.abc import Sequence

import numpy as np
from sklearn.cluster import kmeans_plusplus

from mloml.arrays import Array, Index

from .compiled import exact, exact_entry

LLOYD_STEPS = 100


def first_centres(
    X: Array, groups: Sequence[Index], n_clusters: int, seed: np.random.RandomState
) -> list[Array]:
    """Choose centres in each group by k-means++, as many as asked for or as the group has rows."""
    return [kmeans_plusplus(X[own], min(n_clusters, len(own)), random_state=seed)[0] for own in groups]


def cluster(Z: Array, groups: Sequence[Index], centres: Sequence[Array]) -> Index:
    """Run k-means in each group from its centres; number the clusters through, empty ones left out."""
    labels, used = np.empty(len(Z), dtype=np.int64), 0
    for own, first in zip(groups, centres, strict=True):
        found = np.full(len(own), -1)
        lloyd(np.ascontiguousarray(Z[own].T), np.array(first, order="C"), found, LLOYD_STEPS)
        numbers = np.cumsum(np.bincount(found) > 0) - 1
        labels[own] = used + numbers[found]
        used += numbers[-1] + 1
    return labels


def means_of(X: Array, labels: Index) -> Array:
    """Return the mean of each cluster; every label from 0 on occurs."""
    members = (np.arange(labels.max() + 1)[:, None] == labels).astype(np.float64)
    return (members @ X) / members.sum(axis=1, keepdims=True)


@exact_entry
def lloyd(Z: Array, centres: Array, labels: Index, max_iter: int) -> None:
    """Alternate nearest centres (ties: the first) and means, in place, until no label changes.

    The columns of Z are clustered. A centre that loses all of them stays where it is.
    """
    n = Z.shape[1]
    D, least, nearest = np.empty(n), np.empty(n), np.empty(n, np.int64)
    for _ in range(max_iter):
        find_nearest(Z, centres, D, least, nearest)
        changes = 0
        for i in range(n):
            changes += labels[i] != nearest[i]
            labels[i] = nearest[i]
        if changes == 0:
            return
        move_to_means(Z, labels, centres)


@exact
def find_nearest(Z: Array, centres: Array, D: Array, least: Array, nearest: Index) -> None:
    """Find the nearest centre of each column of Z, the first of several; D is room for distances."""
    n = Z.shape[1]
    for c in range(centres.shape[0]):
        for i in range(n):
            D[i] = 0.0
        for a in range(Z.shape[0]):
            m = centres[c, a]
            for i in range(n):
                D[i] += (Z[a, i] - m) * (Z[a, i] - m)
        for i in range(n):
            nearer = c == 0 or D[i] < least[i]
            least[i] = D[i] if nearer else least[i]
            nearest[i] = c if nearer else nearest[i]


@exact
def move_to_means(Z: Array, labels: Index, centres: Array) -> None:
    """Move each centre that has columns to their mean."""
    sizes = np.zeros(centres.shape[0])
    for i in range(Z.shape[1]):
        sizes[labels[i]] += 1.0
    for c in range(centres.shape[0]):
        for a in range(Z.shape[0]):
            centres[c, a] = 0.0 if sizes[c] > 0.0 else centres[c, a]
    for a in range(Z.shape[0]):
        for i in range(Z.shape[1]):
            centres[labels[i], a] += Z[a, i]
    for c in range(centres.shape[0]):
        for a in range(Z.shape[0]):
            centres[c, a] /= max(1.0, sizes[c])
