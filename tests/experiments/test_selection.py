import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.neighbors import KNeighborsClassifier

from mloml.experiments.neighbours import Rows
from mloml.experiments.preprocessing import unit_rows
from mloml.experiments.selection import (
    candidates,
    choose_per_dataset,
    choose_per_split,
    oracle,
    select,
    tuned_grid,
)
from mloml.experiments.splits import fold_indices, split_indices
from mloml.learners.base import MetricLearner


class Weighting(MetricLearner):
    """Weights features by their class-mean spread to a power; large powers overflow, as a step size may."""

    def __init__(self, power=1.0, rate=0.0, random_state=None, gamma=1.0):
        self.power, self.rate, self.random_state, self.gamma = power, rate, random_state, gamma

    def fit(self, X, y):
        means = np.array([X[y == label].mean(axis=0) for label in np.unique(y)])
        with np.errstate(over="ignore"):
            weights = (1 + means.std(axis=0)) ** (self.power * self.gamma) + self.rate
        self.components_ = np.diag(weights)
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


class Optional(Gridded):
    """One that fits any candidates in one go, unless one of them is too large."""

    def fit_options(self, X, y, options):
        self.calls.append("fit_options")
        if any(option.get("power", 0) > 1e3 for option in options):
            raise FloatingPointError("too large")
        return [Weighting.fit(clone(self).set_params(**option), X, y) for option in options]


class Breaking(Weighting):
    """Raises at powers from 2 on."""

    def fit(self, X, y):
        if self.power >= 2:
            raise FloatingPointError("too large")
        return super().fit(X, y)


class Blind(Weighting):
    """Sees the features with one power only; with all others every row is the same."""

    def fit(self, X, y):
        super().fit(X, y)
        self.components_ = np.eye(X.shape[1]) * (self.power == 2.0)
        return self


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


@pytest.mark.parametrize("values", [[1.0, 2.0, 3.0], [2.0, 3.0], [0.0, 1.0, 2.0]])
def test_the_winner_is_chosen_wherever_it_stands_in_the_grid(values):
    half, folds = iris_rows()
    result = select(Blind(), {"power": values}, half, folds)
    assert result.chosen == {"power": 2.0}
    assert result.learner.power == 2.0
    assert result.error == pytest.approx(library_error(Blind(2.0), half))
    assert result.error < 0.1


@pytest.mark.parametrize("powers", [[0.5, 1.0, 20.0], [0.5, 30.0]])
def test_validation_and_test_errors_of_every_value_are_those_of_separate_fits(powers):
    half, folds = iris_rows(split=1)
    result = select(Weighting(), {"power": powers}, half, folds)
    for power, entry in zip(powers, result.grid, strict=True):
        assert entry["params"] == {"power": power}
        assert entry["test_error"] == pytest.approx(library_error(Weighting(power), half))
        sizes = [len(rows.y_score) for rows, _ in folds]
        errors = [library_error(Weighting(power), rows) for rows, _ in folds]
        assert entry["cv_error"] == pytest.approx(np.average(errors, weights=sizes))
    best = min(result.grid, key=lambda entry: (entry["cv_error"], entry["params"]["power"]))
    assert (result.chosen, result.error) == (best["params"], best["test_error"])
    assert result.learner.power == best["params"]["power"]
    assert all(seconds > 0 for seconds in result.seconds.values())


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


def test_a_learner_that_fits_candidates_in_one_go_is_asked_once_per_fold_and_gives_the_same():
    half, folds = iris_rows()
    one = {"power": [0.5, 1.0, 20.0]}
    two = {"power": [0.5, 1.0], "random_state": [1, 2]}
    plans = [(Gridded, one, "fit_grid", 1), (Gridded, two, "fit", 4)]
    plans += [(Optional, grid, "fit_options", 1) for grid in (one, two)]
    for kind, grid, method, times in plans:
        Gridded.calls.clear()
        result = select(kind(), grid, half, folds)
        assert Gridded.calls == [method] * 6 * times
        assert result.grid == select(Weighting(), grid, half, folds).grid
        assert [entry["params"] for entry in result.grid] == candidates(grid)


@pytest.mark.parametrize(
    "learner", [Weighting(), Breaking(), Gridded(), Optional()], ids=lambda one: type(one).__name__
)
def test_a_candidate_that_diverges_has_error_one_and_is_not_chosen(learner):
    half, folds = iris_rows()
    result = select(learner, {"power": [1e6, 1.0]}, half, folds)
    assert (result.grid[0]["test_error"], result.grid[0]["cv_error"]) == (1.0, 1.0)
    assert result.chosen == {"power": 1.0}
    assert result.error < 0.2


