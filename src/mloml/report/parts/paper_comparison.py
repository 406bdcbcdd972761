"""The paper's numbers beside ours: verdicts counted, conclusions compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from mloml.paper import compare_conclusions, compare_means, paper_row, verdict_counts
from mloml.paper.comparison import HIGHER, KNOWN_DRAWS, LOWER, SIDES, UNKNOWN_DRAWS
from mloml.paper.published import OWN, draws, table2
from mloml.report.captions import caption
from mloml.report.document import Grid, Table, Text, number
from mloml.report.parts.readings import readings_table
from mloml.report.parts.strategies import strategy_of
from mloml.report.tables import Results, text_grid

ARROWS = {LOWER: "↓", HIGHER: "↑"}
KINDS = ("the paper's own methods", "published baselines", "reconstructions")
RECONSTRUCTION = "reconstruction"
"""The note of an algorithm whose own paper was not at hand."""


def compare_with_paper(
    results: Results,
    published: pd.DataFrame,
    printed_counts: pd.DataFrame,
    name: str,
    remarks: Sequence[str] = (),
) -> tuple[str, tuple[Table, Table, Table, Table]]:
    """Return sentences that sum the comparison up, and tables.

    The tables: verdicts counted by algorithm, every verdict, verdicts counted by kind of method, and by what
    the cells were in choosing between readings of the paper.

    Parameters
    ----------
    results : Results
    published, printed_counts : DataFrame
        The paper's table and its win/tie/loss row (:mod:`mloml.paper`).
    name : str
        "Table II", say.
    remarks : list of str
        What a reader should know of the paper's table.
    """
    labels = results.labels
    comparison = compare_means(
        results.complete, results.comparisons, published, drawn_anew=labels.regenerated, draws=draws()
    )
    counts, conclusions = verdict_counts(comparison), compare_conclusions(comparison, printed_counts)
    kinds = kind_counts(comparison, labels.notes)
    titles = {**labels.algorithms, "all": "all"}
    sentence = agreement_sentence(kinds, conclusions, results, name)
    grid = comparison_grid(results, comparison, name)
    readings = readings_table(comparison)
    page = (
        Text((sentence, shared_sentence(comparison, name), draws_sentence(comparison))),
        grid,
        Text(heading="Verdicts by kind of method"),
        kinds,
        Text(heading="Verdicts by algorithm"),
        _titled(counts, titles),
        Text((caption("paper_comparison_counts"),), heading="Win/tie/loss"),
        _titled(conclusions, titles),
        Text(tuple(remarks)),
        *readings.page,
    )
    return sentence, (
        Table("paper_comparison_counts", "Verdicts counted", counts),
        Table("paper_comparison", "Ours (the paper's)", comparison, page, latex=grid, in_sight=True),
        Table("paper_comparison_kinds", "Verdicts by kind of method", kinds),
        readings,
    )


def kind_counts(comparison: pd.DataFrame, notes: Mapping[str, str]) -> pd.DataFrame:
    """Count verdicts separately for the paper's own methods, published baselines and reconstructions."""
    kinds = [_kind(name, notes) for name in comparison["algorithm"]]
    counts = verdict_counts(comparison.assign(algorithm=kinds)).rename(columns={"algorithm": "kind"})
    order = {kind: place for place, kind in enumerate((*KINDS, "all"))}
    return counts.sort_values("kind", key=lambda kind: kind.map(order), ignore_index=True)


def _kind(algorithm: str, notes: Mapping[str, str]) -> str:
    if strategy_of(algorithm)[0] in OWN:
        return KINDS[0]
    return KINDS[2] if RECONSTRUCTION in notes.get(algorithm, "") else KINDS[1]


def comparison_grid(results: Results, comparison: pd.DataFrame, name: str) -> Grid:
    """Lay the comparison out like the table it is about; datasets without a printed row are left out."""
    cells = {
        (cell["dataset"], cell["algorithm"]): f"{number(cell['our_mean'])} ({number(cell['paper_mean'])})"
        + ARROWS.get(cell["verdict"], "")
        for cell in comparison.to_dict("records")
    }
    rows = [name for name in results.labels.counted if paper_row(name) is not None]
    title = f"{name}: mean errors of this run and of the paper."
    label = f"tab:{name.lower().replace(' ', '-')}-paper"
    return text_grid(results.labels, title, label, cells, caption("paper_comparison"), rows)


def agreement_sentence(kinds: pd.DataFrame, conclusions: pd.DataFrame, results: Results, name: str) -> str:
    """Sum the comparison up, by kind of method, and say what could not be compared."""
    labels = results.labels
    if not any(paper_row(row) for row in labels.datasets):
        return f"No data set of this run has a row in the paper's {name}."
    *parts, total = kinds.to_dict("records")
    if not total["cells"]:
        return f"No cell of {name} can be compared with the paper yet."
    split = ", ".join(f"{part['agrees']} of {part['cells']} of {part['kind']}" for part in parts)
    rows = [row for row in labels.counted if paper_row(row) is None]
    other = f" Without a printed counterpart: {', '.join(rows)}." if rows else ""
    return (
        f"Of {total['cells']} cells that both tables have, {total['agrees']} agree with the paper (Welch's "
        f"test, 5 %): {split}; in {total[LOWER]} our error is lower, in {total[HIGHER]} higher."
        f"{conclusions_sentence(conclusions)}{other}"
    )


def conclusions_sentence(conclusions: pd.DataFrame) -> str:
    """Put win/tie/loss side by side, over the comparisons that the paper has as well."""
    total = conclusions.iloc[-1]
    if not total["compared"]:
        return ""
    published, ours, corrected = (total[title] for title in SIDES.values())
    references = [name for name in dict.fromkeys(conclusions["reference"]) if name != "all"]
    whose = "MLOML-r" if references == ["mloml_r"] else "FP"
    return (
        f" Win/tie/loss of {whose} over the {total['compared']} comparisons that both have: {published} in "
        f"the paper, {ours} here by its paired t-test, {corrected} here by the corrected test. By the "
        f"paired test the conclusion is the paper's in {total['equal']} of {total['compared']}."
    )


def shared_sentence(comparison: pd.DataFrame, name: str) -> str:
    """Say how many cells of Table III are Table II's as well, and how many of the others agree."""
    shared = comparison["algorithm"].isin(set(table2()["algorithm"]))
    if name == "Table II" or not shared.any():
        return ""
    others = comparison[~shared]
    agree = int((others["verdict"] == "agrees").sum())
    return (
        f"{int(shared.sum())} of the {len(comparison)} cells, FP's, are cells of Table II as well; of the "
        f"{len(others)} that only {name} has, {agree} agree."
    )


def draws_sentence(comparison: pd.DataFrame) -> str:
    """Say of which cells the data are another draw of the generator, and what the test knows of that."""
    known, unknown = (
        int(comparison["note"].str.contains(note, regex=False).sum()) for note in (KNOWN_DRAWS, UNKNOWN_DRAWS)
    )
    if not known + unknown:
        return ""
    added = f"for {known} of them the variance between draws is part of the test" if known else ""
    plain = (
        f"for {unknown} of them that variance was not measured, so that some may differ for this reason alone"
    )
    return (
        f"{known + unknown} cells compare one draw of a generator with another, the paper's: "
        f"{'; '.join(filter(None, [added, plain if unknown else '']))}."
    )


def _titled(frame: pd.DataFrame, titles: dict[str, str]) -> pd.DataFrame:
    names = [column for column in ("reference", "algorithm") if column in frame]
    return frame.assign(**{column: [titles.get(n, n) for n in frame[column]] for column in names})
