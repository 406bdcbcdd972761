"""MLOML as a learner: what a stack promises to its user."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

from mloml.learners.layers import Stack
from mloml.learners.low_rank_moml import LowRankMOML
from mloml.learners.mloml import MLOML
from mloml.learners.moml import MOML, MOMLLayer
from mloml.learners.opml import OPML
from mloml.learners.paper_mloml import PaperMLOML
from mloml.learners.triplets import TripletStream

X, Y = load_iris(return_X_y=True)
X = X / np.linalg.norm(X, axis=1, keepdims=True)
PHI = {"relu": lambda Z: np.maximum(Z, 0), "sigmoid": lambda Z: 1 / (1 + np.exp(-Z)), "tanh": np.tanh}


@pytest.mark.parametrize("activation", list(PHI))
def test_transform_gives_the_linear_output_of_each_layer(activation):
    stack = MLOML(activation=activation, random_state=0, scans=2).fit(X, Y)
    H = X
    for i, L in enumerate(stack.layers_, start=1):
        Z = H @ L.T
        np.testing.assert_allclose(stack.transform(X, layer=i), Z, atol=1e-12)
        np.testing.assert_allclose(stack.get_mahalanobis_matrix(i), L.T @ L)
        H = PHI[activation](Z)
    np.testing.assert_array_equal(stack.transform(X), stack.transform(X, layer=3))


@pytest.mark.parametrize("propagation", ["fp", "bp", "fbp"])
@pytest.mark.parametrize("activation", list(PHI))
def test_step_sizes_of_zero_leave_the_untrained_stack(activation, propagation):
    settings = {"gamma": 0.0, "layer_params": {"rate": 0.0}, "scale": None, "scans": 1}
    stack = MLOML(activation=activation, propagation=propagation, **settings).fit(X, Y)
    expected = PHI[activation](PHI[activation](X))
    np.testing.assert_allclose(stack.transform(X), expected, atol=1e-14)


def test_three_layers_are_the_first_three_of_five_exactly():
    settings = {"gamma": 0.1, "activation": "tanh", "random_state": 3}
    three, five = MLOML(n_layers=3, **settings).fit(X, Y), MLOML(n_layers=5, **settings).fit(X, Y)
    np.testing.assert_array_equal(three.layers_, five.layers_[:3])
    np.testing.assert_array_equal(three.transform(X), five.transform(X, layer=3))


@pytest.mark.parametrize("propagation", ["fp", "fbp"])
def test_layers_take_their_share_of_a_pull_from_their_settings(propagation):
    rows = X - X.mean(axis=0)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)  # directions all around: pulls of 1/2 are too long
    settings = {"gamma": 0.5, "propagation": propagation, "scans": 2, "random_state": 0}
    default = MLOML(**settings).fit(rows, Y)
    named = MLOML(layer_params={"cone_keep": 0.1, "cone_floor": 0.1}, **settings).fit(rows, Y)
    np.testing.assert_array_equal(default.layers_, named.layers_)
    gentle = MLOML(layer_params={"cone_keep": 0.5, "cone_floor": 0.3}, **settings).fit(rows, Y)
    own = MLOML(layer_params=[{"cone_keep": 0.5, "cone_floor": 0.3}] * 3, **settings).fit(rows, Y)
    np.testing.assert_array_equal(gentle.layers_, own.layers_)
    assert default.n_cone_failures_[0] > 0
    assert not np.array_equal(gentle.layers_, default.layers_)


def test_first_layer_of_an_opml_stack_is_opml():
    stack = MLOML(layer="opml", n_layers=2, gamma=0.05, random_state=0).fit(X, Y)
    single = OPML(gamma=0.05, random_state=0).fit(X, Y)
    np.testing.assert_allclose(stack.layers_[0], single.components_, atol=1e-10)
    assert stack.n_updates_[0] == single.n_updates_


def test_a_list_gives_each_layer_its_own_algorithm_and_settings():
    params = [{"gamma": 1e-3}, {"gamma": 0.0}, {"gamma": 1e-2}, {"gamma": 1e-2, "targets": (0.1, 1.0)}]
    names = ["moml", "opml", "rdml", "lego"]
    stack = MLOML(layer=names, n_layers=4, gamma=0.1, layer_params=params, random_state=0).fit(X, Y)
    single = MOML(gamma=1e-3, random_state=0).fit(X, Y)
    np.testing.assert_array_equal(stack.layers_[0], single.components_)
    np.testing.assert_array_equal(stack.layers_[1], np.eye(4))
    assert np.linalg.eigvalsh(stack.get_mahalanobis_matrix(3))[0] > 0
    assert (stack.n_updates_ > 0).tolist() == [True, False, True, True]


@pytest.mark.parametrize("name", ["gamma", "rate", "n_layers"])
def test_a_grid_equals_separate_fits_exactly(name):
    stack = PaperMLOML(propagation="fbp", random_state=5, scans=2)
    values = [1, 2] if name == "n_layers" else [1e-3, 1e-1]
    for fitted, value in zip(stack.fit_grid(X, Y, name, values), values, strict=True):
        alone = clone(stack).set_params(**{name: value}).fit(X, Y)
        np.testing.assert_array_equal(fitted.layers_, alone.layers_)


def test_fbp_is_refused_for_layers_it_is_not_defined_for():
    with pytest.raises(ValueError, match=r"moml and opml layers only, layer has \['lego', 'rdml'\]"):
        MLOML(layer=["moml", "lego", "rdml"], propagation="fbp").fit(X, Y)
    MLOML(layer=["moml", "lego", "rdml"], propagation="bp", scans=1).fit(X, Y)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"layer": ["moml", "opml"]}, "layer has 2 entries but n_layers is 3"),
        ({"layer": ["moml", "opml", "mlom"]}, "did you mean 'moml'"),
        ({"layer_params": [{}]}, "layer_params has 1 entries, expected one per layer"),
        ({"layer_params": {"eta": 1.0}}, "layer_params has 'eta', but a moml layer has cone_floor"),
        ({"layer_params": {"gamma": -1.0}}, "expected a number >= 0"),
        ({"propagation": "bp", "layer_params": {"rate": -1.0}}, "'rate' parameter of layer_params of MLOML"),
        ({"layer_params": {"factor": "cholesky"}}, "has cone_floor, cone_keep, gamma"),
        ({"layer": "lego", "layer_params": {"targets": (2, 1)}}, "0 <= lower <= upper"),
        (
            {"layer": "lego", "layer_params": {"targets": "quartiles"}},
            "targets is 'quartiles', expected 'per",
        ),
        ({"layer": "lego", "layer_params": {"targets": "12"}}, "targets is '12', expected 'percentiles' or"),
        ({"layer": [["moml"], "moml", "moml"]}, r"layer has \['moml'\], expected one of moml, opml"),
        ({"layer_params": {"cone_keep": 0}}, "cone_keep of a layer is 0, expected a number above 0"),
        ({"layer_params": {"cone_floor": 1.0}}, "cone_floor of a layer is 1.0, expected a number from 0"),
    ],
)
def test_settings_that_make_no_sense_are_refused_in_one_line(settings, message):
    with pytest.raises(ValueError, match=message) as error:
        MLOML(**settings).fit(X, Y)
    assert "\n" not in str(error.value)


def test_a_stream_of_lego_layers_takes_its_targets_from_the_first_rows():
    order = np.random.default_rng(0).permutation(len(X))[:40]
    whole = MLOML(layer="lego", gamma=0.1).partial_fit(X[order], Y[order])
    rows = MLOML(layer="lego", gamma=0.1).partial_fit(X[order[:7]], Y[order[:7]])
    assert np.all(rows.n_updates_ == 0)  # too few to take targets from
    for i in order[7:]:
        rows.learn_one(X[i], Y[i])
    assert np.all(rows.n_updates_ > 0)
    np.testing.assert_allclose(rows.layers_, whole.layers_, rtol=1e-9, atol=1e-12)


def test_a_stack_has_no_single_matrix_unless_it_has_a_single_layer():
    stack = MLOML(random_state=0, scans=1)
    assert not hasattr(stack, "components_")
    stack.fit(X, Y)
    with pytest.raises(AttributeError, match="not a linear map"):
        _ = stack.components_
    one = MLOML(n_layers=1, random_state=0, scans=1).fit(X, Y)
    np.testing.assert_array_equal(one.components_, one.layers_[0])


@pytest.mark.parametrize("layer", [0, 4, 1.5, True, "1"])
def test_transform_refuses_layers_that_do_not_exist(layer):
    stack = MLOML(random_state=0, scans=1).fit(X, Y)
    with pytest.raises(ValueError, match="expected an integer from 1 to 3"):
        stack.transform(X, layer=layer)
    with pytest.raises(NotFittedError):
        MLOML().transform(X)


def test_parameters_without_effect_are_named():
    assert "rate" in PaperMLOML().unused_parameters()
    assert "gamma" in PaperMLOML(propagation="bp").unused_parameters()
    assert PaperMLOML(propagation="fbp").unused_parameters() == set()


@pytest.mark.parametrize("propagation", ["fp", "bp", "fbp"])
def test_settings_of_gradients_are_the_same_in_one_dict_and_one_by_one(propagation):
    loss = {"rate": 1e-2, "decay": 0.1, "local_loss": "hinge", "routing": "all", "freeze_w": True}
    usual = {"propagation": propagation, "gamma": 1e-2, "scans": 2, "random_state": 0}
    one, other = MLOML(layer_params=loss, **usual).fit(X, Y), PaperMLOML(**loss, **usual).fit(X, Y)
    np.testing.assert_array_equal(one.layers_, other.layers_)


def test_distances_of_pairs_are_those_between_outputs():
    stack = MLOML(random_state=0, scans=2).fit(X, Y)
    pairs = np.stack([X[:10], X[60:70]], axis=1)
    Z = stack.transform(X)
    expected = np.linalg.norm(Z[:10] - Z[60:70], axis=1)
    np.testing.assert_allclose(stack.pair_distance(pairs), expected, rtol=1e-10)
    np.testing.assert_array_equal(stack.pair_score(pairs), -stack.pair_distance(pairs))
    metric = stack.get_metric()
    assert metric(X[0].tolist(), X[60]) == pytest.approx(expected[0], rel=1e-10)
    assert metric(X[0], X[60], squared=True) == pytest.approx(expected[0] ** 2, rel=1e-10)
    stack.partial_fit(X, Y)
    assert metric(X[0], X[60]) == pytest.approx(expected[0], rel=1e-10)  # stays as it was
    with pytest.raises(ValueError, match=r"pairs has shape \(10, 4\)"):
        stack.pair_distance(X[:10])
    with pytest.raises(ValueError, match=r"v has shape \(3,\), expected a vector of 4 numbers"):
        metric(X[0], X[0, :3])


@pytest.mark.parametrize("layer", [None, 1, 2])
def test_one_row_goes_through_as_many_layers_as_asked_for(layer):
    stack = MLOML(random_state=0, scans=1).fit(X, Y)
    np.testing.assert_array_equal(stack.transform_one(X[3], layer), stack.transform(X[3:4], layer)[0])


def test_the_first_layer_carries_the_scale_and_the_others_do_not():
    ours = MLOML(scale=4.0, random_state=0, scans=1).fit(X, Y)
    theirs = MLOML(scale=None, random_state=0, scans=1).fit(X / 4, Y)
    np.testing.assert_allclose(ours.layers_[0], theirs.layers_[0] / 4, rtol=1e-12)
    np.testing.assert_allclose(ours.layers_[1:], theirs.layers_[1:], rtol=1e-12, atol=1e-15)


# a narrow first layer --------------------------------------------------------------------------------------

RNG = np.random.default_rng(0)
WORDS = csr_array(np.where(RNG.random((80, 40)) < 0.7, 0.0, RNG.normal(size=(80, 40))))
CLASSES = RNG.integers(0, 3, 80)


def test_layers_above_a_narrow_one_see_its_outputs_after_each_step():
    settings = {"n_components": 4, "gamma": 0.01, "random_state": 0, "scale": 4.0, "init": "random"}
    stack = MLOML(n_layers=3, activation="relu", **settings).partial_fit(WORDS, CLASSES)
    first, above = LowRankMOML(**settings), Stack([MOMLLayer(4, 0.01) for _ in range(2)], "relu")
    stream = TripletStream()
    for i in range(80):
        first.partial_fit(WORDS[[i]], CLASSES[[i]])
        rows, triplets = stream.push(WORDS[[i]].toarray(), CLASSES[[i]])
        if len(triplets):
            hidden = np.maximum(rows[triplets[0]] @ first.components_.T, 0.0)
            above.learn(np.stack([hidden[0] - hidden[1], hidden[0] - hidden[2], hidden[0]])[None])
    np.testing.assert_allclose(stack.layers_[0], first.components_, rtol=1e-12)
    np.testing.assert_allclose(stack.layers_[1:], above.factors(), rtol=1e-9, atol=1e-12)
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
        ({"n_components": 41}, "n_components=41 is more than the 40 feature"),
    ],
)
def test_what_a_narrow_stack_cannot_be_is_named(settings, message):
    with pytest.raises(ValueError, match=message):
        MLOML(**{"n_components": 3, **settings}).fit(WORDS, CLASSES)


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
