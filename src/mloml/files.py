"""Files that are whole or absent, whatever happens while they are written, and locks on files.

The system frees a lock when its process ends, in whatever way it does.
"""

import errno
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

from filelock import FileLock, Timeout

from mloml.errors import StoreError

# Seconds after which a half-written file has no writer any more.
SURELY_LEFT = 600.0

REASONS = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "your disk quota is used up",
    errno.EFBIG: "the file size limit is reached",
    errno.EROFS: "the file system is read-only",
    errno.EACCES: "no permission",
    errno.EPERM: "no permission",
    errno.ENOTDIR: "a part of the path is a file",
    errno.EEXIST: "a part of the path is a file",
}


# Of a file system that has no locks.
NOT_SUPPORTED = (errno.ENOSYS, errno.ENOLCK, errno.ENOTSUP)


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write a file so that its name shows the old content or the new, never a part.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_atomically(Path(folder, "deep", "note.txt"), "whole")
    ...     Path(folder, "deep", "note.txt").read_text()
    'whole'
    """
    beside = path.parent / f".{path.name}-{uuid4().hex[:8]}.tmp"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with beside.open("xb") as file:
                file.write(content.encode(errors="backslashreplace") if isinstance(content, str) else content)
                file.flush()
                os.fsync(file.fileno())
            beside.replace(path)
        finally:
            beside.unlink(missing_ok=True)
        _synchronise_folder(path.parent)
    except OSError as error:
        raise StoreError(f"{path}: cannot be written ({reason(error)})") from None


def clear(folder: Path, pattern: str) -> None:
    """Remove the files that killed processes left half-written."""
    for path in folder.glob(pattern):
        with suppress(OSError):  # gone by now, or not ours
            if path.is_file() and not path.is_symlink() and time.time() - path.stat().st_mtime > SURELY_LEFT:
                path.unlink()


def reason(error: OSError) -> str:
    """Say in words why a file cannot be read or written."""
    return REASONS.get(error.errno or 0, error.strerror or str(error) or type(error).__name__)


def _synchronise_folder(folder: Path) -> None:
    # Without this a power cut could forget the rename. Some file systems cannot do it and need not.
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextmanager
def hold(path: Path) -> Iterator[bool]:
    """Hold a lock during a ``with`` block; the value is False when somebody else holds it.

    Where the file system does not support locks, everybody gets them: cells may then be computed twice.
    """
    lock = FileLock(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=0)
    except Timeout:
        yield False
        return
    except NotImplementedError:
        pass
    except OSError as error:
        if error.errno not in NOT_SUPPORTED:
            raise StoreError(f"{path}: cannot be written ({reason(error)})") from None
    try:
        yield True
    finally:
        with suppress(OSError):  # Windows does not remove an open file
            path.unlink()
        lock.release()


def is_held(path: Path) -> bool:
    """Tell whether somebody holds a lock at this moment."""
    if not path.exists():
        return False
    with hold(path) as free:
        return not free


@contextmanager
def running(folder: Path) -> Iterator[None]:
    """Mark a folder as being worked on; several runs may do so at once."""
    is_abandoned(folder)  # removes the marks of those that were killed
    with hold(folder / f".running-{uuid4().hex}"):
        yield


def is_abandoned(folder: Path) -> bool:
    """Tell whether no run works on a folder; False where that cannot be known."""
    try:
        held = [is_held(mark) for mark in folder.glob(".running-*")]  # all of them: the free ones go
        return not any(held)
    except StoreError:
        return False
