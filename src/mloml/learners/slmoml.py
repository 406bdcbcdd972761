"""SLMOML: passive-aggressive triplet learning under LogDet closeness (reconstructed from its description)."""

from math import inf, sqrt
from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval

from mloml.arrays import Array, Counts

from .base import MetricLearner
from .compiled import compiled, entry, ready
from .layers import MetricLayer
from .linalg import LIMIT, UPDATES, map_two, symmetrise
from .online import OnlineLearner
from .triplets import Rule

# With p = x - xp, q = x - xq and A = pp' - qq' the problem is
#
#     min_M  D_ld(M, M_prev) + C [margin + tr(MA)]+
#
# with the LogDet divergence D_ld(M, N) = tr(M N^-1) - logdet(M N^-1). The solution is M^-1 = M_prev^-1 + tau
# A. With P = Mp, Q = Mq, a = p'P, b = q'Q, c = p'Q, s = a - b and g = ab - c² (of M_prev) that is
#
#     M <- M - k [(1 - tau b) PP' + tau c (PQ' + QP') - (1 + tau a) QQ'],    k = tau / (1 + tau s - tau² g)
#
# and tr(MA) becomes (s - 2 tau g) / (1 + tau s - tau² g). tau is C, or less where the hinge reaches 0 before:
# then it is the positive root of margin g tau² + (2g - margin s) tau - (margin + s) = 0.


@compiled
def step_length(a: float, b: float, c: float, C: float, margin: float) -> float:
    """Return tau, 0 where the hinge is not active."""
    s, g = a - b, max(a * b - c * c, 0.0)  # g is not negative but for rounding
    hinge = margin + s
    if hinge <= 0.0:
        return 0.0
    linear = 2.0 * g - margin * s
    denominator = linear + sqrt(linear * linear + 4.0 * margin * g * hinge)
    return min(C, 2.0 * hinge / denominator if denominator > 0.0 else inf)


@entry
def slmoml_scan(D: Array, M: Array, C: float, margin: float, counts: Counts) -> int:
    """Learn from the triplets of D in order; return how many were seen (fewer: the learner diverged)."""
    d = M.shape[0]
    P, Q = np.empty(d), np.empty(d)
    seen = 0
    for t in range(D.shape[0]):
        map_two(M, D, t, P, Q)
        a = b = c = 0.0
        for j in range(d):
            a += D[t, 0, j] * P[j]
            b += D[t, 1, j] * Q[j]
            c += D[t, 0, j] * Q[j]
        if not abs(a) + abs(b) < LIMIT:
            break
        seen += 1
        tau = step_length(a, b, c, C, margin)
        if tau > 0.0:
            k = tau / (1.0 + tau * (a - b) - tau * tau * max(a * b - c * c, 0.0))
            PP, PQ, QQ = k * (1.0 - tau * b), k * tau * c, -k * (1.0 + tau * a)
            for i in range(d):
                f, g = PP * P[i] + PQ * Q[i], PQ * P[i] + QQ * Q[i]
                for j in range(d):
                    M[i, j] -= f * P[j] + g * Q[j]
            counts[UPDATES] += 1
    symmetrise(M)
    return seen


class SLMOMLMetric(MetricLayer):
    """The metric ``M``, which learns by the step above."""

    def __init__(self, n_features: int, step: float, margin: float) -> None:
        super().__init__(n_features, step)
        self.margin = margin

    def learn(self, D: Array, outputs: Array) -> int:
        """Learn from the triplets of ``D``."""
        ready("slmoml")
        return int(slmoml_scan(D, self.M, self.step, self.margin, self.counts))


class SLMOML(OnlineLearner, MetricLearner):
    """Online metric learning with LogDet closeness and a hinge on triplets.

    Neither text nor code of the original was available. Its description (passive-aggressive, LogDet
    closeness, triplet hinge, aggressiveness C) determines this problem, with ``A = p p' - q q'`` ::

        M = argmin_{M PD}  D_ld(M, M_prev) + gamma [margin + tr(M A)]+

    solved by ``M⁻¹ = M_prev⁻¹ + tau A``: ``tau`` is the length at which the hinge is 0, at most ``gamma``.
    Written out through ``M_prev p`` and ``M_prev q`` the step costs O(d²), and M stays positive definite for
    every ``gamma``.

    Parameters
    ----------
    gamma : "auto" or float, default="auto"
        Aggressiveness, the largest step; the papers write C. See :class:`~mloml.learners.opml.OPML`.
    margin : float, default=1.0
        By how much ``xq`` has to be farther away than ``xp``.
    scale, scans, shuffle, random_state, triplets
        See :class:`~mloml.learners.opml.OPML`.

    Attributes
    ----------
    components_ : array of shape (d, d)
        The symmetric root of M, which takes the user's rows and starts at the identity over ``scale_``. It is
        computed when needed, in O(d³).
    classes_, gamma_, scale_, n_triplets_, n_updates_, n_cone_failures_, n_unlabelled_, n_restarts_, diverged_
        See :class:`~mloml.learners.online.OnlineLearner`; no step leaves the cone.

    Notes
    -----
    Features should be of one size (``StandardScaler``), or rows of one length (``Normalizer``); the length of
    rows itself does not matter with ``scale="auto"``.

    ``n_updates_ / n_triplets_`` is the share of triplets that violate the margin.

    References
    ----------
    G. Zhong, Y. Zheng, S. Li, Y. Fu. SLMOML: online metric learning with global convergence. IEEE
    Transactions on Circuits and Systems for Video Technology, 2018.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.model_selection import GridSearchCV, cross_val_score
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = load_wine(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), SLMOML(random_state=0), KNeighborsClassifier())
    >>> print(f"{cross_val_score(model, X, y).mean():.3f}")
    0.972
    >>> search = GridSearchCV(model, {"slmoml__gamma": [1e-4, 1e-3, 1e-2, 1e-1]})  # fit: tries all four
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **OnlineLearner._parameter_constraints,
        "margin": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self, *, gamma: float | str = "auto", margin: float = 1.0, scale: str | float | None = "auto",
        scans: int = 20, shuffle: bool = True, random_state: Any = None, triplets: Rule = "released",
    ) -> None:  # fmt: skip
        self.margin = margin
        super().__init__(gamma, scale, scans, shuffle, random_state, triplets)

    def _new_state(self, n_features: int, X: Any, step: float) -> SLMOMLMetric:
        return SLMOMLMetric(n_features, step, float(self.margin))
