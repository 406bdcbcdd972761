"""LowRankMOML: the step, where it starts, and what is refused."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from tests.oracles import online

from mloml.learners.layers import NOTHING
from mloml.learners.low_rank_moml import LowRankLayer, LowRankMOML, first_factor
from mloml.learners.moml import MOML
from mloml.learners.rows import SparseRows
from mloml.learners.triplets import scan_triplets

RNG = np.random.default_rng(0)
X = RNG.normal(size=(3, 6)) / np.sqrt(6)
Y = [0, 1, 0]  # one triplet: row 2 with row 0 and, told apart from it, row 1
P, Q = X[2] - X[0], X[2] - X[1]
A = np.outer(P, P) - np.outer(Q, Q)
WORDS = csr_array(np.where(RNG.random((80, 40)) < 0.7, 0.0, RNG.normal(size=(80, 40))))
CLASSES = RNG.integers(0, 3, 80)


def after_one_step(**settings):
    return LowRankMOML(scale=None, random_state=0, **settings).partial_fit(X, Y)


@pytest.mark.parametrize("init", ["pca", "random"])
def test_a_step_is_where_the_gradient_vanishes(init):
    """By finite differences of the objective's active side."""
    gamma, k = 0.05, 3
    start = after_one_step(n_components=k, gamma=0.0, init=init).components_
    learner = after_one_step(n_components=k, gamma=gamma, init=init)
    assert learner.n_updates_ == 1

    def objective(L):
        return 0.5 * np.sum((L - start) ** 2) + gamma / 4 * (1.0 + np.trace(L @ A @ L.T))

    L, h = learner.components_, 1e-6
    for i in range(k):
        for j in range(6):
            change = np.zeros_like(L)
            change[i, j] = h
            assert abs(objective(L + change) - objective(L - change)) / (2 * h) < 1e-8


@pytest.mark.parametrize(("gamma", "count"), [(0.01, 80), (1.0, 30)])
def test_a_layer_equals_the_oracle_for_dense_and_sparse_rows(gamma, count):
    rows, triplets, expected = WORDS.toarray()[:count] / 3, scan_triplets(CLASSES[:count]), []
    start = first_factor(rows, 3, "random", 0)
    L, counts = online.scan(online.low_rank_moml, rows, triplets, gamma, start=start, outputs=expected)
    D, sparse = np.array(list(online.differences(rows, triplets))), SparseRows.of(csr_array(rows))
    outputs, more = np.empty((len(D), 3, 3)), np.empty((len(D), 3, 3))
    layers = [LowRankLayer(start, gamma) for _ in range(3)]
    assert layers[0].learn(D, outputs) == layers[1].learn_sparse(sparse, triplets, more) == len(D)
    layers[2].learn(D, NOTHING)
    for layer in layers:
        np.testing.assert_array_equal(layer.counts[:2], counts)
        np.testing.assert_allclose(layer.factor(), L, rtol=1e-9, atol=1e-9 * np.abs(L).max())
    for found in (outputs, more):
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9 * np.max(np.abs(expected)))
    assert layers[0].n_outputs == 3


def test_with_as_many_components_as_features_a_small_step_is_that_of_moml():
    gamma = 1e-5
    full = MOML(gamma=gamma, scale=None).partial_fit(X, Y).get_mahalanobis_matrix()
    low = after_one_step(n_components=6, gamma=gamma).get_mahalanobis_matrix()
    np.testing.assert_allclose(low, full, atol=10 * gamma**2)


def test_a_push_that_is_too_long_is_shortened():
    learner = after_one_step(n_components=3, gamma=50.0)
    assert learner.n_cone_failures_ == 1 and not learner.diverged_
    assert np.linalg.matrix_rank(learner.components_) == 3


def test_the_start_is_made_of_principal_axes_that_keep_the_mean_distance():
    rows = RNG.normal(size=(200, 8)) * [5, 4, 3, 1, 1, 1, 1, 1]
    start = LowRankMOML(n_components=3, gamma=0.0, scans=1, scale=None).fit(
        rows, CLASSES[np.arange(200) % 80]
    )
    axes = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)[2][:3]
    L = start.components_
    np.testing.assert_allclose(np.abs(L @ axes.T), np.linalg.norm(L[0]) * np.eye(3), atol=1e-9)
    assert start.transform(rows).var(axis=0).sum() == pytest.approx(rows.var(axis=0).sum())


def test_random_directions_fill_up_where_the_first_rows_have_too_few_axes():
    L = LowRankMOML(n_components=5, gamma=0.0, random_state=0).partial_fit(WORDS[:3], CLASSES[:3]).components_
    np.testing.assert_allclose(L @ L.T, (L[0] @ L[0]) * np.eye(5), atol=1e-9)


def test_columns_are_named_by_component():
    learner = LowRankMOML(n_components=3, scans=1, random_state=0).fit(WORDS, CLASSES)
    assert learner.transform(WORDS).shape == (80, 3)
    assert learner.get_feature_names_out().tolist() == [f"lowrankmoml{i}" for i in range(3)]
    np.testing.assert_allclose(learner.transform_one(WORDS[[4]]), learner.transform(WORDS)[4])


def test_more_components_than_features_are_refused():
    with pytest.raises(ValueError, match=r"n_components=7 is more than the 6 feature\(s\)"):
        after_one_step(n_components=7)
