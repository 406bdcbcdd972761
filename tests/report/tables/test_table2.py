"""The files of Table II: which there are, what they say, and that equal cells give equal bytes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from mloml import paper
from mloml.report.artefacts.table2 import table2
from mloml.report.labels import labels_of
from mloml.report.parts.ranks import ranking_of, ranks_frame
from mloml.report.parts.selections import selections_frame
from mloml.report.parts.strictness import strictness_sentence
from mloml.report.tables import summarise

FILES = {
    "table2.csv", "table2.tex", "table2.md", "win_tie_loss.csv", "tests.csv", "ranks.csv", "selections.csv",
    "selections.md", "paper_comparison.csv", "paper_comparison_counts.csv", "paper_comparison.md",
    "paper_comparison_kinds.csv", "readings.csv", "readings.md",
    "paper_comparison.tex", "critical_difference.pdf", "critical_difference.png", "artefact.json",
    "findings.md", "agreement.csv", "agreement.md", "agreement.pdf", "agreement.png",
}  # fmt: skip


def test_all_files_are_written_and_equal_cells_give_equal_bytes(make_result, write) -> None:
    result = make_result()
    write("table2", result)
    first = {path.name: path.read_bytes() for path in result.folder.iterdir()}
    assert set(first) == FILES
    for name in first:
        if name.endswith(".md"):
            assert first[name].endswith(b"\n\nMade by `python experiments/table.py protocol=paper`.\n"), name
    untouched = {path: path.stat().st_mtime_ns for path in result.folder.glob("*.csv")}
    # The order in which cells came in must not matter.
    shuffled = result.frame.sample(frac=1, random_state=1)
    write("table2", replace(result, frame=shuffled, records=result.records[::-1]))
    assert {path.name: path.read_bytes() for path in result.folder.iterdir()} == first
    assert {path: path.stat().st_mtime_ns for path in untouched} == untouched


def test_while_cells_come_in_tables_have_dashes_and_no_picture_is_stale(make_result, write) -> None:
    half = make_result(keep=lambda dataset, algorithm, split: dataset == "iris" and split < 7)
    (half.folder / "critical_difference.png").write_bytes(b"of an earlier run")
    write("table2", half)
    assert not list(half.folder.glob("critical_difference.*"))
    text = (half.folder / "table2.md").read_text()
    assert "drawn when all cells are computed" in text and "| iris | –<sup>" in text
    assert len(pd.read_csv(half.folder / "paper_comparison.csv")) == 0


@pytest.mark.parametrize("study", [{"keep": lambda *cell: False}, {"splits": 1}])
def test_no_finished_cell_or_a_single_split_is_still_a_table(make_result, write, study) -> None:
    result = make_result(**study)
    write("table2", result)
    assert "No cell of Table II can be compared" in (result.folder / "table2.md").read_text()


def test_without_the_reference_there_are_no_marks(make_result, write) -> None:
    result = make_result(algorithms=("euclidean", "moml"))
    write("table2", result)
    text = (result.folder / "table2.md").read_text()
    assert "No marks: MLOML-r is not among the algorithms." in text and "win/tie/loss*" not in text


def test_paper_comparison_covers_the_papers_rows_only(make_result, write) -> None:
    result = make_result()
    write("table2", result)
    comparison = pd.read_csv(result.folder / "paper_comparison.csv", keep_default_na=False)
    assert set(comparison["dataset"]) == {"iris", "wine", "spect_paper", "waveform"}
    assert set(comparison["verdict"]) <= {"agrees", "differs: ours lower", "differs: ours higher"}
    iris = comparison[(comparison["dataset"] == "iris") & (comparison["algorithm"] == "euclidean")].iloc[0]
    cells = result.frame[(result.frame["dataset"] == "iris") & (result.frame["algorithm"] == "euclidean")]
    assert iris["our_mean"] == pytest.approx(cells["error"].mean())
    assert iris["difference"] == pytest.approx(cells["error"].mean() - 0.038)


def test_a_kind_of_method_is_the_papers_own_a_baseline_or_a_reconstruction(make_result, write) -> None:
    result = make_result()
    write("table2", result)
    kinds = pd.read_csv(result.folder / "paper_comparison_kinds.csv").set_index("kind")
    # Four rows of the paper: MOML and MLOML-r; Euclidean, LEGO and OASIS; SLMOML.
    assert kinds["cells"].to_dict() == {
        "the paper's own methods": 8, "published baselines": 12, "reconstructions": 4, "all": 24,
    }  # fmt: skip
    verdicts = pd.read_csv(result.folder / "paper_comparison.csv")
    own = verdicts[verdicts["algorithm"].isin(["moml", "mloml_r"])]
    agree = int((own["verdict"] == "agrees").sum())
    assert kinds.loc["the paper's own methods", "agrees"] == agree
    text = (result.folder / "findings.md").read_text()
    assert f"{agree} of 8 of the paper's own methods" in text


def test_win_tie_loss_stands_beside_the_papers_over_the_same_comparisons(make_result, write) -> None:
    result = make_result()
    write("table2", result)
    verdicts = pd.read_csv(result.folder / "paper_comparison.csv", keep_default_na=False)
    known = verdicts[verdicts["our_mark"] != ""]
    counts = [
        "/".join(str(int((known[column] == mark).sum())) for mark in ("win", "tie", "loss"))
        for column in ("paper_mark", "our_mark", "our_mark_corrected")
    ]
    text = (result.folder / "findings.md").read_text()
    assert f"over the 20 comparisons that both have: {counts[0]} in the paper, {counts[1]} here" in text
    assert f"{counts[2]} here by the corrected test" in text


def test_comparisons_that_the_paper_lacks_are_counted_apart(make_result) -> None:
    result = make_result(datasets=("iris", "wine"))
    labels = labels_of(result)
    results = summarise(result.frame, labels, "mloml_r")
    printed = paper.table2()
    both = strictness_sentence(results, printed)
    assert "of our 10 comparisons that the paper has too" in both and "does not have" not in both
    fewer = strictness_sentence(results, printed[printed["algorithm"] != "lego"])
    assert "of our 8 comparisons that the paper has too" in fewer
    assert "of the 2 comparisons that the paper does not have" in fewer


def test_a_study_of_one_true_label_says_who_is_worse_and_draws_no_ranks(make_result, write) -> None:
    result = make_result(datasets=("spect",))
    shift = {"oasis": 0.5, "moml": -0.1}
    moved = result.frame["error"] + result.frame["algorithm"].map(shift).fillna(0.0)
    write("table2", replace(result, frame=result.frame.assign(error=moved)))
    text = (result.folder / "findings.md").read_text()
    assert "No data set of this run has a row in the paper's Table II." in text
    assert "Nothing could be tested" not in text and "Ranks need" not in text
    assert "spect (true), not counted above: Euclidean distance has" in text
    assert "a higher: OASIS" in text and "have a lower error: " in text and "MOML" in text
    assert (
        not list(result.folder.glob("critical_difference.*")) and not (result.folder / "ranks.csv").exists()
    )


def test_another_draw_is_said_to_be_one(make_result, write, monkeypatch) -> None:
    result = make_result()
    for measured, sentence in (
        ({}, "for 6 of them that variance was not measured"),
        ({"mloml_r": 1e-5}, "for 1 of them the variance between draws is part of the test"),
    ):
        monkeypatch.setattr("mloml.report.parts.paper_comparison.draws", lambda given=measured: given)
        write("table2", result)
        text = (result.folder / "paper_comparison.md").read_text()
        assert "6 cells compare one draw of a generator with another" in text
        assert sentence in text


def test_the_sentence_on_surviving_marks_counts_what_the_tests_say(make_result) -> None:
    result = make_result()
    results = summarise(result.frame, labels_of(result), "mloml_r")
    counted = results.comparisons[results.comparisons["dataset"] != "spect"]
    marked = counted[counted["mark_paired"] != "tie"]
    kept = int((marked["mark_corrected"] == marked["mark_paired"]).sum())
    text = strictness_sentence(results, paper.table2())
    assert text.startswith(f"{len(marked)} of our {len(counted)} comparisons that the paper has too are")
    assert f"; {kept} remain under the corrected resampled t-test" in text


def test_rows_not_asked_for_are_named(make_result) -> None:
    result = make_result(datasets=("iris", "wine"))
    remarks = table2(summarise(result.frame, labels_of(result), "mloml_r"), "paper").remarks
    assert "not asked for: lsvt, spect," in remarks[-1] and "iris" not in remarks[-1]


def test_ranks_leave_out_datasets_that_are_not_complete(make_result) -> None:
    result = make_result(keep=lambda d, a, s: not (d == "wine" and a == "lego"))
    results = summarise(result.frame, labels_of(result), "mloml_r")
    ranking = ranking_of(results)
    assert ranking.datasets == ("iris", "spect_paper", "waveform")
    frame = ranks_frame(results, ranking, "mloml_r").set_index("algorithm")
    expected = results.means().drop(index="wine").rank(axis=1).mean()
    assert frame["mean_rank"].to_dict() == pytest.approx(expected.to_dict())
    assert frame.loc["mloml_r", "nemenyi"] == "" and np.isnan(frame.loc["mloml_r", "p_holm"])


def test_three_selections_from_the_same_cells(make_result) -> None:
    result = make_result(datasets=("iris",))
    frame = selections_frame(result.records, labels_of(result)).set_index("algorithm")
    assert set(frame.index) == {"lego", "slmoml", "moml", "mloml_r"}  # nothing to choose in the others
    for name, row in frame.iterrows():
        mean = result.frame.loc[result.frame["algorithm"] == name, "error"].mean()
        # Per split the better second value is found in odd splits only; over all splits its mean validation
        # error ties with the first, and ties go to the first; on the test half it always wins.
        assert row["per_split_mean"] == pytest.approx(mean - 0.0005)
        assert row["per_dataset_mean"] == pytest.approx(mean)
        assert row["oracle_mean"] == pytest.approx(mean - 0.001)


def test_an_incomplete_cell_has_no_selection(make_result) -> None:
    result = make_result(datasets=("iris",), keep=lambda d, a, s: not (a == "lego" and s == 3))
    assert "lego" not in set(selections_frame(result.records, labels_of(result))["algorithm"])


@pytest.mark.slow
def test_the_whole_study_around_the_papers_means_agrees_with_the_paper(make_result, write) -> None:
    names = [{"spect": "spect_paper", "mlprove": "mlprove_paper"}.get(n, n) for n in paper.DATASETS]
    result = make_result(datasets=names, algorithms=tuple(paper.ALGORITHMS.values()), splits=30)
    write("table2", result)
    counts = pd.read_csv(result.folder / "paper_comparison_counts.csv").set_index("algorithm").loc["all"]
    assert counts["cells"] == 168 and counts["agrees"] > 150
