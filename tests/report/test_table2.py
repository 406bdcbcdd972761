"""Table II: order, ranks against SciPy, three ways of choosing the step size, uncounted data sets."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from mloml import paper
from mloml.report.artefacts.table2 import build, ranks_frame, selections_frame, selections_grid
from mloml.report.labels import labels_of
from mloml.report.tables import ranking_of, ranking_values, summarise


def test_the_order_in_which_cells_came_in_does_not_matter(make_result) -> None:
    result = make_result()
    shuffled = replace(
        result, frame=result.frame.sample(frac=1, random_state=1), records=result.records[::-1]
    )
    for first, second in zip(build(result).tables, build(shuffled).tables, strict=True):
        pd.testing.assert_frame_equal(first.frame, second.frame)


def test_a_study_of_one_true_label_compares_with_euclidean_and_draws_no_ranks(make_result) -> None:
    result = make_result(datasets=("spect",))
    shift = result.frame["algorithm"].map({"oasis": 0.5, "moml": -0.1}).fillna(0.0)
    artefact = build(replace(result, frame=result.frame.assign(error=result.frame["error"] + shift)))
    gains = artefact.values["uncounted"].set_index("algorithm")["gain"]
    assert set(gains.index) == {"lego", "oasis", "slmoml", "moml", "mloml_r"}
    assert gains["oasis"].endswith(" ◦") and gains["moml"].endswith(" •")
    assert artefact.values["ranking"] == {} and artefact.figures == ()
    assert "ranks" not in {table.name for table in artefact.tables}


def test_the_whole_study_around_the_papers_means_agrees_with_the_paper(make_result) -> None:
    names = [paper.published.ACCIDENTS.get(name, name) for name in paper.DATASETS]
    result = make_result(datasets=names, algorithms=tuple(paper.ALGORITHMS.values()), splits=30)
    agreement = build(result).values["agreement"]
    assert agreement["cells"] == 168 and agreement["agrees"] > 150


@pytest.fixture
def results(make_result):
    result = make_result(keep=lambda d, a, s: not (d == "wine" and a == "lego"))
    return summarise(result.frame, labels_of(result), "mloml_r")


def test_ranks_leave_out_datasets_that_are_not_complete(results) -> None:
    ranking = ranking_of(results)
    assert ranking.datasets == ("iris", "spect_paper", "waveform")
    frame = ranks_frame(results, ranking, "mloml_r").set_index("algorithm")
    means = results.means().drop(index="wine")
    assert frame["mean_rank"].to_dict() == pytest.approx(means.rank(axis=1).mean().to_dict())
    assert frame.loc["mloml_r", "nemenyi"] == "" and np.isnan(frame.loc["mloml_r", "p_holm"])
    values = ranking_values(results, ranking)
    assert values["statistic"] == pytest.approx(stats.friedmanchisquare(*means.to_numpy().T).statistic)
    assert (values["algorithms"], values["datasets"], values["left_out"]) == (6, 3, ["wine"])


def test_wilcoxons_test_is_corrected_for_the_number_of_methods(results) -> None:
    frame = ranks_frame(results, ranking_of(results), "mloml_r").set_index("algorithm").drop(index="mloml_r")
    means = results.means().drop(index="wine")
    plain = {name: stats.wilcoxon(means[name], means["mloml_r"]).pvalue for name in frame.index}
    assert frame["p_wilcoxon"].to_dict() == pytest.approx(plain)
    # Holm by hand: the smallest of m p-values times m, the next times m - 1, never falling.
    adjusted, floor = {}, 0.0
    for place, name in enumerate(sorted(plain, key=plain.get)):
        floor = adjusted[name] = min(1.0, max(floor, plain[name] * (len(plain) - place)))
    assert frame["p_holm"].to_dict() == pytest.approx(adjusted)


def test_three_selections_from_the_same_cells(make_result) -> None:
    result = make_result(datasets=("iris",))
    labels = labels_of(result)
    frame = selections_frame(result.records, labels).set_index("algorithm")
    assert set(frame.index) == {"lego", "slmoml", "moml", "mloml_r"}  # nothing to choose in the others
    for name, row in frame.iterrows():
        mean = result.frame.loc[result.frame["algorithm"] == name, "error"].mean()
        # Per split the better second value is found in odd splits only; over all splits its mean validation
        # error ties with the first, and ties go to the first; on the test half it always wins.
        assert row["per_split_mean"] == pytest.approx(mean - 0.0005)
        assert row["per_dataset_mean"] == pytest.approx(mean)
        assert row["oracle_mean"] == pytest.approx(mean - 0.001)
    grid = selections_grid(frame.reset_index(), labels)
    assert [column.name for column in grid.columns] == ["lego", "slmoml", "moml", "mloml_r"]
