"""LMDML: large-margin distance metric learning by single-sample steps that stay positive definite.

After Nguyen, Morell and De Baets (2020) and the MATLAB code they released.
"""

from numbers import Integral, Real
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval

from mloml.arrays import Array, Codes, Index

from .base import MetricLearner
from .batch import ByClass, factor_of, labelled_rows
from .compiled import compiled, exact, exact_entry, ready
from .linalg import invert

SAFETY = 0.9  # share of the largest step that keeps M positive definite
DRIFT = 1e-7  # |M K u - u| / |u| above which K is computed anew
USELESS = 1e-3  # still above this after renewal: M is too near singular for a step
FEW_UPDATES = 0.01  # share of samples updated in an epoch below which learning stops
BLOCK = 128  # samples that are read together; fixed, so that the compiler can vectorise along them
ROUNDING = 1e-9  # far above the errors of h - 2 x'y, as a share of the largest h that the bound allows

# With D_M(x, z) = (x - z)'M(x - z) the objective is
#
#     min  1/n sum_i [1 + D_M(x_i, x_i+) - D_M(x_i, x_i-)]+     over positive definite M with tr M <= B
#
# x_i+ is the farthest of K fixed targets, x_i- the nearest sample of another class, both under the current M.
# A visit to x_i with a positive hinge, u = x_i+ - x_i and v = x_i- - x_i takes the step
#
#     M <- scaling (M + alpha (vv' - uu')),    alpha = min(0.9 alpha_max, rate),    scaling = min(1, B / tr M)
#     alpha_max = 2 / (u'Ku - v'Kv + sqrt((v'Kv - u'Ku)² + 4 (v'Kv u'Ku - (u'Kv)²))),    K = M^-1
#
# At alpha_max M would become singular. K follows by two rank-one updates (Sherman-Morrison).
#
# Every visit searches all samples for x_i-. That takes O(nd) if h_j = x_j'M x_j is kept up to date:
#
#     D_M(x_i, x_j) = h_i + h_j - 2 x_j'y,    y = M x_i
#     h_j <- scaling (h_j + alpha ((v'x_j)² - (u'x_j)²))
#
# These distances have rounding errors. Samples that may be the nearest are measured again by differences,
# with sums in a fixed order, and the first one wins a tie: balance is full of exact ties.


@exact
def quadratic(A: Array, x: Array, out: Array) -> float:
    """Set ``out = A x`` for a symmetric A; return x'A x."""
    d = A.shape[0]
    for b in range(d):
        out[b] = 0.0
    for a in range(d):
        for b in range(d):
            out[b] += x[a] * A[a, b]
    value = 0.0
    for b in range(d):
        value += out[b] * x[b]
    return value


@exact
def distance(M: Array, X: Array, j: int, i: int, out: Array, work: Array) -> float:
    """Set ``out = x_j - x_i``; return D_M(x_i, x_j)."""
    for a in range(X.shape[1]):
        out[a] = X[j, a] - X[i, a]
    return quadratic(M, out, work)


@compiled
def sweep(X: Array, y: Array, u: Array, v: Array, alpha: float, scaling: float, h: Array, D: Array) -> None:
    """Bring h up to the last step (u, v, alpha, scaling); then D_j = h_j - 2 x_j'y.

    Sample j is ``X[j // BLOCK, :, j % BLOCK]``. Features are taken three at a time, so that the sums are read
    and stored less often; zeros fill up the last three.
    """
    xy, xu, xv = np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK)
    for b in range(X.shape[0]):
        for k in range(BLOCK):
            xy[k] = xu[k] = xv[k] = 0.0
        for a in range(0, X.shape[1], 3):
            y0, y1, y2, u0, u1, u2 = y[a], y[a + 1], y[a + 2], u[a], u[a + 1], u[a + 2]
            v0, v1, v2 = v[a], v[a + 1], v[a + 2]
            for k in range(BLOCK):
                x0, x1, x2 = X[b, a, k], X[b, a + 1, k], X[b, a + 2, k]
                xy[k] += y0 * x0 + y1 * x1 + y2 * x2
                xu[k] += u0 * x0 + u1 * x1 + u2 * x2
                xv[k] += v0 * x0 + v1 * x1 + v2 * x2
        for k in range(BLOCK):
            h[b, k] = scaling * (h[b, k] + alpha * (xv[k] * xv[k] - xu[k] * xu[k]))
            D[b, k] = h[b, k] - 2.0 * xy[k]


@exact
def farthest_target(M: Array, X: Array, i: int, targets: Index, u: Array, work: Array) -> float:
    """Set ``u = x_i+ - x_i``; return D_M(x_i, x_i+)."""
    farthest, largest = targets[i, 0], -1.0
    for t in range(targets.shape[1]):
        near = distance(M, X, targets[i, t], i, u, work)
        if near > largest:
            farthest, largest = targets[i, t], near
    return distance(M, X, farthest, i, u, work)


