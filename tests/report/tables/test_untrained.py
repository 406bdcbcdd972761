"""The untrained control, from cells whose gains are known."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from mloml.config.compose import compose_study
from mloml.experiments.study import StudyResult
from mloml.report.labels import Labels
from mloml.report.parts.control import activation_sentence, controls, headline, published_sentence, stacks
from mloml.report.publish import publish
from mloml.report.recipe import find_recipe
from mloml.report.tables import summarise

SPLITS = 6
NOISE = np.array([0.0, 0.004, -0.003, 0.002, -0.004, 0.001])
OTHER = np.array([0.001, -0.002, 0.003, 0.0, -0.001, -0.001])
MEANS = {
    # Euclidean, untrained, trained
    "ionosphere": (0.17, 0.13, 0.08),  # both steps
    "lsvt": (0.37, 0.32, 0.32),  # no learning
    "balance": (0.10, 0.10, 0.06),  # learning alone
    "breast": (0.10, 0.10, 0.14),  # learning hurts
}


def frame(datasets=tuple(MEANS), bases=("mloml_r",)) -> pd.DataFrame:
    rows = []
    for dataset in datasets:
        for base in bases:
            names = ("euclidean", f"{base}_untrained", base)
            for name, mean, wobble in zip(names, MEANS[dataset], (0, OTHER, -OTHER), strict=True):
                errors = mean + NOISE + wobble
                rows += [(dataset, name, split, e, "ok") for split, e in enumerate(errors)]
    table = pd.DataFrame(rows, columns=["dataset", "algorithm", "split", "error", "status"])
    return table.drop_duplicates(["dataset", "algorithm", "split"])


def results(datasets=tuple(MEANS), uncounted=frozenset()):
    names = ("euclidean", "mloml_r_untrained", "mloml_r")
    labels = Labels({d: d for d in datasets}, {n: n for n in names}, SPLITS, uncounted=uncounted)
    return summarise(frame(datasets), labels, {"mloml_r_untrained": "mloml_r"})


def test_both_steps_and_their_sum_are_tested_over_the_same_splits() -> None:
    found = {control.dataset: control for control in controls(results(), ["mloml_r"])}
    marks = {
        name: (c.untrained.mark_corrected, c.learning.mark_corrected, c.whole.mark_corrected)
        for name, c in found.items()
    }
    assert marks == {
        "ionosphere": ("win", "win", "win"),
        "lsvt": ("win", "tie", "win"),
        "balance": ("tie", "win", "win"),
        "breast": ("tie", "loss", "loss"),
    }
    cells = frame().pivot_table(index=["dataset", "split"], columns="algorithm", values="error")
    for name, control in found.items():
        mine = cells.loc[name]
        assert control.untrained.gain + control.learning.gain == pytest.approx(control.whole.gain)
        assert control.learning.p_paired == pytest.approx(
            stats.ttest_rel(mine["mloml_r_untrained"], mine["mloml_r"]).pvalue
        )
    assert found["lsvt"].published == 0.043  # .369 - .326


def test_the_headline_counts_cases_by_the_corrected_test() -> None:
    text = headline(controls(results(), ["mloml_r"]))
    assert "Euclidean distance in 3 (3 by the plain test) of 4 cases" in text
    assert "already has in 2 (2 by" in text
    assert "error in 2 (2 by the plain test) and raises it in 1 (1 by" in text
    assert headline([]).startswith("No data set is complete")


def test_published_gains_are_sorted_by_what_explains_them() -> None:
    text = published_sentence(controls(results(), ["mloml_r"]), {"mloml_r": "MLOML-r"})
    # The paper: ionosphere .180 → .081, lsvt .369 → .326, balance .108 → .066, breast .106 → .105.
    assert text.startswith("In 4 of these cases")
    assert "in 2 (ionosphere r, lsvt r); learning improves" in text
    assert "cases in both lists: 1; in 1 neither step is clear." in text
    assert "reports no gain" in published_sentence([], {})


def test_a_data_set_that_is_not_counted_is_shown_and_not_counted() -> None:
    found = controls(results(uncounted=frozenset({"breast"})), ["mloml_r"])
    assert [c.dataset for c in found if not c.counted] == ["breast"]


def test_a_data_set_without_the_untrained_stack_is_left_out() -> None:
    whole = results()
    cells = frame()
    cells = cells[~((cells["dataset"] == "lsvt") & (cells["algorithm"] == "mloml_r_untrained"))]
    part = summarise(cells, whole.labels, {"mloml_r_untrained": "mloml_r"})
    assert {c.dataset for c in controls(part, ["mloml_r"])} == {"ionosphere", "balance", "breast"}
    assert stacks(["mloml_r", "mloml_s_untrained"]) == []


def test_the_artefact_is_published_whole(tmp_path) -> None:
    algorithms = "[euclidean,moml,mloml_r,{use: mloml_r, name: mloml_r_untrained, title: U, gamma: 0.0}]"
    study = compose_study(
        "untrained",
        [f"datasets=[{','.join(MEANS)}]", f"algorithms={algorithms}", f"protocol.splits={SPLITS}"],
    )
    result = StudyResult(
        study, tmp_path, frame(), [], pd.DataFrame(), {}, command="mloml reproduce untrained"
    )
    artefact = find_recipe("untrained").make([result])
    publish(artefact, tmp_path)
    text = (tmp_path / "untrained.md").read_text()
    assert "| ionosphere | .170 | .130 | .080 | +.040 (+" in text and "| +.099 |" in text
    assert "lower on ionosphere (.130 → .080), balance (.100 → .060); higher on breast (.100 → .140)" in text
    assert "ionosphere .170 → .130 → .080" in text
    gains = pd.read_csv(tmp_path / "gains.csv").set_index("dataset")
    assert gains.loc["balance", "learning_gain"] == pytest.approx(0.04)
    assert gains.loc["breast", "learning_mark_corrected"] == "loss"


def test_an_untrained_stack_that_changes_nothing_is_said_to_be_one() -> None:
    cells = frame(("lsvt",))
    plain = cells.loc[cells["algorithm"] == "euclidean", "error"].to_numpy()
    cells.loc[cells["algorithm"] == "mloml_r_untrained", "error"] = plain
    part = summarise(cells, results(("lsvt",)).labels, {"mloml_r_untrained": "mloml_r"})
    (control,) = controls(part, ["mloml_r"])
    text = activation_sentence([control], "mloml_r", "MLOML-r")
    assert text.endswith("Untrained, its error is Euclidean distance's in every split on lsvt.")
    (other,) = controls(results(("lsvt",)), ["mloml_r"])
    assert "in every split" not in activation_sentence([other], "mloml_r", "MLOML-r")
    assert activation_sentence([], "mloml_s", "MLOML-s") == "MLOML-s: no data set is complete yet."
