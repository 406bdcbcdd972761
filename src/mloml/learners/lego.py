"""LEGO: online metric learning from pairs with target distances (Jain et al. 2008)."""

from collections.abc import Mapping
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import pdist
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from mloml.arrays import Array, Counts

from .base import MetricLearner
from .compiled import compiled, entry, ready
from .layers import Layer
from .linalg import LIMIT, REFUSED, UPDATES, WEAK, dot, hand_on, map_three
from .online import OnlineLearner
from .triplets import Rule

SMALLEST_DISTANCE = 1e-12  # a pair nearer than this (squared) has no direction to learn from

# Rows with 28 distances: the 5th percentile of fewer than 21 is hardly more than the smallest one.
FEWEST_ROWS = 8

# Squared distances: of similar pairs, of dissimilar ones.
Targets = tuple[float, float]

# With z the difference of a pair and y its target, the step is
#
#     M <- argmin  tr(M M_prev^-1) - logdet(M M_prev^-1) + eta/2 (z'Mz - y)²
#        = M_prev - c (M_prev z)(M_prev z)' / (1 + c old),    old = z'M_prev z,  c = eta (new - y)
#
# where the new distance z'Mz is the positive root of  eta old new² + (1 - eta y old) new - old = 0. With
# u = Lz and w = Mz = L'u the factor follows by
#
#     L <- L - k u w',    k = (1 - sqrt(new/old)) / old
#
# A triplet gives the pair (x, xp), drawn to `lower`, and then the pair (x, xq), drawn to `upper`.


@compiled
def shrinkage(old: float, y: float, eta: float) -> float:
    """Return k, written without differences of nearly equal numbers."""
    linear = 1.0 - eta * y * old
    root = sqrt(linear * linear + 4.0 * eta * old * old)
    new = 2.0 * old / (linear + root) if linear > 0.0 else (root - linear) / (2.0 * eta * old)
    return eta * (new - y) * (new / old) / (1.0 + sqrt(new / old))  # 1 + c old = old / new


@compiled
def map_there_and_back(L: Array, D: Array, t: int, u: Array, v: Array, w: Array, x: Array) -> None:
    """Set ``u = Lp``, ``v = Lq``, ``w = L'u`` and ``x = L'v``."""
    d = L.shape[0]
    for j in range(d):
        w[j] = x[j] = 0.0
    for i in range(d):
        r = s = 0.0
        for j in range(d):
            r += L[i, j] * D[t, 0, j]
            s += L[i, j] * D[t, 1, j]
        u[i], v[i] = r, s
        for j in range(d):
            w[j] += r * L[i, j]
            x[j] += s * L[i, j]


@compiled
def pair_step(D: Array, t: int, side: int, old: float, y: float, eta: float, counts: Counts) -> float:
    """Return k of one pair, 0 where its samples coincide under the metric."""
    if old < SMALLEST_DISTANCE:
        for j in range(D.shape[2]):
            if D[t, side, j] != 0.0:  # not one sample twice
                counts[REFUSED] += 1
                counts[WEAK] += 1
                break
        return 0.0
    counts[UPDATES] += 1
    return shrinkage(old, y, eta)


@entry
def lego_scan(
    D: Array, L: Array, lower: float, upper: float, eta: float, counts: Counts, outputs: Array
) -> int:
    """Learn from the pairs of D in order; return how many triplets were seen (fewer: the layer diverged)."""
    d = L.shape[0]
    u, v, z, w, x = np.empty(d), np.empty(d), np.empty(d), np.empty(d), np.empty(d)
    for t in range(D.shape[0]):
        map_there_and_back(L, D, t, u, v, w, x)
        near = dot(u, u)
        if not near + dot(v, v) + upper < LIMIT:
            return t
        if eta > 0.0:
            k = pair_step(D, t, 0, near, lower, eta, counts)
            along = 0.0  # then v = Lq and x = L'v of the new L
            for j in range(d):
                along += k * w[j] * D[t, 1, j]
            for i in range(d):
                v[i] -= along * u[i]
            far, back = dot(v, v), along + k * dot(u, v)
            for j in range(d):
                x[j] -= back * w[j]
            k_q = pair_step(D, t, 1, far, upper, eta, counts)
            for i in range(d):
                f, g = k * u[i], k_q * v[i]
                for j in range(d):
                    L[i, j] -= f * w[j] + g * x[j]
        if outputs.shape[0] > 0:
            map_three(L, D, t, u, v, z)
            hand_on(outputs, t, u, v, z)
    return D.shape[0]