@exact
def nearest_impostor(
    M: Array, X: Array, i: int, starts: Index, own: int, D: Array, margin: float, v: Array, work: Array
) -> float:
    """Set ``v = x_i- - x_i``; return D_M(x_i, x_i-). ``margin`` is above twice the rounding errors in D."""
    nearest, smallest, limit = i, np.inf, np.inf
    for c in range(starts.shape[0] - 1):
        if c == own:
            continue
        for j in range(starts[c], starts[c + 1]):
            if D[j] <= limit:
                limit = min(limit, D[j] + margin)
                far = distance(M, X, j, i, v, work)
                if far < smallest:
                    nearest, smallest = j, far
    distance(M, X, nearest, i, v, work)
    return smallest


@exact
def drift(M: Array, Ku: Array, u: Array, work: Array) -> float:
    """Return |M K u - u| / |u|."""
    quadratic(M, Ku, work)
    error = size = 0.0
    for a in range(M.shape[0]):
        error += (work[a] - u[a]) ** 2
        size += u[a] ** 2
    return np.sqrt(error / size) if size > 0.0 else 0.0


@exact
def safe_step(M: Array, K: Array, u: Array, v: Array, rate: float, bound: float) -> tuple[float, float]:
    """Take the step, with K following; return alpha (0 if no step was possible) and scaling."""
    d = M.shape[0]
    Ku, Kv, w = np.empty(d), np.empty(d), np.empty(d)
    uu = quadratic(K, u, Ku)
    if not drift(M, Ku, u, w) <= DRIFT:
        invert(M, K)
        uu = quadratic(K, u, Ku)
        if not drift(M, Ku, u, w) <= USELESS:
            return 0.0, 1.0
    vv = quadratic(K, v, Kv)
    uv = 0.0
    for a in range(d):
        uv += Ku[a] * v[a]
    denominator = uu - vv + np.sqrt((vv - uu) ** 2 + 4.0 * max(0.0, vv * uu - uv * uv))
    largest = 2.0 / denominator if denominator > 0.0 else np.inf
    alpha = min(SAFETY * largest, rate)

    shrink = alpha / (1.0 + alpha * vv)  # (M + alpha vv')^-1 = K - shrink Kv (Kv)'
    wu = uu - shrink * uv * uv
    if not 1.0 - alpha * wu > 0.0:
        return 0.0, 1.0
    grow = alpha / (1.0 - alpha * wu)  # and w = (M + alpha vv')^-1 u
    trace = 0.0
    for a in range(d):
        w[a] = Ku[a] - shrink * uv * Kv[a]
        trace += M[a, a] + alpha * (v[a] * v[a] - u[a] * u[a])
    scaling = bound / trace if trace > bound else 1.0
    back = 1.0 / scaling
    for a in range(d):
        for b in range(d):
            M[a, b] = scaling * (M[a, b] + alpha * (v[a] * v[b] - u[a] * u[b]))
            K[a, b] = back * (K[a, b] + grow * w[a] * w[b] - shrink * Kv[a] * Kv[b])
    return alpha, scaling


