import numpy as np
import pytest

from mloml.kernels.stack import layout
from mloml.learners.stack_state import Layer, Propagation, StackState, activate

ACTIVATIONS = ["relu", "sigmoid", "tanh"]


def stack(d=5, n=3, kind="frame", step=1e-2, **settings):
    return StackState(d, [Layer(kind, step, **settings)] * n)


def loss(layers, H, activation, w, scale, decay):
    """Eq. (1) for three samples in the rows of H, written out; local hinges count ``w_i scale_i``."""
    total = decay / 2 * np.sum(layers**2)
    for i, L in enumerate(layers):
        Z = H @ L.T
        hinge = 1 + np.sum((Z[0] - Z[1]) ** 2) - np.sum((Z[0] - Z[2]) ** 2)
        total += w[i] * scale[i] * max(0, hinge)
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


def random_start(state, seed):
    rng = np.random.default_rng(seed)
    d = state.n_features
    state.L[:, :d, :d] += 0.3 * rng.normal(size=(len(state.L), d, d))
    state.K[:, :d, :d] = np.linalg.inv(state.L[:, :d, :d]).transpose(0, 2, 1)
    return rng


def smooth_case(state, activation, seed):
    """Three samples away from the kinks of ReLU and of every hinge."""
    rng = random_start(state, seed)
    while True:
        X = rng.normal(size=(3, state.n_features))
        H, smooth = X, True
        for L in state.layers:
            Z = H @ L.T
            smooth &= np.abs(Z).min() > 1e-3
            smooth &= 1 + np.sum((Z[0] - Z[1]) ** 2) - np.sum((Z[0] - Z[2]) ** 2) > 1e-2
            H = activate(Z, activation)
        if smooth:
            return X


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_bp_steps_down_the_gradient_of_the_loss(activation, seed):
    state = stack()
    X = smooth_case(state, activation, seed)
    before = state.layers
    rate = 1e-3
    state.learn(X, np.array([[0, 1, 2]], dtype=np.intp), Propagation("bp", activation, rate, decay=0.2))
    numeric = by_differences(lambda layers: loss(layers, X, activation, np.zeros(3), np.ones(3), 0.2), before)
    np.testing.assert_allclose((before - state.layers) / rate, numeric, atol=1e-6)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("local_loss", ["hinge", "scaled"])
@pytest.mark.parametrize("routing", ["all", "below"])
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_fbp_steps_down_the_gradient_with_local_losses(activation, routing, local_loss, seed):
    """A forward step so small that it can be neglected leaves the backward step alone."""
    gamma = 1e-12 if local_loss == "hinge" else 0.0
    state = stack(step=gamma)
    X = smooth_case(state, activation, seed)
    w = np.array([0.7, 0.5, 0.3])
    state.numbers[:, layout.WEIGHT] = w
    scale = np.ones(3) if local_loss == "hinge" else np.full(3, gamma)
    before = state.layers
    rate = 1e-3
    how = Propagation("fbp", activation, rate, 0.1, local_loss, routing)
    state.learn(X, np.array([[0, 1, 2]], dtype=np.intp), how)
    full = by_differences(lambda layers: loss(layers, X, activation, w, scale, 0.1), before)
    if routing == "below":  # take out what the layer's own local loss does to it
        for i in range(3):
            alone = np.eye(3)[i] * w
            direct = by_differences(lambda layers, a=alone: loss(layers, X, activation, a, scale, 0), before)
            none = by_differences(lambda layers: loss(layers, X, activation, 0 * w, scale, 0), before)
            full[i] -= (direct - none)[i]
    np.testing.assert_allclose((before - state.layers) / rate, full, atol=1e-6)


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("kind", ["frame", "opml", "cholesky", "symmetric"])
@pytest.mark.parametrize("routing", ["below", "all"])
def test_compiled_fbp_equals_the_plain_one(triplets_of, plainly, kind, activation, routing):
    X, triplets = triplets_of(5, 80)
    how = Propagation("fbp", activation, 1e-2, 1e-2, "hinge", routing)
    ours, theirs = stack(kind=kind), stack(kind=kind)
    assert ours.learn(X, triplets, how)
    plainly(theirs, X, triplets, how)
    np.testing.assert_allclose(ours.layers, theirs.layers, atol=1e-9)
    np.testing.assert_allclose(ours.numbers, theirs.numbers, atol=1e-12)
    if kind == "frame":
        products = ours.layers @ ours.K[:, :5, :5].transpose(0, 2, 1)
        np.testing.assert_allclose(products, np.broadcast_to(np.eye(5), (3, 5, 5)), atol=1e-10)


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_compiled_bp_equals_the_plain_one(triplets_of, plainly, activation):
    X, triplets = triplets_of(6, 100)
    how = Propagation("bp", activation, 3e-2, 1e-2)
    ours, theirs = stack(6), stack(6)
    assert ours.learn(X, triplets, how)
    plainly(theirs, X, triplets, how)
    np.testing.assert_allclose(ours.layers, theirs.layers, atol=1e-10)
    np.testing.assert_array_equal(ours.counts[:, :2], theirs.counts[:, :2])


