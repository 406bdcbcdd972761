"""Verdicts and numbers of the claims, from tables made by hand; what the claim table reads and links."""

import json

import numpy as np
import pandas as pd
import pytest

from mloml import paper
from mloml.command_line import Command
from mloml.config import repository
from mloml.report.artefacts.claims import ADDED, CLAIMED, claims_frame, headline_counts, read
from mloml.report.claims import BP, CLAIMS, FBP, OTHERS, OWN, VERDICTS, Counts
from mloml.report.recipe import recipes
from mloml.report.reproduce import reproduce

BY_NAME = {claim.name: claim for claim in CLAIMS}
WORDS = {"w": "win", "t": "tie", "l": "loss"}
SETS = ["iris", "wine", "pima", "mlprove_paper", "spect_paper"]


def judged(name, *frames):
    """Return verdict and numbers, after checking that the claim's words print them."""
    verdict, numbers = BY_NAME[name].judge(*frames)
    text, answered = BY_NAME[name].answer(frames)
    assert answered == verdict in VERDICTS and "{" not in text
    return verdict, numbers


def marks(theirs, ours, corrected, algorithm="lego"):
    """Return a comparison with the paper and the tests behind it, a letter (w, t, l) per data set."""
    words = [[WORDS[letter] for letter in text] for text in (theirs, ours, corrected)]
    places = {"dataset": SETS[: len(theirs)], "algorithm": algorithm}
    tests = {"mark_paired": words[1], "mark_corrected": words[2], "difference": [0.01, -0.02, 0.2, 0.0, 0.1]}
    tests["difference"] = tests["difference"][: len(theirs)]
    return pd.DataFrame(places | {"paper_mark": words[0]}), pd.DataFrame(places | tests)


@pytest.mark.parametrize(
    ("theirs", "ours", "corrected", "verdict"),
    [
        ("wwwtl", "wwwtl", "wwttt", "reproduced"),  # two of three published wins stay
        ("wwwtl", "wwwtl", "wtttt", "reproduced in part"),  # one of three
        ("wwwww", "wltll", "ttttt", "not reproduced"),  # more losses than wins
        ("ttttt", "wwttt", "ttttt", "reproduced in part"),  # wins that the paper does not have
    ],
)
def test_wins_count_as_reproduced_only_by_the_corrected_test(theirs, ours, corrected, verdict):
    assert judged("mloml_wins", *marks(theirs, ours, corrected))[0] == verdict


def test_wins_are_counted_on_all_sets_and_without_those_that_the_paper_mixed_up():
    comparison, tests = marks("wwtwl", "wwtww", "wtlww")
    more = pd.concat([tests, tests.assign(dataset="mine").iloc[:1]])  # not in the paper
    verdict, numbers = judged("mloml_wins", comparison, more)
    assert (verdict, numbers["cells"], numbers["won"], numbers["kept"], numbers["same"]) == (
        "reproduced", 5, 3, 2, 4,
    )  # fmt: skip
    assert [str(numbers[name]) for name in ("printed", "plain", "corrected")] == ["3/1/1", "4/1/0", "3/1/1"]
    assert [str(numbers["sound"][name]) for name in ("plain", "corrected")] == ["2/1/0", "1/1/1"]


@pytest.mark.parametrize(
    ("chosen", "verdict", "kept"),
    [("www", "reproduced", 3), ("wtt", "reproduced in part", 1), ("lll", "reproduced in part", 0)],
)
def test_fp_beats_bp_only_if_it_does_at_a_chosen_rate_as_well(chosen, verdict, kept):
    comparison, fixed = marks("www", "www", "www", "mloml_r_bp")
    assert judged("fp_beats_bp", comparison, fixed)[0] == "reproduced"  # without a chosen rate
    other = marks("www", chosen, chosen, "mloml_r_bp_cv")[1]
    found, numbers = judged("fp_beats_bp", comparison, pd.concat([fixed, other]))
    assert (found, numbers["chosen"]["kept"], numbers["kept"]) == (verdict, kept, 3)


@pytest.mark.parametrize(
    ("agree", "verdict"), [(9, "reproduced"), (8, "reproduced in part"), (5, "not reproduced")]
)
def test_error_rates_are_judged_by_the_share_of_cells_that_agree(agree, verdict):
    cells = {"dataset": [f"set{i}" for i in range(10)], "algorithm": "moml"}
    frame = pd.DataFrame(cells | {"verdict": ["agrees"] * agree + ["differs: ours lower"] * (10 - agree)})
    others = frame.assign(algorithm="mlcc", verdict="differs: ours higher")
    found, numbers = judged("errors_own", pd.concat([frame, others]))
    assert (found, numbers["agree"], numbers["cells"], numbers["lower"]) == (verdict, agree, 10, 10 - agree)
    found, numbers = judged("errors_others", pd.concat([frame, others]))
    assert (found, numbers["higher"], numbers["rebuilt"]) == ("not reproduced", 10, 10)


