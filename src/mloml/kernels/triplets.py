"""One pass over class codes that pairs each sample with one of its own class and one of another."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mloml.kernels.compiled import kernel

Indices = NDArray[np.intp]

LAST, OTHER, SEEN = 0, 1, 2
"""Places in ``state``: class of the latest sample, of the latest one of another class, number of classes."""


@kernel
def triplet_pass(
    codes: Indices,
    order: Indices,
    offset: int,
    released: bool,
    latest: Indices,
    slots: Indices,
    state: Indices,
) -> Indices:
    """Return the (T, 3) triplets (x, xp, xq) that rows ``order`` give, as ``offset`` plus the row's number.

    ``latest[c]`` is the index of the latest sample of class ``c`` (-1: not seen), ``slots`` the classes in
    order of first appearance. These and ``state`` are read and brought up to date, so that a stream can go
    on.
    """
    triplets = np.empty((order.shape[0], 3), np.intp)
    count = 0
    for k in range(order.shape[0]):
        row = order[k]
        y = codes[row]
        known = latest[y] >= 0
        if known and state[SEEN] > 1:
            if y != state[LAST]:
                negative = state[LAST]
            elif released:
                end = state[SEEN] - 1
                negative = slots[end] if slots[end] != y else slots[end - 1]
            else:
                negative = state[OTHER]
            triplets[count, 0] = offset + row
            triplets[count, 1] = latest[y]
            triplets[count, 2] = latest[negative]
            count += 1
        if not known:
            slots[state[SEEN]] = y
            state[SEEN] += 1
        if y != state[LAST]:
            state[OTHER] = state[LAST]
            state[LAST] = y
        latest[y] = offset + row
    return triplets[:count].copy()
