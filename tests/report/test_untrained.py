"""The untrained control, from cells whose gains are known."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from mloml.config.compose import compose_study
from mloml.experiments.study import StudyResult
from mloml.report.artefacts.untrained import build, stacks

NOISE = np.array([0.0, 0.004, -0.003, 0.002, -0.004, 0.001])
OTHER = np.array([0.001, -0.002, 0.003, 0.0, -0.001, -0.001])
MEANS = {
    # Euclidean, untrained, trained
    "ionosphere": (0.17, 0.13, 0.08),  # both steps
    "lsvt": (0.37, 0.32, 0.32),  # no learning
    "balance": (0.10, 0.10, 0.06),  # learning alone
    "spect": (0.10, 0.10, 0.14),  # learning hurts; not counted
}
NAMES = ("euclidean", "mloml_r_untrained", "mloml_r")
CELLS = pd.DataFrame(
    [
        (dataset, name, split, error, "ok")
        for dataset, means in MEANS.items()
        for name, mean, wobble in zip(NAMES, means, (0, OTHER, -OTHER), strict=True)
        for split, error in enumerate(mean + NOISE + wobble)
    ],
    columns=["dataset", "algorithm", "split", "error", "status"],
)


def artefact(cells=CELLS):
    algorithms = "[euclidean,moml,mloml_r,{use: mloml_r, name: mloml_r_untrained, title: U, gamma: 0.0}]"
    overrides = [f"datasets=[{','.join(MEANS)}]", f"algorithms={algorithms}", "protocol.splits=6"]
    study = compose_study("untrained", overrides)
    return build(StudyResult(study, None, cells, [], pd.DataFrame(), {}))


def test_both_steps_and_their_sum_are_tested_over_the_same_splits() -> None:
    gains = artefact().tables[1].frame.set_index("dataset")
    steps = ("untrained", "learning", "whole")
    marks = {name: [row[f"{step}_mark_corrected"] for step in steps] for name, row in gains.iterrows()}
    assert marks == {
        "ionosphere": ["win", "win", "win"], "lsvt": ["win", "tie", "win"],
        "balance": ["tie", "win", "win"], "spect": ["tie", "loss", "loss"],
    }  # fmt: skip
    cells = CELLS.pivot_table(index=["dataset", "split"], columns="algorithm", values="error")
    for name, row in gains.iterrows():
        mine = cells.loc[name]
        assert row["untrained_gain"] + row["learning_gain"] == pytest.approx(row["whole_gain"])
        paired = stats.ttest_rel(mine["mloml_r_untrained"], mine["mloml_r"])
        assert row["learning_p_paired"] == pytest.approx(paired.pvalue)
        assert row["trained"] == pytest.approx(mine["mloml_r"].mean())
    assert gains.loc["lsvt", "published_gain"] == 0.043  # .369 - .326
    assert np.isnan(gains.loc["spect", "published_gain"]) and gains["moml"].isna().all()  # not run


def test_cases_are_counted_and_published_gains_sorted_by_what_explains_them() -> None:
    values = artefact().values
    counts = {step: (row["cases"], row["lower"], row["higher"]) for step, row in values["total"].items()}
    assert counts == {"untrained": (3, 2, 0), "learning": (3, 2, 0), "whole": (3, 3, 0)}
    # The paper: ionosphere .180 → .081, lsvt .369 → .326, balance .108 → .066.
    assert list(values["published"].items()) == [
        ("gains", 3), ("untrained", 2), ("learning", 2), ("both", 1), ("neither", 0),
    ]  # fmt: skip
    assert len(values["gains"]) == 4


def test_a_data_set_without_the_untrained_stack_is_left_out() -> None:
    without = CELLS[~((CELLS["dataset"] == "lsvt") & (CELLS["algorithm"] == "mloml_r_untrained"))]
    assert set(artefact(without).tables[1].frame["dataset"]) == {"ionosphere", "balance", "spect"}
    assert stacks(["mloml_r", "mloml_s_untrained"]) == []