class LEGOLayer(Layer):
    """A factor ``L`` of the metric that learns from pairs by the step above.

    Parameters
    ----------
    n_features, step
        See :class:`~mloml.learners.layers.Layer`.
    targets : (float, float)
        Target squared distances of similar and dissimilar pairs, of the rows that are learned from.
    percentiles : (float, float) or None
        The percentiles that the targets are taken from; None: the targets were given.
    """

    def __init__(
        self, n_features: int, step: float, targets: Targets, percentiles: Targets | None = None
    ) -> None:
        super().__init__(n_features, step)
        self.targets: Targets | None = targets
        self.percentiles = percentiles

    def learn(self, D: Array, outputs: Array) -> int:
        """Learn from the triplets of ``D``; nothing while the targets are not known."""
        ready("lego")
        if self.targets is None:
            if len(outputs):
                np.matmul(D, self.L.T, out=outputs)
            return len(D)
        return int(lego_scan(D, self.L, *self.targets, self.step, self.counts, outputs))

    def rescale(self, ratio: float) -> None:
        """Follow rows that are multiplied: targets that were given keep their size in the user's rows."""
        if self.percentiles is None and self.targets is not None:
            self.targets = self.targets[0] * ratio * ratio, self.targets[1] * ratio * ratio

    def await_rows(self) -> bool:
        """Learn nothing until the rows are known that targets are taken from; say whether that is so."""
        self.targets = None if self.percentiles else self.targets
        return self.percentiles is not None

    def see_rows(self, rows: Array) -> None:
        """Take the targets from these rows, if there are enough of them."""
        if self.percentiles and len(rows) >= FEWEST_ROWS:
            lower, upper = distance_percentiles(rows, self.percentiles).tolist()
            self.targets = lower, upper


def two_numbers(name: str, given: Any, limit: float = np.inf) -> tuple[float, float]:
    """Return two finite numbers in order, or say what was expected.

    >>> two_numbers("percentiles", [5, 95], 100.0)
    (5.0, 95.0)
    >>> two_numbers("targets", (2, 1))
    Traceback (most recent call last):
    ...
    ValueError: targets is (2, 1), expected two numbers with 0 <= lower <= upper
    """
    try:
        lower, upper = (float(value) for value in given)
    except (TypeError, ValueError):
        lower = upper = np.nan
    if not (0 <= lower <= upper <= limit and upper < np.inf):
        most = f" <= {limit:g}" if limit < np.inf else ""
        raise ValueError(f"{name} is {given!r}, expected two numbers with 0 <= lower <= upper{most}")
    return lower, upper


def distance_percentiles(X: Array, percentiles: tuple[float, float] = (5, 95), max_rows: int = 2000) -> Array:
    """Return percentiles of all squared distances between rows; evenly spaced rows when there are very many.

    >>> distance_percentiles(np.array([[0.0], [1.0], [3.0]]), (0, 100))
    array([1., 9.])
    """
    if len(X) < 2:
        return np.zeros(len(percentiles))
    if len(X) > max_rows:
        X = X[np.linspace(0, len(X) - 1, max_rows).astype(np.intp)]
    distances = pdist(X, "sqeuclidean")
    if not distances.max() < np.inf:
        largest = np.abs(X).max()
        raise ValueError(
            f"the largest entry of X is {largest:g}: squared distances of such rows are infinite and have "
            "no percentiles; scale the rows, or give targets=(lower, upper)"
        )
    return np.percentile(distances, percentiles, overwrite_input=True)


def make_lego_layer(
    n_features: int, step: float, settings: Mapping[str, Any], X: Any, scale: float
) -> LEGOLayer:
    """Return a layer at its start, with ``targets`` as given, or percentiles of distances between rows."""
    targets = settings.get("targets", "percentiles")
    if not isinstance(targets, str):
        lower, upper = two_numbers("targets", targets)
        return LEGOLayer(n_features, step, (lower / scale / scale, upper / scale / scale))
    if targets != "percentiles":
        raise ValueError(f"targets is {targets!r}, expected 'percentiles' or two numbers")
    percentiles = two_numbers("percentiles", settings.get("percentiles", (5, 95)), 100.0)
    lower, upper = distance_percentiles(X, percentiles).tolist()
    return LEGOLayer(n_features, step, (lower / scale / scale, upper / scale / scale), percentiles)


