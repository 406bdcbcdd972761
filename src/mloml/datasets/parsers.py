"""Readers of comma separated values and arff files: text in, table out."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from typing import BinaryIO

from mloml.datasets.table import Row, Table, is_number, read_table, shortened
from mloml.errors import DataFormatError


def text_lines(stream: BinaryIO, where: str) -> Iterator[str]:
    """Decode lines, leaving out a byte order mark; what is not UTF-8 says so."""
    try:
        for line in io.TextIOWrapper(stream, encoding="utf-8-sig", newline=None):
            if "\0" in line:
                raise DataFormatError(f"{where}: holds binary data where text is expected")
            yield line
    except UnicodeDecodeError as error:
        raise DataFormatError(f"{where}: is not UTF-8; save it as UTF-8 text ({error.reason})") from None


def read_delimited(
    stream: BinaryIO, *, label: str, skip: int = 0, missing: str = "error", where: str
) -> Table:
    r"""Read UCI's ``.data`` files: comma separated, no header, blank lines ignored.

    >>> table = read_delimited(io.BytesIO(b"B,1,1\nR,1,2\n\n"), label="first", where="balance-scale.data")
    >>> table.labels, table.X.tolist()
    (['B', 'R'], [[1.0, 1.0], [1.0, 2.0]])
    """
    rows = _rows(text_lines(stream, where), ",", where)
    first = next(rows, None)
    if first is None:
        raise DataFormatError(f"{where}: is empty")
    columns = [str(i + 1) for i in range(len(first[1]))]
    index = 0 if label == "first" else -1
    return read_table(
        _put_back(first, rows), columns, label=skip + index if index == 0 else index, skip=skip,
        missing=missing, where=where,
    )  # fmt: skip


def read_csv(stream: BinaryIO, *, label: str | None = None, missing: str = "error", where: str) -> Table:
    r"""Read a file with a header line; the label is the named column, else ``label``, else the last.

    The separator is a comma, a semicolon or a tabulator, whichever the header has most of.

    >>> read_csv(io.BytesIO(b"f1;kind\n0.5;a\n1.5;b\n"), label="kind", where="own.csv").labels
    ['a', 'b']
    """
    lines = text_lines(stream, where)
    header = next(lines, "")
    separator = max(",;\t", key=header.count)
    _, names = next(_rows(iter([header]), separator, where), (1, []))
    columns = [name.strip() for name in names]
    if len(columns) < 2:
        raise DataFormatError(_no_names(header, where))
    if _looks_like_data(columns):
        shown = ",".join(columns[:4])
        raise DataFormatError(
            f"{where}: the first line holds numbers ({shown}…), not names; put a line of names before it"
        )
    index = _label_column(columns, label, where)
    note = f"; the label is read from the last column, '{columns[-1]}', unless dataset.label names another"
    return read_table(
        _rows(lines, separator, where, first_line=2), columns, label=index, missing=missing, where=where,
        note=note if label is None and columns[index] != "label" else "",
    )  # fmt: skip


def read_arff(stream: BinaryIO, *, label: str | None = None, missing: str = "error", where: str) -> Table:
    """Read a dense arff file; the label is the named attribute, else the last one."""
    lines = text_lines(stream, where)
    columns: list[str] = []
    number = 0
    for number, line in enumerate(lines, 1):  # noqa: B007 - the last number is used below
        keyword = line.strip().lower()
        if keyword.startswith("@attribute"):
            columns.append(_attribute_name(line.strip()))
        elif keyword.startswith("@data"):
            break
    else:
        raise DataFormatError(f"{where}: no @data line; this is no arff file")
    if len(columns) < 2:
        raise DataFormatError(f"{where}: fewer than two attributes")
    without_comments = ("\n" if line.startswith("%") else line for line in lines)
    rows = _rows(without_comments, ",", where, quote="'", first_line=number + 1)
    index = _label_column(columns, label, where) if label else len(columns) - 1
    return read_table(_dense(rows, where), columns, label=index, missing=missing, where=where)


def _rows(
    lines: Iterator[str], separator: str, where: str, *, quote: str = '"', first_line: int = 1
) -> Iterator[Row]:
    """Split lines into values; blank ones are left out, and counted."""
    reader = csv.reader(lines, delimiter=separator, quotechar=quote, skipinitialspace=True)
    try:
        for row in reader:
            if any(value.strip() for value in row):
                yield first_line - 1 + reader.line_num, row
    except csv.Error as error:
        raise DataFormatError(f"{where}, line {first_line - 1 + reader.line_num}: {error}") from None


def _put_back(first: Row, rest: Iterator[Row]) -> Iterator[Row]:
    yield first
    yield from rest


def _dense(rows: Iterator[Row], where: str) -> Iterator[Row]:
    for line, row in rows:
        if row[0].lstrip().startswith("{"):
            raise DataFormatError(f"{where}: sparse arff rows are not supported")
        yield line, row


def _attribute_name(line: str) -> str:
    rest = line[len("@attribute") :].strip()
    if rest[:1] in ("'", '"'):
        return rest[1:].split(rest[0])[0]
    return rest.split()[0] if rest else ""


def _label_column(columns: Sequence[str], label: str | None, where: str) -> int:
    if label is None:
        return columns.index("label") if "label" in columns else len(columns) - 1
    if (times := columns.count(label)) > 1:
        raise DataFormatError(f"{where}: {times} columns are called '{label}' (dataset.label)")
    if not times:
        shown = ", ".join(columns[:8]) + (", …" if len(columns) > 8 else "")
        raise DataFormatError(f"{where}: no column '{label}' (dataset.label); it has {shown}")
    return columns.index(label)


def _no_names(header: str, where: str) -> str:
    if not header:
        return f"{where}: is empty"
    shown = shortened(header.strip())
    return f"{where}: the first line ('{shown}') does not name at least two columns, separated by , ; or tab"


def _looks_like_data(names: list[str]) -> bool:
    """Tell a row from column names: all are numbers, or all but a label; a table's 0, 1, 2, … are names."""
    numbers = [name for name in names if is_number(name)]
    counted = any(numbers == [str(first + i) for i in range(len(numbers))] for first in (0, 1))
    return len(numbers) == len(names) or (len(numbers) == len(names) - 1 and not counted)
