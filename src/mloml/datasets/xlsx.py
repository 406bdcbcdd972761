"""LSVT's spreadsheet: the first sheet holds the features, the second the labels."""

from __future__ import annotations

import io
import zipfile
from typing import BinaryIO

from mloml.datasets.table import Table, read_table
from mloml.datasets.unpack import SMALL, open_archive
from mloml.errors import DataFormatError

_MAX_ROWS, _MAX_COLUMNS = 100_000, 16_384


def read_xlsx(stream: BinaryIO, *, missing: str = "error", where: str) -> Table:
    """Read two sheets of equal length, each with a header line."""
    from openpyxl import load_workbook
    from openpyxl.utils.exceptions import InvalidFileException

    packed = io.BytesIO(stream.read())
    open_archive(packed, where)  # a spreadsheet is a zip: the same refusals hold
    _check_total(packed, where)
    try:
        book = load_workbook(packed, read_only=True, data_only=True)
        sheets = [_values(sheet) for sheet in book.worksheets[:2]]
    except (InvalidFileException, KeyError, ValueError, SyntaxError, zipfile.BadZipFile) as error:
        raise DataFormatError(f"{where}: is no readable spreadsheet ({error})") from None
    if len(sheets) < 2 or not sheets[0] or not sheets[1]:
        raise DataFormatError(f"{where}: a sheet of features and a sheet of labels are needed")
    features, labels = sheets
    if len(features) != len(labels):
        raise DataFormatError(f"{where}: {len(features) - 1} rows of features, {len(labels) - 1} of labels")
    rows = ([*values, label[0]] for values, label in zip(features[1:], labels[1:], strict=True))
    return read_table(rows, [*features[0], "label"], label=-1, missing=missing, where=where, first_line=2)


def _check_total(packed: io.BytesIO, where: str) -> None:
    total = sum(member.file_size for member in zipfile.ZipFile(packed).infolist())
    if total > SMALL:
        raise DataFormatError(f"{where}: unpacks to more than {SMALL // 2**20} MB; refused")
    packed.seek(0)


def _values(sheet: object) -> list[list[str]]:
    """Return the cells as text, without empty rows at the end."""
    rows = sheet.iter_rows(max_row=_MAX_ROWS, max_col=_MAX_COLUMNS, values_only=True)  # type: ignore[attr-defined]
    table = [["" if value is None else _text(value) for value in row] for row in rows]
    while table and not any(table[-1]):
        table.pop()
    return table


def _text(value: object) -> str:
    return repr(value) if isinstance(value, float) else str(value)
