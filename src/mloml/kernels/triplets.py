"""One pass over class codes that pairs each sample with one of its own class and one of another."""

from __future__ import annotations

import numpy as np

from mloml.arrays import Array, Index
from mloml.kernels.simd import exact

LAST, OTHER, SEEN = 0, 1, 2
"""Places in ``state``: class of the latest sample, of the latest one of another class, number of classes."""


@exact
def partner(y: int, released: bool, slots: Index, state: Index) -> int:
    """Return the class that the next sample, of a class seen before, is told apart from."""
    if y != state[LAST]:
        return state[LAST]
    if not released:
        return state[OTHER]
    end = state[SEEN] - 1
    return slots[end] if slots[end] != y else slots[end - 1]


@exact
def arrive(y: int, number: int, latest: Index, slots: Index, state: Index) -> None:
    """Note the arrival of a sample of class ``y``."""
    if latest[y] < 0:
        slots[state[SEEN]] = y
        state[SEEN] += 1
    if y != state[LAST]:
        state[OTHER] = state[LAST]
        state[LAST] = y
    latest[y] = number


@exact
def triplet_pass(
    codes: Index,
    order: Index,
    offset: int,
    released: bool,
    latest: Index,
    slots: Index,
    state: Index,
) -> Index:
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
        if latest[y] >= 0 and state[SEEN] > 1:
            triplets[count, 0] = offset + row
            triplets[count, 1] = latest[y]
            triplets[count, 2] = latest[partner(y, released, slots, state)]
            count += 1
        arrive(y, offset + row, latest, slots, state)
    return triplets[:count].copy()


NOT_FINITE, NO_TRIPLET, POSITIVE_FIRST, NEGATIVE_FIRST = -1, 0, 1, 2
"""What one arriving row gives; a triplet is told by which of xp and xq arrived first."""


@exact
def one_row(
    x: Array,
    scale: float,
    y: int,
    number: int,
    released: bool,
    samples: Array,
    latest: Index,
    slots: Index,
    state: Index,
    rows: Array,
) -> int:
    """Let one row of class ``y`` arrive, the ``number``-th of the stream; put its triplet into ``rows``.

    Does to ``samples`` (the latest one of each class), ``latest`` (their numbers), ``slots`` and ``state``
    what :func:`triplet_pass` does. The row is divided by ``scale`` and goes last into ``rows``, after its
    partners in the order in which they arrived; a row that is not finite leaves everything untouched.
    """
    d = x.shape[0]
    for j in range(d):
        if not np.isfinite(x[j]):
            return NOT_FINITE
    for j in range(d):
        rows[2, j] = x[j] / scale
    found = NO_TRIPLET
    if latest[y] >= 0 and state[SEEN] > 1:
        negative = partner(y, released, slots, state)
        found = POSITIVE_FIRST if latest[y] < latest[negative] else NEGATIVE_FIRST
        first, second = (y, negative) if found == POSITIVE_FIRST else (negative, y)
        for j in range(d):
            rows[0, j] = samples[first, j]
            rows[1, j] = samples[second, j]
    arrive(y, number, latest, slots, state)
    for j in range(d):
        samples[y, j] = rows[2, j]
    return found
