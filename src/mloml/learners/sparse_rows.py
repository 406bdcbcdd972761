"""Sparse rows as the compiled scans take them, and who takes them at all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, issparse
from sklearn.utils.validation import validate_data

Array = NDArray[np.float64]

TAKERS = "MOML(metric='diagonal'), MOML(n_components=k), MLOML(n_components=k), OPML and OASIS"
"""Learners that take sparse rows, for those who asked another one."""


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
        entries = X.indptr[-1]  # a matrix may have room for more
        return cls(
            plain(X.data[:entries].astype(np.float64, copy=False)),
            plain(X.indices[:entries].astype(np.int32, copy=False)),
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
