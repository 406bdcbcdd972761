"""Every sentence that the rule fixed, whichever way it falls: won, lost, nothing shown, cells missing."""

from __future__ import annotations

import re

import pytest

from mloml.report.parts.beyond import statements, summary, verdicts
from mloml.report.parts.beyond.advice import advice_sentences, glance
from mloml.report.parts.beyond.grids import errors_table, missing_sentences, ranks_table
from mloml.report.parts.beyond.scaling import across
from mloml.report.parts.beyond.side import side_of

WON, LOST = -0.05, 0.05
STACKS = ("mloml_r", "mloml_s", "mloml_t")


def about(frame, subject):
    """Return the row of a subject as a list of texts."""
    (row,) = frame[frame.iloc[:, 0] == subject].to_numpy().tolist()
    return row[1:]


def test_a_method_helps_harms_or_shows_nothing(make_study) -> None:
    sides = [
        side_of(make_study("clean", {"moml": WON, "lda": LOST})),
        side_of(make_study("standardised", {"moml": LOST, "lda": LOST})),
    ]
    said = statements.help_frame(sides)
    assert len(said) == 10
    unit, unit_numbers, standardised, _ = about(said, "MOML")
    assert unit == "helps beyond the paper" and standardised == "harms"
    assert re.fullmatch(r"-\.0(49|50|51), 12/0/0, p = \.005", unit_numbers)
    nothing = "no difference from Euclidean is shown on these sets"
    assert about(said, "LDA")[::2] == ["harms", "harms"] and about(said, "OPML")[::2] == [nothing, nothing]
    assert summary.help_sentence(sides[0]) == (
        "On unit rows 1 of 10 methods helps beyond the paper (MOML); 1 harms (LDA); "
        "for 8 no difference from Euclidean is shown on these sets."
    )
    assert summary.differing_sentence(sides) == (
        "The two studies say different things of 1 of 10 methods. "
        "MOML: on unit rows helps beyond the paper, on standardised features harms."
    )


