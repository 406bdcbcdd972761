"""Table III and the three questions beside it, from cells with known answers."""

from __future__ import annotations

import pandas as pd
import pytest

from mloml import paper
from mloml.report.artefacts import table3
from mloml.report.figures.curves import plotted_numbers
from mloml.report.labels import Labels, labels_of
from mloml.report.publish import context_of, publish
from mloml.report.recipe import find_recipe
from mloml.report.tables import summarise

VARIANTS = tuple(f"mloml_{a}{end}" for a in "rs" for end in ("_bp", "_bp_cv", "_fbp", ""))
COST = pd.DataFrame(
    [(4, "relu", "fp", 2.0, 1.0), (4, "relu", "bp", 1.5, 0.75), (4, "relu", "fbp", 4.0, 2.0)],
    columns=["features", "activation", "strategy", "microseconds", "times_fp"],
)
LABELS = Labels({"iris": "iris"}, {name: name for name in VARIANTS[:4]}, splits=2)
FBP = [0.4, 0.3, 0.2]


def test_the_layout_is_the_papers_and_marks_are_relative_to_fp_of_the_same_activation(make_result) -> None:
    result = make_result(("iris", "spect_paper", "spect"), VARIANTS, 4, paper.table3())
    groups = {name: f"MLOML-{name[6]}" for name in VARIANTS}
    results = summarise(result.frame, labels_of(result, groups), table3.references(VARIANTS))
    table = table3.strategy_grid(results, "t", without="bp_cv")
    assert [column.heading for column in table.columns] == [
        "MLOML-r BP", "MLOML-r FBP", "MLOML-r FP", "MLOML-s BP", "MLOML-s FBP", "MLOML-s FP",
    ]  # fmt: skip
    assert set(zip(results.comparisons["algorithm"], results.comparisons["reference"], strict=True)) == {
        (name, name[:7]) for name in VARIANTS if name != name[:7]
    }
    assert [bool(text) for text in table.counts] == [True, True, False, True, True, False]
    values = table3.build(result, COST).values  # FP's entries are Table II's as well
    assert values["agreement"]["cells"] == 2 * 6 and values["only_here"]["cells"] == 2 * 4
    for row in table.rows:  # one best (or equals) per activation
        assert any(entry.best for entry in row.entries[:3]) and any(entry.best for entry in row.entries[3:])


def test_a_picture_of_an_earlier_run_goes_while_cells_come_in(make_result, tmp_path) -> None:
    recipe = find_recipe("table3")
    for finished, pictures in ((4, {"convergence_mloml_r.png"}), (2, set())):
        result = make_result(
            ("iris",), VARIANTS[:4], 4, paper.table3(), keep=lambda d, a, s, n=finished: s < n
        )
        publish(table3.build(result, COST), recipe, context_of(recipe, [result]), tmp_path / "out")
        assert {path.name for path in (tmp_path / "out").glob("convergence*.png")} == pictures


def test_fps_lead_is_taken_at_both_rates() -> None:
    fp, wobble = [0.10, 0.12, 0.14], [0.000, 0.002, -0.001]
    leads = {"mloml_r": [0, 0, 0], "mloml_r_bp": [0.1 + w for w in wobble], "mloml_r_bp_cv": wobble}
    rows = [("iris", n, s, fp[s] + es[s], "ok") for n, es in leads.items() for s in range(3)]
    frame = pd.DataFrame(rows, columns=["dataset", "algorithm", "split", "error", "status"])
    labels = Labels({"iris": "iris"}, {name: name for name in leads}, splits=3)
    results = summarise(frame, labels, table3.references(leads))
    found, shown = table3.bp_rate_frames(table3.leads_of(results), results)
    (row,) = found.to_dict("records")
    assert list(row) == [
        "dataset", "activation", "fp", "bp", "bp_cv", "lead", "low", "high", "mark", "mark_corrected",
        "lead_cv", "low_cv", "high_cv", "mark_cv", "mark_corrected_cv", "counted",
    ]  # fmt: skip
    assert row["lead"] == pytest.approx(0.1 + sum(wobble) / 3) == row["bp"] - row["fp"]
    assert row["lead_cv"] == pytest.approx(sum(wobble) / 3)
    assert (row["mark_corrected"], row["mark_corrected_cv"]) == ("win", "tie")
    assert shown["lead, fixed rate"].iloc[0].endswith(" •")


