"""OPML: one-pass metric learning with a closed-form step on the factor (Li et al. 2018)."""

from typing import Any

import numpy as np

from mloml.arrays import Array, Counts, Index, Triplets

from .base import MetricLearner
from .compiled import compiled, entry, ready
from .layers import Layer
from .linalg import FAILURES, LIMIT, REFUSED, UPDATES, WEAK, WEAK_SHARE, gram, hand_on, map_three, map_two
from .online import OnlineLearner
from .rows import SparseRows
from .sparse import Places, Starts, longest_triplet, sparse_triplet
from .triplets import Rule

KEPT = 0.1  # what a push leaves of the determinant of I + gamma pp' at least: it grows L tenfold at most

# With p = x - xp, q = x - xq and A = pp' - qq' the objective is
#
#     min_L  1/2 ||L - L_prev||² + gamma/2 [1 + |Lp|² - |Lq|²]+
#
# and where the hinge at L_prev is positive, the gradient of its active side is 0 at L_prev (I + gamma A)^-1.
# The bracket is positive definite only while the push is not too long. So the pull is taken whole, and the
# push is shortened to g_q where needed:
#
#     L <- L (I + gamma pp' - g_q qq')^-1,    g_q = min(gamma, (1 - KEPT)/s),    s = q'(I + gamma pp')^-1 q
#
# Written out with u = Lp, v = Lq, a = p'p, b = q'q, c = p'q this is
#
#     L <- L + [u v] F [p q]',    F = 1/det (-gamma (1 - g_q b)     -gamma g_q c   )
#                                           (  -gamma g_q c       g_q (1 + gamma a))
#
# with det = 1 + gamma a - g_q (b + gamma (ab - c²)), the determinant of the bracket.


@compiled
def opml_change(a: float, b: float, c: float, gamma: float, counts: Counts) -> tuple[float, float, float]:
    """Return F = (f11, f12, f22), and count the step."""
    pulled = 1.0 + gamma * a
    s = b + gamma * max(0.0, a * b - c * c)  # times 1 + gamma a
    g = gamma
    if gamma * s > (1.0 - KEPT) * pulled:
        g = (1.0 - KEPT) * pulled / s
        taken = gamma * gamma * a * a + g * g * b * b - 2.0 * gamma * g * c * c  # ||gamma pp' - g qq'||²
        asked = gamma * gamma * (a * a + b * b - 2.0 * c * c)
        counts[FAILURES] += 1
        counts[WEAK] += taken < WEAK_SHARE * WEAK_SHARE * asked
    counts[UPDATES] += 1
    det = pulled - g * s
    return -gamma * (1.0 - g * b) / det, -gamma * g * c / det, g * pulled / det


@compiled
def opml_step(L: Array, D: Array, t: int, u: Array, v: Array, z: Array, gamma: float, counts: Counts) -> None:
    """Take the step for triplet t on L, and bring the outputs ``u = Lp``, ``v = Lq``, ``z = Lh`` up to it."""
    d = L.shape[1]
    a, b, c = gram(D, t)
    if not a + b < LIMIT:
        counts[REFUSED] += 1
        counts[WEAK] += 1
        return
    f11, f12, f22 = opml_change(a, b, c, gamma, counts)
    ph = qh = 0.0
    for j in range(d):
        ph += D[t, 0, j] * D[t, 2, j]
        qh += D[t, 1, j] * D[t, 2, j]
    for i in range(L.shape[0]):
        x, y = f11 * u[i] + f12 * v[i], f12 * u[i] + f22 * v[i]
        for j in range(d):
            L[i, j] += x * D[t, 0, j] + y * D[t, 1, j]
        u[i] += a * x + c * y
        v[i] += c * x + b * y
        z[i] += ph * x + qh * y


