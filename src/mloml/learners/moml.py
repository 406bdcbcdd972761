"""MOML: Mahalanobis-based online metric learning, the paper's metric layer (Section III-B, Eqs. 2-6)."""

from math import sqrt
from typing import Any

import numpy as np
from sklearn.utils._param_validation import StrOptions

from mloml.arrays import Array, Counts

from .base import MetricLearner
from .compiled import compiled, entry, ready
from .layers import Layer, MetricLayer, widened
from .linalg import (
    AGE,
    FAILURES,
    LIMIT,
    REFUSED,
    UPDATES,
    WEAK,
    add_two,
    hand_on,
    map_pair,
    map_three,
    map_two,
    renew,
    symmetrise,
)
from .online import OnlineLearner
from .signed import SignedForm
from .triplets import Rule

KEEP, FLOOR = 0.1, 0.1  # "keep" and "floor" of the step below
RENEW_EVERY, RENEW_SOONEST = 256, 32  # steps after which N is computed anew, at the latest and earliest
DRIFT, ALARM = 1e-9, 1e-5  # residuals of N M = I at which N is renewed: after the step, before it
TINY = 1e-300  # in place of the length of a difference that is zero
SINGULAR = 1e-12  # a relative determinant below this counts as outside the cone

# With p = x - xp and q = x - xq the loss of a triplet is the hinge (Eq. 3)
#
#     [1 + p'Mp - q'Mq]+        M = L'L
#
# and where it is positive, Eq. 6 takes the step M <- M - gamma (pp' - qq'): a push along q, a pull on p. A
# pull that is too long would leave the cone of positive definite matrices. "split" takes the whole push and
# shortens only the pull, to g_p, so that learning never stops at the border:
#
#     g_p = max(0, min(gamma, (1 - keep)/s, 1/s - floor/p'p)),   s = p'(M + gamma qq')^-1 p
#
# L follows in O(d²) and keeps its axes. With N = M^-1 kept beside it, R = Np, S = Nq and [P Q] = L[R S],
#
#     L <- L + [P Q] F [p q]',      N <- N + [R S] G [R S]'
#
# where F and G are 2 x 2 and follow from a = p'R, b = q'S, c = p'S alone: the new metric is L'(I + VCV')L
# with V = [P Q] and C = diag(-g_p, g_q), and the symmetric root of the bracket is I + VFV' with
# F = (B^(1/2) + I)^-1 C, B = I + CV'V.


@compiled
def pull_length(
    a: float, b: float, c: float, pp: float, gamma: float, keep: float, floor: float
) -> tuple[float, float]:
    """Return g_p, shortened so that M stays positive definite, and ``det B = (1 + gamma b)(1 - g_p s)``."""
    s = (a + gamma * max(0.0, a * b - c * c)) / (1.0 + gamma * b)
    g_p = gamma
    if s > 0.0 and pp > 0.0:
        share = min(1.0 - keep, 1.0 - floor * (s / pp))
        if gamma * s > share:
            g_p = max(0.0, share) / s
    return g_p, (1.0 + gamma * b) * (1.0 - g_p * s)


@compiled
def root_and_inverse(a: float, b: float, c: float, g_p: float, g_q: float, det: float) -> Any:
    """Return F = (f11, f12, f22) and G = (g11, g12, g22) of the step with pull g_p and push g_q."""
    b11, b22, b21 = 1.0 - g_p * a, 1.0 + g_q * b, g_q * c
    s = sqrt(det)
    t = sqrt(b11 + b22 + 2.0 * s)
    fp, fq = g_p / (1.0 + s + t), g_q / (1.0 + s + t)
    F = -fp * ((b22 + s) / t + 1.0), fp * b21 / t, fq * ((b11 + s) / t + 1.0)
    G = g_p * b22 / det, -g_p * b21 / det, -g_q * b11 / det
    return F, G


