"""LMNN against an oracle that goes through all triples, and on data where the answer is known."""

import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import pdist
from sklearn.datasets import load_iris, load_wine
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import normalize
from tests.oracles import lmnn as oracle
from threadpoolctl import threadpool_limits

import mloml.learners.lmnn as module
from mloml.learners.batch import ByClass, Coordinates
from mloml.learners.lmnn import LMNN, LargeMargin

IRIS, IRIS_Y = load_iris(return_X_y=True)
WINE, WINE_Y = load_wine(return_X_y=True)
IRIS, WINE = normalize(IRIS), normalize(WINE)


def problem_of(X: Any, y: Any, K: int = 3) -> tuple[LargeMargin, Any, Any]:
    data = ByClass.of(X, y)
    return LargeMargin(data, data.target_neighbours(K)), data.X, np.sort(y)


def small_data(seed: int, sizes: list[int], d: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    return rng.normal(size=(len(y), d)), y


def assert_exact(problem: LargeMargin, X: Any, y: Any, L: Any, mu: float, rtol: float = 1e-9) -> None:
    value, gradient = oracle.objective(L, X, y, problem.targets, mu)
    found, slope = problem.evaluate(L, mu)
    assert found == pytest.approx(value, rel=rtol)
    np.testing.assert_allclose(slope, gradient, rtol=rtol, atol=rtol * np.abs(gradient).max())


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    sizes=st.lists(st.integers(1, 7), min_size=2, max_size=3).filter(lambda s: max(s) > 1),
    d=st.integers(1, 4),
    k=st.integers(1, 5),
    scale=st.sampled_from([0.1, 0.5, 1.0, 3.0]),
    mu=st.sampled_from([0.125, 0.5, 0.9]),
)
def test_value_and_gradient_are_those_of_all_triples(
    seed: int, sizes: list[int], d: int, k: int, scale: float, mu: float
) -> None:
    problem, X, y = problem_of(*small_data(seed, sizes, d), 2)
    L = scale * np.random.default_rng(seed + 1).normal(size=(k, d))
    np.testing.assert_array_equal(problem.targets, oracle.target_neighbours(X, y, problem.targets.shape[1]))
    assert_exact(problem, X, y, L, mu)


@pytest.mark.parametrize("scale", [1e-30, 0.05, 1.0, 4.0, 12.0, 1e30])  # from all pairs active to few
@pytest.mark.parametrize("d", [3, 19])
def test_they_are_exact_however_many_triples_are_active(d: int, scale: float) -> None:
    problem, X, y = problem_of(*small_data(d, [70, 22, 18, 1], d))
    assert_exact(problem, X, y, scale * np.random.default_rng(1).normal(size=(d, d)) / np.sqrt(d), 0.25)


def test_margins_missed_by_a_billionth_are_told_from_those_met() -> None:
    rng = np.random.default_rng(8)  # distances are whole numbers up to 1e-9
    X, y = rng.integers(-1, 2, size=(60, 3)) + 1e-9 * rng.normal(size=(60, 3)), np.repeat([0, 1, 2], 20)
    problem, X, y = problem_of(X, y)
    rounded = oracle.objective(np.eye(3), np.rint(X), y, problem.targets, 0.5)[1]
    assert np.abs(problem.evaluate(np.eye(3), 0.5)[1] - rounded).max() > 1.0  # or there was nothing to tell
    assert_exact(problem, X, y, np.eye(3), 0.5)


@pytest.mark.parametrize("room", [1 << 22, 1])
def test_a_list_made_elsewhere_gives_the_same_as_all_pairs(room: int, monkeypatch: Any) -> None:
    monkeypatch.setattr(module, "ROOM", room)
    monkeypatch.setattr(module, "BLOCK", 8)
    made, visit_all = [], LargeMargin._list_and_visit
    monkeypatch.setattr(LargeMargin, "_list_and_visit", lambda self, Z: (made.append(1), visit_all(self, Z)))
    problem, X, y = problem_of(IRIS, IRIS_Y)
    rng, L = np.random.default_rng(0), 2 * np.eye(4)
    steps = [0.0, 0.003, 0.003, 0.003, 0.01, 0.05, 0.2, 1.0, 3.0, -9.0, 0.02, 0.02, 20.0]
    for step in steps:
        L = L + step * rng.normal(size=(4, 4))
        assert_exact(problem, X, y, L, 0.5)
    assert 2 < len(made) < len(steps)  # some lists were kept, some made anew


