import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import pdist
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import normalize
from threadpoolctl import threadpool_limits

from mloml.kernels.lmnn import DENSE, SPARSE
from mloml.learners import impostors
from mloml.learners.batch import ByClass
from mloml.learners.coordinates import Coordinates
from mloml.learners.impostors import LargeMargin
from mloml.learners.lmnn import LMNN


def brute_force_objective(L: Any, X: Any, y: Any, targets: list[list[int]], mu: float) -> float:
    def D(i: int, j: int) -> float:
        return float(np.sum((L @ (X[i] - X[j])) ** 2))

    pull = sum(D(i, j) for i in range(len(X)) for j in targets[i])
    push = sum(
        max(0.0, 1 + D(i, j) - D(i, impostor))
        for i in range(len(X))
        for j in targets[i]
        for impostor in np.flatnonzero(y != y[i])
    )
    return (1 - mu) * pull + mu * push


def brute_force_targets(X: Any, y: Any, K: int) -> list[list[int]]:
    chosen = []
    for i in range(len(X)):
        others = [j for j in range(len(X)) if y[j] == y[i] and j != i]
        chosen.append(sorted(others, key=lambda j: (((X[i] - X[j]) ** 2).sum(), j))[:K])
    return chosen


def problem_of(X: Any, y: Any, K: int) -> tuple[LargeMargin, Any, Any]:
    data = ByClass.of(X, y)
    return LargeMargin(data.X, data.starts, data.target_neighbours(K)), data.X, np.sort(y)


def small_data(seed: int, sizes: list[int], d: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    return rng.normal(size=(len(y), d)), y


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    sizes=st.lists(st.integers(1, 7), min_size=2, max_size=3).filter(lambda s: max(s) > 1),
    d=st.integers(1, 4),
    scale=st.sampled_from([0.1, 0.5, 1.0, 3.0]),
    mu=st.sampled_from([0.125, 0.5, 0.9]),
)
def test_objective_equals_the_sum_over_all_triples(
    seed: int, sizes: list[int], d: int, scale: float, mu: float
) -> None:
    problem, X, y = problem_of(*small_data(seed, sizes, d), 2)
    L = scale * np.random.default_rng(seed + 1).normal(size=(d, d))
    targets = brute_force_targets(X, y, problem.targets.shape[1])
    assert problem.evaluate(L, mu)[0] == pytest.approx(brute_force_objective(L, X, y, targets, mu), rel=1e-11)


def all_triples(X: Any, y: Any, A: Any, mu: float, K: int = 3) -> tuple[float, Any]:
    """Return objective and gradient, triple by triple, in double precision."""
    apart = X[:, None] - X[None]
    D = ((apart @ A.T) ** 2).sum(axis=2)
    value, V = 0.0, np.zeros(D.shape)
    for i, targets in enumerate(brute_force_targets(X, y, K)):
        for j in targets:
            active = np.flatnonzero((y != y[i]) & (1 + D[i, j] > D[i]))
            value += (1 - mu) * D[i, j] + mu * (1 + D[i, j] - D[i, active]).sum()
            V[i, j] += 1 - mu + mu * active.size
            V[i, active] -= mu
    return value, 2 * A @ np.einsum("ij,ija,ijb->ab", V, apart, apart)


@pytest.mark.parametrize("scale", [0.05, 1.0, 4.0, 12.0])  # from every pair active to a few in each block
@pytest.mark.parametrize("d", [3, 8, 19])
def test_value_and_gradient_are_those_of_all_triples_however_many_are_active(d: int, scale: float) -> None:
    problem, X, y = problem_of(*small_data(d, [37, 22, 18, 1], d), 3)
    A, mu = scale * np.random.default_rng(1).normal(size=(d, d)) / np.sqrt(d), 0.25
    value, gradient = all_triples(X, y, A, mu)
    found, slope = problem.evaluate(A, mu)
    assert found == pytest.approx(value, rel=1e-11)
    np.testing.assert_allclose(slope, gradient, rtol=1e-9, atol=1e-10 * np.abs(gradient).max())