class LEGO(OnlineLearner, MetricLearner):
    """LogDet exact gradient online: each pair is drawn towards a target distance.

    A triplet gives the pair (x, xp), whose squared distance should come to ``lower``, and then (x, xq), which
    should come to ``upper``. With ``z`` the difference and ``y`` the target of a pair, the step is ::

        M = argmin_{M PD}  tr(M M_prev⁻¹) - logdet(M M_prev⁻¹) + eta/2 (z'Mz - y)²
          = M_prev - c (M_prev z)(M_prev z)' / (1 + c ŷ),    ŷ = z'M_prev z,  c = eta (ȳ - y)

    where ``eta`` is ``gamma``, and the new distance ``ȳ = z'Mz`` is the positive root of
    ``eta ŷ ȳ² + (1 - eta y ŷ) ȳ - ŷ = 0``. The step is taken on the factor, ``L -= k (L z)(M z)'``, in O(d²).
    M stays positive definite for every ``eta``.

    Parameters
    ----------
    gamma : "auto" or float, default="auto"
        Weight of the loss; the paper writes eta. See :class:`~mloml.learners.opml.OPML`.
    targets : "percentiles" or (lower, upper), default="percentiles"
        Target squared distances of similar and dissimilar pairs, in the units of the user's rows.
        ``"percentiles"`` takes them from the distances between the rows of ``fit`` (at most 2000 of them), so
        it is not strictly online. A stream takes them from its first 8 rows, before which nothing is learned,
        and anew from the first 16, 32 and 64.
    percentiles : (float, float), default=(5, 95)
        Which percentiles.
    scale, scans, shuffle, random_state, triplets
        See :class:`~mloml.learners.opml.OPML`.

    Attributes
    ----------
    components_ : array of shape (d, d)
        The factor ``L``, which takes the user's rows; starts at the identity over ``scale_``.
    targets_ : (float, float)
        The target squared distances in use, between the user's rows. The distances that are learned are
        those over ``scale_``, and so are the targets that they are drawn to.
    classes_, gamma_, scale_, n_triplets_, n_updates_, n_cone_failures_, n_unlabelled_, n_restarts_, diverged_
        See :class:`~mloml.learners.online.OnlineLearner`; updates count pairs, and no step leaves the cone.

    Notes
    -----
    Features should be of one size (``StandardScaler``), or rows of one length (``Normalizer``); the length of
    rows itself does not matter with ``scale="auto"``.

    Both pairs of every triplet are moved, so ``n_updates_`` near twice ``n_triplets_`` is as
    it should be; fewer says that pairs coincide under the metric.

    References
    ----------
    P. Jain, B. Kulis, I. Dhillon, K. Grauman. Online metric learning and fast similarity search. NIPS, 2008.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.model_selection import GridSearchCV, cross_val_score
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = load_wine(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), LEGO(random_state=0), KNeighborsClassifier())
    >>> print(f"{cross_val_score(model, X, y).mean():.3f}")
    0.978
    >>> search = GridSearchCV(model, {"lego__gamma": [1e-4, 1e-3, 1e-2, 1e-1]})  # fit: tries all four
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **OnlineLearner._parameter_constraints,
        "targets": [StrOptions({"percentiles"}), "array-like"],
        "percentiles": ["array-like"],
    }

    _from_pairs = True

    def __init__(
        self, *, gamma: float | str = "auto", targets: str | ArrayLike = "percentiles",
        percentiles: tuple[float, float] = (5, 95), scale: str | float | None = "auto", scans: int = 20,
        shuffle: bool = True, random_state: Any = None, triplets: Rule = "released",
    ) -> None:  # fmt: skip
        self.targets = targets
        self.percentiles = percentiles
        super().__init__(gamma, scale, scans, shuffle, random_state, triplets)

    @property
    def targets_(self) -> Targets:
        """The target squared distances in use, between the user's rows."""
        check_is_fitted(self)
        if not isinstance(self.targets, str):
            return two_numbers("targets", self.targets)
        lower, upper = self._state.targets or (np.nan, np.nan)  # a stream that has just begun
        return lower * self.scale_ * self.scale_, upper * self.scale_ * self.scale_

    def _new_state(self, n_features: int, X: Any, step: float) -> LEGOLayer:
        settings = {"targets": self.targets, "percentiles": self.percentiles}
        return make_lego_layer(n_features, step, settings, X, self.scale_)
