"""The measurements run and are complete; how fast things are decides no test."""

import numpy as np

from mloml.experiments.refit import Halves
from mloml.paper.timing import COST_COLUMNS, UPDATE_COLUMNS, cost_per_triplet, time_updates


def test_update_loops_are_timed_on_the_same_triplets() -> None:
    X = np.random.default_rng(0).normal(size=(40, 3))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    y = np.arange(40) % 2
    runs = time_updates(Halves(X, y, X, y, seed=0), n_scans=2, repeats=5)
    assert list(runs.columns) == UPDATE_COLUMNS
    assert runs.groupby("method")["run"].agg(list).tolist() == [[0, 1, 2, 3, 4]] * 3
    assert runs["triplets"].nunique() == 1 and (runs["cone_failures"] == 0).all()
    assert (runs["seconds"] > 0).all()
    explicit, framed = (runs[runs["method"] == name]["updates"].unique() for name in ("moml", "moml_frame"))
    np.testing.assert_array_equal(explicit, framed)


def test_every_strategy_is_timed_on_the_same_triplets() -> None:
    cost = cost_per_triplet(widths=(4, 6), activations=("relu",), rows=60, scans=2, repeats=3)
    assert list(cost.columns) == COST_COLUMNS
    assert cost["strategy"].tolist() == ["fp", "bp", "fbp"] * 2
    assert (cost.groupby("features")["triplets"].nunique() == 1).all()
    assert ((cost["lowest"] <= cost["microseconds"]) & (cost["microseconds"] <= cost["highest"])).all()
    assert (cost.loc[cost["strategy"] == "fp", "times_fp"] == 1).all()
