"""Verdicts and numbers of the claims, from tables made by hand; what the claim table reads and links."""

import json

import numpy as np
import pandas as pd
import pytest

from mloml import paper
from mloml.command_line import Command
from mloml.config import repository
from mloml.report.artefacts.claims import ADDED, CLAIMED, claims_frame, headline_counts, read
from mloml.report.claims import CLAIMS, COLUMNS, VERDICTS, Counts
from mloml.report.recipe import recipes
from mloml.report.reproduce import reproduce

BY_NAME = {claim.name: claim for claim in CLAIMS}
WORDS = {"w": "win", "t": "tie", "l": "loss"}
SETS = ["iris", "wine", "pima", "mlprove_paper", "spect_paper"]


def judged(name, *frames, part=0):
    """Return answers and numbers of a part, after checking that the claim's words print them."""
    asked = BY_NAME[name].parts[part]
    text, answers = asked.answer(dict(zip(asked.tables, frames, strict=True)), ())
    assert set(answers) == set(asked.decides) and set(answers.values()) <= set(VERDICTS) and "{" not in text
    for column, wanted in asked.rows.items():
        frames = (frames[0][frames[0][column].isin(wanted)], *frames[1:])
    return answers, asked.judge(*frames)[1]


def said(name, *frames, part=0):
    """Return the answers alone, in the order of the columns."""
    answers = judged(name, *frames, part=part)[0]
    return [answers[column] for column in COLUMNS if column in answers]


def marks(theirs, ours, corrected, algorithm="lego"):
    """Return a comparison with the paper and the tests behind it, a letter (w, t, l) per data set."""
    words = [[WORDS[letter] for letter in text] for text in (theirs, ours, corrected)]
    places = {"dataset": SETS[: len(theirs)], "algorithm": algorithm}
    tests = {"mark_paired": words[1], "mark_corrected": words[2], "difference": [0.01, -0.02, 0.2, 0.0, 0.1]}
    tests["difference"] = tests["difference"][: len(theirs)]
    verdicts = ["agrees", *["differs: ours higher"] * (len(theirs) - 1)]
    comparison = pd.DataFrame(places | {"paper_mark": words[0], "verdict": verdicts})
    return comparison, pd.DataFrame(places | tests)


@pytest.mark.parametrize(
    ("theirs", "ours", "corrected", "reproduced", "valid"),
    [
        ("wwwtl", "wwwtl", "wwwtt", "yes", "yes"),  # the same conclusions, and all published wins stay
        ("wwwtl", "wwwtt", "wwttt", "in part", "in part"),  # four of five, two of three
        ("wwwtl", "wwlll", "wtttt", "in part", "no"),  # three of five, one of three
        ("wwwww", "wltll", "ttttt", "no", "no"),
        ("ttttt", "ttttt", "wwwww", "yes", "not tested"),  # the paper has no win that could stay
    ],
)
def test_wins_are_reproduced_by_the_papers_test_and_valid_by_the_corrected_one(
    theirs, ours, corrected, reproduced, valid
):
    assert said("mloml_wins", *marks(theirs, ours, corrected)) == [reproduced, valid]


def test_wins_are_counted_on_all_sets_without_those_that_the_paper_mixed_up_and_on_small_ones():
    comparison, tests = marks("wwtwl", "wwtww", "wtlww")
    more = pd.concat([tests, tests.assign(dataset="mine").iloc[:1]])  # not in the paper
    answers, numbers = judged("mloml_wins", comparison, more)
    assert answers == {"reproduced": "in part", "valid": "in part"}
    assert (numbers["cells"], numbers["won"], numbers["kept"], numbers["same"]) == (5, 3, 2, 4)
    assert numbers["again"] == 3
    assert [str(numbers[name]) for name in ("printed", "plain", "corrected")] == ["3/1/1", "4/1/0", "3/1/1"]
    assert [str(numbers["sound"][name]) for name in ("plain", "corrected")] == ["2/1/0", "1/1/1"]
    answers, numbers = judged("small", comparison, more)  # iris, wine and spect: ww, wt and lw
    assert answers == {"reproduced": "in part", "valid": "no"} and numbers["cells"] == 3
    batch = pd.concat([comparison, comparison.assign(algorithm="lmnn")])  # not an online method
    assert judged("small", batch, pd.concat([more, more.assign(algorithm="lmnn")]))[1]["cells"] == 3


