"""LMDML: large-margin distance metric learning by single-row steps that stay positive definite."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from mloml.kernels.lmdml import epoch, mean_hinge
from mloml.kernels.lmdml_rows import in_blocks, no_products, places_of, units_of
from mloml.kernels.lmdml_search import self_products
from mloml.kernels.padding import padded_copy

from .base import Array, MetricLearner
from .batch import ByClass, Codes, factor_of, labelled_rows, labelled_rows_of_all, require_pairs

Targets = NDArray[np.intp]
FEW_UPDATES = 0.01  # share of rows updated in an epoch below which learning stops


@dataclass(frozen=True)
class Prepared:
    """What fits to the same rows share: rows by class, as given and as the passes read them, and targets."""

    data: ByClass
    codes: Codes
    targets: Targets
    places: NDArray[np.intp]
    X: Array
    blocks: NDArray[np.float32]


class LMDML(MetricLearner):
    """Large-margin distance metric learning with safe steps.

    Minimises over positive definite M with ``tr M <= B`` ::

        1/n Σ_i [1 + D_M(xi, xi⁺) - D_M(xi, xi⁻)]₊

    where ``xi⁺`` is the farthest of K fixed target neighbours (nearest rows of the class in the input space)
    and ``xi⁻`` the nearest row of another class, both under the current M. Rows are visited one at a time;
    visit t, with ``u = x⁺ - x``, ``v = x⁻ - x`` and an active hinge, steps by ::

        M += α (vv' - uu'),    α = min(0.9 α_max, 1/√t)
        α_max = 2 / (u'M⁻¹u - v'M⁻¹v + √((v'M⁻¹v - u'M⁻¹u)² + 4 (v'M⁻¹v · u'M⁻¹u - (u'M⁻¹v)²)))

    and scales M back to trace B. α_max is where M would become singular. The inverse is tracked by rank-one
    updates and renewed every 500 updates, or at once when it drifts. Violators come first in the next epoch;
    learning stops when fewer than 1 % of the rows were updated in an epoch.

    Classes with fewer than K + 1 rows lower K to the size of the smallest of them minus one. Classes of a
    single row only serve as impostors.

    Parameters
    ----------
    bound : float, default=1.0
        B, the largest trace of M; learning starts at ``M = (B/d) I``.
    n_neighbors : int, default=3
        K, the number of target neighbours.
    max_epochs : int, default=10
        Largest number of passes over the rows.
    max_steps : int, default=20000
        Largest number of visits.
    random_state : int, RandomState instance or None, default=None
        Order of the rows in the first epoch.

    Attributes
    ----------
    components_ : ndarray of shape (n_features, n_features)
        Factor L of M, by eigenvalues.
    classes_ : ndarray
        The class labels.
    objective_ : float
        Mean hinge over the training rows at the end.
    n_iter_ : int
        Number of epochs begun.
    n_steps_, n_updates_ : int
        Number of visits, and of those that changed M.

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
        self,
        bound: float = 1.0,
        n_neighbors: int = 3,
        max_epochs: int = 10,
        max_steps: int = 20000,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.bound = bound
        self.n_neighbors = n_neighbors
        self.max_epochs = max_epochs
        self.max_steps = max_steps
        self.random_state = random_state

    def _kernels(self) -> set[str]:
        return {
            "neighbours.nearest_of_class",
            "lmdml_search.self_products",
            "lmdml.epoch",
            "lmdml.mean_hinge",
        }

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn the metric from labelled rows."""
        self._descend(self._prepare(*labelled_rows(self, X, y)))
        _ = self.objective_  # now: the rows need not be kept
        return self

    def fit_grid(self, X: ArrayLike, y: ArrayLike, name: str, values: Sequence[float]) -> list[Self]:
        """Fit a clone for each value of parameter ``name``; equal to fitting each by itself.

        Along ``bound`` the fits share the rows as the passes read them, and their target neighbours. They
        keep them until ``objective_`` is asked for, which takes a pass for each row and is rarely wanted.
        """
        models = [clone(self).set_params(**{name: value}) for value in values]
        if name != "bound" or not models:
            return [model.fit(X, y) for model in models]
        shared = self._prepare(*labelled_rows_of_all(models, X, y))
        for model in models:
            model._descend(shared)
        return models

    def _prepare(self, rows: Array, codes: Codes) -> Prepared:
        """Return what does not depend on the bound: the centred rows by class, and the targets of each."""
        require_pairs(self, codes)
        data = ByClass.of(rows - rows.mean(axis=0), codes)
        places = places_of(data.starts)
        blocks = in_blocks(data.X, places, units_of(data.X, 1.0)[0])
        targets = data.target_neighbours(self.n_neighbors)
        return Prepared(data, data.codes, targets, places, padded_copy(data.X), blocks)

    def _descend(self, of: Prepared) -> None:
        """Visit the rows epoch by epoch and publish the result."""
        anchors = np.flatnonzero(of.targets[:, 0] >= 0)
        order = check_random_state(self.random_state).permutation(anchors)

        d, units, bound = of.data.X.shape[1], units_of(of.data.X, self.bound), float(self.bound)
        M, K = padded_copy(np.eye(d) * (bound / d)), padded_copy(np.eye(d) * (d / bound))
        h = no_products(of.blocks)
        rows = of.X, of.blocks, units, of.places, of.data.starts, of.codes, of.targets
        self.n_iter_ = self.n_steps_ = self.n_updates_ = 0
        updated = order.size
        while (
            updated >= FEW_UPDATES * order.size
            and self.n_iter_ < self.max_epochs
            and self.n_steps_ < self.max_steps
        ):
            self_products(M, of.X, units, of.places, h)
            updates_before = self.n_updates_
            self.n_steps_, self.n_updates_ = epoch(
                M, K, h, *rows, order, self.n_steps_, self.max_steps, self.n_updates_, bound
            )
            updated = self.n_updates_ - updates_before
            self.n_iter_ += 1
        self._objective: float | Callable[[], float] = partial(mean_hinge, M, h, *rows, anchors)
        self.components_ = factor_of((M[:, :d] + M[:, :d].T) / 2)

    @property
    def objective_(self) -> float:
        """Mean hinge over the training rows at the end."""
        check_is_fitted(self)
        if callable(self._objective):
            self._objective = self._objective()
        return self._objective

    def __getstate__(self) -> dict[str, Any]:
        if hasattr(self, "components_"):
            _ = self.objective_  # what is stored or copied has no rows with it
        state: dict[str, Any] = super().__getstate__()
        return state
