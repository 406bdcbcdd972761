"""One knob at a time, and the untuned arm: verdicts and counts of made-up cells, by hand."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from mloml import paper
from mloml.config.compose import compose_study
from mloml.report.artefacts import ablation, untuned

SPLITS = 12


def with_copy(frame, algorithm, name, move):
    """Add an algorithm whose errors are another's, moved on each data set by a function of the split."""
    mine = frame[frame["algorithm"] == algorithm]
    moved = [e + move[d](s) for d, s, e in zip(mine["dataset"], mine["split"], mine["error"], strict=True)]
    return pd.concat([frame, mine.assign(algorithm=name, error=moved)])


def test_each_value_is_tested_against_its_default_on_every_data_set(make_result):
    result = make_result(("iris", "balance"), ("euclidean", "moml", "mloml_r"), splits=SPLITS)
    higher = {"iris": lambda split: 0.0, "balance": lambda split: 0.05 + 0.01 * np.sin(split)}
    first = replace(result, frame=with_copy(result.frame, "moml", "moml_latest", higher))
    lower = result.frame.assign(error=result.frame["error"] - 0.001 * (result.frame["dataset"] == "iris"))
    nearest = replace(result.study, protocol=replace(result.study.protocol, ties="nearest"))
    artefact = ablation.build(first, replace(result, study=nearest, frame=lower))
    cases = artefact.tables[0].frame.set_index(["knob", "value", "algorithm", "dataset"])
    moves = np.array([higher["balance"](split) for split in range(SPLITS)])
    t = moves.mean() / np.sqrt((1 / SPLITS + 1) * moves.var(ddof=1))
    case = cases.loc[("triplets", "latest", "moml", "balance")]
    assert [case["difference"], case["verdict"]] == [pytest.approx(moves.mean()), "higher"]
    assert case["p_corrected"] == pytest.approx(2 * stats.t.sf(t, SPLITS - 1), rel=1e-6)
    assert cases.loc[("triplets", "latest", "moml", "iris"), "verdict"] == "unchanged"
    assert cases.loc[("ties", "nearest", "euclidean", "iris"), "verdict"] == "lower"
    assert cases.loc[("ties", "nearest", "mloml_r", "balance"), "verdict"] == "unchanged"
    assert ("triplets", "latest", "mloml_r", "iris") not in cases.index  # it was not run
    summary = artefact.tables[1].frame.set_index(["value", "algorithm"])
    words = ["sets", "unchanged", "higher", "lower", "largest", "on"]
    shown = summary.loc[("latest", "moml"), words].tolist()
    assert shown == [2, 1, 1, 0, f"+{moves.mean():.3f}".replace("0.", "."), "balance"]
    assert (artefact.values["cases"], artefact.values["moved"]) == (6, 3)
    means = {knob.name: table.set_index(["algorithm", "dataset"]) for knob, table in artefact.values["knobs"]}
    assert means["triplets"].loc[("moml", "balance"), "latest"].endswith("↑")


def test_every_value_of_a_knob_is_run_and_only_what_it_names_differs():
    mine = {algorithm.name: algorithm for algorithm in compose_study("ablation").algorithms}
    named = {name for knob in ablation.KNOBS for value in knob.values.values() for name in value.values()}
    assert named - {f"{name}_{ties}" for name in mine for ties in ("alphabetical", "nearest")} == set(mine)
    differ = {"factor": {"factor"}, "cone": {"cone"}, "triplets": {"triplets"}, "order": {"shuffle"}}
    for knob in ablation.KNOBS:
        allowed = differ.get(knob.name.partition("_")[0], set())
        for method in {method for value in knob.values.values() for method in value}:
            known = [mine[value[method]] for value in knob.values.values() if value[method] in mine]
            for one in known:
                for other in known:
                    if one.learner == other.learner:
                        changed = {key for key in one.params if one.params[key] != other.params[key]}
                        assert changed <= allowed, (one.name, other.name)
                    assert one.params["gamma"] == other.params["gamma"] if "gamma" in one.params else True


def test_true_labels_stand_in_the_papers_rows_and_both_arms_are_counted_over_the_same_entries(make_result):
    own = ("lego", "moml")
    first = make_result(("iris", "spect", "balance"), own, splits=30, protocol="untuned")
    moved = first.frame["error"] + 0.3 * (first.frame["dataset"] == "spect") * (
        first.frame["algorithm"] == "moml"
    )
    first = replace(first, frame=first.frame.assign(error=moved))
    second = make_result(
        ("iris", "spect_paper", "balance"), own, splits=30, keep=lambda d, a, s: (d, a) != ("balance", "lego")
    )
    artefact = untuned.build(first, second)
    counts = artefact.values["counts"].set_index(["data sets", "methods", "arm"])
    assert counts["entries"].tolist() == [5, 5, 3, 3, 3, 3, 2, 2]
    assert (
        counts.loc[("all", "all", "untuned"), "agrees"] == counts.loc[("all", "all", "tuned"), "agrees"] - 1
    )
    printed = paper.table2().set_index(["dataset", "algorithm"])
    squares = []
    for dataset in ("iris", "spect", "balance"):
        errors = first.frame.query("algorithm == 'moml' and dataset == @dataset")["error"]
        mean, std = printed.loc[(dataset, "moml"), ["error", "std"]]
        squares.append(((errors.mean() - mean) ** 2) / (errors.var() / 30 + std**2 / 30))
    found = counts.loc[("all", "the paper's own", "untuned"), "mean z²"]
    assert found == pytest.approx(np.mean(squares), rel=0.02)  # the rounding of printed means is added
    means = artefact.values["means"].set_index("algorithm")
    by_hand = [printed.loc[(dataset, "moml"), "error"] for dataset in ("iris", "balance")]
    assert means.loc["moml", ["sets", "paper"]].tolist() == [2, pytest.approx(np.mean(by_hand))]


def test_the_tuned_arm_is_table_two():
    tuned = compose_study("untuned", [*untuned.RECIPE.variants["tuned"]])
    table2 = compose_study("table2")
    assert (tuned.protocol, {a.name: a for a in tuned.algorithms}) == (
        table2.protocol, {a.name: a for a in table2.algorithms},
    )  # fmt: skip
    assert {config.name for config in tuned.datasets} == {config.name for config in table2.datasets}
    assert tuned.leaves_out("spect", "mloml_r") and not tuned.leaves_out("spect_paper", "mloml_r")
