"""How processes end: with their main thread, and after Ctrl-C once, in order."""

from __future__ import annotations

import atexit
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache

from mloml.output import INTERRUPTED

PATIENCE = 5.0
"""Seconds that a run may take for its orderly end once Ctrl-C was pressed again."""

GRACE = 1.0
"""Seconds that a worker may take to end by itself once its main thread has."""


def when_main_thread_ends(action: Callable[[], object], wait_for_it: bool) -> None:
    """Call ``action`` when the main thread is done, while Python still waits for other threads.

    Python waits for the action too, if it is told to; otherwise it may break it off anywhere.
    """

    def wait() -> None:
        threading.main_thread().join()
        action()

    threading.Thread(target=wait, name="after-main-thread", daemon=not wait_for_it).start()


@cache
def end_with_main_thread() -> None:
    """Let this worker end when it has nothing left to do, whatever threads a learner left behind."""
    when_main_thread_ends(_leave, wait_for_it=False)


def _leave() -> None:
    time.sleep(GRACE)
    os._exit(0)


@contextmanager
def children_deaf_to_interruption() -> Iterator[None]:
    """Let processes that are started in the block inherit that Ctrl-C is not for them, nor for their own."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class Interruption:
    """What a run does about Ctrl-C: the first stops it; the others cannot disturb its orderly end."""

    def __init__(self) -> None:
        self.noticed = False
        self._first: float | None = None
        self._last_resort: threading.Timer | None = None

    def handle(self, *_: object) -> None:
        """Raise KeyboardInterrupt at the first signal; at a further one, allow only seconds for the rest."""
        now = time.monotonic()
        if self._first is None or (not self.noticed and now - self._first > PATIENCE / 2):
            self._first = now  # Python drops one that arrives in a destructor: then a later one counts
            raise KeyboardInterrupt
        if self._last_resort is None:
            self._last_resort = threading.Timer(PATIENCE, os._exit, (INTERRUPTED,))
            self._last_resort.daemon = True
            self._last_resort.start()

    def over(self) -> None:
        """Call when the orderly end is reached."""
        if self._last_resort is not None:
            self._last_resort.cancel()
        if self._first is not None:  # no traceback from within Python's own ending
            atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)


@contextmanager
def one_interruption() -> Iterator[Interruption]:
    """Heed only the first Ctrl-C for the time of a block; a handler of somebody else's is left alone."""
    found = Interruption()
    ours = threading.current_thread() is threading.main_thread()
    if not ours or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield found
        return
    signal.signal(signal.SIGINT, found.handle)
    try:
        yield found
    finally:
        found.over()
        signal.signal(signal.SIGINT, signal.default_int_handler)