@pytest.mark.parametrize("per_class", [8, 40])  # a few pairs of a block are active, or most
def test_margins_missed_by_less_than_single_precision_are_told_from_those_met(per_class: int) -> None:
    rng = np.random.default_rng(per_class)
    # Distances are whole numbers up to 1e-9: a row is inside a margin of one or not by that much.
    X = rng.integers(-1, 2, size=(3 * per_class, 3)) + 1e-9 * rng.normal(size=(3 * per_class, 3))
    y = np.repeat([0, 1, 2], per_class)
    value, gradient = all_triples(X, y, np.eye(3), 0.5)
    rounded = all_triples(np.rint(X), y, np.eye(3), 0.5)[1]
    assert np.abs(gradient - rounded).max() > 1.0  # or there was nothing to tell
    problem, _, _ = problem_of(X, y, 3)
    found, slope = problem.evaluate(np.eye(3), 0.5)
    assert found == pytest.approx(value, rel=1e-11)
    np.testing.assert_allclose(slope, gradient, rtol=1e-9, atol=1e-9 * np.abs(gradient).max())


@pytest.mark.parametrize("size", [1e-30, 1e-12, 1e12, 1e30])
def test_numbers_beyond_single_precision_are_no_problem(size: float) -> None:
    problem, X, y = problem_of(*small_data(2, [30, 20, 11], 5), 3)
    A = size * np.random.default_rng(3).normal(size=(5, 5))
    value, gradient = all_triples(X, y, A, 0.25)
    found, slope = problem.evaluate(A, 0.25)
    assert found == pytest.approx(value, rel=1e-9)
    np.testing.assert_allclose(slope, gradient, rtol=1e-7, atol=1e-9 * np.abs(gradient).max())


@pytest.mark.parametrize("mu", [0.1, 0.5, 0.9])
def test_the_best_factor_has_the_lowest_objective_of_all_multiples(mu: float) -> None:
    problem, _, _ = problem_of(*small_data(5, [20, 17, 13, 1], 4), 3)  # no more rows than a sample has
    A = np.random.default_rng(6).normal(size=(4, 4))
    lonely = problem_of(*small_data(5, [20, 17, 13], 4), 3)[0]
    best = lonely.ray(A).best_factor(mu)
    lowest = lonely.evaluate(best * A, mu)[0]
    for factor in (0.5, 0.9, 0.99, 0.999, 1.001, 1.01, 1.1, 2.0):
        assert lonely.evaluate(factor * best * A, mu)[0] >= lowest * (1 - 1e-12)
    assert np.isfinite(problem.ray(A).best_factor(mu))  # a row without targets is no anchor


def test_many_pairs_start_at_the_best_multiple_and_end_alike(monkeypatch: Any) -> None:
    X, y = load_wine(return_X_y=True)
    X = normalize(X)
    from_identity = LMNN(tol=1e-9, max_iter=5000).fit(X, y)
    monkeypatch.setattr(impostors, "MANY_PAIRS", 1)
    from_multiple = LMNN(tol=1e-9, max_iter=5000).fit(X, y)
    assert from_multiple.objective_ == pytest.approx(from_identity.objective_, rel=1e-4)
    problem, _, _ = problem_of(X, y, 3)
    start = problem.start_along(np.eye(13), 0.5)
    assert problem.evaluate(start, 0.5)[0] < 0.7 * problem.evaluate(np.eye(13), 0.5)[0]


def test_the_gap_after_a_descent_is_that_of_its_end() -> None:
    problem, _, _ = problem_of(*small_data(7, [20, 15, 12], 4), 3)
    for tol in (1e-2, 1e-9):  # stopped by the rule, and at a kink
        found = problem.minimise(np.eye(4), 0.5, tol, 500)
        after = problem.gap_after(found, 0.5)
        assert after == pytest.approx(problem.relative_gap(found.L, 0.5), rel=1e-6, abs=1e-12)


def test_fits_of_a_grid_know_what_single_fits_know() -> None:
    X, y = load_iris(return_X_y=True)
    for model in LMNN().fit_grid(X, y, "mu", [0.25, 0.5]):
        assert vars(model).keys() == vars(LMNN().fit(X, y)).keys()
    with pytest.raises(ValueError, match="mu"):
        LMNN().fit_grid(X, y, "mu", [0.25, 2.0])


