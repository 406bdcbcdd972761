"""n_layers="auto": one stack contains all shallower ones, and the depth is chosen from it."""

import pickle
from itertools import product

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler, scale

from mloml import KISSME, LMNN, MLOML, MOML, MetricKNN, stack
from mloml.learners.choosing import GAMMAS
from mloml.learners.paper_mloml import PaperMLOML
from mloml.learners.stacking import Activation, BatchStack

X, Y = load_iris(return_X_y=True)
X = scale(X)
ACTIVATIONS = ("relu", "sigmoid", "tanh")


@pytest.mark.parametrize("layer", ["moml", "opml", "lego", "rdml"])
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_a_stack_of_five_contains_all_shallower_ones(layer, activation):
    settings = {"layer": layer, "activation": activation, "gamma": 0.03, "scans": 2, "random_state": 0}
    five = MLOML(n_layers=5, **settings).fit(X, Y)
    assert five.n_updates_[:2].min() > 0 and not five.diverged_
    for k in range(1, 5):
        alone = MLOML(n_layers=k, **settings).fit(X, Y)
        np.testing.assert_allclose(alone.layers_, five.layers_[:k], rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(alone.transform(X), five.transform(X, layer=k), rtol=1e-12, atol=1e-12)
        np.testing.assert_array_equal(alone.n_updates_, five.n_updates_[:k])


@pytest.mark.parametrize("gamma", ["auto", 0.03])
@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_the_choice_is_that_of_cross_validation_written_out(activation, gamma):
    data, labels = load_wine(return_X_y=True)
    data = scale(data)
    settings = {"activation": activation, "random_state": 0, "scans": 3}
    steps = GAMMAS if gamma == "auto" else (gamma,)
    order, n = np.random.RandomState(0).permutation(len(labels)), len(labels)
    fold = np.empty(n, dtype=int)
    fold[order[np.argsort(labels[order], kind="stable")]] = np.arange(n) % 5
    right = np.zeros((4, len(steps), n))
    for k, depth, (i, step) in product(range(5), range(4), enumerate(steps)):
        fit, held = fold != k, fold == k
        metric = MLOML(n_layers=depth, gamma=step, **settings).fit(data[fit], labels[fit])
        knn = KNeighborsClassifier(5).fit(metric.transform(data[fit]), labels[fit])
        right[depth, i, held] = knn.predict(metric.transform(data[held])) == labels[held]
    depth, i = 0, 0
    for each in range(4):
        best = right[each].mean(axis=1).argmax()
        gain = right[each, best] - right[depth, i]
        if gain.mean() > gain.std() / np.sqrt(n):
            depth, i = each, best
    found = MLOML(n_layers="auto", max_layers=3, gamma=gamma, **settings).fit(data, labels)
    assert (found.n_layers_, found.gamma_) == (depth, steps[i])
    whole = MLOML(n_layers=3, gamma=steps[i], **settings).fit(data, labels)
    np.testing.assert_array_equal(found.layers_, whole.layers_)  # all layers are there, in use or not


@pytest.mark.parametrize("depth", [0, 1, 2])
def test_everything_is_told_at_the_depth_in_use(depth):
    auto = MLOML(n_layers="auto", max_layers=2, gamma=0.03, scans=2, random_state=0).fit(X, Y)
    auto._state.view = depth
    auto._kept.clear()
    fixed = MLOML(n_layers=depth, gamma=0.03, scans=2, random_state=0).fit(X, Y)
    expected = fixed.transform(X) if depth else X / auto.scale_
    for model in (auto, fixed):
        assert model.n_layers_ == depth and len(model.get_feature_names_out()) == 4
        np.testing.assert_allclose(model.transform(X), expected, rtol=1e-12)
        np.testing.assert_array_equal(model.transform_one(X[3]), model.transform(X[3:4])[0])
        gaps = np.linalg.norm(expected[:50] - expected[50:100], axis=1)
        np.testing.assert_allclose(model.pair_distance(np.stack([X[:50], X[50:100]], axis=1)), gaps)
        assert model.get_metric()(X[0], X[50]) == pytest.approx(gaps[0])
        assert hasattr(model, "components_") == (depth < 2)
        if depth < 2:
            np.testing.assert_allclose(X @ model.components_.T, expected, rtol=1e-10, atol=1e-12)
            np.testing.assert_allclose(
                model.get_mahalanobis_matrix(), model.components_.T @ model.components_
            )
    np.testing.assert_allclose(auto.transform(X, layer=0), X / auto.scale_, rtol=1e-12)
    with pytest.raises(ValueError, match="expected an integer from 0 to 2"):
        auto.transform(X, layer=3)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"propagation": "bp"}, "n_layers='auto' does not go with propagation='bp'"),
        ({"propagation": "fbp", "gamma": 0.1}, "n_layers='auto' does not go with propagation='fbp'"),
        ({"layer": ["moml"] * 3}, "layer has 3 entries but max_layers is 5"),
        ({"layer_params": [{}] * 3}, r"layer_params has 3 entries, expected one per layer \(5\)"),
    ],
)
def test_what_does_not_go_with_an_open_depth_is_refused_in_one_line(settings, message):
    for learn in ("fit", "partial_fit"):
        with pytest.raises(ValueError, match=message) as error:
            getattr(MLOML(n_layers="auto", **settings), learn)(X, Y)
        assert "\n" not in str(error.value)


