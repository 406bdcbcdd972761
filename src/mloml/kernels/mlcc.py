"""ML-CC compiled: Lloyd's k-means, and the descent over margins between centres of clusters."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mloml.kernels.compiled import kernel
from mloml.kernels.descent.lbfgs import EVALUATE, Memory, advance
from mloml.kernels.descent.margins import value_and_gradient
from mloml.kernels.linalg.passes import dot

Array = NDArray[np.float64]
Index = NDArray[np.intp]


@kernel
def lloyd_in_groups(
    Z: Array, group_starts: Index, centres: Array, centre_starts: Index, labels: Index, max_iter: int
) -> None:
    """Run k-means in each group of rows; number the clusters through, empty ones left out.

    ``centres`` are moved; those of group g are ``centre_starts[g]:centre_starts[g + 1]``.
    """
    numbers = np.empty(centres.shape[0], np.intp)
    used = 0
    for g in range(group_starts.size - 1):
        first, last = group_starts[g], group_starts[g + 1]
        own = labels[first:last]
        lloyd(Z[first:last], centres[centre_starts[g] : centre_starts[g + 1]], own, max_iter)
        numbers[:] = -1
        for i in range(last - first):
            numbers[own[i]] = 0
        for c in range(centre_starts[g + 1] - centre_starts[g]):
            if numbers[c] == 0:
                numbers[c] = used
                used += 1
        for i in range(last - first):
            own[i] = numbers[own[i]]


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


class Centres(NamedTuple):
    """Rows sorted by cluster and the clusters' means, with the room one evaluation needs."""

    X: Array
    XT: Array
    M: Array  # centres
    MT: Array
    pull: Array  # Σ (xi - m⁺)(xi - m⁺)'
    starts: Index  # starts[c]:starts[c + 1] are the rows of cluster c
    class_rows: Index  # class_rows[c, 0]:class_rows[c, 1] are the rows of the same class as cluster c
    CT: Array
    BT: Array
    V: Array
    T: Array
    H: Array
    S: Array
    bases: Array
    tallies: Array
    lengths: Array
    surplus: Array


@kernel
def centre_objective(A: Array, mu: float, p: Centres, gradient: Array) -> float:
    """Return the sum of pulls to the own centre and hinges against centres of other classes.

    ``gradient`` is with respect to A. In ``1 + D(x, m⁺) - D(x, m)`` the term ``x'A'Ax`` cancels: all that an
    evaluation needs of the rows are their products with the vectors ``A'A m``. The weights of the gradient

        Σ_active (x - m⁺)(x - m⁺)' - (x - m)(x - m)'  =  M'T + T'M - M' diag(N) M

    are sums of rows, ``T_c = Σ x`` and counts ``N_c``, over the rows that centre c repels, minus those over
    the rows that it attracts (each as often as the row has active hinges).
    """
    k, n = p.V.shape
    np.dot(A, p.MT, p.CT)
    np.dot(p.CT.T, A, p.BT)
    np.dot(p.BT, p.XT, p.V)
    for c in range(k):
        p.lengths[c] = dot(p.M[c], p.BT[c])
        for b in range(p.starts[c], p.starts[c + 1]):
            p.bases[b] = 1.0 + p.lengths[c] - 2.0 * p.V[c, b]
            p.tallies[b] = 0.0
    total = 0.0
    for c in range(k):
        first, last = p.class_rows[c, 0], p.class_rows[c, 1]
        active = _active(p.V[c], p.lengths[c], p.bases, p.tallies, 0, first)
        active += _active(p.V[c], p.lengths[c], p.bases, p.tallies, last, n)
        for b in range(first, last):
            p.V[c, b] = 0.0
        p.surplus[c] = active
        total += active
    for c in range(k):
        for b in range(p.starts[c], p.starts[c + 1]):
            p.V[c, b] = -p.tallies[b]
            p.surplus[c] -= p.tallies[b]
    np.dot(p.V, p.XT.T, p.T)
    for c in range(k):
        for a in range(p.M.shape[1]):
            p.T[c, a] -= 0.5 * p.surplus[c] * p.M[c, a]
    np.dot(p.MT, p.T, p.H)
    return value_and_gradient(A, mu, p.pull, p.H, total, p.S, gradient)


@kernel
def _active(V: Array, length: float, bases: Array, tallies: Array, first: int, last: int) -> float:
    """Put 1 for each active hinge and 0 for the others in place of the products; return their number."""
    total = 0.0
    for b in range(first, last):
        on = 1.0 if bases[b] + 2.0 * V[b] - length > 0.0 else 0.0
        V[b] = on
        tallies[b] += on
        total += on
    return total


@kernel
def centre_descent(
    A: Array, mu: float, p: Centres, memory: Memory, tol: float, max_iter: int, gradient: Array
) -> int:
    """Minimise :func:`centre_objective` from A, in place; return how it ended, see ``lbfgs``."""
    x, slopes = A.reshape(A.size), gradient.reshape(A.size)
    status = EVALUATE
    while status == EVALUATE:
        status = advance(x, centre_objective(A, mu, p, gradient), slopes, memory, tol, max_iter)
    return status
