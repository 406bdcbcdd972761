"""Rows as the learners take them: checked, dense or sparse, and divided by a scale."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, issparse
from sklearn.utils.validation import validate_data

from mloml.arrays import Array, Index

from .compiled import exact_entry, ready

# Learners that take sparse rows, for those who asked another one.
TAKERS = "DiagonalMOML, LowRankMOML, MLOML(n_components=k), OPML and OASIS"

# Rows shorter than this count as zeros: their inverse would be infinite.
SMALLEST_SCALE = 1e-290

# Places in the sums of lengths: number of rows, largest entry, sum of squares in units of its square.
COUNT, LARGEST, SQUARES = range(3)


@dataclass(frozen=True)
class SparseRows:
    """Rows of which only the entries that are not zero are kept, in order of their features.

    They can be counted, taken by a slice or by numbers, and divided, as the rows of an array can.

    Parameters
    ----------
    data, indices : arrays
        The entries of all rows, one row after the other, and the features they belong to.
    starts : array
        Where each row starts in ``data``, and where the last one ends.
    n_features : int
        Length of a row.

    Examples
    --------
    >>> rows = SparseRows.of(csr_array([[0.0, 2.0], [4.0, 0.0], [0.0, 0.0]]))
    >>> (rows[[1, 0]] / 2.0).to_csr().toarray()
    array([[2., 0.],
           [0., 1.]])
    """

    data: Array
    indices: NDArray[np.int32]
    starts: NDArray[np.int64]
    n_features: int

    @classmethod
    def of(cls, X: Any) -> SparseRows:
        """Take over a CSR matrix, whose own order and repetitions are left alone."""
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        used = X.indices[: X.indptr[-1]]  # a matrix may have room for more
        if used.size and not 0 <= used.min() <= used.max() < min(X.shape[1], 2**31):
            raise ValueError(f"X has column indices outside of 0 to {min(X.shape[1], 2**31) - 1}")
        return cls(
            plain(X.data[: used.size].astype(np.float64, copy=False)),
            plain(used.astype(np.int32, copy=False)),
            plain(X.indptr.astype(np.int64, copy=False)),
            X.shape[1],
        )

    def to_csr(self) -> csr_array:
        """Return them as SciPy has them."""
        return csr_array((self.data, self.indices, self.starts), shape=self.shape)

    @property
    def shape(self) -> tuple[int, int]:
        """How many rows there are, and how many features."""
        return len(self), self.n_features

    def __len__(self) -> int:
        return self.starts.size - 1

    def __getitem__(self, which: Any) -> SparseRows:
        order = np.arange(len(self))[which]
        lengths = np.diff(self.starts)[order]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        places = np.arange(starts[-1]) + np.repeat(self.starts[order] - starts[:-1], lengths)
        return replace(self, data=self.data[places], indices=self.indices[places], starts=starts)

    def __truediv__(self, scale: float) -> SparseRows:
        return replace(self, data=self.data / scale)

    def then(self, others: SparseRows) -> SparseRows:
        """Return these rows and then others."""
        return replace(
            self,
            data=np.concatenate([self.data, others.data]),
            indices=np.concatenate([self.indices, others.indices]),
            starts=np.concatenate([self.starts, self.starts[-1] + others.starts[1:]]),
        )

    def spread(self, places: NDArray[np.intp], count: int) -> SparseRows:
        """Return ``count`` rows: these at increasing places, and rows of zeros at all others."""
        lengths = np.zeros(count, dtype=np.int64)
        lengths[places] = np.diff(self.starts)
        return replace(self, starts=np.concatenate([[0], np.cumsum(lengths)]))


def validate_rows(learner: Any, X: ArrayLike, *y: ArrayLike, **options: Any) -> Any:
    """Check rows as scikit-learn does; refuse sparse ones where the learner does not take them."""
    require_takes_sparse(learner, X)
    accepted = "csr" if takes_sparse(learner) else False
    return validate_data(learner, X, *y, dtype=np.float64, accept_sparse=accepted, **options)


@contextmanager
def features_unless_refused(learner: Any) -> Iterator[None]:
    """Put back what a learner knows of its features when new rows or labels are refused.

    scikit-learn notes the features of rows before it has seen all of them, but what was learned is made for
    the features before; single rows are not looked at any more.
    """
    names = ("n_features_in_", "feature_names_in_")
    known = {name: vars(learner)[name] for name in names if name in vars(learner)}
    try:
        yield
    except BaseException:
        for name in names:
            vars(learner).pop(name, None)
        vars(learner).update(known)
        raise


def require_takes_sparse(learner: Any, X: Any) -> None:
    """Refuse sparse rows where the learner, as its parameters are, does not take them."""
    if issparse(X) and not takes_sparse(learner):
        raise TypeError(f"{type(learner).__name__} as it is takes no sparse rows; {TAKERS} do")


def takes_sparse(learner: Any) -> bool:
    """Say whether a learner, with its parameters as they are, takes sparse rows."""
    return bool(getattr(learner, "_takes_sparse", False))


def learnable(X: Any) -> Any:
    """Return checked rows in the form that learners learn from."""
    return SparseRows.of(X) if issparse(X) else plain(X)


def plain(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array of the one kind that compiled code was made for.

    One that may not be written to, such as a memory map, or does not lie on the boundary of a number would be
    another type: compiled anew, for seconds, and perhaps with sums in another order.
    """
    return array if array.flags.carray else array.copy()


