"""Verdicts on single cells with known answers, and their counts."""

import pandas as pd
import pytest
from scipy import stats

from mloml import paper


def summary(*cells: tuple[str, str, float, float, int]) -> pd.DataFrame:
    return pd.DataFrame(cells, columns=["dataset", "algorithm", "mean", "std", "splits"])


def marks(*cells: tuple[str, str, str]) -> pd.DataFrame:
    return pd.DataFrame(cells, columns=["dataset", "algorithm", "mark_paired"]).assign(mark_corrected="tie")


@pytest.mark.parametrize(
    ("mean", "verdict"), [(0.037, "agrees"), (0.055, "differs: ours higher"), (0.020, "differs: ours lower")]
)
def test_verdict_of_iris_euclidean(mean: float, verdict: str) -> None:
    row = paper.compare_means(summary(("iris", "euclidean", mean, 0.016, 30)), marks(), paper.table2()).iloc[
        0
    ]
    assert row["verdict"] == verdict
    assert row["difference"] == pytest.approx(mean - 0.038)
    welch = stats.ttest_ind_from_stats(mean, 0.016, 30, 0.038, 0.016, 30, equal_var=False)
    assert row["p_value"] == pytest.approx(welch.pvalue, abs=1e-3)


def test_cells_printed_without_deviation_can_be_compared() -> None:
    cells = summary(("iris", "oasis", 1 / 3, 0.0, 30), ("lsvt", "oasis", 0.34, 0.0, 30))
    assert paper.compare_means(cells, marks(), paper.table2())["verdict"].tolist() == [
        "agrees",
        "differs: ours higher",
    ]


def test_the_accidental_variant_is_compared_and_the_true_labels_are_not() -> None:
    cells = summary(("spect_paper", "euclidean", 0.354, 0.03, 30), ("spect", "euclidean", 0.179, 0.03, 30))
    comparison = paper.compare_means(cells, marks(), paper.table2())
    assert comparison[["dataset", "paper_mean", "verdict"]].to_numpy().tolist() == [
        ["spect_paper", 0.354, "agrees"]
    ]


def test_conclusions_are_compared_by_their_marks() -> None:
    cells = summary(("iris", "lego", 0.037, 0.016, 30), ("wine", "lego", 0.220, 0.04, 30))
    ours = marks(("iris", "lego", "win"), ("wine", "lego", "tie"))
    comparison = paper.compare_means(cells, ours, paper.table2())
    assert comparison["same_conclusion"].tolist() == ["yes", "no"]
    row = paper.compare_conclusions(comparison, paper.table2_counts()).iloc[0]
    assert (row["printed"], row["paper"], row["ours"], row["equal"]) == ("8/3/1", "2/0/0", "1/1/0", 1)
    total = paper.compare_conclusions(comparison, paper.table2_counts()).iloc[-1]
    assert (total["algorithm"], total["compared"], total["ours, corrected test"]) == ("all", 2, "0/2/0")


def test_another_draw_adds_the_variance_of_two_draws_where_it_is_known() -> None:
    cells = summary(("waveform", "euclidean", 0.201, 0.006, 30), ("waveform", "moml", 0.180, 0.006, 30))
    plain = paper.compare_means(cells, marks(), paper.table2())
    drawn = paper.compare_means(
        cells, marks(), paper.table2(), drawn_anew=["waveform"], draws={"euclidean": 0.004**2}
    )
    assert plain["verdict"].tolist() == ["differs: ours higher"] * 2
    assert drawn["verdict"].tolist() == ["agrees", "differs: ours higher"]
    assert drawn["between_draws"].tolist() == pytest.approx([2 * 0.004**2, 0.0])
    assert ["is added" in note for note in drawn["note"]] == [True, False]
    assert "not known here" in drawn["note"][1] and plain["note"].tolist() == ["", ""]
    # The statistic by hand: both means' variances, the rounding, and two draws.
    printed = paper.table2().query("dataset == 'waveform' and algorithm == 'euclidean'").iloc[0]
    variance = (0.006**2 + printed["std"] ** 2) / 30 + 0.001**2 / 12 + 2 * 0.004**2
    assert drawn["statistic"][0] == pytest.approx((0.201 - printed["error"]) / variance**0.5)


def test_wrong_markers_are_corrected_and_noted() -> None:
    cells = summary(
        ("spect_paper", "mloml_s_fbp", 0.314, 0.025, 30), ("iris", "mloml_s_fbp", 0.025, 0.017, 30)
    )
    ours = marks(("spect_paper", "mloml_s_fbp", "loss"), ("iris", "mloml_s_fbp", "tie"))
    comparison = paper.compare_means(cells, ours, paper.table3())
    assert comparison["same_conclusion"].tolist() == ["yes", "yes"]
    assert comparison["note"].str.contains("win/tie/loss row").tolist() == [True, False]


def test_counts_add_up_per_algorithm_and_overall() -> None:
    published = paper.table2()
    cells = published.rename(columns={"error": "mean"}).assign(splits=30)
    counts = paper.verdict_counts(paper.compare_means(cells, marks(), published)).set_index("algorithm")
    assert len(counts) == 15
    # spect and mlprove of that name are the true-label sets, which have no counterpart: 10 rows remain.
    assert counts.loc["all", "cells"] == counts.loc["all", "agrees"] == 140
    assert (
        counts["cells"] == counts[["agrees", "differs: ours lower", "differs: ours higher"]].sum(axis=1)
    ).all()


def test_a_single_split_is_not_compared() -> None:
    assert paper.compare_means(
        summary(("iris", "lego", 0.03, float("nan"), 1)), marks(), paper.table2()
    ).empty


def test_no_common_cells_is_an_empty_comparison() -> None:
    comparison = paper.compare_means(summary(), marks(), paper.table2())
    assert comparison.empty
    assert paper.verdict_counts(comparison)["cells"].tolist() == [0]
