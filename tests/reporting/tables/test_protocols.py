"""Two protocols side by side: rows are matched by the paper's names, conclusions by their marks."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from mloml.reporting.artefacts.protocols import compare, protocols_frame
from mloml.reporting.labels import Labels
from mloml.reporting.publish import publish
from mloml.reporting.tables import Results, summarise

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


def test_the_row_of_spect_is_another_dataset_under_each_protocol() -> None:
    frame = protocols_frame(side("spect_paper", "spect", PAPER), side("spect", "spect_paper", CLEAN))
    assert frame[["dataset", "paper_mark", "clean_mark", "survives"]].to_numpy().tolist() == [
        ["iris", "win", "win", "yes"],
        ["spect", "win", "tie", "no"],
    ]


def test_the_page_names_what_changes(tmp_path) -> None:
    paper, clean = side("spect_paper", "spect", PAPER), side("spect", "spect_paper", CLEAN)
    artefact = replace(compare(paper, clean), name="protocols", command="python experiments/protocols.py")
    publish(artefact, tmp_path)
    assert artefact.headline.startswith(
        "1 of 2 conclusions are the same under both protocols, over 2 datasets"
    )
    text = (tmp_path / "protocols.md").read_text()
    assert (
        "| LEGO | 2/0/0 | 1/1/0 | 1 of 2 |" in text
        and "| spect | LEGO | .227 • (win) | .120 – (tie) |" in text
    )
    assert text.endswith("Made by `python experiments/protocols.py`.\n")
    assert {path.name for path in tmp_path.iterdir()} == {
        "conclusions.csv",
        "counts.csv",
        "protocols.md",
        "findings.md",
        "artefact.json",
    }


def test_nothing_in_common_is_said_plainly() -> None:
    paper = side("spect_paper", "spect", PAPER)
    empty = summarise(
        pd.DataFrame(columns=["dataset", "algorithm", "split", "error", "status"]), paper.labels, "mloml_r"
    )
    assert compare(paper, empty).headline == "No row is complete under both protocols yet."
