"""Ours beside the paper: verdicts by kind, conclusions, tests, and what the figure shows."""

from __future__ import annotations

import pytest

from mloml import paper
from mloml.report import comparison
from mloml.report.labels import labels_of
from mloml.report.tables import summarise

ROWS = {"iris", "wine", "spect_paper", "waveform"}
OUTCOMES = ("win", "tie", "loss")


def compared(result):
    results = summarise(result.frame, labels_of(result), "mloml_r")
    return comparison.compare_with_paper(
        results, paper.table2(), paper.table2_counts(), "Table II", ready=True
    )


def test_the_papers_rows_are_compared_and_no_others(make_result) -> None:
    result = make_result()
    found = compared(result)
    verdicts = found.verdicts.set_index(["dataset", "algorithm"])
    errors = result.frame.set_index(["dataset", "algorithm"])["error"].loc[("iris", "euclidean")]
    assert verdicts.loc[("iris", "euclidean"), "difference"] == pytest.approx(errors.mean() - 0.038)
    assert set(found.verdicts["dataset"]) == set(found.figures[0].numbers["dataset"]) == ROWS
    empty = compared(make_result(keep=lambda *cell: False))
    assert empty.figures == () and empty.values["agreement"]["cells"] == 0


def test_a_kind_of_method_is_the_papers_own_a_baseline_or_a_reconstruction(make_result) -> None:
    found = compared(make_result())
    kinds = found.tables[2].frame.set_index("kind")
    # Four rows of the paper: MOML and MLOML-r; Euclidean, LEGO and OASIS; SLMOML.
    assert kinds["cells"].to_dict() == {
        "the paper's own methods": 8, "published baselines": 12, "reconstructions": 4, "all": 24,
    }  # fmt: skip
    own = found.verdicts[found.verdicts["algorithm"].isin(["moml", "mloml_r"])]
    assert kinds.loc["the paper's own methods", "agrees"] == (own["verdict"] == "agrees").sum()
    agreement = found.values["agreement"]
    assert kinds.loc["all", "agrees"] == agreement["agrees"] == 24 - agreement["lower"] - agreement["higher"]


def test_win_tie_loss_stands_beside_the_papers_over_the_same_comparisons(make_result) -> None:
    found = compared(make_result())
    known = found.verdicts[found.verdicts["our_mark"] != ""]
    total = found.values["conclusions"].iloc[-1]
    columns = {"paper_mark": "paper", "our_mark": "ours", "our_mark_corrected": "ours, corrected test"}
    for marks, column in columns.items():
        assert total[column] == "/".join(str((known[marks] == mark).sum()) for mark in OUTCOMES)
    assert total["compared"] == len(known) == 20


def test_significant_comparisons_that_the_paper_lacks_are_counted_apart(make_result) -> None:
    result, printed = make_result(datasets=("iris", "wine", "spect")), paper.table2()
    results = summarise(result.frame, labels_of(result), "mloml_r")
    fewer = comparison.significant_counts(results, printed[printed["algorithm"] != "lego"])
    assert fewer["number"].tolist() == [8, 2]
    (both,) = comparison.significant_counts(results, printed).to_dict("records")
    marked = results.comparisons.query("dataset != 'spect' and mark_paired != 'tie'")
    kept = (marked["mark_corrected"] == marked["mark_paired"]).sum()
    assert (both["number"], both["paired t-test"], both["corrected t-test"]) == (10, len(marked), kept)


def test_another_draw_of_a_generator_is_counted_as_one(make_result, monkeypatch) -> None:
    for measured, known in (({}, 0), ({"mloml_r": 1e-5}, 1)):
        monkeypatch.setattr(comparison, "draws", lambda given=measured: given)
        values = compared(make_result()).values
        assert (values["other_draws"], values["unknown_draws"]) == (known, 6 - known)


def test_entries_show_both_means_and_which_way_they_differ(make_result) -> None:
    found = compared(make_result(datasets=("iris", "spect"), splits=30))
    arrows = {"agrees": "", "differs: ours lower": "↓", "differs: ours higher": "↑"}
    (row,) = found.tables[1].latex.rows  # spect's true labels are not in the paper
    pairs = zip(found.verdicts["paper_mean"], found.verdicts["verdict"], strict=True)
    assert [entry.text[6:] for entry in row.entries] == [f"{m:.3f}"[1:] + ")" + arrows[v] for m, v in pairs]
