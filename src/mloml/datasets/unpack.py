"""Reading files out of folders, zips and tars that nobody vouches for.

Nothing is ever written to disk under a name from an archive, links are not followed and nothing is
unpickled. An archive with a member that climbs out of it, a link, or sizes beyond reason is refused as
a whole: it is not what it claims to be.
"""

from __future__ import annotations

import gzip
import io
import lzma
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, BinaryIO, Protocol

from mloml.datasets.catalogue import LARGEST_FILE
from mloml.datasets.lzw import decompress as uncompress
from mloml.errors import DataFormatError

SMALL = 128 * 2**20  # what may be held in memory at once, unpacked
LARGE = LARGEST_FILE  # what may be read as a stream
_MAX_MEMBERS = 10_000
_MAX_DIRECTORY = 4 * 2**20  # bytes of a zip's list of members
_MAX_NESTED = 20  # archives in an archive that are looked into
_MAX_RATIO = 200  # unpacked to packed, for what is larger than _RATIO_FROM; text reaches 20
_RATIO_FROM = 16 * 2**20
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_BROKEN = (
    zipfile.BadZipFile, tarfile.TarError, EOFError, zlib.error, lzma.LZMAError, OSError, ValueError,
    struct.error, NotImplementedError, RuntimeError,
)  # fmt: skip


class Readable(Protocol):
    """What is needed of a stream to be read with a limit."""

    def read(self, size: int = -1, /) -> bytes: ...  # noqa: D102

    def close(self) -> None: ...  # noqa: D102


class LimitedReader(io.RawIOBase):
    """A stream that fails instead of giving more than ``limit`` bytes, or when the packed data are broken."""

    def __init__(self, stream: Readable, limit: int, where: str) -> None:
        self._stream, self._left, self._where, self._limit = stream, limit, where, limit

    def readable(self) -> bool:  # noqa: D102
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override] # noqa: D102
        try:
            data = self._stream.read(min(len(buffer), self._left + 1))
        except _BROKEN as error:
            raise DataFormatError(f"{self._where}: damaged or cut short ({error})") from None
        self._left -= len(data)
        if self._left < 0:
            raise too_much(self._where, self._limit)
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:  # noqa: D102
        self._stream.close()
        super().close()


def too_much(where: str, limit: int) -> DataFormatError:
    """Return the error for more bytes than there may be."""
    return DataFormatError(f"{where}: unpacks to more than {limit / 2**20:.3g} MB; refused")


def limited(stream: Readable, limit: int, where: str) -> BinaryIO:
    """Return the stream with an upper limit on what it gives."""
    return io.BufferedReader(LimitedReader(stream, limit, where), 2**20)


class Files:
    """Named files that can be opened: a folder's, or an archive's members."""

    def __init__(self, where: str, openers: dict[str, Callable[[], IO[bytes]]]) -> None:
        self.where, self._openers = where, openers

    def names(self) -> list[str]:
        """Return all names."""
        return list(self._openers)

    def find(self, name: str) -> str | None:
        """Return the full name of the file called ``name`` in any folder, possibly packed or as .txt."""
        endings = tuple(f"/{name}{suffix}" for suffix in ("", ".gz", ".Z", ".txt"))
        found = [n for n in self._openers if f"/{n}".endswith(endings) and "__MACOSX" not in n]
        return min(found, key=lambda n: (n.count("/"), len(n), n), default=None)

    def place(self, name: str) -> str:
        """Return how an error message names the file."""
        return f"{self.where}: {name}" if self.where else name

    def open_packed(self, name: str) -> BinaryIO:
        """Return an archive among the files as it is, held in memory."""
        return io.BytesIO(self._raw(name, SMALL).read())

    def open(self, name: str, limit: int = SMALL) -> BinaryIO:
        """Open a file by its full name, unpacking .gz, .xz and .Z.

        What unpacks to too much is refused here, before anybody spends time on its rows: to unpack a megabyte
        takes milliseconds, to read it as a table a second.
        """
        if name.endswith(".Z"):
            return io.BytesIO(uncompress(self._raw(name, limit).read(), limit, self.place(name)))
        if name.endswith((".gz", ".xz")):
            with self._unpacked(name, limit) as stream:
                while stream.read(2**20):
                    pass
            return self._unpacked(name, limit)
        return self._raw(name, limit)

    def archives(self) -> list[str]:
        """Return the names of archives among the files; more than a few are not what anybody publishes."""
        found = [name for name in self._openers if name.endswith((".zip", ".tar.gz", ".tgz"))]
        if len(found) > _MAX_NESTED:
            raise DataFormatError(f"{self.where}: more than {_MAX_NESTED} archives in an archive; refused")
        return found

    def _raw(self, name: str, limit: int) -> BinaryIO:
        try:
            return limited(self._openers[name](), limit, self.place(name))
        except _BROKEN as error:
            raise DataFormatError(f"{self.place(name)}: damaged ({error})") from None

    def _unpacked(self, name: str, limit: int) -> BinaryIO:
        packed = self._raw(name, limit)
        unpack = gzip.open if name.endswith(".gz") else lzma.open
        return limited(unpack(packed), limit, self.place(name))