def test_cells_that_no_interpretation_was_chosen_by_are_counted_apart():
    frame = pd.DataFrame({"dataset": ["iris", "pems"], "algorithm": "moml", "verdict": ["no", "agrees"]})
    numbers = judged("errors_own", frame)[1]
    assert (numbers["seen"], numbers["new"], numbers["new_agree"]) == (1, 1, 1)


def test_of_nothing_nothing_follows():
    comparison, tests = marks("www", "www", "www", "mine")
    for name in ("errors_own", "errors_others", "errors_propagation"):
        assert judged(name, comparison.assign(verdict="agrees"))[0] == "not tested"
    for name in ("fp_beats_bp", "fp_ties_fbp"):
        assert judged(name, comparison, tests)[0] == "not tested"
    assert judged("mloml_wins", comparison.assign(paper_mark=""), tests)[0] == "not tested"
    assert judged("layers", curves([-0.1], [0.01], "mine"))[0] == "not tested"
    gains = {f"{step}_mark_corrected": ["win"] for step in ("whole", "untrained", "learning")}
    assert judged("learned", pd.DataFrame({"counted": [False]} | gains))[0] == "not tested"
    row = {"study": ["clean"], "test": ["other"], "algorithm": ["mine"], "verdict": ["smaller"], "sets": [9]}
    for name in ("rivals_elsewhere", "euclidean_elsewhere"):
        assert judged(name, pd.DataFrame(row))[0] == "not tested"


def curves(differences, p_corrected, algorithm="mloml_r_5", reference=""):
    """Return the end of a curve against its beginning; every change is significant by the plain test."""
    return pd.DataFrame(
        {"algorithm": algorithm, "point": 5, "reference": reference or algorithm, "reference_point": 1,
         "difference": differences, "p_paired": 0.001, "p_corrected": p_corrected}
    )  # fmt: skip


@pytest.mark.parametrize(
    ("differences", "p_corrected", "verdict"),
    [
        ([-0.1, -0.1, 0.1], [0.01, 0.01, 0.5], "reproduced"),
        ([-0.1, -0.1, 0.1], [0.01, 0.01, 0.01], "reproduced in part"),  # a sure rise
        ([-0.1, -0.1, -0.1], [0.01, 0.5, 0.5], "reproduced in part"),  # sure on one of three
        ([-0.1, 0.1, 0.1], [0.5, 0.5, 0.5], "not reproduced"),
    ],
)
def test_layers_scans_and_other_stacks_help_if_the_corrected_test_says_so(differences, p_corrected, verdict):
    frame = curves(differences, p_corrected)
    first_layer = frame.assign(reference="moml", reference_point=0, point=1, difference=0.2)
    found, numbers = judged("layers", pd.concat([frame, first_layer]))
    lower = sum(d < 0 for d in differences)
    assert found == verdict and numbers["first"]["plain"] == Counts(lower, 0, 3 - lower)
    assert numbers["moml"]["plain"] == Counts(0, 0, 0)  # a first layer is not taken for the last
    halves = [curves(differences, p_corrected, name) for name in ("moml", "mloml_r")]
    assert judged("scans", pd.concat(halves))[0] == verdict
    stacks = {"rdml_multi": "rdml_identity", "lego_multi": "lego", "opml_multi": "opml"}
    parts = [curves(differences, p_corrected, *pair) for pair in stacks.items()]
    assert judged("other_layers", pd.concat(parts))[0] == verdict


def test_a_theorem_is_false_by_one_counterexample():
    line = pd.DataFrame({"T": [100.0, 1e5], "regret": [10.0, 250.0], "claimed_bound": 33.0})
    line["corrected_bound"] = [90.0, 2700.0]
    data = line.assign(regret=-1.0)
    verdict, numbers = judged("theorem2", line, data)
    assert (verdict, numbers["on_data"], numbers["on_line"], numbers["corrected"]) == ("false", 0, 1, 0)
    assert judged("theorem2", data, data)[0] == "reproduced"


# fmt: off
def times(*medians):
    return {"dataset": "spect", "method": ["opml", "moml", "moml_frame"], "median": medians}


def exponents(fp):
    return {"propagation": ["fp", "bp", "fbp"], "exponent in features": [fp, 2.0, 9.0]}


def runs(spread):  # the same medians, told apart by every run or by none
    columns = {"features": [4] * 3 + [8] * 3, "activation": "relu", "strategy": ["fp", "bp", "fbp"] * 2}
    medians = {"microseconds": [5.0, 6.0, 9.0] * 2}
    return columns | medians | {name: [m + d for m in medians["microseconds"]]
                                for name, d in (("lowest", -spread), ("highest", spread))}


