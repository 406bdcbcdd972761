"""RDML: regularised distance metric learning, a perceptron on pairs (Jin, Wang, Zhou 2009)."""

from math import sqrt
from typing import Any

import numpy as np
from sklearn.utils._param_validation import StrOptions

from mloml.arrays import Array, Codes, Counts, Triplets

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
    WEAK_SHARE,
    add_square,
    cholesky,
    dot,
    hand_on,
    map_pair,
    map_three,
    product,
    renew,
    solve,
    symmetrise,
)
from .moml import RENEW_EVERY, root_and_inverse
from .online import OnlineLearner
from .signed import SignedForm
from .triplets import Rule

NEGLIGIBLE = 1e-13  # an eigenvalue less negative than this, relative to the largest entry, is rounding
FOUND = 1e-15  # a change of mu below this, relative to the same, ends the search
FLOOR = 1e-4  # least eigenvalue of a layer's metric after a projection
HALF = 0.5  # a layer's pull that leaves at least this share of its direction is not looked at any further
DRIFT = 1e-7  # residual of N M = I at which a layer's N is computed anew

# With z the difference of a pair, s = +1 for a similar and -1 for a dissimilar one, the step is
#
#     s (1 - z'Mz) > 0 :  M stays,        otherwise :  M <- Proj(M - lam s zz')
#
# Only the step of a similar pair can leave the cone. M - tau ee', with e = z/|z| and tau = lam z'z, has at
# most one negative eigenvalue mu, and the projection takes it out: M <- M - lam zz' - mu vv'. It solves
#
#     s(mu) = e'(M - mu I)^-1 e = 1/tau,    and its eigenvector is along v = (M - mu I)^-1 e
#
# and s' = v'v. As a function of -1/mu, s is concave and grows: Newton's steps in -1/mu reach mu from below,
# fast even where M itself is singular.
#
# A layer of a stack keeps L and N = (L'L)^-1, so M must stay invertible: eigenvalues below FLOOR are lifted
# to it, M <- M - lam zz' + (FLOOR - mu) vv'. L and N follow as in MOML, with the pull lam on z and the push
# FLOOR - mu along v. The determinant of that change comes to FLOOR (z'Nv) / (z'v), because v is an
# eigenvector.


@compiled
def lift(M: Array, z: Array, lam: float, floor: float, R: Array, v: Array) -> float:
    """``M -= lam zz'``; return ``floor - mu`` where that has an eigenvalue mu < floor, else 0.

    ``v`` becomes its unit eigenvector. ``R`` (d, d) is room for a factor.
    """
    d = M.shape[0]
    tau = lam * dot(z, z)
    largest = tau
    add_square(M, -lam, z)
    for i in range(d):
        v[i] = 0.0
        largest = max(largest, M[i, i])
    if tau <= 0.0 or cholesky(M, NEGLIGIBLE * largest - floor, R):
        return 0.0
    add_square(M, lam, z)
    mu, low, high = -tau, -tau - 10.0 * NEGLIGIBLE * largest, floor  # M itself may be negative by rounding
    for _ in range(100):
        guess = mu
        if cholesky(M, -mu, R):
            solve(R, z, v)
            s, gap = dot(z, v), floor - mu
            if lam * s < 1.0:
                low = mu
            else:
                high = mu
            guess = floor - gap / (1.0 + (1.0 / lam - s) / (gap * dot(v, v)))
        else:
            high = mu
        if not low < guess < high:
            guess = 0.5 * (low + high)
        change = abs(guess - mu)
        mu = guess
        if change <= FOUND * largest:
            break
    add_square(M, -lam, z)
    length = sqrt(dot(v, v))
    for i in range(d):
        v[i] /= length
    return max(0.0, floor - mu)


@compiled
def undone(z: Array, v: Array, lam: float, gain: float) -> bool:
    """Say whether a lift took back nearly all of the step: ``||lam zz' - gain vv'||²`` is small."""
    tau, along = lam * dot(z, z), dot(z, v)
    left = tau * tau + gain * gain - 2.0 * lam * gain * along * along
    return left < (WEAK_SHARE * tau) * (WEAK_SHARE * tau)


@entry
def rdml_scan(D: Array, only: Codes, M: Array, project: bool, lam: float, counts: Counts) -> int:
    """Learn from the pairs of D in order; return how many triplets were seen (fewer: the learner diverged).

    ``only`` says for each triplet which pair counts: 0 both, 1 (x, xp), 2 (x, xq).
    """
    d = M.shape[0]
    w, v, R = np.empty(d), np.empty(d), np.empty((d, d))
    seen = 0
    while seen < D.shape[0]:
        for side in range(2):
            if only[seen] == 2 - side:
                continue
            z = D[seen, side]
            product(M, z, w)
            distance = dot(z, w)
            if not abs(distance) + lam * dot(z, z) < LIMIT:
                symmetrise(M)
                return seen
            if lam <= 0.0 or (distance > 1.0 if side == 1 else distance < 1.0):
                continue
            counts[UPDATES] += 1
            if side == 1:
                add_square(M, lam, z)
            elif not project:
                add_square(M, -lam, z)
            else:
                gain = lift(M, z, lam, 0.0, R, v)
                if gain > 0.0:
                    add_square(M, gain, v)
                    counts[FAILURES] += 1
                    counts[WEAK] += undone(z, v, lam, gain)
        seen += 1
    symmetrise(M)
    return seen


