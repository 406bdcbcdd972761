"""What large-margin objectives over a factor A share: pulls and pushes that are quadratic in A.

With H such that ``H + H'`` is the sum over the active hinges of what their distances differ by, and P the sum
of the pulled differences' squares, the objective is ``(1 - μ) <P, A'A> + μ (<H + H', A'A> + the number of
active hinges)``; its gradient is ``2 A S`` with ``S = (1 - μ) P + μ (H + H')``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mloml.kernels.compiled import kernel

Array = NDArray[np.float64]


@kernel
def value_and_gradient(
    A: Array, mu: float, pull: Array, H: Array, n_active: float, S: Array, gradient: Array
) -> float:
    """Return the objective and fill ``gradient``; S is room for the matrix of the same name."""
    d = A.shape[1]
    for a in range(d):
        for b in range(d):
            S[a, b] = (1.0 - mu) * pull[a, b] + mu * (H[a, b] + H[b, a])
    np.dot(A, S, gradient)
    value = 0.0
    for a in range(A.shape[0]):
        for b in range(d):
            value += gradient[a, b] * A[a, b]
            gradient[a, b] *= 2.0
    return value + mu * n_active
