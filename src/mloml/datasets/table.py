"""From rows of text to numbers and labels, with errors that name the cell."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from mloml.errors import DataFormatError

MISSING = frozenset({"", "?", "na", "n/a", "nan", "null", "none"})
Row = tuple[int, Sequence[str]]
"""The line where a row ends, and its values."""

_WAY_OUT = "fill it, or leave such rows out: dataset.missing=drop"
_CHUNK = 2048  # rows converted at a time: text takes ten times the room of numbers


@dataclass(frozen=True)
class Table:
    """Features as numbers and labels as text, as a file holds them."""

    X: NDArray[np.float64]
    labels: list[str]
    where: str
    dropped: int = 0


def read_table(
    rows: Iterable[Row],
    columns: Sequence[str],
    *,
    label: int,
    skip: int = 0,
    missing: str = "error",
    where: str,
    note: str = "",
) -> Table:
    """Convert rows of text.

    Parameters
    ----------
    rows : the line of each row in the file, for error messages, and its strings, as many as ``columns``.
    columns : names, for error messages.
    label : index of the label's column; negative counts from the end.
    skip : leading columns to leave out.
    missing : ``error`` or ``drop``.
    where : file name, for error messages.
    note : what an error message adds when a feature is not a number.

    >>> rows = [(2, ["1", "2", "a"]), (3, ["3", "?", "b"])]
    >>> read_table(rows, ["f1", "f2", "label"], label=-1, missing="drop", where="x.csv").X
    array([[1., 2.]])
    """
    label %= len(columns)
    features = [i for i in range(skip, len(columns)) if i != label]
    blocks: list[NDArray[np.float64]] = []
    labels: list[str] = []
    dropped = 0
    numbered = iter(rows)
    while chunk := list(islice(numbered, _CHUNK)):
        for line, row in chunk:
            if len(row) != len(columns):
                raise DataFormatError(f"{where}, line {line}: {len(row)} values instead of {len(columns)}")
        kept = chunk if missing == "error" else [c for c in chunk if not _incomplete(c[1])]
        dropped += len(chunk) - len(kept)
        blocks.append(_numbers(kept, features, columns, where, note))
        labels += [_label(row[label], line, columns[label], where) for line, row in kept]
    if not labels:
        raise DataFormatError(f"{where}: no rows of data")
    return Table(np.concatenate(blocks), labels, where, dropped)


def _incomplete(row: Sequence[str]) -> bool:
    return any(value.strip().lower() in MISSING for value in row)


def _numbers(
    lines: list[Row], features: list[int], columns: Sequence[str], where: str, note: str
) -> NDArray[np.float64]:
    try:
        X = np.array([[row[i] for i in features] for _, row in lines], dtype=np.float64)
    except ValueError:
        X = None
    if X is None or not np.isfinite(X).all():
        _name_culprit(lines, features, columns, where, note)
    assert X is not None
    return X.reshape(len(lines), len(features))


def _name_culprit(
    lines: list[Row], features: list[int], columns: Sequence[str], where: str, note: str
) -> None:
    """Raise for the first value that is missing, infinite or no number."""
    for line, row in lines:
        for i in features:
            place = f"{where}, line {line}, column '{columns[i]}'"
            value = row[i].strip()
            if value.lower() in MISSING:
                raise DataFormatError(f"{place}: missing value '{value}'; {_WAY_OUT}")
            if not is_number(value):
                hint = "; decimals need a point" if is_number(value.replace(",", ".")) else note
                raise DataFormatError(f"{place}: '{shortened(value)}' is not a number{hint}")
            if not math.isfinite(float(value)):
                raise DataFormatError(f"{place}: '{shortened(value)}' is not a finite number")


def _label(value: str, line: int, column: str, where: str) -> str:
    label = value.strip().strip("'\"")
    if label.lower() in MISSING:
        raise DataFormatError(f"{where}, line {line}, column '{column}': missing label '{label}'; {_WAY_OUT}")
    return label


def is_number(text: str) -> bool:
    """Tell whether a text is a number, infinite ones included."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def shortened(text: str, most: int = 40) -> str:
    """Return a text as an error message can hold it.

    >>> shortened("word"), shortened("word", most=3)
    ('word', 'wor…')
    """
    return text if len(text) <= most else f"{text[:most]}…"


def plain_label(label: str) -> str:
    """Write whole numbers alike: class 1 is ``1``, ``1.0`` or ``+1`` depending on who exported it.

    >>> plain_label("1.0"), plain_label("g"), plain_label("1.5")
    ('1', 'g', '1.5')
    """
    try:
        number = float(label)
    except ValueError:
        return label
    return str(int(number)) if number.is_integer() else label
