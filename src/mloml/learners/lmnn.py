"""LMNN: large margin nearest neighbours, the batch method of the paper's tables."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Self

from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval

from .base import Array, MetricLearner
from .batch import ByClass, Codes, labelled_rows, labelled_rows_of_all, one_blas_thread, require_pairs
from .coordinates import Coordinates, unit_of
from .impostors import LargeMargin


class LMNN(MetricLearner):
    """Large margin nearest neighbours.

    Every row should have its target neighbours T(i), the K nearest rows of its class in the input space,
    nearer than any row l of another class, by a margin of one ::

        ε(L) = (1 - μ) Σ_i Σ_{j∈T(i)} D_ij  +  μ Σ_i Σ_{j∈T(i)} Σ_l [1 + D_ij - D_il]₊
        ∂ε/∂L = 2 L G,   G = (1 - μ) Σ C_ij + μ Σ_active (C_ij - C_il)

    with ``D_ij = ||L (xi - xj)||²`` and ``C_ij = (xi - xj)(xi - xj)'``. ``mu`` weighs the *push* term
    (metric-learn's ``regularization`` weighs the pull term: pass ``1 - mu`` there).

    The objective is minimised to convergence by L-BFGS from the identity, or from its best multiple if there
    are many pairs of rows, in coordinates that make it well conditioned. Value and gradient are exact and
    need no list of triplets: pairs that provably stay outside all margins are left out. With fewer rows than
    features the optimum may be zero: it interpolates. Rows with entries beyond a thousand, or none above a
    thousandth, are first multiplied by a power of two.

    Classes with fewer than K + 1 rows lower K to the size of the smallest of them minus one, for all rows.
    A class of a single row has no target neighbour at all; it does not lower K and only serves as impostor.

    Parameters
    ----------
    mu : float in (0, 1), default=0.5
        Weight of the push term.
    n_neighbors : int, default=3
        K, the number of target neighbours.
    tol : float, default=2e-7
        Stop when the last five steps together lowered the objective by at most ``tol`` times its value, or
        when it is below ``tol`` times its value at the start.
    max_iter : int, default=2000
        Largest number of steps; a ``ConvergenceWarning`` says when it was not enough.

    Attributes
    ----------
    components_ : ndarray of shape (n_features, n_features)
        The factor L.
    classes_ : ndarray
        The class labels.
    n_neighbors_ : int
        K as used.
    objective_ : float
        ε at ``components_``.
    gap_ : float
        Upper bound of ``ε - ε*``, relative to ε, where ε* is the global optimum: the problem is convex in
        ``M = L'L``, so one gradient certifies how far away the optimum can be. Loose at kinks of the hinge,
        infinite when the targets' differences do not span the rows.
    n_iter_ : int
        Number of steps.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import Normalizer
    >>> from mloml import LMNN
    >>> X, y = load_wine(return_X_y=True)
    >>> model = make_pipeline(Normalizer(), LMNN(), KNeighborsClassifier(5))
    >>> print(f"{cross_val_score(model, X, y).mean():.2f}")
    0.91

    References
    ----------
    K. Q. Weinberger, L. K. Saul. Distance metric learning for large margin nearest neighbor classification.
    Journal of Machine Learning Research 10, 2009.
    """

    _parameter_constraints: dict = {
        "mu": [Interval(Real, 0, 1, closed="neither")],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self, mu: float = 0.5, n_neighbors: int = 3, tol: float = 2e-7, max_iter: int = 2000
    ) -> None:
        self.mu = mu
        self.n_neighbors = n_neighbors
        self.tol = tol
        self.max_iter = max_iter

    def _kernels(self) -> set[str]:
        return {"neighbours.nearest_of_class", "lmnn.descent", "lmnn.objective"}

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn the metric from labelled rows."""
        rows, codes = labelled_rows(self, X, y)
        with one_blas_thread():
            self._descend(*self._problem(rows, codes))
        return self

    def fit_grid(self, X: ArrayLike, y: ArrayLike, name: str, values: Sequence[float]) -> list[Self]:
        """Fit a clone for each value of parameter ``name``; equal to fitting each by itself.

        Along ``mu`` the fits share targets and coordinates. None starts from another's result: that has lost
        the directions which a smaller ``mu`` collapsed, and the descent finds back to them badly.
        """
        models = [clone(self).set_params(**{name: value}) for value in values]
        if name != "mu" or not models:
            return [model.fit(X, y) for model in models]
        rows, codes = labelled_rows_of_all(models, X, y)
        with one_blas_thread():
            shared = self._problem(rows, codes)
            for model in models:
                model._descend(*shared)
        return models

    def _problem(self, rows: Array, codes: Codes) -> tuple[LargeMargin, Coordinates, float]:
        require_pairs(self, codes)
        unit = unit_of(rows)
        data = ByClass.of(rows if unit == 1.0 else rows * unit, codes)
        targets = data.target_neighbours(self.n_neighbors)
        linked = targets[:, 0] >= 0
        differences = data.X[linked][:, None] - data.X[targets[linked]]
        coordinates = Coordinates.of(data.X, differences.reshape(-1, rows.shape[1]))
        return LargeMargin(data.X @ coordinates.W.T, data.starts, targets), coordinates, unit

    def _descend(self, problem: LargeMargin, coordinates: Coordinates, unit: float = 1.0) -> None:
        """Minimise from the identity and publish the result, for rows in the user's units."""
        start = problem.start_along(coordinates.start, self.mu)
        found = problem.minimise(start, self.mu, self.tol, self.max_iter)
        self.components_ = unit * coordinates.factor(found.L)
        self.objective_ = found.objective
        self.gap_ = problem.gap_after(found, self.mu)
        self.n_iter_ = found.n_iter
        self.n_neighbors_ = problem.targets.shape[1]
        if not found.converged:
            message = f"LMNN stopped after max_iter={self.max_iter} steps before reaching tol={self.tol}"
            warnings.warn(message, ConvergenceWarning, stacklevel=3)
