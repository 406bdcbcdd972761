"""UCI's own files, wherever they lie: each format's reader, and files spread over parts."""

from __future__ import annotations

import dataclasses

import numpy as np

from mloml.datasets.catalogue import DatasetConfig, OriginalFiles
from mloml.datasets.parsers import read_arff, read_delimited
from mloml.datasets.pems import read_pems
from mloml.datasets.table import Table
from mloml.datasets.unpack import SMALL, Files, open_archive
from mloml.datasets.xlsx import read_xlsx
from mloml.errors import ConfigError, DataFormatError


def locate(files: Files, original: OriginalFiles) -> tuple[Files, list[str]] | None:
    """Return where all the files are, in ``files`` or in an archive among them, and their full names."""
    names = [files.find(name) for name in original.files]
    if all(names):
        return files, [name for name in names if name]
    return None


def locate_within(files: Files, original: OriginalFiles) -> tuple[Files, list[str]]:
    """Like :func:`locate`, looking into archives inside the archive too; absence is an error."""
    if found := locate(files, original):
        return found
    for name in files.archives():
        inner = open_archive(files.open_packed(name), files.place(name))
        if found := locate(inner, original):
            return found
    raise DataFormatError(f"{files.where}: does not hold {', '.join(original.files)}")


def read_original(config: DatasetConfig, files: Files, names: list[str]) -> Table:
    """Read the dataset from its original files."""
    original = config.original
    assert original is not None
    if original.format == "pems":
        return read_pems(files, names, config.rows, config.features)
    parts = [_read_part(config, original, files, name) for name in names]
    labels = [label for part in parts for label in part.labels]
    X = np.concatenate([part.X for part in parts])
    return Table(X, labels, files.where, sum(part.dropped for part in parts))


def _read_part(config: DatasetConfig, original: OriginalFiles, files: Files, name: str) -> Table:
    where = files.place(name)
    limit = config.largest_text() or SMALL
    with files.open(name, limit) as stream:
        if original.format == "arff":
            return read_arff(stream, missing=config.missing, where=where)
        if original.format == "xlsx":
            return read_xlsx(stream, missing=config.missing, where=where, limit=4 * limit)  # tags are long
        if original.format in ("delimited", "indicators"):
            table = read_delimited(
                stream, label=original.label, skip=original.skip, missing=config.missing, where=where
            )
            return table if original.format == "delimited" else _from_indicators(table, config)
    known = "delimited, arff, xlsx, indicators, pems"
    raise ConfigError(f"dataset.original.format: '{original.format}' is none of {known}")


def _from_indicators(table: Table, config: DatasetConfig) -> Table:
    """Turn the last columns, one of them +1 and the others -1, into labels."""
    labels = list(config.class_counts)
    last = np.array([float(label) for label in table.labels])  # read as the label, being the last column
    codes = np.column_stack([table.X, last])[:, -len(labels) :]
    if codes.shape[1] < len(labels) or not ((codes == 1).sum(1) == 1).all():
        raise DataFormatError(f"{table.where}: the last {len(labels)} columns do not name one class per row")
    named = [labels[k] for k in np.argmax(codes, axis=1)]
    return dataclasses.replace(table, X=table.X[:, : 1 - len(labels)], labels=named)