@pytest.mark.parametrize("mu", [0.125, 0.5])
def test_gradient_agrees_with_finite_differences(mu: float) -> None:
    problem, _, _ = problem_of(*small_data(3, [9, 8, 7], 4), 3)
    rng = np.random.default_rng(4)
    L, h = 0.7 * rng.normal(size=(4, 4)), 1e-6
    gradient = problem.evaluate(L, mu)[1]
    for _ in range(5):
        E = rng.normal(size=L.shape)
        slope = (problem.evaluate(L + h * E, mu)[0] - problem.evaluate(L - h * E, mu)[0]) / (2 * h)
        assert np.sum(gradient * E) == pytest.approx(slope, rel=1e-6)


def test_listed_pairs_give_the_same_value_and_gradient_as_all_pairs(monkeypatch: Any) -> None:
    X, y = load_iris(return_X_y=True)
    data = ByClass.of(normalize(X), y)
    targets = data.target_neighbours(3)
    listing = LargeMargin(data.X, data.starts, targets)
    monkeypatch.setattr(impostors, "LISTED_SHARE", 10**9)  # no room for any list
    visiting_all = LargeMargin(data.X, data.starts, targets)
    rng = np.random.default_rng(0)
    L = 20 * np.eye(4)
    steps = [0.0, 0.003, 0.003, 0.003, 0.01, 0.05, 0.2, 1.0, 3.0, -9.0, 0.02, 0.02, 20.0]
    for step in steps:
        L = L + step * rng.normal(size=(4, 4))
        value, gradient = listing.evaluate(L, 0.5)
        expected, exact = visiting_all.evaluate(L, 0.5)
        assert value == pytest.approx(expected, rel=1e-12)
        np.testing.assert_allclose(gradient, exact, rtol=1e-9, atol=1e-9 * np.abs(exact).max())
    assert visiting_all.room.state[DENSE] == len(steps)
    assert listing.room.state[SPARSE] > 2
    assert listing.room.state[DENSE] > 2  # some lists were kept, some made anew


def test_targets_are_the_nearest_of_the_class_with_ties_by_row() -> None:
    X = np.array([[0.0], [1.0], [-1.0], [2.0], [10.0], [11.0], [13.0]])
    y = np.array([0, 0, 0, 0, 1, 1, 1])
    np.testing.assert_array_equal(ByClass.of(X, y).target_neighbours(2)[0], [1, 2])
    assert ByClass.of(X, y).target_neighbours(3).shape == (7, 2)


def test_objective_falls_far_below_its_start_and_is_certified() -> None:
    X, y = load_iris(return_X_y=True)
    X = normalize(X)
    problem, _, _ = problem_of(X, y, 3)
    model = LMNN(mu=0.125).fit(X, y)
    assert model.objective_ < 0.1 * problem.evaluate(np.eye(4), 0.125)[0]
    assert problem.evaluate(model.components_, 0.125)[0] == pytest.approx(model.objective_, rel=1e-9)
    assert 0 <= model.gap_ < 0.05


def test_no_metric_nearby_or_random_is_better() -> None:
    X, y = load_iris(return_X_y=True)
    problem, _, _ = problem_of(normalize(X), y, 3)
    model = LMNN(mu=0.5).fit(normalize(X), y)
    rng = np.random.default_rng(0)
    for scale in [1e-3, 1e-2, 1e-1, 1.0, 10.0] * 4:
        other = model.components_ + scale * rng.normal(size=(4, 4))
        assert problem.evaluate(other, 0.5)[0] > model.objective_ * (1 - 1e-6)


