from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, load_wine, make_blobs
from sklearn.preprocessing import normalize
from tests.oracles import mlcc as plain

from mloml.learners.batch import whitening
from mloml.learners.clusters import cluster, first_centres, lloyd, means_of
from mloml.learners.mlcc import MLCC, CentreMargin, ClusterMargin

READINGS = {"per_class": (CentreMargin, plain.per_class), "whole": (ClusterMargin, plain.whole)}


def rows_and_codes(dataset: Any = load_iris) -> tuple[Any, Any]:
    X, y = dataset(return_X_y=True)
    return normalize(X), y


def small_problem(reading: str, seed: int, n: int = 24, d: int = 3) -> tuple[Any, Any, Any, Any]:
    """Return rows, clusters (of one class each or of all), classes and a factor."""
    rng = np.random.default_rng(seed)
    X, codes = rng.normal(size=(n, d)), rng.permutation(np.arange(n) % 3)
    labels = 2 * codes + rng.integers(0, 2, size=n) if reading == "per_class" else rng.integers(0, 4, size=n)
    return (
        X,
        np.unique(labels, return_inverse=True)[1],
        codes,
        rng.uniform(0.2, 1.5) * rng.normal(size=(d, d)),
    )


@pytest.mark.parametrize("reading", READINGS)
@settings(max_examples=25)
@given(seed=st.integers(0, 1000), d=st.integers(1, 9))
def test_pulls_hinges_and_their_slopes_equal_sums_over_all_constraints(
    reading: str, seed: int, d: int
) -> None:
    X, labels, codes, L = small_problem(reading, seed, d=d)
    margin_of, triples = READINGS[reading]
    margin = margin_of(X, labels, codes)
    value, Q = margin.hinges(L)
    for mu, mine, slope in ((1.0, value, 2 * L @ Q), (0.0, np.vdot(L @ margin.P, L), 2 * L @ margin.P)):
        theirs, gradient = plain.objective(L, triples(X, labels, codes), mu)
        assert mine == pytest.approx(theirs, rel=1e-9, abs=1e-9)
        np.testing.assert_allclose(slope, gradient, rtol=1e-9, atol=1e-9 * (1 + np.abs(gradient).max()))


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("mu", [0.1, 0.9])
def test_the_reported_objective_is_that_of_the_formula(reading: str, mu: float) -> None:
    X, codes = rows_and_codes()
    X, codes = X[::4], codes[::4]
    start = MLCC(2, mu=mu, reading=reading)._start(X, codes)
    model = MLCC(2, mu=mu, reading=reading, max_rounds=1).fit(X, codes)
    triples = READINGS[reading][1]
    for L, value in zip((np.eye(4), model.components_), model.objectives_[0], strict=True):
        assert value == pytest.approx(plain.objective(L, triples(X, start.labels, codes), mu)[0], rel=1e-9)


@pytest.mark.parametrize("reading", READINGS)
def test_the_objective_is_never_negative(reading: str) -> None:
    """Far from the origin, and with margins that are all but met, differences of large sums would be."""
    rng = np.random.default_rng(0)
    codes, labels = np.repeat([0, 1, 2], 8), np.repeat([0, 1, 2], 8)
    if reading == "whole":
        labels = np.zeros_like(codes)
    for size in (1.0, 1e4, 1e8):
        X = size * np.eye(3)[codes] + 1e-9 * rng.normal(size=(24, 3))
        margin = READINGS[reading][0](X - X.mean(axis=0), labels, codes)
        for factor in (1.0, 0.5**0.5 / size * (1 - 1e-13)):  # no hinge is active; all are by a hair
            assert margin.hinges(factor * np.eye(3))[0] >= 0.0


@settings(max_examples=40)
@given(
    n=st.integers(1, 60),
    d=st.integers(1, 9),
    k=st.integers(1, 6),
    steps=st.integers(1, 20),
    grid=st.booleans(),
)
def test_lloyd_equals_the_plain_one_with_ties_to_the_first(
    n: int, d: int, k: int, steps: int, grid: bool
) -> None:
    X = np.random.default_rng(n).normal(size=(n, d))
    X = np.round(X) if grid else X  # whole numbers are exactly as far from several centres
    centres, labels = X[np.arange(k) % n].copy(), np.full(n, -1)
    expected, means = plain.lloyd(X, centres, steps if not grid else 1)
    lloyd(np.ascontiguousarray(X.T), centres, labels, steps if not grid else 1)
    np.testing.assert_array_equal(labels, expected)
    np.testing.assert_allclose(centres, means, rtol=1e-12, atol=1e-13)


def test_clusters_equal_those_of_scikit_learn_from_the_same_centres() -> None:
    X, _ = make_blobs(200, n_features=3, centers=5, random_state=0)
    groups = [np.arange(200)]
    centres = first_centres(X, groups, 5, np.random.RandomState(0))
    expected = KMeans(5, init=centres[0], n_init=1, tol=0).fit(X).labels_
    np.testing.assert_array_equal(cluster(X, groups, centres), expected)


