"""LSVT's spreadsheet: the first sheet holds the features, the second the labels."""

from __future__ import annotations

import io
import zipfile
from typing import Any, BinaryIO

from mloml.datasets.table import Table, read_table
from mloml.datasets.unpack import SMALL, open_archive, too_much
from mloml.errors import DataFormatError

_MAX_CELLS = 2_000_000


def read_xlsx(stream: BinaryIO, *, missing: str = "error", where: str, limit: int = SMALL) -> Table:
    """Read two sheets of equal length, each with a header line; ``limit`` is on the bytes unpacked."""
    from openpyxl import load_workbook

    packed = io.BytesIO(stream.read())
    open_archive(packed, where)  # a spreadsheet is a zip: the same refusals hold
    _check_total(packed, where, limit)
    try:
        book = load_workbook(packed, read_only=True, data_only=True)
        sheets = [_values(sheet, where) for sheet in book.worksheets[:2]]
    except DataFormatError:
        raise
    except Exception as error:  # openpyxl stumbles over damage in more ways than it has errors for
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise DataFormatError(f"{where}: is no readable spreadsheet ({reason})") from None
    if len(sheets) < 2 or not sheets[0] or not sheets[1]:
        raise DataFormatError(f"{where}: a sheet of features and a sheet of labels are needed")
    features, labels = sheets
    if len(features) != len(labels):
        raise DataFormatError(f"{where}: {len(features) - 1} rows of features, {len(labels) - 1} of labels")
    rows = ([*values, *label[:1]] for values, label in zip(features[1:], labels[1:], strict=True))
    return read_table(enumerate(rows, 2), [*features[0], "label"], label=-1, missing=missing, where=where)


def _check_total(packed: io.BytesIO, where: str, limit: int) -> None:
    total = sum(member.file_size for member in zipfile.ZipFile(packed).infolist())
    if total > limit:
        raise too_much(where, limit)
    packed.seek(0)


def _values(sheet: Any, where: str) -> list[list[str]]:
    """Return the cells as text, without what is empty at the ends of rows and of the sheet."""
    table: list[list[str]] = []
    cells = 0
    for row in sheet.iter_rows(values_only=True):
        cells += len(row) + 1
        if cells > _MAX_CELLS:  # a row or column number far out makes a small file a huge sheet
            raise DataFormatError(f"{where}: more than {_MAX_CELLS} cells; refused")
        width = next((i for i in range(len(row), 0, -1) if row[i - 1] is not None), 0)
        table.append(["" if value is None else _text(value) for value in row[:width]])
    while table and not table[-1]:
        table.pop()
    return table


def _text(value: object) -> str:
    return repr(value) if isinstance(value, float) else str(value)
