"""How a program runs to its end: one line for what goes wrong, an exit code, never a traceback."""

import atexit
import io
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

from mloml.errors import MlomlError

# Exit codes after Ctrl-C, and when nobody reads on (``mloml data | head -1``), as shells have them.
INTERRUPTED, UNREAD = 130, 141

# Seconds that an orderly end may take while Ctrl-C is pressed again and again.
PATIENCE = 10.0


class OutputError(Exception):
    """What should be shown cannot be: the disk is full, or whoever read it has gone (no message then)."""


class Output:
    """Standard output; a failure to write is raised as one of ours, once, and what follows is dropped."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write, as on any file."""
        return int(self._attempt(self._stream.write, text) or 0)

    def flush(self) -> None:
        """Flush, as on any file."""
        self._attempt(self._stream.flush)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def _attempt(self, action: Any, *arguments: Any) -> Any:
        try:
            return action(*arguments)
        except OSError as error:
            # What is still in the buffer would fail again when Python ends.
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._stream.fileno())
            os.close(nowhere)
            unread = isinstance(error, BrokenPipeError)
            reason = "" if unread else f"standard output cannot be written ({error.strerror})"
            raise OutputError(reason) from None


def prepare() -> None:
    """Look at what a program takes for granted: a folder to work in, and somewhere to write to."""
    try:
        Path.cwd()
    except FileNotFoundError:
        raise MlomlError("the working directory was deleted; change to another one") from None
    if sys.stdout is None:
        raise OutputError("standard output is closed; send it to a file or to /dev/null")
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a dash or an umlaut must not cost a table in ASCII
    if not isinstance(sys.stdout, Output):
        sys.stdout = Output(sys.stdout)


def run_program(program: Callable[[], int]) -> NoReturn:
    """Call a program and end the process with the exit code it returns; an error is one line and code 2."""
    try:
        prepare()
        code = program()
        sys.stdout.flush()
    except (MlomlError, OutputError) as error:
        if not str(error):
            sys.exit(UNREAD)
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1 if isinstance(error, OutputError) else 2)
    except KeyboardInterrupt:  # while modules are loaded or configs composed; a run ends by itself
        print("interrupted", file=sys.stderr)
        sys.exit(INTERRUPTED)
    sys.exit(code)


@contextmanager
def one_interruption() -> Iterator[None]:
    """Let the first Ctrl-C stop a ``with`` block, and no other disturb its orderly end unless that hangs."""
    stopped, over = -PATIENCE, False

    def handle(*_: object) -> None:
        nonlocal stopped
        now = time.monotonic()
        if now - stopped < PATIENCE:
            return
        if stopped > 0 and not over:  # the orderly end hangs
            os._exit(INTERRUPTED)
        stopped = now
        raise KeyboardInterrupt

    ours = threading.current_thread() is threading.main_thread()
    if not ours or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield  # somebody else handles it
        return
    signal.signal(signal.SIGINT, handle)
    try:
        yield
    finally:
        over = True
        if stopped > 0:  # this process ends, while others may still come: also when Python forgets handlers
            atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)
        else:
            signal.signal(signal.SIGINT, signal.default_int_handler)
