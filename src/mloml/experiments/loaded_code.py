"""The package's source as it was when this process imported it.

It is read when the package is imported, before any of its modules: what runs in this process is this text,
whatever is on the disk later. A worker that outlives an edit so knows what it computes with.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

PACKAGE = Path(__file__).resolve().parents[1]

Mark = tuple[int, int, int, int]


class SourceFile(NamedTuple):
    """A file's content, and its mark: as long as that is the same, so is the content."""

    mark: Mark
    content: bytes


def read_sources(folder: Path) -> dict[str, SourceFile]:
    """Return the Python files below a folder, by their path in it (``evaluation/cell.py``)."""
    return {name: read_source(path) for name, path in _python_files(str(folder), "")}


def read_source(path: str | Path) -> SourceFile:
    """Return a file as it is now."""
    # Plain system calls: this happens in every `import mloml`, for every file of the package.
    descriptor = os.open(path, os.O_RDONLY)
    try:
        status = os.fstat(descriptor)
        parts = [os.read(descriptor, status.st_size + 1)]
        while parts[-1]:
            parts.append(os.read(descriptor, 1 << 16))
        return SourceFile(mark_of(status), b"".join(parts))
    finally:
        os.close(descriptor)


def mark_of(status: os.stat_result) -> Mark:
    """Return what changes whenever a file is written or replaced."""
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _python_files(folder: str, prefix: str) -> Iterator[tuple[str, str]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(".py"):
                yield prefix + entry.name, entry.path
            elif entry.is_dir() and entry.name != "__pycache__":
                yield from _python_files(entry.path, f"{prefix}{entry.name}/")


SOURCES = read_sources(PACKAGE)
"""The package as imported by this process."""
