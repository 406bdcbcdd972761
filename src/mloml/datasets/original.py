"""UCI's own files, in a folder or in the archive they are published in.

Nothing is written to disk under a name from an archive, links are not followed and nothing is unpickled. An
archive with a member that points outside, a link, or more bytes than the data set can have is refused.
"""

import dataclasses
import gzip
import hashlib
import io
import lzma
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, Any, BinaryIO

import numpy as np

from mloml.arrays import Array
from mloml.config.schema import DatasetConfig, OriginalFiles
from mloml.datasets.dataset import Table
from mloml.datasets.read import read_arff, read_delimited, read_rows
from mloml.errors import ConfigError, DataFormatError

# Bytes of a file that is fetched or read, whatever it says it is; PEMS-SF has 0.5 GB.
LARGEST_FILE = 2**31

_LARGEST_EXTRAS = 64 * 2**20  # what else an archive may hold: descriptions, papers, earlier versions
_LONGEST_LINE = 64 * 2**20  # a day of 138,672 numbers takes about 1 MB
_BROKEN = (
    zipfile.BadZipFile, tarfile.TarError, EOFError, zlib.error, lzma.LZMAError, OSError, ValueError,
    NotImplementedError, RuntimeError,
)  # fmt: skip


@dataclass(frozen=True)
class Files:
    """Files that can be opened by name: those of a folder, or the members of an archive."""

    where: str
    openers: dict[str, Callable[[], Any]]

    def find(self, name: str) -> str | None:
        """Return the full name of the file called ``name`` in any folder, possibly packed or as .txt."""
        endings = tuple(f"/{name}{suffix}" for suffix in ("", ".gz", ".txt"))
        found = [n for n in self.openers if f"/{n}".endswith(endings) and "__MACOSX" not in n]
        return min(found, key=lambda n: (n.count("/"), len(n), n), default=None)

    def find_all(self, original: OriginalFiles) -> list[str]:
        """Return the full names of all original files, or an empty list when one is not here."""
        found = [name for name in map(self.find, original.files) if name]
        return found if len(found) == len(original.files) else []

    def place(self, name: str) -> str:
        """Return how an error message names the file."""
        return f"{self.where}: {name}" if self.where else name

    @contextmanager
    def open(self, name: str, limit: int | None = None) -> Iterator[BinaryIO]:
        """Open a file, unpacked: as a stream or, with a limit on its bytes, read as a whole."""
        with _damage_named(self.place(name)), self.openers[name]() as packed:
            stream = _unpacked(name, packed)
            yield stream if limit is None else io.BytesIO(_read(stream, limit, self.place(name)))


def folder_files(folder: Path) -> Files:
    """Return the files in a folder of the user's and in its subfolders."""
    paths = sorted(path for pattern in ("*", "*/*") for path in folder.glob(pattern) if path.is_file())
    return Files(str(folder), {p.relative_to(folder).as_posix(): partial(open, p, "rb") for p in paths})


def open_file(path: Path, limit: int | None = None) -> AbstractContextManager[BinaryIO]:
    """Open a single file as :meth:`Files.open` does."""
    return Files("", {str(path): partial(open, path, "rb")}).open(str(path), limit)


