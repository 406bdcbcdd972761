"""What holds while no thread of a worker can run: its time limit, and that it ends with its parent."""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mloml.experiments import watch
from mloml.experiments.claims import TIMEOUT, Claim


class Guard:
    """The process beside this one (see :mod:`mloml.experiments.watch`), started when it is first needed."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._parent: int | None = None
        self._lock = threading.Lock()

    def end_with(self, parent: int) -> None:
        """End this process within seconds after another one has ended, in whatever way it did."""
        with self._lock:
            if self._parent != parent:
                self._stop()
                self._parent = parent
                self._start()

    def tell(self, line: str) -> None:
        """Write an order; a guard that was killed is replaced."""
        with self._lock:
            for _ in range(2):
                process = self._process or self._start()
                try:
                    assert process.stdin is not None
                    process.stdin.write(f"{line}\n".encode())
                    process.stdin.flush()
                    return
                except OSError:
                    self._stop()
            raise RuntimeError("the process that keeps the time limit cannot be started")

    def _start(self) -> subprocess.Popen[bytes]:
        people = [os.getpid()] + ([] if self._parent is None else [self._parent])
        # Isolated and without site packages: nothing of the user's can disturb it. A session of its own: what
        # a terminal sends to a whole group (Ctrl-C, hanging up) is not for it.
        command = [sys.executable, "-I", "-S", watch.__file__, *map(str, people)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True)
        return self._process

    def close(self) -> None:
        """End the process beside this one, if there is one."""
        with self._lock:
            self._stop()

    def _stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


GUARD = Guard()
atexit.register(GUARD.close)  # else the interpreter warns of a process that is still running


@contextmanager
def time_limit(seconds: float | None, held: Claim) -> Iterator[None]:
    """Have this process killed when the block takes too long; its claim keeps the reason."""
    if seconds is None:
        yield
        return
    claim = str(Path(held.path).absolute())
    end = time.monotonic() + seconds
    GUARD.tell(json.dumps({"end": end, "claim": claim, "note": f"{held.run} {TIMEOUT}\n"}))
    try:
        yield
    finally:
        GUARD.tell("null")