def record(name, split, errors):
    return {"dataset": "iris", "algorithm": name, "split": split, "error": errors[-1], "scan_errors": errors}


def test_the_scan_at_which_bps_mean_catches_up() -> None:
    curves = ([0.5, 0.4, 0.3], [0.5, 0.5, 0.5], [0.4, 0.2, 0.1], [0.4, 0.3, 0.2])
    records = [record(n, s, es) for n, es in zip(VARIANTS[:4], curves, strict=True) for s in range(2)]
    found = table3.scan_curves(records, LABELS)
    table = table3.convergence_frame(plotted_numbers(found, "scan"), LABELS)
    row = table.iloc[0]
    assert (row["bp_first"], row["bp_last"], row["fbp_first"]) == (0.5, 0.3, 0.4)
    assert row["bp_catches_up"] == 2 and pd.isna(row["bp_cv_catches_up"])
    means = table3.averages(table).set_index("strategy")
    assert means.loc["FBP"].tolist() == [1, 0.4, 0.1] and means.loc["FP"].tolist() == [1, 0.4, 0.2]


def catching_up(*splits, uncounted=()):
    """Curves of FBP and BP in each split."""
    labels = Labels(LABELS.datasets, LABELS.algorithms, splits=len(splits), uncounted=frozenset(uncounted))
    names = ("mloml_r_fbp", "mloml_r_bp")
    records = [record(n, s, es) for s, both in enumerate(splits) for n, es in zip(names, both, strict=True)]
    return table3.catching_up_frame(table3.scan_curves(records, labels), labels)


def test_only_leads_count_and_those_that_last_are_censored() -> None:
    frame = catching_up(
        (FBP, [0.5, 0.4, 0.2]),  # reaches .4 in scan 2, FBP itself in scan 3
        (FBP, [0.5, 0.5, 0.4]),  # reaches .4 in scan 3, FBP never
        (FBP, [0.5, 0.5, 0.5]),  # never
        (FBP, [0.3, 0.1, 0.1]),  # was never behind
        (FBP, [0.4, 0.1, 0.1]),  # level from the start
    )
    assert frame["level"].fillna(0).tolist() == [2, 3, 0, 1, 1]
    assert frame["same"].fillna(0).tolist() == [3, 0, 0, 1, 1]
    counts = table3.catching_up_counts(frame)
    assert counts["cases"].tolist() == [5, 5, 5] and counts["leads"].tolist() == [3, 3, 1]
    assert counts["never"].tolist() == [1, 2, 0]
    assert counts["median scan"].iloc[0] == 3 and pd.isna(counts["median scan"].iloc[1])


def test_leads_of_bp_are_followed_the_same_way_as_those_of_fbp() -> None:
    """The control: whoever leads after one scan was lucky in part, and is caught up with for that reason."""
    frame = catching_up((FBP, [0.3, 0.3, 0.3]), (FBP, [0.2, 0.2, 0.2]), ([0.4, 0.4, 0.4], [0.3, 0.5, 0.5]))
    assert frame["back"].tolist()[:2] == [2.0, 3.0] and pd.isna(frame["back"].iloc[2])
    back = table3.catching_up_counts(frame).iloc[2]
    assert (back["leads"], back["median scan"], back["never"]) == (3, 3, 1)


def test_uncounted_sets_and_curves_with_missing_splits_are_left_out() -> None:
    assert table3.catching_up_counts(catching_up((FBP, [0.5, 0.4, 0.2]), uncounted=["iris"])).empty
    found = table3.scan_curves([record("mloml_r_bp", 0, FBP), record("mloml_r_fbp", 0, FBP)], LABELS)
    assert table3.catching_up_frame(found, LABELS).empty
    assert table3.averages(table3.convergence_frame(plotted_numbers(found, "scan"), LABELS)).empty