def test_what_two_parts_answer_is_answered_by_the_worse():
    comparison, tests = marks("www", "www", "www")
    gains = {"dataset": ["iris"], "counted": [True], "untrained_mark_corrected": ["tie"]}
    gains |= {"whole_mark_corrected": ["win"], "learning_mark_corrected": ["win"]}
    published = {"table2/paper_comparison": comparison, "table2/tests": tests}

    def answered(trials=(), **changed):
        more = {"untrained/gains": pd.DataFrame(gains | changed)}
        return [*BY_NAME["small"].answer(published | more, trials)[1].values()]

    assert answered() == ["yes", "yes", "not tested"]
    assert answered(learning_mark_corrected=["tie"]) == ["yes", "no", "not tested"]
    assert answered(dataset=["pima"]) == ["yes", "not tested", "not tested"]  # no small set
    assert answered(["untrained"]) == ["yes", "trial only", "not tested"]
    assert answered(["table2"]) == ["trial only", "trial only", "not tested"]
    text, answers = BY_NAME["small"].answer(published)
    assert answers["reproduced"] == "yes" and answers["valid"] == "not tested"
    assert "make reproduce-untrained" in text and "reproduce-table2" not in text


@pytest.mark.parametrize(
    ("chosen", "valid", "kept"), [("www", "yes", 3), ("wwt", "in part", 2), ("lll", "no", 0)]
)
def test_fp_beats_bp_for_good_only_if_it_does_at_a_chosen_rate_as_well(chosen, valid, kept):
    comparison, fixed = marks("www", "www", "www", "mloml_r_bp")
    assert said("fp_beats_bp", comparison, fixed) == ["yes", "not tested"]  # without a chosen rate
    other = marks("www", chosen, chosen, "mloml_r_bp_cv")[1]
    answers, numbers = judged("fp_beats_bp", comparison, pd.concat([fixed, other]))
    assert answers == {"reproduced": "yes", "valid": valid}
    assert (numbers["chosen"]["kept"], numbers["kept"], numbers["differ"]) == (kept, 3, 2)


def test_no_difference_between_fp_and_fbp_is_never_a_plain_yes():
    assert said("fp_ties_fbp", *marks("tttt", "tttt", "tttw", "mloml_s_fbp")) == ["yes", "in part"]
    answers, numbers = judged("fp_ties_fbp", *marks("ttl", "ltt", "ltt", "mloml_s_fbp"))
    assert answers == {"reproduced": "no", "valid": "no"} and numbers["same"] == 1
    assert numbers["wrong"] == "spect (FBP of s), waveform (FBP of t), mlprove (FBP of t)"
    assert numbers["marks"] == 3


@pytest.mark.parametrize(("agree", "answer"), [(9, "yes"), (8, "in part"), (5, "no")])
def test_error_rates_are_judged_by_the_share_of_cells_that_agree(agree, answer):
    cells = {"dataset": [f"set{i}" for i in range(10)], "algorithm": "moml"}
    frame = pd.DataFrame(cells | {"verdict": ["agrees"] * agree + ["differs: ours lower"] * (10 - agree)})
    others = frame.assign(algorithm="mlcc", verdict="differs: ours higher")
    found, numbers = judged("errors_own", pd.concat([frame, others]))
    assert found == {"reproduced": answer}
    assert (numbers["agree"], numbers["cells"], numbers["lower"]) == (agree, 10, 10 - agree)
    found, numbers = judged("errors_others", pd.concat([frame, others]))
    assert (found["reproduced"], numbers["higher"], numbers["rebuilt"]) == ("no", 10, 10)


def test_cells_that_no_interpretation_was_chosen_by_are_counted_apart():
    frame = pd.DataFrame({"dataset": ["iris", "pems"], "algorithm": "moml", "verdict": ["no", "agrees"]})
    numbers = judged("errors_own", frame)[1]
    assert (numbers["seen"], numbers["new"], numbers["new_agree"]) == (1, 1, 1)
    assert "1 of the other 1" in numbers["others"] and not judged("errors_own", frame[:1])[1]["others"]