def cone(left, broken):  # the second layer is not what the theorem is about
    return {"dataset": "iris", "layer": [1, 2], "gamma": 0.1, "sandwich_excess": 0.0, "steps": 500,
            "left_although_condition_held": [left, 7], "share_condition_broken": [broken, 1.0],
            "share_leaving_cone": [0.1, 1.0], "steps_looked_at": [10, 500]}


def next_layer(worse, p):
    return {"splits": 30, "share_worse": [worse, 0.0], "difference": [0.01, -0.1], "p_corrected": [p, 0.01]}


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
    ("moml_faster", times(2, 1.6, 4), "reproduced in part", {"plain": (0.8, 0.8), "factor": (2.0, 2.0)}),
    ("moml_faster", times(1, 0.8, 0.9), "reproduced", {}),
    ("moml_faster", times(1, 1.8, 2.9), "not reproduced", {}),
    ("space", SPACES, "not reproduced", {"clear": 2, "falls": 4, "steps": 6, "by_falls": "reproduced in part",
                                         "whole": 2, "drawn": 1}),
    ("theorem1", cone(1, 0.5), "false", {"broken": 1, "sampled": 1, "condition": 50.0, "leaving": 10.0}),
    ("theorem1", cone(0, 0.5), "reproduced in part", {}),
    ("theorem1", cone(0, 0.0), "reproduced", {"broken": 0}),
    ("proposition1", next_layer(0.0, 0.5), "reproduced", {"worse": 0, "falling": 1, "rising": 0}),
    ("proposition1", next_layer(0.5, 0.5), "not reproduced", {"worse": 25.0}),
    ("proposition1", next_layer(0.5, 0.01), "false", {"rising": 1}),
    ("cost", exponents(2.2), "reproduced", {}),
    ("cost", exponents(2.22), "reproduced in part", {}),
    ("cost", exponents(2.5), "not reproduced", {}),
    ("fp_fastest", runs(0.1), "reproduced", {"lowest": 2, "clearly": 2, "bp": (1.2, 1.2)}),
    ("fp_fastest", runs(2.0), "not reproduced", {"lowest": 2, "clearly": 0, "by_medians": "reproduced"}),
    ("seed", two_seeds(9), "reproduced", {"cells": 10, "agreed": 11, "compared": 11,
                                          "plain": {"same": 9, "found": 10, "kept": 9},
                                          "corrected": {"same": 10, "found": 0, "kept": 0}}),
    ("seed", two_seeds(6), "reproduced in part", {}),
    ("seed", two_seeds(4), "not reproduced", {}),
    ("learned", gains(["win", "win", "win", "tie", "win"]), "reproduced in part",
     {"better": 3, "both": 2, "untrained": Counts(1, 1, 2), "learning": Counts(3, 1, 0)}),
    ("learned", gains("tie"), "not reproduced", {"better": 0}),
]
# fmt: on


@pytest.mark.parametrize(("name", "columns", "verdict", "numbers"), CASES)
def test_a_claim_that_one_table_decides(name, columns, verdict, numbers):
    found, measured = judged(name, pd.DataFrame(columns))
    assert (found, measured) == (verdict, measured | numbers)


def splits(rate, bp_first, level, back=(None, 8.0, 9.0)):
    cases = {"counted": True, "rate": rate, "fbp_first": 0.1, "bp_first": bp_first, "scans": 20}
    return pd.DataFrame(cases | {"level": level, "back": back})


def test_convergence_counts_leads_that_are_never_made_up():
    fixed = splits("bp", [0.2] * 3, [2.0, None, None])  # three leads, two of them never made up
    behind = splits("bp_cv", [0.05] * 3, 1.0)
    uncounted = splits("bp", [0.05] * 3, 1.0).assign(counted=False)
    verdict, numbers = judged("convergence", pd.concat([fixed, behind, uncounted]))
    assert verdict == "reproduced in part"
    assert (
        numbers["fixed"] | {"lower": 3, "higher": 0, "cases": 3, "bp": "> 20", "bp_never": 2}
        == numbers["fixed"]
    )
    assert numbers["chosen"] | {"lower": 0, "higher": 3, "fbp": "9", "fbp_never": 1} == numbers["chosen"]
    ahead = splits("bp_cv", [0.2] * 3, [4.0, 5.0, 6.0])
    verdict, numbers = judged("convergence", pd.concat([fixed, ahead]))
    assert (verdict, numbers["chosen"]["bp"], numbers["chosen"]["bp_never"]) == ("reproduced", "5", 0)
    assert judged("convergence", pd.concat([behind.assign(rate="bp"), ahead]))[0] == "not reproduced"


