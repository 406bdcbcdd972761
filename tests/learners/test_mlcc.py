from typing import Any

import numpy as np
import pytest
from sklearn.cluster import KMeans, kmeans_plusplus
from sklearn.datasets import load_iris, load_wine, make_blobs
from sklearn.preprocessing import normalize

from mloml.learners.clusters import CentreMargin, Clustered, ClusterMargin, cluster, far_apart, first_centres
from mloml.learners.coordinates import span
from mloml.learners.mlcc import MLCC, Start


def rows_and_codes(dataset: Any = load_iris) -> tuple[Any, Any]:
    X, y = dataset(return_X_y=True)
    return normalize(X), y


def small_problem(seed: int) -> tuple[Any, Any, Any, Any]:
    rng = np.random.default_rng(seed)
    X, codes = rng.normal(size=(18, 3)), rng.permutation(np.arange(18) % 3)
    labels = rng.permutation(np.arange(18) % 4)
    return X, codes, labels, 0.6 * rng.normal(size=(3, 3))


def problem_of(margin: Any, X: Any, labels: Any, codes: Any) -> Any:
    data = Clustered.of(X - X.mean(axis=0), labels)
    scatter = data.apart.T @ data.apart
    W = np.linalg.eigh(scatter)[1]
    problem = margin(data, codes, W, scatter)

    def evaluate(L: Any, mu: float) -> tuple[float, Any]:
        value, gradient = problem.evaluate(L @ W, mu)
        return value, gradient @ W.T

    return evaluate


def brute_force_centres(L: Any, X: Any, labels: Any, codes: Any, mu: float) -> float:
    total = 0.0
    for i in range(len(X)):
        own = np.sum((L @ (X[i] - X[labels == labels[i]].mean(axis=0))) ** 2)
        total += (1 - mu) * own
        for k in np.unique(labels[codes != codes[i]]):
            other = np.sum((L @ (X[i] - X[labels == k].mean(axis=0))) ** 2)
            total += mu * max(0.0, 1 + own - other)
    return total


def brute_force_clusters(L: Any, X: Any, labels: Any, codes: Any, mu: float) -> float:
    def D(i: int, j: int) -> float:
        return float(np.sum((L @ (X[i] - X[j])) ** 2))

    total = 0.0
    for i in range(len(X)):
        mates = [j for j in range(len(X)) if labels[j] == labels[i] and j != i]
        for j in (j for j in mates if codes[j] == codes[i]):
            total += (1 - mu) * D(i, j)
            total += mu * sum(max(0.0, 1 + D(i, j) - D(i, k)) for k in mates if codes[k] != codes[i])
    return total


def clusters_within_classes(codes: Any, seed: int) -> Any:
    return 2 * codes + np.random.default_rng(seed).integers(0, 2, size=codes.size)


