"""Readers of tables as text (.csv, .tsv, .data, .arff), with errors that name line and column.

Python's own csv module splits the lines, because it knows the line of each row even when a quoted value
spans several of them; NumPy converts the values.
"""

import csv
import io
import math
from collections.abc import Collection, Iterator, Sequence
from itertools import chain, islice
from typing import BinaryIO

import numpy as np

from mloml.arrays import Array
from mloml.datasets.dataset import Table
from mloml.errors import DataFormatError, suggestion

Columns = Sequence[str]
# The line where a row ends, and its values.
Row = tuple[int, Sequence[str]]

MISSING = frozenset({"", "?", "na", "n/a", "nan", "null", "none"})

_WAY_OUT = "fill it, or leave such rows out: dataset.missing=drop"
_CHUNK = 2048  # rows converted at a time: text takes ten times the room of numbers


def read_csv(
    stream: BinaryIO,
    where: str,
    label: str | None = None,
    missing: str = "error",
    ignore: Columns = (),
    separators: str = ",;\t",
) -> Table:
    r"""Read a file with a header line; the label is the named column, else ``label``, else the last.

    The separator is the one that the header has most of; columns in ``ignore`` are left out.

    >>> read_csv(io.BytesIO(b"f1;kind\n0.5;a\n1.5;b\n"), "own.csv", label="kind").labels
    ['a', 'b']
    """
    lines = _lines(stream, where)
    header = next(lines, "")
    separator = max(separators, key=header.count)
    _, names = next(_rows(iter([header]), separator, where), (1, []))
    columns = [name.strip() for name in names]
    _require_names(columns, header, where)
    index, ignored = _places(columns, label, ignore, where)
    note = f"; the label is read from the last column, '{columns[index]}', unless dataset.label names another"
    note = note if label is None and columns[index] != "label" else ""
    rows = _rows(lines, separator, where, 2)
    return read_rows(rows, columns, index, missing, where, ignored, note)


def read_delimited(stream: BinaryIO, where: str, label: str, skip: int = 0, missing: str = "error") -> Table:
    r"""Read UCI's ``.data`` files: comma separated, no header, blank lines ignored.

    >>> table = read_delimited(io.BytesIO(b"B,1,1\nR,1,2\n\n"), "balance-scale.data", "first")
    >>> table.labels, table.X.tolist()
    (['B', 'R'], [[1.0, 1.0], [1.0, 2.0]])
    """
    rows = _rows(_lines(stream, where), ",", where)
    first = next(rows, None)
    if first is None:
        raise DataFormatError(f"{where}: is empty")
    columns = [str(i + 1) for i in range(len(first[1]))]
    index = skip if label == "first" else -1
    return read_rows(chain([first], rows), columns, index, missing, where, range(skip))


def read_arff(
    stream: BinaryIO, where: str, label: str | None = None, missing: str = "error", ignore: Columns = ()
) -> Table:
    """Read a dense arff file; the label is the named attribute, else ``label``, else the last one."""
    lines = _lines(stream, where)
    columns: list[str] = []
    number = 0
    for number, line in enumerate(lines, 1):  # noqa: B007 - the last number is used below
        keyword = line.strip().lower()
        if keyword.startswith("@attribute"):
            columns.append(_attribute_name(line.strip()))
        elif keyword.startswith("@data"):
            break
    else:
        raise DataFormatError(f"{where}: no @data line; this is not an arff file")
    if len(columns) < 2:
        raise DataFormatError(f"{where}: fewer than two attributes")
    rows = _rows(_dense(lines, where), ",", where, number + 1, quote="'")
    index, ignored = _places(columns, label, ignore, where)
    return read_rows(rows, columns, index, missing, where, ignored, "")


def read_rows(
    rows: Iterator[Row],
    columns: Columns,
    label: int,
    missing: str,
    where: str,
    ignored: Collection[int] = (),
    note: str | None = None,
) -> Table:
    """Convert rows of text.

    Parameters
    ----------
    rows : the line of each row in the file, for error messages, and its strings, as many as ``columns``.
    columns : names, for error messages.
    label : index of the label's column; negative counts from the end.
    missing : ``error`` or ``drop``.
    where : file name, for error messages.
    ignored : indices of columns to leave out.
    note : what an error message adds when a feature is not a number; None for a file that is not the user's.

    >>> rows = iter([(2, ["1", "2", "a"]), (3, ["3", "?", "b"])])
    >>> read_rows(rows, ["f1", "f2", "label"], -1, "drop", "x.csv").X
    array([[1., 2.]])
    """
    label %= len(columns)
    features = [i for i in range(len(columns)) if i != label and i not in ignored]
    blocks: list[Array] = []
    labels: list[str] = []
    dropped = 0
    while chunk := list(islice(rows, _CHUNK)):
        for line, row in chunk:
            if len(row) != len(columns):
                raise DataFormatError(f"{where}, line {line}: {len(row)} values instead of {len(columns)}")
        if missing == "error":
            kept = chunk
        else:
            kept = [c for c in chunk if not any(_is_missing(c[1][i]) for i in (*features, label))]
        dropped += len(chunk) - len(kept)
        try:
            X = np.array([[row[i] for i in features] for _, row in kept], dtype=np.float64)
        except ValueError:
            X = np.array(np.nan)
        if not np.isfinite(X).all():
            raise DataFormatError(_culprit(kept, features, columns, where, note))
        blocks.append(X.reshape(len(kept), len(features)))
        labels += [_label(row[label], line, columns[label], where) for line, row in kept]
    if not labels:
        raise DataFormatError(f"{where}: no rows of data")
    return Table(np.concatenate(blocks), labels, where, dropped)