@compiled
def moml_step(
    L: Array, N: Array, D: Array, t: int, u: Array, v: Array, z: Array, R: Array, S: Array, P: Array,
    Q: Array, gamma: float, keep: float, floor: float, counts: Counts,
) -> None:  # fmt: skip
    """Take the step for triplet t on L and N; the outputs ``u = Lp``, ``v = Lq``, ``z = Lh`` follow."""
    d = L.shape[0]
    for _ in range(2):
        map_two(N, D, t, R, S)
        map_pair(L, R, S, P, Q)
        a = b = c = pp = qq = pq = ph = qh = uP = vQ = 0.0
        for i in range(d):
            p, q, h = D[t, 0, i], D[t, 1, i], D[t, 2, i]
            a += p * R[i]
            b += q * S[i]
            c += p * S[i]
            pp += p * p
            qq += q * q
            pq += p * q
            ph += p * h
            qh += q * h
            uP += u[i] * P[i]
            vQ += v[i] * Q[i]
        # (Lp)'P = p'p and (Lq)'Q = q'q where N is the inverse of M; rounding makes it drift away.
        drift = max(abs(uP - pp) / max(pp, TINY), abs(vQ - qq) / max(qq, TINY))
        if drift <= ALARM or counts[AGE] == 0:
            break
        renew(L, N)
        counts[AGE] = 0
    g_p, det = pull_length(a, b, c, pp, gamma, keep, floor)
    if not (drift <= ALARM and det > SINGULAR * (2.0 + gamma * b - g_p * a)):
        counts[FAILURES] += 1
        counts[WEAK] += 1
        counts[REFUSED] += 1
        return
    F, G = root_and_inverse(a, b, c, g_p, gamma, det)
    for i in range(d):
        x, y = F[0] * P[i] + F[1] * Q[i], F[1] * P[i] + F[2] * Q[i]
        for j in range(d):
            L[i, j] += x * D[t, 0, j] + y * D[t, 1, j]
        u[i] += pp * x + pq * y
        v[i] += pq * x + qq * y
        z[i] += ph * x + qh * y
    for i in range(d):
        x, y = G[0] * R[i] + G[1] * S[i], G[1] * R[i] + G[2] * S[i]
        for j in range(d):
            N[i, j] += x * R[j] + y * S[j]
    counts[UPDATES] += 1
    counts[FAILURES] += g_p < gamma
    counts[AGE] += 1
    if counts[AGE] >= RENEW_EVERY or (drift > DRIFT and counts[AGE] >= RENEW_SOONEST):
        renew(L, N)
        counts[AGE] = 0


@entry
def moml_scan(
    D: Array, L: Array, N: Array, gamma: float, keep: float, floor: float, counts: Counts, outputs: Array
) -> int:
    """Learn from the triplets of D in order; return how many were seen (fewer: the layer diverged)."""
    d = L.shape[0]
    u, v, z = np.zeros(d), np.zeros(d), np.zeros(d)
    R, S, P, Q = np.empty(d), np.empty(d), np.empty(d), np.empty(d)
    for t in range(D.shape[0]):
        if outputs.shape[0] > 0:
            near, far = map_three(L, D, t, u, v, z)
        else:
            near, far = map_two(L, D, t, u, v)
        if not near + far < LIMIT:
            return t
        if gamma > 0.0 and 1.0 + near - far > 0.0:
            moml_step(L, N, D, t, u, v, z, R, S, P, Q, gamma, keep, floor, counts)
        if outputs.shape[0] > 0:
            hand_on(outputs, t, u, v, z)
    return D.shape[0]


@entry
def metric_scan(D: Array, M: Array, gamma: float, counts: Counts) -> int:
    """Take Eq. 6 as it is printed, on M alone: no projection, so that M may become indefinite."""
    d = M.shape[0]
    R, S, x, y = np.empty(d), np.empty(d), np.empty(d), np.empty(d)
    seen = 0
    for t in range(D.shape[0]):
        map_two(M, D, t, R, S)
        hinge = 1.0
        for i in range(d):
            hinge += D[t, 0, i] * R[i] - D[t, 1, i] * S[i]
        if not abs(hinge) < LIMIT:
            break
        seen += 1
        if hinge > 0.0 and gamma > 0.0:
            for i in range(d):
                x[i], y[i] = -gamma * D[t, 0, i], gamma * D[t, 1, i]
            add_two(M, x, y, D, t)
            counts[UPDATES] += 1
    symmetrise(M)
    return seen


class MOMLLayer(Layer):
    """A factor ``L`` of the metric and ``N = (L'L)^-1``, which learn by the step above."""

    def __init__(self, n_features: int, step: float, keep: float = KEEP, floor: float = FLOOR) -> None:
        super().__init__(n_features, step)
        self.N = np.eye(n_features)
        self.keep, self.floor = keep, floor

    def learn(self, D: Array, outputs: Array) -> int:
        """Learn from the triplets of ``D``."""
        ready("moml")
        return int(moml_scan(D, self.L, self.N, self.step, self.keep, self.floor, self.counts, outputs))

    def widen(self, n_features: int) -> None:
        """Go on with more features: the metric starts as the identity on them."""
        super().widen(n_features)
        self.N = widened(self.N, n_features)