@entry
def opml_scan(D: Array, L: Array, gamma: float, counts: Counts, outputs: Array) -> int:
    """Learn from the triplets of D in order; return how many were seen (fewer: the layer diverged)."""
    d = L.shape[0]
    u, v, z = np.zeros(d), np.zeros(d), np.zeros(d)
    for t in range(D.shape[0]):
        if outputs.shape[0] > 0:
            near, far = map_three(L, D, t, u, v, z)
        else:
            near, far = map_two(L, D, t, u, v)
        if not near + far < LIMIT:
            return t
        if gamma > 0.0 and 1.0 + near - far > 0.0:
            opml_step(L, D, t, u, v, z, gamma, counts)
        if outputs.shape[0] > 0:
            hand_on(outputs, t, u, v, z)
    return D.shape[0]


@entry
def sparse_opml_scan(
    data: Array, indices: Places, starts: Starts, triplets: Index, L: Array, gamma: float, counts: Counts
) -> int:
    """Do the same for triplets of sparse rows, in O(d non-zeros) each."""
    d = L.shape[0]
    longest = longest_triplet(starts, d)
    index, E, u, v = np.empty(longest, np.int32), np.empty((1, 3, longest)), np.empty(d), np.empty(d)
    for t in range(triplets.shape[0]):
        x, xp, xq = triplets[t, 0], triplets[t, 1], triplets[t, 2]
        n = sparse_triplet(data, indices, starts, x, xp, xq, index, E)
        near = far = 0.0
        for i in range(d):
            r = s = 0.0
            for k in range(n):
                r += L[i, index[k]] * E[0, 0, k]
                s += L[i, index[k]] * E[0, 1, k]
            u[i], v[i] = r, s
            near += r * r
            far += s * s
        if not near + far < LIMIT:
            return t
        if not (gamma > 0.0 and 1.0 + near - far > 0.0):
            continue
        a = b = c = 0.0
        for k in range(n):
            a += E[0, 0, k] * E[0, 0, k]
            b += E[0, 1, k] * E[0, 1, k]
            c += E[0, 0, k] * E[0, 1, k]
        f11, f12, f22 = opml_change(a, b, c, gamma, counts)
        for i in range(d):
            f, g = f11 * u[i] + f12 * v[i], f12 * u[i] + f22 * v[i]
            for k in range(n):
                L[i, index[k]] += f * E[0, 0, k] + g * E[0, 1, k]
    return triplets.shape[0]


class OPMLLayer(Layer):
    """A factor ``L`` of the metric that learns by the step above."""

    def learn(self, D: Array, outputs: Array) -> int:
        """Learn from the triplets of ``D``."""
        ready("opml")
        return int(opml_scan(D, self.L, self.step, self.counts, outputs))

    def learn_sparse(self, rows: SparseRows, triplets: Triplets, outputs: Array) -> int:
        """Learn from triplets of sparse rows; it hands on no outputs."""
        ready("opml")
        given = (rows.data, rows.indices, rows.starts, triplets)
        return int(sparse_opml_scan(*given, self.L, self.step, self.counts))


