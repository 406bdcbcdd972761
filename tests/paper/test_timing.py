"""The measurement runs and is complete; how fast things are decides no test."""

from __future__ import annotations

import pytest

from mloml.paper.timing.propagation import COLUMNS, cost_per_triplet


@pytest.mark.slow
def test_every_strategy_is_timed_on_the_same_triplets() -> None:
    cost = cost_per_triplet(widths=(4, 6), activations=("relu",), rows=60, scans=2, repeats=3)
    assert list(cost.columns) == list(COLUMNS)
    assert cost["strategy"].tolist() == ["fp", "bp", "fbp"] * 2
    assert (cost.groupby("features")["triplets"].nunique() == 1).all()
    assert ((cost["lowest"] <= cost["microseconds"]) & (cost["microseconds"] <= cost["highest"])).all()
    assert (cost.loc[cost["strategy"] == "fp", "times_fp"] == 1).all()
