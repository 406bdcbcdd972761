"""Arrays that came back from a file or another process, perhaps as a view that nobody may write to."""

from __future__ import annotations

from typing import Any

import numpy as np

from .sparse_rows import SparseRows


def make_writable(holder: Any) -> None:
    """Copy all arrays of an object, and of our objects in it, that cannot be written to.

    joblib hands large arrays to its workers that way, and ``joblib.load(path, mmap_mode="r")`` all of them.
    """
    for name, value in list(vars(holder).items()):
        if isinstance(value, np.ndarray) and not value.flags.writeable:
            vars(holder)[name] = np.array(value)
        elif _is_ours(value):
            make_writable(value)


def _is_ours(value: Any) -> bool:
    """Say whether it is an object of this package with attributes; sparse rows are never written to."""
    own = type(value).__module__.split(".")[0] == __name__.split(".")[0]
    return own and hasattr(value, "__dict__") and not isinstance(value, SparseRows)
