"""Sweeps held against the paper: counts by hand, the fair choice by brute force."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from mloml import paper
from mloml.config.compose import compose_study
from mloml.paper.comparison import AGREES, HIGHER, LOWER
from mloml.report.artefacts import differences
from mloml.report.artefacts.differences import (
    COLUMNS,
    KNOBS,
    Knob,
    counts_frame,
    held_out,
    sign_test,
    verdicts_frame,
)

SETS = ("iris", "wine", "balance", "breast")
ONE = Knob("one", "LEGO: knob", "", "a", {"a": {"lego": "lego"}, "b": {"lego": "lego_b"}})
PRINTED = paper.table2().set_index(["dataset", "algorithm"])[["error", "std"]]


def cells(shifts):
    """Return cells of 30 splits whose means lie so many deviations of the paper's above its means."""
    rows = []
    for algorithm, by_set in shifts.items():
        for dataset, shift in by_set.items():
            mean, std = PRINTED.loc[(dataset, "lego")]
            rows.append((dataset, algorithm, mean + shift * std, std, 30))
    return pd.DataFrame(rows, columns=["dataset", "algorithm", "mean", "std", "splits"])


def verdicts_of(table, default):
    """Return verdicts from words such as ``{"a": "+-+"}``: agreement of each value on each dataset."""
    rows = []
    for value, marks in table.items():
        for dataset, mark in zip(SETS, marks, strict=False):
            reading = "default" if value == default else "tried"
            numbers = (0.1, 0.01, 0.1, 0.01, 10, 0.0, 0.0 if mark == "+" else 3.0, 1.0)
            verdict = AGREES if mark == "+" else LOWER
            rows.append(("k", value, reading, "lego", dataset, *numbers, verdict, True))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def test_counts_are_of_welch_verdicts_over_the_cells_that_all_values_have():
    shifts = {"lego": {"iris": 0.0, "wine": 2.0, "balance": -2.0}, "lego_b": {"iris": 2.0, "wine": 0.0}}
    verdicts = verdicts_frame([ONE], cells(shifts), pd.DataFrame())
    uncounted = verdicts.loc[~verdicts["counted"], ["value", "dataset", "verdict"]]
    assert uncounted.to_numpy().tolist() == [["a", "balance", LOWER]]
    counts = counts_frame(verdicts).set_index("value")
    numbers = counts[["cells", AGREES, LOWER, HIGHER, "gained", "lost"]]
    assert numbers.to_numpy().tolist() == [[2, 1, 0, 1, 0, 0], [2, 1, 0, 1, 1, 1]]
    assert list(counts["reading"]) == ["default", "tried"]
    mean, std = PRINTED.loc[("wine", "lego")]
    welch = stats.ttest_ind_from_stats(mean + 2 * std, std, 30, mean, std, 30, equal_var=False)
    assert counts.loc["a", "sum_of_squares"] == pytest.approx(welch.statistic**2, rel=0.01)  # and rounding


@pytest.mark.parametrize("seed", range(5))
def test_the_fair_choice_never_sees_the_dataset_it_is_counted_on(seed):
    rng = np.random.default_rng(seed)
    table = {value: "".join(rng.choice(["+", "-"], size=4)) for value in "abc"}
    total = 0
    for left in range(4):
        others = {v: sum(marks[i] == "+" for i in range(4) if i != left) for v, marks in table.items()}
        chosen = sorted("abc", key=lambda v: (-others[v], v != "b", v))[0]
        total += table[chosen][left] == "+"
    assert held_out(verdicts_of(table, "b")) == total


def test_a_lead_of_noise_is_no_lead_when_chosen_fairly_and_the_sign_test_counts_the_tries():
    # Each of four values agrees on one set of its own: the best has one cell, a fair choice none.
    noise = {value: "".join("+" if i == j else "-" for j in range(4)) for i, value in enumerate("abcd")}
    assert held_out(verdicts_of(noise, "a")) == 0
    for gained, lost in itertools.product(range(6), repeat=2):
        n = gained + lost
        tail = sum(stats.binom.pmf(k, n, 0.5) for k in range(max(gained, lost), n + 1))
        assert sign_test(gained, lost, 3) == pytest.approx(min(1.0, 3 * min(1.0, 2 * tail)))
    verdicts = verdicts_of({"a": "+---", "b": "++++", "c": "----"}, "a")
    (row,) = differences.summary_frame(counts_frame(verdicts), verdicts).to_numpy().tolist()
    assert row == ["k", 4, "a", 1, 2, "b", 4, 3, 0, 0.5, 4]


def test_every_algorithm_of_the_experiment_is_a_value_and_its_default_is_the_main_tables():
    mine = {algorithm.name: algorithm for algorithm in compose_study("differences").algorithms}
    defaults = {a.name: a for name in ("table2", "table3") for a in compose_study(name).algorithms}
    assert {name for knob in KNOBS for value in knob.values.values() for name in value.values()} == set(mine)
    columns = {*paper.table2()["algorithm"], *paper.table3()["algorithm"]}
    for knob in KNOBS:
        assert all(set(value) <= columns for value in knob.values.values())
        for name in knob.values[knob.default].values():
            assert (mine[name].params, mine[name].grid) == (defaults[name].params, defaults[name].grid), name
    for steps, names in KNOBS[0].values.items():
        assert steps == str(mine[names["lmnn"]].params["max_iter"])
