"""Nearest rows: of the same class, and of a training set for k-NN."""

import numpy as np

from mloml.arrays import Array, Codes, Counts, Index

from .compiled import exact, exact_entry

PAIRWISE = 128  # NumPy adds up to this many terms in eight running sums and halves longer sums first

# ---- Target neighbours: the nearest rows of the same class, ties by row number ----


@exact_entry
def nearest_of_class(X: Array, starts: Index, out: Index) -> None:
    """Fill ``out[i]`` with the nearest other rows of row i's class, nearest first; -1 where there are none.

    Rows are sorted by class; ``starts[c]:starts[c + 1]`` are those of class c.
    """
    (n, d), K = X.shape, out.shape[1]
    D, best = np.empty(n), np.empty(K)
    for c in range(starts.size - 1):
        columns = np.empty((d, starts[c + 1] - starts[c]))
        for j in range(columns.shape[1]):
            for a in range(d):
                columns[a, j] = X[starts[c] + j, a]
        for i in range(starts[c], starts[c + 1]):
            for j in range(columns.shape[1]):
                D[j] = 0.0
            for a in range(d):
                for j in range(columns.shape[1]):
                    D[j] += (X[i, a] - columns[a, j]) ** 2
            D[i - starts[c]] = np.inf
            for t in range(K):
                best[t], out[i, t] = np.inf, -1
            for j in range(columns.shape[1]):
                t = K
                while t > 0 and best[t - 1] > D[j]:
                    t -= 1
                    if t + 1 < K:
                        best[t + 1], out[i, t + 1] = best[t], out[i, t]
                    best[t], out[i, t] = D[j], starts[c] + j


# ---- k-NN: rough distances by BLAS give candidates, exact ones decide ----
#
# Which of two equally distant rows comes first depends on the last bit, so the order of additions is part of
# the definition: it is that of NumPy's ((a - b) ** 2).sum(). (It is not written as a recursion because numba
# crashes when it loads a recursive function from disk, its issue 6061.)


def halvings(first: int, last: int) -> list[tuple[int, int]]:
    """Return how NumPy adds many terms: the end of each block, and how often to merge the last two sums then.

    >>> halvings(0, 300)
    [(72, 0), (144, 1), (216, 0), (300, 2)]
    """
    n = last - first
    if n <= PAIRWISE:
        return [(last, 0)]
    middle = first + n // 2 - n // 2 % 8
    *right, (end, merges) = halvings(middle, last)
    return [*halvings(first, middle), *right, (end, merges + 1)]


@exact
def every_eighth(a: Array, b: Array, first: int, last: int) -> float:
    """Add every eighth squared difference."""
    total = 0.0
    for j in range(first, last, 8):
        total += (a[j] - b[j]) * (a[j] - b[j])
    return total


@exact
def block_distance(a: Array, b: Array, first: int, last: int) -> float:
    """Add the squared differences of one block: eight running sums, then what is left."""
    total, whole = 0.0, last - (last - first) % 8
    if whole > first:
        s0, s1 = every_eighth(a, b, first, whole), every_eighth(a, b, first + 1, whole)
        s2, s3 = every_eighth(a, b, first + 2, whole), every_eighth(a, b, first + 3, whole)
        s4, s5 = every_eighth(a, b, first + 4, whole), every_eighth(a, b, first + 5, whole)
        s6, s7 = every_eighth(a, b, first + 6, whole), every_eighth(a, b, first + 7, whole)
        total = ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))
    for j in range(whole, last):
        total += (a[j] - b[j]) * (a[j] - b[j])
    return total


@exact
def squared_distance(a: Array, b: Array, blocks: Counts, sums: Array) -> float:
    """Return ``((a - b) ** 2).sum()`` to the last bit; ``blocks`` are :func:`halvings`, ``sums`` is room."""
    first, top = 0, -1
    for block in range(blocks.shape[0]):
        top += 1
        sums[top] = block_distance(a, b, first, blocks[block, 0])
        first = blocks[block, 0]
        for _ in range(blocks[block, 1]):
            sums[top - 1] += sums[top]
            top -= 1
    return sums[0]


@exact
def insert(value: float, row: int, values: Array, rows: Index) -> None:
    """Put a row into its place among those of the smallest values, after equal ones; the last drops out."""
    place = values.shape[0] - 1
    while place > 0 and value < values[place - 1]:
        values[place], rows[place] = values[place - 1], rows[place - 1]
        place -= 1
    values[place], rows[place] = value, row


@exact_entry
def nearest_rows(
    rough: Array, squares: Array, margins: Array, train: Array, first: int, test: Array, blocks: Counts,
    distances: Array, neighbours: Index,
) -> None:  # fmt: skip
    """Put training rows among each test row's ``neighbours`` so far, nearest first, ties by row number.

    ``squares[i] + 2 * rough[i, j]`` is the squared distance of test row i and training row ``first + j``, up
    to ``margins[i]``. ``distances`` are the exact ones of the neighbours, infinite where there is none yet. A
    row is a candidate if it may be as near as the k-th neighbour so far and the k-th by rough distances.
    """
    k, n = neighbours.shape[1], rough.shape[1]
    best, unused, candidates = np.empty(k), np.empty(k, np.int64), np.empty(n, np.int64)
    sums = np.empty(blocks.shape[0])
    for i in range(rough.shape[0]):
        for t in range(k):
            best[t] = (distances[i, k - 1] - squares[i] - margins[i]) / 2
        reach, count = best[k - 1] + margins[i], 0
        for j in range(n):
            if rough[i, j] <= reach:
                candidates[count] = j
                count += 1
                if rough[i, j] < best[k - 1]:
                    insert(rough[i, j], j, best, unused)
                    reach = best[k - 1] + margins[i]
        for c in range(count):
            j = candidates[c]
            if rough[i, j] <= reach:
                D = squared_distance(test[i], train[first + j], blocks, sums)
                if distances[i, k - 1] > D:
                    insert(D, first + j, distances[i], neighbours[i])


@exact_entry
def most_similar_rows(similarity: Array, neighbours: Index) -> None:
    """Put the columns of each row's largest entries into ``neighbours``, largest first, ties by column."""
    k = neighbours.shape[1]
    least = np.empty(k)
    for i in range(similarity.shape[0]):
        for t in range(k):
            least[t] = np.inf
        for j in range(similarity.shape[1]):
            if -similarity[i, j] < least[k - 1]:
                insert(-similarity[i, j], j, least, neighbours[i])


@exact_entry
def majority(neighbours: Index, codes: Codes, votes: Counts, winners: Codes) -> None:
    """Find the most frequent class of each row's neighbours, the smallest of several; ``votes`` is room."""
    for i in range(neighbours.shape[0]):
        for c in range(votes.shape[0]):
            votes[c] = 0
        for t in range(neighbours.shape[1]):
            votes[codes[neighbours[i, t]]] += 1
        winners[i] = 0
        for c in range(votes.shape[0]):
            if votes[c] > votes[winners[i]]:
                winners[i] = c
