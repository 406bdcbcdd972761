"""Compiled code on disk: one file per family of kernels, whole or absent, checked before it is used.

A family is a module with kernels. Its file holds, for each function and signature that Python has called so
far, the code of that function with everything it calls linked into it, so that no part depends on another.
The file begins with a checksum of all that follows; a file that is damaged, or was made from other source,
by other versions or for another processor, counts as absent and is replaced.
"""

from __future__ import annotations

import ast
import errno
import fcntl
import hashlib
import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

import llvmlite  # type: ignore[import-untyped]
import numba
import platformdirs
from numba.core import config

from mloml.errors import StoreError
from mloml.files import write_atomically

MAGIC = b"mloml compiled code 1\n"
PACKAGE = Path(__file__).parent.parent
NO_LOCKS = (errno.ENOSYS, errno.ENOLCK, errno.ENOTSUP)
LONGEST_WAIT = 600.0
"""Seconds after which one no longer waits for another process to compile: it may have been stopped."""

CODE_SETTINGS = (
    "OPT",
    "BOUNDSCHECK",
    "LOOP_VECTORIZE",
    "SLP_VECTORIZE",
    "DISABLE_INTEL_SVML",
    "DEBUGINFO_DEFAULT",
)
"""numba's settings that change the code it makes."""


def say(text: str) -> None:
    """Tell the person at the terminal; not a warning, which a cell would keep in its record."""
    print(f"mloml: {text}", file=sys.stderr, flush=True)


@cache
def say_once(text: str) -> None:
    """Tell something that holds for the whole process."""
    say(text)


@cache
def _content(path: Path) -> bytes:
    """Return a source file as it was when it was first asked for, which is when it was imported."""
    return path.read_bytes()


@cache
def source_stamp(path: Path) -> str:
    """Return a digest of a file with kernels and of all kernel files that it imports."""
    digest = hashlib.sha256()
    for file in sorted(_with_imports(path, set())):
        digest.update(_content(file))
    return digest.hexdigest()


def _with_imports(path: Path, seen: set[Path]) -> set[Path]:
    seen.add(path)
    for imported in _imported_kernels(path):
        if imported not in seen:
            _with_imports(imported, seen)
    return seen


@cache
def _imported_kernels(path: Path) -> list[Path]:
    """Return the kernel files that a file imports by itself."""
    found = []
    for node in ast.walk(ast.parse(_content(path))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("mloml.kernels"):
            module = PACKAGE.joinpath(*str(node.module).split(".")[1:])
            files = [(module / alias.name).with_suffix(".py") for alias in node.names]  # modules of a folder
            found += [file for file in (module.with_suffix(".py"), *files) if file.is_file()]
    return found


def places() -> list[Path]:
    """Return the folders that may hold compiled code, best first."""
    inside = hashlib.sha256(str(PACKAGE).encode()).hexdigest()[:12]  # every installation has its own
    chosen: str = getattr(config, "CACHE_DIR", "")
    if chosen:
        return [Path(chosen) / f"mloml-{inside}"]
    home = platformdirs.user_cache_path("mloml") / f"kernels-{inside}"
    return [PACKAGE / "kernels" / "__pycache__", home]


@cache
def writable_place() -> Path | None:
    """Return the first folder that can be written; None, and say so, when there is none."""
    for place in places():
        with suppress(OSError):
            place.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=place):
                return place
    tried = " nor ".join(map(str, places()))
    say_once(f"the compiled code is not kept, every start compiles anew: neither {tried} can be written")
    return None


class Damaged(Exception):
    """A file with compiled code is not what was once written."""


def pack(key: str, entries: dict[str, bytes]) -> bytes:
    """Return the content of a family's file."""
    index = {"key": key, "sizes": {name: len(code) for name, code in entries.items()}}
    body = json.dumps(index).encode() + b"\n" + b"".join(entries.values())
    return MAGIC + hashlib.sha256(body).hexdigest().encode() + b"\n" + body


