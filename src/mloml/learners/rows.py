"""Rows as the learners take them: checked, dense or sparse, and divided by a scale."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, issparse
from sklearn.utils.validation import validate_data

from mloml.arrays import Array

from .compiled import exact, exact_entry, ready

# Learners that take sparse rows, for those who asked another one.
TAKERS = "DiagonalMOML, LowRankMOML, MLOML(n_components=k), OPML and OASIS"

# Rows shorter than this count as zeros: their inverse would be infinite.
SMALLEST_SCALE = 1e-290

# Places in the sums of lengths: number of rows, largest entry, sum of squares in units of its square.
COUNT, LARGEST, SQUARES = range(3)

# In a stream, rows longer than this many times the scale are shortened to it before they are learned from.
BOUND = 4.0


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


def root_mean_square(rows: Any) -> float:
    """Return the root mean square of the norms of rows; 1 where there are none but zeros.

    >>> round(root_mean_square(np.array([[3.0, 4.0], [0.0, 0.0]])) ** 2, 9)
    12.5
    """
    ready("rows")
    sums = np.zeros(3)
    add_lengths(rows.data[np.newaxis] if isinstance(rows, SparseRows) else np.ascontiguousarray(rows), sums)
    _, largest, squares = sums.tolist()
    scale = largest * sqrt(squares / len(rows)) if len(rows) else 0.0
    return scale if scale > SMALLEST_SCALE else 1.0


@exact
def row_length(row: Array) -> float:
    """Return the norm of a row, without overflow or underflow."""
    square, largest = 0.0, 0.0
    for j in range(row.shape[0]):
        square += row[j] * row[j]
        largest = max(largest, abs(row[j]))
    if (1e-280 < square < 1e280) or largest == 0.0:
        return sqrt(square)
    square = 0.0
    for j in range(row.shape[0]):
        square += (row[j] / largest) * (row[j] / largest)
    return largest * sqrt(square)


@exact
def divisor_of(length: float, scale: float, bound: float) -> float:
    """Return what a row of a stream is divided by: more than the scale where it is far too long."""
    return length / bound if length > bound * scale else scale


@exact_entry
def measure_rows(rows: Array, lengths: Array) -> None:
    """Set the norm of each row."""
    for i in range(rows.shape[0]):
        lengths[i] = row_length(rows[i])


def row_lengths(rows: Any) -> Array:
    """Return the norms of rows, dense or sparse.

    >>> row_lengths(np.array([[3.0, 4.0], [0.0, 0.0], [3e200, 4e200]]))
    array([5.e+000, 0.e+000, 5.e+200])
    """
    ready("rows")
    lengths = np.zeros(len(rows))
    if isinstance(rows, SparseRows):  # zeros add nothing to a row
        for i, (first, last) in enumerate(pairwise(rows.starts.tolist())):
            measure_rows(rows.data[np.newaxis, first:last], lengths[i : i + 1])
    else:
        measure_rows(np.ascontiguousarray(rows), lengths)
    return lengths


def divided(rows: Any, lengths: Array, scale: float, bound: float) -> Any:
    """Return the rows of a stream as they are learned from, the longest of them shortened.

    >>> divided(np.array([[3.0], [80.0]]), np.array([3.0, 80.0]), scale=2.0, bound=4.0)
    array([[1.5],
           [4. ]])
    """
    if not (lengths > bound * scale).any():
        return rows / scale if scale != 1.0 else rows
    divisors = np.where(lengths > bound * scale, lengths / bound, scale)
    if isinstance(rows, SparseRows):
        return replace(rows, data=rows.data / np.repeat(divisors, np.diff(rows.starts)))
    return rows / divisors[:, np.newaxis]


def median_length(lengths: Array) -> float:
    """Return the median of the lengths that are not zero; 1 where there are none.

    >>> median_length(np.array([0.0, 3.0, 2.0, 900.0]))
    3.0
    """
    some = lengths[lengths > SMALLEST_SCALE]
    return float(np.median(some)) if some.size else 1.0


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
    given = given_scale(scale)
    return root_mean_square(rows) if given is None else given
