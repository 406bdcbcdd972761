"""A claim's row shows the numbers that its rule speaks of, and what a count leaves out."""

from __future__ import annotations

import pandas as pd
import pytest

from mloml.report.artefacts.claims import ADDED, CLAIMED, claims_frame, headline
from mloml.report.claims import CLAIMS

JUDGES = {claim.name: claim.judge for claim in CLAIMS}
WORDS = {"w": "win", "t": "tie", "l": "loss"}


def both(rows: list[tuple[str, str, str, str, float]], algorithm: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return comparison and tests: a data set, the paper's mark, ours, the corrected one, a difference."""
    names = [row[0] for row in rows]
    theirs, ours, strict = ([WORDS[row[i]] for row in rows] for i in (1, 2, 3))
    comparison = pd.DataFrame({"dataset": names, "algorithm": algorithm, "paper_mark": theirs})
    marks = {"mark_paired": ours, "mark_corrected": strict, "difference": [row[4] for row in rows]}
    return comparison, pd.DataFrame({"dataset": names, "algorithm": algorithm} | marks)


ROWS = [
    ("iris", "w", "w", "w", 0.01),
    ("wine", "w", "w", "t", 0.01),
    ("pima", "t", "t", "l", -0.02),
    ("mlprove_paper", "w", "w", "w", 0.1),
    ("spect_paper", "l", "w", "w", 0.2),
]


def test_the_wins_that_the_rule_asks_for_are_those_that_both_tests_and_the_paper_have():
    answer = JUDGES["mloml_wins"](*both(ROWS, "lego"))
    assert "4/1/0 by the paper's test, 3/1/1 by the corrected one (2 of the paper's 3 wins)" in answer.ours
    assert answer.verdict == "reproduced"


def test_sets_that_the_paper_used_wrongly_are_counted_with_the_others_and_apart_from_them():
    answer = JUDGES["mloml_wins"](*both(ROWS, "lego"))
    assert answer.ours.endswith("(spect*, mlprove*): 2/1/0 and 1/1/1")
    assert "mlprove" not in JUDGES["mloml_wins"](*both(ROWS[:3], "lego")).ours


def test_at_a_chosen_rate_the_paper_s_wins_are_counted_too():
    comparison, fixed = both(ROWS, "mloml_r_bp")
    _, chosen = both([(*row[:3], "t", 0.0) for row in ROWS], "mloml_r_bp_cv")
    answer = JUDGES["fp_beats_bp"](comparison, pd.concat([fixed, chosen]))
    assert answer.ours.endswith("cross-validation 4/1/0, corrected 0/5/0 (0 of the paper's 3 wins)")


def test_a_tie_with_fbp_is_shown_with_the_size_of_the_differences():
    answer = JUDGES["fp_ties_fbp"](*both(ROWS, "mloml_s_fbp"))
    assert answer.ours.endswith("FBP's mean error less FP's lies between −.020 and +.200")


@pytest.mark.parametrize(
    ("algorithm", "rows", "ending"),
    [
        ("moml", ["iris", "wine"], "; 2 of the 2 had been looked at in settling what the paper leaves open"),
        ("moml", ["iris", "pems"], "; 1 of the 2 had been looked at in settling what the paper leaves open; "
         "of the other 1, 0 agree"),
    ],
)  # fmt: skip
def test_agreement_says_how_many_cells_had_been_looked_at(algorithm, rows, ending):
    frame = pd.DataFrame(
        {"dataset": rows, "algorithm": algorithm, "verdict": ["agrees", "differs: ours lower"]}
    )
    assert JUDGES["errors_own"](frame).ours.endswith(ending)


def test_the_share_of_gains_that_are_learned_is_among_the_numbers():
    gains = pd.DataFrame(
        {
            "counted": "True",
            "whole_mark_corrected": ["win", "win", "win", "tie"],
            "untrained_mark_corrected": ["tie", "win", "loss", "loss"],
            "learning_mark_corrected": ["win", "tie", "win", "win"],
        }
    )
    ours = JUDGES["learned"](gains).ours
    assert "in 3 of 4 cases (a set under an activation), and in 2 of these the untrained stack too" in ours
    assert "the untrained one beats Euclidean distance in 1 and loses in 2; learning lowers" in ours


def test_ties_are_left_out_where_conclusions_are_said_to_stay():
    marks = {
        "our_mark": ["win", "win", "tie", "loss"],
        "our_mark_2": ["win", "tie", "tie", "loss"],
        "our_mark_corrected": ["win", "tie", "tie", "tie"],
        "our_mark_corrected_2": ["tie", "tie", "tie", "tie"],
    }
    both_seeds = pd.DataFrame(marks | {"verdict": "agrees", "verdict_2": "agrees"})
    ours = JUDGES["seed"](both_seeds).ours
    assert "3 of 4 conclusions on MLOML-r stay by the paper's test (2 of 3 that are no tie)" in ours
    assert "and 3 by the corrected one (0 of 1 that are no tie)" in ours


def test_a_fall_of_a_ratio_that_nobody_could_see_is_no_separation():
    ratios = {"iris": [0.5, 0.4, 0.3], "wine": [0.41400, 0.41399, 0.41398], "lsvt": [1.4, 1.5, 1.5]}
    geometry = pd.DataFrame(
        [(name, layer, ratio) for name, row in ratios.items() for layer, ratio in enumerate(row, start=1)],
        columns=["dataset", "layer", "within_over_between"],
    )
    answer = JUDGES["space"](geometry)
    assert (
        "fall in 4 of 6 steps from a layer to the next (were any fall enough: reproduced in part)"
        in answer.ours
    )
    assert "by more than 1 % in 2, and" in answer.ours and answer.verdict == "not reproduced"


def test_how_many_sets_a_test_over_sets_has_is_said_exactly():
    pairs = pd.DataFrame(
        {"study": "clean", "test": "rivals", "algorithm": "mloml_r", "verdict": "larger", "sets": [22, 22]}
    )
    assert "over the means of 22 sets" in JUDGES["rivals_elsewhere"](pairs).ours
    assert "means of 20 to 22 sets" in JUDGES["rivals_elsewhere"](pairs.assign(sets=[20, 22])).ours


def test_by_medians_the_fastest_has_another_verdict_which_is_said():
    rows = [
        (d, "relu", name, time, time - 2, time + 2)
        for d in (4, 8)
        for name, time in (("fp", 5.0), ("bp", 6.0), ("fbp", 9.0))
    ]
    columns = ["features", "activation", "strategy", "microseconds", "lowest", "highest"]
    answer = JUDGES["fp_fastest"](pd.DataFrame(rows, columns=columns))
    assert "in 2 of 2 settings (d and activation; by this count: reproduced), and in 0" in answer.ours


def test_questions_that_the_paper_does_not_ask_are_counted_apart():
    frame = claims_frame({})
    added = {claim.name for claim in CLAIMS if claim.added}
    assert added == {"seed", "learned", "rivals_elsewhere", "euclidean_elsewhere"}
    assert frame["kind"].value_counts().to_dict() == {CLAIMED: len(CLAIMS) - 4, ADDED: 4}
    said = headline(
        frame.assign(verdict=["false" if kind == ADDED else "reproduced" for kind in frame["kind"]])
    )
    assert said == (
        f"Of {len(CLAIMS) - 4} claims of the paper: {len(CLAIMS) - 4} reproduced. Of 4 further questions, "
        "which the paper does not ask: 4 false."
    )


@pytest.mark.parametrize(
    ("exponent", "verdict"), [(2.2, "reproduced"), (2.22, "reproduced in part"), (2.5, "not reproduced")]
)
def test_an_exponent_is_shown_with_what_it_was_fitted_to(exponent, verdict):
    growth = pd.DataFrame({"propagation": ["fp", "bp"], "exponent in features": [exponent, 2.0]})
    answer = JUDGES["cost"](growth)
    assert answer.verdict == verdict
    assert f"FP {exponent:.2f}, BP 2.00 (fitted to medians from 100 to 400 features" in answer.ours
