"""Gains over the same splits, against SciPy, and their tables."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from mloml.report.gains import count_gains, gains_of
from mloml.report.labels import Labels
from mloml.report.tables import summarise

GAINS = {"start": [0.0] * 4, "better": [0.10, 0.11, 0.10, 0.09], "noisy": [0.02, 0.05, 0.03, 0.04]}
ERRORS = {name: np.array([0.30, 0.34, 0.32, 0.35]) - gains for name, gains in GAINS.items()}
ERRORS["worse"] = ERRORS["start"] + 0.1 + [0.01, 0, 0, 0]
METHODS = {name: {"step": ("start", name)} for name in ("better", "noisy", "worse")}


def results(datasets=("iris",), without=()):
    rows = [
        (dataset, name, split, error, "ok")
        for dataset in datasets
        for name, errors in ERRORS.items()
        for split, error in enumerate(errors)
        if (dataset, name) not in without
    ]
    frame = pd.DataFrame(rows, columns=["dataset", "algorithm", "split", "error", "status"])
    titles = {name: name for name in datasets}
    return summarise(
        frame, Labels(titles, {n: n for n in ERRORS}, 4, uncounted=frozenset(["spect"])), "start"
    )


def test_a_gain_has_both_tests_and_the_interval_of_the_corrected_one() -> None:
    found = gains_of(results(), METHODS).set_index("activation")
    for name in METHODS:
        differences, row = ERRORS["start"] - ERRORS[name], found.loc[name]
        assert row["gain"] == pytest.approx(differences.mean())
        assert row["p_paired"] == pytest.approx(stats.ttest_rel(ERRORS["start"], ERRORS[name]).pvalue)
        # Nadeau and Bengio by hand: 3 degrees of freedom, variance (1/4 + 1) s² for halves.
        half = stats.t.ppf(0.975, 3) * differences.std(ddof=1) * np.sqrt(1 / 4 + 1)
        assert [row["low"], row["high"]] == pytest.approx([row["gain"] - half, row["gain"] + half])
    assert found["mark_corrected"].tolist() == ["win", "tie", "loss"]
    assert found["mark_paired"].tolist() == ["win", "win", "loss"]
    assert found.loc["noisy", "text"].endswith("(•)") and found.loc["worse", "text"].endswith(" ◦")


def test_sets_that_lack_a_method_are_left_out_and_uncounted_ones_not_counted() -> None:
    gains = gains_of(results(("iris", "wine", "spect"), without=[("wine", "better")]), METHODS)
    assert set(gains.loc[gains["activation"] == "better", "dataset"]) == {"iris", "spect"}
    counts = count_gains(gains, ["activation"]).set_index("activation")
    assert counts["cases"].to_dict() == {"better": 1, "noisy": 2, "worse": 2}
    assert counts["lower"].tolist() == [1, 0, 0] and counts["higher"].tolist() == [0, 0, 2]
    assert counts["lower_plain_test"].tolist() == [1, 2, 0] and counts["median"].iloc[1] == "+.035"
