"""Diagonal metrics and metrics of low rank: steps by brute force, starts, and what is refused."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse import csr_array, issparse

from mloml import MLOML, MOML
from mloml.learners.stack_state import Layer, Propagation, StackState
from mloml.learners.triplets import TripletStream

RNG = np.random.default_rng(0)
X = RNG.normal(size=(3, 6)) / np.sqrt(6)
Y = [0, 1, 0]  # one triplet: row 2 with row 0 and, told apart from it, row 1
P, Q = X[2] - X[0], X[2] - X[1]
A = np.outer(P, P) - np.outer(Q, Q)
WORDS = csr_array(np.where(RNG.random((80, 40)) < 0.7, 0.0, RNG.normal(size=(80, 40))))
CLASSES = RNG.integers(0, 3, 80)


def after_one_step(**settings):
    return MOML(scale=None, random_state=0, **settings).partial_fit(X, Y)


# diagonal --------------------------------------------------------------------------------------------------


def test_a_diagonal_step_minimises_the_objective_over_weights():
    """The hinge is active at both ends of the step, so its linear side is the objective."""
    gamma = 0.1

    def objective(w):
        return 0.5 * np.sum((w - 1.0) ** 2) + gamma * (1.0 + w @ np.diag(A))

    best = minimize(objective, np.ones(6), bounds=[(0.0, None)] * 6, tol=1e-14).x
    learner = after_one_step(metric="diagonal", gamma=gamma)
    assert learner.n_updates_ == 1 and learner.n_cone_failures_ == 0
    np.testing.assert_allclose(learner.feature_weights_, best, atol=1e-6)


def test_a_diagonal_step_is_the_diagonal_of_the_full_one():
    full = MOML(scale=None, gamma=0.01, factor="none").partial_fit(X, Y).get_mahalanobis_matrix()
    np.testing.assert_allclose(after_one_step(metric="diagonal", gamma=0.01).feature_weights_, np.diag(full))


@pytest.mark.parametrize(("keep", "floor"), [(0.1, 0.1), (0.5, 0.1), (0.01, 0.3), (0.1, 0.0)])
def test_a_long_pull_is_shortened_and_the_push_taken_whole(keep, floor):
    gamma = 20.0
    learner = after_one_step(metric="diagonal", gamma=gamma, cone_keep=keep, cone_floor=floor)
    pushed = 1.0 + gamma * Q**2
    s = P**2 / pushed
    pull = np.maximum(0, np.min([np.full(6, gamma), (1 - keep) / s, 1 / s - floor / P**2], axis=0))
    assert learner.n_cone_failures_ == 1
    np.testing.assert_allclose(learner.feature_weights_, pushed - pull * P**2)


def test_no_weight_ever_falls_below_the_floor():
    learner = MOML(gamma=100.0, metric="diagonal", cone_floor=0.2, random_state=0).fit(WORDS, CLASSES)
    weights = learner.feature_weights_ * learner.scale_**2
    assert learner.n_cone_failures_ > 100 and weights.min() == pytest.approx(0.2)


def test_the_passive_aggressive_variant_stops_at_the_margin():
    learner = after_one_step(metric="diagonal", gamma=1e6, variant="pa", cone_floor=0.0, cone_keep=1e-9)
    step = (1.0 + np.diag(A).sum()) / np.sum(np.diag(A) ** 2)
    np.testing.assert_allclose(learner.feature_weights_, np.maximum(1.0 - step * np.diag(A), 0), atol=1e-6)


def test_a_diagonal_metric_maps_sparse_rows_to_sparse_rows():
    learner = MOML(gamma=1.0, metric="diagonal", random_state=0).fit(WORDS, CLASSES)
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


# low rank --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("init", ["pca", "random"])
def test_a_low_rank_step_is_where_the_gradient_vanishes(init):
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


def test_with_as_many_components_as_features_a_small_step_is_that_of_moml():
    gamma = 1e-5
    start = np.eye(6)
    full = MOML(scale=None, gamma=gamma).partial_fit(X, Y).get_mahalanobis_matrix()
    low = after_one_step(n_components=6, gamma=gamma).get_mahalanobis_matrix()
    np.testing.assert_allclose(low - start, full - start, atol=10 * gamma**2)


def test_a_push_that_is_too_long_is_shortened():
    learner = after_one_step(n_components=3, gamma=50.0)
    assert learner.n_cone_failures_ == 1 and not learner.diverged_
    assert np.linalg.matrix_rank(learner.components_) == 3


def test_the_start_is_made_of_principal_axes_that_keep_the_mean_distance():
    rows = RNG.normal(size=(200, 8)) * [5, 4, 3, 1, 1, 1, 1, 1]
    start = MOML(n_components=3, gamma=0.0, scans=1, scale=None).fit(rows, CLASSES[np.arange(200) % 80])
    axes = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)[2][:3]
    L = start.components_
    length = np.linalg.norm(L[0])
    np.testing.assert_allclose(np.abs(L @ axes.T), length * np.eye(3), atol=1e-9)
    assert start.transform(rows).var(axis=0).sum() == pytest.approx(rows.var(axis=0).sum())


def test_random_directions_help_out_where_the_first_rows_have_too_few_axes():
    L = MOML(n_components=5, gamma=0.0, random_state=0).partial_fit(WORDS[:3], CLASSES[:3]).components_
    np.testing.assert_allclose(L @ L.T, (L[0] @ L[0]) * np.eye(5), atol=1e-9)


def test_columns_are_named_by_component():
    learner = MOML(n_components=3, scans=1, random_state=0).fit(WORDS, CLASSES)
    assert learner.transform(WORDS).shape == (80, 3)
    assert learner.get_feature_names_out().tolist() == ["moml0", "moml1", "moml2"]
    np.testing.assert_allclose(learner.transform_one(WORDS[[4]]), learner.transform(WORDS)[4])


# a stack with a narrow first layer -------------------------------------------------------------------------


def test_a_narrow_stack_of_one_layer_is_exactly_moml():
    settings = {"n_components": 4, "gamma": 0.1, "scans": 2, "random_state": 0}
    stack = MLOML(n_layers=1, **settings).fit(WORDS, CLASSES)
    np.testing.assert_array_equal(stack.components_, MOML(**settings).fit(WORDS, CLASSES).components_)


def test_layers_above_a_narrow_one_see_its_outputs_after_each_step():
    settings = {"n_components": 4, "gamma": 0.01, "random_state": 0, "scale": 4.0, "init": "random"}
    stack = MLOML(n_layers=3, activation="relu", **settings).partial_fit(WORDS, CLASSES)
    first, above = MOML(**settings), StackState(4, [Layer(step=0.01, cone="split")] * 2)
    stream = TripletStream()
    for i in range(80):
        first.partial_fit(WORDS[[i]], CLASSES[[i]])
        rows, triplets = stream.push(WORDS[[i]].toarray(), CLASSES[[i]])
        if len(triplets):
            hidden = np.maximum(rows[triplets[0]] @ first.components_.T, 0.0)
            above.learn(hidden, np.array([[0, 1, 2]]), Propagation())
    np.testing.assert_allclose(stack.layers_[0], first.components_, rtol=1e-12)
    np.testing.assert_allclose(stack.layers_[1:], above.layers, rtol=1e-9, atol=1e-12)
    assert stack.n_updates_.min() > 0 and [L.shape for L in stack.layers_] == [(4, 40), (4, 4), (4, 4)]


def test_a_narrow_stack_maps_dense_and_sparse_rows_alike():
    stack = MLOML(n_components=4, scans=2, random_state=0).fit(WORDS, CLASSES)
    mapped = stack.transform(WORDS)
    assert mapped.shape == (80, 4) and len(stack.get_feature_names_out()) == 4
    np.testing.assert_allclose(stack.transform(WORDS.toarray()), mapped, atol=1e-12)
    np.testing.assert_allclose(stack.transform_one(WORDS[[3]]), mapped[3], atol=1e-12)
    pairs = WORDS.toarray()[:4].reshape(2, 2, 40)
    distances = np.linalg.norm(mapped[[0, 2]] - mapped[[1, 3]], axis=1)
    np.testing.assert_allclose(stack.pair_distance(pairs), distances)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"propagation": "bp"}, "propagation='bp' does not go with n_components=3"),
        ({"layer": "lego"}, "layer='lego' does not go with n_components=3"),
        ({"n_components": 41}, "n_components=41 is more than the 40 features"),
    ],
)
def test_what_a_narrow_stack_cannot_be_is_named(settings, message):
    with pytest.raises(ValueError, match=message):
        MLOML(**{"n_components": 3, **settings}).fit(WORDS, CLASSES)


# what does not go together ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"metric": "diagonal", "n_components": 3}, "n_components=3 does not go with metric='diagonal'"),
        ({"metric": "diagonal", "factor": "frame"}, "factor='frame' does not go with metric='diagonal'"),
        ({"metric": "diagonal", "cone": "clip"}, "cone='clip' does not go with metric='diagonal'"),
        ({"n_components": 3, "factor": "none"}, "factor='none' does not go with n_components=3"),
        ({"n_components": 3, "variant": "pa"}, "variant='pa' does not go with n_components=3"),
        ({"n_components": 7}, "n_components=7 is more than the 6 features"),
    ],
)
def test_parameters_that_contradict_each_other_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        after_one_step(**settings)


def test_only_a_diagonal_metric_has_feature_weights():
    with pytest.raises(AttributeError, match="only with metric='diagonal'"):
        _ = after_one_step().feature_weights_


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_narrow_layer_stops_with_the_layers_above_it():
    rng = np.random.default_rng(9)
    X, y = rng.normal(size=(120, 9)), rng.integers(0, 3, 120)
    settings = {"n_components": 2, "init": "random", "random_state": 1, "scale": None, "activation": "relu"}
    at_once, by_row = (MLOML(gamma=3.0, **settings) for _ in range(2))
    at_once.partial_fit(X, y)
    for row, label in zip(X, y, strict=True):
        by_row.learn_one(row, label)
    assert at_once.diverged_ and by_row.diverged_
    assert at_once.n_updates_.tolist() == by_row.n_updates_.tolist()
    for one, other in zip(at_once.layers_, by_row.layers_, strict=True):
        np.testing.assert_array_equal(one, other)
