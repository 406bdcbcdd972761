"""The variance between draws, recomputed from the cells, and the distance from the paper's mean."""

import numpy as np
import pandas as pd
import pytest

from mloml import paper
from mloml.report.artefacts.draws import draws_frame


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
    assert draws_frame(cells(1), 1).empty and draws_frame(frame[frame["dataset"] == "waveform_1"], 2).empty


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
