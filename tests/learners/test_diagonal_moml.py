"""DiagonalMOML: steps by brute force, and sparse rows."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse import csr_array, issparse
from tests.oracles import online

from mloml.learners.diagonal_moml import DiagonalMOML
from mloml.learners.moml import MOML
from mloml.learners.triplets import scan_triplets

RNG = np.random.default_rng(0)
X = RNG.normal(size=(3, 6)) / np.sqrt(6)
Y = [0, 1, 0]  # one triplet: row 2 with row 0 and, told apart from it, row 1
P, Q = X[2] - X[0], X[2] - X[1]
WORDS = csr_array(np.where(RNG.random((80, 40)) < 0.7, 0.0, RNG.normal(size=(80, 40))))
CLASSES = RNG.integers(0, 3, 80)


def after_one_step(**settings):
    return DiagonalMOML(scale=None, **settings).partial_fit(X, Y)


def test_a_step_minimises_the_objective_over_weights():
    """The hinge is active at both ends of the step, so its linear side is the objective."""

    def objective(w):
        return 0.5 * np.sum((w - 1.0) ** 2) + 0.1 * (1.0 + w @ (P**2 - Q**2))

    best = minimize(objective, np.ones(6), bounds=[(0.0, None)] * 6, tol=1e-14).x
    learner = after_one_step(gamma=0.1)
    assert learner.n_updates_ == 1 and learner.n_cone_failures_ == 0
    np.testing.assert_allclose(learner.feature_weights_, best, atol=1e-6)


def test_a_step_is_the_diagonal_of_the_full_one():
    full = MOML(gamma=0.01, scale=None, cone="free").partial_fit(X, Y).get_mahalanobis_matrix()
    np.testing.assert_allclose(after_one_step(gamma=0.01).feature_weights_, np.diag(full))


def test_a_long_pull_is_shortened_and_the_push_taken_whole():
    gamma, keep, floor = 20.0, 0.1, 0.1
    learner = after_one_step(gamma=gamma)
    pushed = 1.0 + gamma * Q**2
    s = P**2 / pushed
    pull = np.maximum(0, np.min([np.full(6, gamma), (1 - keep) / s, 1 / s - floor / P**2], axis=0))
    assert learner.n_cone_failures_ == 1
    np.testing.assert_allclose(learner.feature_weights_, pushed - pull * P**2)


@pytest.mark.parametrize("form", [csr_array, np.ascontiguousarray])
@pytest.mark.parametrize("gamma", [0.01, 0.4])
def test_fit_equals_the_oracle(gamma, form):
    rows, settings = WORDS.toarray() / 3, {"scale": None, "scans": 1, "shuffle": False}
    triplets = scan_triplets(CLASSES)
    w, counts = online.scan(online.diagonal_moml, rows, triplets, gamma, 0.1, 0.1, start=np.ones(40))
    learner = DiagonalMOML(gamma=gamma, **settings).fit(form(rows), CLASSES)
    assert [learner.n_updates_, learner.n_cone_failures_] == counts.tolist()
    np.testing.assert_allclose(learner.feature_weights_, w, rtol=1e-9)


def test_no_weight_ever_falls_below_the_floor():
    learner = DiagonalMOML(gamma=100.0, random_state=0).fit(WORDS, CLASSES)
    weights = learner.feature_weights_ * learner.scale_**2
    assert learner.n_cone_failures_ > 100 and weights.min() == pytest.approx(0.1)


def test_sparse_rows_are_mapped_to_sparse_rows():
    learner = DiagonalMOML(gamma=1.0, random_state=0).fit(WORDS, CLASSES)
    mapped = learner.transform(WORDS)
    assert issparse(mapped) and mapped.nnz == WORDS.nnz
    expected = WORDS.toarray() * np.sqrt(learner.feature_weights_)
    np.testing.assert_allclose(mapped.toarray(), expected)
    np.testing.assert_allclose(learner.transform(WORDS.toarray()), expected)
    assert issparse(learner.transform_one(WORDS[[0]]))
    np.testing.assert_allclose(learner.get_mahalanobis_matrix().diagonal(), learner.feature_weights_)
    pair = WORDS.toarray()[np.newaxis, :2]
    distance = np.linalg.norm(expected[0] - expected[1])
    assert learner.pair_distance(pair) == pytest.approx(distance)
    assert learner.get_metric()(*pair[0]) == pytest.approx(distance)


def test_infinite_rows_stop_it_even_where_they_cancel_in_the_hinge():
    with pytest.warns(UserWarning, match="DiagonalMOML diverged after 0 triplets"):
        learner = DiagonalMOML(gamma=0.1, scale=None).partial_fit([[0.0], [0.0], [1e160]], Y)
    assert learner.diverged_ and learner.feature_weights_ == [1.0]