@pytest.mark.parametrize("mu", [0.1, 0.5, 0.9])
def test_the_best_multiple_has_nearly_the_lowest_objective_and_no_hinge_at_its_kink(mu: float) -> None:
    problem, X, y = problem_of(*small_data(5, [20, 17, 13], 4))  # no more rows than a sample has
    A = np.random.default_rng(6).normal(size=(4, 4))
    best = A * problem.best_multiple(A, mu)
    lowest = problem.evaluate(best, mu)[0]
    for factor in (0.5, 0.9, 0.99, 0.999, 1.001, 1.01, 1.1, 2.0):
        assert problem.evaluate(factor * best, mu)[0] >= lowest * (1 - 1e-3)
    D = (((X[:, None] - X) @ best.T) ** 2).sum(axis=2)
    hinges = 1 + np.take_along_axis(D, problem.targets, axis=1)[:, :, None] - D[:, None]
    assert np.abs(hinges[np.repeat(y[:, None, None] != y, 3, axis=1)]).min() > 1e-5


def test_one_ulp_of_the_input_does_not_move_the_end() -> None:
    first, second = LMNN().fit(WINE, WINE_Y), LMNN().fit(np.nextafter(WINE, 2.0), WINE_Y)
    assert first.n_iter_ == second.n_iter_
    np.testing.assert_allclose(first.components_, second.components_, rtol=1e-3, atol=1e-3)


def test_targets_are_the_nearest_of_the_class_with_ties_by_row() -> None:
    X = np.array([[0.0], [1.0], [-1.0], [2.0], [10.0], [11.0], [13.0]])
    y = np.array([0, 0, 0, 0, 1, 1, 1])
    np.testing.assert_array_equal(ByClass.of(X, y).target_neighbours(2)[0], [1, 2])
    assert ByClass.of(X, y).target_neighbours(3).shape == (7, 2)


def test_objective_falls_far_below_its_start_and_the_gap_bounds_the_rest() -> None:
    problem, _, _ = problem_of(IRIS, IRIS_Y)
    model = LMNN(mu=0.125).fit(IRIS, IRIS_Y)
    assert model.objective_ < 0.1 * problem.evaluate(np.eye(4), 0.125)[0]
    assert problem.evaluate(model.components_, 0.125)[0] == pytest.approx(model.objective_, rel=1e-9)
    assert 0 <= model.gap_ < 0.1
    rough = LMNN(mu=0.125, tol=0.1).fit(IRIS, IRIS_Y)
    assert rough.objective_ * (1 - rough.gap_) <= model.objective_ < rough.objective_


def test_no_metric_nearby_or_random_is_better() -> None:
    problem, _, _ = problem_of(IRIS, IRIS_Y)
    model = LMNN(mu=0.5).fit(IRIS, IRIS_Y)
    rng = np.random.default_rng(0)
    for scale in [1e-3, 1e-2, 1e-1, 1.0, 10.0] * 4:
        other = model.components_ + scale * rng.normal(size=(4, 4))
        assert problem.evaluate(other, 0.5)[0] > model.objective_ * (1 - 1e-5)


def test_features_of_unequal_scale_reach_the_same_optimum() -> None:
    # ε depends on L and the rows only through L X': rescaled features have the same optimal value.
    data = ByClass.of((IRIS - IRIS.mean(axis=0)) / IRIS.std(axis=0), IRIS_Y)
    targets, values = data.target_neighbours(3), []
    for scaled in (data, ByClass(data.X * np.logspace(-1, 1, 4), data.starts)):
        coordinates, model = Coordinates.of(scaled.X, scaled.differences(targets)), LMNN()
        problem = LargeMargin(ByClass(scaled.X @ coordinates.W.T, data.starts), targets)
        model._descend(problem, coordinates)
        values.append(model.objective_)
    assert values[0] == pytest.approx(values[1], rel=1e-3)


def test_a_vanishing_push_collapses_the_metric_and_an_even_one_does_not() -> None:
    assert np.linalg.norm(LMNN(mu=1e-7).fit(IRIS, IRIS_Y).components_) < 0.1
    assert np.linalg.norm(LMNN(mu=0.5).fit(IRIS, IRIS_Y).components_) > 1


def test_result_does_not_depend_on_blas_threads() -> None:
    factors = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            factors.append(LMNN(max_iter=30, tol=1e-3).fit(WINE, WINE_Y).components_)
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
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        LMNN(max_iter=2).fit(IRIS, IRIS_Y)