def test_gains_that_agree_and_entries_that_are_close_stand_beside_the_errors():
    gains = pd.DataFrame({"verdict": ["agrees", "agrees", "differs: ours lower"]})
    assert judged("errors_own", gains, part=1) == ({}, {"gains": 3, "agree": 2})
    kinds = ["the paper's own methods", "all", "the paper's own methods, another of their columns"]
    worth = pd.DataFrame({"our means beside": kinds, "cells": [44, 154, 132], "within .01": [17, 48, 39]})
    assert judged("errors_own", worth, part=2) == ({}, {"within": 17, "cells": 44})


def test_of_nothing_nothing_follows():
    comparison, tests = marks("www", "www", "www", "mine")
    for name in ("errors_own", "errors_others", "errors_propagation"):
        assert said(name, comparison.assign(verdict="agrees")) == ["not tested"]
    for name in ("fp_beats_bp", "fp_ties_fbp"):
        assert said(name, comparison, tests) == ["not tested"] * 2
    assert said("mloml_wins", comparison.assign(paper_mark=""), tests) == ["not tested"] * 2
    assert said("layers", curves([-0.1], [0.01], "mine")) == ["not tested"] * 2
    gains = {f"{step}_mark_corrected": ["win"] for step in ("whole", "untrained", "learning")}
    assert said("learned", pd.DataFrame({"counted": [False]} | gains)) == ["not tested"]
    row = {"study": ["clean"], "test": ["other"], "algorithm": ["mine"], "verdict": ["smaller"], "sets": [9]}
    for name in ("mloml_wins", "layers", "equal_scans", "learned"):
        assert said(name, pd.DataFrame(row), part=1) == ["not tested"]
    assert said("depth", pd.DataFrame(row).assign(group="new")) == ["not tested"]


def curves(differences, p_corrected, algorithm="mloml_r_5", reference=""):
    """Return the end of a curve against its beginning; every change is significant by the plain test."""
    return pd.DataFrame(
        {"algorithm": algorithm, "point": 5, "reference": reference or algorithm, "reference_point": 1,
         "difference": differences, "p_paired": 0.001, "p_corrected": p_corrected, "dataset": "iris"}
    )  # fmt: skip


@pytest.mark.parametrize(
    ("differences", "p_corrected", "reproduced", "valid"),
    [
        ([-0.1, -0.1, -0.1], [0.01, 0.01, 0.01], "yes", "yes"),
        ([-0.1, -0.1, 0.1], [0.01, 0.01, 0.5], "in part", "in part"),
        ([-0.1, -0.1, -0.1], [0.01, 0.5, 0.5], "yes", "no"),  # sure on one of three
        ([-1e-17, 0.1, -0.1], [0.5, 0.5, 0.5], "no", "no"),  # the first is rounding
    ],
)
def test_curves_are_reproduced_by_means_and_valid_by_the_corrected_test(
    differences, p_corrected, reproduced, valid
):
    frame = curves(differences, p_corrected)
    first_layer = frame.assign(reference="moml", reference_point=0, point=1, difference=0.2)
    controls = [frame.assign(reference=name) for name in ("moml_split", "mloml_r_5_untrained")]
    assert said("layers", pd.concat([frame, first_layer, *controls])) == [reproduced, valid]
    halves = [curves(differences, p_corrected, name) for name in ("moml", "mloml_r")]
    assert said("scans", pd.concat(halves)) == [reproduced, valid]
    pairs = [curves(differences, p_corrected, "mloml_r", name) for name in ("moml", "moml_split")]
    assert said("equal_scans", pd.concat(pairs)) == [reproduced, valid]
    mlprove = curves([0.1, 0.2], 0.01, "mloml_r", "moml").assign(dataset="mlprove_paper")
    numbers = judged("equal_scans", pd.concat([*pairs, mlprove]))[1]
    assert numbers["mlprove"]["corrected"] == Counts(0, 0, 2)
    assert numbers["rest"]["mean"] == judged("equal_scans", pd.concat(pairs))[1]["moml"]["mean"]
    stacks = [
        ("rdml_multi", "rdml"),
        ("rdml_multi", "rdml_identity"),
        ("lego_multi", "lego"),
        ("opml_multi", "opml"),
    ]
    stacks += [(f"{name}_multi", "mloml_r_5_untrained") for name in ("rdml", "lego", "opml")]
    parts = [curves(differences, p_corrected, *pair) for pair in stacks]
    assert said("other_layers", pd.concat(parts)) == [reproduced, valid]


