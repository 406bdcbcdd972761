"""Labels of a stream: what is one, in which order they are handed out, and those that were announced."""

import numpy as np
import pandas as pd
import pytest

from mloml import OPML
from mloml.learners.labels import sorted_labels

X, Y = np.random.default_rng(0).normal(size=(60, 4)), np.arange(60) % 3


@pytest.mark.parametrize(
    "missing", [None, pd.NA, pd.NaT, float("nan"), np.float64("nan"), np.datetime64("NaT")], ids=repr
)
def test_a_row_without_a_label_teaches_nothing_and_is_counted(missing):
    rows, labels = [[0.0, 1.0], [1.0, 1.0], [9.0, 9.0], [0.0, 2.0]], ["a", "b", missing, "a"]
    one, many, without = OPML(gamma=0.1), OPML(gamma=0.1), OPML(gamma=0.1)
    for x, y in zip(rows, labels, strict=True):
        one.learn_one(x, y)
    many.partial_fit(rows, labels)
    without.partial_fit(rows[:2] + rows[3:], labels[:2] + labels[3:])
    for learner in (one, many):
        assert learner.n_triplets_ == 1 and learner.n_unlabelled_ == 1
        assert learner.classes_.tolist() == ["a", "b"]
        np.testing.assert_array_equal(learner.components_, without.components_)
    fitted = OPML(gamma=0.1, random_state=0).fit(rows, labels)
    assert fitted.n_unlabelled_ == 1 and fitted.classes_.tolist() == ["a", "b"]


def test_a_first_row_without_a_label_is_passed_over():
    learner = OPML(gamma=0.1).learn_one(X[0], None)
    assert learner.n_unlabelled_ == 1 and learner.classes_.size == 0
    learner.partial_fit(X[:3], [np.nan, np.nan, np.nan]).partial_fit(X, Y)
    assert learner.n_unlabelled_ == 4 and learner.n_triplets_ > 0


GOOD = {
    "words": ["a", "b"], "bytes": [b"a", b"b"], "numbers": [3, 7], "whole floats": [1.0, 2.0],
    "booleans": [True, False], "tuples": [("a", 1), ("b", 2)], "sets": [frozenset("a"), frozenset("b")],
    "a mixture": [1, "1"], "NumPy's": [np.int8(3), np.str_("b")],
}  # fmt: skip


@pytest.mark.parametrize("kind", GOOD)
def test_both_ways_to_learn_take_the_same_labels(kind):
    labels = [GOOD[kind][y % 2] for y in Y]
    one, many = OPML(gamma=0.1), OPML(gamma=0.1).partial_fit(X, labels)
    for x, y in zip(X, labels, strict=True):
        one.learn_one(x, y)
    assert set(one.classes_.tolist()) == set(many.classes_.tolist()) == set(GOOD[kind])
    np.testing.assert_array_equal(one.components_, many.components_)


@pytest.mark.parametrize("bad", [0.5, 1j, [1], {}, np.inf], ids=repr)
def test_both_ways_to_learn_refuse_the_same_labels_and_stay_as_they_were(bad):
    learner = OPML(gamma=0.1).partial_fit(X, Y)
    before = learner.components_.copy()
    with pytest.raises((ValueError, TypeError)):
        learner.learn_one(X[0], bad)
    with pytest.raises((ValueError, TypeError)):
        learner.partial_fit(X[:2], [0, bad])
    np.testing.assert_array_equal(learner.components_, before)
    assert learner.classes_.tolist() == [0, 1, 2]


def test_a_new_class_costs_no_copy_of_all_that_are_known(monkeypatch):
    learner, sizes = OPML(gamma=0.1), []
    for i in range(600):
        learner.learn_one(X[i % 60], i)
    monkeypatch.setattr(type(learner._stream), "push", lambda *arguments: sizes.append(arguments))
    for i in range(600, 700):
        learner.learn_one(X[i % 60], i)
    assert sizes == [] and len(learner.classes_) == 700


def test_labels_made_of_labels_are_labels():
    nested = [((1, 2), 3), ((0, 5), 1)]
    assert sorted_labels(nested).tolist() == sorted(nested)
    assert set(sorted_labels([*nested, "a", frozenset({1}), None])) == {*nested, "a", frozenset({1}), None}


def test_classes_that_are_refused_are_not_remembered():
    learner = OPML(gamma=0.1).partial_fit(X, Y)
    for few in ([0, 1], [0]):
        with pytest.raises(ValueError, match=r"\[.*2\].* not in classes"):
            learner.partial_fit(X, Y, classes=few)
    learner.partial_fit(X, Y)  # nothing was announced
    with pytest.raises(ValueError, match=r"labels \[2\] that are not in classes=\[0, 1\]"):
        learner.partial_fit(X[:2], Y[:2], classes=[0, 1])  # 2 was seen before
    assert learner.partial_fit(X, Y, classes=[2, 0, 1, 3]).classes_.tolist() == [0, 1, 2, 3]


def test_classes_may_be_announced_of_any_kind():
    learner = OPML().partial_fit(X[:2], ["a", "b"], classes=["a", "b", 1, (0, 1), ((0, 1), 2)])
    learner.learn_one(X[2], 1).learn_one(X[3], (0, 1)).learn_one(X[4], ((0, 1), 2))
    for unknown in ("1", (1, 0)):
        with pytest.raises(ValueError, match="not in classes"):
            learner.learn_one(X[5], unknown)
    assert len(learner.classes_) == 5
    with pytest.raises(ValueError, match="classes is 3, expected a sequence of labels"):
        OPML().partial_fit(X[:2], ["a", "b"], classes=3)
