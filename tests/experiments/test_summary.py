"""What a run says at its end: how many cells, what became of the others, and where that is written."""

from pathlib import Path
from types import SimpleNamespace

import pandas as pd

from mloml.experiments.summary import in_one_line


def result(*states: str, computed: int = 0) -> SimpleNamespace:
    frame = pd.DataFrame({"status": states, "error": 0.25})
    failures = frame[~frame["status"].isin(["ok", "missing"])]
    folder = Path("results", "runs")
    return SimpleNamespace(
        frame=frame, failures=failures, missing={}, computed=computed, reused=0, folder=folder
    )


def test_one_cell_and_several_are_counted_in_words():
    assert in_one_line(result("ok", computed=1)) == "mean error 0.250, 1 cell computed, 0 reused"
    assert in_one_line(result("ok", "ok", computed=2)) == "mean error 0.250, 2 cells computed, 0 reused"


def test_what_failed_says_why_and_where_that_is_written():
    line = in_one_line(result("ok", "timeout", "timeout", computed=1))
    assert line == (
        "2 cells took longer than execution.time_limit, 1 cell computed, 0 reused, "
        "failures: results/runs/failures.csv"
    )
    assert in_one_line(result("ok", "missing")) == "1 cell not computed, 0 cells computed, 0 reused"
