"""Forward, backward and both, against the plain stack of ``tests/oracles`` and finite differences."""

import numpy as np
import pytest
from tests.oracles import stack as plain

from mloml.learners.layers import ACTIVATIONS, Stack, activate
from mloml.learners.mloml import make_layer
from mloml.learners.propagation import GradientStack, Loss
from mloml.learners.triplets import pieces

KINDS = ["moml", "opml", "lego", "rdml"]
every_activation = pytest.mark.parametrize("activation", ACTIVATIONS)


def triplets_of(d, count, seed=0, n=60, length=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X *= length / np.linalg.norm(X, axis=1, keepdims=True)
    return X, np.array([rng.choice(n, 3, replace=False) for _ in range(count)])


def forward_stack(kinds, d, step, activation):
    settings = {"step": step, "cone_keep": 0.1, "cone_floor": 0.1, "targets": (0.1, 1.0)}
    return Stack([make_layer(kind, d, settings, None, 1.0) for kind in kinds], activation)


def gradient_stack(kinds, d, step, forward, *loss):
    settings = [{"step": step, "cone_keep": 0.1, "cone_floor": 0.1}] * len(kinds)
    return GradientStack(d, kinds, settings, forward, Loss(*loss))


def show(stack, X, triplets):
    return sum(stack.learn(D) for D, _ in pieces(X, triplets))


@every_activation
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("step", [1e-2, 0.1])
def test_forward_propagation_equals_the_plain_stack(kind, activation, step):
    X, triplets = triplets_of(6, 120)
    stack = forward_stack([kind] * 3, 6, step, activation)
    assert show(stack, X, triplets) == len(triplets)
    layers, _, counts = plain.learn(X, triplets, [kind] * 3, step, activation)
    np.testing.assert_allclose(np.stack(stack.factors()), layers, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(stack.counts[:, :2], counts)


def test_a_long_stream_renews_the_inverse_and_stays_with_the_plain_stack():
    X, triplets = triplets_of(5, 1200, seed=3)
    stack = forward_stack(["moml"] * 2, 5, 0.02, "tanh")
    show(stack, X, triplets)
    assert stack.counts[0, 0] > 512
    np.testing.assert_allclose(
        np.stack(stack.factors()), plain.learn(X, triplets, ["moml"] * 2, 0.02, "tanh")[0], atol=1e-9
    )
    for layer in stack.layers:
        np.testing.assert_allclose(layer.N @ layer.L.T @ layer.L, np.eye(5), atol=1e-9)


def test_layers_of_different_algorithms_go_together():
    X, triplets = triplets_of(4, 80)
    stack = forward_stack(KINDS, 4, 0.05, "relu")
    show(stack, X, triplets)
    layers, _, counts = plain.learn(X, triplets, KINDS, 0.05, "relu")
    np.testing.assert_allclose(np.stack(stack.factors()), layers, atol=1e-9)
    np.testing.assert_array_equal(stack.counts[:, :2], counts)


@every_activation
@pytest.mark.parametrize("kind", ["moml", "opml"])
@pytest.mark.parametrize("local_loss", ["hinge", "scaled"])
@pytest.mark.parametrize("routing", ["below", "all"])
def test_forward_and_backward_equals_the_plain_stack(kind, activation, local_loss, routing):
    X, triplets = triplets_of(5, 80)
    settings = (activation, 1e-2, 1e-2, local_loss, routing, False)
    stack = gradient_stack([kind] * 3, 5, 0.05, True, *settings)
    assert show(stack, X, triplets) == len(triplets)
    layers, w, counts = plain.learn(X, triplets, [kind] * 3, 0.05, activation, "fbp", *settings[1:])
    np.testing.assert_allclose(np.stack(stack.factors()), layers, atol=1e-9)
    np.testing.assert_allclose(stack.weights, w, atol=1e-12)
    np.testing.assert_array_equal(stack.counts[:, :2], counts)
    if kind == "moml":
        for L, N in zip(stack.L, stack.N, strict=True):
            np.testing.assert_allclose(N @ L.T @ L, np.eye(5), atol=1e-9)


@every_activation
def test_backward_propagation_equals_the_plain_stack(activation):
    X, triplets = triplets_of(6, 100)
    stack = gradient_stack(["moml"] * 3, 6, 0.0, False, activation, 3e-2, 1e-2, "scaled", "below", False)
    assert show(stack, X, triplets) == len(triplets)
    layers, _, counts = plain.learn(X, triplets, ["moml"] * 3, 0.0, activation, "bp", 3e-2, 1e-2)
    np.testing.assert_allclose(np.stack(stack.factors()), layers, atol=1e-10)
    np.testing.assert_array_equal(stack.counts[:, :2], counts)


def loss(layers, H, activation, w, decay):
    """Eq. (1) for three samples in the rows of H, written out."""
    total = decay / 2 * np.sum(layers**2)
    for i, L in enumerate(layers):
        Z = H @ L.T
        hinge = 1 + np.sum((Z[0] - Z[1]) ** 2) - np.sum((Z[0] - Z[2]) ** 2)
        total += w[i] * max(0, hinge)
        H = activate(Z, activation)
    return total + max(0, hinge) / 2


def by_differences(f, layers, eps=1e-6):
    gradient = np.zeros_like(layers)
    for index in np.ndindex(layers.shape):
        ahead, behind = layers.copy(), layers.copy()
        ahead[index] += eps
        behind[index] -= eps
        gradient[index] = (f(ahead) - f(behind)) / (2 * eps)
    return gradient


def smooth_case(layers, activation, rng):
    """Three samples away from the kinks of ReLU and of every hinge."""
    while True:
        X = rng.normal(size=(3, layers.shape[2]))
        H, smooth = X, True
        for L in layers:
            Z = H @ L.T
            smooth &= np.abs(Z).min() > 1e-3
            smooth &= 1 + np.sum((Z[0] - Z[1]) ** 2) - np.sum((Z[0] - Z[2]) ** 2) > 1e-2
            H = activate(Z, activation)
        if smooth:
            return X


@every_activation
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(("forward", "routing"), [(False, "below"), (True, "all")])
def test_a_backward_step_goes_down_the_gradient_of_the_loss(activation, seed, forward, routing):
    """With steps of 0 forward, FBP with the plain hinge as local loss is a gradient step of Eq. (1)."""
    rate, decay, w = 1e-3, 0.2, np.array([0.7, 0.5, 0.3])
    stack = gradient_stack(["moml"] * 3, 5, 0.0, forward, activation, rate, decay, "hinge", routing, False)
    rng = np.random.default_rng(seed)
    stack.L += 0.3 * rng.normal(size=stack.L.shape)
    stack.N = np.linalg.inv(stack.L.transpose(0, 2, 1) @ stack.L)
    stack.weights[:] = w
    before, X = stack.L.copy(), smooth_case(stack.L, activation, rng)
    show(stack, X, np.array([[0, 1, 2]]))
    weights = w if forward else 0 * w
    numeric = by_differences(lambda layers: loss(layers, X, activation, weights, decay), before)
    np.testing.assert_allclose((before - stack.L) / rate, numeric, atol=1e-6)


def test_weights_of_local_losses_fall_to_zero_and_no_further():
    X, triplets = triplets_of(4, 200)
    stack = gradient_stack(["moml"] * 2, 4, 0.01, True, "tanh", 0.5, 0.0, "hinge", "below", False)
    before = np.ones(2)
    for D, _ in pieces(X, triplets[:40]):
        stack.learn(D)
        assert np.all((stack.weights <= before) & (stack.weights >= 0))
        before = stack.weights.copy()
    assert np.all(before == 0)


@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_pieces_of_any_size_give_the_same_bits(activation):
    X, triplets = triplets_of(5, 150)
    whole, parts = (forward_stack(["moml", "opml", "rdml"], 5, 0.1, activation) for _ in range(2))
    show(whole, X, triplets)
    for t in triplets:
        show(parts, X, t[None])
    np.testing.assert_array_equal(np.stack(whole.factors()), np.stack(parts.factors()))
    np.testing.assert_array_equal(whole.counts, parts.counts)


def test_a_layer_that_diverges_leaves_the_others_where_single_triplets_would():
    X, triplets = triplets_of(6, 120)
    stacks = [forward_stack(["opml"] * 3, 6, 0.3, "relu") for _ in range(2)]
    seen = show(stacks[0], X, triplets)
    assert 0 < seen < len(triplets)
    one_by_one = 0
    for t in triplets:
        if not show(stacks[1], X, t[None]):
            break
        one_by_one += 1
    assert one_by_one == seen
    np.testing.assert_array_equal(np.stack(stacks[0].factors()), np.stack(stacks[1].factors()))
