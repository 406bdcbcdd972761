"""ML-CC's other reading compiled: large margins between all rows inside each cluster."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mloml.kernels.compiled import kernel
from mloml.kernels.descent.lbfgs import EVALUATE, Memory, advance
from mloml.kernels.descent.margins import value_and_gradient

Array = NDArray[np.float64]
Index = NDArray[np.intp]


class Clusters(NamedTuple):
    """Rows sorted by cluster, with the room one evaluation needs."""

    X: Array
    XT: Array
    starts: Index  # starts[c]:starts[c + 1] are the rows of cluster c
    codes: Index
    Z: Array
    Y: Array
    weights: Array
    nothing: Array  # zeros
    H: Array
    S: Array


@kernel
def cluster_objective(A: Array, mu: float, p: Clusters, gradient: Array) -> float:
    """Return the sum of pulls and hinges over all triples inside each cluster, and its gradient."""
    np.dot(p.X, A.T, p.Z)
    p.weights[:] = 0.0
    p.Y[:] = 0.0
    value = cluster_pass(p.Z, p.X, p.starts, p.codes, mu, p.weights, p.Y)
    for i in range(p.X.shape[0]):
        for a in range(p.X.shape[1]):
            p.Y[i, a] = 0.5 * p.weights[i] * p.X[i, a] - p.Y[i, a]
    np.dot(p.XT, p.Y, p.H)
    value_and_gradient(A, 1.0, p.nothing, p.H, 0.0, p.S, gradient)
    return value


@kernel
def cluster_descent(
    A: Array, mu: float, p: Clusters, memory: Memory, tol: float, max_iter: int, gradient: Array
) -> int:
    """Minimise :func:`cluster_objective` from A, in place; return how it ended, see ``lbfgs``."""
    x, slopes = A.reshape(A.size), gradient.reshape(A.size)
    status = EVALUATE
    while status == EVALUATE:
        status = advance(x, cluster_objective(A, mu, p, gradient), slopes, memory, tol, max_iter)
    return status


@kernel
def cluster_pass(
    Z: Array, X: Array, starts: Index, codes: Index, mu: float, weights: Array, cross: Array
) -> float:
    """Sum pulls and hinges over all triples inside each cluster; rows are sorted by cluster.

    Adds the weights V of pairs, in ``Σ V_ij (xi - xj)(xi - xj)'``, to ``weights`` (sums over a row and a
    column of V) and to ``cross_i = Σ_j V_ij x_j``; returns the objective. The triples of an anchor are
    counted by running through its sorted distances, without visiting each.
    """
    n, d = Z.shape
    D, same, other = np.empty(n), np.empty(n, np.intp), np.empty(n, np.intp)
    value = 0.0
    for c in range(starts.size - 1):
        for i in range(starts[c], starts[c + 1]):
            n_same = n_other = 0
            for j in range(starts[c], starts[c + 1]):
                if j == i:
                    continue
                s = 0.0
                for a in range(d):
                    s += (Z[i, a] - Z[j, a]) ** 2
                D[j] = s
                if codes[j] == codes[i]:
                    same[n_same] = j
                    n_same += 1
                else:
                    other[n_other] = j
                    n_other += 1
            targets = same[:n_same][np.argsort(D[same[:n_same]])]
            impostors = other[:n_other][np.argsort(D[other[:n_other]])]

            inside, within = 0, 0.0  # impostors inside the margin of a target, and their summed distances
            for j in targets:
                while inside < n_other and D[impostors[inside]] < 1.0 + D[j]:
                    within += D[impostors[inside]]
                    inside += 1
                value += (1.0 - mu) * D[j] + mu * (inside * (1.0 + D[j]) - within)
                _add_pair(X, i, j, (1.0 - mu) + mu * inside, weights, cross)
            satisfied = 0  # targets whose margin excludes the impostor
            for j in impostors:
                while satisfied < n_same and 1.0 + D[targets[satisfied]] <= D[j]:
                    satisfied += 1
                if satisfied == n_same:
                    break
                _add_pair(X, i, j, -mu * (n_same - satisfied), weights, cross)
    return value


@kernel
def _add_pair(X: Array, i: int, j: int, V: float, weights: Array, cross: Array) -> None:
    weights[i] += V
    weights[j] += V
    for a in range(X.shape[1]):
        cross[i, a] += V * X[j, a]