def file_digest(path: Path, algorithm: str = "sha256") -> str:
    """Return the checksum of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, algorithm).hexdigest()


def open_archive(stream: BinaryIO, where: str, limit: int) -> Files:
    """Return the members of a zip or a tar.gz, after checking all of them.

    The checks hold for what the list of members announces; ``zipfile`` reads no more of a member than that.
    """
    members: list[tuple[str, int, bool, Callable[[], Any]]] = []  # name, size, is it a file, what opens it
    with _damage_named(where):
        if stream.read(2) == b"PK":
            archive = zipfile.ZipFile(stream)
            for zipped in (m for m in archive.infolist() if not m.is_dir()):
                is_file = not stat.S_ISLNK(zipped.external_attr >> 16)
                members.append((zipped.filename, zipped.file_size, is_file, partial(archive.open, zipped)))
        else:
            stream.seek(0)
            unpacked = _read(gzip.GzipFile(fileobj=stream), limit, where)
            tar = tarfile.TarFile(fileobj=io.BytesIO(unpacked))
            parts = [m for m in tar if not m.isdir()]
            members = [(m.name, m.size, m.isfile(), partial(tar.extractfile, m)) for m in parts]
    for name, _, is_file, _ in members:
        path = PurePosixPath(name.replace("\\", "/"))
        if path.is_absolute() or ".." in path.parts or ":" in name:
            raise DataFormatError(f"{where}: member '{name}' points outside of the archive; refused")
        if not is_file:
            raise DataFormatError(f"{where}: member '{name}' is a link or a device; refused")
    if (total := sum(size for _, size, _, _ in members)) > limit:
        raise DataFormatError(f"{where}: unpacks to {total} bytes; refused (at most {limit})")
    return Files(where, {name: opener for name, _, _, opener in members})


def archive_limit(config: DatasetConfig) -> int:
    """Return the bytes that the archive of a data set can have, packed or unpacked."""
    return min(LARGEST_FILE, _LARGEST_EXTRAS + (config.largest_text() or LARGEST_FILE))


def read_archive(config: DatasetConfig, path: Path, where: str) -> Table:
    """Read the data set from UCI's zip; theorem proving has its files in a tar inside of it."""
    original, limit = config.original, archive_limit(config)
    assert original is not None
    with path.open("rb") as stream:
        files = open_archive(stream, where, limit)
        if names := files.find_all(original):
            return read_original(config, files, names)
        for name in (n for n in files.openers if n.endswith((".zip", ".tar.gz", ".tgz"))):
            with _damage_named(files.place(name)), files.openers[name]() as packed:
                inner = open_archive(io.BytesIO(packed.read()), files.place(name), limit)
            if names := inner.find_all(original):
                return read_original(config, inner, names)
    raise DataFormatError(f"{where}: does not hold {', '.join(original.files)}")


def read_original(config: DatasetConfig, files: Files, names: list[str]) -> Table:
    """Read the data set from its original files, one after the other."""
    original = config.original
    assert original is not None
    if original.format == "pems":
        return _read_pems(config, files, names)
    parts = [_read_part(config, original, files, name) for name in names]
    labels = [label for part in parts for label in part.labels]
    X = np.concatenate([part.X for part in parts])
    return Table(X, labels, files.where, sum(part.dropped for part in parts))


def _read_part(config: DatasetConfig, original: OriginalFiles, files: Files, name: str) -> Table:
    where = files.place(name)
    with files.open(name, config.largest_text() or LARGEST_FILE) as stream:
        if original.format == "arff":
            return read_arff(stream, where, missing=config.missing)
        if original.format == "xlsx":
            return read_spreadsheet(stream, config, where)
        if original.format in ("delimited", "indicators"):
            table = read_delimited(stream, where, original.label, original.skip, config.missing)
            return table if original.format == "delimited" else _from_indicators(table, config)
    known = "delimited, arff, xlsx, indicators, pems"
    raise ConfigError(f"dataset.original.format: '{original.format}' is none of {known}")


def read_spreadsheet(stream: BinaryIO, config: DatasetConfig, where: str) -> Table:
    """Read LSVT's form: a sheet of features and a sheet of labels, each with a header line."""
    import pandas as pd

    open_archive(stream, where, archive_limit(config))  # a spreadsheet is a zip: the same refusals hold
    most = None if config.rows is None else config.rows + 2  # one more than there should be would show
    try:
        sheets = pd.read_excel(stream, [0, 1], header=None, dtype=object, na_filter=False, nrows=most)
    except Exception as error:  # openpyxl stumbles over damage in more ways than it has errors for
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise DataFormatError(f"{where}: is not a readable spreadsheet ({reason})") from None
    features, labels = ([list(map(str, row)) for row in sheets[i].to_numpy().tolist()] for i in (0, 1))
    if not features or not labels:
        raise DataFormatError(f"{where}: a sheet of features and a sheet of labels are needed")
    if len(features) != len(labels):
        raise DataFormatError(f"{where}: {len(features) - 1} rows of features, {len(labels) - 1} of labels")
    columns = [*features[0], "label"]
    rows = ([*values, label[0]] for values, label in zip(features[1:], labels[1:], strict=True))
    return read_rows(enumerate(rows, 2), columns, -1, config.missing, where)


