"""Minimise an objective over the factor L by L-BFGS, with a stopping rule that looks back several steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import OptimizeResult, minimize

from .base import Array

LOOK_BACK = 5
MEMORY = 20


@dataclass(frozen=True)
class Descent:
    """Where a descent ended, the objective at its start and end, its steps, and whether ``tol`` was met."""

    L: Array
    start: float
    objective: float
    n_iter: int
    converged: bool


Objective = Callable[[Array], tuple[float, Array]]


def descend(objective: Objective, L: Array, tol: float, max_iter: int) -> Descent:
    """Minimise ``objective(L) -> (value, gradient)``, which is never negative, from ``L``.

    Stops when the last five steps together lowered the value by at most ``tol`` times the value, or when it
    is below ``tol`` times the value at the start: an objective that can be zero never meets a relative rule.
    Hinges have kinks, where the line search may find no descent along the quasi-Newton direction; the search
    then starts again from the same point without its memory, and a point where that gains nothing is final.
    """
    trace = [objective(L)[0]]
    while len(trace) <= max_iter:
        before = trace[-1]
        L, stopped_by_rule = _run(objective, L, trace, tol, max_iter)
        if stopped_by_rule or before - trace[-1] <= tol * trace[-1]:
            return Descent(L, trace[0], trace[-1], len(trace) - 1, True)
    return Descent(L, trace[0], trace[-1], len(trace) - 1, False)


def _run(objective: Objective, L: Array, trace: list[float], tol: float, max_iter: int) -> tuple[Array, bool]:
    """Run L-BFGS once from ``L``; append the value of each accepted step to ``trace``."""
    start = len(trace) - 1
    done = False

    def value_and_gradient(flat: Array) -> tuple[float, Array]:
        value, gradient = objective(flat.reshape(L.shape))
        return value, gradient.ravel()

    def after_step(intermediate_result: OptimizeResult) -> None:
        nonlocal done
        trace.append(float(intermediate_result.fun))
        done = trace[-1] <= tol * trace[0]
        if len(trace) - 1 - start >= LOOK_BACK:
            done = done or trace[-1 - LOOK_BACK] - trace[-1] <= tol * trace[-1]
        if done or len(trace) > max_iter:
            raise StopIteration

    options: Any = {"maxiter": max_iter, "maxfun": 20 * max_iter, "maxcor": MEMORY, "ftol": 0.0, "gtol": 0.0}
    result = minimize(
        value_and_gradient, L.ravel(), jac=True, method="L-BFGS-B", callback=after_step, options=options
    )
    return np.asarray(result.x, dtype=np.float64).reshape(L.shape), done
