"""Words under figures 5, 7 and 8, against tests computed by scipy and counts made by hand."""

import numpy as np
import pytest
from scipy.stats import t as student
from scipy.stats import ttest_rel

from mloml.config.compose import compose_study
from mloml.report.figures.curves import curve_frame
from mloml.report.parts.curve_findings import (
    NOTHING,
    Comparison,
    compare_curves,
    curve_findings,
    from_first_to_last,
)
from mloml.report.recipe import find_recipe

DATASETS = {"iris": "iris", "spect_paper": "spect*", "wine": "wine"}
ALGORITHMS = {"moml": "MOML", "deep": "Deep"}


@pytest.fixture
def records():
    """Layers that help on iris, harm on spect and do nothing on wine, beside a method without layers."""
    rng = np.random.default_rng(0)
    cells = []
    for dataset, change in (("iris", -0.05), ("spect_paper", 0.05), ("wine", 0.0)):
        for split in range(20):
            wave = 0.01 * (-1) ** split  # as often up as down: no difference for certain
            layers = [0.2, 0.2 + rng.normal(0, 0.01), 0.2 + change + wave]
            cells += [
                {"dataset": dataset, "algorithm": "deep", "split": split, "error": layers[-1],
                 "layer_errors": layers},
                {"dataset": dataset, "algorithm": "moml", "split": split, "error": 0.3 + rng.normal(0, 0.01),
                 "layer_errors": None},
            ]  # fmt: skip
    return cells


def compared(records, comparisons, splits=20):
    frame = curve_frame(records, "layer_errors", "layer")
    return compare_curves(frame, "layer", list(DATASETS), comparisons, splits)


def words(records, comparisons, splits=20):
    rows = compared(records, comparisons, splits)
    return curve_findings(rows, "layer", DATASETS, ALGORITHMS, comparisons)


def errors_of(records, dataset, algorithm):
    cells = [c for c in records if (c["dataset"], c["algorithm"]) == (dataset, algorithm)]
    return np.array([cell["layer_errors"] or [cell["error"]] for cell in cells])


def test_both_tests_are_scipys_and_nadeau_and_bengios(records):
    rows = compared(records, [Comparison("deep", "moml")]).set_index("dataset")
    for name in DATASETS:
        mine, other = errors_of(records, name, "deep")[:, -1], errors_of(records, name, "moml")[:, 0]
        assert rows.loc[name, "p_paired"] == pytest.approx(ttest_rel(mine, other).pvalue)
        spread = (mine - other).std(ddof=1) * np.sqrt(1 / 20 + 1)  # halves: as many test as training rows
        p = 2 * student.sf(abs((mine - other).mean()) / spread, 19)
        assert rows.loc[name, "p_corrected"] == pytest.approx(p)
        assert rows.loc[name, "error"] == pytest.approx(mine.mean())
        assert (rows.loc[name, "point"], rows.loc[name, "reference_point"]) == (3, 0)


def test_falls_and_rises_are_counted_by_both_tests(records):
    headline, (sentence,) = words(records, [from_first_to_last("deep", main=True)])
    assert headline.endswith(
        "Deep, layer 3, against layer 1: lower on 1 (1) and higher on 1 (1) of 3 datasets."
    )
    means = {name: errors_of(records, name, "deep").mean(axis=0) for name in DATASETS}
    iris, spect = (
        f"{means[name][2]:.3f} against {means[name][0]:.3f}".replace("0.", ".")
        for name in ("iris", "spect_paper")
    )
    assert sentence == (
        "Deep, layer 3, against layer 1, on 3 datasets: by the corrected test the error is lower on 1 (iris) "
        f"and higher on 1 (spect*); by the plain one lower on 1 (iris {iris}), higher on 1 (spect* {spect})."
    )


def test_what_only_the_plain_test_sees_is_not_counted_by_the_corrected_one(records):
    """A lead of half a standard deviation over 20 splits is significant by the plain test alone."""
    for cell in records:
        if cell["algorithm"] == "moml":
            mine = errors_of(records, cell["dataset"], "deep")[cell["split"], -1]
            cell["error"] = mine + 0.006 + 0.01 * (-1) ** cell["split"]
    headline, (sentence,) = words(records, [Comparison("deep", "moml", main=True)])
    assert "lower on 0 (3) and higher on 0 (0) of 3 datasets" in headline
    assert "by the corrected test the error is lower on none and higher on none" in sentence


def test_the_first_layer_is_compared_with_another_method_too(records):
    asked = [Comparison("deep", "moml", at="first"), Comparison("deep", "moml")]
    assert compared(records, asked)["point"].tolist() == [1] * 3 + [3] * 3
    first, (last,) = words(records, asked)
    assert first.startswith("Deep, layer 1, against MOML, on 3 datasets")
    assert last.startswith("Deep, layer 3, against MOML, on 3 datasets")


def test_no_difference_at_all_is_said_in_short(records):
    wine = [cell for cell in records if cell["dataset"] == "wine"]
    sentence, _ = words(wine, [from_first_to_last("deep")])
    assert sentence.endswith("on 1 dataset: no significant difference on any of them, by either test.")


def test_without_a_main_comparison_the_first_sentence_is_the_headline(records):
    headline, sentences = words(records, [Comparison("deep", "moml"), from_first_to_last("deep")])
    assert headline.startswith("Deep, layer 3, against MOML, on 3 datasets")
    assert [line.split(", on")[0] for line in sentences] == ["Deep, layer 3, against layer 1"]


def test_methods_with_too_few_splits_are_left_out(records):
    lacking = [cell for cell in records if not (cell["dataset"] == "iris" and cell["split"] == 3)]
    headline, sentences = words(lacking, [from_first_to_last("deep", main=True)])
    assert "of 2 datasets" in headline and "iris" not in sentences[0]
    assert words([], [from_first_to_last("deep")]) == (NOTHING, [])


@pytest.mark.parametrize("name", ["fig5", "fig7", "fig8"])
def test_every_comparison_of_a_figure_names_algorithms_of_its_experiment(name):
    study = compose_study(name, [])
    known = {algorithm.name for algorithm in study.algorithms}
    build = find_recipe(name).build.keywords
    asked = {n for c in build["comparisons"] for n in (c.algorithm, c.reference)}
    assert asked <= known
    assert set(build["references"]) | set(build["references"].values()) <= known
    assert set(build.get("pairs", ())) <= known