def test_constant_and_duplicate_features_leave_a_finite_metric() -> None:
    wide = np.column_stack([IRIS, np.full(len(IRIS), 0.5), IRIS[:, 0]])
    model = LMNN().fit(wide, IRIS_Y)
    assert np.isfinite(model.components_).all()
    # An exact copy of a feature adds nothing to what metrics can express.
    assert model.objective_ <= LMNN().fit(IRIS, IRIS_Y).objective_ * 1.5


def test_small_classes_lower_the_number_of_targets_and_one_of_a_single_row_does_not() -> None:
    assert LMNN(n_neighbors=3).fit(*small_data(5, [6, 3], 2)).n_neighbors_ == 2
    assert LMNN(n_neighbors=3).fit(*small_data(6, [6, 5, 1], 2)).n_neighbors_ == 3


def test_identical_rows_leave_the_identity() -> None:
    model = LMNN().fit(np.ones((6, 2)), [0, 0, 0, 1, 1, 1])
    np.testing.assert_allclose(model.get_mahalanobis_matrix(), np.eye(2), atol=1e-12)


def test_more_features_than_rows_interpolate() -> None:
    model = LMNN().fit(np.random.default_rng(0).normal(size=(16, 30)), np.arange(16) % 2)
    assert model.objective_ < 1e-3
    assert model.n_iter_ < 1000


def start_of(init: Any, k: int | None, X: Any, y: Any) -> Any:
    """Return the factor that the descent starts at, but for its multiple."""
    data = ByClass.of(X, y)
    coordinates = Coordinates.of(data.X, data.differences(data.target_neighbours(3)))
    mapped = (data.X - data.X.mean(axis=0)) @ coordinates.W.T
    return coordinates.factor(*coordinates.first(init, k, mapped, data.codes))


def directions(L: Any) -> Any:
    """Return rows of length 1, of which only the first entry's sign was arbitrary."""
    return L / np.linalg.norm(L, axis=1, keepdims=True) * np.sign(L[:, :1])


@pytest.mark.parametrize("k", [1, 2, 4])
def test_starts_are_those_of_scikit_learn(k: int) -> None:
    axes = PCA(k).fit(IRIS).components_
    np.testing.assert_allclose(directions(start_of("pca", k, IRIS, IRIS_Y)), directions(axes), atol=1e-6)
    np.testing.assert_allclose(start_of("identity", k, IRIS, IRIS_Y), np.eye(k, 4), atol=1e-9)
    given = np.random.default_rng(0).normal(size=(k, 4))
    np.testing.assert_allclose(start_of(given, k, IRIS, IRIS_Y), given, atol=1e-9)
    axes = LinearDiscriminantAnalysis().fit(IRIS, IRIS_Y).scalings_.T
    found = start_of("lda", k, IRIS, IRIS_Y)
    assert len(found) == k
    np.testing.assert_allclose(directions(found[:2]), directions(axes[:k]), atol=1e-6)


def test_a_start_keeps_what_it_is_where_no_rows_differ() -> None:
    X, y = small_data(0, [6, 5], 20)
    given = np.random.default_rng(1).normal(size=(3, 20))
    beside = np.linalg.svd(X - X.mean(axis=0))[2][10:].T
    np.testing.assert_allclose(LMNN(init=given).fit(X, y).components_ @ beside, given @ beside, atol=1e-9)


@pytest.mark.parametrize(
    ("data", "k", "init"),
    [
        ((IRIS, IRIS_Y), None, "identity"),
        ((IRIS, IRIS_Y), 2, "lda"),
        ((IRIS, IRIS_Y), 3, "pca"),
        ((IRIS, IRIS_Y), 4, "identity"),
        (small_data(0, [6, 5], 20), 11, "identity"),  # as many as rows
    ],
    ids=str,
)
def test_the_start_is_chosen_by_the_rule_of_metric_learn(data: Any, k: int | None, init: str) -> None:
    chosen, named = LMNN(n_components=k).fit(*data), LMNN(n_components=k, init=init).fit(*data)
    np.testing.assert_array_equal(chosen.components_, named.components_)


def test_all_features_are_the_default() -> None:
    np.testing.assert_array_equal(
        LMNN(n_components=4).fit(IRIS, IRIS_Y).components_, LMNN().fit(IRIS, IRIS_Y).components_
    )