def test_clusters_of_groups_are_numbered_through_and_empty_ones_are_dropped() -> None:
    X = np.array([[5.0], [0.0], [5.1], [1.0], [9.0]])
    groups = [np.array([1, 3]), np.array([0, 2, 4])]
    centres = [np.array([[0.0], [1.0]]), np.array([[100.0], [9.0], [5.0]])]
    labels = cluster(X, groups, centres)
    np.testing.assert_array_equal(labels, [3, 0, 3, 1, 2])
    np.testing.assert_allclose(means_of(X, labels), [[0.0], [1.0], [9.0], [5.05]])


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("mu", [0.1, 0.9])
def test_objective_falls_in_each_round(reading: str, mu: float) -> None:
    X, codes = (each[::3] for each in rows_and_codes(load_wine))
    model = MLCC(n_clusters=2, mu=mu, reading=reading).fit(X, codes)
    assert 1 <= model.n_rounds_ <= 10
    assert (model.objectives_[:, 1] < model.objectives_[:, 0]).all()
    assert model.n_iter_ >= model.n_rounds_


def test_one_cluster_per_class_is_a_nearest_class_mean_metric() -> None:
    X, codes = rows_and_codes()
    model = MLCC(n_clusters=1, mu=0.5, max_rounds=1).fit(X, codes)
    np.testing.assert_array_equal(model.labels_, codes)
    distances = ((model.transform(X)[:, None] - model.transform(means_of(X, codes))) ** 2).sum(axis=2)
    assert np.mean(distances.argmin(axis=1) == codes) > 0.95


def test_with_fixed_clusters_other_starts_find_the_same_value() -> None:
    """The problem of one round is convex in L'L: what depends on the seed are the clusters."""
    X, codes = rows_and_codes(load_wine)
    learner = MLCC(n_clusters=2, tol=1e-7, max_iter=2000)
    start = learner._start(X, codes)
    white, back = whitening(CentreMargin(start.X, start.labels, codes).P)
    margin = CentreMargin(start.X @ white, start.labels, codes)
    starts = (back, np.eye(len(back)), np.random.default_rng(0).normal(size=back.shape))
    values = [learner._descend(margin, L).value for L in starts]
    np.testing.assert_allclose(values, values[0], rtol=1e-3)


def test_a_permutation_of_the_rows_changes_nothing_given_the_centres(monkeypatch: Any) -> None:
    X, codes = rows_and_codes(load_wine)
    groups = [np.flatnonzero(codes == c) for c in range(3)]
    centres = first_centres(X, groups, 2, np.random.RandomState(0))
    monkeypatch.setattr("mloml.learners.mlcc.first_centres", lambda *_: centres)
    shuffled = np.random.default_rng(0).permutation(len(X))
    one = MLCC(max_rounds=1, tol=1e-2).fit(X, codes)
    other = MLCC(max_rounds=1, tol=1e-2).fit(X[shuffled], codes[shuffled])
    np.testing.assert_array_equal(one.labels_[shuffled], other.labels_)
    M, same = one.get_mahalanobis_matrix(), other.get_mahalanobis_matrix()
    np.testing.assert_allclose(M, same, atol=1e-4 * np.abs(M).max())


@pytest.mark.parametrize("reading", READINGS)
def test_options_equal_separate_fits(reading: str) -> None:
    X, codes = (each[::3] for each in rows_and_codes(load_wine))
    options = [{"n_clusters": K, "mu": mu} for K in (2, 3) for mu in (0.1, 0.9)]
    learner = MLCC(reading=reading, max_rounds=3)
    for model, option in zip(learner.fit_options(X, codes, options), options, strict=True):
        alone = MLCC(reading=reading, max_rounds=3, **option).fit(X, codes)
        np.testing.assert_array_equal(model.components_, alone.components_)
        np.testing.assert_array_equal(model.labels_, alone.labels_)
    assert learner.fit_options(X, codes, []) == []


def test_pure_clusters_of_all_rows_leave_the_identity() -> None:
    X, codes = make_blobs(30, n_features=2, centers=[[-50, 0], [50, 0]], random_state=0)
    model = MLCC(n_clusters=2, reading="whole").fit(X, codes)
    np.testing.assert_array_equal(model.components_, np.eye(2))
    assert model.n_rounds_ == 0
    assert model.objectives_.shape == (0, 2)


@pytest.mark.parametrize("reading", READINGS)
def test_more_clusters_than_rows_are_fine(reading: str) -> None:
    for X in (np.random.default_rng(0).normal(size=(9, 2)), np.ones((9, 2))):
        model = MLCC(n_clusters=8, reading=reading).fit(X, [0] * 5 + [1] * 3 + [2])
        assert np.isfinite(model.components_).all() and np.unique(model.labels_).size <= 9


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("exponent", [-40, 30, 40, 600])
def test_the_size_of_rows_does_not_matter(reading: str, exponent: int) -> None:
    X, codes = rows_and_codes()
    some, size = 2.0**20, 2.0**exponent
    one, other = (MLCC(2, reading=reading).fit(unit * X, codes) for unit in (some, size))  # brought near 1
    np.testing.assert_array_equal(other.transform(size * X), one.transform(some * X))
    plainly = MLCC(2, reading=reading).fit(X, codes)
    assert other.objectives_[0, 1] == pytest.approx(plainly.objectives_[0, 1], rel=1e-2)
