"""Files that are written beside their name first: held while somebody writes, cleared when nobody does."""

from __future__ import annotations

import fcntl
import os
import stat
import time
from contextlib import suppress
from pathlib import Path
from typing import IO

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
