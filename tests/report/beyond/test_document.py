"""The whole artefact: its files, its page, and the same page in the report."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from mloml.report.artefacts.beyond import RECIPE
from mloml.report.figures.cost import CUT, cost_figure
from mloml.report.page import write_report
from mloml.report.publish import publish
from mloml.report.recipe import recipes
from mloml.report.reproduce import run

WON = -0.05


@pytest.fixture
def published(make_study, tmp_path):
    """Two studies with a failure in the second, published as a run does."""
    gaps = {("set03", "lda"): "the matrix is singular"}
    results = [make_study("clean", {"mloml_r": WON}), make_study("standardised", gaps=gaps, base=0.2)]
    folder = tmp_path / "results" / "beyond"
    publish(RECIPE.make(results), folder)
    return folder


def test_its_files_are_there_and_the_page_has_the_numbers(published) -> None:
    names = {path.name for path in published.iterdir()}
    studies = ("clean", "standardised")
    assert names >= {f"errors_{study}.{ending}" for study in studies for ending in ("csv", "md", "tex")}
    assert names >= {f"critical_difference_{study}.png" for study in studies}
    assert names >= {"beyond.md", "findings.md", "cost.png", "cost.csv", "over_sets.csv", "on_sets.csv"}
    text = (published / "beyond.md").read_text(encoding="utf-8")
    over = pd.read_csv(published / "over_sets.csv").set_index(["study", "test", "algorithm", "reference"])
    row = over.loc[("clean", "euclidean", "mloml_r", "euclidean")]
    median = f"{row['median_difference']:.3f}".replace("0.", ".")
    assert f"| MLOML-r | helps beyond the paper | {median}, {row['wins']}/" in text
    assert text.startswith("# Beyond the paper: which learner when\n")
    assert "12 sets that the paper never saw, 5 random halves of each." in text
    assert "LDA on standardised features has no result on Set03: failed in 5 of 5 splits" in text
    assert "Set00: A stratified sample of 200 of 400 rows" in text


def test_sampled_sets_failures_and_counts_stand_in_the_table(published) -> None:
    table = pd.read_csv(published / "errors_standardised.csv").set_index("dataset")
    assert table.loc["set00", "note"] == "A stratified sample of 200 of 400 rows"
    assert table.loc["set03", "LDA"] == "–" and "the matrix is singular" in table.loc["set03", "note"]
    on_sets = pd.read_csv(published / "on_sets.csv")
    mine = on_sets[
        (on_sets["study"] == "clean") & (on_sets["test"] == "euclidean") & (on_sets["algorithm"] == "mloml_r")
    ]
    wins, ties, losses = ((mine["outcome"] == word).sum() for word in ("win", "tie", "loss"))
    clean = pd.read_csv(published / "errors_clean.csv").set_index("dataset")
    assert clean.loc["win/tie/loss", "MLOML-r"] == f"{wins}/{ties}/{losses}" and wins > 0
    assert clean.loc["set05", "MLOML-r"].rstrip("*").endswith("◦")  # an open mark: Euclidean is worse


def test_the_report_shows_the_page(published) -> None:
    document = json.loads((published / "artefact.json").read_text(encoding="utf-8"))
    sentences = [
        sentence for block in document["notes"] if block["kind"] == "Text" for sentence in block["sentences"]
    ]
    assert all(sentence in sentences for sentence in document["findings"])
    claims = [sentence for sentence in sentences if "MLOML beats" in sentence or "MLOML-r beats" in sentence]
    assert document["headline"] == " ".join([sentences[0], *claims])
    page = write_report(published.parent).read_text(encoding="utf-8")
    assert "Learning the layers, or the non-linearity alone?" in page
    assert "Cost against accuracy" in page and "is damaged" not in page


def test_the_cost_is_seconds_by_the_rows_trained_on(published) -> None:
    cost = pd.read_csv(published / "cost.csv").set_index(["study", "algorithm"])
    # 0.1 s times the method's place, 1.2 times that in the middle split, 100 of 200 rows trained on.
    assert cost.loc[("clean", "euclidean"), "seconds_per_row"] == pytest.approx(0.1 * 1.2 / 100)
    assert cost.loc[("clean", "lmnn"), "seconds_per_row"] == pytest.approx(0.2 * 1.2 / 100)
    assert cost.loc[("clean", "euclidean"), "relative_error"] == 1
    assert cost.loc[("standardised", "lda"), "sets"] == 11


def test_all_leaves_it_out_and_says_so(capsys) -> None:
    assert not recipes()["beyond"].in_all and recipes()["table2"].in_all
    run(["--help"], None)  # type: ignore[arg-type]
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("  all ")]
    assert "but " in line and "beyond" in line


def test_a_method_far_above_the_others_stands_at_the_edge_with_its_number() -> None:
    numbers = pd.DataFrame(
        {
            "study": "clean",
            "algorithm": ["euclidean", "opml", "oasis"],
            "seconds_per_row": [1e-5, 2e-4, 8e-5],
            "relative_error": [1.0, 0.9, 2.28],
        }
    )
    (axes,) = cost_figure(numbers, {"clean": "unit rows"}, {}).axes
    heights = {line.get_label(): line.get_ydata()[0] for line in axes.lines[1:]}
    assert heights == {"euclidean": 1.0, "opml": 0.9, "oasis": CUT}
    assert [text.get_text() for text in axes.texts] == ["2.28 ↑"]
