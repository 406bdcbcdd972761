"""Table III and the three questions beside it, from cells with known answers."""

import pandas as pd

from mloml import paper
from mloml.report.artefacts import table3
from mloml.report.figures.curves import plotted_numbers
from mloml.report.labels import Labels

VARIANTS = tuple(f"mloml_{a}{end}" for a in "rs" for end in ("_bp", "_bp_cv", "_fbp", ""))
LABELS = Labels({"iris": "iris"}, {name: name for name in VARIANTS[:4]}, splits=2)
FBP = [0.4, 0.3, 0.2]


def record(name, split, errors):
    return {"dataset": "iris", "algorithm": name, "split": split, "error": errors[-1], "scan_errors": errors}


def test_the_marks_of_the_paper_that_its_own_means_contradict() -> None:
    """A filled mark says that FP's error is lower; in these rows the paper prints a higher one for FP."""
    found = table3.wrong_marks()
    assert (found["mark"] == "•").all() and (found["corrected_mark"] == "◦").all()
    assert (found["error_of_FP"] > found["error"]).all() and len(found) == 3
    printed = paper.table3().set_index(["dataset", "algorithm"])["error"]
    for row in found.to_dict("records"):
        fp = printed[row["dataset"], row["algorithm"].removesuffix("_fbp")]
        assert (row["error_of_FP"], row["error"]) == (fp, printed[row["dataset"], row["algorithm"]])


def test_mean_errors_after_the_first_and_the_last_scan() -> None:
    curves = ([0.5, 0.4, 0.3], [0.5, 0.5, 0.5], [0.4, 0.2, 0.1], [0.4, 0.3, 0.2])
    records = [record(n, s, es) for n, es in zip(VARIANTS[:4], curves, strict=True) for s in range(2)]
    found = table3.scan_curves(records, LABELS)
    table = table3.convergence_frame(plotted_numbers(found, "scan"), LABELS)
    row = table.iloc[0]
    assert (row["bp_first"], row["bp_last"], row["fbp_first"]) == (0.5, 0.3, 0.4)
    means = table3.averages(table).set_index("strategy")
    assert means.loc["FBP"].tolist() == [1, 0.4, 0.1] and means.loc["FP"].tolist() == [1, 0.4, 0.2]


def catching_up(*splits, uncounted=()):
    """Curves of FBP and BP in each split."""
    labels = Labels(LABELS.datasets, LABELS.algorithms, splits=len(splits), uncounted=frozenset(uncounted))
    names = ("mloml_r_fbp", "mloml_r_bp")
    records = [record(n, s, es) for s, both in enumerate(splits) for n, es in zip(names, both, strict=True)]
    return table3.catching_up_frame(table3.scan_curves(records, labels), labels)


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
    counts = table3.catching_up_counts(frame)
    assert counts["cases"].tolist() == [5, 5, 5] and counts["leads"].tolist() == [3, 3, 1]
    assert counts["never"].tolist() == [1, 2, 0]
    assert counts["median scan"].iloc[0] == 3 and pd.isna(counts["median scan"].iloc[1])
