"""Studies beyond the paper: the rule's verdicts on made-up errors, and the studies that the rule names."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from mloml.config.compose import compose_study
from mloml.config.schema import Algorithm, DatasetConfig, ProtocolConfig, Study
from mloml.experiments.study import StudyResult
from mloml.report.artefacts.beyond import build

STACKS = ("mloml_r", "mloml_s", "mloml_t")
FEW = ("euclidean", "opml", "moml", "lda")
UNIT, STANDARDISED = "unit rows", "standardised features"
WON, LOST = -0.05, 0.05
LEARNING = ("euclidean", "mloml_r", "mloml_r_untrained")


def study_of(protocol="clean", effects=None, gaps=(), sets=8, splits=4, algorithms=FEW, base=0.3):
    """Return a study that never ran.

    ``effects`` says by how much a method's error differs from Euclidean's on every set; methods without one
    differ by as much on even sets as they do the other way on odd ones, so that nothing is shown of them.
    """
    rows = []
    for number in range(sets):
        for place, name in enumerate(algorithms):
            sway = 0.0 if name == "euclidean" else 0.01 * (-1) ** number * (1 + number // 2 + place / 50)
            noise = 0.002 * np.random.default_rng([number, place]).normal(size=splits)
            failed = (f"set{number:02d}", name) in gaps
            for split, error in enumerate(base + (effects or {}).get(name, sway) + noise):
                seconds = 1e3 if failed else 0.1 * (place + 1) * (1 + 0.1 * split)
                cell = (f"set{number:02d}", name, split, np.nan if failed else error, seconds)
                rows.append((*cell, "failed" if failed else "ok"))
    frame = pd.DataFrame(rows, columns=["dataset", "algorithm", "split", "error", "seconds", "status"])
    failures = frame[frame["status"] == "failed"].assign(error="ValueError", message="it is\nsingular")
    note = "A sample of 200 of 400 rows: see docs/beyond.md."
    datasets = [
        DatasetConfig(name=name, title=name.capitalize(), rows=200, note=note if name == "set00" else None)
        for name in dict.fromkeys(frame["dataset"])
    ]
    learners = [Algorithm(name, name.upper(), "Euclidean") for name in algorithms]
    study = Study("beyond", datasets, learners, ProtocolConfig(name=protocol, splits=splits))
    return StudyResult(study, None, frame, [], failures, {})


def made(first=None, second=None, **both):
    """Return the values of the artefact, and its tables by name."""
    artefact = build(study_of("clean", first, **both), study_of("standardised", second, **both))
    tables = {table.name: table.numbers for table in artefact.tables}
    return SimpleNamespace(tables=tables, cost=artefact.figures[0].numbers, **artefact.values)


def verdict(frame, algorithm, study=UNIT, reference=None):
    rows = frame[(frame["algorithm"] == algorithm) & (frame["study"] == study)]
    rows = rows[rows["reference"] == reference] if reference else rows
    assert len(rows) == 1
    return rows["verdict"].iloc[0]


def test_a_method_helps_harms_or_nothing_is_shown_and_what_differs_between_the_studies_is_named():
    found = made({"moml": WON, "lda": LOST}, {"moml": LOST, "lda": LOST})
    assert verdict(found.methods, "moml") == "helps beyond the paper"
    assert verdict(found.methods, "moml", STANDARDISED) == verdict(found.methods, "lda") == "harms"
    assert verdict(found.methods, "opml") == "no difference from Euclidean is shown on these sets"
    assert found.differing == ["MOML"]
    summary = found.summary.set_index("study")
    assert summary["help"].tolist() == ["MOML", ""] and summary["harm"].tolist() == ["LDA", "MOML, LDA"]


@pytest.mark.parametrize(
    ("trained", "untrained", "said"),
    [
        (WON, 0.0, "learning the layers helps"),
        (2 * WON, WON, "learning the layers helps"),
        (WON, WON, "the non-linearity alone does it"),
        (0.0, WON, "the non-linearity alone does it, and the trained stack errs more than the untrained one"),
        (LOST, LOST, "nothing is shown"),
        (LOST, 0.0, "nothing is shown, and the trained stack errs more than the untrained one"),
    ],
)
def test_learning_the_layers_or_the_non_linearity_alone(trained, untrained, said):
    found = made({"mloml_r": trained, "mloml_r_untrained": untrained}, algorithms=LEARNING)
    assert "mloml_r_untrained" not in set(found.tables["ranks_clean"]["algorithm"])
    assert verdict(found.learning, "mloml_r") == said
    row = found.learning[found.learning["algorithm"] == "mloml_r"].iloc[0]
    assert row["median_difference"] == pytest.approx(trained - untrained, abs=0.003)


def test_layers_and_rivals_are_judged_by_the_tests_that_say_so():
    effects = {"mloml_r": WON, "opml": 0.0, "lmnn": 2 * WON, "moml": 0.0, "mloml_s": LOST}
    found = made(effects, algorithms=("lmnn", "opml", "moml", *STACKS))
    assert [verdict(found.layers, stack) for stack in STACKS] == [
        "layers help", "layers harm", "no difference between three layers and one is shown"
    ]  # fmt: skip
    rivals = [verdict(found.claims, "mloml_r", reference=name) for name in ("moml", "opml", "lmnn")]
    worse = "not confirmed on these sets; the rival has the smaller errors"
    assert rivals == ["confirmed", "confirmed", worse]
    assert verdict(found.claims, "mloml_t", reference="moml") == "not confirmed on these sets"
    assert found.confirmed == {UNIT: {"sum": 2, "count": 9}, STANDARDISED: {"sum": 0, "count": 9}}


def test_euclidean_under_the_other_scaling():
    other = study_of("standardised", {"moml": LOST}, base=0.28)
    frame = build(study_of(effects={"moml": WON, "lda": 0.0}), other).values["scaled"]
    said = {name: [verdict(frame, name, s) for s in (UNIT, STANDARDISED)] for name in ("moml", "euclidean")}
    assert said == {name: ["beats it", "Euclidean beats it"][:: 1 if name == "moml" else -1] for name in said}
    assert verdict(frame, "lda") == "Euclidean beats it"
    assert set(made().scaled["verdict"]) == {"no difference is shown"}


def test_a_failure_is_a_dash_with_its_reason_and_fewer_sets_are_counted():
    gaps = {("set03", "lda"), ("set05", "lda")}
    found = made({"lda": WON}, gaps=gaps, algorithms=("euclidean", "lda"))
    row = found.methods[found.methods["algorithm"] == "lda"].iloc[0]
    assert (row["verdict"], row["sets"]) == ("helps beyond the paper", 6)
    grid = found.tables["errors_clean"].frame().set_index("dataset")
    reason = "failed in 4 of 4 splits (ValueError: it is singular)"
    assert (grid.loc["set03", "LDA"], grid.loc["set03", "note"]) == ("–", f"lda: {reason}")
    assert found.gaps[["reason", "no result on"]].to_numpy().tolist() == [[reason, "Set03, Set05"]] * 2
    ranks = found.tables["ranks_clean"]
    assert set(ranks["sets"]) == {6} and len(ranks) == 2
    assert found.rankings[UNIT]["left_out"] == ["set03", "set05"]


def test_the_cost_is_seconds_by_the_rows_trained_on_and_the_cheapest_that_helps_is_named():
    found = made({"opml": WON, "moml": 2 * WON}, gaps={(f"set0{n}", "lda") for n in range(3, 8)})
    cost = found.cost.set_index(["study", "algorithm"]).loc["clean"]
    # 0.1 s times the method's place, 1.15 times that in the middle of the splits, 100 of 200 rows trained on.
    assert cost["seconds_per_row"].tolist() == pytest.approx([n * 0.115 / 100 for n in (1, 2, 3, 4)])
    assert (cost.loc["euclidean", "relative_error"], cost.loc["lda", "sets"]) == (1, 3)
    assert cost.loc["opml", "relative_error"] == pytest.approx(0.25 / 0.3, abs=0.01)
    assert found.summary.filter(like="of those that help").iloc[0].tolist() == ["MOML", "OPML"]


@pytest.mark.parametrize(
    ("protocol", "rows", "scale"), [("clean", "unit", None), ("standardised", "standardised", "auto")]
)
def test_the_studies_are_those_of_the_rule(protocol, rows, scale):
    study = compose_study("beyond", [f"protocol={protocol}"])
    assert (len(study.datasets), len(study.algorithms), study.protocol.splits) == (22, 19, 10)
    assert study.protocol.rows == rows and study.protocol.pca.fit == "train"
    parameters = {algorithm.name: algorithm.params for algorithm in study.algorithms}
    assert {parameters[name]["scale"] for name in ("moml", "opml", "mloml_r", "mloml_r_untrained")} == {scale}
    assert all(parameters[f"{stack}_untrained"]["gamma"] == 0 for stack in STACKS)
