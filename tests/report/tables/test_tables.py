"""The table's model: what is shown, marked, counted, and what is a dash instead."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mloml.report.document import Column, Entry, Grid, Row, number
from mloml.report.labels import NOT_HERE, REGENERATED, Labels, labels_of
from mloml.report.tables import INCOMPLETE, NO_REFERENCE, build_grid, summarise


def cells(errors: dict[tuple[str, str], list[float]]) -> pd.DataFrame:
    rows = [(d, a, s, e, "ok") for (d, a), values in errors.items() for s, e in enumerate(values)]
    return pd.DataFrame(rows, columns=["dataset", "algorithm", "split", "error", "status"])


LABELS = Labels({"iris": "iris", "wine": "wine"}, {"lego": "LEGO", "mloml_r": "MLOML-r"}, splits=3)
ERRORS = {
    ("iris", "lego"): [0.30, 0.34, 0.33],
    ("iris", "mloml_r"): [0.10, 0.12, 0.14],
    ("wine", "lego"): [0.20, 0.22, 0.24],
    ("wine", "mloml_r"): [0.21, 0.22, 0.23],
}


def test_means_deviations_marks_and_best_of_a_small_table() -> None:
    table = build_grid(summarise(cells(ERRORS), LABELS, "mloml_r"), "caption", "tab:t")
    lego, reference = table.rows[0].entries
    assert lego.errors == tuple(ERRORS["iris", "lego"])
    assert lego.mean == pytest.approx(0.97 / 3) and lego.std == pytest.approx(
        np.std(ERRORS["iris", "lego"], ddof=1)
    )
    assert (lego.mark, lego.best, reference.mark, reference.best) == ("win", False, "", True)
    # Equal as printed: both are best, and neither is marked.
    assert [(entry.mark, entry.best) for entry in table.rows[1].entries] == [("tie", True), ("", True)]
    assert table.counts == ("1/1/0", "")


def test_an_incomplete_cell_is_a_dash_with_a_footnote_and_never_a_mean() -> None:
    frame = cells(ERRORS).drop(index=0)
    table = build_grid(summarise(frame, LABELS, "mloml_r"), "", "")
    entry = table.rows[0].entries[0]
    assert entry == Entry(note=INCOMPLETE.format(splits=3))
    assert table.rows[0].details == "lego: 2 of 3 splits"
    assert table.counts[0] == "0/1/0"


@pytest.mark.parametrize("status", ["failed", "missing", "timeout"])
def test_a_cell_that_is_not_ok_does_not_count_as_finished(status: str) -> None:
    frame = cells(ERRORS)
    frame.loc[0, "status"] = status
    assert build_grid(summarise(frame, LABELS, "mloml_r"), "", "").rows[0].entries[0].mean is None


def test_without_a_complete_reference_there_is_a_note_instead_of_a_tie() -> None:
    frame = cells(ERRORS)
    frame = frame[~((frame["dataset"] == "iris") & (frame["algorithm"] == "mloml_r") & (frame["split"] == 2))]
    table = build_grid(summarise(frame, LABELS, "mloml_r"), "", "")
    assert table.rows[0].entries[0].note == NO_REFERENCE
    assert table.counts[0] == "0/1/0"


def test_splits_beyond_those_asked_for_are_left_out() -> None:
    labels = Labels(LABELS.datasets, LABELS.algorithms, splits=2)
    summary = summarise(cells(ERRORS), labels, "mloml_r").summary
    assert summary["splits"].tolist() == [2, 2, 2, 2]
    assert summary["mean"].iloc[0] == pytest.approx(0.32)


def test_a_single_split_has_a_mean_without_a_deviation() -> None:
    labels = Labels(LABELS.datasets, LABELS.algorithms, splits=1)
    entry = build_grid(summarise(cells(ERRORS), labels, "mloml_r"), "", "").rows[0].entries[0]
    assert entry.numbers() == (".300",) and entry.mark == "tie"


def test_nothing_finished_yet_is_a_table_of_dashes() -> None:
    frame = cells(ERRORS).iloc[:0]
    table = build_grid(summarise(frame, LABELS, "mloml_r"), "", "")
    assert all(entry.mean is None for row in table.rows for entry in row.entries)


def test_rows_and_columns_stand_in_the_papers_order(make_result) -> None:
    result = make_result(datasets=("wine", "iris", "mlprove_paper"), algorithms=("mloml_r", "moml", "lego"))
    labels = labels_of(result)
    assert list(labels.datasets) == ["iris", "wine", "mlprove_paper"]
    assert list(labels.algorithms) == ["lego", "moml", "mloml_r"]


@pytest.mark.parametrize(
    ("protocol", "counted", "below"),
    [("paper", "spect_paper", "spect"), ("lite", "spect_paper", "spect"), ("clean", "spect", "spect_paper")],
)
def test_each_protocol_counts_its_own_variant(make_result, protocol, counted, below) -> None:
    labels = labels_of(make_result(protocol=protocol))
    assert counted in labels.counted and below in labels.uncounted
    assert labels.datasets[counted] == "spect"
    assert labels.datasets[below] == {"spect": "spect (true)", "spect_paper": "spect (paper's)"}[below]


def test_footnotes_cover_regenerated_data_reconstructions_and_missing_datasets(make_result) -> None:
    result = make_result(missing=("wine",))
    table = build_grid(summarise(result.frame, labels_of(result), "mloml_r"), "", "")
    notes = list(table.footnotes())
    assert "reconstruction" in notes and REGENERATED in notes
    assert NOT_HERE in notes
    wine = next(row for row in table.rows if row.name == "wine")
    assert all(entry == Entry() for entry in wine.entries)


def test_sets_below_the_rule_change_neither_counts_nor_tests(make_result) -> None:
    result = make_result()
    with_them = summarise(result.frame, labels_of(result), "mloml_r")
    above = result.frame[result.frame["dataset"] != "spect"]
    without = summarise(above, labels_of(result), "mloml_r")
    pd.testing.assert_frame_equal(with_them.counts, without.counts)
    counted = with_them.comparisons[with_them.comparisons["dataset"] != "spect"]
    pd.testing.assert_frame_equal(counted, without.comparisons)


@settings(deadline=None, max_examples=20)
@given(st.data())
def test_wins_ties_and_losses_add_up_to_the_complete_counted_rows(data) -> None:
    splits = 4
    names = ["iris", "wine", "pima"]
    labels = Labels({n: n for n in names}, {"a": "A", "r": "R"}, splits, uncounted=frozenset({"pima"}))
    errors = {}
    for dataset in names:
        for algorithm in "ar":
            length = data.draw(st.sampled_from([splits, splits, splits - 1]))
            errors[dataset, algorithm] = data.draw(
                st.lists(st.integers(0, 9).map(lambda k: k / 10), min_size=length, max_size=length)
            )
    results = summarise(cells(errors), labels, "r")
    complete = [d for d in ("iris", "wine") if len(errors[d, "a"]) == len(errors[d, "r"]) == splits]
    counted = results.counts[["win", "tie", "loss"]].to_numpy().sum() if len(results.counts) else 0
    assert counted == len(complete)
    table = build_grid(results, "", "")
    for row in table.rows:
        for column, entry in zip(table.columns, row.entries, strict=True):
            assert (entry.mean is None) == (len(errors[row.name, column.name]) < splits)


def test_csv_is_rectangular_and_spells_its_footnotes_out(make_result) -> None:
    result = make_result(keep=lambda d, a, s: not (d == "iris" and a == "lego" and s > 4))
    frame = build_grid(summarise(result.frame, labels_of(result), "mloml_r"), "", "").frame()
    by_name = frame.set_index("dataset")
    assert by_name.loc["iris", "LEGO"] == "–" and "lego: 5 of 8 splits" in by_name.loc["iris", "note"]
    assert by_name.loc["note", "SLMOML"] == "reconstruction"
    assert by_name.loc["spect", "note"] == "not counted"
    assert REGENERATED in by_name.loc["waveform", "note"]
    assert list(by_name.index)[-3:] == ["win/tie/loss", "spect", "note"]


def test_more_than_26_footnotes_still_have_letters_of_their_own() -> None:
    rows = tuple(Row(str(i), str(i), (Entry(note=f"note {i}"),)) for i in range(60))
    letters = list(Grid("", "", (Column("a", "A"),), rows).footnotes().values())
    assert len(set(letters)) == 60 and letters[25:28] == ["z", "aa", "ab"]


@pytest.mark.parametrize(
    ("value", "text"), [(0.0, ".000"), (0.9996, "1.000"), (0.05, ".050"), (-0.1, "-.100")]
)
def test_numbers_are_printed_as_in_the_paper(value: float, text: str) -> None:
    assert number(value) == text
