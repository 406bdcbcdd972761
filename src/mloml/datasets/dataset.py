"""A dataset that has passed its checks."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mloml.datasets.catalogue import DatasetConfig
from mloml.datasets.table import Table, plain_label
from mloml.errors import DataFormatError


@dataclass(frozen=True)
class Dataset:
    """Features, class codes and where they come from.

    Attributes
    ----------
    X : (n, d) float64, C-contiguous.
    y : (n,) int64 codes 0..C-1, in the order of ``labels``.
    labels : the classes' names.
    checksum : SHA-256 over shapes and bytes of X and y.
    source : which source it came from: local, bundled, generated, ucimlrepo, archive or openml.
    regenerated : True for data drawn anew from a published generator instead of UCI's own rows.
    provenance : file or address, its checksum, licence, notes.
    """

    name: str
    X: NDArray[np.float64]
    y: NDArray[np.int64]
    labels: list[str]
    checksum: str
    source: str
    regenerated: bool = False
    provenance: dict[str, Any] = field(default_factory=dict)

    def counts(self) -> dict[str, int]:
        """Return label -> number of rows."""
        return dict(zip(self.labels, np.bincount(self.y, minlength=len(self.labels)).tolist(), strict=True))


def make_dataset(
    config: DatasetConfig,
    table: Table,
    source: str,
    provenance: dict[str, Any] | None = None,
    regenerated: bool = False,
) -> Dataset:
    """Code the labels, check the table against the catalogue and return the dataset."""
    found = [_canonical(label, config) for label in table.labels]
    labels = list(config.class_counts) or _in_order(set(found))
    codes = {label: code for code, label in enumerate(labels)}
    unknown = sorted(set(found) - set(codes))
    if unknown:
        raise DataFormatError(f"{table.where}: label '{unknown[0]}' is none of {', '.join(labels)}")
    y = np.array([codes[label] for label in found], dtype=np.int64)
    X = np.ascontiguousarray(table.X, dtype=np.float64)
    _check(config, X, Counter(found), table.where)
    notes = dict(provenance or {})
    if table.dropped:
        notes["rows_dropped"] = table.dropped
    if config.licence:
        notes["licence"] = config.licence
    return Dataset(config.name, X, y, labels, checksum(X, y), source, regenerated, notes)


def checksum(X: NDArray[np.float64], y: NDArray[np.int64]) -> str:
    """SHA-256 over shapes and bytes; no copy is made of what may be half a gigabyte.

    >>> checksum(np.zeros((1, 2)), np.zeros(1, np.int64))[:12]
    'c5d4e46a49f5'
    """
    digest = hashlib.sha256(f"{X.shape} {X.dtype.str} {y.shape} {y.dtype.str};".encode())
    digest.update(np.ascontiguousarray(X).data.cast("B"))
    digest.update(np.ascontiguousarray(y).data.cast("B"))
    return digest.hexdigest()


def _canonical(label: str, config: DatasetConfig) -> str:
    plain = plain_label(label)
    return config.aliases.get(label, config.aliases.get(plain, plain))


def _in_order(labels: set[str]) -> list[str]:
    """Numbers by size, everything else by name."""
    try:
        return sorted(labels, key=float)
    except ValueError:
        return sorted(labels)


def _check(config: DatasetConfig, X: NDArray[np.float64], counts: Counter[str], where: str) -> None:
    rows, features = X.shape
    for what, found, expected in (("rows", rows, config.rows), ("features", features, config.features)):
        if expected is not None and found != expected:
            raise DataFormatError(f"{where}: {config.name} has {expected} {what}, this file {found}")
    if features == 0:
        raise DataFormatError(f"{where}: no feature columns beside the label")
    if len(counts) < 2:
        raise DataFormatError(
            f"{where}: all rows have the label '{next(iter(counts))}'; two classes are needed"
        )
    for label, expected in config.class_counts.items():
        if counts[label] == 0:
            raise DataFormatError(f"{where}: no row has the label '{label}'")
        if expected is not None and counts[label] != expected:
            raise DataFormatError(
                f"{where}: {config.name} has {expected} rows with label '{label}', this file {counts[label]}"
            )
    smallest, size = min(((label, counts[label]) for label in counts), key=lambda item: item[1])
    if size < 2:
        raise DataFormatError(
            f"{where}: label '{smallest}' has {size} row; a 50/50 split needs 2 of each class"
        )
