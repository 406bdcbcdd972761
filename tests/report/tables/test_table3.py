"""Table III and the three questions beside it, from cells with known answers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from mloml import paper
from mloml.report.artefacts.table3 import table3
from mloml.report.figures.curves import plotted_numbers
from mloml.report.labels import Labels, labels_of
from mloml.report.markdown import page_to_markdown
from mloml.report.parts.bp_rate import bp_rate_frame, bp_rate_headline, bp_rate_sentences, leads_of
from mloml.report.parts.catching_up import catching_up_frame, catching_up_sentences
from mloml.report.parts.convergence import average_sentences, convergence_frame, scan_curves
from mloml.report.parts.cost import cost_table
from mloml.report.parts.strategies import references
from mloml.report.tables import summarise

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
        "cost.csv", "cost.md", "bp_rate.csv", "bp_rate.md", "artefact.json", "scans.csv", "catching_up.csv",
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


RATES = ("mloml_r_bp", "mloml_r_bp_cv", "mloml_r")
WOBBLE = [0.000, 0.002, -0.001]


def leads(bp: list[float], bp_cv: list[float], uncounted: frozenset[str] = frozenset()):
    labels = Labels({"iris": "iris"}, {name: name for name in RATES}, splits=3, uncounted=uncounted)
    errors = {"mloml_r": [0.10, 0.12, 0.14], "mloml_r_bp": bp, "mloml_r_bp_cv": bp_cv}
    return leads_of(summarise(frame(errors), labels, references(RATES)))


def ahead(lead: float) -> list[float]:
    return [fp + lead + wobble for fp, wobble in zip([0.10, 0.12, 0.14], WOBBLE, strict=True)]


def test_fps_lead_has_the_interval_of_the_corrected_test() -> None:
    (lead,) = leads(ahead(0.1), ahead(0.0))
    row = bp_rate_frame([lead]).iloc[0]
    # By hand: t of 2 degrees of freedom, variance (1/3 + 1) s².
    half = stats.t.ppf(0.975, 2) * np.std(WOBBLE, ddof=1) * np.sqrt(1 / 3 + 1)
    mean = 0.1 + np.mean(WOBBLE)
    assert row[["lead", "low", "high"]].tolist() == pytest.approx([mean, mean - half, mean + half])
    assert row[["mark", "mark_corrected", "mark_cv", "mark_corrected_cv"]].tolist() == [
        "win", "win", "tie", "tie",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("chosen", "words"),
    [
        (0.0, "it is .000; FP wins on 0 (0 by the plain test), BP on 0 (0 by the plain test)."),
        (0.05, "it is +.050; FP wins on 1 (1 by the plain test): iris +.050 (+.0"),
        (
            -0.05,
            "FP wins on 0 (0 by the plain test), BP on 1 (1 by the plain test): iris −.050 (−.057 to −.042).",
        ),
    ],
)
def test_the_sentence_names_who_wins_at_the_chosen_rate(chosen: float, words: str) -> None:
    found = leads(ahead(0.1), ahead(chosen))
    (sentence,) = bp_rate_sentences(found, {"mloml_r": "MLOML-r"}, 1e-4)
    assert "at the rate 0.0001 FP's lead over BP is +.100 at the median, and FP wins on 1" in sentence
    assert words in sentence
    wins = int(chosen > 0)
    assert bp_rate_headline(found, {"mloml_r": "MLOML-r"}, 1e-4).endswith(
        f"MLOML-r on {wins} of 1 data sets (at the fixed rate 1)."
    )


def test_a_set_below_the_rule_is_not_counted() -> None:
    found = leads(ahead(0.1), ahead(0.1), frozenset({"iris"}))
    assert bp_rate_headline(found, {"mloml_r": "MLOML-r"}, 1e-4) == ""
    assert bp_rate_sentences(found, {"mloml_r": "MLOML-r"}, 1e-4)[0].startswith("No dataset is complete")


def test_a_protocol_that_tunes_the_rate_has_nothing_to_compare() -> None:
    assert "both columns of BP are the same" in bp_rate_sentences([], {}, None)[0]
    assert bp_rate_headline(leads(ahead(0.1), ahead(0.1)), {"mloml_r": "MLOML-r"}, None) == ""


def curves(**errors: list[float]) -> list[dict]:
    return [
        {"dataset": "iris", "algorithm": name, "split": split, "error": es[-1], "scan_errors": es}
        for name, es in errors.items()
        for split in range(2)
    ]


LABELS = Labels({"iris": "iris"}, {name: name for name in VARIANTS[:4]}, splits=2)


def test_the_scan_at_which_bps_mean_catches_up() -> None:
    records = curves(
        mloml_r_bp=[0.5, 0.4, 0.3],
        mloml_r_bp_cv=[0.5, 0.5, 0.5],
        mloml_r_fbp=[0.4, 0.2, 0.1],
        mloml_r=[0.4, 0.3, 0.2],
    )
    table = convergence_frame(plotted_numbers(scan_curves(records, LABELS), "scan"), LABELS)
    row = table.iloc[0]
    assert (row["bp_first"], row["bp_last"], row["fbp_first"]) == (0.5, 0.3, 0.4)
    assert row["bp_catches_up"] == 2 and pd.isna(row["bp_cv_catches_up"])
    (averages,) = average_sentences(table)
    assert "FBP .400 and .100; FP .400 and .200" in averages


def catching_up(*splits: tuple[list[float], list[float]], uncounted: frozenset[str] = frozenset()):
    """Curves of FBP and BP in each split."""
    labels = Labels(LABELS.datasets, LABELS.algorithms, splits=len(splits), uncounted=uncounted)
    records = [
        {"dataset": "iris", "algorithm": name, "split": split, "error": errors[-1], "scan_errors": errors}
        for split, both in enumerate(splits)
        for name, errors in zip(("mloml_r_fbp", "mloml_r_bp"), both, strict=True)
    ]
    return catching_up_frame(scan_curves(records, labels), labels)


FBP = [0.4, 0.3, 0.2]


def test_only_leads_count_and_those_that_last_are_censored() -> None:
    frame = catching_up(
        (FBP, [0.5, 0.4, 0.2]),  # reaches .4 in scan 2, FBP itself in scan 3
        (FBP, [0.5, 0.5, 0.4]),  # reaches .4 in scan 3, FBP never
        (FBP, [0.5, 0.5, 0.5]),  # never
        (FBP, [0.3, 0.1, 0.1]),  # was never behind
        (FBP, [0.4, 0.1, 0.1]),  # level from the start
    )
    assert frame["level"].fillna(0).tolist() == [2, 3, 0, 1, 1]
    assert frame["same"].fillna(0).tolist() == [3, 0, 0, 1, 1]
    (sentence,) = catching_up_sentences(frame)
    assert "lower in 3 of 5 cases" in sentence and "higher in 1. Of these 3 leads:" in sentence
    assert "to what FBP had after one scan, BP needs scan 3 at the median" in sentence
    assert "and in 1 it never comes within 3 scans" in sentence
    assert (
        "to what FBP has after the same scan, BP needs more than 3 scans at the median, and in 2" in sentence
    )


def test_without_a_lead_there_is_nothing_to_catch_up_with() -> None:
    (sentence,) = catching_up_sentences(catching_up((FBP, FBP)))
    assert sentence.endswith(
        "is lower in 0 of 1 cases (a dataset under an activation in one split), higher in 0."
    )


def test_leads_of_bp_are_followed_the_same_way_as_those_of_fbp() -> None:
    """The control: whoever leads after one scan was lucky in part, and is caught up with for that reason."""
    falls, stays = [0.4, 0.3, 0.2], [0.4, 0.4, 0.4]
    splits = [(falls, [0.3, 0.3, 0.3]), (falls, [0.2, 0.2, 0.2]), (stays, [0.3, 0.5, 0.5])]
    frame = catching_up(*splits)
    assert frame["back"].tolist()[:2] == [2.0, 3.0] and pd.isna(frame["back"].iloc[2])
    (sentence,) = catching_up_sentences(frame)
    assert (
        "where BP leads: to what BP had after one scan, FBP needs scan 3 at the median (those that never do "
        "included), and in 1 it never comes within 3 scans."
    ) in sentence


def test_a_set_below_the_rule_does_not_count_in_convergence() -> None:
    frame = catching_up((FBP, [0.5, 0.4, 0.2]), uncounted=frozenset({"iris"}))
    assert catching_up_sentences(frame) == ["No dataset has complete curves of BP and FBP yet."]


def test_curves_with_missing_splits_are_left_out() -> None:
    records = curves(mloml_r_bp=[0.5, 0.4], mloml_r_fbp=[0.4, 0.2])[1:]
    found = scan_curves(records, LABELS)
    assert average_sentences(convergence_frame(plotted_numbers(found, "scan"), LABELS)) == []
    assert catching_up_frame(found, LABELS).empty


def test_the_cost_page_shows_ratios_to_fp() -> None:
    text = page_to_markdown("Cost", cost_table(COST).page, "x")
    assert "BP costs 0.75 to 0.75 times" in text
    assert (
        "| 4 | relu | 2.00 (1.90 to 2.20) | 1.50 (1.40 to 1.60) | 0.75 | 4.00 (3.90 to 4.10) | 2.00 |" in text
    )
