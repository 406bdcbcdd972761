"""The one way kernels are compiled: once per machine, without the GIL, with safe floating-point freedom.

Code is kept for the functions that Python calls, each with all that it calls linked into it, see
:mod:`mloml.kernels.code_cache`. Functions that are only called by other kernels are compiled with those and
not kept by themselves.

The same numbers must come from code that was compiled just now and from code that was kept. A helper has a
copy in the kept code of each function that calls it, each with its sums in an order of its own, and the copy
that a process meets first would serve all. So helpers are always inlined: every function brings its own.
"""

from __future__ import annotations

import itertools
import os
import pickle
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from numba.core import compiler, config, serialize, sigutils
from numba.core.bytecode import FunctionIdentity
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher

from mloml.kernels.code_cache import PACKAGE, Family, say_once
from mloml.kernels.first_start import no_garbage_collection, operators_typed_once
from mloml.kernels.linking import (
    compiled_for_linking,
    inner_kernels_linked_only,
    internals_of_its_kind,
    set_environments,
)

FASTMATH = {"reassoc", "contract", "arcp", "nsz"}
"""Sums may be reordered and fused; NaN and inf keep their meaning, so that divergence can be seen."""

CHECK = "mloml.checks.check"
"""Checks each kernel at its first use; by name, since it knows all kernels and no kernel depends on it."""


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function for use in an update loop.

    >>> @kernel
    ... def twice(x):
    ...     return 2 * x
    >>> twice(3.0)
    6.0
    """
    return compiled(function, error_model="numpy", fastmath=FASTMATH, forceinline=True)


def compiled(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    """Compile a function with numba's options; its code is kept if it belongs to this package."""
    if getattr(config, "DISABLE_JIT", False):
        return function
    first = _take_name(function)
    made = Kernel(function, targetoptions={"nopython": True, "boundscheck": None, "nogil": True, **options})
    source = Path(function.__code__.co_filename)
    if first and source.is_relative_to(PACKAGE) and source.is_file():
        made.family = _family(source)
    return made


_Dispatcher: Any = CPUDispatcher


class Kernel(_Dispatcher):
    """A compiled function.

    Attributes
    ----------
    family : Family or None
        Where its code is kept; None when it is not, because it was typed at a prompt or defined anew.
    """

    family: Family | None = None

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._for_others: set[tuple[Any, ...]] = set()

    def compile(self, sig: Any) -> Any:
        """Return the code for a signature: what this process has, what was kept, or compiled now."""
        with global_compiler_lock:
            args = tuple(sigutils.normalize_signature(sig)[0])
            if _depth:
                return self._compile_for_others(sig, args)
            if args in self._for_others:  # so far it was only part of other functions
                self._for_others.discard(args)
                self.overloads.pop(args, None)
            if args in self.overloads or self.family is None:
                return self._compile_now(sig, args)
            name = f"{self.py_func.__qualname__}{args}"
            if not self._load(name, self.family):
                with self.family.lock(self._processor) as may_keep:
                    if not self._load(name, self.family):  # nobody has compiled it meanwhile
                        say_once("compiling, once on this machine ..." if may_keep else "compiling ...")
                        self._compile_now(sig, args)
                        require_right(self, args)
                        if may_keep and not _doubtful:
                            self._keep(name, args, self.family)
                        return self.overloads[args].entry_point
            require_right(self, args)
            return self.overloads[args].entry_point

    @property
    def name(self) -> str:
        """Family and function, such as ``opml.opml_scan``."""
        family = self.family.name if self.family else self.py_func.__module__
        return f"{family}.{self.py_func.__qualname__}"

    def discard(self) -> None:
        """Throw away the code that this process has and what was kept of the whole family."""
        global _doubtful
        _doubtful = True
        self._reset_overloads()
        self.overloads.clear()
        self._for_others.clear()
        if self.family is not None:
            self.family.discard(self._processor)

    @property
    def _processor(self) -> tuple[str, ...]:
        return tuple(map(str, self.targetctx.codegen().magic_tuple()))

    def _compile_for_others(self, sig: Any, args: tuple[Any, ...]) -> Any:
        if args not in self.overloads:
            self._for_others.add(args)
            with compiled_for_linking(self), internals_of_its_kind(self):
                return super().compile(sig)
        return super().compile(sig)

    def add_overload(self, result: Any) -> None:
        """Take in compiled code; Python does not get to see what is for other kernels only."""
        args = tuple(result.signature.args)
        if args in self._for_others:
            self.overloads[args] = result
        else:
            super().add_overload(result)

    def _compile_now(self, sig: Any, args: tuple[Any, ...]) -> Any:
        global _doubtful
        if args in self.overloads:
            return self.overloads[args].entry_point
        try:
            with (
                _one_level_deeper(),
                inner_kernels_linked_only(self.targetctx),
                no_garbage_collection(),
                operators_typed_once(self.typingctx),
                internals_of_its_kind(self),
            ):
                entry_point = super().compile(sig)
        except Exception:
            raise
        except BaseException:  # Ctrl-C: who knows in what state numba is now
            _doubtful = True
            raise
        set_environments(self.overloads[args])
        return entry_point

    def _load(self, name: str, family: Family) -> bool:
        self.targetctx.refresh()
        code = family.find(name, self._processor)
        if code is None:
            return False
        result = compiler.CompileResult._rebuild(self.targetctx, *pickle.loads(code))
        self.targetctx.insert_user_function(result.entry_point, result.fndesc, [result.library])
        self.add_overload(result)
        return True

    def _keep(self, name: str, args: tuple[Any, ...], family: Family) -> None:
        result = self.overloads[args]
        if not result.lifted and not result.library.has_dynamic_globals:
            family.keep(name, serialize.dumps(result._reduce()), self._processor)


_depth = 0
"""How many kernels are being compiled, one for the sake of the other; numba's lock guards it."""

_doubtful = False
"""Whether a compilation was broken off or came out wrong in this process: nothing is kept after that."""


@contextmanager
def _one_level_deeper() -> Iterator[None]:
    global _depth
    _depth += 1
    try:
        yield
    finally:
        _depth -= 1


def require_right(made: Kernel, args: tuple[Any, ...]) -> None:
    """Compare a kernel that was just loaded or compiled with plain NumPy, where there is a problem for it."""
    import_module(CHECK).check_new(made, args)


@cache
def _family(source: Path) -> Family:
    return Family(source)


_names: dict[str, list[Any]] = {}


def _take_name(function: Callable[..., Any]) -> bool:
    """Say whether a function is the first of its name; two different ones of one name are refused.

    numba tells functions of one name apart by a number that differs from process to process. Where code from
    several processes came together, one would be called in place of the other.
    """
    name = f"{function.__module__}.{function.__qualname__}"
    closure = [cell.cell_contents for cell in function.__closure__ or ()]
    if _names.setdefault(name, closure) is closure:
        return True
    if _names[name] != closure:
        raise ValueError(f"two kernels are called {name}: give each a __qualname__ of its own")
    return False


def _number_apart() -> None:
    """Let numba number functions from where no other process does: also its own share names."""
    FunctionIdentity._unique_ids = itertools.count(secrets.randbits(60))


_number_apart()
os.register_at_fork(after_in_child=_number_apart)
