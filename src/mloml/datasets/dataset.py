"""A table as it was read, and the data set it becomes once it has passed its checks."""

import hashlib
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mloml.arrays import Array, Codes
from mloml.config.schema import DatasetConfig
from mloml.errors import DataFormatError


@dataclass(frozen=True)
class Table:
    """Features as numbers and labels as text, as a file holds them; ``where`` names it in messages."""

    X: Array
    labels: list[str]
    where: str
    dropped: int = 0


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
    X: Array
    y: Codes
    labels: list[str]
    checksum: str
    source: str
    regenerated: bool = False
    provenance: dict[str, Any] = field(default_factory=dict)

    def counts(self) -> dict[str, int]:
        """Return label -> number of rows."""
        return dict(zip(self.labels, np.bincount(self.y, minlength=len(self.labels)).tolist(), strict=True))


def make_dataset(
    config: DatasetConfig, table: Table, source: str, origin: dict[str, Any], regenerated: bool = False
) -> Dataset:
    """Code the labels, check the table against the catalogue and return the data set."""
    found = [_canonical(label, config) for label in table.labels]
    labels = list(config.class_counts) or _in_order(set(found))
    codes = {label: code for code, label in enumerate(labels)}
    if unknown := sorted(set(found) - set(codes)):
        raise DataFormatError(f"{table.where}: label '{unknown[0]}' is none of {', '.join(labels)}")
    y = np.array([codes[label] for label in found], dtype=np.int64)
    X = np.ascontiguousarray(table.X, dtype=np.float64)
    _check(config, X, Counter(found), table.where)
    known = {"rows_dropped": table.dropped, "licence": config.licence}
    provenance = origin | {key: value for key, value in known.items() if value}
    return Dataset(config.name, X, y, labels, checksum(X, y), source, regenerated, provenance)


def checksum(X: Array, y: Codes) -> str:
    """SHA-256 over shapes and bytes; no copy is made of what may be half a gigabyte.

    >>> checksum(np.zeros((1, 2)), np.zeros(1, np.int64))[:12]
    'c5d4e46a49f5'
    """
    digest = hashlib.sha256(f"{X.shape} {X.dtype.str} {y.shape} {y.dtype.str};".encode())
    digest.update(np.ascontiguousarray(X).data.cast("B"))
    digest.update(np.ascontiguousarray(y).data.cast("B"))
    return digest.hexdigest()


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


def _canonical(label: str, config: DatasetConfig) -> str:
    plain = plain_label(label)
    return config.aliases.get(label, config.aliases.get(plain, plain))


def _in_order(labels: set[str]) -> list[str]:
    """Numbers by size, everything else by name."""
    try:
        return sorted(labels, key=float)
    except ValueError:
        return sorted(labels)


def _check(config: DatasetConfig, X: Array, counts: Counter[str], where: str) -> None:
    rows, features = X.shape
    for what, found, expected in (("rows", rows, config.rows), ("features", features, config.features)):
        if expected is not None and found != expected:
            raise DataFormatError(f"{where}: {config.name} has {expected} {what}, this file {found}")
    if features == 0:
        raise DataFormatError(f"{where}: no feature columns beside the label")
    if len(counts) < 2:
        raise DataFormatError(f"{where}: all rows have the label '{min(counts)}'; two classes are needed")
    for label, expected in config.class_counts.items():
        if (found := counts[label]) != (expected or found or 1):
            has = f"{config.name} has {expected or 'some'} rows with label '{label}'"
            raise DataFormatError(f"{where}: {has}, this file {found}")
    if counts[rarest := min(counts, key=lambda label: counts[label])] < 2:
        raise DataFormatError(f"{where}: label '{rarest}' has 1 row; a 50/50 split needs 2 of each class")
