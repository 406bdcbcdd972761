"""Claims: who computes a cell right now, and how earlier attempts of the same run ended.

A claim is a file that the computing process holds a lock on. The kernel releases the lock when the
process ends in whatever way, the file goes only when the cell is stored or has failed. So a file without
a lock tells that a process died while it computed this cell, and its lines tell how often.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

from mloml.errors import StoreError

STARTED = "started"
TIMEOUT = "timeout"
WRONG = "wrong"  # the worker's compiled code computed something else than its formulas

MOST_DEATHS = 2
"""A cell whose worker died this often is not tried again."""


class Claim:
    """The right to compute one cell, held by this process until it ends or lets go."""

    def __init__(self, path: Path, descriptor: int, run: str) -> None:
        self.path = path
        self.run = run
        self._descriptor = descriptor
        if not _notes(path, run):  # left over from another run
            os.truncate(descriptor, 0)

    def note(self, word: str) -> None:
        """Leave a word that outlives this process."""
        try:
            os.write(self._descriptor, f"{self.run} {word}\n".encode())
        except OSError as error:
            raise StoreError(f"{self.path.parent}: cannot be written ({error.strerror})") from None

    def remove(self) -> None:
        """Remove the file: the cell is stored, or failed in an orderly way."""
        self.path.unlink(missing_ok=True)


@contextmanager
def claim(path: Path, run: str) -> Iterator[Claim | None]:
    """Claim a cell for the time of a ``with`` block; None when another process holds it.

    Parameters
    ----------
    path : Path
        The claim's file, the same for everybody who might compute the cell.
    run : str
        Name of this run: only deaths of its own workers count against a cell.
    """
    descriptor = _lock(path)
    if descriptor is None:
        yield None
        return
    _held.add(descriptor)
    try:
        yield Claim(path, descriptor, run)
    finally:
        _held.discard(descriptor)
        os.close(descriptor)


_held: set[int] = set()


def _let_go() -> None:
    """Close claims in a process that was forked by a learner: it may live on, and computes no cell."""
    while _held:
        os.close(_held.pop())


os.register_at_fork(after_in_child=_let_go)


def verdict(path: Path, run: str) -> str | None:
    """Say how a cell ended that never reported back: timeout, killed, or None when it may be tried again."""
    notes = _notes(path, run)
    if TIMEOUT in notes:
        return "timeout"
    deaths = [word for word, after in pairwise([*notes, ""]) if word == STARTED and after != WRONG]
    return "killed" if len(deaths) >= MOST_DEATHS else None


def ended_wrong(path: Path, run: str) -> bool:
    """Say whether the last worker at a cell ended because its compiled code was wrong: another one is due."""
    return _notes(path, run)[-1:] == [WRONG]


def is_held(path: Path) -> bool:
    """Tell whether somebody computes the cell at this moment."""
    try:
        descriptor = _open(path)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def _lock(path: Path) -> int | None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        while True:
            descriptor = _open(path, os.O_CREAT | os.O_APPEND)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(descriptor)
                return None
            except OSError as error:
                if error.errno not in (errno.ENOSYS, errno.ENOLCK, errno.ENOTSUP):
                    os.close(descriptor)
                    raise
                return descriptor  # no locks on this file system: cells may be computed twice, never damaged
            if _is_same_file(path, descriptor):
                return descriptor
            os.close(descriptor)  # its holder removed it between our open and our lock
    except OSError as error:
        raise StoreError(f"{path.parent}: cannot be written ({error.strerror})") from None


def _open(path: Path, flags: int = 0) -> int:
    """Open a claim; what stands in its place and is somebody's file under another name is left alone."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | flags, 0o666)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EISDIR):
            raise StoreError(f"{path}: is a link or a folder where a claim should be; remove it") from None
        raise
    about = os.fstat(descriptor)
    if not stat.S_ISREG(about.st_mode) or about.st_nlink > 1:
        os.close(descriptor)
        raise StoreError(f"{path}: is a link or no plain file where a claim should be; remove it")
    return descriptor


def _is_same_file(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.lstat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _notes(path: Path, run: str) -> list[str]:
    """Return this run's words in a claim, oldest first."""
    try:
        with open(_open(path), encoding="utf-8", errors="replace") as file:
            lines = file.read().splitlines()
    except FileNotFoundError:
        return []
    return [line.removeprefix(f"{run} ") for line in lines if line.startswith(f"{run} ")]
