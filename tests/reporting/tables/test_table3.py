"""Table III and the three questions beside it, from cells with known answers."""

from __future__ import annotations

import pandas as pd
import pytest

from mloml.analysis import paper
from mloml.reporting.artefacts.table3 import table3
from mloml.reporting.figures.curves import plotted_numbers
from mloml.reporting.labels import Labels, labels_of
from mloml.reporting.markdown import page_to_markdown
from mloml.reporting.parts.bp_rate import bp_rate_frame, bp_rate_sentences
from mloml.reporting.parts.convergence import convergence_frame, convergence_sentences, scan_curves
from mloml.reporting.parts.cost import cost_table
from mloml.reporting.parts.strategies import references
from mloml.reporting.tables import summarise

VARIANTS = tuple(f"mloml_{a}{end}" for a in "rs" for end in ("_bp", "_bp_cv", "_fbp", ""))
COST = pd.DataFrame(
    [
        (4, "relu", "fp", 2.0, 1.9, 2.2, 996, 1.0),
        (4, "relu", "bp", 1.5, 1.4, 1.6, 996, 0.75),
        (4, "relu", "fbp", 4.0, 3.9, 4.1, 996, 2.0),
    ],
    columns=[
        "features", "activation", "strategy", "microseconds", "lowest", "highest", "triplets", "times_fp",
    ],
)  # fmt: skip
DATASETS = ("iris", "spect_paper", "spect")


@pytest.fixture
def result(make_result):
    return make_result(datasets=DATASETS, algorithms=VARIANTS, published=paper.table3(), splits=4)


def test_the_layout_is_the_papers_and_marks_are_relative_to_fp_of_the_same_activation(result) -> None:
    groups = {name: f"MLOML-{name[6]}" for name in VARIANTS}
    results = summarise(result.frame, labels_of(result, groups), references(VARIANTS))
    table = table3(results, "paper")
    assert [column.heading for column in table.columns] == [
        "MLOML-r BP", "MLOML-r FBP", "MLOML-r FP", "MLOML-s BP", "MLOML-s FBP", "MLOML-s FP",
    ]  # fmt: skip
    assert set(zip(results.comparisons["algorithm"], results.comparisons["reference"], strict=True)) == {
        (name, name[:7]) for name in VARIANTS if name != name[:7]
    }
    assert [bool(text) for text in table.counts] == [True, True, False, True, True, False]
    for row in table.rows:  # one best (or equals) per activation
        assert any(entry.best for entry in row.entries[:3]) and any(entry.best for entry in row.entries[3:])


def test_all_files_are_written_deterministically_and_end_with_the_command(make_result, write) -> None:
    result = make_result(datasets=("iris",), algorithms=VARIANTS[:4], published=paper.table3(), splits=4)
    write("table3", result, COST)
    first = {path.name: path.read_bytes() for path in result.folder.iterdir()}
    assert set(first) >= {
        "table3.csv", "table3.tex", "table3.md", "win_tie_loss.csv", "tests.csv", "paper_comparison.csv",
        "cost.csv", "cost.md", "bp_rate.csv", "bp_rate.md", "artefact.json", "scans.csv",
        "convergence.csv", "convergence.md",
        "convergence_mloml_r.png", "convergence_mloml_r.pdf",
    }  # fmt: skip
    assert (
        b"Three filled markers" in first["table3.md"]
        and b"Three filled markers" in first["paper_comparison.md"]
    )
    for name in first:
        if name.endswith(".md"):
            assert first[name].endswith(b"\n\nMade by `python experiments/table.py protocol=paper`.\n")
    write("table3", result, COST)
    assert {path.name: path.read_bytes() for path in result.folder.iterdir()} == first


