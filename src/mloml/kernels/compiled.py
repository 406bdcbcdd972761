"""The one way kernels are compiled: once per machine, without the GIL, with safe floating-point freedom.

numba keeps compiled code on disk and compiles anew when the *file* of a function changes. It does not look
at files that the function calls into, so a mended helper could leave old code running elsewhere. Here the
cache's stamp covers the function's file and every kernel file it imports, directly or not.

The same numbers must come from code that was compiled just now and from code that was kept. A helper has a
copy in the kept code of each function that calls it, each with its sums in an order of its own, and the copy
that a process meets first would serve all. So helpers are always inlined: every function brings its own.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from numba import njit

FASTMATH = {"reassoc", "contract", "arcp", "nsz"}
"""Sums may be reordered and fused; NaN and inf keep their meaning, so that divergence can be seen."""


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function for use in an update loop.

    >>> @kernel
    ... def twice(x):
    ...     return 2 * x
    >>> twice(3.0)
    6.0
    """
    source = Path(function.__code__.co_filename)
    if not source.is_file():  # typed at a prompt: nothing to keep
        return njit(nogil=True, error_model="numpy", fastmath=FASTMATH, forceinline=True)(function)
    options: Any = {"cache": True, "nogil": True, "error_model": "numpy", "fastmath": FASTMATH}
    compiled: Any = njit(**options, forceinline=True)(function)
    compiled._cache._cache_file._source_stamp = source_stamp(source)
    return compiled


@cache
def source_stamp(path: Path) -> str:
    """Return a digest of a kernel file and of all kernel files that it imports."""
    digest = hashlib.sha256()
    for file in sorted(_with_imports(path, set())):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _with_imports(path: Path, seen: set[Path]) -> set[Path]:
    seen.add(path)
    for name in re.findall(r"mloml\.kernels\.(\w+)", path.read_text(encoding="utf-8")):
        imported = Path(__file__).with_name(f"{name}.py")
        if imported.is_file() and imported not in seen:
            _with_imports(imported, seen)
    return seen