def test_a_stack_is_compared_with_every_control_that_there_is():
    surely, not_surely = curves([-0.1] * 3, [0.01] * 3), curves([-0.1] * 3, [0.5] * 3)
    untrained = surely.assign(reference="mloml_r_5_untrained")
    answers, numbers = judged("layers", pd.concat([surely, untrained]))
    assert answers == {"reproduced": "yes", "valid": "not tested"}  # a control is missing
    assert str(numbers["split"]["mean"]) == "not run yet" and numbers["first"]["mean"] == Counts(3, 0, 0)
    split = not_surely.assign(reference="moml_split")
    assert said("layers", pd.concat([surely, untrained, split])) == ["yes", "no"]
    assert said("layers", pd.concat([surely, split])) == ["yes", "no"]  # whatever the missing one says


def test_rdml_is_reproduced_from_zero_and_valid_from_the_identity():
    pairs = [("lego_multi", "lego"), ("opml_multi", "opml"), ("rdml_multi", "rdml")]
    pairs += [(stack, "mloml_r_5_untrained") for stack, _ in pairs]
    parts = [curves([-0.1], [0.01], *pair) for pair in pairs]
    answers, numbers = judged(
        "other_layers", pd.concat([*parts, curves([0.1], [0.5], "rdml_multi", "rdml_identity")])
    )
    assert answers == {"reproduced": "yes", "valid": "in part"}
    assert (numbers["rdml"]["mean"], numbers["identity"]["mean"]) == (Counts(1, 0, 0), Counts(0, 0, 1))


def regrets():
    line = pd.DataFrame({"T": [100.0, 1e5], "regret": [10.0, 250.0], "claimed_bound": 33.0})
    line["regret_after"] = line["regret"] + 24
    return line.assign(corrected_bound=[90.0, 2700.0]), line.assign(regret=-1.0, corrected_bound=90.0)


def test_a_theorem_is_false_by_one_counterexample():
    line, data = regrets()
    answers, numbers = judged("theorem2", line, data)
    assert answers == {"valid": "false"}
    assert (numbers["on_data"], numbers["on_line"], numbers["corrected"]) == (0, 1, 0)
    assert numbers["after"] == 2
    assert said("theorem2", data, data) == ["yes"]


@pytest.mark.parametrize(
    ("worse", "difference", "p", "stands", "answers"),
    [
        (0.2, -0.1, 0.5, True, ["yes", "yes"]),
        (0.2, -0.1, 0.5, False, ["yes", "in part"]),  # its argument needs Theorem 2
        (0.2, 0.1, 0.5, True, ["yes", "yes"]),  # one of two steps raises the error
        (0.2, 0.1, 0.01, False, ["yes", "false"]),  # both do
        (0.6, -0.1, 0.5, True, ["no", "yes"]),
    ],
)
def test_proposition1_is_a_statement_about_most_cases(worse, difference, p, stands, answers):
    line, data = regrets()
    steps = {"splits": 30, "difference": [difference, 0.3], "p_corrected": [0.01, p], "p_paired": 0.5}
    steps |= {"share_no_worse": 1 - worse, "share_better": 0.1, "share_worse": worse}
    found, numbers = judged("proposition1", pd.DataFrame(steps), data if stands else line, data)
    assert [*found.values()] == answers
    assert numbers["mean"] == Counts(int(difference < 0), 0, 1 + (difference > 0))
    assert [numbers[n] for n in ("no_worse", "better", "worse")] == pytest.approx(
        [100 - 100 * worse, 10, 100 * worse]
    )


