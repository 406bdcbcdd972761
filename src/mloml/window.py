"""The last rows of a stream, and exact neighbours among them under a metric that moves."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array, issparse

from mloml.arrays import Array, Index
from mloml.learners.choosing import joined, wider

# Steps after which the squares of the window are computed anew, so that rounding errors do not add up.
RENEW_EVERY = 256
# Below so many multiplications the squares are computed anew: that takes less than to find the change.
FEWEST = 2**20
# A change of the factor smaller than this, relative to its largest entry, is rounding.
ROUNDING = 1e-14
# Rows whose rough distance is this near the k-th, relative to the longest rows, are looked at closely.
MARGIN = 1e-9
# Rows that are multiplied at a time: few enough to stay in the processor's cache.
ROWS = 1024
# Distances that are held at a time.
AT_ONCE = 2**22

# With M = L'L the squared distance of a query x to a row y of the window is
#
#     (x - y)'M(x - y) = x'Mx - 2 (Mx)'y + y'My
#
# So rows stay as they came: Mx is made for each query, and y'My is kept for each row. A triplet changes L by
# U P' of rank 2, and n triplets change it by rank 2n. Then
#
#     y'My <- y'My + (P'y)'(U'Sy),    S = L_before + L_after
#
# in O(window d), about what a query costs. Where the change is not of low rank (another scale, another step
# size, a learner that recovered), all squares are computed anew.
#
# These sums only find candidates. Their distances are computed from differences, so that the answer does not
# depend on when the squares were last computed, and equal rows are exact ties.


class Window:
    """The last rows of a stream with their classes, and what the metric makes of them.

    Parameters
    ----------
    size : int or None
        How many rows are kept; None: all.
    n_features : int
        Length of a row.
    """

    def __init__(self, size: int | None, n_features: int) -> None:
        self.size = size
        self.rows: Any = np.empty((0, n_features))  # room for more than the window, or the window as CSR
        self.classes = np.empty(0, dtype=np.intp)
        self.squares = np.empty(0)
        self.first = self.end = self.measured = 0  # places in these arrays; of the squares, up to `measured`
        self.factor: Any = None
        self.mapped: Any = None
        self.age = 0

    def __len__(self) -> int:
        return self.end - self.first

    @property
    def points(self) -> Any:
        """The rows, the earliest first."""
        return self.rows if issparse(self.rows) else self.rows[self.first : self.end]

    def codes(self) -> Index:
        """Return the classes of the rows."""
        return self.classes[self.first : self.end]

    def add(self, rows: Any, codes: ArrayLike) -> None:
        """Let rows arrive; the earliest ones leave the window."""
        some = np.asarray(codes, dtype=np.intp)
        if self.size is not None:
            rows, some = rows[-self.size :], some[-self.size :]
        if issparse(rows) and not issparse(self.rows):
            self.rows = csr_array(self.points)
        self._make_room(some.size)
        last, self.end = self.end, self.end + some.size
        if self.size is not None:
            self.first = max(self.first, self.end - self.size)
        self.classes[last : self.end] = some
        if issparse(self.rows):
            self.rows = joined([self.rows, csr_array(rows)])[-len(self) :]
        else:
            self.rows[last : self.end] = rows

    def _make_room(self, count: int) -> None:
        """Move the window to the front of larger arrays when their end is reached."""
        if self.end + count <= self.classes.size:
            return
        kept, room = slice(self.first, self.end), 2 * max(8, len(self) + count)
        arrays = [self.classes, self.squares] + [self.rows] * (not issparse(self.rows))
        for i, array in enumerate(arrays):
            arrays[i] = np.empty((room, *array.shape[1:]), array.dtype)
            arrays[i][: len(self)] = array[kept]
        self.classes, self.squares, *rows = arrays
        self.rows = rows[0] if rows else self.rows
        self.measured = max(0, self.measured - self.first)
        self.first, self.end = 0, len(self)

    def widen(self, n_features: int) -> None:
        """Give the rows more features, zeros."""
        self.rows = wider(self.rows, n_features)

    def follow(self, metric: Any) -> None:
        """Bring the squares up to the metric as it is now."""
        if not hasattr(type(metric), "layers_"):
            self._follow_factor(None if metric is None else metric.components_)
        elif metric.layers_ is not self.factor or self.measured < self.end:
            self.factor, self.measured = metric.layers_, self.end
            self.mapped = metric.transform(self.points)
            self.squares[self.first : self.end] = lengths_squared(self.mapped)

    def _follow_factor(self, L: Any) -> None:
        points, known = self.points, max(0, self.measured - self.first)
        if L is not self.factor:  # learners hand out the same array until they learn
            worth = L is not None and known * L.shape[0] * L.shape[1] > FEWEST and self.age < RENEW_EVERY
            change = low_rank_change(self.factor, L) if worth else None
            if change is None:
                known = self.age = 0
            elif change[0].size:
                U, P = change
                both = products(points[:known], np.hstack([P, (self.factor + L).T @ U]))
                left, right = np.hsplit(both, 2)
                self.squares[self.first : self.first + known] += np.einsum("ij,ij->i", left, right)
            self.factor, self.age = L, self.age + 1
        for i in range(known, len(self), ROWS):
            some = points[i : i + ROWS]
            mapped = some if L is None else some @ L.T
            self.squares[self.first + i : self.first + i + some.shape[0]] = lengths_squared(mapped)
        self.measured = self.end

    def neighbours(self, metric: Any, rows: Any, k: int) -> Iterator[tuple[Index, Array]]:
        """Yield for each row the places of its k nearest, nearest first, and their distances.

        Equally near ones come in the order in which they arrived. Under a similarity, distances are minus it.
        """
        k, step = min(k, len(self)), max(1, AT_ONCE // len(self))
        rows = rows if isinstance(rows, np.ndarray) else csr_array(rows)
        for first in range(0, rows.shape[0], step):
            some = rows[first : first + step]
            if hasattr(metric, "similarity"):
                for ranks in -metric.similarity(some, self.points):
                    yield nearest(ranks, 0.0, ranks.__getitem__, k)
            else:
                yield from self._by_distance(metric, some, k)

    def _by_distance(self, metric: Any, rows: Any, k: int) -> Iterator[tuple[Index, Array]]:
        self.follow(metric)
        points, L, squares = self.points, self.factor, self.squares[self.first : self.end]
        if hasattr(type(metric), "layers_"):
            rows, points, L = metric.transform(rows), self.mapped, None
        mapped = rows if L is None else rows @ L.T
        aims = mapped if L is None else mapped @ L  # Mx
        ranks = squares - 2.0 * products(points, aims.T).T
        margins = MARGIN * (squares.max() + lengths_squared(mapped))
        for i, (ranks_of_one, margin) in enumerate(zip(ranks, margins, strict=True)):

            def distances(places: Index, i: int = i) -> Array:
                gaps = dense(points[places]) - dense(rows[i : i + 1])
                return np.sqrt(lengths_squared(gaps if L is None else gaps @ L.T))

            yield nearest(ranks_of_one, margin, distances, k)


def nearest(ranks: Array, margin: float, exact: Any, k: int) -> tuple[Index, Array]:
    """Return the places of the k smallest values, ties by place, and the values; ``ranks`` are rough ones.

    >>> nearest(np.array([3.0, 1.0, 2.0, 1.0]), 0.5, lambda places: places % 2, k=2)
    (array([1, 3]), array([1, 1]))
    """
    limit = np.partition(ranks, k - 1)[k - 1] + margin
    places = np.flatnonzero(~(ranks > limit))  # what is not a number is looked at, too
    values = exact(places)
    order = np.argsort(values, kind="stable")[:k]
    return places[order], values[order]


def low_rank_change(before: Any, after: Any) -> tuple[Array, Array] | None:
    """Return U and P with ``after = before + U P'``; None where that is not cheaper than to start anew.

    The largest entry that is left and its row and column are taken out until nothing but rounding is left.

    >>> U, P = low_rank_change(np.eye(16), np.eye(16) + np.outer(np.arange(16.0), np.ones(16)))
    >>> U.shape, P.shape
    ((16, 1), (16, 1))
    """
    if issparse(after) or before is None or before.shape != after.shape:
        return None
    left, tolerance = after - before, ROUNDING * np.abs(after).max()
    columns: list[Array] = []
    rows: list[Array] = []
    while True:
        place = np.abs(left).argmax()
        i, j = divmod(int(place), left.shape[1])
        pivot = left[i, j]
        if abs(pivot) <= tolerance:
            break
        if len(rows) >= after.shape[1] // 8:
            return None
        columns.append(left[:, j] / pivot)
        rows.append(left[i].copy())
        left -= np.outer(columns[-1], rows[-1])
    shape = (-1, len(rows)) if rows else (0, 0)
    return np.array(columns).T.reshape(shape), np.array(rows).T.reshape(shape)


def products(rows: Any, columns: Any) -> Array:
    """Return ``rows @ columns``, a few rows at a time; either may be sparse."""
    if issparse(rows) or issparse(columns):
        return dense(rows @ columns)
    found = np.empty((len(rows), columns.shape[1]))
    for i in range(0, len(rows), ROWS):
        np.matmul(rows[i : i + ROWS], columns, out=found[i : i + ROWS])
    return found


def lengths_squared(rows: Any) -> Array:
    """Return the squared norm of each row."""
    if isinstance(rows, np.ndarray):
        return np.einsum("ij,ij->i", rows, rows)
    lengths: Array = np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
    return lengths


def dense(rows: Any) -> Array:
    """Return rows as an array."""
    array: Array = rows if isinstance(rows, np.ndarray) else rows.toarray()
    return array
