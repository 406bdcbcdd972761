"""Verdicts on single cells with known answers, and their counts."""

import numpy as np
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


def test_agreement_is_worth_more_where_the_error_of_a_mean_is_small() -> None:
    printed = paper.table2().query("dataset == 'iris' and algorithm == 'moml'").iloc[0]
    rows = {}
    for std in (0.001, 0.02, 0.2):
        ours = summary(("iris", "moml", printed["error"] + 0.002, std, 30))
        rows[str(std)] = paper.compare_means(ours, marks(), paper.table2())
    worth = paper.agreement_worth(rows | {"none": rows["0.2"][:0]}).set_index("our means beside")
    assert worth[["agrees", "within .01", "within .02"]].to_numpy().tolist() == [
        [1, 1, 1],
        [1, 0, 1],
        [1, 0, 0],
    ]
    for std, row in zip((0.001, 0.02, 0.2), worth.to_dict("records"), strict=True):
        test = stats.ttest_ind_from_stats(0.002, std, 30, 0.0, printed["std"], 30, equal_var=False)
        assert row["mean z²"] == pytest.approx(test.statistic**2, rel=0.02)  # and rounding


def test_without_the_rounding_a_mean_printed_without_deviation_agrees_only_if_equal() -> None:
    cells = summary(("iris", "oasis", 1 / 3, 0.0, 30), ("lsvt", "oasis", 0.333, 0.0, 30))
    verdicts = paper.compare_means(cells, marks(), paper.table2())
    assert paper.agreement_worth({"oasis": verdicts}).iloc[0, 1:4].tolist() == [2, 2, 1]


def test_wrong_columns_are_all_other_columns_on_the_same_set() -> None:
    names = ("moml", "mloml_t", "lego")
    cells = [(d, name, 0.1, 0.02, 30) for d in ("iris", "wine") for name in names]
    verdicts = paper.compare_means(summary(*cells), marks(), paper.table2())
    wrong = paper.other_columns(verdicts, names[:2], names)
    assert len(wrong) == 2 * 2 * 2 and not (wrong["algorithm"] == wrong["algorithm_printed"]).any()
    printed = paper.table2().set_index(["dataset", "algorithm"])["error"]
    assert (wrong["our_mean"] == 0.1).all()
    for row in wrong.to_dict("records"):
        assert row["paper_mean"] == printed[row["dataset"], row["algorithm_printed"]]


def test_gains_are_paired_and_the_papers_vary_as_ours_do() -> None:
    rng = np.random.default_rng(0)
    before = 0.035 + 0.02 * rng.normal(size=30)
    gains = 0.002 + 0.01 * rng.normal(size=30)
    errors = {("iris", "euclidean"): before, ("iris", "moml"): before - gains}
    cells = [(*place, found.mean(), found.std(ddof=1), 30) for place, found in errors.items()]
    verdicts = paper.compare_means(summary(*cells), marks(), paper.table2())
    (row,) = paper.compare_gains(verdicts, errors).to_dict("records")
    assert (row["our_gain"], row["paper_gain"]) == (pytest.approx(gains.mean()), pytest.approx(0.01))
    # Two samples of thirty gains with the same deviation, a t-test of one with the other's mean.
    test = stats.ttest_ind_from_stats(gains.mean(), gains.std(ddof=1), 30, 0.01, gains.std(ddof=1), 30)
    assert (row["difference"] / row["standard_error"]) == pytest.approx(test.statistic, rel=0.03)
    assert row["verdict"] == "differs: ours lower" and (verdicts["verdict"] == "agrees").all()
    assert paper.compare_gains(verdicts, errors, reference="lego").empty


def test_a_single_split_is_not_compared() -> None:
    assert paper.compare_means(
        summary(("iris", "lego", 0.03, float("nan"), 1)), marks(), paper.table2()
    ).empty


def test_no_common_cells_is_an_empty_comparison() -> None:
    comparison = paper.compare_means(summary(), marks(), paper.table2())
    assert comparison.empty
    assert paper.verdict_counts(comparison)["cells"].tolist() == [0]