def test_other_data_are_judged_by_the_pairs_that_a_test_over_sets_confirms():
    rows = [
        (study, test, stack, "smaller" if study == "clean" else "", 22 - (test == "rivals"))
        for study in ("clean", "standardised")
        for test in ("layers", "rivals", "euclidean", "untrained")
        for stack in ("mloml_r", "mloml_s", "mloml_t")
    ]
    frame = pd.DataFrame(rows, columns=["study", "test", "algorithm", "verdict", "sets"])
    nca = frame.iloc[:1].assign(test="euclidean", algorithm="nca")  # no claim of the paper
    for name, pairs, least in (("rivals_elsewhere", 6, 21), ("euclidean_elsewhere", 3, 22)):
        verdict, numbers = judged(name, pd.concat([frame, nca]))
        assert verdict == "not reproduced"  # half of the pairs are not more than half
        assert (numbers["clean"], numbers["sets"]) == (Counts(pairs, 0, 0), least)
        assert judged(name, frame[frame["study"] == "clean"])[0] == "reproduced"


def test_what_the_paper_counts_is_what_its_tables_print():
    total = {"mloml_wins": (*OWN, *OTHERS), "fp_beats_bp": BP, "fp_ties_fbp": FBP}
    counts = pd.concat([paper.table2_counts(), paper.table3_counts()])
    for name, algorithms in total.items():
        mine = counts[counts["algorithm"].isin(list(algorithms))]
        printed = "/".join(str(mine[outcome].sum()) for outcome in ("win", "tie", "loss"))
        assert printed in BY_NAME[name].paper


def test_an_empty_folder_names_a_command_for_every_claim(tmp_path):
    frame = claims_frame(read(tmp_path))
    assert set(frame["verdict"]) == {"not tested"}
    assert all(row["command"] in row["measured"] for row in frame.to_dict("records"))
    assert frame["kind"].value_counts().to_dict() == {CLAIMED: len(CLAIMS) - 4, ADDED: 4}
    assert headline_counts(frame)[ADDED] == dict.fromkeys(VERDICTS, 0) | {"not tested": 4}
    older = BY_NAME["layers"].answer([pd.DataFrame({"dataset": ["iris"]})])
    assert older[1] == "not tested" and "make reproduce-fig5" in older[0]


def test_the_command_reads_a_folder_and_writes_the_table_in_every_format(tmp_path, capsys):
    (tmp_path / "bench").mkdir()
    (tmp_path / "bench" / "growth.csv").write_text("propagation,exponent in features\nfp,2.05\nbp,2\nfbp,2\n")
    (tmp_path / "table2").mkdir()
    (tmp_path / "table2" / "tests.csv").write_text("")  # damaged: as if it were missing
    manifests = {
        "table2": {"name": "paper"},  # of an earlier version
        "fig5": {"name": "lite"},
        "fig7": {"name": "paper", "full": 30},
        "fig7-whole": {"name": "paper", "full": 3},  # with other settings, so no claim is judged by it
        "theory-small": {"name": "quick", "trial": True},
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
    said = capsys.readouterr().out
    assert "1 reproduced" in said and "fig5, fig7, theory" in said and "mine" not in said
    folder = tmp_path / "claims"
    frame = pd.read_csv(folder / "claims.csv")
    tried = [{"fig5", "fig7", "theory"} & {table.split("/")[0] for table in claim.tables} for claim in CLAIMS]
    assert [verdict == "trial only" for verdict in frame["verdict"]] == [bool(found) for found in tried]
    counts = {"not tested": tried.count(set()) - 1, "reproduced": 1, "trial only": sum(map(bool, tried))}
    assert frame["verdict"].value_counts().to_dict() == counts and counts["trial only"] > 3
    assert "[growth.csv](../bench/growth.csv), `make bench`" in (folder / "claims.md").read_text(
        encoding="utf-8"
    )
    runs = pd.read_csv(folder / "runs.csv", keep_default_na=False).set_index("run")
    assert set(runs.index) == {*manifests, "table3"} - {"mine"} and runs["protocol"]["table3"] == ""
    assert set(runs["revision"]) == {"0123456789ab", ""}


def test_every_claim_names_files_of_known_artefacts_a_rule_and_a_command():
    makefile = (repository() / "Makefile").read_text(encoding="utf-8") if repository() else ""
    known = {*recipes(), "bench"}
    for claim in CLAIMS:
        assert {name.split("/")[0] for name in (claim.shows, *claim.tables)} <= known
        assert "reproduced:" in claim.rule
        for target in claim.command.split()[1:]:
            assert target.removeprefix("reproduce-") in known or f"\n{target}:" in makefile
    assert len(BY_NAME) == len(CLAIMS) and list(recipes())[-1] == "claims"  # made after what it reads
