"""RDML: perceptron on pairs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracles import online

from mloml.learners.layers import NOTHING
from mloml.learners.linalg import FAILURES, REFUSED, UPDATES
from mloml.learners.rdml import FLOOR, RDML, RDMLLayer, lift, rdml_layer_scan, rdml_scan
from mloml.learners.triplets import scan_triplets

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 5)) + np.arange(60)[:, None] % 3
X /= np.linalg.norm(X, axis=1, keepdims=True)
Y = np.arange(60) % 3


def after_pair(M, z, similar, lam):
    """Return M and the counters after a step on one pair."""
    M, counts, only = M.copy(), np.zeros(5, np.int64), np.array([1 if similar else 2])
    rdml_scan(np.stack([z, z, z])[np.newaxis], only, M, True, lam, counts)
    return M, counts


@pytest.mark.parametrize(("similar", "length"), [(True, 0.9), (False, 1.1)])
def test_satisfied_pair_leaves_the_metric(similar, length):
    M, counts = after_pair(np.eye(3), np.array([length, 0, 0]), similar, 0.1)
    np.testing.assert_array_equal(M, np.eye(3))
    assert not counts.any()


def test_violated_pairs_move_the_metric_along_their_difference():
    z = np.array([1.5, 0.5, 0.0])
    for similar, start, sign in ((True, 1.0, -1), (False, 0.1, 1)):
        M, counts = after_pair(start * np.eye(3), z, similar, 0.1)
        np.testing.assert_allclose(M, start * np.eye(3) + sign * 0.1 * np.outer(z, z))
        assert counts[UPDATES] == 1 and counts[FAILURES] == 0


def test_too_long_a_step_is_projected():
    M, counts = after_pair(np.eye(3), np.array([2.0, 0, 0]), True, 1.0)
    np.testing.assert_allclose(M, np.diag([0.0, 1.0, 1.0]), atol=1e-14)
    assert counts[UPDATES] == counts[FAILURES] == 1


def test_distance_of_exactly_one_counts_as_violated():
    for similar in (True, False):
        assert after_pair(np.eye(2), np.array([1.0, 0.0]), similar, 0.1)[1][UPDATES] == 1


@given(
    seed=st.integers(0, 10**6),
    d=st.integers(1, 12),
    rank=st.integers(0, 12),
    tau=st.floats(-9, 3),
    spread=st.floats(0, 6),
    floor=st.sampled_from([0.0, FLOOR]),
)
def test_the_lift_equals_the_projection_by_all_eigenvalues(seed, d, rank, tau, spread, floor):
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.normal(size=(d, d)))[0]
    M = (Q * np.where(np.arange(d) < rank, 10 ** rng.uniform(-spread, 0, d), 0.0)) @ Q.T + floor * np.eye(d)
    M, z = (M + M.T) / 2, rng.normal(size=d)
    lam = 10**tau / (z @ z)
    values, vectors = np.linalg.eigh(M - lam * np.outer(z, z))
    found, v = M.copy(), np.empty(d)
    gain = lift(found, z, lam, floor, np.empty((d, d)), v)
    expected = (vectors * np.maximum(values, floor)) @ vectors.T
    np.testing.assert_allclose(found + gain * np.outer(v, v), expected, atol=1e-12 * max(1.0, 10**tau))


@pytest.mark.parametrize("pairs", ["triplets", "adjacent"])
@pytest.mark.parametrize("cone", ["project", "free"])
@pytest.mark.parametrize(("lam", "init"), [(1e-3, "zero"), (0.3, "zero"), (0.3, "identity")])
def test_fit_equals_the_oracle(lam, init, cone, pairs):
    triplets = scan_triplets(Y)
    only = iter([1 if i > j else 2 for _, i, j in triplets]) if pairs == "adjacent" else None
    start = float(init == "identity") * np.eye(5)
    M, counts = online.scan(online.rdml, 3 * X, triplets, lam, cone == "project", only, start=start)
    learner = RDML(gamma=lam, init=init, cone=cone, pairs=pairs, scale=None, scans=1, shuffle=False).fit(
        3 * X, Y
    )
    assert [learner.n_updates_, learner.n_cone_failures_] == counts.tolist()
    np.testing.assert_allclose(learner.get_mahalanobis_matrix(), M, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("lam", [1e-3, 0.05, 0.5])
def test_a_layer_equals_the_oracle_and_stays_above_its_floor(lam):
    triplets, expected = scan_triplets(Y), []
    L, counts = online.scan(online.rdml_layer, 2 * X, triplets, lam, outputs=expected)
    D = np.array(list(online.differences(2 * X, triplets)))
    layer, outputs = RDMLLayer(5, lam), np.empty(D.shape)
    assert layer.learn(D, outputs) == len(D)
    np.testing.assert_array_equal(layer.counts[:2], counts)
    np.testing.assert_allclose(layer.L, L, atol=1e-9 * abs(L).max())
    np.testing.assert_allclose(outputs, expected, atol=1e-8)
    assert np.linalg.eigvalsh(L.T @ L)[0] > FLOOR * 0.4


def test_a_layer_whose_inverse_has_drifted_computes_it_anew():
    D, L = np.array([[[2.0, 0.5], [0.1, 0.1], [0.0, 0.0]]]), np.eye(2)
    fresh, counts = L.copy(), np.zeros(5, np.int64)
    rdml_layer_scan(D, fresh, np.eye(2), 0.1, counts, NOTHING)
    drifted, counts = L.copy(), np.array([0, 0, 0, 0, 5])
    rdml_layer_scan(D, drifted, 1.01 * np.eye(2), 0.1, counts, NOTHING)
    np.testing.assert_allclose(drifted, fresh, rtol=1e-12)
    assert counts[UPDATES] == 2 and counts[REFUSED] == 0


def test_neighbours_do_not_depend_on_a_small_step_from_zero():
    small, smaller = (RDML(gamma=lam, init="zero", random_state=0).fit(X, Y) for lam in (1e-5, 1e-6))
    assert small.n_updates_ == small.n_triplets_  # dissimilar pairs only
    np.testing.assert_allclose(
        small.get_mahalanobis_matrix(), 10 * smaller.get_mahalanobis_matrix(), rtol=1e-9, atol=1e-15
    )


@pytest.mark.parametrize("pairs", ["triplets", "adjacent"])
@pytest.mark.parametrize("init", ["zero", "identity"])
def test_metric_is_positive_semidefinite_after_many_projections(init, pairs):
    learner = RDML(gamma=0.3, init=init, pairs=pairs, scale=None, random_state=0).fit(3 * X, Y)
    assert learner.n_cone_failures_ > 0
    values = np.linalg.eigvalsh(learner._state.M)
    assert values[0] > -1e-12 * values[-1]
    np.testing.assert_allclose(learner.get_mahalanobis_matrix(), learner._state.M, atol=1e-10)


def test_before_any_update_from_zero_all_rows_coincide():
    learner = RDML(gamma=0.0, init="zero", scans=1).fit(X, Y)
    np.testing.assert_array_equal(learner.transform(X), 0)


def test_adjacent_pairs_are_those_that_follow_each_other():
    stream = np.array([[0.0], [1.0], [3.0], [7.0]])  # classes a b a a: pairs (3, 1) apart, (7, 3) together
    learner = RDML(gamma=0.01, init="zero", pairs="adjacent", scale=None, scans=1, shuffle=False).fit(
        stream, [0, 1, 0, 0]
    )
    assert learner.n_triplets_ == 2
    np.testing.assert_allclose(learner._state.M, 0.01 * (3 - 1) ** 2)  # together: 16 * .04 < 1, satisfied


def test_without_projection_an_indefinite_metric_is_used_by_its_signed_form():
    learner = RDML(gamma=0.3, cone="free", scale=None, random_state=0).fit(3 * X, Y)
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
    assert not hasattr(RDML(gamma=0.3, random_state=0).fit(X, Y), "similarity")