@compiled
def lift_layer(L: Array, z: Array, lam: float, v: Array) -> float:
    """Return ``FLOOR - mu`` where ``L'L - lam zz'`` has an eigenvalue mu < FLOOR, else 0; v as in lift."""
    d = L.shape[0]
    M = np.zeros((d, d))
    for k in range(d):
        add_square(M, 1.0, L[k])
    return lift(M, z, lam, FLOOR, np.empty((d, d)), v)


@compiled
def layer_step(
    L: Array, N: Array, z: Array, u: Array, similar: bool, lam: float, room: Array, counts: Counts
) -> None:
    """Show a pair to a layer, with ``u = Lz``. ``room`` is (5, d)."""
    d = L.shape[0]
    distance = dot(u, u)
    if lam <= 0.0 or (distance < 1.0 if similar else distance > 1.0):
        return
    R, S, P, Q, v = room[0], room[1], room[2], room[3], room[4]
    pull, zz = lam if similar else -lam, dot(z, z)
    for _ in range(2):
        if counts[AGE] >= RENEW_EVERY:
            renew(L, N)
            counts[AGE] = 0
        product(N, z, R)
        a, gain = dot(z, R), 0.0
        for i in range(d):
            v[i] = 0.0
        if similar and 1.0 - lam * a < HALF:
            gain = lift_layer(L, z, lam, v)
        product(N, v, S)
        map_pair(L, R, S, P, Q)
        b, c = dot(v, S), dot(z, S)
        det = FLOOR * c / dot(z, v) if gain > 0.0 else 1.0 - pull * a
        fine = abs(dot(u, P) - zz) <= DRIFT * zz and det > 0.0  # (Lz)'P = z'z where N is the inverse of M
        if fine or counts[AGE] == 0:
            break
        counts[AGE] = RENEW_EVERY
    if not fine:
        counts[REFUSED] += 1
        counts[WEAK] += 1
        counts[FAILURES] += 1
        return
    F, G = root_and_inverse(a, b, c, pull, gain, det)
    for i in range(d):
        f, g = F[0] * P[i] + F[1] * Q[i], F[1] * P[i] + F[2] * Q[i]
        r, s = G[0] * R[i] + G[1] * S[i], G[1] * R[i] + G[2] * S[i]
        for j in range(d):
            L[i, j] += f * z[j] + g * v[j]
            N[i, j] += r * R[j] + s * S[j]
    counts[UPDATES] += 1
    counts[AGE] += 1
    if gain > 0.0:
        counts[FAILURES] += 1
        counts[WEAK] += undone(z, v, lam, gain)
        counts[AGE] = RENEW_EVERY  # N has lost digits


@entry
def rdml_layer_scan(D: Array, L: Array, N: Array, lam: float, counts: Counts, outputs: Array) -> int:
    """Let a layer learn from the pairs of D in order; return how many triplets were seen."""
    d = L.shape[0]
    u, v, z, room = np.empty(d), np.empty(d), np.empty(d), np.empty((5, d))
    for t in range(D.shape[0]):
        for side in range(2):
            product(L, D[t, side], u)
            if not dot(u, u) < LIMIT:
                return t
            layer_step(L, N, D[t, side], u, side == 0, lam, room, counts)
        if outputs.shape[0] > 0:
            map_three(L, D, t, u, v, z)
            hand_on(outputs, t, u, v, z)
    return D.shape[0]


class RDMLMetric(MetricLayer):
    """The metric ``M``, which learns by the step above; it starts at ``start`` times the identity."""

    def __init__(self, n_features: int, step: float, start: float, project: bool) -> None:
        super().__init__(n_features, step, start)
        self.project = project

    def learn(self, D: Array, outputs: Array) -> int:
        """Learn from both pairs of the triplets of ``D``."""
        return self.learn_pairs(D, np.zeros(len(D), np.int64))

    def learn_pairs(self, D: Array, only: Codes) -> int:
        """Learn from the pairs that ``only`` says, see :func:`rdml_scan`."""
        ready("rdml")
        return int(rdml_scan(D, only, self.M, self.project, self.step, self.counts))