def test_features_of_unequal_scale_reach_the_same_optimum() -> None:
    # ε depends on L and the rows only through L X': rescaled features have the same optimal value.
    X, y = load_iris(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    data = ByClass.of(X, y)
    targets = data.target_neighbours(3)
    values = []
    for rows in (data.X, data.X * np.logspace(-1, 1, X.shape[1])):
        coordinates = Coordinates.of(rows, (rows[:, None] - rows[targets]).reshape(-1, rows.shape[1]))
        model = LMNN(mu=0.5)
        model._descend(LargeMargin(rows @ coordinates.W.T, data.starts, targets), coordinates)
        values.append(model.objective_)
    assert values[0] == pytest.approx(values[1], rel=1e-3)


def test_a_vanishing_push_collapses_the_metric_and_an_even_one_does_not() -> None:
    X, y = load_iris(return_X_y=True)
    X = normalize(X)
    assert np.linalg.norm(LMNN(mu=1e-7).fit(X, y).components_) < 0.1
    assert np.linalg.norm(LMNN(mu=0.5).fit(X, y).components_) > 1


def test_grid_equals_separate_fits() -> None:
    X, y = load_wine(return_X_y=True)
    X = normalize(X)
    values = [0.125, 0.25, 0.5]
    models = LMNN().fit_grid(X, y, "mu", values)
    assert [model.mu for model in models] == values
    for model, mu in zip(models, values, strict=True):
        np.testing.assert_array_equal(model.components_, LMNN(mu=mu).fit(X, y).components_)


def test_result_does_not_depend_on_blas_threads() -> None:
    X, y = load_wine(return_X_y=True)
    factors = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            factors.append(LMNN(max_iter=30, tol=1e-3).fit(normalize(X), y).components_)
    np.testing.assert_array_equal(*factors)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_memory_does_not_grow_with_the_triplets() -> None:
    rng = np.random.default_rng(0)
    X, y = normalize(rng.normal(size=(1200, 5))), np.arange(1200) % 2  # 2.2 million triplets, all active
    LMNN(max_iter=1).fit(X[:50], y[:50])
    tracemalloc.start()
    LMNN(max_iter=3).fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * 2**20


def test_too_few_steps_are_reported() -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        LMNN(max_iter=2).fit(normalize(X), y)


def test_small_classes_lower_the_number_of_targets() -> None:
    X, y = small_data(5, [6, 3], 2)
    assert LMNN(n_neighbors=3).fit(X, y).n_neighbors_ == 2


def test_a_class_of_a_single_row_serves_as_impostor_only() -> None:
    X, y = small_data(6, [6, 5, 1], 2)
    model = LMNN(n_neighbors=3).fit(X, y)
    assert model.n_neighbors_ == 3
    assert np.isfinite(model.components_).all()


@pytest.mark.parametrize(("y", "message"), [([0] * 4, "1 class"), ([0, 1, 2, 3], "at least two rows")])
def test_labels_without_targets_or_impostors_are_refused(y: list[int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LMNN().fit(np.arange(8.0).reshape(4, 2) ** 2, y)


def test_constant_and_duplicate_features_leave_a_finite_metric() -> None:
    X, y = load_iris(return_X_y=True)
    X = normalize(X)
    wide = np.column_stack([X, np.full(len(X), 0.5), X[:, 0]])
    model = LMNN().fit(wide, y)
    assert np.isfinite(model.components_).all()
    # An exact copy of a feature adds nothing to what metrics can express.
    assert model.objective_ <= LMNN().fit(X, y).objective_ * 1.5


def test_identical_rows_leave_the_identity() -> None:
    model = LMNN().fit(np.ones((6, 2)), [0, 0, 0, 1, 1, 1])
    np.testing.assert_allclose(model.get_mahalanobis_matrix(), np.eye(2), atol=1e-12)


def test_more_features_than_rows_interpolate() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(16, 30)), np.arange(16) % 2
    model = LMNN().fit(X, y)
    assert model.objective_ < 1e-3
    assert model.n_iter_ < 1000


@pytest.mark.parametrize("size", [1e-9, 1e-3, 1e4, 1e6, 1e200])
def test_the_size_of_rows_does_not_matter(size: float) -> None:
    X, y = load_wine(return_X_y=True)
    X = normalize(X)
    plain, scaled = LMNN().fit(X, y), LMNN().fit(size * X, y)
    assert scaled.objective_ == pytest.approx(plain.objective_, rel=1e-3)
    distances = [pdist(model.transform(rows)).mean() for model, rows in ((plain, X), (scaled, size * X))]
    assert distances[0] == pytest.approx(distances[1], rel=0.1)  # the learned metric carries the size
