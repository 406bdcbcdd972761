"""Two protocols side by side: rows are matched by the paper's names, conclusions by their marks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pandas as pd

from mloml.config.compose import compose_study
from mloml.experiments.cell import Cell
from mloml.experiments.study import StudyResult
from mloml.report.artefacts.protocols import compare, protocols_frame
from mloml.report.labels import Labels
from mloml.report.parts.differing import differing_cells
from mloml.report.publish import publish
from mloml.report.tables import Results, summarise

REFERENCE = [0.10, 0.12, 0.14]
WORSE = [0.20, 0.23, 0.25]


def side(spect: str, other: str, lego: dict[str, list[float]]) -> Results:
    datasets = {"iris": "iris", spect: "spect", other: "spect (other)"}
    labels = Labels(datasets, {"lego": "LEGO", "mloml_r": "MLOML-r"}, 3, uncounted=frozenset({other}))
    rows = []
    for dataset in datasets:
        for algorithm, errors in (("lego", lego[dataset]), ("mloml_r", REFERENCE)):
            rows += [(dataset, algorithm, split, error, "ok") for split, error in enumerate(errors)]
    frame = pd.DataFrame(rows, columns=["dataset", "algorithm", "split", "error", "status"])
    return summarise(frame, labels, "mloml_r")


PAPER = {"iris": WORSE, "spect_paper": WORSE, "spect": REFERENCE}
CLEAN = {"iris": WORSE, "spect_paper": WORSE, "spect": REFERENCE}


LABEL = {("spect", name): ("spect's label",) for name in ("lego", "mloml_r")}


def test_the_row_of_spect_is_another_dataset_under_each_protocol() -> None:
    frame = protocols_frame(side("spect_paper", "spect", PAPER), side("spect", "spect_paper", CLEAN), LABEL)
    assert frame[["dataset", "paper_mark", "clean_mark", "same", "differs_by"]].to_numpy().tolist() == [
        ["iris", "win", "win", "yes", ""],
        ["spect", "win", "tie", "no", "spect's label"],
    ]


def test_only_comparisons_that_can_change_are_counted() -> None:
    artefact = compare(side("spect_paper", "spect", PAPER), side("spect", "spect_paper", CLEAN), LABEL)
    assert artefact.headline.startswith("0 of 1 comparisons that can change between the protocols")
    assert (
        "1 of 2 comparisons have the same errors in every split under both protocols and cannot change"
        in artefact.headline
    )
    assert artefact.findings == ("Spect's label: 0 of 1 stay; changed: LEGO on spect (win → tie).",)


def test_a_reference_that_differs_can_change_the_comparison_too() -> None:
    reason = {("iris", name): ("how PCA is fitted",) for name in ("lego", "mloml_r")}  # named once, not twice
    clean = side("spect", "spect_paper", CLEAN | {"iris": [0.21, 0.23, 0.25]})
    artefact = compare(side("spect_paper", "spect", PAPER), clean, reason)
    assert artefact.findings == ("How PCA is fitted: 1 of 1 stay; none changes.",)


def test_what_changes_no_error_of_any_split_cannot_change_a_conclusion() -> None:
    """As MOML's policy at the border of the cone, on sets where no step comes near it."""
    paper = side("spect_paper", "spect", PAPER)
    frame = protocols_frame(paper, paper, {("iris", "lego"): ("MOML's cone (free, split)",)})
    assert frame["differs_by"].tolist() == ["", ""]


def test_conclusions_that_were_ties_all_along_are_not_sold_as_steady() -> None:
    weak = {"iris": [0.10, 0.13, 0.15], "spect_paper": [0.11, 0.12, 0.16], "spect": REFERENCE}
    paper, clean = side("spect_paper", "spect", weak), side("spect", "spect_paper", weak)
    assert compare(paper, clean, LABEL).headline.startswith(
        "1 of 1 comparisons that can change between the protocols come to the same conclusion by the paper's "
        "paired test; of those that are significant under `paper`, 0 of 0 stay. By the corrected test 1 of 1 "
        "come to the same; of those that are significant under `paper` by it, there is none."
    )


def test_equal_cells_throughout_can_change_nothing() -> None:
    paper = side("spect_paper", "spect", PAPER)
    artefact = compare(paper, paper, {})
    assert artefact.headline.startswith(
        "2 of 2 comparisons have the same errors in every split under both protocols: nothing"
    )


def test_the_page_names_what_changes_and_why(tmp_path) -> None:
    paper, clean = side("spect_paper", "spect", PAPER), side("spect", "spect_paper", CLEAN)
    artefact = compare(paper, clean, LABEL)
    publish(replace(artefact, name="protocols", command="python experiments/protocols.py"), tmp_path)
    text = (tmp_path / "protocols.md").read_text()
    assert "| LEGO | 1/0/0 | 0/1/0 | 0 of 1 | 0 of 1 |" in text
    assert "| spect | LEGO | .227 • (win) | .120 – (tie) | spect's label |" in text
    assert text.endswith("Made by `python experiments/protocols.py`.\n")
    assert {path.name for path in tmp_path.iterdir()} == {
        "conclusions.csv", "counts.csv", "reasons.csv", "protocols.md", "findings.md", "artefact.json",
    }  # fmt: skip


def test_nothing_in_common_is_said_plainly() -> None:
    paper = side("spect_paper", "spect", PAPER)
    empty = summarise(
        pd.DataFrame(columns=["dataset", "algorithm", "split", "error", "status"]), paper.labels, "mloml_r"
    )
    assert compare(paper, empty, {}).headline == "No row is complete under both protocols yet."


ASKED = ["datasets=[iris,lsvt,spect_paper,spect]", "algorithms=[euclidean,moml,mloml_r]"]


def run_of(protocol: str) -> StudyResult:
    """A run whose keys are those of a real one, without its errors."""
    study = compose_study("table2", [f"protocol={protocol}", "protocol.splits=2", *ASKED])
    cells = [
        Cell(dataset.name, "0" * 64, algorithm, study.protocol, split, features=dataset.features)
        for dataset in study.datasets
        for algorithm in study.algorithms
        for split in range(2)
    ]
    rows = [(cell.dataset, cell.algorithm.name, cell.split, cell.key) for cell in cells]
    frame = pd.DataFrame(rows, columns=["dataset", "algorithm", "split", "key"])
    return StudyResult(study, Path(), frame, [], pd.DataFrame(), {})


def test_what_differs_is_the_label_pca_and_momls_policy_and_an_unused_rate_is_nothing() -> None:
    found = differing_cells(run_of("paper"), run_of("clean"))
    cone = "MOML's cone (free, split)"
    assert found == {
        ("iris", "moml"): (cone,),
        ("spect", "euclidean"): ("spect's label",),
        ("spect", "moml"): ("spect's label", cone),
        ("spect", "mloml_r"): ("spect's label",),
        ("lsvt", "euclidean"): ("how PCA is fitted",),
        ("lsvt", "moml"): (cone, "how PCA is fitted"),
        ("lsvt", "mloml_r"): ("how PCA is fitted",),
    }
    assert differing_cells(run_of("paper"), run_of("paper")) == {}
