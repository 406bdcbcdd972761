"""Comparisons of a whole frame with a reference, and the counts made from them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from mloml.paper.statistics import against_reference, counts_against_reference, surviving


def frame(errors: dict[tuple[str, str], list[float]]) -> pd.DataFrame:
    rows = [
        {"dataset": dataset, "algorithm": algorithm, "split": split, "error": error}
        for (dataset, algorithm), values in errors.items()
        for split, error in enumerate(values)
    ]
    return pd.DataFrame(rows)


REFERENCE = [0.10, 0.12, 0.11, 0.13, 0.10]


def test_marks_speak_of_the_reference() -> None:
    cells = frame(
        {
            ("iris", "mloml_r"): REFERENCE,
            ("iris", "worse"): [e + 0.1 + 0.01 * i for i, e in enumerate(REFERENCE)],
            ("iris", "equal"): REFERENCE,
            ("iris", "better"): [e - 0.05 - 0.001 * i for i, e in enumerate(REFERENCE)],
        }
    )
    table = against_reference(cells, "mloml_r").set_index("algorithm")
    assert table["mark_paired"].to_dict() == {"worse": "win", "equal": "tie", "better": "loss"}
    assert not table.isna().to_numpy().any()


def test_only_common_splits_are_compared() -> None:
    cells = frame({("iris", "mloml_r"): REFERENCE, ("iris", "lego"): [0.2, 0.3, 0.25]})
    row = against_reference(cells, "mloml_r").iloc[0]
    assert row["splits"] == 3
    assert row["p_paired"] == pytest.approx(stats.ttest_rel([0.2, 0.3, 0.25], REFERENCE[:3]).pvalue)
    assert row["reference_mean"] == pytest.approx(np.mean(REFERENCE[:3]))


def test_every_algorithm_may_have_a_reference_of_its_own() -> None:
    cells = frame({("iris", name): REFERENCE for name in ("mloml_r", "mloml_r_bp", "mloml_s", "mloml_s_bp")})
    table = against_reference(cells, {"mloml_r_bp": "mloml_r", "mloml_s_bp": "mloml_s"})
    assert table[["algorithm", "reference"]].to_numpy().tolist() == [
        ["mloml_r_bp", "mloml_r"],
        ["mloml_s_bp", "mloml_s"],
    ]


def test_a_split_that_occurs_twice_is_refused_rather_than_averaged() -> None:
    cells = frame({("iris", "mloml_r"): REFERENCE, ("iris", "lego"): REFERENCE})
    with pytest.raises(ValueError, match="duplicate"):
        against_reference(pd.concat([cells, cells.tail(1)]), "mloml_r")


def test_without_the_reference_there_is_nothing_to_compare() -> None:
    table = against_reference(frame({("iris", "lego"): REFERENCE}), "mloml_r")
    assert table.empty
    assert counts_against_reference(table, ["iris"]).empty


@settings(deadline=None, max_examples=8)
@given(st.integers(0, 10**6), st.integers(1, 5), st.integers(1, 6), st.integers(2, 8))
def test_wins_ties_and_losses_add_up_to_the_counted_datasets(seed, n_datasets, n_counted, n_splits) -> None:
    rng = np.random.default_rng(seed)
    datasets = [f"d{i}" for i in range(n_datasets)]
    cells = frame(
        {(d, a): rng.integers(0, 20, n_splits) / 20 for d in datasets for a in ("mloml_r", "a", "b", "c")}
    )
    comparisons = against_reference(cells, "mloml_r")
    counted = datasets[:n_counted]
    for mark in ("mark_paired", "mark_corrected", "mark_holm"):
        counts = counts_against_reference(comparisons, counted, mark)
        assert (counts[["win", "tie", "loss"]].sum(axis=1) == len(counted)).all()
    kept, marked = surviving(comparisons, "mark_corrected")
    assert 0 <= kept <= marked == int((comparisons["mark_paired"] != "tie").sum())
