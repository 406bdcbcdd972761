"""Kernels that only other kernels call are compiled for linking: no way in from Python, no machine code.

numba makes both for every function, as if each were called by itself, which takes half the time of a first
start. What is left out here is never part of the function that Python calls.

numba also optimises every function by itself, and then once more in each function that it is linked into.
Functions whose sums keep their order are left as they are until the last of these: the numbers are the same,
and the code comes out faster. Where sums may be reordered, their order depends on it: nothing is changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from numba.core.cpu import CPUContext

NO_WAY_IN = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}

_linked_only: dict[tuple[str, str], bool] = {}
"""By name: whether the function's sums may be reordered."""

_internals: dict[tuple[str, ...], dict[Any, Any]] = {}
"""By freedom of sums: numba's internal functions that were compiled with it."""


class Linked:
    """Stands for a function without machine code, where numba wants something to look its parts up by."""


@contextmanager
def inner_kernels_linked_only(context: Any) -> Iterator[None]:
    """Let numba make no machine code of the functions that are :func:`compiled_for_linking` meanwhile."""
    context.get_executable = partial(_get_executable, context)
    try:
        yield
    finally:
        del context.get_executable


@contextmanager
def compiled_for_linking(dispatcher: Any) -> Iterator[None]:
    """Compile a function for its callers only; numba's compiler lock must be held."""
    options, function = dispatcher.targetoptions, dispatcher.py_func
    name = (function.__module__, function.__qualname__)
    before = options.copy()
    options.update(NO_WAY_IN)
    _linked_only[name] = bool(options.get("fastmath"))
    try:
        yield
    finally:
        options.clear()
        options.update(before)
        _linked_only.pop(name, None)


@contextmanager
def internals_of_its_kind(dispatcher: Any) -> Iterator[None]:
    """Let numba share its internal functions only among kernels whose sums have the same freedom.

    numba compiles them, such as the making of an array, with the options of the first kernel that needs them
    and keeps them for all: the last bits of a kernel then depended on what was compiled before it.
    """
    context, fastmath = dispatcher.targetctx, dispatcher.targetoptions.get("fastmath") or ()
    before = context.cached_internal_func
    context.cached_internal_func = _internals.setdefault(tuple(sorted(fastmath)), {})
    try:
        yield
    finally:
        context.cached_internal_func = before


def _get_executable(context: Any, library: Any, function: Any, environment: Any) -> Any:
    if (function.modname, function.qualname) not in _linked_only:
        return CPUContext.get_executable(context, library, function, environment)
    library._finalize_final_module = partial(_finalise_for_linking, library)
    if not _linked_only[function.modname, function.qualname]:
        library._optimize_final_module = _optimise_later
    return Linked()


def _finalise_for_linking(library: Any) -> None:
    library._finalize_dynamic_globals()
    library._finalized = True


def _optimise_later() -> None:
    """Do nothing now: what a function is linked into is optimised as a whole."""


def set_environments(result: Any) -> None:
    """Give linked functions what numba would have given to their machine code."""
    for environment in result._find_referenced_environments():
        result.library.codegen.set_env(environment.env_name, environment)