@pytest.mark.parametrize("init", ["auto", "pca", "lda", "identity", np.eye(2, 13, 3)], ids=str)
def test_a_metric_of_low_rank_is_a_local_optimum(init: Any) -> None:
    problem, X, y = problem_of(WINE, WINE_Y)
    model = LMNN(n_components=2, init=init).fit(WINE, WINE_Y)
    assert model.components_.shape == (2, 13) and model.transform(WINE).shape == (178, 2)
    expected = oracle.objective(model.components_, X, y, problem.targets, 0.5)[0]
    assert model.objective_ == pytest.approx(expected, rel=1e-9)
    lowest = LMNN().fit(WINE, WINE_Y).objective_
    assert lowest < model.objective_ and model.objective_ * (1 - model.gap_) <= lowest
    rng = np.random.default_rng(0)
    for scale in [1e-3, 1e-2, 1e-1] * 5:
        other = model.components_ * (1 + scale * rng.normal(size=(2, 13)))
        assert problem.evaluate(other, 0.5)[0] > model.objective_ * (1 - 1e-4)


def test_more_components_have_lower_objectives() -> None:
    values = [LMNN(n_components=k).fit(WINE, WINE_Y).objective_ for k in (1, 2, 3, 5)]
    assert (np.diff(values) < 0).all()
    assert values[-1] == pytest.approx(LMNN().fit(WINE, WINE_Y).objective_, rel=1e-3)  # five are enough here


def test_one_component_finds_the_direction_that_tells_classes_apart() -> None:
    rng, y = np.random.default_rng(0), np.arange(120) % 2
    X = rng.normal(size=(120, 5)) * [3, 2, 1, 1, 1]
    w = np.array([1.0, -1.0, 2.0, 0.0, 1.0]) / np.sqrt(7)
    X += np.outer(8.0 * (2 * y - 1) - X @ w, w) + np.outer(0.1 * rng.normal(size=120), w)
    for init in ("auto", "pca"):
        assert abs(directions(LMNN(n_components=1, init=init).fit(X, y).components_)[0] @ w) > 0.99


@pytest.mark.parametrize("size", [1e-300, 1.0, 1e6, 1e300])
@pytest.mark.parametrize("far", [1e-200, 1.0, 1e200])
@pytest.mark.filterwarnings("error")
def test_the_size_of_a_start_does_not_matter(far: float, size: float) -> None:
    model = LMNN(init=far * np.eye(4)).fit(size * IRIS, IRIS_Y)
    assert np.isfinite(model.components_).all()
    assert model.objective_ == pytest.approx(LMNN().fit(IRIS, IRIS_Y).objective_, rel=1e-3)


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_a_start_at_the_end_of_another_fit_is_nearly_the_end(size: float) -> None:
    first = LMNN(n_components=3).fit(size * WINE, WINE_Y)
    again = LMNN(init=first.components_).fit(size * WINE, WINE_Y)
    assert again.n_iter_ <= 10 < first.n_iter_
    assert first.objective_ * (1 - 1e-4) < again.objective_ <= first.objective_ * (1 + 1e-9)


@pytest.mark.parametrize(
    ("k", "init", "message"),
    [
        (None, "random", "'init' parameter of LMNN"),
        (2, np.eye(3, 4), r"init has shape \(3, 4\), expected \(2, 4\)"),
        (None, np.eye(2, 3), r"init has shape \(2, 3\), expected \(2, 4\)"),
        (None, np.eye(5, 4), r"init has shape \(5, 4\), expected \(4, 4\)"),
        (None, np.ones(4), r"init has shape \(4,\), expected \(4, 4\)"),
        (None, np.empty((0, 4)), r"init has shape \(0, 4\), expected \(1, 4\)"),
        (1, [[1.0, np.nan, 0.0, 0.0]], "init has an entry nan, expected finite numbers"),
        (0, "auto", "'n_components' parameter of LMNN"),
    ],
    ids=str,
)
def test_starts_that_do_not_fit_are_refused_in_one_line(k: Any, init: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message) as error:
        LMNN(n_components=k, init=init).fit(IRIS, IRIS_Y)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("size", [1e-9, 1e-3, 1e4, 1e6, 1e200])
def test_the_size_of_rows_does_not_matter(size: float) -> None:
    plain, scaled = LMNN().fit(WINE, WINE_Y), LMNN().fit(size * WINE, WINE_Y)
    assert scaled.objective_ == pytest.approx(plain.objective_, rel=1e-3)
    distances = [
        pdist(model.transform(rows)).mean() for model, rows in ((plain, WINE), (scaled, size * WINE))
    ]
    assert distances[0] == pytest.approx(distances[1], rel=0.1)  # the learned metric carries the size
