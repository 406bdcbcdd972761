"""Labels of a stream: what is one, in which order they are handed out, and those that were announced."""

import numpy as np
import pandas as pd
import pytest

from mloml import OPML
from mloml.learners.labels import sorted_labels

X, Y = np.random.default_rng(0).normal(size=(60, 4)), np.arange(60) % 3


@pytest.mark.parametrize("missing", [pd.NA, pd.NaT, float("nan"), np.datetime64("NaT")], ids=repr)
def test_a_missing_label_is_refused_in_one_line_and_leaves_nothing_behind(missing):
    learner = OPML(gamma=0.1)
    for x, y in (([0.0, 1.0], "a"), ([1.0, 1.0], "b"), ([0.0, 2.0], "a")):
        with pytest.raises(ValueError, match="which is not a label"):
            learner.learn_one(x, missing)
        learner.learn_one(x, y)
    assert learner.n_triplets_ == 1
    assert learner.classes_.tolist() == ["a", "b"]


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