def test_one_that_diverges_in_a_single_fold_has_validation_error_one():
    class Moody(Weighting):
        def fit(self, X, y):
            super().fit(X, y)
            self.diverged_ = self.random_state == 2 and self.power == 1.0
            return self

    half, folds = iris_rows()
    result = select(Moody(), {"power": [1.0, 2.0]}, half, folds)
    assert [entry["cv_error"] == 1.0 for entry in result.grid] == [True, False]


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
    result = select(Weighting(), {"gamma": [30.0, 0.5, 1.0], "rate": [1e3, 0.0]}, half, folds)
    first, second = result.grid[:3], result.grid[3:]
    assert [entry["stage"] for entry in result.grid] == [1, 1, 1, 2, 2]
    assert all(entry["params"]["rate"] == 0.0 for entry in first)
    gamma = min(first, key=lambda entry: entry["cv_error"])["params"]["gamma"]
    assert [entry["params"] for entry in second] == [
        {"gamma": gamma, "rate": 1e3},
        {"gamma": gamma, "rate": 0.0},
    ]
    assert result.chosen == min(second, key=lambda entry: entry["cv_error"])["params"]
    assert result.error == next(e["test_error"] for e in second if e["params"] == result.chosen)


def test_only_null_parameters_that_the_learner_uses_are_tuned_numbers_ascending():
    class Picky(Weighting):
        def unused_parameters(self):
            return {"rate"}

    grid = {"power": [3, 1, 2], "gamma": [1.0], "rate": [0.1]}
    assert tuned_grid(Picky(), {"power": None, "gamma": 0.5, "rate": None}, grid) == {"power": [1, 2, 3]}
    assert tuned_grid(Weighting(), {"power": 1.0, "gamma": 0.5}, grid) == {"rate": [0.1]}
    assert tuned_grid(Weighting(), {}, {"power": ["b", "a", 1]}) == {"power": ["b", "a", 1]}


def test_each_fold_is_learnt_with_its_own_seed():
    seen = []

    class Noting(Weighting):
        def fit(self, X, y):
            seen.append(self.random_state)
            return super().fit(X, y)

    half, folds = iris_rows()
    select(Noting(random_state=99), {"power": [1.0, 2.0]}, half, folds)
    assert seen == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 99, 99]


def record(split, *errors, stage=None):
    """A record whose grid holds (gamma, validation error, test error)."""
    extra = {} if stage is None else {"stage": stage}
    grid = [{**extra, "params": {"gamma": g}, "cv_error": cv, "test_error": test} for g, cv, test in errors]
    return {"split": split, "grid": grid}


RECORDS = [
    record(2, (0.1, 0.20, 0.50), (0.2, 0.20, 0.52), (0.3, 0.21, 0.51)),
    record(0, (0.1, 0.20, 0.31), (0.2, 0.10, 0.32), (0.3, 0.30, 0.33)),
    record(1, (0.1, 0.10, 0.43), (0.2, 0.15, 0.42), (0.3, 0.30, 0.40)),
]


def test_three_choices_are_read_from_the_same_records():
    # The smallest validation error of each split; of all splits in the mean; the smallest test error.
    assert choose_per_split(RECORDS) == [
        (2, {"gamma": 0.1}, 0.50),
        (0, {"gamma": 0.2}, 0.32),
        (1, {"gamma": 0.1}, 0.43),
    ]
    assert [choice.error for choice in choose_per_dataset(RECORDS)] == [0.52, 0.32, 0.42]
    assert [choice.error for choice in oracle(RECORDS)] == [0.50, 0.31, 0.40]
    assert [choice.error for choice in oracle(RECORDS, per="dataset")] == [0.50, 0.31, 0.43]
    with pytest.raises(ValueError, match="per='fold'"):
        oracle(RECORDS, per="fold")


def test_equal_means_go_to_the_smallest_value_whatever_the_rounding():
    errors = [(0.1, 0.3), (0.2, 0.2), (0.3, 0.1)]
    records = [record(i, (0.1, a, 0.5), (0.2, b, 0.6)) for i, (a, b) in enumerate(errors)]
    assert [choice.error for choice in choose_per_dataset(records)] == [0.5, 0.5, 0.5]


def test_a_method_without_grid_is_the_same_under_all_three():
    plain = [{"split": 0, "grid": [{"params": {}, "cv_error": None, "test_error": 0.25}]}]
    assert choose_per_split(plain) == choose_per_dataset(plain) == oracle(plain) == [(0, {}, 0.25)]
    assert choose_per_split([]) == choose_per_dataset([]) == oracle([]) == []


def test_staged_choices_are_made_in_the_last_stage():
    first, second = record(0, (0.1, 0.0, 0.0), stage=1), record(0, (0.2, 0.5, 0.5), stage=2)
    staged = [{"split": 0, "grid": first["grid"] + second["grid"]}]
    assert choose_per_split(staged) == choose_per_dataset(staged) == oracle(staged)
    assert oracle(staged) == [(0, {"gamma": 0.2}, 0.5)]


def test_records_of_different_grids_are_refused():
    with pytest.raises(ValueError, match="different grids"):
        choose_per_dataset([RECORDS[0], record(1, (0.1, 0.1, 0.1))])
