"""What a neighbour search of minutes says while it runs: how long it will take, and how far it is."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TextIO

LONG = 2e11
"""Multiplications from which on a search says what it costs: some ten seconds of one core."""
FIRST_SECONDS, LINE_SECONDS = 2.0, 30.0


def told(
    blocks: Sequence[int],
    work: float,
    stream: TextIO | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[int]:
    """Go through the blocks of a search; if it is long, say so after two seconds and every half minute.

    Parameters
    ----------
    blocks : sequence of int
        What is gone through; all blocks take about the same time.
    work : float
        Number of multiplications of the whole search.
    stream : text stream, default=sys.stderr
    clock : callable
        Returns seconds.

    >>> list(told(range(3), work=10))
    [0, 1, 2]
    """
    if work < LONG:
        yield from blocks
        return
    start = clock()
    due = start + FIRST_SECONDS
    for done, block in enumerate(blocks):
        now = clock()
        if done and now >= due:
            left = (now - start) * (len(blocks) - done) / done
            line = f"mloml: neighbour search {100 * done // len(blocks)} %, about {_minutes(left)} left"
            print(line, file=stream or sys.stderr, flush=True)
            due = now + LINE_SECONDS
        yield block


def _minutes(seconds: float) -> str:
    """Return minutes and seconds.

    >>> _minutes(125.4)
    '2:05'
    """
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"