def folder_files(folder: Path) -> Files:
    """Return the files in a folder of the user's and in its subfolders."""
    paths = sorted(path for pattern in ("*", "*/*") for path in folder.glob(pattern) if path.is_file())
    return Files(str(folder), {p.relative_to(folder).as_posix(): partial(open_file, p) for p in paths})


def open_file(path: Path) -> BinaryIO:
    """Open a file of the user's."""
    return path.open("rb")


def open_archive(stream: BinaryIO, where: str) -> Files:
    """Return the members of a zip or a tar.gz, after checking all of them."""
    start = stream.read(4)
    stream.seek(0)
    try:
        return _zip_files(stream, where) if start[:2] == b"PK" else _tar_files(stream, where)
    except _BROKEN as error:
        raise DataFormatError(f"{where}: damaged or no archive ({error})") from None


def _zip_files(stream: BinaryIO, where: str) -> Files:
    _check_directory(stream, where)
    archive = zipfile.ZipFile(stream)
    members = archive.infolist()
    size = stream.seek(0, io.SEEK_END)
    _check_names((m.filename for m in members), where)
    for m in members:
        if stat.S_ISLNK(m.external_attr >> 16):
            raise DataFormatError(f"{where}: member '{m.filename}' is a link; refused")
        if m.flag_bits & 1:
            raise DataFormatError(f"{where}: member '{m.filename}' is encrypted; refused")
        if m.file_size > LARGE or (m.file_size > _RATIO_FROM and m.file_size > _MAX_RATIO * m.compress_size):
            raise DataFormatError(f"{where}: member '{m.filename}' unpacks to {m.file_size} bytes; refused")
    if sum(m.compress_size for m in members) > size:
        raise DataFormatError(f"{where}: members overlap; refused")
    return Files(where, {m.filename: partial(_zip_member, archive, m) for m in members if not m.is_dir()})


def _check_directory(stream: BinaryIO, where: str) -> None:
    """Look at the size of the list of members before it is read: a million of them fill the memory."""
    size = stream.seek(0, io.SEEK_END)
    stream.seek(max(0, size - 2**16 - 42))
    tail = stream.read()
    stream.seek(0)
    at = tail.rfind(b"PK\x05\x06")
    if at < 0 or at + 22 > len(tail):
        raise zipfile.BadZipFile("it has no list of members")
    (directory,) = struct.unpack_from("<I", tail, at + 12)
    if directory > _MAX_DIRECTORY or tail[max(0, at - 20) : at].startswith(b"PK\x06\x07"):
        raise DataFormatError(f"{where}: more than {_MAX_MEMBERS} members or beyond 4 GB; refused")


def _zip_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> IO[bytes]:
    if member.compress_type not in _METHODS:
        name = zipfile.compressor_names.get(member.compress_type, "unknown")  # type: ignore[attr-defined]
        raise NotImplementedError(f"packed by method {member.compress_type}, {name}: not supported")
    return archive.open(member)


def _tar_files(stream: BinaryIO, where: str) -> Files:
    unpacked = limited(gzip.GzipFile(fileobj=stream), SMALL, where).read()
    archive = tarfile.TarFile(fileobj=io.BytesIO(unpacked))
    members = []
    for member in archive:  # one by one: half a million of them would fill the memory
        members.append(member)
        if len(members) > _MAX_MEMBERS:
            break
    _check_names((m.name for m in members), where)
    for m in members:
        if not (m.isfile() or m.isdir()) or m.issparse():
            raise DataFormatError(f"{where}: member '{m.name}' is a link or a device; refused")
    return Files(where, {m.name: partial(_member, archive, m) for m in members if m.isfile()})


def _member(archive: tarfile.TarFile, member: tarfile.TarInfo) -> IO[bytes]:
    stream = archive.extractfile(member)
    assert stream is not None  # only for what is no file
    return stream


def _check_names(names: Iterable[str], where: str) -> None:
    for count, name in enumerate(names):
        path = PurePosixPath(name.replace("\\", "/"))
        if path.is_absolute() or ".." in path.parts or ":" in name:
            raise DataFormatError(f"{where}: member '{name}' points outside of the archive; refused")
        if count >= _MAX_MEMBERS:
            raise DataFormatError(f"{where}: more than {_MAX_MEMBERS} members; refused")
