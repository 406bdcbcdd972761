"""ML-CC: metric learning with clustering-based constraints, a reconstruction."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from .base import Array, MetricLearner
from .batch import Codes, labelled_rows, one_blas_thread, require_pairs
from .clusters import CentreMargin, ClusterMargin, cluster, first_centres, means_of
from .coordinates import Coordinates
from .descent import Descent, descend


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
    then stays as it is.

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

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn the metric from labelled rows."""
        rows, codes = labelled_rows(self, X, y)
        require_pairs(self, codes)
        groups = codes if self.reading == "per_class" else np.zeros_like(codes)
        seed = check_random_state(self.random_state)

        with one_blas_thread():
            centres = first_centres(rows, groups, self.n_clusters, seed)
            self._learn(rows, codes, groups, centres)
        return self

    def _learn(self, rows: Array, codes: Codes, groups: Codes, centres: list[Array]) -> None:
        """Alternate clusters and metric, from given centres in the input space."""
        L = np.eye(rows.shape[1])
        labels = cluster(rows, groups, centres)
        rounds: list[Descent] = []
        while len(rounds) < self.max_rounds and self._constrained(labels, codes):
            L, descent = self._minimise(rows, codes, labels, L)
            rounds.append(descent)
            Z, previous = rows @ L.T, labels
            of_group = groups[np.unique(labels, return_index=True)[1]]
            means = means_of(Z, labels)
            centres = [means[of_group == g] for g in range(int(groups.max()) + 1)]
            labels = cluster(Z, groups, centres)
            if np.array_equal(labels, previous):
                break
        self.components_ = L
        self.labels_ = labels
        self.objectives_ = np.array([[r.start, r.objective] for r in rounds]).reshape(-1, 2)
        self.n_rounds_ = len(rounds)
        self.n_iter_ = sum(r.n_iter for r in rounds)

    def _constrained(self, labels: Codes, codes: Codes) -> bool:
        """Whether there is any impostor: always between classes, in mixed clusters only inside them."""
        if self.reading == "per_class":
            return True
        return np.unique(np.column_stack([labels, codes]), axis=0).shape[0] > np.unique(labels).size

    def _minimise(self, rows: Array, codes: Codes, labels: Codes, L: Array) -> tuple[Array, Descent]:
        """Minimise over L with the clusters held fixed."""
        coordinates = Coordinates.of(rows, rows - means_of(rows, labels)[labels])
        margin = CentreMargin if self.reading == "per_class" else ClusterMargin
        problem = margin(rows @ coordinates.W.T, labels, codes)

        def objective(A: Array) -> tuple[float, Array]:
            value, G = problem.evaluate(A, self.mu)
            return value, 2 * A @ G

        found = descend(objective, coordinates.inside(L), self.tol, self.max_iter)
        return coordinates.factor(found.L), found