def test_while_cells_come_in_there_are_tables_and_no_pictures(make_result, write) -> None:
    half = make_result(
        datasets=("iris",), algorithms=VARIANTS, published=paper.table3(), splits=4,
        keep=lambda dataset, algorithm, split: split < 2,
    )  # fmt: skip
    write("table3", half, COST)
    assert not list(half.folder.glob("*.png"))
    assert "No dataset is complete for BP at both rates" in (half.folder / "table3.md").read_text()


def frame(errors: dict[str, list[float]]) -> pd.DataFrame:
    rows = [("iris", name, split, e, "ok") for name, es in errors.items() for split, e in enumerate(es)]
    return pd.DataFrame(rows, columns=["dataset", "algorithm", "split", "error", "status"])


def test_share_of_the_lead_that_is_the_rate() -> None:
    names = ("mloml_r_bp", "mloml_r_bp_cv", "mloml_r")
    labels = Labels({"iris": "iris"}, {name: name for name in names}, splits=3)
    errors = {
        "mloml_r": [0.10, 0.12, 0.14],
        "mloml_r_bp": [0.20, 0.22, 0.24],
        "mloml_r_bp_cv": [0.12, 0.15, 0.15],
    }
    leads = bp_rate_frame(summarise(frame(errors), labels, references(names)))
    assert leads[["lead", "lead_cv"]].to_numpy()[0].tolist() == pytest.approx([0.10, 0.02])
    assert leads[["mark", "mark_cv"]].to_numpy()[0].tolist() == ["win", "tie"]
    (sentence,) = bp_rate_sentences(leads, {"mloml_r": "MLOML-r"}, 1e-4)
    assert (
        "is .100 above FP's" in sentence
        and ".020 (0/1/0)" in sentence
        and "80 % of the lead goes" in sentence
    )


def test_a_protocol_that_tunes_the_rate_has_nothing_to_compare() -> None:
    assert "both columns of BP are the same" in bp_rate_sentences(pd.DataFrame(), {}, None)[0]


def curves(**errors: list[float]) -> list[dict]:
    return [
        {"dataset": "iris", "algorithm": name, "split": split, "error": es[-1], "scan_errors": es}
        for name, es in errors.items()
        for split in range(2)
    ]


def convergence_of(records) -> pd.DataFrame:
    labels = Labels({"iris": "iris"}, {name: name for name in VARIANTS[:4]}, splits=2)
    return convergence_frame(plotted_numbers(scan_curves(records, labels), "scan"), labels)


def test_the_scan_at_which_bp_catches_up() -> None:
    records = curves(
        mloml_r_bp=[0.5, 0.4, 0.3],
        mloml_r_bp_cv=[0.5, 0.5, 0.5],
        mloml_r_fbp=[0.4, 0.2, 0.1],
        mloml_r=[0.4, 0.3, 0.2],
    )
    table = convergence_of(records)
    row = table.iloc[0]
    assert (row["bp_first"], row["bp_last"], row["fbp_first"]) == (0.5, 0.3, 0.4)
    assert row["bp_catches_up"] == 2 and pd.isna(row["bp_cv_catches_up"])
    plain, tuned, forward = convergence_sentences(table)
    assert "in 1 of 1 (dataset, activation) pairs" in plain and "at the median in scan 2" in plain
    assert "after one scan in 0 of them;" in tuned
    assert "FP alone has .400" in forward


def test_curves_with_missing_splits_are_left_out() -> None:
    records = curves(mloml_r_bp=[0.5, 0.4], mloml_r_fbp=[0.4, 0.2])
    assert convergence_of(records[1:]).empty
    assert convergence_sentences(convergence_of(records[1:])) == [
        "No dataset has complete curves of BP and FBP yet."
    ]


def test_the_cost_page_shows_ratios_to_fp() -> None:
    text = page_to_markdown("Cost", cost_table(COST).page, "x")
    assert "BP costs 0.75 to 0.75 times" in text
    assert (
        "| 4 | relu | 2.00 (1.90 to 2.20) | 1.50 (1.40 to 1.60) | 0.75 | 4.00 (3.90 to 4.10) | 2.00 |" in text
    )
