"""Reading the packages' formats, and writing bundled files."""

from __future__ import annotations

import csv
import gzip
import io
import re
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

R_LIBRARY = "deb/usr/lib/R/site-library"


class Content(NamedTuple):
    """A table as text: the columns' names and the rows, one of the columns being ``label``."""

    names: list[str]
    rows: list[list[str]]


def labelled_last(rows: list[list[str]], names: Sequence[str] = ()) -> Content:
    """Return rows whose last value is the label; features without names are called f1, f2 and so on."""
    return Content([*(names or [f"f{i}" for i in range(1, len(rows[0]))]), "label"], rows)


def keel(path: Path) -> Content:
    """Read KEEL's dialect of arff, or its rows alone; the class is the last attribute."""
    head, _, data = path.read_text().rpartition("@data")
    names = re.findall(r"^@attribute\s+'?([^\s'{]+)", head, flags=re.MULTILINE | re.IGNORECASE)
    rows = [[value.strip() for value in row] for row in csv.reader(data.strip().splitlines()) if row]
    return labelled_last(rows, names[:-1])


def separated(*paths: Path, separator: str | None = None) -> list[list[str]]:
    """Read files of rows without a header, one after the other; by default blanks separate the values."""
    lines = [line for path in paths for line in path.read_text().splitlines()]
    return [[value.strip() for value in line.split(separator)] for line in lines if line.strip()]


def r_frame(frame: Any, label: str) -> Content:
    """Return a data frame of R's with the column ``label`` at the end."""
    frame = frame[[*(name for name in frame.columns if name != label), label]]
    rows = [[str(value) for value in row] for row in frame.to_numpy().tolist()]
    return labelled_last(rows, [str(name) for name in frame.columns[:-1]])


def r_data(path: Path, name: str) -> Any:
    """Read one object of an ``.rda`` file."""
    import rdata  # type: ignore[import-not-found]

    return rdata.read_rda(path)[name]


def r_lazy_data(folder: Path, name: str) -> Any:
    """Read one object of a package's data base ``Rdata.rdb``, whose index is ``Rdata.rdx``."""
    import rdata

    def read(data: bytes) -> Any:
        return rdata.conversion.convert(rdata.parser.parse_data(data, extension=".rds"))

    start, length = read((folder / "Rdata.rdx").read_bytes())["variables"][name]
    base = (folder / "Rdata.rdb").read_bytes()
    return read(zlib.decompress(base[start + 4 : start + length]))  # after four bytes with the length


def write(path: Path, content: Content) -> None:
    """Write a compressed CSV without a time stamp, so that a rebuilt file has the same bytes."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(content.names)
    writer.writerows(content.rows)
    path.write_bytes(gzip.compress(text.getvalue().encode(), compresslevel=9, mtime=0))
