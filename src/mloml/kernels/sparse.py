"""The two differences of a triplet of rows, dense or sparse, as one list of entries."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mloml.kernels.simd import exact

Array = NDArray[np.float64]
Places = NDArray[np.int32]
Starts = NDArray[np.int64]


@exact
def dense_triplet(rows: Array, t: int, i: int, j: int, p: Array, q: Array) -> int:
    """Set ``p = rows[t] - rows[i]`` and ``q = rows[t] - rows[j]``; return their length."""
    for f in range(p.shape[0]):
        p[f] = rows[t, f] - rows[i, f]
        q[f] = rows[t, f] - rows[j, f]
    return p.shape[0]


@exact
def sparse_triplet(
    data: Array, indices: Places, starts: Starts, t: int, i: int, j: int, index: Places, p: Array, q: Array
) -> int:
    """Merge three sparse rows: put the features that any of them has into ``index``, differences beside them.

    Returns how many there are. Sums over them, in their order, are bit for bit those over dense rows, where
    the other features add zeros.
    """
    a, b, c = starts[t], starts[i], starts[j]
    count = 0
    while True:
        feature = np.int32(2147483647)  # beyond all features
        if a < starts[t + 1]:
            feature = min(feature, indices[a])
        if b < starts[i + 1]:
            feature = min(feature, indices[b])
        if c < starts[j + 1]:
            feature = min(feature, indices[c])
        if feature == 2147483647:
            return count
        x, xp, xq = 0.0, 0.0, 0.0
        if a < starts[t + 1] and indices[a] == feature:
            x = data[a]
            a += 1
        if b < starts[i + 1] and indices[b] == feature:
            xp = data[b]
            b += 1
        if c < starts[j + 1] and indices[c] == feature:
            xq = data[c]
            c += 1
        index[count] = feature
        p[count] = x - xp
        q[count] = x - xq
        count += 1


@exact
def longest_triplet(starts: Starts, d: int) -> int:
    """Return how many features three rows have at most."""
    longest = 0
    for i in range(starts.shape[0] - 1):
        longest = max(longest, starts[i + 1] - starts[i])
    return min(d, 3 * longest)
