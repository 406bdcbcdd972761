"""The search for reference cycles, kept away from records: it took most of the time, and they have none."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_at_rest() -> Iterator[None]:
    """Pause the search for cycles; what there is by then is passed over until :func:`collector_as_usual`."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if was_enabled:
            gc.enable()


def collector_as_usual() -> None:
    """Let the collector visit everything again."""
    gc.unfreeze()
