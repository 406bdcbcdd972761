from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.neighbors import KNeighborsClassifier

from mloml.experiments.preprocessing import unit_rows
from mloml.experiments.scoring import Rows
from mloml.experiments.selection import candidates, select, stages, tuned_grid
from mloml.experiments.splits import fold_indices, split_indices
from mloml.learners.base import MetricLearner


class Weighting(MetricLearner):
    """Weights features by their class-mean spread to a power; large powers overflow, as a step size may."""

    def __init__(self, power=1.0, rate=0.0, random_state=None, gamma=1.0):
        self.power = power
        self.rate = rate
        self.random_state = random_state
        self.gamma = gamma

    def fit(self, X, y):
        means = np.array([X[y == label].mean(axis=0) for label in np.unique(y)])
        with np.errstate(over="ignore"):
            weights = (1 + means.std(axis=0)) ** (self.power * self.gamma) + self.rate
        self.components_ = np.diag(weights)
        self.n_features_in_ = X.shape[1]
        return self


class Gridded(Weighting):
    """The same with a grid in one go; counts how it was fitted."""

    calls: list[str] = []

    def fit(self, X, y):
        self.calls.append("fit")
        return super().fit(X, y)

    def fit_grid(self, X, y, name, values):
        self.calls.append("fit_grid")
        return [Weighting.fit(clone(self).set_params(**{name: value}), X, y) for value in values]


class Breaking(Weighting):
    """Raises at powers from 2 on."""

    def fit(self, X, y):
        if self.power >= 2:
            raise FloatingPointError("too large")
        return super().fit(X, y)


def iris_rows(split=0, folds=5):
    X, y = load_iris(return_X_y=True)
    X, y = unit_rows(X), y.astype(np.int64)
    train, test = split_indices(y, split, 0, "iris")
    pairs = fold_indices(y[train], split, 0, "iris", folds)
    X_train, y_train = X[train], y[train]
    inner = [(Rows(X_train[a], y_train[a], X_train[b], y_train[b], 5), i) for i, (a, b) in enumerate(pairs)]
    return Rows(X_train, y_train, X[test], y[test], 5), inner


def library_error(learner, rows):
    """The error by scikit-learn's own 5-NN (iris has no ties that matter)."""
    fitted = clone(learner).fit(rows.X_fit, rows.y_fit)
    model = KNeighborsClassifier(5, algorithm="brute").fit(fitted.transform(rows.X_fit), rows.y_fit)
    return 1 - model.score(fitted.transform(rows.X_score), rows.y_score)


def test_validation_and_test_errors_of_every_value_are_those_of_separate_fits():
    half, folds = iris_rows()
    powers = [0.5, 1.0, 20.0]
    result = select(Weighting(), {"power": powers}, half, folds)
    for power, entry in zip(powers, result.grid, strict=True):
        assert entry["params"] == {"power": power}
        assert entry["test_error"] == pytest.approx(library_error(Weighting(power), half))
        sizes = [len(rows.y_score) for rows, _ in folds]
        errors = [library_error(Weighting(power), rows) for rows, _ in folds]
        assert entry["cv_error"] == pytest.approx(np.average(errors, weights=sizes))
    best = min(result.grid, key=lambda entry: (entry["cv_error"], entry["params"]["power"]))
    assert result.chosen == best["params"]
    assert result.error == best["test_error"]
    assert result.learner.power == best["params"]["power"]


def test_ties_go_to_the_smallest_value():
    half, folds = iris_rows()
    grid = tuned_grid(Weighting(), {"gamma": None}, {"gamma": [0.3, 0.1, 0.2]})
    result = select(Weighting(power=0.0), grid, half, folds)
    assert len({entry["cv_error"] for entry in result.grid}) == 1
    assert result.chosen == {"gamma": 0.1}


def test_nothing_to_tune_means_one_candidate_and_no_validation():
    half, _ = iris_rows()
    result = select(Weighting(power=2.0), {}, half, [])
    assert result.grid == [{"params": {}, "cv_error": None, "test_error": result.error}]
    assert result.chosen == {}
    assert result.learner.power == 2.0


