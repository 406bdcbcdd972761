"""Two things that numba does over and over while it compiles, and need not: a first start takes less time.

Most of a first start is numba's own Python, not LLVM. Python's search for circular garbage goes over all that
numba holds, again and again. And the type of ``a + b`` is looked for among all meanings of the plus sign at
each place where it stands, although nearly all of them add two integers.
"""

from __future__ import annotations

import gc
import operator
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import BuiltinFunctionType
from typing import Any

from numba.core import types

_SIGNS = (
    *(operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod),
    *(operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.neg),
    *(operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge),
)
OPERATORS = frozenset(_SIGNS) | {bool}
"""Their meaning for numbers is fixed: it does not depend on the function they stand in, or on its options."""


@contextmanager
def no_garbage_collection() -> Iterator[None]:
    """Let Python look for no circular garbage meanwhile; it takes some tens of megabytes more."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


@contextmanager
def operators_typed_once(typing: Any) -> Iterator[None]:
    """Let numba remember what operators on numbers mean; its compiler lock must be held."""
    typing.resolve_function_type = _typed_once(typing, typing.resolve_function_type)
    try:
        yield
    finally:
        del typing.resolve_function_type


def _typed_once(typing: Any, resolve: Callable[..., Any]) -> Callable[..., Any]:
    """Return numba's search for the meaning of a call, with a memory for operators on numbers."""
    known: dict[tuple[Any, ...], tuple[Any, Any]] = {}

    def resolve_function_type(func: Any, args: Any, kws: Any) -> Any:
        sign = func.typing_key if isinstance(func, types.Function) else func
        if kws or not (_is_operator(sign) and all(map(_is_number, args))):
            return resolve(func, args, kws)
        # numba makes a new object when meanings are added, which has to see the call once itself.
        meanings = func if func is not sign else typing._lookup_global(func)
        found = known.get((sign, *args))
        if found is None or found[0] is not meanings:
            found = known[(sign, *args)] = meanings, resolve(func, args, kws)
        return found[1]

    return resolve_function_type


def _is_operator(sign: Any) -> bool:
    return isinstance(sign, (BuiltinFunctionType, type)) and sign in OPERATORS


def _is_number(argument: Any) -> bool:
    return isinstance(argument, (types.Number, types.Boolean))
