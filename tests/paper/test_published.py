"""The paper's tables as data: complete, and consistent with the counts printed below them."""

import pytest

from mloml import paper
from mloml.paper.statistics import counts_against_reference


def test_table2_has_every_cell_once() -> None:
    table = paper.table2()
    assert len(table) == 12 * 14 and not table.isna().to_numpy().any()
    assert set(table["dataset"]) == set(paper.DATASETS)
    assert set(table["algorithm"]) == set(paper.ALGORITHMS.values())
    assert not table.duplicated(["dataset", "algorithm"]).any()


def test_table1_lists_the_same_datasets() -> None:
    assert paper.table1()["dataset"].tolist() == list(paper.DATASETS)


def test_table3_has_three_strategies_of_three_activations() -> None:
    table = paper.table3()
    assert len(table) == 12 * 9 and not table.isna().to_numpy().any()
    expected = {f"mloml_{a}{end}" for a in "rst" for end in ("", "_bp", "_fbp")}
    assert set(table["algorithm"]) == expected


def test_forward_propagation_is_the_same_in_both_tables() -> None:
    both = paper.table3().merge(paper.table2(), on=["dataset", "algorithm"], suffixes=("", "_2"))
    assert len(both) == 36
    assert (both["error"] == both["error_2"]).all() and (both["std"] == both["std_2"]).all()


@pytest.mark.parametrize("number", [2, 3])
def test_printed_counts_follow_from_the_marks(number: int) -> None:
    table = {2: paper.table2, 3: paper.table3}[number]()
    printed = {2: paper.table2_counts, 3: paper.table3_counts}[number]()
    mark = "corrected_mark" if number == 3 else "mark"
    table["reference"] = table.get("reference", "mloml_r")
    others = table[table["algorithm"] != table["reference"]]
    counted = counts_against_reference(others, paper.DATASETS, mark)
    assert _by_name(counted) == _by_name(printed)


def test_marks_point_the_way_the_means_do() -> None:
    for table, mark in ((paper.table2(), "mark"), (paper.table3(), "corrected_mark")):
        reference = table.get("reference", "mloml_r")
        errors = table.set_index(["dataset", "algorithm"])["error"]
        own = [errors[key] for key in zip(table["dataset"], table.assign(r=reference)["r"], strict=True)]
        difference = table["error"] - own
        assert (difference[table[mark] == "win"] > 0).all()
        assert (difference[table[mark] == "loss"] < 0).all()


def test_the_lowest_mean_of_a_row_is_always_bold() -> None:
    table = paper.table2()
    lowest = table["error"] == table.groupby("dataset")["error"].transform("min")
    assert table.loc[lowest, "bold"].all()
    # Four runners-up are bold as well; our tables do not follow the paper in that.
    assert int((table["bold"] & ~lowest).sum()) == 4


@pytest.mark.parametrize(
    ("dataset", "row"),
    [("iris", "iris"), ("mlprove_paper", "mlprove"), ("mlprove", None), ("spect", None), ("my_data", None)],
)
def test_only_datasets_the_paper_measured_have_a_row(dataset: str, row: str | None) -> None:
    assert paper.paper_row(dataset) == row


def _by_name(counts) -> dict[str, tuple[str, int, int, int]]:
    return {r.algorithm: (r.reference, r.win, r.tie, r.loss) for r in counts.itertuples()}
