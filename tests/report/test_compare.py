"""A table of one's own: numbers, tests against any algorithm, and nothing that the paper says."""

from dataclasses import replace

import pytest
from scipy import stats

from mloml.report.compare import build
from mloml.report.publish import context_of
from mloml.report.recipe import find_recipe
from mloml.report.render import render


@pytest.fixture
def result(make_result):
    """Data sets in another order than the paper's, one of them not counted there; one cell is missing."""
    made = make_result(
        datasets=("spect", "iris", "spect_paper"),
        algorithms=("mloml_r", "lego", "euclidean"),
        protocol="clean",
        keep=lambda dataset, algorithm, split: (dataset, algorithm, split) != ("iris", "lego", 3),
    )
    return replace(made, study=replace(made.study, reference="lego"))


def test_means_deviations_and_tests_are_numbers(result):
    numbers = build(result).tables[0].frame.set_index(["dataset", "algorithm"])
    errors = result.frame.pivot_table("error", "split", ["dataset", "algorithm"])
    for name in ("mloml_r", "euclidean"):
        row, ours, theirs = numbers.loc["spect", name], errors["spect", name], errors["spect", "lego"]
        assert (row["mean"], row["std"]) == pytest.approx((ours.mean(), ours.std()))
        assert row["difference"] == pytest.approx(ours.mean() - theirs.mean())
        assert row["p_paired"] == pytest.approx(stats.ttest_rel(ours, theirs).pvalue)
        assert row["reference"] == "lego" and row["mark_paired"] in ("win", "tie", "loss")
    assert numbers["mean"].isna()["iris", "lego"] and numbers["splits"]["iris", "lego"] == 7
    assert numbers["p_paired"].isna()["iris", "euclidean"]  # its reference is not complete


def test_any_algorithm_is_the_reference_and_every_data_set_counts_in_the_order_given(result):
    artefact = build(result)
    grid, counts = artefact.tables[0].latex, artefact.tables[1].frame.set_index("algorithm")
    assert [row.name for row in grid.rows] == ["spect", "iris", "spect_paper"] and not grid.uncounted
    assert [column.name for column in grid.columns] == ["mloml_r", "lego", "euclidean"]
    assert set(counts.index) == {"mloml_r", "euclidean"} and set(counts["reference"]) == {"lego"}
    assert (counts[["win", "tie", "loss"]].sum(axis=1) == 2).all()  # iris lacks a split of the reference
    assert grid.label == f"tab:{result.folder.name}"


def test_the_page_mentions_neither_the_paper_nor_its_tables(result):
    recipe = find_recipe("compare")
    text = render(build(result), recipe.template, context_of(recipe, [result])).markdown
    assert "paper" not in text.replace("spect\\_paper", "").lower() and "MLOML-r" in text
    alone = replace(result, study=replace(result.study, algorithms=result.study.algorithms[1:2]))
    assert build(alone).values["counts"] == {}
    assert render(build(alone), recipe.template, context_of(recipe, [alone])).headline
