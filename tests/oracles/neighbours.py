"""k nearest neighbours and votes in plain NumPy, in their most obvious form."""

from collections import Counter

import numpy as np

from mloml.arrays import Array, Codes, Index


def squared_distances(train: Array, test: Array) -> Array:
    """Return all squared distances by differences."""
    return np.array([((row - train) ** 2).sum(axis=1) for row in test])


def nearest_neighbours(train: Array, test: Array, k: int) -> Index:
    """Sort all training rows by distance; equal ones keep the order of their rows."""
    return np.argsort(squared_distances(train, test), axis=1, kind="stable")[:, :k]


def most_similar(similarity: Array, k: int) -> Index:
    """Largest entries first, ties by column."""
    return np.argsort(-similarity, axis=1, kind="stable")[:, :k]


def vote(neighbours: Index, codes: Codes, ties: str = "smallest") -> Codes:
    """Count by hand; among the labels with most votes take the smallest, or that of the nearest row."""
    winners = []
    for row in neighbours:
        counts = Counter(int(codes[j]) for j in row)
        most = max(counts.values())
        tied = [int(codes[j]) for j in row if counts[int(codes[j])] == most]
        winners.append(min(tied) if ties == "smallest" else tied[0])
    return np.array(winners)
