"""Mean ranks and the tests over data sets, against SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from mloml.report.labels import labels_of
from mloml.report.ranking import ranking_of, ranking_values, ranks_frame
from mloml.report.tables import summarise


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


def test_without_the_reference_there_are_ranks_and_no_marks(results) -> None:
    frame = ranks_frame(results, ranking_of(results), "not_there")
    assert frame["mean_rank"].notna().all() and (frame["nemenyi"] == "").all()
    assert frame[["difference_to_reference", "p_holm"]].isna().all(axis=None)
