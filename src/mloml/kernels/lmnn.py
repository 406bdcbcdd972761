"""LMNN's objective compiled, and the whole descent over it.

A visit of all pairs (see ``impostors``) also lists those nearer than ``REACH`` times their margins. When all
rows have since grown by a factor c and moved by δ beside that, no two are nearer than ``c √D - δ_i - δ_l``:
while that excludes all pairs that are not listed, the listed ones are enough.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mloml.kernels.compiled import kernel
from mloml.kernels.descent.lbfgs import EVALUATE, LAST, Memory, advance
from mloml.kernels.descent.margins import value_and_gradient
from mloml.kernels.lmnn_all import visit_all
from mloml.kernels.lmnn_pairs import Triples, visit_listed
from mloml.kernels.lmnn_rows import add_targets, list_is_complete, set_thresholds

Array = NDArray[np.float64]
DENSE, SPARSE = 1, 2  # state: evaluations by all pairs and by listed ones


@kernel
def objective(A: Array, mu: float, p: Triples, gradient: Array) -> float:
    """Return LMNN's objective and fill its gradient with respect to A."""
    d = A.shape[0]
    for a in range(d):
        for b in range(d):
            p.AT[b, a] = A[a, b]
    np.dot(p.X, p.AT, p.Z)
    set_thresholds(p)
    if list_is_complete(p):
        p.state[SPARSE] += 1
        visit_listed(p)
    else:
        p.state[DENSE] += 1
        visit_all(p)
    active = add_targets(p)
    np.dot(p.X.T, p.Y, p.padded_H)
    for a in range(d):
        for b in range(d):
            p.H[a, b] = p.padded_H[a, b]
    return value_and_gradient(A, mu, p.pull, p.H, active, p.S, gradient)


@kernel
def descent(
    A: Array, mu: float, p: Triples, memory: Memory, tol: float, max_iter: int, gradient: Array
) -> int:
    """Minimise :func:`objective` from A, in place; return how it ended, see ``lbfgs``.

    The last evaluation is at the end, so that what it leaves in ``p`` is of there.
    """
    x, slopes = A.reshape(A.size), gradient.reshape(A.size)
    status, value = EVALUATE, 0.0
    while status == EVALUATE:
        value = objective(A, mu, p, gradient)
        status = advance(x, value, slopes, memory, tol, max_iter)
    if value != memory.numbers[LAST]:  # it went back to an earlier point
        objective(A, mu, p, gradient)
    return status
