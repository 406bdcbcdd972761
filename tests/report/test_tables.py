"""The table's model: what is shown, marked, counted, and what is a dash instead."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mloml.report.document import Entry
from mloml.report.labels import NOT_HERE, REGENERATED, Labels, labels_of
from mloml.report.tables import INCOMPLETE, NO_REFERENCE, build_grid, summarise

NAMES = ({"iris": "iris", "wine": "wine"}, {"lego": "LEGO", "mloml_r": "MLOML-r"})
ERRORS = {
    ("iris", "lego"): [0.30, 0.34, 0.33],
    ("iris", "mloml_r"): [0.10, 0.12, 0.14],
    ("wine", "lego"): [0.20, 0.22, 0.24],
    ("wine", "mloml_r"): [0.21, 0.22, 0.23],
}


def cells(errors: dict[tuple[str, str], list[float]]) -> pd.DataFrame:
    rows = [(d, a, s, e, "ok") for (d, a), values in errors.items() for s, e in enumerate(values)]
    return pd.DataFrame(rows, columns=["dataset", "algorithm", "split", "error", "status"])


def grid_of(frame: pd.DataFrame, splits: int = 3):
    return build_grid(summarise(frame, Labels(*NAMES, splits), "mloml_r"), "t")


def test_means_deviations_marks_and_best_of_a_small_table() -> None:
    table = grid_of(cells(ERRORS))
    lego, reference = table.rows[0].entries
    assert [lego.mean, lego.std] == pytest.approx([0.97 / 3, np.std(ERRORS["iris", "lego"], ddof=1)])
    assert (lego.mark, lego.best, reference.mark, reference.best) == ("win", False, "", True)
    # Equal as printed: both are best, and neither is marked.
    assert [(entry.mark, entry.best) for entry in table.rows[1].entries] == [("tie", True), ("", True)]
    assert table.counts == ("1/1/0", "")


@pytest.mark.parametrize("status", ["failed", "missing", "timeout"])
def test_an_incomplete_cell_is_a_dash_with_a_footnote_and_never_a_mean(status: str) -> None:
    frame = cells(ERRORS)
    frame.loc[0, "status"] = status
    table = grid_of(frame)
    assert table.rows[0].entries[0] == Entry(note=INCOMPLETE.format(splits=3))
    assert table.rows[0].details == "lego: 2 of 3 splits"
    assert table.counts[0] == "0/1/0"


def test_without_a_complete_reference_there_is_a_note_instead_of_a_tie() -> None:
    table = grid_of(cells(ERRORS | {("iris", "mloml_r"): [0.1, 0.2]}))
    assert table.rows[0].entries[0].note == NO_REFERENCE and table.counts[0] == "0/1/0"


def test_uncounted_sets_change_neither_counts_nor_tests(make_result) -> None:
    result = make_result()
    with_them = summarise(result.frame, labels_of(result), "mloml_r")
    without = summarise(result.frame[result.frame["dataset"] != "spect"], labels_of(result), "mloml_r")
    pd.testing.assert_frame_equal(with_them.counts, without.counts)
    counted = with_them.comparisons[with_them.comparisons["dataset"] != "spect"]
    pd.testing.assert_frame_equal(counted, without.comparisons)


@settings(deadline=None, max_examples=20)
@given(st.data())
def test_wins_ties_and_losses_add_up_to_the_complete_counted_rows(data) -> None:
    errors = {}
    for place in [(dataset, algorithm) for dataset in ("iris", "wine", "pima") for algorithm in "ar"]:
        length = data.draw(st.sampled_from([4, 4, 3]))
        values = st.lists(st.integers(0, 9).map(lambda k: k / 10), min_size=length, max_size=length)
        errors[place] = data.draw(values)
    names = {dataset: dataset for dataset, _ in errors}
    labels = Labels(names, {"a": "A", "r": "R"}, 4, uncounted=frozenset({"pima"}))
    results = summarise(cells(errors), labels, "r")
    complete = [d for d in ("iris", "wine") if len(errors[d, "a"]) == len(errors[d, "r"]) == 4]
    assert results.counts[["win", "tie", "loss"]].to_numpy().sum() == len(complete)
    for row in build_grid(results, "t").rows:
        for algorithm, entry in zip("ar", row.entries, strict=True):
            assert (entry.mean is None) == (len(errors[row.name, algorithm]) < 4)


def test_csv_is_rectangular_and_spells_its_footnotes_out(make_result) -> None:
    result = make_result(missing=("wine",), keep=lambda d, a, s: not (d == "iris" and a == "lego" and s > 4))
    table = (
        build_grid(summarise(result.frame, labels_of(result), "mloml_r"), "t").frame().set_index("dataset")
    )
    assert table.loc["iris", "LEGO"] == "–" and "lego: 5 of 8 splits" in table.loc["iris", "note"]
    assert set(table.loc["wine"]) == {"–", NOT_HERE} and table.loc["note", "SLMOML"] == "reconstruction"
    assert table.loc["spect", "note"] == "not counted" and REGENERATED in table.loc["waveform", "note"]
    assert list(table.index)[-3:] == ["win/tie/loss", "spect", "note"]


def test_rows_and_columns_stand_in_the_papers_order(make_result) -> None:
    result = make_result(datasets=("wine", "iris", "mlprove_paper"), algorithms=("mloml_r", "moml", "lego"))
    labels = labels_of(result)
    assert list(labels.datasets) == ["iris", "wine", "mlprove_paper"]
    assert list(labels.algorithms) == ["lego", "moml", "mloml_r"]
    grouped = labels_of(result, {"moml": "group"})
    assert list(grouped.algorithms) == ["mloml_r", "moml", "lego"]  # with groups, the study's own order


@pytest.mark.parametrize(
    ("protocol", "counted", "uncounted"),
    [("paper", "spect_paper", "spect"), ("lite", "spect_paper", "spect"), ("clean", "spect", "spect_paper")],
)
def test_each_protocol_counts_its_own_variant(make_result, protocol, counted, uncounted) -> None:
    labels = labels_of(make_result(protocol=protocol))
    assert counted in labels.counted and uncounted in labels.uncounted
    assert labels.datasets[counted] == "spect"
    assert (
        labels.datasets[uncounted] == {"spect": "spect (true)", "spect_paper": "spect (paper's)"}[uncounted]
    )