class OPML(OnlineLearner, MetricLearner):
    """One-pass closed-form solution for online metric learning.

    For each triplet, with ``p = x - xp``, ``q = x - xq`` and ``A = p p' - q q'``, the objective is::

        min_L  1/2 ||L - L_prev||²_F + gamma/2 [||L p||² + 1 - ||L q||²]+

    and while the hinge at ``L_prev`` is positive the step is ``L = L_prev (I + gamma A)^-1``, the
    stationary point of the active side. The inverse is written out (``A`` has rank 2), so a step costs
    O(d²) and ``M = L'L`` is a metric by construction.

    Where differences are so long that ``I + gamma A`` is not positive definite, or nearly so, that point
    does not exist. Then the pull on ``p`` is taken in full and the push along ``q`` is shortened::

        L = L_prev (I + gamma p p' - g_q q q')^-1,   g_q = min(gamma, 0.9 / s'),
        s' = q' (I + gamma p p')^-1 q

    so that the push multiplies the determinant of ``L`` by 10 at most. No step is left out.

    Parameters
    ----------
    gamma : "auto" or float, default="auto"
        Step size, the weight of the hinge. "auto" chooses it from 0 (no learning), 0.001, 0.01, 0.03 and 0.1:

        - ``fit`` takes the one whose metric classifies rows best that it has not learned from, by 5-fold
          cross-validation (of more than 2,000 rows, a part is held out), and then learns from all rows. That
          takes as long as 17 fits with a number, or 5 where a part is held out.
        - a stream is learned with all of them at once, at four times the cost (0 costs nothing), and the best
          one answers: that whose nearest neighbours, among the last 256 rows, had the right class most often.
          Rows are judged before they are learned from, and old ones count less and less.

        0 is taken unless another one is better by more than the standard error, in a stream by one and a
        half. ``gamma_`` tells.
        Numbers: shortened steps are counted in ``n_cone_failures_``; rows of unit norm and
        ``gamma < 0.225`` never lead to one. ``gamma`` times the squared length of a difference should stay
        well below 1. Pushes multiply ``L``: where they are longer than pulls it may grow out of bounds,
        within some 1e5 rows of unit norm at 0.1. Learning then goes on from the last good metric with a tenth
        of the step size (``n_restarts_``).
    scale : "auto", float or None, default="auto"
        What rows are divided by before anything is learned: a step size and the margin 1 mean something only
        when rows have a length near 1. None: nothing. "auto":

        - in ``fit`` the root mean square of the rows' norms;
        - in a stream the median norm of the first 64 rows. When that of the last 64 rows is less than half or
          more than twice as large, it is revised: what was learned stays as it is and refers to the new scale
          from then on, so that nearest neighbours stay the same (in a stack: for rows that have grown or
          shrunk as the scale did). Rows of more than four times the scale are shortened to that before they
          are learned from (``n_shortened_``).

        ``transform`` takes rows as they are.
    scans : int, default=20
        How often ``fit`` goes over the rows.
    shuffle : bool or "once", default=True
        Whether each scan of ``fit`` puts the rows into a new random order; "once": the same for all.
    random_state : int, RandomState instance or None, default=None
        Seed of these orders.
    triplets : {"released", "latest"}, default="released"
        How partners are chosen, see :mod:`mloml.learners.triplets`.

    Attributes
    ----------
    components_ : array of shape (d, d)
        The factor ``L``, which takes the user's rows; starts at the identity over ``scale_``.
    classes_, gamma_, scale_, n_triplets_, n_updates_, n_cone_failures_, n_unlabelled_, n_restarts_, diverged_
        See :class:`~mloml.learners.online.OnlineLearner`.

    Notes
    -----
    Features should be of one size (``StandardScaler``), or rows of one length (``Normalizer``); the length of
    rows itself does not matter with ``scale="auto"``.

    ``n_cone_failures_`` above 0 means that ``gamma`` is too large for the rows.

    References
    ----------
    W. Li, Y. Gao, L. Wang, L. Zhou, J. Huo, Y. Shi. OPML: A one-pass closed-form solution for online metric
    learning. Pattern Recognition, 2018.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.model_selection import GridSearchCV, cross_val_score
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = load_wine(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), OPML(random_state=0), KNeighborsClassifier())
    >>> print(f"{cross_val_score(model, X, y).mean():.3f}")
    0.972
    >>> search = GridSearchCV(model, {"opml__gamma": [1e-4, 1e-3, 1e-2, 1e-1]})  # fit: tries all four
    """

    _takes_sparse = True  # O(d non-zeros) a step

    def __init__(
        self, *, gamma: float | str = "auto", scale: str | float | None = "auto", scans: int = 20,
        shuffle: bool = True, random_state: Any = None, triplets: Rule = "released",
    ) -> None:  # fmt: skip
        super().__init__(gamma, scale, scans, shuffle, random_state, triplets)

    def _new_state(self, n_features: int, X: Any, step: float) -> OPMLLayer:
        return OPMLLayer(n_features, step)
