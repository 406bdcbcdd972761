"""Sweeps held against the paper: counts by hand, the fair choice by brute force, honest sentences."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from mloml import paper
from mloml.paper.comparison import AGREES, HIGHER, LOWER
from mloml.config.compose import compose_study
from mloml.config.schema import Algorithm, DatasetConfig, ProtocolConfig, Study
from mloml.experiments.study import StudyResult
from mloml.report.artefacts.differences import RECIPE, means_grid
from mloml.report.labels import Labels
from mloml.report.parts.knobs import KNOBS, Knob, Value
from mloml.report.parts.sweep_findings import POST_HOC, headline, knob_sentence, left_out_sentences
from mloml.report.parts.sweeps import COLUMNS, counts_frame, held_out, sign_test, verdicts_frame
from mloml.report.publish import publish

SETS = ("iris", "wine", "balance", "breast")
ONE = Knob("one", "LEGO: knob", (Value("a", {"lego": "lego"}), Value("b", {"lego": "lego_b"})), "a")
NO_SELECTIONS = pd.DataFrame(columns=["dataset", "algorithm", "splits"])


def printed(dataset: str, algorithm: str = "lego") -> tuple[float, float]:
    table = paper.table2().set_index(["dataset", "algorithm"])
    return float(table.loc[(dataset, algorithm), "error"]), float(table.loc[(dataset, algorithm), "std"])


def summary(shifts: dict[str, dict[str, float]]) -> pd.DataFrame:
    """Return cells of 30 splits whose means lie so many deviations of the paper's above its means."""
    rows = []
    for algorithm, by_set in shifts.items():
        for dataset, shift in by_set.items():
            mean, std = printed(dataset)
            rows.append((dataset, algorithm, mean + shift * std, std, 30))
    return pd.DataFrame(rows, columns=["dataset", "algorithm", "mean", "std", "splits"])


def verdicts_of(table: dict[str, str]) -> pd.DataFrame:
    """Return verdicts from words such as ``{"a": "+-+"}``: agreement of each value on each dataset."""
    rows = []
    for value, marks in table.items():
        for dataset, mark in zip(SETS, marks, strict=False):
            verdict = AGREES if mark == "+" else LOWER
            numbers = (0.1, 0.01, 0.1, 0.01, 10, 0.0, 0.0 if mark == "+" else 3.0, 1.0)
            rows.append(("k", value, "tried", "lego", dataset, *numbers, verdict, True))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def knob_of(values: str, default: str) -> Knob:
    return Knob("k", "LEGO: knob", tuple(Value(v, {"lego": v}) for v in values), default)


def test_counts_are_of_welch_verdicts_over_the_cells_that_all_values_have() -> None:
    cells = summary(
        {"lego": {"iris": 0.0, "wine": 2.0, "balance": -2.0}, "lego_b": {"iris": 2.0, "wine": 0.0}}
    )
    verdicts = verdicts_frame([ONE], cells, NO_SELECTIONS)
    assert verdicts.loc[~verdicts["counted"], ["value", "dataset", "verdict"]].to_numpy().tolist() == [
        ["a", "balance", LOWER]
    ]
    counts = counts_frame([ONE], verdicts).set_index("value")
    assert counts[["cells", AGREES, LOWER, HIGHER, "gained", "lost"]].to_numpy().tolist() == [
        [2, 1, 0, 1, 0, 0],
        [2, 1, 0, 1, 1, 1],
    ]
    assert list(counts["reading"]) == ["default", "tried"]
    shifted = cells[(cells["algorithm"] == "lego") & (cells["dataset"] == "wine")].iloc[0]
    mean, std = printed("wine")
    oracle = stats.ttest_ind_from_stats(shifted["mean"], std, 30, mean, std, 30, equal_var=False)
    assert counts.loc["a", "sum_of_squares"] == pytest.approx(oracle.statistic**2, rel=0.01)  # and rounding


