"""ML-CC: metric learning with clustering-based constraints, a reconstruction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from .base import Array, MetricLearner
from .batch import Codes, labelled_rows, one_blas_thread, require_pairs
from .clusters import CentreMargin, Clustered, ClusterMargin, cluster, first_centres
from .coordinates import in_input_space, span, unit_of, whitening
from .descent import Descent

Margin = type[CentreMargin] | type[ClusterMargin]


class MLCC(MetricLearner):
    """Metric learning with clustering-based constraints: a **reconstruction**.

    The text of the method's paper was not available. Title, parameters and idea (large-margin constraints
    that are made anew from clusters instead of being fixed beforehand) are its authors'; the form is ours.
    Two readings:

    ``"per_class"``: K clusters in each class. With m⁺ the centre of a row's own cluster, minimise ::

        (1 - μ) Σ_i D(xi, m⁺)  +  μ Σ_i Σ_{centres m of other classes} [1 + D(xi, m⁺) - D(xi, m)]₊

    ``"whole"``: K clusters of all rows. Inside each, rows of the same class are targets T(i) and the others
    impostors I(i), minimise ::

        (1 - μ) Σ_i Σ_{j∈T(i)} D_ij  +  μ Σ_i Σ_{j∈T(i)} Σ_{l∈I(i)} [1 + D_ij - D_il]₊

    A round clusters the rows under the current metric by k-means, from the centres of the round before, and
    minimises with these clusters held fixed, from the metric of the round before. Learning ends when no row
    changes its cluster. Empty clusters are dropped; a class (or the training set) with fewer than K rows has
    as many clusters as rows. With ``"whole"``, clusters of one class each hold no impostor at all: the metric
    then stays as it is. Rows with entries beyond a thousand, or none above a thousandth, are first multiplied
    by a power of two.

    Parameters
    ----------
    n_clusters : int, default=4
        K.
    mu : float in (0, 1), default=0.5
        Weight of the push term.
    reading : {"per_class", "whole"}, default="per_class"
        Which reading.
    max_rounds : int, default=10
        Largest number of rounds.
    tol : float, default=1e-4
        A round's descent stops when five steps together gain at most this share of the objective.
    max_iter : int, default=200
        Largest number of steps of a round.
    random_state : int, RandomState instance or None, default=0
        Seed of the first centres (k-means++).

    Attributes
    ----------
    components_ : ndarray of shape (n_features, n_features)
        The factor L.
    classes_ : ndarray
        The class labels.
    labels_ : ndarray of shape (n_samples,)
        Cluster of each training row in the last round.
    objectives_ : ndarray of shape (n_rounds, 2)
        The objective at the beginning and at the end of each round.
    n_rounds_ : int
        Number of rounds.
    n_iter_ : int
        Number of steps of all rounds together.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import Normalizer
    >>> from mloml import MLCC
    >>> X, y = load_wine(return_X_y=True)
    >>> model = make_pipeline(Normalizer(), MLCC(n_clusters=2), KNeighborsClassifier(5))
    >>> print(f"{cross_val_score(model, X, y).mean():.2f}")
    0.94

    References
    ----------
    X. Guo, C. Dang, J. Liang, W. Wei, J. Liang. Metric learning with clustering-based constraints.
    International Journal of Machine Learning and Cybernetics 12, 2021 (not seen; see above).
    """

    _parameter_constraints: dict = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "mu": [Interval(Real, 0, 1, closed="neither")],
        "reading": [StrOptions({"per_class", "whole"})],
        "max_rounds": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_clusters: int = 4,
        mu: float = 0.5,
        reading: str = "per_class",
        max_rounds: int = 10,
        tol: float = 1e-4,
        max_iter: int = 200,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.mu = mu
        self.reading = reading
        self.max_rounds = max_rounds
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def _kernels(self) -> set[str]:
        descent = "mlcc.centre_descent" if self.reading == "per_class" else "mlcc_whole.cluster_descent"
        return {"mlcc_lloyd.lloyd_in_groups", "mlcc_lloyd.about_means", descent}

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn the metric from labelled rows."""
        rows, codes = labelled_rows(self, X, y)
        with one_blas_thread():
            self._learn(self._start(rows, codes))
        return self

    def fit_options(self, X: ArrayLike, y: ArrayLike, options: Sequence[dict[str, Any]]) -> list[Self]:
        """Fit a clone with each of the given sets of parameters; equal to fitting each by itself.

        Fits that differ in ``mu`` only share their first clusters; all share the checks of the input.
        """
        models = [clone(self).set_params(**option) for option in options]
        if not models:
            return models
        rows, codes = labelled_rows(models[0], X, y)
        seen = {name: value for name, value in vars(models[0]).items() if name.endswith("_")}
        starts: dict[tuple[Any, ...], Start] = {}
        with one_blas_thread():
            for model in models:
                model._validate_params()
                vars(model).update(seen)
                shared = isinstance(model.random_state, Integral)  # else every fit draws its own centres
                key = (model.n_clusters, model.reading, model.random_state) if shared else (len(starts),)
                if key not in starts:
                    starts[key] = model._start(rows, codes, next(iter(starts.values()), None))
                model._learn(starts[key])
        return models

    def _start(self, rows: Array, codes: Codes, other: Start | None = None) -> Start:
        """Choose the first clusters; ``other`` is any start from the same rows."""
        require_pairs(self, codes)
        unit = unit_of(rows)
        rows = rows if unit == 1.0 else rows * unit
        groups = codes if self.reading == "per_class" else np.zeros_like(codes)
        centres = first_centres(rows, groups, self.n_clusters, check_random_state(self.random_state))
        return Start.of(rows, codes, groups, centres, span(rows) if other is None else other.V, unit)

    def _learn(self, start: Start) -> None:
        """Alternate clusters and metric."""
        X, labels, B = start.X, start.labels, np.eye(start.X.shape[1])
        rounds: list[Descent] = []
        while len(rounds) < self.max_rounds and self._constrained(labels, start.codes):
            held = start.held(labels, self._margin)
            found = held.problem.minimise(B @ held.back, self.mu, self.tol, self.max_iter)
            B = found.L @ held.white.T
            rounds.append(found)
            previous = labels
            labels = start.cluster(X @ B.T, held.means @ B.T, labels)
            if np.array_equal(labels, previous):
                break
        self.components_ = start.unit * in_input_space(start.V, B) if rounds else np.eye(len(start.V))
        self.labels_ = np.empty_like(labels)
        self.labels_[start.order] = labels
        self.objectives_ = np.array([[r.start, r.objective] for r in rounds]).reshape(-1, 2)
        self.n_rounds_ = len(rounds)
        self.n_iter_ = sum(r.n_iter for r in rounds)

    def _constrained(self, labels: Codes, codes: Codes) -> bool:
        """Whether there is any impostor: always between classes, in mixed clusters only inside them."""
        if self.reading == "per_class":
            return True
        return np.unique(np.column_stack([labels, codes]), axis=0).shape[0] > np.unique(labels).size

    @property
    def _margin(self) -> Margin:
        return CentreMargin if self.reading == "per_class" else ClusterMargin


