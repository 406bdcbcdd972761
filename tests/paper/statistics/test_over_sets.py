"""Comparisons over sets, against sums written out and scipy called directly."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from mloml.paper.beyond import carry_out, compare_scalings, families
from mloml.paper.statistics.over_sets import Pair, compare_family, complete_errors, signed_rank_direction


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


def test_the_families_are_those_of_the_rule() -> None:
    stacks = ["mloml_t", "mloml_s", "mloml_r"]
    fourteen = [
        "euclidean",
        "lmnn",
        "kissme",
        "lmdml",
        "mlcc",
        "rdml",
        "lego",
        "oasis",
        "opml",
        "slmoml",
        "moml",
        *stacks,
    ]
    found = families([*fourteen, "nca", "lda", *(f"{name}_untrained" for name in stacks)])
    assert {test: len(pairs) for test, pairs in found.items()} == {
        "euclidean": 18,
        "untrained": 3,
        "layers": 3,
        "rivals": 6,
    }
    assert Pair("mloml_s", "mloml_s_untrained") in found["untrained"]
    assert {pair.reference for pair in found["rivals"]} == {"opml", "lmnn"}


def test_scaling_compares_with_the_other_studys_euclidean() -> None:
    rng = np.random.default_rng(5)
    first = {"euclidean": draw(rng, 0.2), "moml": draw(rng, 0.0)}
    other = {"euclidean": draw(rng, -0.1), "moml": draw(rng, 0.0)}
    over, on_sets = compare_scalings(first, other, ["euclidean", "moml"])
    assert over[["algorithm", "verdict"]].to_numpy().tolist() == [["euclidean", "larger"], ["moml", "larger"]]
    row = on_sets[(on_sets["algorithm"] == "moml") & (on_sets["dataset"] == "s3")].iloc[0]
    assert row["reference_mean"] == pytest.approx(np.mean(other["euclidean"]["s3"]))


def test_a_study_of_one_method_has_no_tests() -> None:
    over, on_sets = carry_out({"euclidean": draw(np.random.default_rng(0), 0.0)}, ["euclidean"])
    assert over.empty and on_sets.empty