@exact_entry
def epoch(
    M: Array, X: Array, starts: Index, codes: Codes, targets: Index, order: Index, step: int, max_steps: int,
    updates: int, rate: float, bound: float, margin: float,
) -> tuple[int, int, float]:  # fmt: skip
    """Visit the samples in ``order``, with steps up to rate / sqrt(step), and move violators to its front.

    Return the numbers of steps and updates so far, and the sum of the hinges, each under the M of its visit.
    A rate of 0 only measures them. Samples are sorted by class.
    """
    n, d = X.shape
    n_blocks, m = (n - 1) // BLOCK + 1, (d + 2) // 3 * 3
    blocks, h, D = np.zeros((n_blocks, m, BLOCK)), np.zeros((n_blocks, BLOCK)), np.empty((n_blocks, BLOCK))
    flat = D.reshape(n_blocks * BLOCK)
    y, u, v, work = np.zeros(m), np.zeros(m), np.zeros(m), np.empty(d)
    for j in range(n):
        h[j // BLOCK, j % BLOCK] = quadratic(M, X[j], work)
        for a in range(d):
            blocks[j // BLOCK, a, j % BLOCK] = X[j, a]
    K = np.zeros((d, d))  # has drifted: the first step renews it
    alpha, scaling = 0.0, 1.0  # of a step that h does not know yet
    front, loss = 0, 0.0
    for position in range(order.shape[0]):
        if step >= max_steps:
            break
        step += 1
        i = order[position]
        quadratic(M, X[i], y)
        sweep(blocks, y, u, v, alpha, scaling, h, D)
        alpha, scaling = 0.0, 1.0
        hinge = 1.0 + farthest_target(M, X, i, targets, u, work)
        hinge -= nearest_impostor(M, X, i, starts, codes[i], flat, margin, v, work)
        if not hinge > 0.0:
            continue
        loss += hinge
        if rate == 0.0:
            continue
        order[position], order[front] = order[front], i
        front += 1
        alpha, scaling = safe_step(M, K, u, v, rate / np.sqrt(step), bound)
        updates += alpha > 0.0
    return step, updates, loss


class LMDML(MetricLearner):
    """Large-margin distance metric learning with safe steps.

    Minimises over positive definite M with ``tr M <= B`` ::

        1/n Σ_i [1 + D_M(xi, xi⁺) - D_M(xi, xi⁻)]₊

    where ``xi⁺`` is the farthest of K fixed target neighbours (nearest samples of the class in the input
    space) and ``xi⁻`` the nearest sample of another class, both under the current M. Samples are visited one
    at a time. If the hinge is positive, visit t takes the step ``M += α (vv' - uu')``, ``u = x⁺ - x``,
    ``v = x⁻ - x``, and scales M back to trace B if
    its trace is larger. α is 1/√t, or nine tenths of the step that would make M
    singular if that is smaller. Violators come first in the next epoch. Learning stops after an epoch that
    updated fewer than 1 % of the samples.

    Classes with fewer than K + 1 samples lower K to the size of the smallest of them minus one. Classes of a
    single sample only serve as impostors.

    Parameters
    ----------
    bound : float, default=1.0
        B, the largest trace of M; learning starts at ``M = (B/d) I``.
    n_neighbors : int, default=3
        K, the number of target neighbours.
    max_epochs : int, default=10
        Largest number of passes over the samples.
    max_steps : int, default=20000
        Largest number of visits.
    random_state : int, RandomState instance or None, default=None
        Order of the samples in the first epoch.

    Attributes
    ----------
    components_ : ndarray of shape (n_features, n_features)
        Factor L of M, by eigenvalues.
    classes_ : ndarray
        The class labels.
    objective_ : float
        Mean hinge over the training samples at the end.
    n_iter_ : int
        Number of epochs begun.
    n_steps_, n_updates_ : int
        Number of visits, and of those that changed M.

    Notes
    -----
    The problem is convex, yet the result depends on the order of the samples. The solver is the reason: safe
    steps lead M to the border of the cone, where further steps are short or impossible, and more epochs do
    not help. On standardised wine with B = 1, five seeds end at objectives of .23 to .28 (optimum: .17); M
    differs by up to half its largest entry, the 5-NN errors by 2 of 89 samples. On wine with unit rows M
    hardly leaves its start, far from the optimum, and differs by 2 %.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import Normalizer
    >>> from mloml import LMDML
    >>> X, y = load_iris(return_X_y=True)
    >>> model = make_pipeline(Normalizer(), LMDML(bound=10, random_state=0), KNeighborsClassifier(5))
    >>> print(f"{cross_val_score(model, X, y).mean():.2f}")
    0.98

    References
    ----------
    B. Nguyen, C. Morell, B. De Baets. Scalable large-margin distance metric learning using stochastic
    gradient descent. IEEE Transactions on Cybernetics 50, 2020.
    """

    _parameter_constraints: dict = {
        "bound": [Interval(Real, 0, None, closed="neither")],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "max_epochs": [Interval(Integral, 1, None, closed="left")],
        "max_steps": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self, bound: float = 1.0, *, n_neighbors: int = 3, max_epochs: int = 10, max_steps: int = 20000,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:  # fmt: skip
        self.bound = bound
        self.n_neighbors = n_neighbors
        self.max_epochs = max_epochs
        self.max_steps = max_steps
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn the metric from labelled samples."""
        rows, codes = labelled_rows(self, X, y)
        ready("lmdml")
        data = ByClass.of(rows - rows.mean(axis=0), codes)
        targets = data.target_neighbours(self.n_neighbors)
        anchors = np.flatnonzero(targets[:, 0] >= 0)
        order = check_random_state(self.random_state).permutation(anchors)

        n, d, B = order.size, rows.shape[1], float(self.bound)
        M = np.eye(d) * (B / d)
        margin = ROUNDING * B * float((data.X**2).sum(axis=1).max())
        samples = data.X, data.starts, data.codes, targets
        epochs = steps = updates = 0
        updated = n
        while updated >= FEW_UPDATES * n and epochs < self.max_epochs and steps < self.max_steps:
            before = updates
            steps, updates, _ = epoch(M, *samples, order, steps, int(self.max_steps), before, 1.0, B, margin)
            updated = updates - before
            epochs += 1
        self.n_iter_, self.n_steps_, self.n_updates_ = epochs, steps, updates
        self.objective_ = epoch(M, *samples, anchors, 0, n, 0, 0.0, B, margin)[2] / n
        self.components_ = factor_of((M + M.T) / 2)
        return self
