"""The lengths of rows, added up in order and without overflow: what a scale is taken from."""

from __future__ import annotations

from mloml.arrays import Array
from mloml.kernels.simd import exact

COUNT, LARGEST, SQUARES = range(3)
"""Places in ``sums``: number of rows, largest entry, and the sum of squares in units of its square."""


@exact
def add_lengths(rows: Array, sums: Array) -> None:
    """Add the squared norms of ``rows`` to ``sums``, in order: pieces of any size give the same bits."""
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
