"""dask-ml's ``Incremental`` hands blocks to ``partial_fit``; it learns what the blocks teach by hand."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils import shuffle

from mloml import MLOML, MOML, OPML, RDML, SLMOML

wrappers = pytest.importorskip("dask_ml.wrappers")
da = pytest.importorskip("dask.array")

X, y = shuffle(*load_iris(return_X_y=True), random_state=0)


def knn_score(metric, X, y):
    rows = metric.transform(X)
    return KNeighborsClassifier(5).fit(rows, y).score(rows, y)


@pytest.mark.parametrize("learner", [MOML(), MLOML(), OPML(), RDML(), SLMOML()], ids=str)
def test_blocks_of_a_dask_array_teach_what_partial_fit_does(learner):
    model = wrappers.Incremental(learner, scoring=knn_score, shuffle_blocks=False)
    model.fit(da.from_array(X, chunks=(50, 4)), da.from_array(y, chunks=50))
    by_hand = type(learner)(**learner.get_params())
    for start in (0, 50, 100):
        by_hand.partial_fit(X[start : start + 50], y[start : start + 50])
    assert model.estimator_.n_triplets_ == by_hand.n_triplets_
    np.testing.assert_array_equal(model.estimator_.transform(X), by_hand.transform(X))
    assert model.score(X, y) == knn_score(by_hand, X, y) > 0.9


def test_without_scoring_the_wrapper_refuses_at_once():
    with pytest.raises(TypeError, match="no scoring is specified"):
        wrappers.Incremental(MOML()).fit(da.from_array(X, chunks=(50, 4)), da.from_array(y, chunks=50))
