"""Every sentence that the rule fixed, whichever way it falls: won, lost, nothing shown, cells missing."""

from __future__ import annotations

import re

import pytest

from mloml.reporting.parts.beyond import statements
from mloml.reporting.parts.beyond.advice import advice_sentences, glance
from mloml.reporting.parts.beyond.grids import errors_table, missing_sentences, ranks_table
from mloml.reporting.parts.beyond.scaling import across, scaling_in_short, scaling_sentences
from mloml.reporting.parts.beyond.side import side_of

WON, LOST = -0.05, 0.05
STACKS = ("mloml_r", "mloml_s", "mloml_t")


def about(sentences, start):
    (found,) = [sentence for sentence in sentences if sentence.startswith(start)]
    return found


def test_a_method_helps_harms_or_shows_nothing(make_study) -> None:
    sides = [
        side_of(make_study("clean", {"moml": WON, "lda": LOST})),
        side_of(make_study("standardised", {"moml": LOST, "lda": LOST})),
    ]
    said = statements.help_sentences(sides)
    assert len(said) == 10
    moml, lda, opml = (about(said, start) for start in ("MOML:", "LDA:", "OPML:"))
    assert "on unit rows it helps beyond the paper (median difference -.0" in moml
    assert "12 wins, 0 ties, 0 losses on 12 sets, p = .0" in moml
    assert "on standardised features it harms" in moml and moml.endswith(" The two studies differ.")
    assert lda.count("it harms") == 2 and "differ." not in lda
    assert opml.count("no difference from Euclidean is shown on these sets (median difference ") == 2
    assert not any("as good as" in sentence for sentence in said)
    assert statements.help_in_short(sides[0]) == (
        "On unit rows 1 of 10 methods helps beyond the paper (MOML); 1 of 10 methods harms (LDA); "
        "for 8 no difference from Euclidean is shown on these sets."
    )


def test_if_nothing_is_shown_of_any_method_that_is_said(make_study) -> None:
    side = side_of(make_study())
    assert statements.help_in_short(side) == (
        "On unit rows none of 10 methods helps beyond the paper; none of 10 methods harms; "
        "for 10 no difference from Euclidean is shown on these sets."
    )
    assert advice_sentences(side) == (
        "On unit rows no method is shown to help; Euclidean needs no training.",
    )


@pytest.mark.parametrize(
    ("trained", "untrained", "said"),
    [
        (WON, 0.0, "learning the layers helps"),
        (WON, LOST, "learning the layers helps"),
        (2 * WON, WON, "learning the layers helps"),
        (WON, WON, "the non-linearity alone does it"),
        (0.0, WON, "the non-linearity alone does it, and the trained stack errs more than the untrained one"),
        (0.0, 0.0, "nothing is shown"),
        (LOST, LOST, "nothing is shown"),
        (LOST, 0.0, "nothing is shown, and the trained stack errs more than the untrained one"),
    ],
)
def test_learning_the_layers_or_the_non_linearity_alone(make_study, trained, untrained, said) -> None:
    effects = {"mloml_r": trained, "mloml_r_untrained": untrained}
    side = side_of(make_study(effects=effects))
    assert statements.learning_verdict(side, "mloml_r") == said
    sentence = about(statements.learning_sentences(side), "ReLU on unit rows: ")
    assert sentence.startswith(f"ReLU on unit rows: {said}. Trained against untrained: ")
    assert sentence.count("median difference") == 3


@pytest.mark.parametrize(
    ("stack", "layers", "rival"),
    [
        (WON, "layers help", "MLOML-s beats MOML on unit rows ("),
        (LOST, "layers harm",
         "That MLOML-s beats MOML on unit rows is not confirmed on these sets: MOML has the smaller"),
        (0.0, "no difference between three layers and one is shown",
         "That MLOML-s beats MOML on unit rows is not confirmed on these sets (median"),
    ],
)  # fmt: skip
def test_three_layers_against_one(make_study, stack, layers, rival) -> None:
    side = side_of(make_study(effects={"mloml_s": stack, "moml": 0.0}))
    sentence = about(statements.layer_sentences(side), "sigmoid on unit rows: ")
    assert sentence.startswith(f"sigmoid on unit rows: {layers} (median difference ")
    assert ("wins on Set00" in sentence, "losses on Set00" in sentence) == (stack < 0, stack > 0)
    assert about(statements.rival_sentences(side), "MLOML-s beats MOML" if stack < 0 else rival).startswith(
        rival
    )


def test_mloml_beats_only_those_for_whom_the_tests_say_so(make_study) -> None:
    side = side_of(make_study(effects={"mloml_r": WON, "opml": 0.0, "lmnn": 2 * WON, "moml": 0.0}))
    said = statements.rival_sentences(side)
    assert len(said) == 9
    assert about(said, "MLOML-r beats OPML on unit rows (")
    lmnn = about(said, "That MLOML-r beats LMNN on unit rows is not confirmed on these sets")
    assert "LMNN has the smaller errors" in lmnn
    assert statements.claims_in_short(side) == (
        "On unit rows MLOML-r beats MOML and OPML; 7 of 9 such claims are not confirmed on these sets "
        "(in 3 of them the rival has the smaller errors)."
    )


def test_if_no_claim_shows_up_it_is_not_confirmed_rather_than_wrong(make_study) -> None:
    said = statements.claims_in_short(side_of(make_study()))
    assert said == (
        "On unit rows none of 9 claims that MLOML beats MOML, OPML or LMNN is confirmed on these sets."
    )


