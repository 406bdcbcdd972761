"""Comparisons of figures 5, 7 and 8, against tests computed by scipy and counts made by hand."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import t as student
from scipy.stats import ttest_rel

from mloml.config.compose import compose_study
from mloml.report.artefacts import fig5, fig7, fig8
from mloml.report.curves import (
    Comparison,
    compare_curves,
    count_differences,
    curves_artefact,
    from_first_to_last,
    points_table,
)
from mloml.report.figures.curves import curve_frame
from mloml.report.figures.style import style_of

DATASETS = {"iris": "iris", "spect_paper": "spect*", "wine": "wine"}


@pytest.fixture
def records():
    """Layers that help on iris, harm on spect and do nothing on wine, beside a method without layers."""
    rng = np.random.default_rng(0)
    cells = []
    for dataset, change in (("iris", -0.05), ("spect_paper", 0.05), ("wine", 0.0)):
        for split in range(20):
            wave = 0.01 * (-1) ** split  # as often up as down: no difference for certain
            layers = [0.2, 0.2 + rng.normal(0, 0.01), 0.2 + change + wave]
            place = {"dataset": dataset, "split": split}
            cells.append({**place, "algorithm": "deep", "error": layers[-1], "layer_errors": layers})
            cells.append({**place, "algorithm": "moml", "error": 0.3 + rng.normal(0, 0.01)})
    return cells


def compared(records, asked, splits=20):
    frame = curve_frame(records, "layer_errors", "layer")
    return compare_curves(frame, "layer", list(DATASETS), asked, splits)


def errors_of(records, dataset, algorithm):
    cells = [c for c in records if (c["dataset"], c["algorithm"]) == (dataset, algorithm)]
    return np.array([cell.get("layer_errors") or [cell["error"]] for cell in cells])


def test_both_tests_are_scipys_and_nadeau_and_bengios(records):
    rows = compared(records, Comparison("deep", "moml")).set_index("dataset")
    for name in DATASETS:
        mine, other = errors_of(records, name, "deep")[:, -1], errors_of(records, name, "moml")[:, 0]
        assert rows.loc[name, "p_paired"] == pytest.approx(ttest_rel(mine, other).pvalue)
        spread = (mine - other).std(ddof=1) * np.sqrt(1 / 20 + 1)  # halves: as many test as training rows
        p = 2 * student.sf(abs((mine - other).mean()) / spread, 19)
        assert rows.loc[name, "p_corrected"] == pytest.approx(p)
        assert rows.loc[name, "error"] == pytest.approx(mine.mean())
        assert (rows.loc[name, "point"], rows.loc[name, "reference_point"]) == (3, 0)


def test_a_cell_is_one_row_with_its_error_at_every_layer(records):
    table = points_table(curve_frame(records, "layer_errors", "layer"), "layer").frame
    assert table.columns.tolist() == ["dataset", "algorithm", "split", 0, 1, 2, 3]
    assert len(table) == len(records)
    rows = table.set_index(["dataset", "algorithm", "split"])
    for cell in records:
        row = rows.loc[cell["dataset"], cell["algorithm"], cell["split"]]
        expected = cell.get("layer_errors") or [cell["error"]]
        assert row.dropna().tolist() == expected and row.notna()[0] == ("layer_errors" not in cell)


def test_falls_and_rises_are_counted_and_named(records):
    counts = count_differences(compared(records, from_first_to_last("deep")), DATASETS)
    assert (counts["sets"], counts["lower"], counts["higher"]) == (3, 1, 1)
    assert (counts["lower_plain"], counts["higher_plain"]) == (1, 1)
    assert (counts["lower_on"], counts["higher_on"]) == ("iris†", "spect*†")
    assert (counts["algorithm"], counts["point"], counts["reference_point"]) == ("deep", 3, 1)


def test_what_only_the_plain_test_finds_is_not_counted_by_the_corrected_one(records):
    """A lead of half a standard deviation over 20 splits is significant by the plain test alone."""
    for cell in records:
        if cell["algorithm"] == "moml":
            mine = errors_of(records, cell["dataset"], "deep")[cell["split"], -1]
            cell["error"] = mine + 0.006 + 0.01 * (-1) ** cell["split"]
    counts = count_differences(compared(records, Comparison("deep", "moml")), DATASETS)
    assert (counts["lower"], counts["lower_plain"], counts["higher_plain"]) == (0, 3, 0)
    assert counts["lower_on"] == "iris, spect*, wine"


def test_methods_without_all_splits_or_without_a_curve_are_left_out(records):
    lacking = [cell for cell in records if not (cell["dataset"] == "iris" and cell["split"] == 3)]
    assert compared(lacking, from_first_to_last("deep"))["dataset"].tolist() == ["spect_paper", "wine"]
    assert compared(records, from_first_to_last("moml")).empty
    counts = count_differences(compared([], from_first_to_last("deep")), DATASETS)
    assert (counts["sets"], counts["lower"], counts["higher_plain"]) == (0, 0, 0)


@pytest.mark.parametrize("figure", [fig5, fig7, fig8])
def test_a_figure_compares_algorithms_of_its_experiment_that_can_be_told_apart(figure):
    known = {algorithm.name for algorithm in compose_study(figure.RECIPE.name, []).algorithms}
    build = figure.build.keywords
    asked = [*build["comparisons"].values(), *build.get("throughout", [])]
    assert {name for each in asked for name in (each.algorithm, each.reference)} <= known
    assert {
        *build["references"],
        *build["references"].values(),
        *sum(build.get("groups", {}).values(), ()),
    } <= known
    assert len({style_of(curve).marker for curve in build["references"]}) == len(build["references"])
    for panel in build.get("groups", {"": known}).values():
        assert len({style_of(name).colour for name in panel}) == len(panel)


def test_two_curves_are_compared_at_every_point(records, make_result):
    for cell in records:
        cell["algorithm"] = {"deep": "moml", "moml": "euclidean"}[cell["algorithm"]]
    result = replace(make_result(datasets=DATASETS, splits=20), records=records)
    asked = [Comparison("moml", "moml_split"), Comparison("moml", "mloml_r")]
    for other, shift in (("mloml_r", 0.1), ("moml_split", 0.0)):
        deep = [cell for cell in records if cell["algorithm"] == "moml"]
        moved = [[error + shift for error in cell["layer_errors"]] for cell in deep]
        records += [{**c, "algorithm": other, "layer_errors": m} for c, m in zip(deep, moved, strict=True)]
    made = curves_artefact(result, "fig5", "layer", {}, {}, throughout=asked)
    (table,) = (table.numbers for table in made.tables if table.name == "equal_layers")
    assert len(table) == 3 * 3 * 2 and (table["point"] == table["reference_point"]).all()
    means = table.groupby("reference")["difference"].agg(["min", "max"])
    assert means.loc["moml_split"].tolist() == [0, 0]
    assert means.loc["mloml_r"].to_list() == pytest.approx([-0.1, -0.1])
