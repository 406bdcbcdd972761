"""Files that are whole or absent, whatever happens while they are written.

A file is written beside its name first, and held by a lock meanwhile; what a killed process left there is
cleared later, when nobody holds it.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import time
from contextlib import suppress
from pathlib import Path
from typing import IO
from uuid import uuid4

from mloml.errors import StoreError

SURELY_WRITTEN = 5.0
"""Seconds after its last change in which a file is left alone, should locks not reach other machines."""

WITHOUT_LOCKS = 86400.0
"""The same where the file system knows no locks."""


def create(path: Path) -> IO[bytes]:
    """Open a new file and hold it: the lock goes with the process, in whatever way that ends."""
    while True:
        file = path.open("xb")
        with suppress(OSError):  # no locks here: age alone tells
            fcntl.flock(file, fcntl.LOCK_EX)
        try:
            if os.path.samestat(os.fstat(file.fileno()), path.lstat()):
                return file
        except FileNotFoundError:
            pass
        file.close()  # somebody cleared it between our two steps


def clear(folder: Path, pattern: str) -> list[Path]:
    """Remove the files that a killed process left half-written, and return them."""
    return [path for path in folder.glob(pattern) if _clear(path)]


def _clear(path: Path) -> bool:
    with suppress(OSError):  # gone, a link, not ours
        descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            about = os.fstat(descriptor)
            if stat.S_ISREG(about.st_mode) and time.time() - about.st_mtime > _patience(descriptor):
                path.unlink()
                return True
        finally:
            os.close(descriptor)
    return False


def _patience(descriptor: int) -> float:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return float("inf")
    except OSError:
        return WITHOUT_LOCKS
    return SURELY_WRITTEN


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write a file so that its name shows the old content or the new, never a part.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_atomically(Path(folder, "deep", "note.txt"), "whole")
    ...     Path(folder, "deep", "note.txt").read_text()
    'whole'
    """
    data = content.encode() if isinstance(content, str) else content
    beside = path.parent / f".{path.name}-{uuid4().hex[:8]}.tmp"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with create(beside) as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            beside.replace(path)
        finally:
            beside.unlink(missing_ok=True)
        _synchronise_folder(path.parent)
    except OSError as error:
        raise StoreError(f"{path}: cannot be written ({_reason(error)})") from None


def _synchronise_folder(folder: Path) -> None:
    # Without this a power cut could forget the rename. Some file systems cannot do it and need not.
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _reason(error: OSError) -> str:
    words = {
        errno.ENOSPC: "the disk is full",
        errno.EDQUOT: "your disk quota is used up",
        errno.EFBIG: "the file size limit is reached",
        errno.EROFS: "the file system is read-only",
        errno.EACCES: "no permission",
        errno.EPERM: "no permission",
        errno.ENOTDIR: "a part of the path is a file",
        errno.EEXIST: "a part of the path is a file",
    }
    return words.get(error.errno or 0, error.strerror or type(error).__name__)