def test_candidates_are_cut_from_one_stack_per_step_and_equal_separate_fits():
    options = [{"n_layers": n, "gamma": g} for n in range(4) for g in (1e-3, 0.1)]
    learner = PaperMLOML(n_layers="auto", max_layers=3, activation="relu", scans=2, random_state=0)
    for option, found in zip(options, learner.fit_options(X, Y, options), strict=True):
        alone = clone(learner).set_params(**option).fit(X, Y)
        assert (found.n_layers_, found.n_layers) == (option["n_layers"],) * 2
        np.testing.assert_array_equal(found.transform(X), alone.transform(X))
    assert not hasattr(PaperMLOML(), "fit_options")


# streams ---------------------------------------------------------------------------------------------------


def below_zero(rng, n):
    """Two classes that differ in one feature; all are below 0, where relu sees nothing."""
    y = rng.integers(0, 2, n)
    rows = 0.3 * rng.normal(size=(n, 20)) - 2.0
    rows[:, 0] -= 2 * y
    return rows, y


def above_zero(rng, n):
    """Two classes told by which feature is above 0; what is below is loud and means nothing."""
    y, rows = rng.integers(0, 2, n), -6.0 * rng.random((n, 20))
    rows[np.arange(n), 10 * y + rng.integers(0, 10, n)] = 1.0
    return rows, y


@pytest.mark.parametrize("gamma", [0.01, "auto"])
def test_the_depth_follows_a_stream_whose_best_depth_changes(gamma):
    rng = np.random.default_rng(0)
    model = MetricKNN(MLOML(n_layers="auto", max_layers=2, activation="relu", gamma=gamma))
    depths = []
    for draw in (below_zero, above_zero, below_zero):
        for _ in range(24):
            model.partial_fit(*draw(rng, 256))
        rows, _ = draw(rng, 5)
        found, metric = model.kneighbors(rows)[1], model.metric_
        mapped = [metric.transform(part) for part in (rows, model._window.points)]
        distances = np.linalg.norm(mapped[0][:, None] - mapped[1], axis=2)
        np.testing.assert_array_equal(found[:, 0], distances.argmin(axis=1))
        depths.append(metric.n_layers_)
        model = pickle.loads(pickle.dumps(model))
    assert depths[0] < 2 and depths[1] == 2 and depths[2] < 2


def test_rows_one_by_one_and_new_features_keep_the_depth():
    rng = np.random.default_rng(1)
    rows, labels = above_zero(rng, 1024)
    settings = {"n_layers": "auto", "max_layers": 2, "activation": "relu", "gamma": 0.01}
    whole, single = (MLOML(**settings) for _ in range(2))
    whole.partial_fit(rows, labels)
    for row, label in zip(rows, labels, strict=True):
        single.learn_one(row, label)
    assert whole.n_layers_ == single.n_layers_ == 2
    np.testing.assert_allclose(whole.transform(rows), single.transform(rows), rtol=1e-9, atol=1e-12)
    wider = np.hstack([rows, np.zeros((1024, 1))])
    mapped = whole.add_features(1).transform(wider)
    np.testing.assert_allclose(mapped[:, :20], single.transform(rows), rtol=1e-9, atol=1e-12)
    assert whole.partial_fit(wider, labels).n_layers_ == 2


def test_comparisons_judge_the_depth_too():
    rng = np.random.default_rng(2)
    rows, labels = above_zero(rng, 3000)
    near, far = (np.flatnonzero(labels == side) for side in (0, 1))
    triplets = np.stack([rng.choice(side, 1500) for side in (near, near, far)], axis=1)
    model = MLOML(n_layers="auto", max_layers=2, activation="relu", gamma=0.01, scans=1, random_state=0)
    assert clone(model).partial_fit_triplets(rows, triplets).n_layers_ == 2
    assert clone(model).fit_triplets(rows, triplets).n_layers_ == 2
    with pytest.raises(ValueError, match="n_layers is 'auto', judged by labels or by comparisons"):
        clone(model).partial_fit(rows, labels).partial_fit_triplets(rows, triplets)


# batch layers ----------------------------------------------------------------------------------------------


def test_a_stack_of_batch_learners_is_each_fitted_to_what_those_below_make_of_all_rows():
    found = stack([KISSME(), LMNN(), MOML(gamma=0.01, random_state=0)], activation="tanh").fit(X, Y)
    rows = X
    for i, learner in enumerate([KISSME(), LMNN(), MOML(gamma=0.01, random_state=0)]):
        if i:
            rows = np.tanh(rows / np.sqrt(np.mean(np.sum(rows**2, axis=1))))
        rows = learner.fit(rows, Y).transform(rows)
    np.testing.assert_allclose(found.transform(X), rows, rtol=1e-10, atol=1e-12)
    named = BatchStack(layers=["kissme", "lmnn", "moml"], random_state=0).fit(X, Y)
    assert len(named.pipeline_.steps) == 5 and named.pipeline_[-1].random_state == 0


def test_an_activation_is_a_transformer_of_one_scale():
    rows = StandardScaler().fit_transform(X) * 7.0
    found = Activation("relu").fit(rows)
    np.testing.assert_allclose(found.transform(rows), np.maximum(rows, 0) / 14.0, rtol=1e-12)
    with pytest.raises(ValueError, match="'activation' parameter of Activation"):
        Activation("step").fit(rows)


def test_a_stack_of_no_layer_leaves_the_rows_as_they_are_over_the_scale():
    learner = MLOML(n_layers=0, random_state=0).fit(X, Y)
    assert learner.n_layers_ == 0
    np.testing.assert_allclose(learner.transform(X), X / learner.scale_, rtol=1e-15)
    np.testing.assert_allclose(learner.components_, np.eye(X.shape[1]) / learner.scale_, rtol=1e-15)
    stream = MLOML(n_layers=0).partial_fit(X, Y).learn_one(X[0], Y[0])
    np.testing.assert_allclose(stream.transform_one(X[1]), X[1] / stream.scale_, rtol=1e-15)
