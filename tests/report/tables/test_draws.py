"""The variance between draws: by simulation, against the cells, and as a file with fixed columns."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from mloml import paper
from mloml.paper.statistics.draws import spread_of_draws
from mloml.config.compose import compose_study
from mloml.config.schema import Algorithm, ProtocolConfig, Study
from mloml.experiments.study import StudyResult
from mloml.report.artefacts.draws import RECIPE, draws_frame
from mloml.report.publish import publish


@pytest.mark.parametrize(
    ("between", "within", "splits"), [(0.004, 0.003, 2), (0.001, 0.006, 2), (0.0, 0.005, 3)]
)
def test_the_estimate_is_unbiased_and_its_standard_error_is_right(between, within, splits) -> None:
    rng = np.random.default_rng(7)
    draws = between * rng.normal(size=(4000, 20, 1))
    errors = 0.17 + draws + within * rng.normal(size=(4000, 20, splits))
    found = [spread_of_draws(table) for table in errors]
    estimates = np.array([spread.between for spread in found])
    deviation = estimates.std(ddof=1)
    assert abs(estimates.mean() - between**2) < 4 * deviation / np.sqrt(4000)
    assert np.sqrt(np.mean([spread.error**2 for spread in found])) == pytest.approx(deviation, rel=0.15)
    assert np.mean([spread.within for spread in found]) == pytest.approx(within**2, rel=0.05)


def test_without_the_correction_it_would_be_biased() -> None:
    rng = np.random.default_rng(8)
    errors = 0.17 + 0.005 * rng.normal(size=(2000, 20, 2))  # splits alone
    naive = np.mean([table.mean(axis=1).var(ddof=1) for table in errors])
    corrected = np.mean([spread_of_draws(table).between for table in errors])
    assert naive == pytest.approx(0.005**2 / 2, rel=0.05) and abs(corrected) < 0.05 * naive


def test_splits_of_one_draw_are_independent_given_its_rows() -> None:
    """Halves overlap, yet given the rows the errors of two random splits are uncorrelated."""
    rng = np.random.default_rng(9)
    table = []
    for _ in range(3000):
        rows = rng.normal(size=30)  # a draw; its "error" on a split is the mean of a random half
        table.append([rng.permutation(rows)[:15].mean() for _ in range(2)])
    # Over all its splits a draw's expectation is the mean of its rows, whose variance is 1/30.
    assert spread_of_draws(table).between == pytest.approx(1 / 30, rel=0.15)


def test_it_needs_two_draws_of_two_splits() -> None:
    for errors in ([[0.1, 0.2]], [[0.1], [0.2]], [[0.1, np.nan], [0.1, 0.2]]):
        with pytest.raises(ValueError, match="two draws"):
            spread_of_draws(errors)


def cells(splits: int = 2) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    rows = []
    for algorithm in ("euclidean", "mloml_r"):
        for draw in range(1, 9):
            shift = rng.normal(scale=0.004)
            rows += [
                (f"waveform_{draw}", algorithm, s, 0.19 + shift + rng.normal(scale=0.002), "ok")
                for s in range(splits)
            ]
    return pd.DataFrame(rows, columns=["dataset", "algorithm", "split", "error", "status"])


def test_only_whole_draws_count_and_a_negative_estimate_is_zero() -> None:
    frame = cells()
    frame.loc[(frame["dataset"] == "waveform_3") & (frame["split"] == 1), "status"] = "failed"
    found = draws_frame(frame, 2).set_index("algorithm")
    assert list(found["draws"]) == [7, 7]
    left = frame[(frame["dataset"] != "waveform_3") & (frame["algorithm"] == "mloml_r")]
    table = left["error"].to_numpy().reshape(7, 2)
    expected = np.var(table.mean(axis=1), ddof=1) - np.mean((table[:, 0] - table[:, 1]) ** 2 / 2) / 2
    assert found.loc["mloml_r", "variance"] == pytest.approx(expected)
    opposite = frame.assign(error=[0.19 + 0.01 * (-1) ** split for split in frame["split"]])
    assert (draws_frame(opposite, 2)["variance"] == 0).all()


def test_the_distance_from_the_paper_reckons_with_its_one_draw() -> None:
    row = draws_frame(cells(), 2).set_index("algorithm").loc["mloml_r"]
    printed = paper.table2().set_index(["dataset", "algorithm"]).loc[("waveform", "mloml_r")]
    rng = np.random.default_rng(2)
    n, b, w = 100_000, row["deviation"], row["split_deviation"]
    ours = rng.normal(scale=np.sqrt((b**2 + w**2 / 2) / row["draws"]), size=n)
    theirs = rng.normal(scale=b, size=n) + rng.normal(scale=printed["std"] / np.sqrt(30), size=n)
    theirs += rng.uniform(-0.0005, 0.0005, size=n)  # printed with three digits
    z = (row["mean"] - printed["error"]) / np.std(ours - theirs)
    assert row["z_with_draws"] == pytest.approx(z, rel=0.02)
    assert abs(row["z_with_draws"]) < abs(row["z_without_draws"])


def test_the_file_has_the_variance_by_algorithm(tmp_path) -> None:
    algorithms = [Algorithm("euclidean", "Euclidean", "Euclidean"), Algorithm("mloml_r", "MLOML-r", "MLOML")]
    study = Study("draws", [], algorithms, ProtocolConfig(splits=2))
    publish(RECIPE.make([StudyResult(study, tmp_path, cells(), [], pd.DataFrame(), {})]), tmp_path)
    written = pd.read_csv(tmp_path / "draws.csv")
    assert list(written.columns[:4]) == ["algorithm", "variance", "draws", "splits"]
    assert list(written["draws"]) == [8, 8] and (written["variance"] > 0).all()


def test_the_experiment_has_twenty_different_draws() -> None:
    study = compose_study("draws")
    assert len({config.draw for config in study.datasets}) == len({c.name for c in study.datasets}) == 20
    assert study.protocol.splits >= 2
