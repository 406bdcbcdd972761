"""Locks on files: the system frees them when their process ends, in whatever way it does."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

from filelock import FileLock, Timeout

from mloml.errors import StoreError
from mloml.files import reason

NOT_SUPPORTED = (errno.ENOSYS, errno.ENOLCK, errno.ENOTSUP)


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
