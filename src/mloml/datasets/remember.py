"""Keeping what took long to parse, so that PEMS-SF is read as text once and not by every worker."""

from __future__ import annotations

import hashlib
import logging
import zipfile
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import numpy as np

from mloml.datasets.catalogue import DatasetConfig, DataSettings
from mloml.datasets.table import Table
from mloml.files import clear, create

_log = logging.getLogger(__name__)
_WORTH_KEEPING = 2**20  # bytes of source files; less is parsed in a moment
_VERSION = 1  # raise when a parser gives another table for the same file


def remembered(
    config: DatasetConfig,
    digests: list[str],
    paths: list[Path],
    settings: DataSettings,
    parse: Callable[[], Table],
) -> Table:
    """Return ``parse()``, or what it gave before for files with these digests."""
    if sum(path.stat().st_size for path in paths) < _WORTH_KEEPING:
        return parse()
    recipe = (
        f"{_VERSION} {config.original} {config.label} {config.missing} {list(config.class_counts)} {digests}"
    )
    key = hashlib.sha256(recipe.encode()).hexdigest()[:24]
    path = settings.cache_folder() / "parsed" / f"{config.name}-{key}.npz"
    table = _read(path, where=str(paths[0]))
    if table is None:
        table = parse()
        _write(path, table)
    return table


def _read(path: Path, where: str) -> Table | None:
    if not path.is_file():
        return None
    try:
        with np.load(path, allow_pickle=False) as kept:  # the zip's own checksums tell damage
            return Table(kept["X"], kept["labels"].tolist(), where, int(kept["dropped"]))
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        _log.warning("%s is damaged (%s); parsing again", path, error)
        return None


def _write(path: Path, table: Table) -> None:
    """Write whole or not at all; a cache that cannot be written costs time, not the run."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        clear(path.parent, "*.part")
        temporary = path.parent / f"{uuid4().hex}.part"
        try:
            with create(temporary) as stream:
                np.savez(stream, X=table.X, labels=np.array(table.labels), dropped=table.dropped)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        _log.warning("%s cannot be written (%s); it will be parsed again next time", path, error)
