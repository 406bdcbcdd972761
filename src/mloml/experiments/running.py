"""Whether anybody works on an artefact's folder at this moment: a run holds a lock as long as it lives."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

MARKER = ".running"


@contextmanager
def running(folder: Path) -> Iterator[None]:
    """Hold a folder's lock for the time of a ``with`` block, beside other runs; the system frees it at death.

    Where files cannot be locked, or not written, there is none.
    """
    descriptor = _hold(folder / MARKER)
    try:
        yield
    finally:
        if descriptor is not None:
            with suppress(OSError):
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)  # fails when another run goes on
                (folder / MARKER).unlink()
            os.close(descriptor)


def is_abandoned(folder: Path) -> bool:
    """Tell whether nobody runs what a manifest calls running; False where that cannot be known."""
    try:
        descriptor = os.open(folder / MARKER, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True


def _hold(path: Path) -> int | None:
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        while True:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_SH)
                if os.fstat(descriptor).st_nlink:
                    return descriptor
            except OSError:
                os.close(descriptor)
                raise
            os.close(descriptor)  # a run that ended took the file away before our lock
    return None
