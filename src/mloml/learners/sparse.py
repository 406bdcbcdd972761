"""The differences of three sparse rows, as one list of entries."""

import numpy as np
from numpy.typing import NDArray

from mloml.arrays import Array

from .compiled import compiled

Places = NDArray[np.int32]
Starts = NDArray[np.int64]

BEYOND = 2147483647  # more than any feature's number


@compiled
def place(indices: Places, e: int, end: int) -> int:
    """Return the feature of entry e, or BEYOND where the row has no more."""
    return indices[e] if e < end else BEYOND


@compiled
def sparse_triplet(
    data: Array, indices: Places, starts: Starts, t: int, i: int, j: int, index: Places, E: Array
) -> int:
    """Merge the rows x, xp, xq of numbers t, i, j; return how many features they have between them.

    ``index`` gets these features, and ``E`` (1, 3, n) the entries of p = x - xp, q = x - xq and x for them.
    """
    a, b, c, n = starts[t], starts[i], starts[j], 0
    while True:
        of_x, of_xp = place(indices, a, starts[t + 1]), place(indices, b, starts[i + 1])
        of_xq = place(indices, c, starts[j + 1])
        feature = min(of_x, of_xp, of_xq)
        if feature == BEYOND:
            return n
        x = xp = xq = 0.0
        if of_x == feature:
            x = data[a]
            a += 1
        if of_xp == feature:
            xp = data[b]
            b += 1
        if of_xq == feature:
            xq = data[c]
            c += 1
        index[n] = feature
        E[0, 0, n], E[0, 1, n], E[0, 2, n] = x - xp, x - xq, x
        n += 1


@compiled
def longest_triplet(starts: Starts, d: int) -> int:
    """Return how many features three of the rows have at most."""
    longest = 0
    for i in range(starts.shape[0] - 1):
        longest = max(longest, starts[i + 1] - starts[i])
    return min(d, 3 * longest)
