"""A descent over the factor of a metric, by L-BFGS compiled together with its objective."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mloml.kernels.descent.lbfgs import CONVERGED, LAST, START, STEPS, new_memory

from .base import Array


@dataclass(frozen=True)
class Descent:
    """Where a descent ended, the gradient there, its objectives, its steps, and whether ``tol`` was met."""

    L: Array
    gradient: Array
    start: float
    objective: float
    n_iter: int
    converged: bool


def descend(
    minimise: Callable[..., int], L: Array, mu: float, room: Any, tol: float, max_iter: int
) -> Descent:
    """Minimise from ``L`` by a compiled descent, which knows its objective; ``room`` is what that works on.

    :func:`mloml.kernels.descent.lbfgs.advance` says when it stops.
    """
    A = np.array(L, dtype=np.float64, order="C")
    memory = new_memory(A.size)
    gradient = np.empty_like(A)
    status = minimise(A, float(mu), room, memory, float(tol), max_iter, gradient)
    start, objective = float(memory.numbers[START]), float(memory.numbers[LAST])
    return Descent(A, gradient, start, objective, int(memory.counts[STEPS]), status == CONVERGED)