def _from_indicators(table: Table, config: DatasetConfig) -> Table:
    """Turn the last columns, one of them +1 and the others -1, into labels."""
    labels = list(config.class_counts)
    last = np.array([float(label) for label in table.labels])  # read as the label, being the last column
    codes = np.column_stack([table.X, last])[:, -len(labels) :]
    if codes.shape[1] < len(labels) or not ((codes == 1).sum(1) == 1).all():
        raise DataFormatError(f"{table.where}: the last {len(labels)} columns do not name one class per row")
    named = [labels[k] for k in np.argmax(codes, axis=1)]
    return dataclasses.replace(table, X=table.X[:, : 1 - len(labels)], labels=named)


def _read_pems(config: DatasetConfig, files: Files, names: list[str]) -> Table:
    """Read PEMS-SF, given as pairs of files: one matrix ``[a b;c d]`` per line, and the labels as one line.

    A matrix is laid out row by row (station by station). Blanks and semicolons both separate numbers, so
    ``0.1;0.2`` is two of them; the paper's count of features suggests that there it was one.
    Only the numbers are kept: 440 x 138,672 of them take 0.49 GB.
    """
    days = [np.concatenate([np.empty(0), *_matrices(files, name)]).tolist() for name in names[1::2]]
    total = sum(map(len, days))
    if config.rows is not None and total > config.rows:
        raise DataFormatError(f"{files.where}: {total} labels, more than {config.rows}")
    X = np.empty((total, config.features or 0))
    end = 0
    for name, labels in zip(names[::2], days, strict=True):
        row, end = end, end + len(labels)
        for numbers in _matrices(files, name):
            if row == end or numbers.size != X.shape[1]:
                size = f"matrix {row + 1} of {numbers.size} numbers"
                raise DataFormatError(f"{name}: {size}, not {len(labels)} matrices of {X.shape[1]}")
            X[row] = numbers
            row += 1
        if row < end:
            raise DataFormatError(f"{name}: fewer matrices than the {len(labels)} labels")
    return Table(X, [str(label) for labels in days for label in labels], files.where)


def _matrices(files: Files, name: str) -> Iterator[Array]:
    with files.open(name) as stream:
        for number, line in enumerate(iter(partial(stream.readline, _LONGEST_LINE), b""), 1):
            text, where = line.strip(), f"{name}, line {number}"
            if not text:
                continue
            if not (text.startswith(b"[") and text.endswith(b"]")):
                raise DataFormatError(f"{where}: not of the form [a b;c d]")
            try:
                numbers = np.array(text[1:-1].replace(b";", b" ").split(), dtype=np.float64)
            except ValueError:
                numbers = np.array([np.nan])
            if not np.isfinite(numbers).all():
                raise DataFormatError(f"{where}: holds something that is not a finite number")
            yield numbers


def _unpacked(name: str, packed: IO[bytes]) -> Any:
    unpack: dict[str, Callable[[IO[bytes]], Any]] = {".gz": gzip.open, ".xz": lzma.open}
    return unpack.get(name[-3:], lambda stream: stream)(packed)


def _read(stream: Any, limit: int, where: str) -> bytes:
    data: bytes = stream.read(limit + 1)
    if len(data) > limit:
        raise DataFormatError(f"{where}: unpacks to more than {limit / 2**20:.3g} MB; refused")
    return data


@contextmanager
def _damage_named(where: str) -> Iterator[None]:
    try:
        yield
    except _BROKEN as error:
        raise DataFormatError(f"{where}: damaged or cut short ({error})") from None
