"""Labels of a stream: what is one, and in which order they are handed out."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from mloml import OPML
from mloml.learners.labels import sorted_labels


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
