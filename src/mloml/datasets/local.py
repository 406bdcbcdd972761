"""Files in a folder of the user's: ``<name>.csv[.gz|.xz]``, UCI's own files, or UCI's zip."""

from __future__ import annotations

import hashlib
from functools import partial
from pathlib import Path, PurePosixPath

from mloml.datasets.catalogue import DatasetConfig, DataSettings
from mloml.datasets.dataset import Dataset, make_dataset
from mloml.datasets.original import locate, locate_within, read_original
from mloml.datasets.parsers import read_arff, read_csv
from mloml.datasets.remember import remembered
from mloml.datasets.table import Table
from mloml.datasets.unpack import LARGE, Files, folder_files, open_archive, open_file
from mloml.errors import DataFormatError, DatasetUnavailableError

_SUFFIXES = (".csv", ".csv.gz", ".csv.xz")


def find_local(config: DatasetConfig, folder: Path) -> list[Path]:
    """Return the files of this dataset in the folder; none: an empty list."""
    for suffix in _SUFFIXES:
        if (path := folder / f"{config.name}{suffix}").is_file():
            return [path]
    if config.original is None:
        return []
    files = folder_files(folder)
    if found := locate(files, config.original):
        return [folder / name for name in found[1]]
    return [folder / name for name in files.names() if _is_archive_of(config, name)][:1]


def _is_archive_of(config: DatasetConfig, name: str) -> bool:
    """Compare letters and digits only: ``PEMS-SF.zip`` and ``pems+sf.zip`` are the same archive."""
    known = [f"{config.name}.zip", f"{config.name}.tar.gz"]
    if config.original is not None and config.original.archive:
        known.append(PurePosixPath(config.original.archive).name)
    return _letters(PurePosixPath(name).name) in [_letters(k) for k in known]


def _letters(name: str) -> str:
    return "".join(c for c in name.lower() if c.isalnum())


def load_local(config: DatasetConfig, settings: DataSettings) -> Dataset:
    """Load a dataset from the user's folder, where :func:`find_local` found it."""
    folder = settings.folder()
    assert folder is not None
    return _load(config, folder, find_local(config, folder), settings)


def _load(config: DatasetConfig, folder: Path | None, paths: list[Path], settings: DataSettings) -> Dataset:
    digests = [file_digest(path) for path in paths]
    table = remembered(config, digests, paths, settings, lambda: _read(config, folder, paths, settings))
    provenance = {"files": {str(p): digest for p, digest in zip(paths, digests, strict=True)}}
    return make_dataset(config, table, "local", provenance)


def load_own(config: DatasetConfig, settings: DataSettings) -> Dataset:
    """Load a file of one's own, given by ``dataset.path``."""
    path = own_path(config)
    if not path.is_file():
        raise DatasetUnavailableError(f"dataset.path: '{config.path}' is no file")
    if not path.name.endswith((*_SUFFIXES, ".arff")):
        raise DataFormatError(f"dataset.path: '{config.path}' is none of {', '.join((*_SUFFIXES, '.arff'))}")
    return _load(config, None, [path], settings)


def own_path(config: DatasetConfig) -> Path:
    """Return where a file of one's own should be."""
    return Path(str(config.path)).expanduser()


def file_digest(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _read(config: DatasetConfig, folder: Path | None, paths: list[Path], settings: DataSettings) -> Table:
    first = paths[0]
    if folder is not None and config.original is not None:
        if _is_archive_of(config, first.name):
            with first.open("rb") as stream:
                files = open_archive(stream, str(first))
                return read_original(config, *locate_within(files, config.original))
        if not first.name.startswith(f"{config.name}.csv"):
            names = [path.relative_to(folder).as_posix() for path in paths]
            return read_original(config, folder_files(folder), names)
    files = Files("", {str(first): partial(open_file, first)})
    with files.open(str(first), _text_limit(config, first, settings)) as stream:
        read = read_arff if first.suffix == ".arff" else read_csv
        return read(stream, label=config.label, missing=config.missing, where=str(first))


def _text_limit(config: DatasetConfig, path: Path, settings: DataSettings) -> int:
    """Return the bytes of text that a file of the user's may hold: what is not packed has its size."""
    if expected := config.largest_text():
        return expected
    return int(settings.largest_text * 2**20) if path.suffix in (".gz", ".xz") else LARGE
