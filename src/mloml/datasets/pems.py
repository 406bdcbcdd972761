"""PEMS-SF: one Matlab-style matrix per line, ``[a b;c d]``, and one line of labels per part."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from mloml.datasets.table import Table
from mloml.datasets.unpack import LARGE, Files
from mloml.errors import DataFormatError

_LARGEST_LABELS = 2**20  # a few hundred days
_LONGEST_LINE = 64 * 2**20  # a day of 138,672 numbers takes about 1 MB


def read_pems(files: Files, names: list[str], rows: int | None = None, features: int | None = None) -> Table:
    """Read parts given as (matrices, labels) pairs of file names, one line at a time.

    A matrix is laid out row by row (station by station). Blanks and semicolons both separate numbers, so
    ``0.1;0.2`` is two of them; the paper's count of features suggests that there it was one.
    Only the numbers are kept: 440 x 138,672 of them take 0.49 GB.
    """
    parts = list(zip(names[::2], names[1::2], strict=True))
    labels = [_labels(files, label_name) for _, label_name in parts]
    total = sum(map(len, labels))
    if rows is not None and total > rows:
        raise DataFormatError(f"{files.where}: {total} labels, more than {rows}")
    X: NDArray[np.float64] | None = None
    row = 0
    for (name, _), expected in zip(parts, labels, strict=True):
        with files.open(name, LARGE) as stream:
            end = row + len(expected)
            for line in _lines(stream, name):
                numbers = _matrix(line, f"{name}, matrix {row + 1}")
                if X is None:
                    if features is not None and numbers.size > features:
                        raise DataFormatError(
                            f"{name}, matrix 1: {numbers.size} numbers, more than {features}"
                        )
                    X = np.empty((total, numbers.size))
                if row >= end:
                    raise DataFormatError(f"{name}: more matrices than the {len(expected)} labels")
                if numbers.size != X.shape[1]:
                    raise DataFormatError(
                        f"{name}, matrix {row + 1}: {numbers.size} numbers, not {X.shape[1]}"
                    )
                X[row] = numbers
                row += 1
        if row != end:
            raise DataFormatError(f"{name}: fewer matrices than the {len(expected)} labels")
    if X is None:
        raise DataFormatError(f"{names[0]}: no rows of data")
    return Table(X, [label for part in labels for label in part], files.where)


def _lines(stream: BinaryIO, name: str) -> Iterator[bytes]:
    while line := stream.readline(_LONGEST_LINE):
        if len(line) == _LONGEST_LINE:
            raise DataFormatError(f"{name}: a line longer than {_LONGEST_LINE // 2**20} MB; refused")
        if line.strip():
            yield line


def _labels(files: Files, name: str) -> list[str]:
    with files.open(name, _LARGEST_LABELS) as stream:
        text = stream.read().decode("utf-8", "replace")
    return text.replace("[", " ").replace("]", " ").replace(";", " ").split()


def _matrix(line: bytes, where: str) -> NDArray[np.float64]:
    text = line.strip()
    if not (text.startswith(b"[") and text.endswith(b"]")):
        raise DataFormatError(f"{where}: not of the form [a b;c d]")
    with warnings.catch_warnings():  # NumPy's way of saying that it met something else than a number
        warnings.simplefilter("error", DeprecationWarning)
        try:
            numbers = np.fromstring(text[1:-1].replace(b";", b" ").decode("ascii"), sep=" ")
        except (ValueError, DeprecationWarning):
            raise DataFormatError(f"{where}: holds something that is not a number") from None
    if not np.isfinite(numbers).all():
        raise DataFormatError(f"{where}: holds a number that is not finite")
    return numbers
