"""A progress bar for downloads long enough to wonder about."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_log = logging.getLogger(__name__)
_LARGE = 4 * 2**20


@contextmanager
def progress(name: str, total: int) -> Iterator[Callable[[int], None]]:
    """Give a function to call with the number of bytes that have arrived."""
    if total < _LARGE:
        yield lambda size: None
        return
    if not sys.stderr.isatty():
        _log.info("fetching %s, %d MB", name, total // 2**20)
        yield lambda size: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(name, total=total)
        yield lambda size: bar.update(task, advance=size)