@pytest.mark.parametrize(("power", "answer"), [(2, "yes"), (3, "no")])
def test_a_cost_is_quadratic_if_its_count_is(power, answer):
    rows = [("moml", d, 4 * d * d + 6 * d, 1) for d in (100, 200, 300, 400)]
    rows += [("moml_frame", d, 10 * d**power + 7, 1) for d in (100, 200, 300, 400)]
    rows += [("renewal", d, 2 * d**3, 256) for d in (100, 200, 300, 400)]
    frame = pd.DataFrame(rows, columns=["method", "features", "multiplications", "every"])
    answers, numbers = judged("cost", frame)
    assert answers == {"reproduced": "yes", "valid": answer} and numbers["at"]["moml"] == 40_600
    assert numbers["grows"]["renewal"] == pytest.approx(3) and numbers["grows"]["moml"] == pytest.approx(
        1.99, abs=0.005
    )
    first, last = (10 * d**power + 7 + 2 * d**3 / 256 for d in (100, 400))
    assert numbers["grows"]["with_renewals"] == pytest.approx(np.log2(last / first) / 2)


# fmt: off
def times(*medians, spread=0.01):
    table = {"dataset": "spect", "method": ["opml", "moml", "moml_frame"], "median": medians}
    return table | {"lower": [m - spread for m in medians], "upper": [m + spread for m in medians]}


def widths(*moml):  # the others take as long as OPML
    names = ["MOML, M only", "OPML", "LEGO", "RDML", "OASIS", "SLMOML"]
    return {"features": np.repeat([4, 8, 16], 6), "method": names * 3,
            "ours us": np.concatenate([[m, 2.0, 2.0, 2.0, 2.0, 2.0] for m in moml])}


def runs(*medians):
    return {"features": [4] * 3 + [8] * 3, "activation": "relu", "strategy": ["fp", "bp", "fbp"] * 2,
            "microseconds": medians}


def active(*medians):
    names = [f"MLOML-r, 3 layers, {strategy}" for strategy in ("FP", "BP", "FBP")]
    return {"features": [4] * 3 + [8] * 3, "method": names * 2, "ours us": medians}


def cone(left=0, broken=(0.0, 0.0, 0.5), leaving=(0.0, 0.0, 0.1), outside=0.0):  # layer 2 does not count
    return {"dataset": "iris", "layer": [1, 1, 1, 2], "gamma": [0.001, 0.01, 0.1, 0.1],
            "sandwich_excess": outside, "left_although_condition_held": [left, 0, 0, 7],
            "share_condition_broken": [*broken, 1.0],
            "share_leaving_cone": [*leaving, 1.0], "steps_looked_at": [10, 500, 500, 500], "steps": 500}


def two_seeds(same):  # the last row is MLOML-r itself, which has no mark
    marks = {"our_mark": ["win"] * 10 + [""], "our_mark_2": ["win"] * same + ["tie"] * (10 - same) + [""]}
    corrected = {f"our_mark_corrected{end}": ["tie"] * 10 + [""] for end in ("", "_2")}
    return marks | corrected | {"verdict": "agrees", "verdict_2": "agrees"}


def gains(whole):  # the last is not counted
    return {"counted": [True] * 4 + [False], "whole_mark_corrected": whole,
            "untrained_mark_corrected": ["tie", "win", "loss", "loss", "win"],
            "learning_mark_corrected": ["win", "tie", "win", "win", "win"]}


SPACES = {"iris": [0.5, 0.4, 0.3], "wine": [0.41400, 0.41399, 0.41398], "lsvt": [1.4, 1.5, 1.5]}
SPACES = {"dataset": np.repeat(list(SPACES), 3), "layer": [1, 2, 3] * 3,
          "within_over_between": np.concatenate(list(SPACES.values()))}


