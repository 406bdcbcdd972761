"""Compiled passes of ML-CC: Lloyd's k-means, and large margins inside clusters."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mloml.kernels.compiled import kernel

Array = NDArray[np.float64]
Index = NDArray[np.intp]


@kernel
def lloyd(Z: Array, centres: Array, labels: Index, max_iter: int) -> None:
    """Alternate nearest centres (ties: the first) and means, in place, until no row changes its cluster.

    A centre that loses all its rows stays where it is.
    """
    (n, d), k = Z.shape, centres.shape[0]
    sizes = np.empty(k)
    labels[:] = -1
    for _ in range(max_iter):
        changed = False
        for i in range(n):
            best, nearest = np.inf, 0
            for c in range(k):
                D = 0.0
                for a in range(d):
                    D += (Z[i, a] - centres[c, a]) ** 2
                if D < best:  # noqa: SIM300
                    best = D
                    nearest = c
            if labels[i] != nearest:
                labels[i] = nearest
                changed = True
        if not changed:
            return
        sizes[:] = 0.0
        for i in range(n):
            sizes[labels[i]] += 1.0
        for c in range(k):
            if sizes[c] > 0.0:
                centres[c, :] = 0.0
        for i in range(n):
            for a in range(d):
                centres[labels[i], a] += Z[i, a] / sizes[labels[i]]


@kernel
def centre_pass(
    Z: Array,
    C: Array,
    centres: Array,
    labels: Index,
    codes: Index,
    centre_codes: Index,
    mu: float,
    row_weights: Array,
    centre_weights: Array,
    cross: Array,
) -> float:
    """Sum pulls to the own centre and hinges against centres of other classes.

    Z and C are the mapped rows and centres. Adds the weights V in ``Σ V_ik (xi - m_k)(xi - m_k)'`` to the
    sums over rows and columns of V and to ``cross_i = Σ_k V_ik m_k``; returns the objective.
    """
    (n, d), k = Z.shape, C.shape[0]
    D = np.empty(k)
    value = 0.0
    for i in range(n):
        for c in range(k):
            s = 0.0
            for a in range(d):
                s += (Z[i, a] - C[c, a]) ** 2
            D[c] = s
        own = D[labels[i]]
        active, total = 0, 0.0
        for c in range(k):
            hinge = 1.0 + own - D[c]
            if hinge > 0.0 and centre_codes[c] != codes[i]:
                active += 1
                total += hinge
                centre_weights[c] -= mu
                for a in range(d):
                    cross[i, a] -= mu * centres[c, a]
        V = (1.0 - mu) + mu * active
        value += (1.0 - mu) * own + mu * total
        row_weights[i] += V - mu * active
        centre_weights[labels[i]] += V
        for a in range(d):
            cross[i, a] += V * centres[labels[i], a]
    return value


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
