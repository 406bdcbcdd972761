"""LEGO: identities of the LogDet step, targets, and its rules for streams."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.spatial.distance import pdist
from sklearn.exceptions import ConvergenceWarning
from tests.oracles import online

from mloml.learners.layers import NOTHING
from mloml.learners.lego import LEGO, distance_percentiles, lego_scan
from mloml.learners.linalg import FAILURES, REFUSED, UPDATES, WEAK
from mloml.learners.triplets import scan_triplets

X = np.random.default_rng(0).normal(size=(30, 4))
Y = np.arange(30) % 3


def stepped(L, z, target, eta):
    """Return L after a step on one pair; the other pair of the triplet is one sample twice."""
    new, counts = L.copy(), np.zeros(5, np.int64)
    D = np.stack([z, np.zeros_like(z), z])[np.newaxis]
    assert lego_scan(D, new, target, target, eta, counts, NOTHING) == 1
    assert counts.tolist() == [1, 0, 0, 0, 0]
    return new


@given(seed=st.integers(0, 10**6), target=st.floats(0, 5), eta=st.floats(-4, 1))
def test_identities_of_the_step(seed, target, eta):
    eta = 10**eta
    rng = np.random.default_rng(seed)
    L, z = np.eye(4) + 0.3 * rng.normal(size=(4, 4)), rng.normal(size=4)
    M = L.T @ L
    new = stepped(L, z, target, eta)
    M_new = new.T @ new
    before, after = z @ M @ z, z @ M_new @ z
    # the new distance is the positive root, between the old one and the target
    np.testing.assert_allclose(
        eta * before * after**2 + (1 - eta * target * before) * after, before, rtol=1e-7
    )
    slack = 1e-9 * max(before, target)
    assert min(before, target) - slack <= after <= max(before, target) + slack
    # and the inverse moves along z
    inverse = np.linalg.inv(M)
    moved = inverse + eta * (after - target) * np.outer(z, z)
    np.testing.assert_allclose(M_new @ moved, np.eye(4), atol=1e-6 * np.linalg.cond(M))
    assert np.linalg.eigvalsh(M_new)[0] > 0


def test_step_minimises_the_logdet_objective():
    rng = np.random.default_rng(1)
    L, z, target, eta = np.eye(3) + 0.2 * rng.normal(size=(3, 3)), rng.normal(size=3), 0.5, 2.0
    inverse = np.linalg.inv(L.T @ L)

    def objective(flat):
        M = flat.reshape(3, 3).T @ flat.reshape(3, 3)
        return np.trace(M @ inverse) - np.linalg.slogdet(M @ inverse)[1] + eta / 2 * (z @ M @ z - target) ** 2

    found = minimize(objective, L.ravel(), tol=1e-12).x.reshape(3, 3)
    ours = stepped(L, z, target, eta)
    np.testing.assert_allclose(ours.T @ ours, found.T @ found, atol=1e-5)
    assert objective(ours.ravel()) <= objective(found.ravel()) + 1e-12


def test_a_target_out_of_reach_is_approached_without_losing_the_cone():
    L, z = np.eye(2), np.array([1.0, 0.0])
    new = stepped(L, z, 1e9, 10.0)
    np.testing.assert_allclose(new, np.diag([np.sqrt(1e9), 1.0]), rtol=1e-6)


@pytest.mark.parametrize("size", [0.0, 1e-8])
def test_a_coinciding_pair_is_not_a_cone_failure_but_a_weak_step_unless_it_is_one_sample(size):
    L, counts, D = np.eye(3), np.zeros(5, np.int64), np.full((1, 3, 3), size)
    lego_scan(D, L, 1.0, 2.0, 0.1, counts, NOTHING)
    np.testing.assert_array_equal(L, np.eye(3))
    assert counts[UPDATES] == counts[FAILURES] == 0
    assert counts[REFUSED] == counts[WEAK] == (2 if size else 0)


@pytest.mark.parametrize("eta", [1e-3, 0.1, 5.0])
def test_a_scan_equals_the_oracle(eta):
    triplets, expected = scan_triplets(Y), []
    L, counts = online.scan(online.lego, X / 2, triplets, eta, (0.5, 3.0), outputs=expected)
    D = np.array(list(online.differences(X / 2, triplets)))
    for outputs in (np.empty(D.shape), NOTHING):
        found, counters = np.eye(4), np.zeros(5, np.int64)
        assert lego_scan(D, found, 0.5, 3.0, eta, counters, outputs) == len(D)
        np.testing.assert_array_equal(counters[:2], counts)
        np.testing.assert_allclose(found, L, rtol=1e-9, atol=1e-10)
        if len(outputs):
            np.testing.assert_allclose(outputs, expected, rtol=1e-9, atol=1e-10)


def test_percentiles_are_taken_from_the_rows_of_fit():
    pairs = [np.sum((a - b) ** 2) for i, a in enumerate(X) for b in X[:i]]
    np.testing.assert_allclose(LEGO(scans=1).fit(X, Y).targets_, np.percentile(pairs, (5, 95)))
    wider = LEGO(scans=1, percentiles=(10, 90)).fit(X, Y)
    np.testing.assert_allclose(wider.targets_, np.percentile(pairs, (10, 90)))


def test_percentiles_of_many_rows_come_from_evenly_spaced_ones():
    some = X[np.linspace(0, 29, 8).astype(int)]
    np.testing.assert_array_equal(distance_percentiles(X, max_rows=8), distance_percentiles(some))
    assert distance_percentiles(np.ones((1, 3))).tolist() == [0.0, 0.0]


BAD_PAIRS = [
    (1.0,),
    (2.0, 1.0),
    (-1.0, 1.0),
    (1, 2, 3),
    ("a", "b"),
    (0, np.nan),
    (0, np.inf),
    (np.inf, np.inf),
]


@pytest.mark.parametrize("targets", BAD_PAIRS)
def test_bad_targets_are_named(targets):
    with pytest.raises(ValueError, match=r"targets is .* expected two numbers"):
        LEGO(targets=targets).fit(X, Y)


def test_bad_percentiles_are_named():
    with pytest.raises(ValueError, match=r"percentiles is .* upper <= 100"):
        LEGO(percentiles=(5, 105)).fit(X, Y)


def test_a_stream_takes_its_targets_from_the_first_rows_and_learns_nothing_before():
    learner, rows = LEGO(gamma=0.1, scale=None), np.random.default_rng(0).normal(size=(90, 3))
    for i, row in enumerate(rows):
        learner.learn_one(row, i % 2)
        count = next((n for n in (64, 32, 16, 8) if n <= i + 1), 0)
        if count:
            expected = np.percentile(pdist(rows[:count], "sqeuclidean"), (5, 95))
            np.testing.assert_allclose(learner.targets_, expected)
        else:
            assert learner.n_updates_ == 0 and np.isnan(learner.targets_).all()
    np.testing.assert_array_equal(
        LEGO(gamma=0.1, scale=None).partial_fit(rows, np.arange(90) % 2).components_, learner.components_
    )
    assert LEGO(targets=(0.1, 2)).partial_fit(X[:1], Y[:1]).targets_ == (0.1, 2.0)


def test_explicit_targets_are_in_the_units_of_the_users_rows():
    learner = LEGO(gamma=1.0, targets=(0.5, 20.0), scale=3.0, random_state=0).fit(X, Y)
    assert learner.targets_ == (0.5, 20.0)
    same = LEGO(gamma=1.0, targets=(0.5 / 9, 20.0 / 9), scale=None, random_state=0).fit(X / 3, Y)
    np.testing.assert_allclose(learner.transform(X), same.transform(X / 3), rtol=1e-9)


def test_pairs_too_near_to_learn_from_are_warned_of():
    with pytest.warns(ConvergenceWarning, match="LEGO hardly learns"):
        learner = LEGO(gamma=1e-3, scale=None, random_state=0).fit(1e-8 * X, Y)
    assert learner.n_updates_ == 0


def test_rows_whose_distances_are_infinite_have_no_percentiles():
    with pytest.raises(ValueError, match=r"the largest entry of X is 1e\+160: .* no percentiles"):
        LEGO(gamma=0.1).fit(1e160 * X / np.abs(X).max(), Y)