def unpack(content: bytes) -> tuple[str, dict[str, bytes]]:
    """Return the key and the entries of a family's file; nothing is looked into before its checksum holds.

    >>> unpack(pack("key", {"f": b"code"}))
    ('key', {'f': b'code'})
    """
    start = len(MAGIC) + 65
    body = content[start:]
    if content[:start] != MAGIC + hashlib.sha256(body).hexdigest().encode() + b"\n":
        raise Damaged("its checksum differs")
    line, code = body.split(b"\n", 1)
    index = json.loads(line)
    entries, at = {}, 0
    for name, size in index["sizes"].items():
        entries[name] = code[at : at + size]
        at += size
    return index["key"], entries


class Family:
    """The kept code of one module with kernels.

    Parameters
    ----------
    source : Path
        The module's file, inside this package.
    """

    def __init__(self, source: Path) -> None:
        self.name = ".".join(source.relative_to(PACKAGE).with_suffix("").parts).removeprefix("kernels.")
        self.stamp = source_stamp(source)  # now: the file may be edited before anything is compiled

    def key(self, processor: tuple[str, ...]) -> str:
        """Return a digest of all that the compiled code depends on."""
        settings = [str(getattr(config, name, None)) for name in CODE_SETTINGS]
        versions = [numba.__version__, llvmlite.__version__, platform.python_version()]
        return hashlib.sha256(repr((self.stamp, versions, settings, processor)).encode()).hexdigest()

    def file(self, place: Path, processor: tuple[str, ...]) -> Path:
        """Return the family's file in a folder; kinds of processors that share a disk have one each."""
        kind = hashlib.sha256(repr(processor).encode()).hexdigest()[:8]
        return place / f"{self.name}-{sys.implementation.cache_tag}-{kind}.kernels"

    def find(self, name: str, processor: tuple[str, ...]) -> bytes | None:
        """Return the kept code of one function and signature, or None."""
        for place in places():
            code = self._entries(self.file(place, processor), processor).get(name)
            if code is not None:
                return code
        return None

    def keep(self, name: str, code: bytes, processor: tuple[str, ...]) -> None:
        """Add code to the family's file in one step; its lock must be held."""
        place = writable_place()
        if place is None:
            return
        path = self.file(place, processor)
        entries = self._entries(path, processor) | {name: code}
        for leftover in place.glob(f".{path.name}-*.tmp"):  # of a process that was killed while it wrote
            leftover.unlink(missing_ok=True)
        try:
            write_atomically(path, pack(self.key(processor), entries))
        except StoreError as error:
            say_once(f"the compiled code is not kept: {error}")

    def discard(self, processor: tuple[str, ...]) -> None:
        """Throw the kept code away."""
        for place in places():
            with suppress(OSError):
                self.file(place, processor).unlink()

    @contextmanager
    def lock(self, processor: tuple[str, ...]) -> Iterator[bool]:
        """Wait until no other process compiles this family; True when what is compiled now may be kept.

        The kernel frees the lock when a process ends, in whatever way.
        """
        place = writable_place()
        descriptor = None if place is None else _locked(self.file(place, processor), self.name)
        try:
            yield descriptor is not None
        finally:
            if descriptor is not None:
                fcntl.flock(descriptor, fcntl.LOCK_UN)  # also for children that a fork left it to
                os.close(descriptor)

    def _entries(self, path: Path, processor: tuple[str, ...]) -> dict[str, bytes]:
        try:
            key, entries = unpack(path.read_bytes())
        except OSError:
            return {}
        except Damaged as damage:
            say(f"{path}: {damage}, so it is compiled anew")
            with suppress(OSError):
                path.unlink()
            return {}
        return entries if key == self.key(processor) else {}


def _locked(path: Path, name: str) -> int | None:
    """Return a locked descriptor beside a file; None where locks do not exist or are held for too long."""
    try:
        descriptor = os.open(path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT, 0o666)
    except OSError:
        return None
    begun, told = time.monotonic(), False
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return descriptor
        except BlockingIOError:
            waited = time.monotonic() - begun
        except OSError as error:
            os.close(descriptor)
            if error.errno in NO_LOCKS:
                say_once(f"the compiled code is not kept: {path.parent} is on a file system without locks")
                return None
            raise
        if waited > LONGEST_WAIT:
            os.close(descriptor)
            return None
        if waited > 1.0 and not told:
            told = True
            say(f"waiting for another process to compile '{name}'")
        time.sleep(0.02)
