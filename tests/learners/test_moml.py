"""MOML: the step against its formulas, and what it promises as a learner."""

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler
from tests.oracles import online

from mloml.experiments.neighbours import Rows
from mloml.learners.explicit import ExplicitMLOML
from mloml.learners.mloml import MLOML
from mloml.learners.moml import MOML
from mloml.learners.triplets import scan_triplets


def unit(X):
    return X / np.linalg.norm(X, axis=1, keepdims=True)


IRIS, LABELS = load_iris(return_X_y=True)
IRIS = unit(IRIS)


def all_around():
    """Iris with directions all around: steps of 1/2 often leave the cone."""
    return unit(IRIS - IRIS.mean(axis=0))


@pytest.mark.parametrize("gamma", [1e-3, 1e-2])
def test_the_metric_is_equation_6_while_no_pull_is_shortened(gamma):
    order = np.random.default_rng(0).permutation(len(IRIS))
    X, y = IRIS[order], LABELS[order]
    M, _ = online.scan(online.moml_free, X, scan_triplets(y), gamma)
    for cone in ("split", "free"):
        learner = MOML(gamma=gamma, cone=cone, scale=None, scans=1, shuffle=False).fit(X, y)
        assert learner.n_cone_failures_ == 0
        np.testing.assert_allclose(learner.get_mahalanobis_matrix(), M, atol=1e-12)


def test_the_factor_follows_the_split_step_and_keeps_its_axes():
    rng = np.random.default_rng(0)
    X, y = unit(rng.normal(size=(150, 4))), rng.integers(0, 3, 150)  # labels at random: many pulls
    L, counts = online.scan(online.moml, X, scan_triplets(y), 0.5)
    learner = MOML(gamma=0.5, scale=None, scans=1, shuffle=False).fit(X, y)
    assert (learner.n_updates_, learner.n_cone_failures_) == tuple(counts)
    assert counts[1] > 10
    np.testing.assert_allclose(learner.components_, L, rtol=1e-8, atol=1e-8)
    assert np.linalg.eigvalsh(learner.get_mahalanobis_matrix())[0] > 0


def test_moml_is_the_first_layer_of_a_stack_exactly():
    X = all_around()
    settings = {"gamma": 0.5, "scans": 3, "random_state": 0}
    single = MOML(**settings).fit(X, LABELS)
    stack = MLOML(n_layers=3, **settings).fit(X, LABELS)
    assert single.n_cone_failures_ == stack.n_cone_failures_[0] > 0
    np.testing.assert_array_equal(single.components_, stack.layers_[0])
    np.testing.assert_array_equal(single.transform(X), stack.transform(X, layer=1))


def test_one_triplet_falls_by_gamma_times_the_squared_norm_of_its_matrix():
    x = np.array([[1.0, 0.0], [0.0, 1.0], [0.9, 0.1]])
    before = 1 + 2.0 - 0.02
    learner = MOML(gamma=0.05, scale=None, scans=1, shuffle=False).fit(x[[1, 2, 0]], [0, 1, 0])
    p, q = x[0] - x[1], x[0] - x[2]
    A, M = np.outer(p, p) - np.outer(q, q), learner.get_mahalanobis_matrix()
    assert 1 + np.sum(M * A) == pytest.approx(before - 0.05 * np.sum(A * A))
    np.testing.assert_allclose(M, np.eye(2) - 0.05 * A, atol=1e-14)