def _lines(stream: BinaryIO, where: str) -> Iterator[str]:
    """Decode lines, leaving out a byte order mark; what is not UTF-8 says so."""
    try:
        for line in io.TextIOWrapper(stream, encoding="utf-8-sig", newline=None):
            if "\0" in line:
                raise DataFormatError(f"{where}: holds binary data where text is expected")
            yield line
    except UnicodeDecodeError as error:
        raise DataFormatError(f"{where}: is not UTF-8; save it as UTF-8 text ({error.reason})") from None


def _rows(
    lines: Iterator[str], separator: str, where: str, first_line: int = 1, quote: str = '"'
) -> Iterator[Row]:
    """Split lines into values; blank ones are left out, and counted."""
    reader = csv.reader(lines, delimiter=separator, quotechar=quote, skipinitialspace=True)
    try:
        for row in reader:
            if any(value.strip() for value in row):
                yield first_line - 1 + reader.line_num, row
    except csv.Error as error:
        raise DataFormatError(f"{where}, line {first_line - 1 + reader.line_num}: {error}") from None


def _dense(lines: Iterator[str], where: str) -> Iterator[str]:
    """Blank out comments of an arff file, and refuse its sparse form."""
    for line in lines:
        if line.lstrip().startswith("{"):
            raise DataFormatError(f"{where}: sparse arff rows are not supported")
        yield "\n" if line.startswith("%") else line


def _culprit(lines: list[Row], features: list[int], columns: Columns, where: str, note: str | None) -> str:
    """Name the columns that hold text, or the first value that is missing, infinite or not a number."""
    values = {columns[i]: [row[i] for _, row in lines if not _is_missing(row[i])] for i in features}
    texts = {n: found[0] for n, found in values.items() if found and not any(map(_is_decimal, found))}
    if texts and note is not None:
        names, sample = ", ".join(map(repr, texts)), shortened(next(iter(texts.values())))
        remedy = f"turn it into numbers, or leave it out: dataset.ignore=[{','.join(texts)}]"
        return f"{where}: text instead of numbers in {names} (such as '{sample}'); {remedy}{note}"
    for line, i, value in ((line, i, row[i].strip()) for line, row in lines for i in features):
        place, shown = f"{where}, line {line}, column '{columns[i]}'", shortened(value)
        if _is_missing(value):
            return f"{place}: missing value '{value}'; {_WAY_OUT}"
        if not _is_number(value):
            hint = "; decimals need a point" if _is_decimal(value) else note or ""
            return f"{place}: '{shown}' is not a number{hint}"
        if not math.isfinite(float(value)):
            return f"{place}: '{shown}' is not a finite number"
    raise AssertionError("every value is a finite number")


def _label(value: str, line: int, column: str, where: str) -> str:
    label = value.strip().strip("'\"")
    if _is_missing(label):
        raise DataFormatError(f"{where}, line {line}, column '{column}': missing label '{label}'; {_WAY_OUT}")
    return label


def _places(columns: Columns, label: str | None, ignore: Columns, where: str) -> tuple[int, Collection[int]]:
    """Return the index of the label's column, and those of the columns to ignore."""
    if twice := [name for name in columns if columns.count(name) > 1]:
        raise DataFormatError(f"{where}: {len(twice)} columns are called '{twice[0]}'; rename all but one")
    wanted = {"dataset.label": [] if label is None else [label], "dataset.ignore": ignore}
    for key, name in ((key, name) for key, names in wanted.items() for name in names):
        if name not in columns:
            shown = ", ".join(columns[:8]) + (", …" if len(columns) > 8 else "")
            hint = suggestion(name, columns)
            raise DataFormatError(f"{where}: no column '{name}' ({key}); it has {shown}{hint}")
    left = [name for name in columns if name not in ignore]
    name = label if label is not None else "label" if "label" in left else (left or columns)[-1]
    if name in ignore:
        raise DataFormatError(f"{where}: column '{name}' holds the label, so dataset.ignore cannot name it")
    return columns.index(name), [columns.index(name) for name in ignore]


def _require_names(columns: list[str], header: str, where: str) -> None:
    """Tell column names from a row: all are numbers, or all but a label; a table's 0, 1, 2, … are names."""
    if not header:
        raise DataFormatError(f"{where}: is empty")
    first = f"{where}: the first line ('{shortened(header.strip())}')"
    if len(columns) < 2:
        raise DataFormatError(f"{first} does not name at least two columns, separated by , ; or tab")
    numbers = [name for name in columns if _is_number(name)]
    counted = any(numbers == [str(i + start) for i in range(len(numbers))] for start in (0, 1))
    if len(numbers) == len(columns) or (len(numbers) == len(columns) - 1 and not counted):
        raise DataFormatError(f"{first} holds numbers, not names; put a line of names before it")


def _attribute_name(line: str) -> str:
    rest = line[len("@attribute") :].strip()
    if rest[:1] in ("'", '"'):
        return rest[1:].split(rest[0])[0]
    return rest.split()[0] if rest else ""


def _is_missing(value: str) -> bool:
    return value.strip().lower() in MISSING


def _is_decimal(value: str) -> bool:
    return _is_number(value.replace(",", "."))


def _is_number(text: str) -> bool:
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