class FreeMetric(MetricLayer):
    """The metric alone, which Eq. 6 may make indefinite."""

    def learn(self, D: Array, outputs: Array) -> int:
        """Learn from the triplets of ``D``."""
        ready("moml_free")
        return int(metric_scan(D, self.M, self.step, self.counts))


class MOML(SignedForm, OnlineLearner, MetricLearner):
    """Online metric learning with a closed-form step on the metric.

    For each triplet, with ``p = x - xp``, ``q = x - xq`` and ``A = p p' - q q'``, the objective (Eq. 4) is::

        min_M  1/2 ||M - M_prev||²_F + gamma [1 + tr(M A)]+ ,   M positive semi-definite

    and where the hinge at ``M_prev`` is positive the step (Eq. 6) is ``M = M_prev - gamma A``: a push along
    ``q`` and a pull on ``p``. The factor ``L`` with ``M = L'L`` follows in O(d²) and keeps its axes.

    Parameters
    ----------
    gamma : "auto" or float, default="auto"
        Step size. See :class:`~mloml.learners.opml.OPML`.
    cone : {"split", "free"}, default="split"
        What to do with a step that would leave the cone of positive definite matrices.

        - "split": take the whole push and shorten the pull, to
          ``g_p = max(0, min(gamma, 0.9/s, 1/s - 0.1/||p||²))`` with ``s = p'(M + gamma q q')^-1 p``. No step
          is refused, and learning does not stop at the border.
        - "free": Eq. 6 as printed. ``M`` may become indefinite, which is not a metric: neighbours are then
          found by the signed form ``(x - y)' M (x - y)``, see ``similarity``.

        Other policies and factors are in :class:`~mloml.learners.explicit.ExplicitMLOML`; both constants can
        be set by ``MLOML(n_layers=1, layer_params={"cone_keep": 0.1, "cone_floor": 0.1})``.
    scale, scans, shuffle, random_state, triplets
        See :class:`~mloml.learners.opml.OPML`.

    Attributes
    ----------
    components_ : array of shape (d, d)
        The factor ``L``, which takes the user's rows; starts at the identity over ``scale_``. An indefinite
        ``M`` has none.
    n_cone_failures_ : int
        Under "split", shortened pulls; under "free" 0, because every step is taken as it is.
    classes_, gamma_, scale_, n_triplets_, n_updates_, n_unlabelled_, n_restarts_, diverged_
        See :class:`~mloml.learners.online.OnlineLearner`.

    See Also
    --------
    DiagonalMOML : one weight per feature, for very many features and for sparse rows.
    LowRankMOML : a metric of low rank, likewise.

    Notes
    -----
    Features should be of one size (``StandardScaler``), or rows of one length (``Normalizer``); the length of
    rows itself does not matter with ``scale="auto"``.

    ``n_updates_ / n_triplets_`` is the share of triplets that violate the margin; ``n_cone_failures_`` near
    ``n_updates_`` says that most pulls are cut short, as happens with ``gamma`` too large for the rows.

    References
    ----------
    W. Li, Y. Liu, J. Huo, Y. Shi, Y. Gao, L. Wang, J. Luo. A multilayer framework for online metric
    learning. IEEE Transactions on Neural Networks and Learning Systems, 2022 (arXiv 1805.05510).

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.model_selection import GridSearchCV, cross_val_score
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = load_wine(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), MOML(random_state=0), KNeighborsClassifier())
    >>> print(f"{cross_val_score(model, X, y).mean():.3f}")
    0.978
    >>> search = GridSearchCV(model, {"moml__gamma": [1e-4, 1e-3, 1e-2, 1e-1]})  # fit: tries all four
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **OnlineLearner._parameter_constraints,
        "cone": [StrOptions({"split", "free"})],
    }

    def __init__(
        self, *, gamma: float | str = "auto", cone: str = "split", scale: str | float | None = "auto",
        scans: int = 20, shuffle: bool = True, random_state: Any = None, triplets: Rule = "released",
    ) -> None:  # fmt: skip
        self.cone = cone
        super().__init__(gamma, scale, scans, shuffle, random_state, triplets)

    _definite = "cone='split'"

    def _new_state(self, n_features: int, X: Any, step: float) -> Layer:
        return FreeMetric(n_features, step) if self.cone == "free" else MOMLLayer(n_features, step)

    def _may_be_indefinite(self) -> bool:
        return self.cone == "free"

    def get_mahalanobis_matrix(self) -> Array:
        """Return ``M``."""
        return self._metric.copy() if self.cone == "free" else super().get_mahalanobis_matrix()
