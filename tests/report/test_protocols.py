"""Two protocols side by side: rows are matched by the paper's names, conclusions by their marks."""

import pandas as pd

from mloml.config.compose import compose_study
from mloml.report.artefacts.protocols import PCA, compare, conclusions_frame, what_differs
from mloml.report.labels import Labels
from mloml.report.tables import summarise

REFERENCE, WORSE = [0.10, 0.12, 0.14], [0.20, 0.23, 0.25]
LEGO = {"iris": WORSE, "spect_paper": WORSE, "spect": REFERENCE}


def study(spect, other, lego=LEGO, moved=0.0):
    """Return results of LEGO and MLOML-r; ``moved`` is added to the errors of the reference."""
    datasets = {"iris": "iris", spect: "spect", other: "spect (other)"}
    labels = Labels(datasets, {"lego": "LEGO", "mloml_r": "MLOML-r"}, 3, uncounted=frozenset({other}))
    own = [error + moved for error in REFERENCE]
    rows = [
        (dataset, algorithm, split, error, "ok")
        for dataset in datasets
        for algorithm, errors in (("lego", lego[dataset]), ("mloml_r", own))
        for split, error in enumerate(errors)
    ]
    frame = pd.DataFrame(rows, columns=["dataset", "algorithm", "split", "error", "status"])
    return summarise(frame, labels, "mloml_r")


PAPER, CLEAN = study("spect_paper", "spect"), study("spect", "spect_paper")


def label(algorithm, pair):
    return ["spect's label"]


def test_the_row_of_spect_is_another_dataset_under_each_protocol():
    frame = conclusions_frame(PAPER, CLEAN, label)
    assert frame[["dataset", "paper_mark", "clean_mark", "same", "differs_by"]].to_numpy().tolist() == [
        ["iris", "win", "win", "yes", ""],  # the same errors in every split: it cannot change
        ["spect", "win", "tie", "no", "spect's label"],
    ]


def test_only_comparisons_that_can_change_are_counted():
    artefact = compare(PAPER, CLEAN, label)
    values, tables = artefact.values, {table.name: table.numbers for table in artefact.tables}
    assert (values["compared"], values["can_change"], values["same"]) == (2, 1, 0)
    assert values["changed"][["dataset", "algorithm"]].to_numpy().tolist() == [["spect", "lego"]]
    assert tables["counts"].to_numpy().tolist() == [["LEGO", "1/0/0", "0/1/0", "0 of 1", "0 of 1"]]
    assert tables["reasons"].to_numpy().tolist() == [["spect's label", "0 of 1", "0 of 1"]]
    assert values["absent"] == []


def test_a_reference_that_differs_can_change_the_comparison_and_a_reason_is_named_once():
    frame = conclusions_frame(PAPER, study("spect", "spect_paper", moved=0.01), label)
    assert frame["differs_by"].tolist() == ["spect's label"] * 2


def test_nothing_in_common_is_nothing_compared():
    nothing = pd.DataFrame(columns=["dataset", "algorithm", "split", "error", "status"])
    values = compare(PAPER, summarise(nothing, PAPER.labels, "mloml_r"), label).values
    assert (values["compared"], values["absent"]) == (0, ["iris", "spect"])


def test_what_differs_is_the_label_pca_and_momls_policy_and_an_unused_rate_is_nothing():
    asked = ["datasets=[iris,lsvt,spect_paper,spect]", "algorithms=[euclidean,moml,mloml_r]"]
    studies = tuple(compose_study("table2", [f"protocol={name}", *asked]) for name in ("paper", "clean"))
    cone = "MOML's cone (free, split)"
    found = {
        (dataset, name): what_differs(studies, name, (dataset, dataset.removesuffix("_paper")))
        for dataset in ("iris", "spect_paper", "lsvt")
        for name in ("euclidean", "moml", "mloml_r")
    }
    assert found == {
        ("iris", "euclidean"): [], ("iris", "moml"): [cone], ("iris", "mloml_r"): [],
        ("spect_paper", "euclidean"): ["spect's label"], ("spect_paper", "moml"): ["spect's label", cone],
        ("spect_paper", "mloml_r"): ["spect's label"],
        ("lsvt", "euclidean"): [PCA], ("lsvt", "moml"): [cone, PCA], ("lsvt", "mloml_r"): [PCA],
    }  # fmt: skip