@pytest.mark.parametrize("mu", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_objectives_equal_sums_over_all_constraints(mu: float, seed: int) -> None:
    X, codes, labels, L = small_problem(seed)
    value, _ = problem_of(ClusterMargin, X, labels, codes)(L, mu)
    assert value == pytest.approx(brute_force_clusters(L, X, labels, codes, mu), rel=1e-11)
    labels = np.unique(clusters_within_classes(codes, seed), return_inverse=True)[1]
    value, _ = problem_of(CentreMargin, X, labels, codes)(L, mu)
    assert value == pytest.approx(brute_force_centres(L, X, labels, codes, mu), rel=1e-11)


@pytest.mark.parametrize("margin", [CentreMargin, ClusterMargin])
def test_gradients_agree_with_finite_differences(margin: Any) -> None:
    X, codes, labels, L = small_problem(3)
    if margin is CentreMargin:
        labels = np.unique(clusters_within_classes(codes, 3), return_inverse=True)[1]
    evaluate, h = problem_of(margin, X, labels, codes), 1e-6
    gradient = evaluate(L, 0.3)[1]
    for E in np.random.default_rng(0).normal(size=(4, 3, 3)):
        slope = (evaluate(L + h * E, 0.3)[0] - evaluate(L - h * E, 0.3)[0]) / (2 * h)
        assert np.sum(gradient * E) == pytest.approx(slope, rel=1e-6)


def test_clusters_equal_those_of_scikit_learn_from_the_same_centres() -> None:
    X, _ = make_blobs(200, n_features=3, centers=5, random_state=0)
    groups = np.zeros(200, dtype=np.intp)
    centres = first_centres(X, groups, 5, np.random.RandomState(0))
    expected = KMeans(5, init=centres[0], n_init=1, tol=0).fit(X).labels_
    found = cluster(X, np.array([0, 200]), centres[0], np.array([0, 5]))
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("count", [1, 2, 5, 12])
def test_first_centres_are_those_of_scikit_learn(count: int) -> None:
    X = np.random.default_rng(count).normal(size=(150, 5))
    one, other = np.random.RandomState(count), np.random.RandomState(count)
    np.testing.assert_array_equal(far_apart(X, count, one), kmeans_plusplus(X, count, random_state=other)[1])
    assert one.uniform() == other.uniform()  # the next class goes on with the same numbers


def test_first_centres_of_equal_rows_are_rows() -> None:
    assert set(far_apart(np.ones((6, 2)), 4, np.random.RandomState(0))) <= set(range(6))


def test_empty_clusters_are_dropped() -> None:
    X = np.array([[0.0], [0.1], [5.0]])
    labels = cluster(X, np.array([0, 3]), np.array([[0.0], [100.0], [5.0]]), np.array([0, 3]))
    np.testing.assert_array_equal(labels, [0, 0, 1])


def test_clusters_of_groups_are_numbered_through() -> None:
    X = np.array([[0.0], [1.0], [5.0], [5.1], [9.0]])
    centres = np.array([[0.0], [1.0], [100.0], [9.0], [5.0]])
    labels = cluster(X, np.array([0, 2, 5]), centres, np.array([0, 2, 5]))
    np.testing.assert_array_equal(labels, [0, 1, 3, 3, 2])


@pytest.mark.parametrize("reading", ["per_class", "whole"])
@pytest.mark.parametrize("mu", [0.1, 0.9])
def test_objective_falls_in_each_round(reading: str, mu: float) -> None:
    model = MLCC(n_clusters=2, mu=mu, reading=reading).fit(*rows_and_codes(load_wine))
    assert 1 <= model.n_rounds_ <= 10
    assert (model.objectives_[:, 1] < model.objectives_[:, 0]).all()
    assert model.n_iter_ >= model.n_rounds_


def test_one_cluster_per_class_is_a_nearest_class_mean_metric() -> None:
    X, codes = rows_and_codes()
    model = MLCC(n_clusters=1, mu=0.5, max_rounds=1).fit(X, codes)
    np.testing.assert_array_equal(model.labels_, codes)
    assert model.objectives_[0, 1] == pytest.approx(
        brute_force_centres(model.components_, X, codes, codes, 0.5), rel=1e-8
    )
    means = np.array([X[codes == c].mean(axis=0) for c in range(3)])
    distances = ((model.transform(X)[:, None] - model.transform(means)) ** 2).sum(axis=2)
    assert np.mean(distances.argmin(axis=1) == codes) > 0.95


def test_a_permutation_of_the_rows_changes_nothing_given_the_centres() -> None:
    X, codes = rows_and_codes(load_wine)
    centres = first_centres(X, codes, 2, np.random.RandomState(0))
    shuffled = np.random.default_rng(0).permutation(len(X))
    one, other = MLCC(max_rounds=1, tol=1e-2), MLCC(max_rounds=1, tol=1e-2)
    one._learn(Start.of(X, codes, codes, centres, span(X)))
    X, codes = X[shuffled], codes[shuffled]
    other._learn(Start.of(X, codes, codes, centres, span(X)))
    np.testing.assert_array_equal(one.labels_[shuffled], other.labels_)
    M, same = one.get_mahalanobis_matrix(), other.get_mahalanobis_matrix()
    np.testing.assert_allclose(M, same, atol=1e-4 * np.abs(M).max())


def test_same_seed_same_metric() -> None:
    X, codes = rows_and_codes()
    fits = [MLCC(random_state=3).fit(X, codes).components_ for _ in range(2)]
    np.testing.assert_array_equal(*fits)


@pytest.mark.parametrize("reading", ["per_class", "whole"])
def test_options_equal_separate_fits(reading: str) -> None:
    X, codes = rows_and_codes(load_wine)
    options = [{"n_clusters": K, "mu": mu} for K in (2, 3) for mu in (0.1, 0.9)]
    learner = MLCC(reading=reading, max_rounds=3)
    for model, option in zip(learner.fit_options(X, codes, options), options, strict=True):
        alone = MLCC(reading=reading, max_rounds=3, **option).fit(X, codes)
        np.testing.assert_array_equal(model.components_, alone.components_)
        np.testing.assert_array_equal(model.labels_, alone.labels_)


def test_pure_clusters_of_all_rows_leave_the_identity() -> None:
    X, codes = make_blobs(30, n_features=2, centers=[[-50, 0], [50, 0]], random_state=0)
    model = MLCC(n_clusters=2, reading="whole").fit(X, codes)
    np.testing.assert_array_equal(model.components_, np.eye(2))
    assert model.n_rounds_ == 0


def test_more_clusters_than_rows_and_single_row_classes_are_fine() -> None:
    rng = np.random.default_rng(0)
    model = MLCC(n_clusters=8).fit(rng.normal(size=(9, 2)), [0] * 5 + [1] * 3 + [2])
    assert np.isfinite(model.components_).all()
    assert np.unique(model.labels_).size <= 9


def test_constant_features_and_more_features_than_rows_stay_finite() -> None:
    X, codes = rows_and_codes()
    wide = np.column_stack([X, np.full(len(X), 0.5)])
    assert np.isfinite(MLCC(n_clusters=2).fit(wide, codes).components_).all()
    rng = np.random.default_rng(0)
    assert np.isfinite(MLCC(n_clusters=2).fit(rng.normal(size=(12, 30)), np.arange(12) % 2).components_).all()


@pytest.mark.parametrize(("y", "message"), [([0] * 4, "1 class"), ([0, 1, 2, 3], "at least two rows")])
def test_labels_without_pairs_are_refused(y: list[int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        MLCC().fit(np.arange(8.0).reshape(4, 2) ** 2, y)


def test_unknown_reading_is_named_in_the_error() -> None:
    with pytest.raises(ValueError, match="'reading' parameter of MLCC"):
        MLCC(reading="R-B").fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize("reading", ["per_class", "whole"])
@pytest.mark.parametrize("exponent", [-40, 30, 40, 600])
def test_the_size_of_rows_does_not_matter(reading: str, exponent: int) -> None:
    X, codes = rows_and_codes()
    some, size = 2.0**20, 2.0**exponent
    one, other = (MLCC(2, reading=reading).fit(unit * X, codes) for unit in (some, size))  # brought near 1
    np.testing.assert_array_equal(other.transform(size * X), one.transform(some * X))
    plain = MLCC(2, reading=reading).fit(X, codes)
    assert other.objectives_[0, 1] == pytest.approx(plain.objectives_[0, 1], rel=1e-2)
