import numpy as np
import pytest

from mloml.kernels.stack import layout
from mloml.learners.stack_state import Layer, Propagation, StackState

KINDS = ["frame", "cholesky", "symmetric", "opml", "lego", "rdml"]


def stack(d, kinds, step=1e-2, **settings):
    return StackState(d, [Layer(kind, step, targets=(0.3, 2.5), **settings) for kind in kinds])


@pytest.mark.parametrize("activation", ["relu", "sigmoid", "tanh"])
@pytest.mark.parametrize("kind", KINDS)
def test_compiled_scan_equals_the_plain_one(triplets_of, plainly, kind, activation):
    X, triplets = triplets_of(5, 60)
    ours, theirs = stack(5, [kind] * 3), stack(5, [kind] * 3)
    how = Propagation("fp", activation)
    assert ours.learn(X, triplets, how)
    plainly(theirs, X, triplets, how)
    np.testing.assert_allclose(ours.layers, theirs.layers, atol=1e-10)
    np.testing.assert_array_equal(ours.counts[:, :2], theirs.counts[:, :2])


@pytest.mark.parametrize(
    ("kind", "cone"),
    [(kind, cone) for kind in KINDS[:3] for cone in ("shrink", "skip")]
    + [("symmetric", "clip"), ("frame", "split"), ("cholesky", "split")],
)
@pytest.mark.parametrize("variant", ["paper", "pa"])
def test_compiled_scan_equals_the_plain_one_step_by_step_when_steps_leave_the_cone(
    triplets_of, plainly, kind, cone, variant
):
    X, triplets = triplets_of(3, 60, seed=3)
    ours = stack(3, [kind] * 2, step=0.4, cone=cone, variant=variant)
    for triplet in triplets:
        theirs = stack(3, [kind] * 2, step=0.4, cone=cone, variant=variant)
        theirs.L[:], theirs.K[:], theirs.counts[:] = ours.L, ours.K, ours.counts
        plainly(theirs, X, triplet[np.newaxis], Propagation())
        ours.learn(X, triplet[np.newaxis], Propagation())
        np.testing.assert_allclose(ours.layers, theirs.layers, rtol=1e-6, atol=1e-6)
        np.testing.assert_array_equal(ours.counts[:, :2], theirs.counts[:, :2])
    assert variant == "pa" or ours.counts[:, 1].sum() > 3


def test_layers_of_different_algorithms_can_be_mixed(triplets_of, plainly):
    kinds = ["rdml", "frame", "lego", "opml"]
    X, triplets = triplets_of(6, 50)
    ours, theirs = stack(6, kinds), stack(6, kinds)
    ours.learn(X, triplets, Propagation())
    plainly(theirs, X, triplets, Propagation())
    np.testing.assert_allclose(ours.layers, theirs.layers, atol=1e-10)


@pytest.mark.parametrize("cone", ["shrink", "split"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("step", [1e-2, 0.1])
def test_lower_layers_never_see_upper_ones(triplets_of, kind, step, cone):
    X, triplets = triplets_of(7, 150)
    short, tall = stack(7, [kind] * 2, step, cone=cone), stack(7, [kind] * 4, step, cone=cone)
    short.learn(X, triplets, Propagation())
    tall.learn(X, triplets, Propagation())
    np.testing.assert_array_equal(short.layers, tall.layers[:2])


@pytest.mark.parametrize("cone", ["shrink", "split"])
def test_one_scan_equals_the_same_triplets_one_call_each(triplets_of, cone):
    X, triplets = triplets_of(9, 400)
    for how in (Propagation(), Propagation("bp", rate=1e-2), Propagation("fbp", rate=1e-3, decay=1e-2)):
        whole, parts = (stack(9, ["frame"] * 3, 0.05, cone=cone) for _ in range(2))
        whole.learn(X, triplets, how)
        for triplet in triplets:
            parts.learn(X, triplet[np.newaxis], how)
        np.testing.assert_array_equal(whole.layers, parts.layers)
        np.testing.assert_array_equal(whole.counts, parts.counts)


@pytest.mark.parametrize("factor", ["cholesky", "symmetric"])
def test_all_factors_belong_to_one_metric(triplets_of, factor):
    X, triplets = triplets_of(6, 300)
    ours, other = stack(6, ["frame"], 1e-3), stack(6, [factor], 1e-3)
    ours.learn(X, triplets, Propagation())
    other.learn(X, triplets, Propagation())
    for state in (ours, other):
        state.metric = state.layers[0].T @ state.layers[0]
    np.testing.assert_allclose(ours.metric, other.metric, atol=1e-12)


def test_step_size_zero_changes_nothing(triplets_of):
    X, triplets = triplets_of(4, 30)
    state = stack(4, KINDS, step=0.0)
    state.learn(X, triplets, Propagation())
    np.testing.assert_array_equal(state.layers, np.broadcast_to(np.eye(4), (6, 4, 4)))


def test_rows_of_absurd_size_stop_the_scan_and_leave_finite_layers(triplets_of):
    X, triplets = triplets_of(4, 30)
    state = stack(4, ["frame", "frame"])
    assert not state.learn(1e16 * X, triplets, Propagation())
    assert np.isfinite(state.layers).all()


@pytest.mark.parametrize(
    ("kind", "size", "row", "told"),
    [
        (
            "lego",
            1e-9,
            1.0,
            {"UPDATES": 0, "FAILURES": 2, "REFUSED": 2, "WEAK": 2},
        ),  # both too near
        ("lego", 1.0, 0.0, {"UPDATES": 0, "FAILURES": 2, "REFUSED": 0, "WEAK": 0}),  # one row three times
        ("rdml", 1e-2, 200.0, {"UPDATES": 1, "FAILURES": 1, "REFUSED": 0, "WEAK": 1}),  # nothing to take
        ("rdml", 1.0, 2.0, {"UPDATES": 1, "FAILURES": 0, "REFUSED": 0, "WEAK": 0}),
    ],
)
def test_layers_on_pairs_count_steps_that_come_to_nothing(kind, size, row, told):
    layers = stack(3, [kind])
    layers.L[0] *= size
    layers.K[0] /= size
    rows = row * np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    layers.learn(rows, np.array([[0, 1, 2]]), Propagation())
    assert {name: layers.counts[0, getattr(layout, name)] for name in told} == told
