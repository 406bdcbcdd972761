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

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array

from mloml.arrays import Array, Index, Triplets

from .compiled import entry, exact, exact_entry, ready
from .rows import BOUND, SparseRows, divided, divisor_of, row_length, row_lengths

Rule = Literal["released", "latest"]
RULES: tuple[Rule, ...] = ("released", "latest")

# Places in ``state``: class of the latest sample, of the latest one of another class, number of classes.
LAST, OTHER, SEEN = 0, 1, 2

# What one arriving row gives; a triplet is told by which of xp and xq arrived first.
NOT_FINITE, NO_TRIPLET, POSITIVE_FIRST, NEGATIVE_FIRST = -1, 0, 1, 2

# The triplet (x, xp, xq) of three rows in the order in which they arrived.
ONE_TRIPLET = {POSITIVE_FIRST: np.array([[2, 0, 1]]), NEGATIVE_FIRST: np.array([[2, 1, 0]])}


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


@exact_entry
def triplet_pass(
    codes: Index, order: Index, offset: int, released: bool, latest: Index, slots: Index, state: Index
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


@exact_entry
def one_row(
    x: Array, scale: float, bound: float, lengths: Array, place: int, y: int, number: int, released: bool,
    samples: Array, latest: Index, slots: Index, state: Index, D: Array,
) -> int:  # fmt: skip
    """Let one row of class ``y`` arrive, the ``number``-th of a stream; put its triplet into ``D`` (1, 3, d).

    Its norm goes to ``lengths[place]``, and it is divided as :func:`~mloml.learners.rows.divided` does. Does
    to ``samples`` (the latest one of each class), ``latest`` (their numbers), ``slots`` and ``state`` what
    :func:`triplet_pass` does. A row that is not finite leaves everything untouched.
    """
    d = x.shape[0]
    for j in range(d):
        if not np.isfinite(x[j]):
            return NOT_FINITE
    lengths[place] = row_length(x)
    divisor = divisor_of(lengths[place], scale, bound)
    for j in range(d):
        D[0, 2, j] = x[j] / divisor
    found = NO_TRIPLET
    if latest[y] >= 0 and state[SEEN] > 1:
        other = partner(y, released, slots, state)
        for j in range(d):
            D[0, 0, j] = D[0, 2, j] - samples[y, j]
            D[0, 1, j] = D[0, 2, j] - samples[other, j]
        found = POSITIVE_FIRST if latest[y] < latest[other] else NEGATIVE_FIRST
    arrive(y, number, latest, slots, state)
    for j in range(d):
        samples[y, j] = D[0, 2, j]
    return found


@entry
def differences(rows: Array, triplets: Index, D: Array) -> None:
    """Set ``D[t]`` to ``p = x - xp``, ``q = x - xq`` and ``h = x`` of triplet t."""
    for t in range(triplets.shape[0]):
        i, j, k = triplets[t, 0], triplets[t, 1], triplets[t, 2]
        for a in range(rows.shape[1]):
            D[t, 0, a] = rows[i, a] - rows[j, a]
            D[t, 1, a] = rows[i, a] - rows[k, a]
            D[t, 2, a] = rows[i, a]


def pieces(rows: Array, triplets: Triplets) -> Iterator[tuple[Array, Triplets]]:
    """Yield the triplets in pieces, each with its array ``D``, that stay in the processor's cache."""
    ready("triplets")
    size = max(1, 2**14 // rows.shape[1])
    for first in range(0, len(triplets), size):
        piece = triplets[first : first + size]
        D = np.empty((len(piece), 3, rows.shape[1]))
        differences(rows, piece, D)
        yield D, piece


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
        :class:`~mloml.learners.rows.SparseRows` as ``X`` is.
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
        known = self._samples[seen]
        rows: Any = X if not seen.size else known.then(X) if sparse else np.concatenate([known, X])
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

    def push_one(
        self, x: Array, code: int, scale: float, bound: float, lengths: Array, place: int, D: Array
    ) -> int:
        """Take in one row, not yet divided, as :meth:`push` does; see :func:`one_row`."""
        if isinstance(self._samples, SparseRows):
            self._change_kind(x.size)
        if code >= len(self._samples):  # a class of rows that were broken off before they arrived
            self.make_room(code + 1, x.size)
        memory = self._memory
        released = self.rule == "released"
        found: int = one_row(
            x, scale, bound, lengths, place, code, self._count, released,
            self._samples, memory.latest, memory.slots, memory.state, D,
        )  # fmt: skip
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
        """Divide the remembered samples by ``scale``, and shorten them, as the rows to come will be."""
        self._samples = divided(self._samples, row_lengths(self._samples), scale, BOUND)

    def _change_kind(self, n_features: int) -> None:
        """Keep the samples as sparse rows from now on, or as dense ones."""
        if isinstance(self._samples, SparseRows):
            self._samples = self._samples.to_csr().toarray()
        else:
            self._samples = SparseRows.of(csr_array(self._samples.reshape(-1, n_features)))


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
        ready("triplets")
        if rule not in RULES:
            raise ValueError(f"triplets is {rule!r}, allowed are {', '.join(map(repr, RULES))}")
        if codes.min(initial=0) < 0:
            raise ValueError(f"class codes must not be negative, found {codes.min()}")
        return triplet_pass(codes, order, offset, rule == "released", self.latest, self.slots, self.state)
