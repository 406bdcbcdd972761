"""Nearest rows of the same class, by differences, so that exact ties are resolved by row number."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mloml.kernels.compiled import kernel


@kernel
def nearest_of_class(X: NDArray[np.float64], starts: NDArray[np.intp], out: NDArray[np.intp]) -> None:
    """Fill ``out[i]`` with the nearest other rows of row i's class, nearest first; -1 where there are none.

    Rows are sorted by class; ``starts[c]:starts[c + 1]`` are those of class c.
    """
    d, K = X.shape[1], out.shape[1]
    best = np.empty(K)
    for c in range(starts.size - 1):
        for i in range(starts[c], starts[c + 1]):
            best[:] = np.inf
            out[i, :] = -1
            for j in range(starts[c], starts[c + 1]):
                if j == i:
                    continue
                D = 0.0
                for a in range(d):
                    D += (X[i, a] - X[j, a]) ** 2
                if best[K - 1] > D:
                    t = K - 1
                    while t > 0 and best[t - 1] > D:
                        best[t] = best[t - 1]
                        out[i, t] = out[i, t - 1]
                        t -= 1
                    best[t] = D
                    out[i, t] = j