def test_the_way_of_choosing_is_a_knob_too() -> None:
    rules = tuple(Value(rule, {"lego": "lego"}, rule) for rule in ("per_split", "oracle"))
    mean, std = printed("iris")
    selections = pd.DataFrame(
        {"dataset": ["iris"], "algorithm": "lego", "splits": 30}
        | {"per_split_mean": mean, "per_split_std": std, "oracle_mean": mean - 2 * std, "oracle_std": std}
    )
    found = verdicts_frame([Knob("k", "k", rules, "per_split")], summary({}), selections)
    assert dict(zip(found["value"], found["verdict"], strict=True)) == {"per_split": AGREES, "oracle": LOWER}


@pytest.mark.parametrize("seed", range(5))
def test_the_fair_choice_never_sees_the_dataset_it_is_counted_on(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = {value: "".join(rng.choice(["+", "-"], size=4)) for value in "abc"}
    total = 0
    for left in range(4):
        others = {v: sum(marks[i] == "+" for i in range(4) if i != left) for v, marks in table.items()}
        chosen = sorted("abc", key=lambda v: (-others[v], v != "b", v))[0]
        total += table[chosen][left] == "+"
    assert held_out(knob_of("abc", "b"), verdicts_of(table)) == total


def test_the_best_of_values_that_are_noise_loses_its_lead_when_chosen_fairly() -> None:
    # Each of four values agrees on one set of its own: the best has one cell, a fair choice none.
    table = {value: "".join("+" if i == j else "-" for j in range(4)) for i, value in enumerate("abcd")}
    assert held_out(knob_of("abcd", "a"), verdicts_of(table)) == 0


def test_the_sign_test_is_the_binomial_one_times_the_tries() -> None:
    for gained, lost in itertools.product(range(6), repeat=2):
        n = gained + lost
        tail = sum(stats.binom.pmf(k, n, 0.5) for k in range(max(gained, lost), n + 1))
        assert sign_test(gained, lost, 3) == pytest.approx(min(1.0, 3 * min(1.0, 2 * tail)))


def test_sentences_say_post_hoc_how_many_were_tried_and_what_a_fair_choice_gives() -> None:
    knob, verdicts = knob_of("abc", "a"), verdicts_of({"a": "+---", "b": "++++", "c": "----"})
    counts = counts_frame([knob], verdicts)
    sentence = knob_sentence(knob, counts, verdicts)
    assert sentence == (
        "LEGO: knob: at the default (a) 1 of 4 cells agree with the paper; 4 at b, the best of 2 other "
        "values tried (post hoc). 3 cells come to agree and 0 cease to, not more than chance can do (sign "
        "test, p = 0.5 counting the tries). With the value picked on the other data sets, 4 agree."
    )
    short = headline([knob], counts, verdicts)
    assert short.startswith("Post hoc, held against the paper's test errors: in 1 of 1 sweeps")
    assert short.endswith("that is so in 1: LEGO: knob.")
    same = verdicts_of({"a": "+++-", "b": "-+++", "c": "----"})
    text = knob_sentence(knob, counts_frame([knob], same), same)
    assert text.endswith("agree with the paper; none of the 2 other values has more.")
    assert "in 0 of 1 sweeps" in headline([knob], counts_frame([knob], same), same)


def test_every_algorithm_of_the_experiment_is_a_value_and_its_default_is_the_main_tables() -> None:
    study = compose_study("differences")
    defaults = {a.name: a for name in ("table2", "table3") for a in compose_study(name).algorithms}
    used = {name for knob in KNOBS for value in knob.values for name in value.algorithms.values()}
    assert used == {algorithm.name for algorithm in study.algorithms}
    mine = {algorithm.name: algorithm for algorithm in study.algorithms}
    for knob in KNOBS:
        (default,) = (value for value in knob.values if value.title == knob.default)
        for name in default.algorithms.values():
            assert (mine[name].params, mine[name].grid) == (defaults[name].params, defaults[name].grid), name
        columns = {*paper.table2()["algorithm"], *paper.table3()["algorithm"]}
        assert all(set(value.algorithms) <= columns for value in knob.values)


def test_means_stand_beside_the_papers_with_an_arrow_and_the_default_is_marked() -> None:
    cells = summary({"lego": {"iris": 0.0, "wine": 2.0}, "lego_b": {"iris": 2.0}})
    labels = Labels({"iris": "iris", "wine": "wine"}, {}, 30)
    grid = means_grid(ONE, verdicts_frame([ONE], cells, NO_SELECTIONS), labels)
    assert [column.title for column in grid.columns] == ["paper", "a (default)", "b"]
    (above,), (below,) = grid.rows, grid.below
    assert [entry.text for entry in above.entries][:2] == [".037", ".037"]
    assert above.entries[2].text.endswith("↑")
    assert below.name == "wine" and below.entries[2].printed == "–"


def test_left_out_pairs_are_said_only_where_they_were_asked_for() -> None:
    study = compose_study("differences", ["datasets=[iris,mlprove_paper]"])
    sentences = left_out_sentences(study, {"iris": "iris", "mlprove_paper": "mlprove"})
    assert any(s.startswith("Not run, to keep the sweep short: LMNN (5 steps)") for s in sentences)
    assert all(" on mlprove;" in s for s in sentences)
    assert left_out_sentences(study, {"iris": "iris"}) == ()


def result_of(tmp_path, keep: float) -> StudyResult:
    """Return a study of all variants on two sets, all around the paper's means; a share of it is finished."""
    names = sorted({name for knob in KNOBS for value in knob.values for name in value.algorithms.values()})
    study = Study(
        "differences",
        [DatasetConfig(name=name, title=name) for name in ("iris", "wine")],
        [Algorithm(name, name, "Euclidean") for name in names],
        ProtocolConfig(splits=4),
    )
    rng = np.random.default_rng(0)
    records = [
        {"dataset": d, "algorithm": a, "split": s, "error": float(e), "grid": _grid(float(e))}
        for d in ("iris", "wine")
        for a in names
        for s, e in enumerate(rng.uniform(0.02, 0.3, 4))
    ]
    done = records[: int(keep * len(records))]
    frame = pd.DataFrame(records).drop(columns="grid")
    frame["status"] = ["ok" if i < len(done) else "missing" for i in range(len(frame))]
    return StudyResult(
        study, tmp_path, frame, done, pd.DataFrame(), {}, command="mloml reproduce differences"
    )


def _grid(error: float) -> list[dict[str, object]]:
    return [{"params": {"gamma": g}, "cv_error": error, "test_error": error + g} for g in (0.0, 0.01)]


def test_the_artefact_marks_everything_as_post_hoc(tmp_path) -> None:
    artefact = RECIPE.make([result_of(tmp_path, 1.0)])
    publish(artefact, tmp_path)
    text = (tmp_path / "differences.md").read_text()
    headings = [line for line in text.splitlines() if line.startswith("#")]
    assert len(headings) == 1 + len(KNOBS) and all("post hoc" in heading for heading in headings)
    assert POST_HOC in text and POST_HOC in artefact.findings
    assert artefact.headline.startswith("Post hoc")
    counts = pd.read_csv(tmp_path / "differences.csv")
    verdicts = pd.read_csv(tmp_path / "verdicts.csv")
    for row in counts.to_dict("records"):
        mine = verdicts[(verdicts["knob"] == row["knob"]) & (verdicts["value"] == row["value"])]
        assert row[AGREES] == (mine["verdict"] == AGREES).sum() and row["cells"] == len(mine)
    assert (tmp_path / "sweeps.png").stat().st_size > 10_000


def test_while_cells_come_in_only_whole_sweeps_are_counted(tmp_path) -> None:
    half = RECIPE.make([result_of(tmp_path, 0.3)])
    assert any("no cell has all" in sentence for sentence in half.findings)
    empty = RECIPE.make([replace(result_of(tmp_path, 0.0), records=[])])
    assert empty.headline == "No sweep is complete on any data set yet." and not empty.figures


def test_the_steps_of_lmnn_are_the_limits_of_their_configs():
    algorithms = {algorithm.name: algorithm for algorithm in compose_study("differences").algorithms}
    (knob,) = (knob for knob in KNOBS if knob.name == "lmnn_steps")
    for value in knob.values:
        assert value.title == str(algorithms[value.algorithms["lmnn"]].params["max_iter"])
