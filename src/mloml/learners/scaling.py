"""The scale of rows: a step size and a margin of 1 mean something only for rows of a length near 1."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

from mloml.arrays import Index

from .sparse_rows import SparseRows

SMALLEST_SCALE = 1e-290
"""Rows shorter than this count as zeros: their inverse would be beyond all bounds."""


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
        from mloml.kernels.lengths import COUNT, add_lengths

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
