"""The process beside a worker that can end it: ``python watch.py WORKER [PARENT]``.

A process of its own, because a worker that computes may hold the interpreter's lock for hours, and then no
thread of it runs. Needs the standard library only, so it is there in a few milliseconds; :mod:`.guard` starts
it and writes to its standard input: a line with a time limit, or ``null`` when the limit is off again.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time
from contextlib import suppress
from typing import Any

PAUSE = 0.5
"""Seconds between looks at who is still there."""


class Orders:
    """What the worker has asked for so far: the last whole line counts."""

    def __init__(self) -> None:
        self.limit: dict[str, Any] | None = None
        self.open = True
        self._text = b""

    def read(self) -> None:
        """Take in what has arrived."""
        data = os.read(0, 2**16)
        self.open = bool(data)
        *lines, self._text = (self._text + data).split(b"\n")
        if lines:
            self.limit = json.loads(lines[-1])

    def seconds_left(self) -> float:
        """Return how long the worker may go on."""
        return self.limit["end"] - time.monotonic() if self.limit else PAUSE


def watch(worker: int, parent: int | None) -> None:
    """Return when the worker is gone; kill it when its time is over or its parent is gone."""
    orders = Orders()
    parent_end = _descriptor_of(parent)
    while os.getppid() == worker:
        if parent is not None and _is_gone(parent, parent_end):
            return _kill(worker)
        if _wait_for_orders(orders, parent_end):
            orders.read()
        elif orders.limit and orders.seconds_left() <= 0:
            _note(orders.limit)
            return _kill(worker)
    return None


def _wait_for_orders(orders: Orders, parent_end: int | None) -> bool:
    sources = [end for end in (0 if orders.open else None, parent_end) if end is not None]
    ready, _, _ = select.select(sources, [], [], max(0.0, min(PAUSE, orders.seconds_left())))
    return 0 in ready


def _descriptor_of(process: int | None) -> int | None:
    """Return a descriptor that becomes readable when the process ends, where the system has such a thing."""
    if process is not None and hasattr(os, "pidfd_open"):
        with suppress(OSError):
            return os.pidfd_open(process)
    return None


def _is_gone(process: int, end: int | None) -> bool:
    if end is not None:
        return bool(select.select([end], [], [], 0)[0])
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    except PermissionError:  # somebody else's: it lives
        return False
    return False


def _note(limit: dict[str, Any]) -> None:
    """Leave the reason in the worker's claim, where whoever looks after it finds it."""
    with suppress(OSError):
        descriptor = os.open(limit["claim"], os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW)
        os.write(descriptor, limit["note"].encode())
        os.close(descriptor)


def _kill(worker: int) -> None:
    if os.getppid() == worker:
        os.kill(worker, signal.SIGKILL)


if __name__ == "__main__":
    watch(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else None)
