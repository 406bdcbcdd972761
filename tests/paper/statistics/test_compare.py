"""Comparisons of a whole frame with a reference, and the counts made from them."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from mloml.paper.statistics import (
    Pair,
    against_reference,
    compare_family,
    complete_errors,
    counts_against_reference,
    signed_rank_direction,
    surviving,
)


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


def draw(
    rng: np.random.Generator, shift: float, sets: int = 9, splits: int = 6
) -> dict[str, tuple[float, ...]]:
    return {f"s{n}": tuple(0.3 + shift + 0.03 * rng.normal(size=splits)) for n in range(sets)}


def exact_p(differences: np.ndarray) -> float:
    """Wilcoxon's two-sided p-value by trying all signs."""
    ranks = stats.rankdata(np.abs(differences))
    seen = ranks[differences > 0].sum()
    middle = ranks.sum() / 2
    sums = [ranks[np.array(signs)].sum() for signs in product([False, True], repeat=len(ranks))]
    return float(np.mean([abs(total - middle) >= abs(seen - middle) - 1e-9 for total in sums]))


def test_a_family_is_wilcoxon_by_all_signs_and_holm_step_by_step() -> None:
    rng = np.random.default_rng(3)
    reference = draw(rng, 0.0)
    methods = {"better": draw(rng, -0.06), "same": draw(rng, 0.0), "worse": draw(rng, 0.03)}
    table, on_sets = compare_family(
        {Pair(name, "r"): (errors, reference) for name, errors in methods.items()}
    )
    raw = {}
    for row in table.to_dict("records"):
        errors = methods[row["algorithm"]]
        differences = np.array([np.mean(errors[name]) - np.mean(reference[name]) for name in reference])
        raw[row["algorithm"]] = exact_p(differences)
        assert row["p_wilcoxon"] == pytest.approx(raw[row["algorithm"]])
        assert row["median_difference"] == pytest.approx(sorted(differences)[4])
        assert (row["sets"], row["wins"] + row["ties"] + row["losses"]) == (9, 9)
    running = 0.0
    for left, name in zip((3, 2, 1), sorted(raw, key=raw.get), strict=True):
        running = max(running, min(1.0, left * raw[name]))
        assert table.set_index("algorithm").loc[name, "p_holm"] == pytest.approx(running)
    assert table.set_index("algorithm")["verdict"].to_dict() == {
        "better": "smaller",
        "same": "",
        "worse": "larger",
    }
    assert len(on_sets) == 27


def test_wins_and_losses_are_nadeau_and_bengios() -> None:
    rng = np.random.default_rng(1)
    errors, reference = draw(rng, -0.12, sets=20), draw(rng, 0.0, sets=20)
    for name in ("s0", "s1", "s2", "s3", "s4"):
        errors[name], reference[name] = reference[name], errors[name]
    _, on_sets = compare_family({Pair("a", "b"): (errors, reference)})
    for row in on_sets.to_dict("records"):
        gaps = np.subtract(errors[row["dataset"]], reference[row["dataset"]])
        t = gaps.mean() / np.sqrt((1 / 6 + 1) * gaps.var(ddof=1))
        p = 2 * stats.t.cdf(-abs(t), 5)
        assert row["p_corrected"] == pytest.approx(p)
        assert row["outcome"] == ("tie" if p >= 0.05 else "win" if t < 0 else "loss")
    assert set(on_sets["outcome"]) == {"win", "tie", "loss"}


def test_the_direction_is_that_of_the_ranks_not_of_the_mean() -> None:
    sets = {f"s{n}": (0.5, 0.5) for n in range(10)}
    small = {name: (0.49 - 0.0001 * n,) * 2 for n, name in enumerate(sets)}
    errors = small | {"s0": (1.0, 1.0)}  # the mean is larger, nine of ten are smaller
    table, _ = compare_family({Pair("a", "b"): (errors, sets)})
    assert np.mean([np.mean(e) for e in errors.values()]) > 0.5
    assert (table["median_difference"] < 0).all()
    assert signed_rank_direction(np.array([np.mean(errors[n]) - 0.5 for n in sets])) == -1
    assert signed_rank_direction(np.zeros(3)) == 0


def test_incomplete_and_non_finite_cells_have_no_errors() -> None:
    frame = pd.DataFrame(
        [("s", "a", 0, 0.1, "ok"), ("s", "a", 1, 0.2, "ok"), ("s", "b", 0, 0.1, "ok"),
         ("s", "b", 1, np.nan, "failed"), ("s", "c", 0, 0.1, "ok"), ("s", "c", 1, np.inf, "ok"),
         ("s", "a", 2, 0.9, "ok")],
        columns=["dataset", "algorithm", "split", "error", "status"],
    )  # fmt: skip
    assert complete_errors(frame, 2) == {"a": {"s": (0.1, 0.2)}}