def test_if_nothing_is_shown_of_any_method_that_is_said(make_study) -> None:
    side = side_of(make_study())
    assert summary.help_sentence(side) == (
        "On unit rows none of 10 methods helps beyond the paper; "
        "for 10 no difference from Euclidean is shown on these sets."
    )
    assert advice_sentences(side) == (
        "On unit rows no method is shown to help; Euclidean needs no training.",
    )
    both = [side, side_of(make_study("standardised"))]
    assert (
        summary.differing_sentence(both) == "Of none of 10 methods do the two studies say different things."
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
    side = side_of(make_study(effects={"mloml_r": trained, "mloml_r_untrained": untrained}))
    assert verdicts.learning(side, "mloml_r") == said
    scaling, text, *numbers = about(statements.learning_frame([side]), "ReLU")
    assert (scaling, text) == ("unit rows", said)
    medians = [float(text.split(",")[0]) for text in numbers]
    assert medians == pytest.approx([trained - untrained, untrained, trained], abs=0.003)
    assert f"{said} for ReLU" in summary.learning_sentence(side)


@pytest.mark.parametrize(
    ("stack", "layers", "claim"),
    [
        (WON, "layers help", "confirmed"),
        (LOST, "layers harm", "not confirmed on these sets; MOML has the smaller errors"),
        (0.0, "no difference between three layers and one is shown", "not confirmed on these sets"),
    ],
)
def test_three_layers_against_one(make_study, stack, layers, claim) -> None:
    side = side_of(make_study(effects={"mloml_s": stack, "moml": 0.0}))
    assert about(statements.layers_frame([side]), "sigmoid")[0] == layers
    assert about(statements.rivals_frame([side]), "MLOML-s beats MOML")[0] == claim
    assert f"{layers} for " in summary.layers_sentence(side)


def test_mloml_beats_only_those_for_whom_the_tests_say_so(make_study) -> None:
    side = side_of(make_study(effects={"mloml_r": WON, "opml": 0.0, "lmnn": 2 * WON, "moml": 0.0}))
    said = statements.rivals_frame([side])
    assert len(said) == 9 and about(said, "MLOML-r beats OPML")[0] == "confirmed"
    assert about(said, "MLOML-r beats LMNN")[0] == "not confirmed on these sets; LMNN has the smaller errors"
    assert summary.claims_sentence(side) == (
        "On unit rows MLOML-r beats MOML and OPML; 7 of 9 such claims are not confirmed on these sets; "
        "in 3 of them the rival has the smaller errors."
    )


def test_if_no_claim_shows_up_it_is_not_confirmed_rather_than_wrong(make_study) -> None:
    assert summary.claims_sentence(side_of(make_study())) == (
        "On unit rows none of 9 claims that MLOML beats MOML, OPML or LMNN is confirmed on these sets."
    )


def test_all_claims_may_show_up(make_study) -> None:
    side = side_of(make_study(effects=dict.fromkeys(STACKS, WON)))
    assert summary.claims_sentence(side) == (
        "On unit rows MLOML-r beats MOML, OPML and LMNN; MLOML-s beats MOML, OPML and LMNN; "
        "MLOML-t beats MOML, OPML and LMNN."
    )


def test_euclidean_under_the_other_scaling(make_study) -> None:
    sides = [
        side_of(make_study("clean", {"moml": WON, "lda": 0.0})),
        side_of(make_study("standardised", {"moml": LOST}, base=0.28)),
    ]
    over, _ = across(sides)
    frame = statements.scaling_frame(sides, over)
    assert list(frame.columns)[1::2] == [
        "on unit rows, Euclidean on standardised features",
        "on standardised features, Euclidean on unit rows",
    ]
    assert about(frame, "MOML")[::2] == ["beats it", "Euclidean beats it"]
    assert about(frame, "LDA")[0] == "Euclidean beats it"
    plain, unit, standardised = summary.scaling_sentences(sides, over)
    assert plain.startswith("Euclidean by itself errs less on standardised features than on unit rows (unit")
    assert re.search(
        r"^Euclidean on standardised features beats \d+ of 10 methods on unit rows \(.*LDA.*\) and", unit
    )
    assert unit.endswith("and is beaten by 1 (MOML).") and "(MOML" in standardised


def test_equal_scalings_show_no_difference(make_study) -> None:
    sides = [side_of(make_study("clean")), side_of(make_study("standardised"))]
    plain, unit, _ = summary.scaling_sentences(sides, across(sides)[0])
    assert "no difference between the two scalings is shown on these sets" in plain
    assert (
        unit
        == "Euclidean on standardised features beats none of 10 methods on unit rows and is beaten by none."
    )


def test_a_failure_is_a_dash_with_its_reason_and_the_number_of_sets_is_said(make_study) -> None:
    gaps = {("set03", "lda"): "the matrix is singular", ("set05", "lda"): "the matrix is singular"}
    side = side_of(make_study(effects={"lda": WON}, gaps=gaps))
    said, numbers = about(statements.help_frame([side]), "LDA")
    assert said == "helps beyond the paper" and numbers.endswith("(10 of 12 sets)")
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
    assert about(statements.help_frame([side]), "LDA") == ["there is nothing to compare", "–"]
    assert "Not ranked, because without any result: LDA." in ranks_table(side)[0]
    assert glance([side]).set_index("method").loc["LDA", "unit rows"] == "–"


def test_without_the_stacks_nothing_is_claimed_of_them(make_study) -> None:
    side = side_of(make_study(algorithms=("euclidean", "lda")))
    for frame in (statements.rivals_frame, statements.layers_frame, statements.learning_frame):
        assert frame([side]).empty
    assert summary.layers_sentence(side) == summary.learning_sentence(side) == ""
    assert summary.claims_sentence(side) == "On unit rows MLOML and its rivals were not compared."


def test_without_euclidean_there_is_nothing_to_compare(make_study) -> None:
    algorithms = ("moml", "mloml_r")
    sides = [side_of(make_study(name, algorithms=algorithms)) for name in ("clean", "standardised")]
    assert summary.help_sentence(sides[0]) == "On unit rows there is nothing to compare with Euclidean."
    assert len(statements.layers_frame(sides)) == 1 and advice_sentences(sides[0]) == ()
    assert summary.differing_sentence(sides) == ""
    plain = summary.scaling_sentences(sides, across(sides)[0])[0]
    assert plain == "Euclidean was not run under both scalings."


def test_where_names_the_sets(make_study) -> None:
    chosen = ("euclidean", *STACKS)
    side = side_of(make_study(sets=3, effects={"mloml_t": WON, "mloml_r": 0.0}, algorithms=chosen))
    said = summary.where_sentences(side)
    assert (
        "On unit rows MLOML-t wins over Euclidean on 3 sets (Set00, Set01, Set02) and loses on no set."
        in said
    )
    assert said[-1] == "On unit rows there is no set on which no method wins over Euclidean."
    none = side_of(make_study(sets=2, effects={"lda": LOST}, algorithms=("euclidean", "lda")))
    assert summary.where_sentences(none) == (
        "On unit rows no method at all wins over Euclidean on 2 sets (Set00, Set01).",
    )


def test_advice_names_what_helps_most_and_what_costs_least(make_study) -> None:
    said = advice_sentences(side_of(make_study(effects={"opml": WON, "mloml_t": 2 * WON})))
    row = r"of Euclidean's error, \S+ ms per training row\)"
    assert re.fullmatch(
        rf"On unit rows, of the 2 that help, MLOML-t \(\.6\d\d {row} has the lowest mean error and "
        rf"OPML \(\.8\d\d {row} the lowest cost; Euclidean itself takes 1\.2 ms\.",
        said[0],
    )
    assert said[1].startswith(
        "That MLOML-t is lower than the others was not tested; by their ranks it cannot"
    )
    (only,) = advice_sentences(side_of(make_study(effects={"opml": WON})))
    assert "is the only one that helps" in only
    (both, *_) = advice_sentences(side_of(make_study(effects={"opml": 2 * WON, "mloml_t": WON})))
    assert re.search(r"of the 2 that help, OPML \(.*\) has the lowest error and cost;", both)
