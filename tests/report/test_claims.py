"""Verdicts follow from the numbers by the rules that stand beside the claims."""

from __future__ import annotations

import pandas as pd
import pytest

from mloml.report.claims import CLAIMS, Answer

JUDGES = {claim.name: claim.judge for claim in CLAIMS}


def cells(
    marks: str, corrected: str, theirs: str, algorithm: str = "moml"
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return a comparison with the paper and the tests behind it, a letter (w, t, l) per data set."""
    words = {"w": "win", "t": "tie", "l": "loss"}
    names = [f"set{i}" for i in range(len(marks))]
    paired, strict, printed = ([words[letter] for letter in text] for text in (marks, corrected, theirs))
    comparison = pd.DataFrame(
        {"dataset": names, "algorithm": algorithm, "paper_mark": printed, "our_mark": paired}
    )
    tests = pd.DataFrame(
        {"dataset": names, "algorithm": algorithm, "mark_paired": paired, "mark_corrected": strict,
         "difference": 0.0}
    )  # fmt: skip
    return comparison, tests


@pytest.mark.parametrize(
    ("ours", "corrected", "theirs", "verdict"),
    [
        ("wwwtl", "wwttt", "wwwtl", "reproduced"),  # two of three published wins stay
        ("wwwtl", "wtttt", "wwwtl", "reproduced in part"),  # one of three
        ("wltll", "ttttt", "wwwww", "not reproduced"),  # more losses than wins
        ("wwttt", "ttttt", "ttttt", "reproduced in part"),  # wins that the paper does not have
    ],
)
def test_wins_count_as_reproduced_only_by_the_corrected_test(ours, corrected, theirs, verdict):
    answer = JUDGES["mloml_wins"](*cells(ours, corrected, theirs))
    assert answer.verdict == verdict
    assert f"on these {len(ours)} comparisons" in answer.paper


def test_comparisons_that_the_paper_does_not_have_are_not_counted():
    comparison, tests = cells("wwt", "www", "wwt")
    more = pd.concat([tests, tests.assign(dataset="mine", mark_paired="loss").iloc[:1]])
    assert JUDGES["mloml_wins"](comparison, more) == JUDGES["mloml_wins"](comparison, tests)


@pytest.mark.parametrize(
    ("chosen", "verdict"),
    [("www", "reproduced"), ("wtt", "reproduced in part"), ("lll", "reproduced in part")],
)
def test_fp_beats_bp_only_if_it_does_at_a_chosen_rate_as_well(chosen, verdict):
    comparison, fixed = cells("www", "www", "www", "mloml_r_bp")
    _, other = cells(chosen, chosen, "www", "mloml_r_bp_cv")
    assert JUDGES["fp_beats_bp"](comparison, pd.concat([fixed, other])).verdict == verdict


@pytest.mark.parametrize(
    ("agree", "verdict"), [(9, "reproduced"), (8, "reproduced in part"), (5, "not reproduced")]
)
def test_error_rates_are_judged_by_the_share_of_cells_that_agree(agree, verdict):
    frame = pd.DataFrame(
        {
            "dataset": [f"set{i}" for i in range(10)],
            "algorithm": "moml",
            "verdict": ["agrees"] * agree + ["differs: ours lower"] * (10 - agree),
        }
    )
    others = frame.assign(algorithm="lmnn", verdict="differs: ours higher")
    answer = JUDGES["errors_own"](pd.concat([frame, others]))
    assert answer.verdict == verdict
    assert answer.ours.startswith(f"{agree} of 10 cells agree on 10 sets")


def test_of_nothing_nothing_follows():
    comparison, tests = cells("www", "www", "www", "of_my_own")
    comparison = comparison.assign(verdict="agrees")
    for name in ("errors_own", "errors_others", "errors_propagation"):
        assert JUDGES[name](comparison).verdict == "not tested"
    for name in ("fp_beats_bp", "fp_ties_fbp"):
        assert JUDGES[name](comparison, tests).verdict == "not tested"
    assert JUDGES["mloml_wins"](comparison.assign(paper_mark=""), tests).verdict == "not tested"
    marks = {f"{step}_mark_corrected": ["win"] for step in ("whole", "untrained", "learning")}
    assert JUDGES["learned"](pd.DataFrame({"counted": ["False"]} | marks)).verdict == "not tested"
    row = {"study": ["clean"], "test": ["other"], "algorithm": ["mine"], "verdict": ["smaller"], "sets": [9]}
    for name in ("rivals_elsewhere", "euclidean_elsewhere"):
        assert JUDGES[name](pd.DataFrame(row)).verdict == "not tested"


def curves(differences, p_corrected, algorithm="mloml_r_5") -> pd.DataFrame:
    """Return the end of a curve against its beginning; every change is significant by the plain test."""
    return pd.DataFrame(
        {
            "algorithm": algorithm,
            "point": 5,
            "reference": algorithm,
            "reference_point": 1,
            "dataset": [f"set{i}" for i in range(len(differences))],
            "difference": differences,
            "p_paired": 0.001,
            "p_corrected": p_corrected,
        }
    )


@pytest.mark.parametrize(
    ("differences", "p_corrected", "verdict"),
    [
        ([-0.1, -0.1, 0.1], [0.01, 0.01, 0.5], "reproduced"),
        ([-0.1, -0.1, 0.1], [0.01, 0.01, 0.01], "reproduced in part"),  # a sure rise
        ([-0.1, -0.1, -0.1], [0.01, 0.5, 0.5], "reproduced in part"),  # sure on one of three
        ([-0.1, 0.1, 0.1], [0.5, 0.5, 0.5], "not reproduced"),
    ],
)
def test_layers_help_if_the_corrected_test_says_so_on_most_sets(differences, p_corrected, verdict):
    assert JUDGES["layers"](curves(differences, p_corrected)).verdict == verdict


def test_a_first_layer_held_against_something_else_is_not_taken_for_the_last():
    frame = curves([-0.1], [0.01])
    other = frame.assign(reference="moml", reference_point=0, point=1, difference=0.2)
    assert JUDGES["layers"](pd.concat([frame, other])) == JUDGES["layers"](frame)


def test_a_theorem_is_false_by_one_counterexample():
    line = pd.DataFrame(
        {"T": [100.0, 1e5], "regret": [10.0, 250.0], "claimed_bound": 33.0, "corrected_bound": [90.0, 2700.0]}
    )
    data = line.assign(regret=-1.0)
    answer = JUDGES["theorem2"](line, data)
    assert answer.verdict == "false" and "holds in all" in answer.ours
    assert "in 0 of 2 cases on data" in answer.ours and "in 1 of 2 in one dimension" in answer.ours
    assert JUDGES["theorem2"](data, data).verdict == "reproduced"


@pytest.mark.parametrize(
    ("left", "broken", "verdict"),
    [(1, 0.5, "false"), (0, 0.5, "reproduced in part"), (0, 0.0, "reproduced")],
)
def test_theorem_one_holds_in_part_if_its_condition_breaks(left, broken, verdict):
    steps = pd.DataFrame(
        {
            "dataset": "iris",
            "layer": [1, 2],
            "gamma": 0.1,
            "left_although_condition_held": [left, 7],  # upper layers are not what it is about
            "sandwich_excess": 0.0,
            "share_condition_broken": [broken, 1.0],
            "share_leaving_cone": [0.1, 1.0],
            "steps": 500,
            "steps_looked_at": [10, 500],
        }
    )
    answer = JUDGES["theorem1"](steps)
    assert answer.verdict == verdict
    sampled = "on 1 of them the condition was looked at in a sample of the steps)"
    assert answer.verdict == "false" or answer.ours.endswith(sampled)
    assert "sample" not in JUDGES["theorem1"](steps.assign(steps_looked_at=500)).ours


@pytest.mark.parametrize(
    ("worse", "p", "verdict"), [(0.0, 0.5, "reproduced"), (0.3, 0.5, "not reproduced"), (0.3, 0.01, "false")]
)
def test_proposition_one_is_false_only_by_a_sure_rise(worse, p, verdict):
    layers = pd.DataFrame(
        {"dataset": "iris", "splits": 30, "share_worse": [worse], "difference": [0.01], "p_corrected": [p]}
    )
    assert JUDGES["proposition1"](layers).verdict == verdict


def test_moml_is_faster_in_part_if_a_factor_makes_it_slower():
    times = pd.DataFrame(
        {"dataset": "spect", "method": ["opml", "moml", "moml_frame"], "median": [1.0, 0.8, 2.0]}
    )
    assert JUDGES["moml_faster"](times).verdict == "reproduced in part"
    assert JUDGES["moml_faster"](times.assign(median=[1.0, 0.8, 0.9])).verdict == "reproduced"
    assert JUDGES["moml_faster"](times.assign(median=[1.0, 1.8, 2.9])).verdict == "not reproduced"


def test_a_gain_is_learned_if_the_trained_stack_beats_the_untrained_one():
    gains = pd.DataFrame(
        {
            "counted": ["True", "True", "False"],
            "whole_mark_corrected": "win",
            "untrained_mark_corrected": "tie",
            "learning_mark_corrected": ["win", "tie", "win"],
        }
    )
    answer = JUDGES["learned"](gains)
    assert answer.verdict == "not reproduced" and "in 2 of 2 cases" in answer.ours
    assert JUDGES["learned"](gains.iloc[:1]).verdict == "reproduced"


def test_other_data_are_judged_by_the_pairs_that_a_test_over_sets_confirms():
    rows = [
        (study, test, stack, "smaller" if study == "clean" else "", 22)
        for study in ("clean", "standardised")
        for test in ("layers", "rivals", "euclidean", "untrained")
        for stack in ("mloml_r", "mloml_s", "mloml_t")
    ]
    frame = pd.DataFrame(rows, columns=["study", "test", "algorithm", "verdict", "sets"])
    nca = frame.iloc[:1].assign(test="euclidean", algorithm="nca")  # no claim of the paper
    for name, pairs in (("rivals_elsewhere", 6), ("euclidean_elsewhere", 3)):
        answer = JUDGES[name](pd.concat([frame, nca]))
        assert answer.verdict == "not reproduced"  # half of the pairs are not more than half
        assert f"on unit rows: smaller in {pairs} and larger in 0 of {pairs} pairs" in answer.ours
        assert JUDGES[name](frame[frame["study"] == "clean"]).verdict == "reproduced"


def test_convergence_counts_leads_that_are_never_made_up():
    def splits(rate, leads):
        return pd.DataFrame(
            {
                "counted": "True",
                "rate": rate,
                "fbp_first": 0.1,
                "bp_first": [0.2 if lead else 0.05 for lead in leads],
                "scans": 20,
                "level": [scan or None for scan in leads.values()] if isinstance(leads, dict) else 1.0,
                "back": [None, 8.0, 9.0],
            }
        )

    fixed = splits("bp", {1: 2.0, 2: None, 3: None})  # three leads, two of them never made up
    behind, ahead = splits("bp_cv", [False] * 3), splits("bp_cv", {1: 4.0, 2: 5.0, 3: 6.0})
    answer = JUDGES["convergence"](pd.concat([fixed, behind]))
    assert answer.verdict == "reproduced in part"
    assert (
        "lower than BP's in 3 and higher in 0 of 3 cases (BP gets there later than the last scan"
        in answer.ours
    )
    assert "never in 2)" in answer.ours
    assert (
        "lower than BP's in 0 and higher in 3 of 3 cases (where BP leads, FBP gets there in scan 9 at the "
        "median, never in 1)" in answer.ours
    )
    answer = JUDGES["convergence"](pd.concat([fixed, ahead]))
    assert answer.verdict == "reproduced" and "in scan 5 at the median, never in 0" in answer.ours
    worse = pd.concat([splits("bp", [False] * 3), ahead])
    assert JUDGES["convergence"](worse).verdict == "not reproduced"


@pytest.mark.parametrize(
    ("same", "verdict"), [(9, "reproduced"), (6, "reproduced in part"), (4, "not reproduced")]
)
def test_the_seed_is_judged_by_conclusions_that_stay(same, verdict):
    again = ["win"] * same + ["tie"] * (10 - same)
    both = pd.DataFrame({"our_mark": "win", "our_mark_2": again, "verdict": "agrees", "verdict_2": "agrees"})
    both = both.assign(our_mark_corrected="tie", our_mark_corrected_2="tie")
    own = both.iloc[:1].assign(our_mark="", our_mark_2="")  # MLOML-r itself has no mark
    answer = JUDGES["seed"](pd.concat([both, own]))
    assert (
        answer.verdict == verdict and f"{same} of 10 conclusions" in answer.ours and "11 of 11" in answer.ours
    )


def test_an_answer_knows_only_the_five_words():
    with pytest.raises(ValueError, match="splendid"):
        Answer("", "splendid")


@pytest.mark.parametrize(
    ("spread", "verdict"), [(0.1, "reproduced"), (2.0, "not reproduced")]
)  # the same medians, told apart by every run or by none
def test_fp_is_the_fastest_only_beyond_the_spread_of_the_runs(spread, verdict):
    rows = [
        (d, "relu", name, time, time - spread, time + spread)
        for d in (4, 8)
        for name, time in (("fp", 5.0), ("bp", 6.0), ("fbp", 9.0))
    ]
    columns = ["features", "activation", "strategy", "microseconds", "lowest", "highest"]
    answer = JUDGES["fp_fastest"](pd.DataFrame(rows, columns=columns))
    assert answer.verdict == verdict
    assert "the lowest in 2 of 2 settings" in answer.ours