def test_a_learner_that_fits_grids_is_asked_once_per_fold_and_gives_the_same():
    half, folds = iris_rows()
    Gridded.calls = []
    gridded = select(Gridded(), {"power": [0.5, 1.0, 20.0]}, half, folds)
    assert Gridded.calls == ["fit_grid"] * 6
    assert gridded.grid == select(Weighting(), {"power": [0.5, 1.0, 20.0]}, half, folds).grid


def test_two_parameters_are_fitted_combination_by_combination():
    half, folds = iris_rows()
    Gridded.calls = []
    result = select(Gridded(), {"power": [0.5, 1.0], "random_state": [1, 2]}, half, folds)
    assert Gridded.calls == ["fit"] * (4 * 6)
    assert [entry["params"] for entry in result.grid] == candidates(
        {"power": [0.5, 1.0], "random_state": [1, 2]}
    )


@pytest.mark.parametrize("learner", [Weighting(), Breaking(), Gridded()], ids=["overflow", "raises", "grid"])
def test_a_candidate_that_diverges_has_error_one_and_is_not_chosen(learner):
    half, folds = iris_rows()
    result = select(learner, {"power": [1.0, 1e6]}, half, folds)
    assert [entry["test_error"] for entry in result.grid][1] == 1.0
    assert [entry["cv_error"] for entry in result.grid][1] == 1.0
    assert result.chosen == {"power": 1.0}
    assert result.error < 0.2


def test_everything_diverging_gives_error_one_rather_than_nan():
    half, folds = iris_rows()
    result = select(Breaking(), {"power": [2.0, 3.0]}, half, folds)
    assert result.chosen == {"power": 2.0}
    assert result.error == 1.0
    assert half.layer_errors(result.learner) is None


def test_a_mistake_in_a_learner_is_not_taken_for_divergence():
    class Wrong(Weighting):
        def fit(self, X, y):
            raise KeyError("a bug")

    half, folds = iris_rows()
    with pytest.raises(KeyError):
        select(Wrong(), {"power": [1.0, 2.0]}, half, folds)


def test_rate_is_chosen_after_gamma_and_with_the_gamma_chosen():
    half, folds = iris_rows()
    result = select(Weighting(), {"gamma": [0.5, 1.0, 30.0], "rate": [0.0, 1e3]}, half, folds)
    first, second = result.grid[:3], result.grid[3:]
    assert [entry["stage"] for entry in result.grid] == [1, 1, 1, 2, 2]
    assert all(entry["params"]["rate"] == 0.0 for entry in first)
    gamma = min(first, key=lambda entry: (entry["cv_error"], entry["params"]["gamma"]))["params"]["gamma"]
    assert [entry["params"] for entry in second] == [
        {"gamma": gamma, "rate": 0.0},
        {"gamma": gamma, "rate": 1e3},
    ]
    assert result.chosen["gamma"] == gamma
    assert result.error == next(e["test_error"] for e in second if e["params"] == result.chosen)


def test_a_single_open_parameter_needs_one_stage():
    assert stages({"rate": [1, 2]}) == [({"rate": [1, 2]}, {})]
    assert stages({}) == [({}, {})]


def test_only_null_parameters_that_the_learner_uses_are_tuned():
    class Picky(Weighting):
        def unused_parameters(self):
            return {"rate"}

    grid = {"power": [3, 1, 2], "gamma": [1.0], "rate": [0.1]}
    assert tuned_grid(Picky(), {"power": None, "gamma": 0.5, "rate": None}, grid) == {"power": [1, 2, 3]}
    assert tuned_grid(Weighting(), {"power": 1.0, "gamma": 0.5}, grid) == {"rate": [0.1]}


def test_each_fold_is_learnt_with_its_own_seed():
    seen = []

    class Noting(Weighting):
        def fit(self, X, y):
            seen.append(self.random_state)
            return super().fit(X, y)

    half, folds = iris_rows()
    select(Noting(random_state=99), {"power": [1.0, 2.0]}, half, folds)
    assert seen == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 99, 99]
