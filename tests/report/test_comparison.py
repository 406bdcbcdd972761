"""Ours beside the paper: verdicts by kind, conclusions, tests, and what the figure shows."""

import pytest

from mloml import paper
from mloml.report import comparison
from mloml.report.labels import labels_of
from mloml.report.tables import summarise

ROWS = {"iris", "wine", "spect_paper", "waveform"}


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