CASES = [
    ("moml_faster", 0, times(2, 1.6, 4), ["yes", "yes"], {"plain": (0.8, 0.8), "factor": (2.0, 2.0)}),
    ("moml_faster", 0, times(1, 0.8, 0.9, spread=0.2), ["yes", "no"], {}),
    ("moml_faster", 0, times(1, 1.8, 2.9), ["no", "no"], {}),
    ("moml_faster", 1, widths(1, 1, 4), ["in part"], {"faster": 2, "opml": (0.5, 2.0), "widths": 3}),
    ("moml_faster", 1, widths(1, 1, 1), ["yes"], {"least": 4, "most": 16}),
    ("other_times", 0, widths(1, 1, 4), [], {"rdml": (0.5, 2.0)}),
    ("space", 0, SPACES, ["yes", "no"], {"clear": 2, "falls": 4, "steps": 6, "drawn": 2, "of_drawn": 2}),
    ("theorem1", 0, cone(left=1), ["false"], {"left": 1, "sampled": 1, "steps": 1010, "held": 760}),
    ("theorem1", 0, cone(outside=1e-3), ["false"], {"left": 0, "outside": 3, "runs": 3}),
    ("theorem1", 0, cone(broken=(0.5, 0.5, 0.5)), ["yes"], {"left": 0, "outside": 0, "held": 505}),
    ("constant_gamma", 0, cone(), ["yes", "yes"], {"inside": 2, "held": 2, "runs": 2, "gamma": 0.1,
     "left": 1, "of_largest": 1, "condition": 50.0, "leaving": 10.0}),
    ("constant_gamma", 0, cone(broken=(0.0, 0.5, 0.5), leaving=(0.0, 0.1, 0.1)), ["no", "no"],
     {"inside": 1, "held": 1}),
    ("fp_fastest", 0, runs(5, 6, 9, 5, 6, 9), ["yes"], {"lowest": 2, "bp": (1.2, 1.2), "always": "4, 8"}),
    ("fp_fastest", 0, runs(5, 4, 9, 5, 6, 4), ["no"], {"lowest": 0, "bp": (0.8, 1.2), "always": "none"}),
    ("fp_fastest", 1, active(5, 4, 9, 5, 6, 4), ["no"], {"fastest": 0, "widths": 2, "fbp": (0.8, 1.8)}),
    ("fp_fastest", 1, active(5, 6, 9, 5, 6, 9), ["yes"], {"fastest": 2, "bp": (1.2, 1.2)}),
    ("seed", 0, two_seeds(9), ["yes"], {"cells": 10, "agreed": 11, "compared": 11,
                                        "plain": {"same": 9, "found": 10, "kept": 9},
                                        "corrected": {"same": 10, "found": 0, "kept": 0}}),
    ("seed", 0, two_seeds(6), ["in part"], {}),
    ("seed", 0, two_seeds(4), ["no"], {}),
    ("learned", 0, gains(["win", "win", "win", "tie", "win"]), ["in part"],
     {"better": 3, "both": 2, "untrained": Counts(1, 1, 2), "learning": Counts(3, 1, 0)}),
    ("learned", 0, gains("tie"), ["no"], {"better": 0, "as_well": ""}),
]
# fmt: on


@pytest.mark.parametrize(("name", "part", "columns", "answers", "numbers"), CASES)
def test_a_claim_that_one_table_decides(name, part, columns, answers, numbers):
    frame = pd.DataFrame(columns)
    measured = judged(name, frame, part=part)[1]
    assert (said(name, frame, part=part), measured) == (answers, measured | numbers)


def splits(rate, bp_first, level, back=(None, 8.0, 9.0), activations="rrr"):
    cases = {
        "dataset": "iris",
        "activation": list(activations),
        "counted": True,
        "rate": rate,
        "fbp_first": 0.1,
    }
    return pd.DataFrame(cases | {"bp_first": bp_first, "scans": 20, "level": level, "back": back})


def test_convergence_counts_leads_that_are_never_made_up():
    fixed = splits("bp", [0.2] * 3, [2.0, None, None])  # three leads, two of them never made up
    behind = splits("bp_cv", [0.05] * 3, 1.0)
    uncounted = splits("bp", [0.05] * 3, 1.0).assign(counted=False)
    answers, numbers = judged("convergence", pd.concat([fixed, behind, uncounted]))
    assert answers == {"reproduced": "yes", "valid": "no"}
    expected = {"lower": 3, "higher": 0, "splits": 3, "bp": "> 20", "bp_never": 2, "cases": 1, "mean": 1}
    assert numbers["fixed"] | expected == numbers["fixed"]
    assert numbers["chosen"] | {"lower": 0, "higher": 3, "fbp": "9", "fbp_never": 1} == numbers["chosen"]
    ahead = splits("bp_cv", [0.2] * 3, [4.0, 5.0, 6.0])
    answers, numbers = judged("convergence", pd.concat([fixed, ahead]))
    assert (answers["valid"], numbers["chosen"]["bp"], numbers["chosen"]["bp_never"]) == ("yes", "5", 0)
    doubtful = splits("bp_cv", [0.2, 0.09, 0.12], 1.0)  # lower on average, not for certain
    assert said("convergence", pd.concat([fixed, doubtful])) == ["yes", "no"]
    mixed = splits("bp", [0.2, 0.05, 0.05], 1.0, activations="rst")
    assert said("convergence", pd.concat([mixed, ahead])) == ["no", "yes"]