class RDMLLayer(Layer):
    """A factor ``L`` of a metric above FLOOR and ``N = (L'L)^-1``, for a stack."""

    def __init__(self, n_features: int, step: float) -> None:
        super().__init__(n_features, step)
        self.N = np.eye(n_features)

    def learn(self, D: Array, outputs: Array) -> int:
        """Learn from the triplets of ``D``."""
        ready("rdml_layer")
        return int(rdml_layer_scan(D, self.L, self.N, self.step, self.counts, outputs))

    def widen(self, n_features: int) -> None:
        """Go on with more features: the metric starts as the identity on them."""
        super().widen(n_features)
        self.N = widened(self.N, n_features)


class RDML(SignedForm, OnlineLearner, MetricLearner):
    """Online regularised distance metric learning from pairs.

    With ``z`` the difference of a pair and ``s`` = +1 for a similar, -1 for a dissimilar one ::

        s (1 - z'Mz) > 0 :  M stays
        otherwise        :  M <- Proj_PSD(M - gamma s z z')

    Only the step of a similar pair can leave the cone, and then by one negative eigenvalue, whose eigenpair
    is taken out again: that is the projection. Such a step costs O(d³), all else O(d²).

    Parameters
    ----------
    gamma : "auto" or float, default="auto"
        Step size, the λ of the paper's grid. See :class:`~mloml.learners.opml.OPML`.
    init : {"identity", "zero"}, default="identity"
        Start of M: I as in the layers of the multi-layer framework, or 0 as in the original. From 0, with a
        small ``gamma``, M is ``gamma`` times a sum over dissimilar pairs: nearest neighbours do not depend on
        ``gamma``, and M knows only directions that it has pushed.
    pairs : {"triplets", "adjacent"}, default="triplets"
        ``"triplets"``: each triplet gives (x, xp), then (x, xq). ``"adjacent"``: only that one of the two
        pairs whose samples follow each other in the stream.
    cone : {"project", "free"}, default="project"
        "free" leaves out the projection. ``M`` may become indefinite, which is not a metric: neighbours are
        then found by the signed form ``(x - y)' M (x - y)``, see ``similarity``. It is not the published
        algorithm; it serves to find out how the paper's numbers were made.
    scale, scans, shuffle, random_state, triplets
        See :class:`~mloml.learners.opml.OPML`.

    Attributes
    ----------
    components_ : array of shape (d, d)
        The symmetric root of M, which takes the user's rows. It is computed when needed, in O(d³).
    classes_, gamma_, scale_, n_triplets_, n_updates_, n_cone_failures_, n_unlabelled_, n_restarts_, diverged_
        See :class:`~mloml.learners.online.OnlineLearner`; updates count pairs, cone failures projections.

    Notes
    -----
    Features should be of one size (``StandardScaler``), or rows of one length (``Normalizer``); the length of
    rows itself does not matter with ``scale="auto"``.

    ``n_cone_failures_`` counts projections, which from zero are many; what matters is that ``n_updates_``
    goes on growing.

    References
    ----------
    R. Jin, S. Wang, Y. Zhou. Regularized distance metric learning: theory and algorithm. NIPS, 2009.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.model_selection import GridSearchCV, cross_val_score
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = load_wine(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), RDML(random_state=0), KNeighborsClassifier())
    >>> print(f"{cross_val_score(model, X, y).mean():.3f}")
    0.978
    >>> grid = {"rdml__gamma": [1e-4, 1e-3, 1e-2, 1e-1], "rdml__init": ["zero", "identity"]}
    >>> search = GridSearchCV(model, grid)  # fit: tries all eight
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **OnlineLearner._parameter_constraints,
        "init": [StrOptions({"zero", "identity"})],
        "pairs": [StrOptions({"triplets", "adjacent"})],
        "cone": [StrOptions({"project", "free"})],
    }

    _from_pairs = True

    def __init__(
        self, *, gamma: float | str = "auto", init: str = "identity", pairs: str = "triplets",
        cone: str = "project", scale: str | float | None = "auto", scans: int = 20, shuffle: bool = True,
        random_state: Any = None, triplets: Rule = "released",
    ) -> None:  # fmt: skip
        self.init = init
        self.pairs = pairs
        self.cone = cone
        super().__init__(gamma, scale, scans, shuffle, random_state, triplets)

    def _new_state(self, n_features: int, X: Any, step: float) -> RDMLMetric:
        start = 1.0 if self.init == "identity" else 0.0
        return RDMLMetric(n_features, step, start, self.cone == "project")

    def _learn(self, state: Any, D: Array, triplets: Triplets) -> int:
        only = np.zeros(len(D), np.int64)
        if self.pairs == "adjacent":  # the partner that arrived later is the sample before x
            only += np.where(triplets[:, 1] > triplets[:, 2], 1, 2)
        x, xp, xq = triplets.T  # a pair alone comes as a triplet whose other partner is x itself
        only[xq == x], only[xp == x] = 1, 2
        return int(state.learn_pairs(D, only))

    _definite = "cone='project'"

    def _may_be_indefinite(self) -> bool:
        return self.cone == "free"

    def get_mahalanobis_matrix(self) -> Array:
        """Return ``M``."""
        return self._metric.copy()
