"""Every kernel solves a tiny problem before a process believes it, and is compared with plain NumPy.

It takes milliseconds. A kernel that Python calls is checked when it has just been loaded or compiled, and
before it is kept; a process that computes cells also checks those it is going to use as it finds them.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Any

import numpy as np
from numba import typeof

from mloml.checks.problems import PROBLEMS, Problem
from mloml.errors import KernelError

RELATIVE, ABSOLUTE = 1e-6, 1e-8
"""How far compiled and plain numbers may lie apart: far beyond rounding, far below a wrong formula."""
SINGLE = (1e-5, 1e-6)
"""The same for numbers in single precision."""

passed: set[str] = set()
"""Names of the problems that this process has solved."""


def check_new(kernel: Any, args: tuple[Any, ...]) -> None:
    """Check a kernel for the signature that was just loaded or compiled; raise if it is wrong."""
    for problem in PROBLEMS:
        if problem.kernel == kernel.name and tuple(map(typeof, problem.arguments())) == args:
            _require(problem, kernel)


def check_kernels(names: Iterable[str]) -> None:
    """Check kernels as they stand in their modules now, each once per process; raise if one is wrong.

    >>> check_kernels(["oasis.oasis_scan"])
    """
    for problem in PROBLEMS:
        if problem.name in names and problem.name not in _found_right:
            module, function = problem.kernel.rsplit(".", 1)
            _require(problem, getattr(import_module(f"mloml.kernels.{module}"), function))
            _found_right.add(problem.name)


_found_right: set[str] = set()


def _require(problem: Problem, function: Any) -> None:
    if solves(problem, function):
        passed.add(problem.name)
        return
    if hasattr(function, "discard"):
        function.discard()
    raise KernelError(
        f"the compiled code of {problem.kernel} computes something else than its formulas; what was kept of "
        "it is thrown away: restart Python, and it is compiled anew"
    )


def solves(problem: Problem, function: Any) -> bool:
    """Say whether a function gives what the plain one gives, up to rounding."""
    if problem.judge is not None:
        arguments = problem.arguments()
        with np.errstate(all="ignore"):
            return problem.judge(arguments, function(*arguments))
    plain = getattr(import_module(problem.reference), problem.kernel.rsplit(".", 1)[1])
    given, expected = problem.arguments(), problem.arguments()
    with np.errstate(all="ignore"):
        results = function(*given), plain(*problem.plainly(*expected))
    pairs = zip(problem.compared(*given), problem.compared(*expected), strict=True)
    return all(_agree(a, b) for a, b in (results, *pairs))


def _agree(a: Any, b: Any) -> bool:
    if a is None or b is None:
        return a is b
    one, other = np.asarray(a), np.asarray(b)
    bounds = SINGLE if one.dtype == np.float32 else (RELATIVE, ABSOLUTE)
    return one.shape == other.shape and np.allclose(one, other, *bounds, equal_nan=True)
