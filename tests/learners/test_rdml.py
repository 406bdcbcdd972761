"""RDML: perceptron on pairs."""

import numpy as np
import pytest

from mloml import RDML
from mloml.kernels.rdml import rdml_step

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 5)) + np.arange(60)[:, None] % 3
X /= np.linalg.norm(X, axis=1, keepdims=True)
Y = np.arange(60) % 3


@pytest.mark.parametrize(("similar", "length"), [(True, 0.9), (False, 1.1)])
def test_satisfied_pair_leaves_the_metric(similar, length):
    M = np.eye(3)
    assert rdml_step(M, np.array([length, 0, 0]), np.empty(3), similar, 0.1) == 0
    np.testing.assert_array_equal(M, np.eye(3))


def test_violated_pairs_move_the_metric_along_their_difference():
    z = np.array([1.5, 0.5, 0.0])
    pulled = np.eye(3)
    assert rdml_step(pulled, z, np.empty(3), True, 0.1) == 1
    np.testing.assert_allclose(pulled, np.eye(3) - 0.1 * np.outer(z, z))
    pushed = 0.1 * np.eye(3)
    assert rdml_step(pushed, z, np.empty(3), False, 0.1) == 1
    np.testing.assert_allclose(pushed, 0.1 * np.eye(3) + 0.1 * np.outer(z, z))


def test_too_long_a_step_is_projected():
    M = np.eye(3)
    assert rdml_step(M, np.array([2.0, 0, 0]), np.empty(3), True, 1.0) == 2
    np.testing.assert_allclose(M, np.diag([0.0, 1.0, 1.0]), atol=1e-14)


def test_distance_of_exactly_one_counts_as_violated():
    for similar in (True, False):
        assert rdml_step(np.eye(2), np.array([1.0, 0.0]), np.empty(2), similar, 0.1) == 1


def test_neighbours_do_not_depend_on_a_small_step_from_zero():
    small, smaller = (RDML(lam=lam, random_state=0).fit(X, Y) for lam in (1e-5, 1e-6))
    assert small.n_updates_ == small.n_triplets_  # dissimilar pairs only
    np.testing.assert_allclose(
        small.get_mahalanobis_matrix(), 10 * smaller.get_mahalanobis_matrix(), rtol=1e-9, atol=1e-15
    )


@pytest.mark.parametrize("pairs", ["triplets", "adjacent"])
@pytest.mark.parametrize("init", ["zero", "identity"])
def test_metric_is_positive_semidefinite_after_many_projections(init, pairs):
    learner = RDML(lam=0.3, init=init, pairs=pairs, scale=None, random_state=0).fit(3 * X, Y)
    assert learner.n_cone_failures_ > 0
    values = np.linalg.eigvalsh(learner._metric)
    assert values[0] > -1e-12 * values[-1]
    np.testing.assert_allclose(learner.get_mahalanobis_matrix(), learner._metric, atol=1e-10)


def test_before_any_update_from_zero_all_rows_coincide():
    learner = RDML(lam=0.0, scans=1).fit(X, Y)
    np.testing.assert_array_equal(learner.transform(X), 0)


def test_adjacent_pairs_are_those_that_follow_each_other():
    stream = np.array([[0.0], [1.0], [3.0], [7.0]])  # classes a b a a: pairs (3, 1) apart, (7, 3) together
    learner = RDML(lam=0.01, pairs="adjacent", scale=None, scans=1, shuffle=False).fit(stream, [0, 1, 0, 0])
    assert learner.n_triplets_ == 2
    np.testing.assert_allclose(learner._metric, 0.01 * (3 - 1) ** 2)  # together: 16 * .04 < 1, satisfied


def test_without_projection_an_indefinite_metric_is_used_by_its_signed_form():
    learner = RDML(lam=0.3, cone="free", scale=None, random_state=0).fit(3 * X, Y)
    M = learner.get_mahalanobis_matrix()
    assert np.linalg.eigvalsh(M)[0] < -0.1
    assert learner.n_cone_failures_ == 0
    differences = X[:, np.newaxis] - X
    form = np.einsum("ijk,kl,ijl->ij", differences, M, differences)
    np.testing.assert_allclose(learner.similarity(X, X), -form, atol=1e-11)
    for call in (lambda: learner.transform(X), learner.get_metric):
        with pytest.raises(ValueError, match=r"RDML has no .* indefinite .* cone='project'"):
            call()
    with pytest.raises(AttributeError, match="no components_ here"):
        _ = learner.components_


def test_a_projected_metric_has_no_similarity():
    assert not hasattr(RDML(lam=0.3, random_state=0).fit(X, Y), "similarity")