@exact_entry
def add_lengths(rows: Array, sums: Array) -> None:
    """Add the squared norms of ``rows`` to ``sums``, in order and without overflow."""
    largest, squares = sums[LARGEST], sums[SQUARES]
    for i in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            size = abs(rows[i, j])
            if size > largest:
                squares = 1.0 + squares * (largest / size) ** 2
                largest = size
            elif size > 0.0:
                squares += (size / largest) ** 2
    sums[COUNT] += rows.shape[0]
    sums[LARGEST], sums[SQUARES] = largest, squares


class RowLengths:
    """The root mean square of the norms of rows that arrive in pieces; pieces of any size give the same bits.

    >>> lengths = RowLengths()
    >>> lengths.add(np.array([[3.0, 4.0], [0.0, 0.0]]))
    >>> round(lengths.root_mean_square ** 2, 9)
    12.5
    """

    def __init__(self) -> None:
        self._sums = np.zeros(3)

    def add(self, rows: Any) -> None:
        """Take in rows, dense or sparse."""
        ready("rows")
        if isinstance(rows, SparseRows):  # zeros add nothing to a row
            add_lengths(rows.data[np.newaxis], self._sums)
            self._sums[COUNT] += len(rows) - 1
            return
        add_lengths(np.ascontiguousarray(rows), self._sums)

    def up_to_a_triplet(self, rows: Any, anchors: Index) -> float | None:
        """Take in rows of a stream up to the first triplet; return the scale then, None while there is none.

        ``anchors`` are the places in ``rows`` at which triplets are complete. Triplets of nothing but zeros
        have no scale, and teach nothing at any: the count begins anew after them.
        """
        begin, (_, largest, _) = 0, self._sums
        silent = anchors[anchors < first_not_zero(rows)] if largest == 0.0 else anchors[:0]
        if silent.size:
            begin, anchors = int(silent[-1]) + 1, anchors[silent.size :]
            self._sums[:] = 0.0
        self.add(rows[begin : int(anchors[0]) + 1 if anchors.size else len(rows)])
        return self.root_mean_square if anchors.size else None

    @property
    def root_mean_square(self) -> float:
        """The scale of the rows so far; 1 where there are none but zeros."""
        count, largest, squares = self._sums.tolist()
        scale = largest * sqrt(squares / count) if count else 0.0
        return scale if scale > SMALLEST_SCALE else 1.0


def first_not_zero(rows: Any) -> int:
    """Return the place of the first row that is not all zeros, or the number of rows.

    >>> first_not_zero(np.array([[0.0, 0.0], [0.0, 3.0]]))
    1
    """
    if isinstance(rows, SparseRows):
        places = np.searchsorted(rows.starts, np.flatnonzero(rows.data)[:1], side="right") - 1
    else:
        places = np.flatnonzero(rows.any(axis=1))[:1]
    return int(places[0]) if places.size else len(rows)


def given_scale(scale: Any) -> float | None:
    """Return the scale that a learner's parameter names, or None where the rows have to tell.

    >>> given_scale(None), given_scale(2), given_scale("auto")
    (1.0, 2.0, None)
    """
    if isinstance(scale, str):
        return None
    return 1.0 if scale is None else float(scale)


def scale_of(rows: Any, scale: Any) -> float:
    """Return the scale that a learner's parameter names, or the one of the rows."""
    lengths, given = RowLengths(), given_scale(scale)
    if given is not None:
        return given
    lengths.add(rows)
    return lengths.root_mean_square
