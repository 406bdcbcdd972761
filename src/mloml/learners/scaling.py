"""The scale of rows: a step size and a margin of 1 mean something only for rows of a length near 1."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

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

    @property
    def root_mean_square(self) -> float:
        """The scale of the rows so far; 1 where there are none but zeros."""
        count, largest, squares = self._sums.tolist()
        scale = largest * sqrt(squares / count) if count else 0.0
        return scale if scale > SMALLEST_SCALE else 1.0


def given_scale(scale: Any) -> float | None:
    """Return the scale that a learner's parameter names, or None where the rows have to tell.

    >>> given_scale(None), given_scale(2), given_scale("auto")
    (1.0, 2.0, None)
    """
    if isinstance(scale, str):
        return None
    return 1.0 if scale is None else float(scale)
