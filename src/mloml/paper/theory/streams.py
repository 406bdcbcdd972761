"""The triplets behind theory and timing: scans over the training half of a dataset, as in the tables."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from sklearn.utils import check_random_state

from mloml.arrays import Array, Codes, Triplets
from mloml.learners.triplets import scan_triplets


def scans(codes: Codes, seed: int) -> Iterator[Triplets]:
    """Yield the triplets of one scan after the other, rows reshuffled each time, without end."""
    random = check_random_state(seed)
    while True:
        yield scan_triplets(codes, random.permutation(len(codes)))


def differences(X: Array, codes: Codes, T: int, seed: int) -> tuple[Array, Array]:
    """Return ``x - xp`` and ``x - xq`` of the first T triplets of the stream.

    >>> P, Q = differences(np.eye(4), np.array([0, 0, 1, 1]), 5, seed=0)
    >>> P.shape, Q.shape
    ((5, 4), (5, 4))
    """
    collected, count = [], 0
    for triplets in scans(codes, seed):
        if not len(triplets):
            raise ValueError("no triplet can be formed: give rows of at least two classes, two of one")
        collected.append(triplets)
        count += len(triplets)
        if count >= T:
            break
    t, p, q = np.concatenate(collected)[:T].T
    return X[t] - X[p], X[t] - X[q]