@dataclass(frozen=True)
class Held:
    """A problem with its clusters held fixed, in coordinates that whiten them."""

    problem: CentreMargin | ClusterMargin
    means: Array
    white: Array
    back: Array

    @classmethod
    def of(cls, X: Array, labels: Codes, codes: Codes, margin: Margin) -> Held:
        """Hold the clusters of these labels."""
        data = Clustered.of(X, labels)
        scatter = data.apart.T @ data.apart
        white, back = whitening(scatter)
        return cls(margin(data, codes, white, scatter), data.means, white, back)


@dataclass(frozen=True)
class Start:
    """What fits with the same first clusters share.

    Rows are sorted by group (class or all), centred, and expressed in the basis V of their span.
    """

    V: Array
    X: Array
    codes: Codes
    order: Codes  # which given row each sorted row is
    group_starts: Codes
    labels: Codes
    unit: float  # what the given rows were multiplied by
    first: dict[Margin, Held] = field(default_factory=dict)  # the problem of the first round, once met

    @classmethod
    def of(
        cls, rows: Array, codes: Codes, groups: Codes, centres: list[Array], V: Array, unit: float = 1.0
    ) -> Start:
        """Sort the rows and run k-means in each group from the given centres of the input space."""
        order = np.argsort(groups, kind="stable")
        starts = np.concatenate([[0], np.cumsum(np.bincount(groups))])
        sizes = np.concatenate([[0], np.cumsum([len(group) for group in centres])])
        labels = cluster(rows[order], starts, np.concatenate(centres), sizes)
        X = (rows[order] - rows.mean(axis=0)) @ V
        return cls(V, X, codes[order], order, starts, labels, unit)

    def held(self, labels: Codes, margin: Margin) -> Held:
        """Return the problem of a round; fits that begin alike share that of the first."""
        if labels is not self.labels:
            return Held.of(self.X, labels, self.codes, margin)
        if margin not in self.first:
            self.first[margin] = Held.of(self.X, labels, self.codes, margin)
        return self.first[margin]

    def cluster(self, Z: Array, centres: Array, labels: Codes) -> Codes:
        """Run k-means on the mapped rows from the means of the clusters so far."""
        ends = np.maximum.reduceat(labels, self.group_starts[:-1])  # clusters are numbered group by group
        return cluster(Z, self.group_starts, centres, np.concatenate([[0], ends + 1]))