def test_other_data_are_judged_by_the_pairs_that_a_test_over_sets_confirms():
    rows = [
        (study, test, stack, "smaller" if study == "clean" else "", 22 - (test == "rivals"))
        for study in ("clean", "standardised")
        for test in ("layers", "rivals", "euclidean", "untrained")
        for stack in ("mloml_r", "mloml_s", "mloml_t")
    ]
    frame = pd.DataFrame(rows, columns=["study", "test", "algorithm", "verdict", "sets"])
    nca = frame.iloc[:1].assign(test="euclidean", algorithm="nca")  # no claim of the paper
    for name, pairs, sets in (
        ("mloml_wins", 9, "21 to 22"),
        ("layers", 3, "22"),
        ("equal_scans", 3, "22"),
        ("learned", 3, "22"),
    ):
        answers, numbers = judged(name, pd.concat([frame, nca]), part=1)
        assert answers == {"general": "no"}  # half of the pairs are not more than half
        assert (numbers["clean"], numbers["sets"]) == (Counts(pairs, 0, 0), sets)
        assert numbers["deep"] == {
            "clean": Counts(pairs // 3, 0, 0),
            "standardised": Counts(0, pairs // 3, 0),
        }
        assert said(name, frame[frame["study"] == "clean"], part=1) == ["yes"]
    deep = pd.concat([frame.assign(test="depth", group=group) for group in ("new", "all")])
    deep.loc[deep["group"] == "all", "verdict"] = "larger"
    assert judged("depth", deep)[1]["clean"] == Counts(12, 0, 0) and said("depth", deep) == ["no"]


@pytest.mark.parametrize(("helping", "answer"), [(8, "yes"), (5, "in part"), (4, "no")])
def test_streams_are_judged_by_the_learners_that_help(helping, answer):
    words = ["helps"] * helping + ["harms"] + ["no difference is shown"] * (7 - helping)
    rows = [("plain", word) for word in words[:8]] + [("untrained", "learning harms"), ("others", "ahead")]
    frame = pd.DataFrame(rows, columns=["test", "verdict"]).assign(streams=11)
    answers, numbers = judged("streams", frame)
    assert answers == {"general": answer} and numbers["plain"].wins == helping
    assert (numbers["untrained"], numbers["others"]) == (Counts(0, 0, 1), Counts(1, 0, 0))


def test_what_the_paper_counts_is_what_its_tables_print():
    counts = pd.concat([paper.table2_counts(), paper.table3_counts()])
    total = {name: BY_NAME[name].parts[0].rows["algorithm"] for name in ("fp_beats_bp", "fp_ties_fbp")}
    for name, algorithms in {"mloml_wins": paper.ALGORITHMS.values(), **total}.items():
        mine = counts[counts["algorithm"].isin(list(algorithms))]
        printed = "/".join(str(mine[outcome].sum()) for outcome in ("win", "tie", "loss"))
        assert printed in BY_NAME[name].paper


def test_an_empty_folder_names_a_command_for_every_claim(tmp_path):
    frame = claims_frame(read(tmp_path))
    words = frame[list(COLUMNS)]
    assert words.isin(["not tested", "–"]).all(axis=None) and (words == "not tested").any(axis=1).all()
    for row in frame.to_dict("records"):
        assert row["numbers"] == "" and "make " in row["measured"]
        assert set(row["measured"].split("`")[1].split()) <= set(row["command"].split())
    assert frame["kind"].value_counts().to_dict() == {CLAIMED: len(CLAIMS) - 5, ADDED: 5}
    assert (frame.loc[frame["kind"] == ADDED, "reproduced"] == "–").all()
    counts = headline_counts(frame)["general"]
    assert counts["not tested"] == sum(counts.values()) < len(CLAIMS) - 5 and "–" not in counts
    text, answers = BY_NAME["layers"].answer({"fig5/comparisons": pd.DataFrame({"dataset": ["iris"]})})
    assert answers["reproduced"] == "not tested" and "make reproduce-fig5" in text


def test_the_command_reads_a_folder_and_writes_the_table_in_every_format(tmp_path, capsys):
    (tmp_path / "theory").mkdir()
    pd.DataFrame(cone()).to_csv(tmp_path / "theory" / "theorem1.csv")
    (tmp_path / "table2").mkdir()
    (tmp_path / "table2" / "tests.csv").write_text("")  # damaged: as if it were missing
    manifests = {
        "table2": {"name": "paper"},  # of an earlier version
        "fig5": {"name": "lite"},
        "fig7": {"name": "paper", "full": 30},
        "fig7-whole": {"name": "paper", "full": 3},  # with other settings, so no claim is judged by it
        "untrained-small": {"name": "quick", "trial": True},
        "beyond/clean": {"name": "clean", "full": 3},
        "mine": {"name": "lite"},
    }
    for run, protocol in manifests.items():
        (tmp_path / run).mkdir(parents=True, exist_ok=True)
        content = {"config": {"protocol": protocol | {"splits": 3}}, "git": {"revision": "0123456789abcdef"}}
        (tmp_path / run / "manifest.json").write_text(json.dumps(content))
    (tmp_path / "table3").mkdir()
    (tmp_path / "table3" / "manifest.json").write_text("[")
    overrides = [f"execution.results={tmp_path}", "protocol=lite"]
    assert reproduce("claims", overrides, Command("mloml", ("reproduce", "claims"))) == 0
    printed = capsys.readouterr().out
    assert (
        "2 of 2" in printed
        and "1 of 1" in printed
        and "fig5, fig7, untrained" in printed
        and "mine" not in printed
    )
    folder = tmp_path / "claims"
    frame = pd.read_csv(folder / "claims.csv", keep_default_na=False)
    tried = {"fig5", "fig7", "untrained"}
    for claim, row in zip(CLAIMS, frame.to_dict("records"), strict=True):
        parts = [part for part in claim.parts if tried & set(part.artefacts)]
        assert (row["measured"].count("a trial run") > 0) == bool(parts)
        for column in {column for part in parts for column in part.decides}:
            assert row[column] == "trial only"
    answers = {column: frame.set_index("claim")[column].value_counts().to_dict() for column in COLUMNS}
    assert (
        answers["reproduced"]["yes"] == 1 and answers["valid"]["yes"] == 2 and "yes" not in answers["general"]
    )
    page = (folder / "claims.md").read_text(encoding="utf-8")
    assert "[theorem1.csv](../theory/theorem1.csv), `make reproduce-theory`" in page
    runs = pd.read_csv(folder / "runs.csv", keep_default_na=False).set_index("run")
    assert set(runs.index) == {*manifests, "table3"} - {"mine"} and runs["protocol"]["table3"] == ""
    assert set(runs["revision"]) == {"0123456789ab", ""}


def test_every_claim_names_files_of_known_artefacts_a_rule_and_a_command():
    makefile = (repository() / "Makefile").read_text(encoding="utf-8") if repository() else ""
    known = {*recipes(), "bench"}
    for claim in CLAIMS:
        assert {name.split("/")[0] for name in (claim.shows, *claim.tables)} <= known
        assert list(claim.rules) == list(COLUMNS)
        decided = {column for part in claim.parts for column in part.decides}
        for column in set(COLUMNS) - decided:
            assert claim.rules[column].partition(":")[0] in ("not tested", "–")
        assert not any(claim.rules[column].startswith(("not tested", "–")) for column in decided)
        for target in claim.command.split()[1:]:
            assert target.removeprefix("reproduce-") in known or f"\n{target}:" in makefile
    assert len(BY_NAME) == len(CLAIMS) and list(recipes())[-1] == "claims"  # made after what it reads