@pytest.mark.parametrize("kind", ["frame", "cholesky", "symmetric", "opml"])
def test_fbp_with_rate_zero_is_fp_exactly(triplets_of, kind):
    X, triplets = triplets_of(5, 300)
    forward, both = stack(kind=kind, step=0.1), stack(kind=kind, step=0.1)
    forward.learn(X, triplets, Propagation("fp", "tanh"))
    both.learn(X, triplets, Propagation("fbp", "tanh", rate=0.0, decay=0.5))
    np.testing.assert_array_equal(forward.layers, both.layers)
    np.testing.assert_array_equal(forward.counts, both.counts)
    np.testing.assert_array_equal(both.numbers[:, layout.WEIGHT], 1.0)


def test_bp_on_one_layer_multiplies_by_a_first_order_opml_step(triplets_of):
    X, triplets = triplets_of(4, 20)
    state = stack(4, 1)
    L = np.eye(4)
    for t, i, j in triplets:
        p, q = X[t] - X[i], X[t] - X[j]
        if 1 + np.sum((L @ p) ** 2) - np.sum((L @ q) ** 2) > 0:
            L = L @ (np.eye(4) - 0.05 * (np.outer(p, p) - np.outer(q, q)))
    state.learn(X, triplets, Propagation("bp", rate=0.05))
    np.testing.assert_allclose(state.layers[0], L, atol=1e-13)


def test_weights_only_fall_and_stop_at_zero(triplets_of):
    X, triplets = triplets_of(5, 200)
    state = stack()
    before = np.ones(3)
    for triplet in triplets:
        state.learn(X, triplet[np.newaxis], Propagation("fbp", rate=2e-2, local_loss="hinge"))
        now = state.numbers[:, layout.WEIGHT].copy()
        assert (now <= before).all() and (now >= 0).all()
        before = now
    assert (before == 0).any()
    frozen = stack()
    frozen.learn(X, triplets, Propagation("fbp", rate=2e-2, freeze_w=True))
    np.testing.assert_array_equal(frozen.numbers[:, layout.WEIGHT], 1.0)


@pytest.mark.parametrize("strategy", ["bp", "fbp"])
def test_only_the_decay_acts_while_all_hinges_are_inactive(strategy):
    X = np.array([[0.0, 0.0], [0.1, 0.0], [9.0, 9.0]])
    state = stack(2, 2)
    triplets = np.array([[2, 2, 0]] * 3, dtype=np.intp)  # p = 0, q far: no hinge is active
    state.learn(X, triplets, Propagation(strategy, rate=0.1, decay=0.5))
    np.testing.assert_allclose(state.layers, 0.95**3 * np.array([np.eye(2)] * 2))
    if strategy == "fbp":
        np.testing.assert_allclose(state.K[:, :2, :2], 0.95**-3 * np.array([np.eye(2)] * 2))


@pytest.mark.parametrize("strategy", ["bp", "fbp"])
def test_a_diverging_run_stops_with_finite_layers(triplets_of, strategy):
    X, triplets = triplets_of(5, 200)
    state = stack()
    assert not state.learn(X, triplets, Propagation(strategy, rate=1e3))
    assert np.isfinite(state.layers).all() and np.isfinite(state.numbers).all()
