"""The learners in river: its own checks, dicts with features that come and go, targets of any kind."""

import numpy as np
import pytest

from mloml import LEGO, LMNN, MLOML, MOML, OASIS, OPML, LowRankMOML

river = pytest.importorskip("river")

from river import base, checks, compose, neighbors, preprocessing  # noqa: E402

from mloml.river import MetricTransformer  # noqa: E402


@pytest.mark.parametrize("learner", [MOML(gamma=1e-2), MOML(), MLOML(activation="sigmoid"), LEGO()], ids=str)
def test_rivers_own_checks_pass_and_none_is_skipped(learner):
    model = MetricTransformer(learner)
    assert not model._unit_test_skips()
    names = set()
    for check in checks.yield_checks(model):
        names.add(check.__name__)
        check(model.clone())
    assert {"check_shuffle_features_no_impact", "check_emerging_features", "check_transform_one"} <= names
    assert "check_bounded_memory_growth" in names


def test_dicts_teach_what_arrays_teach():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 3)), rng.integers(2, size=50)
    model, arrays = MetricTransformer(MLOML(gamma=0.05)), MLOML(gamma=0.05)
    for row, label in zip(X, y.tolist(), strict=True):
        model.learn_one(dict(zip("abc", row, strict=True)), label)
        arrays.learn_one(row, label)
    mapped = model.transform_one({"c": 3.0, "a": 1.0})
    assert list(mapped) == ["a", "b", "c"]
    np.testing.assert_array_equal(list(mapped.values()), arrays.transform([[1.0, 0.0, 3.0]])[0])
    assert not hasattr(model.learner, "n_triplets_"), "the learner that was given stays as it was"


def test_an_unmet_feature_is_mapped_as_the_identity_and_not_learned():
    model = MetricTransformer(MOML(gamma=0.1, scale=2.0))
    for x, y in [({"a": 0.0}, "no"), ({"a": 1.0, "b": 0.5}, "yes"), ({"a": 0.5}, "no")]:
        model.learn_one(x, y)
    assert model.transform_one({"new": 3.0}) == {"a": 0.0, "b": 0.0, "new": 1.5}
    assert model.features == ["a", "b"] and model.metric.n_features_in_ == 2


def test_targets_may_be_anything_hashable():
    model = MetricTransformer(MOML(gamma=0.1))
    targets = ["b", "a", (1, 2), frozenset({3}), True, 2.5]
    for i, target in enumerate(targets * 2):
        model.learn_one({"x": float(i), "y": float(-i % 3)}, target)
    assert model.metric.n_triplets_ == len(targets)
    model.learn_one({"x": 1.0, "new": 2.0}, None)  # has no target, and teaches nothing
    assert model.metric.n_triplets_ == len(targets) and model.features == ["x", "y"]


def test_an_empty_row_is_passed_over_and_transforms_to_what_zeros_do():
    model = MetricTransformer(MOML())
    model.learn_one({}, "a")
    assert model.metric is None and model.transform_one({}) == {}
    model.learn_one({"x": 1.0}, "a")
    assert model.transform_one({}) == {"x": 0.0}


@pytest.mark.parametrize("value", ["3", None, float("nan"), float("inf")])
def test_a_value_that_is_no_number_is_named(value):
    with pytest.raises(ValueError, match=r"^feature 'a' is .*, expected a finite number$"):
        MetricTransformer(MOML()).learn_one({"a": value}, 1)


@pytest.mark.parametrize("wrong", [LMNN(), OASIS(), "moml", MOML])
def test_only_learners_that_learn_online_and_map_rows_are_taken(wrong):
    with pytest.raises(TypeError, match=r"^learner is "):
        MetricTransformer(wrong)


class Recorder(base.Classifier):
    """Keeps the rows it learns from and those it is asked about."""

    def __init__(self):
        self.learned, self.asked = [], []

    def learn_one(self, x, y):
        self.learned.append(dict(x))

    def predict_proba_one(self, x):
        self.asked.append(dict(x))
        return {False: 1.0}


@pytest.mark.parametrize("learner", [MOML(gamma=0.0, scale=10.0), MOML(gamma=0.1), OPML()])
def test_in_a_pipeline_the_model_behind_learns_the_rows_that_it_is_asked_about(learner):
    rng = np.random.default_rng(3)
    model = compose.Pipeline(MetricTransformer(learner), Recorder())
    for _ in range(20):
        x, label = {"a": rng.normal(), "b": rng.normal()}, bool(rng.integers(2))
        model.predict_one(x)
        model.learn_one(x, label)  # rows are mapped by what was learned before them
    recorder = model["Recorder"]
    assert len(recorder.learned) == 20
    for learned, asked in zip(recorder.learned, recorder.asked, strict=True):
        assert learned == asked


def test_a_first_row_that_is_refused_leaves_nothing_behind():
    model = MetricTransformer(MOML())
    with pytest.raises(TypeError, match="unhashable"):
        model.learn_one({"a": 1.0}, ["a list"])
    assert model.metric is None and model.features == []
    model.learn_one({"b": 1.0}, "x")
    assert model.features == ["b"] and model.transform_one({"b": 2.0}) == {"b": 2.0}


def test_outputs_without_a_feature_to_be_named_after_are_refused():
    with pytest.raises(TypeError, match="n_components"):
        MetricTransformer(LowRankMOML(n_components=1))


def test_a_pipeline_with_nearest_neighbours_learns_and_predicts():
    rng = np.random.default_rng(1)
    model = compose.Pipeline(
        preprocessing.StandardScaler(), MetricTransformer(MOML(gamma=0.05)), neighbors.KNNClassifier(5)
    )
    wrong = 0
    for _ in range(300):
        label = bool(rng.integers(2))
        x = {"signal": rng.normal() * 0.3 + label, **{f"noise{i}": rng.normal() for i in range(8)}}
        wrong += model.predict_one(x) != label
        model.learn_one(x, label)
    assert wrong < 100
    assert model["MetricTransformer"].metric.n_updates_ > 100


def test_a_row_whose_target_is_refused_adds_no_feature():
    model = MetricTransformer(MOML(gamma=0.1))
    model.learn_one({"a": 1.0}, "yes")
    with pytest.raises(TypeError, match="unhashable"):
        model.learn_one({"a": 1.0, "b": 2.0}, ["a list"])
    assert model.features == ["a"]
    assert model.metric.n_features_in_ == 1
