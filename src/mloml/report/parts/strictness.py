"""The tests behind the marks of a table, under the paper's test and two stricter ones."""

from __future__ import annotations

import pandas as pd

from mloml.paper.published import paper_row
from mloml.paper.statistics import counts_against_reference, surviving
from mloml.paper.statistics.compare import OUTCOMES
from mloml.report.document import Table
from mloml.report.tables import Results


def count_tables(results: Results) -> tuple[Table, Table]:
    """Return win/tie/loss by the paper's test and beside it by the stricter ones, and every test."""
    counts = results.counts
    for name in ("corrected", "holm"):
        found = counts_against_reference(results.comparisons, results.labels.counted, f"mark_{name}")
        counts = counts.join(found[list(OUTCOMES)].add_suffix(f"_{name}"))
    return (
        Table("win_tie_loss", "Win/tie/loss under three tests", counts),
        Table("tests", "Tests against the reference", results.comparisons),
    )


def strictness_sentence(results: Results, published: pd.DataFrame) -> str:
    """Say how many comparisons are significant by the paper's test, and how many by stricter ones.

    Comparisons that the paper has as well (``published``) are counted apart from those that are only ours.
    """
    counted = results.comparisons[results.comparisons["dataset"].isin(results.labels.counted)]
    printed = set(published[["dataset", "algorithm"]].itertuples(index=False, name=None))
    theirs = [
        (paper_row(dataset), algorithm) in printed
        for dataset, algorithm in counted[["dataset", "algorithm"]].itertuples(index=False, name=None)
    ]
    both, only_ours = counted[theirs], counted[[not known for known in theirs]]
    if counted.empty:
        below = len(results.comparisons)
        return "" if below else "Nothing could be tested against the reference yet."
    first = _significant(both, "our", "comparisons that the paper has too")
    beside = _significant(only_ours, "the", "comparisons that the paper does not have")
    return " ".join(filter(None, [first, beside]))


def _significant(comparisons: pd.DataFrame, whose: str, which: str) -> str:
    if comparisons.empty:
        return ""
    corrected, marks = surviving(comparisons, "mark_corrected")
    adjusted, _ = surviving(comparisons, "mark_holm")
    return (
        f"{marks} of {whose} {len(comparisons)} {which} are significant by the paper's paired t-test; "
        f"{corrected} remain under the corrected resampled t-test (Nadeau and Bengio: overlapping halves "
        f"make the plain test too eager), {adjusted} under Wilcoxon's test with Holm's correction."
    )
