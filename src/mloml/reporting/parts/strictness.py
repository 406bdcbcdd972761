"""The tests behind the marks of a table, under the paper's test and two stricter ones."""

from __future__ import annotations

from mloml.analysis.statistics import counts_against_reference, surviving
from mloml.analysis.statistics.compare import OUTCOMES
from mloml.reporting.document import Table
from mloml.reporting.tables import Results


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


def strictness_sentence(results: Results) -> str:
    """Say how many marks of the plain test stay under stricter ones."""
    counted = results.comparisons[results.comparisons["dataset"].isin(results.labels.counted)]
    if counted.empty:
        return "Nothing could be tested against the reference yet."
    corrected, marks = surviving(counted, "mark_corrected")
    adjusted, _ = surviving(counted, "mark_holm")
    return (
        f"Of {marks} marks of the paper's test, {corrected} survive the corrected resampled t-test (Nadeau "
        f"and Bengio; overlapping halves make the plain test too eager) and {adjusted} survive Wilcoxon's "
        f"test with Holm's correction over all {len(counted)} comparisons."
    )