def test_split_goes_on_learning_on_standardised_rows_where_shrink_hardly_does():
    X, y = load_digits(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    settings = {"gamma": 1e-2, "scale": None, "scans": 4, "random_state": 0}
    split = MOML(**settings)
    steps = np.diff([seen.n_updates_ for seen in split.iter_scans(X, y)])
    assert steps.min() > 100
    assert np.linalg.eigvalsh(split.get_mahalanobis_matrix())[0] > 1e-5
    shrink = ExplicitMLOML(n_layers=1, cone="shrink", **settings)
    with pytest.warns(ConvergenceWarning, match="hardly learns"):
        shrink.fit(X, y)


@pytest.fixture
def indefinite():
    """A MOML that left the cone, and its rows."""
    X = all_around()
    learner = MOML(gamma=0.5, cone="free", random_state=0).fit(X, LABELS)
    assert np.linalg.eigvalsh(learner.get_mahalanobis_matrix())[0] < -0.1
    return learner, X


def test_an_indefinite_metric_says_in_one_line_why_it_has_no_factor(indefinite):
    learner, X = indefinite
    pairs = X[:6].reshape(3, 2, -1)
    for call in (lambda: learner.transform(X), lambda: learner.pair_distance(pairs), learner.get_metric):
        with pytest.raises(ValueError, match=r"indefinite .* pair_score\(pairs\).*cone='split'") as error:
            call()
        assert "\n" not in str(error.value)
    with pytest.raises(AttributeError, match="no components_ here: its M is indefinite"):
        _ = learner.components_


def test_an_indefinite_metric_scores_pairs_by_the_signed_form(indefinite):
    learner, X = indefinite
    M = learner.get_mahalanobis_matrix()
    differences = X[:, np.newaxis] - X
    form = np.einsum("ijk,kl,ijl->ij", differences, M, differences)
    assert (form < 0).any() and (form > 0).any()
    np.testing.assert_allclose(learner.similarity(X, X), -form, atol=1e-12)
    pairs = np.stack([X[:-1], X[1:]], axis=1)
    expected = np.diagonal(form, 1)
    scores = learner.pair_score(pairs)
    np.testing.assert_allclose(scores, -np.sign(expected) * np.sqrt(np.abs(expected)), atol=1e-9)
    with pytest.raises(ValueError, match=r"expected \(n_pairs, 2, 4\)"):
        learner.pair_score(X)


def test_neighbours_of_an_indefinite_metric_are_those_of_least_signed_form(indefinite):
    learner, X = indefinite
    M = learner.get_mahalanobis_matrix()
    wrong = 0
    for i in range(0, len(X), 2):
        form = [(X[i] - x) @ M @ (X[i] - x) for x in X[1::2]]
        votes = np.bincount(LABELS[1::2][np.argsort(form, kind="stable")[:5]])
        wrong += votes.argmax() != LABELS[i]
    assert Rows(X[1::2], LABELS[1::2], X[::2], LABELS[::2], k=5).mistakes(learner) == wrong


def test_rows_that_are_equal_are_equally_similar(indefinite):
    learner, X = indefinite
    twice = np.vstack([X, X[::-1]])
    similarity = learner.similarity(X[:7], twice)
    np.testing.assert_array_equal(similarity[:, : len(X)], similarity[:, : len(X) - 1 : -1])


def test_free_steps_that_stay_in_the_cone_give_an_ordinary_metric():
    free = MOML(gamma=1e-2, cone="free", random_state=0).fit(IRIS, LABELS)
    M = free.get_mahalanobis_matrix()
    np.testing.assert_allclose(free.components_ @ free.components_, M, atol=1e-12)
    np.testing.assert_array_equal(free.transform(IRIS), IRIS @ free.components_.T)
    pairs = IRIS[:100].reshape(50, 2, -1)
    np.testing.assert_allclose(free.pair_score(pairs), -free.pair_distance(pairs), atol=1e-12)
    assert free.get_metric()(IRIS[0], IRIS[1]) == pytest.approx(free.pair_distance(pairs)[0])
    assert not hasattr(free, "similarity"), "neighbours are found as for any metric"
    assert not hasattr(MOML(), "similarity") and not hasattr(MOML(), "components_")


def test_rows_that_are_not_of_unit_norm_are_learned_from_within_the_cone():
    X, y = load_wine(return_X_y=True)
    learner = MOML(gamma=0.1, scale=None, random_state=0, scans=3).fit(X, y)
    assert learner.n_cone_failures_ > 0
    values = np.linalg.eigvalsh(learner.get_mahalanobis_matrix())
    assert np.isfinite(learner.components_).all() and values[-1] > 0
