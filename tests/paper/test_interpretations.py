"""Interpretations that were tried: the list is sound, and cells are sorted by what they were in choosing."""

import pandas as pd
import pytest

from mloml.paper import table2, table3
from mloml.paper.interpretations import ANY, LOOKS, choices, count_by_look, look_of
from mloml.paper.published import ALGORITHMS, DATASETS

KNOWN = {*table2()["algorithm"], *table3()["algorithm"]}


@pytest.mark.parametrize("choice", choices(), ids=lambda choice: choice.name)
def test_a_choice_names_rows_and_methods_that_exist_and_no_row_twice(choice) -> None:
    assert {*choice.decided_on, *choice.also_seen, *choice.rows} <= set(DATASETS)
    assert {*choice.judged_by} <= KNOWN and set(choice.methods) & KNOWN
    assert not set(choice.decided_on) & set(choice.also_seen)
    assert choice.tried >= 1 and choice.what and choice.chosen
    assert choice.decided_on or choice.also_seen


def test_pems_was_never_looked_at_and_every_method_has_a_choice() -> None:
    assert {look_of("pems", name) for name in KNOWN} == {"not looked at"}
    for name in ALGORITHMS.values():
        assert any(choice.concerns("iris", name) for choice in choices())


@pytest.mark.parametrize(
    ("row", "algorithm", "look"),
    [
        ("mlprove", "moml", "decided on"),  # in choosing `free`
        ("mlprove", "mloml_r", "decided on"),  # in choosing cone_floor
        ("waveform", "mloml_r_bp", "decided on"),  # in choosing the rates
        ("waveform", "mloml_r", "only seen"),
        ("diabetic", "mloml_r", "decided on"),  # in choosing the order of scans
        ("waveform", "lmnn", "not looked at"),
        ("mlprove", "kissme", "not looked at"),
    ],
)
def test_what_single_cells_were(row: str, algorithm: str, look: str) -> None:
    assert look_of(row, algorithm) == look


def cells(*found: tuple[str, str, str]) -> pd.DataFrame:
    return pd.DataFrame(found, columns=["dataset", "algorithm", "verdict"])


def test_agreement_is_counted_by_look() -> None:
    counts = count_by_look(
        cells(
            ("iris", "lego", "agrees"),
            ("wine", "lego", "differs: ours lower"),
            ("waveform", "lego", "agrees"),
            ("mlprove_paper", "lego", "differs: ours higher"),
        )
    ).set_index("choice")
    assert counts.loc["LEGO", ["readings tried", *LOOKS]].tolist() == [6, "1 of 2", "1 of 1", "0 of 1"]
    assert counts.loc[ANY, list(LOOKS)].tolist() == ["1 of 2", "1 of 1", "0 of 1"]
    assert "RDML" not in counts.index  # no cell of it
    # A choice about mlprove alone acts on that row alone.
    assert counts.loc["mlprove's columns", list(LOOKS)].tolist() == ["0 of 0", "0 of 0", "0 of 1"]
