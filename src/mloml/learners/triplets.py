"""One-pass triplets: what the online learners see of labelled data (section III of the paper).

Each arriving sample ``x`` is paired with one earlier sample ``xp`` of its class and one ``xq`` of another
class, so that a stream needs no more memory than one sample per class. Two rules choose the partners:

``"released"``
    The rule of the authors' released OPML code. When the sample before ``x`` has the same class, it is
    ``xp``, and ``xq`` is the stored sample of the class that appeared last (the one before it if that is
    the class of ``x``). Otherwise the sample before ``x`` is ``xq``, and ``xp`` is the latest one of its
    own class.
``"latest"``
    ``xp`` and ``xq`` are the most recent samples of the same and of any other class. For two classes this is
    the same as ``"released"``.

The first sample of a class gives no triplet, nor does any sample while only one class has been seen.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array
from scipy.spatial.distance import pdist

from mloml.arrays import Array, Index

from .sparse_rows import SparseRows

Rule = Literal["released", "latest"]
RULES: tuple[Rule, ...] = ("released", "latest")


def scan_triplets(codes: ArrayLike, order: ArrayLike | None = None, rule: Rule = "released") -> Index:
    """Return the triplets (x, xp, xq) of one scan as rows of indices, starting with nothing seen.

    Parameters
    ----------
    codes : array-like of shape (n,)
        Class codes, integers from 0.
    order : array-like of shape (m,), optional
        The rows in the order in which they arrive; all rows from first to last by default.
    rule : {"released", "latest"}
        How partners are chosen, see above.

    Examples
    --------
    >>> scan_triplets([0, 1, 2, 0, 0])
    array([[3, 0, 2],
           [4, 3, 2]])
    """
    codes = np.ascontiguousarray(codes, dtype=np.intp)
    order = np.arange(codes.size) if order is None else np.ascontiguousarray(order, dtype=np.intp)
    n_classes = int(codes.max(initial=-1)) + 1
    return _Memory(n_classes).advance(codes, order, 0, rule)


class TripletStream:
    """Triplets of a stream that arrives in pieces; keeps the latest sample of each class in between.

    Parameters
    ----------
    rule : {"released", "latest"}
        How partners are chosen, see :mod:`mloml.learners.triplets`.

    Examples
    --------
    >>> stream = TripletStream()
    >>> rows, triplets = stream.push([[0.0], [1.0]], [0, 1])
    >>> rows, triplets = stream.push([[2.0]], [0])
    >>> rows[triplets[0], 0]
    array([2., 0., 1.])
    """

    def __init__(self, rule: Rule = "released") -> None:
        self.rule: Rule = rule
        self._memory = _Memory(0)
        self._samples: Any = np.empty((0, 0))
        self._count = 0

    def push(self, X: Any, codes: ArrayLike) -> tuple[Any, Index]:
        """Take in rows with their class codes; return ``rows`` and the triplets that index into them.

        ``rows`` are the remembered samples and then ``X``, in the order in which they arrived, an array or
        :class:`~mloml.learners.sparse_rows.SparseRows` as ``X`` is.
        """
        sparse = isinstance(X, SparseRows)
        X = X if sparse else np.asarray(X, dtype=np.float64)
        if sparse != isinstance(self._samples, SparseRows):
            self._change_kind(X.shape[1])
        codes = np.ascontiguousarray(codes, dtype=np.intp)
        memory = self._memory
        latest = memory.latest
        seen = np.flatnonzero(latest >= 0)
        seen = seen[np.argsort(latest[seen])]
        rows = _one_after_the_other(self._samples[seen], X) if seen.size else X
        latest[seen] = np.arange(seen.size)
        self.make_room(int(codes.max(initial=-1)) + 1, X.shape[1])
        triplets = memory.advance(codes, np.arange(codes.size), seen.size, self.rule)
        latest = memory.latest
        seen_now = np.flatnonzero(latest >= 0)
        if sparse:
            self._samples = rows[latest[seen_now]].spread(seen_now, latest.size)
        else:
            self._samples[seen_now] = rows[latest[seen_now]]
        latest[seen_now] += self._count - seen.size  # from a place in `rows` to a number in the stream
        self._count += len(X)
        return rows if sparse else np.ascontiguousarray(rows), triplets

    def push_one(self, x: Array, code: int, scale: float, rows: Array) -> int:
        """Take in one row, divided by ``scale``.

        Does what :meth:`push` does, without an array being made: the triplet goes into ``rows``, see
        :func:`mloml.kernels.triplets.one_row`, whose answer is returned.
        """
        if code >= len(self._samples):  # a class of rows that were broken off before they arrived
            self.make_room(code + 1, x.size)
        memory = self._memory
        found: int = _one_row()(
            x,
            scale,
            code,
            self._count,
            self.rule == "released",
            self._samples,
            memory.latest,
            memory.slots,
            memory.state,
            rows,
        )
        self._count += found >= 0
        return found

    def make_room(self, n_classes: int, n_features: int) -> None:
        """Allow for class codes below ``n_classes``."""
        self._memory.make_room(n_classes)
        room = self._memory.latest.size
        if len(self._samples) < room and not isinstance(self._samples, SparseRows):
            larger = np.zeros((room, n_features))
            if self._samples.size:
                larger[: len(self._samples)] = self._samples
            self._samples = larger

    def widen(self, n_features: int) -> None:
        """Give the remembered samples more features, zeros."""
        if isinstance(self._samples, SparseRows):
            self._samples = replace(self._samples, n_features=n_features)
            return
        rows, d = self._samples.shape
        self._samples = np.hstack([self._samples, np.zeros((rows, n_features - d))])

    def divide(self, scale: float) -> None:
        """Divide the remembered samples by ``scale``, as the rows to come will be."""
        self._samples /= scale

    def _change_kind(self, n_features: int) -> None:
        """Keep the samples as sparse rows from now on, or as dense ones."""
        if isinstance(self._samples, SparseRows):
            self._samples = self._samples.to_csr().toarray()
        else:
            self._samples = SparseRows.of(csr_array(self._samples.reshape(-1, n_features)))


def _one_after_the_other(first: Any, second: Any) -> Any:
    return first.then(second) if isinstance(first, SparseRows) else np.concatenate([first, second])


@cache
def _one_row() -> Callable[..., Any]:
    from mloml.kernels.triplets import one_row

    return one_row


class _Memory:
    """The number of the latest sample of each class, and which classes came in which order."""

    def __init__(self, n_classes: int) -> None:
        self.latest = np.full(n_classes, -1, dtype=np.intp)
        self.slots = np.full(n_classes, -1, dtype=np.intp)
        self.state = np.array([-1, -1, 0], dtype=np.intp)

    def make_room(self, n_classes: int) -> None:
        """Allow for class codes below ``n_classes``; twice the room, so that classes may come one by one."""
        if n_classes > self.latest.size:
            missing = np.full(max(n_classes, 2 * self.latest.size) - self.latest.size, -1, dtype=np.intp)
            self.latest = np.concatenate([self.latest, missing])
            self.slots = np.concatenate([self.slots, missing])

    def advance(self, codes: Index, order: Index, offset: int, rule: Rule) -> Index:
        """Let rows arrive and return their triplets."""
        from mloml.kernels.triplets import triplet_pass  # compiled code is loaded when first used

        if rule not in RULES:
            raise ValueError(f"triplets is {rule!r}, allowed are {', '.join(map(repr, RULES))}")
        if codes.min(initial=0) < 0:
            raise ValueError(f"class codes must not be negative, found {codes.min()}")
        return triplet_pass(codes, order, offset, rule == "released", self.latest, self.slots, self.state)


def distance_percentiles(X: Array, percentiles: tuple[float, float] = (5, 95), max_rows: int = 2000) -> Array:
    """Return percentiles of all squared distances between rows; evenly spaced rows when there are very many.

    Examples
    --------
    >>> distance_percentiles(np.array([[0.0], [1.0], [3.0]]), (0, 100))
    array([1., 9.])
    """
    if len(X) < 2:
        return np.zeros(len(percentiles))
    if len(X) > max_rows:
        X = X[np.linspace(0, len(X) - 1, max_rows).astype(np.intp)]
    distances = pdist(X, "sqeuclidean")
    if not distances.max() < np.inf:
        largest = np.abs(X).max()
        raise ValueError(
            f"the largest entry of X is {largest:g}: squared distances of such rows are no numbers and have "
            "no percentiles; scale the rows, or give targets=(lower, upper)"
        )
    return np.percentile(distances, percentiles, overwrite_input=True)
