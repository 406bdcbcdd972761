"""The watched stack: against a slow stack with explicit metrics, and the inequality behind Theorem 1."""

import numpy as np
import pytest

from mloml.learners.moml import MOMLLayer
from mloml.paper.theorem1 import WatchedLayer, check_sandwich, follow, layers_frame


def triplet_stream(seed, n, d, T):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    return X, np.array([rng.choice(n, 3, replace=False) for _ in range(T)])


def slow_stack(X, triplets, gamma, n_layers):
    """Push and pull layer by layer with eigendecompositions; count what the theorem speaks of."""
    layers = [np.eye(X.shape[1]) for _ in range(n_layers)]
    smallest = np.full(n_layers, np.inf)
    steps, broken, failed, shortened = np.zeros((4, n_layers), int)
    for triplet in triplets:
        H = X[triplet].T
        for i, L in enumerate(layers):
            p, q = H[:, 0] - H[:, 1], H[:, 0] - H[:, 2]
            M = L.T @ L
            A = np.outer(p, p) - np.outer(q, q)
            if 1 + np.trace(M @ A) > 0:
                value = np.linalg.eigvalsh(M)[0]
                smallest[i] = min(smallest[i], value)
                steps[i] += 1
                broken[i] += gamma > value / 4
                failed[i] += np.linalg.eigvalsh(M - gamma * A)[0] <= 0
                push = gamma * np.outer(q, q)
                s = p @ np.linalg.solve(M + push, p)
                pull = max(0.0, min(gamma, 0.9 / s, 1 / s - 0.1 / (p @ p))) if s > 0 else gamma
                shortened[i] += pull < gamma
                layers[i] = frame_root(L, pull * np.outer(p, p) - push)
            Z = layers[i] @ H
            H = np.maximum(Z, 0) if i < n_layers - 1 else Z
    return np.array(layers), smallest, steps, broken, failed, shortened


def frame_root(L, gA):
    K = np.linalg.inv(L).T
    values, vectors = np.linalg.eigh(np.eye(len(L)) - K @ gA @ K.T)
    return (vectors * np.sqrt(values)) @ vectors.T @ L


@pytest.mark.parametrize("gamma", [1e-3, 1e-2, 0.05, 0.3])
def test_counts_and_eigenvalues_are_those_of_a_slow_stack(gamma):
    X, triplets = triplet_stream(0, 30, 4, 150)
    layers, smallest, steps, broken, failed, shortened = slow_stack(X, triplets, gamma, 3)
    watched = follow(X, [triplets[:60], triplets[60:]], gamma, n_layers=3)
    frame = layers_frame(watched)
    np.testing.assert_allclose([each.layer.L for each in watched], layers, atol=1e-7)
    np.testing.assert_allclose(frame["smallest_eigenvalue"], smallest, atol=1e-7)
    np.testing.assert_array_equal(frame["steps"], steps)
    np.testing.assert_array_equal(frame["steps_looked_at"], steps)
    np.testing.assert_allclose(frame["share_condition_broken"], broken / steps)
    np.testing.assert_allclose(frame["share_leaving_cone"], failed / steps)
    assert gamma < 0.3 or 0 < failed.sum() < shortened.sum(), "a shortened pull is not yet a departure"


@pytest.mark.parametrize("seed", range(3))
def test_layer_one_never_leaves_the_cone_while_the_condition_holds(seed):
    X, triplets = triplet_stream(seed, 40, 5, 300)
    frame = layers_frame(follow(X, [triplets], 0.1, n_layers=3))
    assert frame["share_leaving_cone"][0] > 0
    assert frame["left_although_condition_held"][0] == 0
    assert frame["largest_squared_distance"][0] <= 4 + 1e-12
    assert frame["sandwich_excess"].max() < 1e-10


def test_upper_layers_see_distances_that_the_theorem_rules_out():
    X, triplets = triplet_stream(1, 40, 5, 600)
    frame = layers_frame(follow(X, [triplets], 0.1, n_layers=3, relu=False))
    assert frame["largest_squared_distance"].iloc[-1] > 4


def test_looking_less_often_still_counts_every_failure():
    X, triplets = triplet_stream(2, 40, 4, 400)
    always, seldom = (layers_frame(follow(X, [triplets], 0.1, every=every)) for every in (1, 10))
    np.testing.assert_array_equal(always["share_leaving_cone"], seldom["share_leaving_cone"])
    np.testing.assert_array_equal(
        always["left_although_condition_held"], seldom["left_although_condition_held"]
    )
    assert (seldom["steps_looked_at"] < always["steps_looked_at"] / 5).all()


def test_a_broken_inequality_in_layer_one_stops_everything():
    first = WatchedLayer(MOMLLayer(3, 0.1), sandwich_excess=1e-11)
    check_sandwich(first)
    first.sandwich_excess = 1e-8
    with pytest.raises(AssertionError, match="layer 1"):
        check_sandwich(first)
