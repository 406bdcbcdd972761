"""How a program runs to its end: one line for what goes wrong, an exit code, never a traceback."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from mloml.errors import MlomlError

INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells have it."""


class OutputError(MlomlError):
    """What should be shown cannot be: the disk is full, or whoever read it has gone."""


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
            raise OutputError(f"standard output cannot be written ({error.strerror})") from None


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
    except MlomlError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1 if isinstance(error, OutputError) else 2)
    except KeyboardInterrupt:  # while modules are loaded or configs composed; a run ends by itself
        print("interrupted before anything was computed", file=sys.stderr)
        sys.exit(INTERRUPTED)
    sys.exit(code)