def test_all_claims_may_show_up(make_study) -> None:
    side = side_of(make_study(effects=dict.fromkeys(STACKS, WON)))
    assert statements.claims_in_short(side) == (
        "On unit rows MLOML-r beats MOML, OPML and LMNN; MLOML-s beats MOML, OPML and LMNN; "
        "MLOML-t beats MOML, OPML and LMNN."
    )


def test_euclidean_under_the_other_scaling(make_study) -> None:
    first, second = make_study("clean", {"moml": WON}), make_study("standardised", {"moml": LOST}, base=0.28)
    sides = [side_of(first), side_of(second)]
    over, _ = across(sides)
    plain, unit, standardised = scaling_sentences(sides, over)
    assert plain.startswith(
        "Euclidean by itself errs less on standardised features than on unit rows (unit rows less"
    )
    assert (
        unit.startswith("Euclidean on standardised features beats ") and "; 1 beat it: MOML (median" in unit
    )
    assert (
        "MOML (" in re.search(r"beats \d+ of 10 methods on standardised features: ([^;]*)", standardised)[1]
    )
    assert scaling_in_short(sides, over).startswith(
        "Scaling costs nothing: Euclidean on standardised features beats "
    )
    equal = [side_of(make_study("clean")), side_of(make_study("standardised"))]
    assert (
        "no difference between the two scalings is shown on these sets"
        in scaling_sentences(equal, across(equal)[0])[0]
    )


def test_a_failure_is_a_dash_with_its_reason_and_the_number_of_sets_is_said(make_study) -> None:
    gaps = {("set03", "lda"): "the matrix is singular", ("set05", "lda"): "the matrix is singular"}
    side = side_of(make_study(effects={"lda": WON}, gaps=gaps))
    assert side.test("euclidean", "lda")["sets"] == 10
    assert "on 10 sets" in about(statements.help_sentences([side]), "LDA:")
    grid = errors_table(side).numbers
    row = next(row for row in grid.rows if row.name == "set03")
    entry = row.entries[[column.name for column in grid.columns].index("lda")]
    reason = "failed in 5 of 5 splits (ValueError: the matrix is singular)"
    assert entry.numbers() == ("–",) and entry.note == reason and row.details == f"lda: {reason}"
    assert missing_sentences(side) == [f"LDA on unit rows has no result on Set03, Set05: {reason}."]
    sentence, table, _ = ranks_table(side)
    assert "Left out, because not all algorithms are complete there: set03, set05." in sentence
    assert set(table.numbers["sets"]) == {10} and "mloml_r_untrained" not in set(table.numbers["algorithm"])


def test_a_method_that_fails_everywhere_stays_in_its_family(make_study) -> None:
    gaps = {(f"set{number:02d}", "lda"): "no" for number in range(12)}
    side = side_of(make_study(effects={"moml": WON}, gaps=gaps))
    row, moml = side.test("euclidean", "lda"), side.test("euclidean", "moml")
    assert (row["sets"], row["p_holm"], row["verdict"]) == (0, 1.0, "")
    assert moml["p_holm"] == pytest.approx(10 * moml["p_wilcoxon"])  # still ten methods
    said = about(statements.help_sentences([side]), "LDA:")
    assert said == "LDA: on unit rows there is nothing to compare (no set has a result of both)."
    assert "Not ranked, because without any result: LDA." in ranks_table(side)[0]
    assert glance([side]).set_index("method").loc["LDA", "unit rows: against Euclidean"] == "–"


def test_without_the_stacks_nothing_is_claimed_of_them(make_study) -> None:
    side = side_of(make_study(algorithms=("euclidean", "lda")))
    assert statements.rival_sentences(side) == statements.layer_sentences(side) == ()
    assert statements.learning_sentences(side) == () and statements.layers_in_short(side) == ""
    assert statements.claims_in_short(side) == "On unit rows MLOML and its rivals were not compared."


def test_without_euclidean_there_is_nothing_to_compare(make_study) -> None:
    side = side_of(make_study(algorithms=("moml", "mloml_r")))
    assert statements.help_in_short(side) == "On unit rows there is nothing to compare with Euclidean."
    assert about(statements.layer_sentences(side), "ReLU") and advice_sentences(side) == ()


def test_where_names_the_sets(make_study) -> None:
    side = side_of(
        make_study(sets=3, effects={"mloml_t": WON, "mloml_r": 0.0}, algorithms=("euclidean", *STACKS))
    )
    said = statements.where_sentences(side)
    assert about(said, "On unit rows MLOML-t") == (
        "On unit rows MLOML-t wins over Euclidean on 3 sets (Set00, Set01, Set02) and loses on no set."
    )
    assert said[-1] == "On unit rows there is no set on which no method wins over Euclidean."
    none = side_of(make_study(sets=2, effects={"lda": LOST}, algorithms=("euclidean", "lda")))
    assert statements.where_sentences(none) == (
        "On unit rows no method at all wins over Euclidean on 2 sets (Set00, Set01).",
    )


def test_advice_names_what_helps_most_and_what_costs_least(make_study) -> None:
    side = side_of(make_study(effects={"opml": WON, "mloml_t": 2 * WON}))
    said = advice_sentences(side)
    assert re.match(
        r"On unit rows, of the 2 that help, MLOML-t \(\.6\d\d of Euclidean's error, \S+ ms per training "
        r"row\) "
        r"has the lowest mean error and OPML \(\.8\d\d of .*\) the lowest cost; Euclidean itself takes "
        r"1\.2 ms\.",
        said[0],
    )
    assert said[1].startswith(
        "That MLOML-t is lower than the others was not tested; by their ranks it cannot"
    )
    (only,) = advice_sentences(side_of(make_study(effects={"opml": WON})))
    assert "is the only one that helps" in only
