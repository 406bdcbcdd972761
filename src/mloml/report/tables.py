"""From a long frame of cells to the paper's table: means, marks, best means and win/tie/loss."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from mloml.paper.statistics import (
    COLUMNS,
    OUTCOMES,
    Ranking,
    against_reference,
    counts_against_reference,
    rank_algorithms,
)  # fmt: skip
from mloml.report.document import Column, Entry, Grid, Row, Table, number
from mloml.report.labels import Labels

INCOMPLETE = "fewer than the {splits} splits asked for (failed or not yet run), so no mean is shown"
NO_REFERENCE = "no mark and not counted, because the reference is not complete here"


@dataclass(frozen=True)
class Results:
    """Complete cells, summarised and compared with their references.

    ``summary`` has one row per (dataset, algorithm) with any finished cell: mean, std, splits and whether
    it is complete. ``comparisons`` covers complete cells only (:mod:`mloml.paper.statistics`).
    ``references`` names what each algorithm is compared with, ``errors`` holds those of each split.
    """

    labels: Labels
    summary: pd.DataFrame
    comparisons: pd.DataFrame
    counts: pd.DataFrame
    references: Mapping[str, str]
    errors: Mapping[tuple[str, str], tuple[float, ...]]

    @property
    def complete(self) -> pd.DataFrame:
        """The summary's complete cells."""
        return self.summary[self.summary["complete"]]

    def means(self) -> pd.DataFrame:
        """Return mean errors of complete cells of counted datasets: datasets by algorithms, with gaps."""
        cells = self.complete[self.complete["dataset"].isin(self.labels.counted)]
        table = cells.pivot(index="dataset", columns="algorithm", values="mean")  # noqa: PD010
        rows = [name for name in self.labels.counted if name in table.index]
        return table.reindex(index=rows, columns=[a for a in self.labels.algorithms if a in table.columns])


def summarise(frame: pd.DataFrame, labels: Labels, reference: str | Mapping[str, str]) -> Results:
    """Summarise finished cells; a (dataset, algorithm) with missing splits is marked as incomplete.

    Parameters
    ----------
    frame : DataFrame
        One row per cell: dataset, algorithm, split, error, status.
    labels : Labels
    reference : str or mapping
        See :func:`mloml.paper.statistics.against_reference`.
    """
    chosen = dict.fromkeys(labels.algorithms, reference) if isinstance(reference, str) else reference
    references = {a: b for a, b in chosen.items() if a != b and {a, b} <= set(labels.algorithms)}
    known = frame["dataset"].isin(list(labels.datasets)) & frame["algorithm"].isin(list(labels.algorithms))
    cells = frame[known & (frame["status"] == "ok") & (frame["split"] < labels.splits)]
    order = {name: place for place, name in enumerate([*labels.datasets, *labels.algorithms])}
    cells = cells.sort_values(
        ["dataset", "algorithm", "split"], key=lambda c: c.map(order) if c.name != "split" else c
    )
    grouped = cells.groupby(["dataset", "algorithm"], sort=False)["error"]
    summary = grouped.agg(mean="mean", std="std", splits="count").reset_index()
    summary["complete"] = summary["splits"] == labels.splits
    done = summary.loc[summary["complete"], ["dataset", "algorithm"]]
    complete = cells.merge(done, on=["dataset", "algorithm"], how="inner")
    # The uncounted sets are a family of their own: showing them must not change the table's tests.
    uncounted = complete["dataset"].isin(labels.uncounted)
    families = [against_reference(part, references) for part in (complete[~uncounted], complete[uncounted])]
    filled = [family for family in families if len(family)]
    comparisons = pd.concat(filled, ignore_index=True) if filled else pd.DataFrame(columns=list(COLUMNS))
    counts = counts_against_reference(comparisons, labels.counted)
    errors: Any = {key: tuple(part) for key, part in grouped}
    return Results(labels, summary, comparisons, counts, references, errors)


def count_tables(results: Results) -> tuple[Table, Table]:
    """Return win/tie/loss by the paper's test and beside it by the stricter ones, and every test."""
    counts = results.counts
    for name in ("corrected", "holm"):
        found = counts_against_reference(results.comparisons, results.labels.counted, f"mark_{name}")
        counts = counts.join(found[list(OUTCOMES)].add_suffix(f"_{name}"))
    return (
        Table("win_tie_loss", counts, "Win/tie/loss under three tests"),
        Table("tests", results.comparisons, "Tests against the reference"),
    )


def build_grid(
    results: Results,
    label: str,
    algorithms: Sequence[str] | None = None,
    titles: Mapping[str, str] | None = None,
) -> Grid:
    """Lay the results out as in the paper.

    Parameters
    ----------
    results : Results
    label : str
        LaTeX's.
    algorithms : list of str, optional
        Columns to show; all by default. The best of a row is sought within a column's group.
    titles : mapping, optional
        Other column titles than the algorithms' own (below a group's heading, say).
    """
    labels, titles = results.labels, titles or results.labels.algorithms
    columns = tuple(
        Column(name, titles[name], labels.groups.get(name, ""), labels.notes.get(name, ""))
        for name in labels.algorithms
        if algorithms is None or name in algorithms
    )
    place = ["dataset", "algorithm"]
    cells: Any = results.summary.set_index(place).to_dict("index")
    marks = results.comparisons.set_index(place)["mark_paired"].to_dict()
    entries, details = {}, dict.fromkeys(labels.datasets, "")
    for dataset in [name for name in labels.datasets if name not in labels.missing]:
        for name in (column.name for column in columns):
            cell = cells.get((dataset, name), {"splits": 0, "complete": False})
            if not cell["complete"]:
                entries[dataset, name] = Entry(note=INCOMPLETE.format(splits=labels.splits))
                details[dataset] += f"; {name}: {cell['splits']} of {labels.splits} splits"
                continue
            mark, std = marks.get((dataset, name), ""), None if math.isnan(cell["std"]) else cell["std"]
            note = "" if mark or name not in results.references else NO_REFERENCE
            entries[dataset, name] = Entry(cell["mean"], std, mark, note=note)
    counted = results.counts.astype(str).set_index("algorithm")[list(OUTCOMES)].agg("/".join, axis=1)
    return lay_out(labels, label, columns, entries, details=details, counts=counted.to_dict())


def lay_out(
    labels: Labels,
    label: str,
    columns: Sequence[Column],
    entries: Mapping[tuple[str, str], Entry],
    *,
    rows: Sequence[str] | None = None,
    details: Mapping[str, str] | None = None,
    counts: Mapping[Any, str] | None = None,
) -> Grid:
    """Put entries into their places; a gap is a dash, and the lowest means of a row are its best.

    Parameters
    ----------
    labels : Labels
    label : str
        LaTeX's.
    columns : list of Column
        The best of a row is sought within a column's group, as printed: equal prints are both best.
    entries : mapping
        By dataset and algorithm.
    rows : list of str, optional
        Datasets to show; all by default, those that are not counted below the rule.
    details, counts : mapping, optional
        Of rows and columns.
    """
    lowest: dict[tuple[str, str], str] = {}
    groups = {column.name: column.group for column in columns}
    means = {at: number(entry.mean) for at, entry in entries.items() if entry.mean is not None}
    for (dataset, name), mean in means.items():
        row = dataset, groups[name]
        lowest[row] = min(lowest.get(row, mean), mean, key=float)

    def entry(dataset: str, name: str) -> Entry:
        best = means.get((dataset, name), "") == lowest.get((dataset, groups[name]))
        return replace(entries.get((dataset, name), Entry()), best=best)

    def lines(names: Sequence[str]) -> tuple[Row, ...]:
        return tuple(
            Row(
                name,
                labels.datasets[name],
                tuple(entry(name, column.name) for column in columns),
                labels.note_of(name),
                (details or {}).get(name, "").removeprefix("; "),
            )
            for name in names
        )

    uncounted = [name for name in labels.datasets if rows is None and name in labels.uncounted]
    above, below = lines(labels.counted if rows is None else rows), lines(uncounted)
    totals = tuple((counts or {}).get(column.name, "") for column in columns)
    return Grid(label, tuple(columns), above, below, totals)


def text_grid(
    labels: Labels, label: str, cells: Mapping[tuple[str, str], str], rows: Sequence[str] | None = None
) -> Grid:
    """Lay ready texts out by dataset and algorithm; algorithms without any are left out."""
    filled = {algorithm for _, algorithm in cells}
    titles = {name: title for name, title in labels.algorithms.items() if name in filled}
    columns = [Column(name, title, note=labels.notes.get(name, "")) for name, title in titles.items()]
    return lay_out(labels, label, columns, {at: Entry(text=text) for at, text in cells.items()}, rows=rows)


def ranking_of(results: Results) -> Ranking:
    """Rank the algorithms over the counted datasets on which all of them are complete."""
    means = results.means().dropna(axis="columns", how="all")
    return rank_algorithms(means.dropna(axis="index", how="any"))


def ranking_values(results: Results, ranking: Ranking) -> dict[str, Any]:
    """Return over what the ranks were taken, and what Friedman's test says, for a template."""
    return {
        "algorithms": len(ranking.ranks),
        "datasets": len(ranking.datasets),
        "left_out": [name for name in results.labels.counted if name not in ranking.datasets],
        "statistic": ranking.statistic,
        "p_value": ranking.p_value,
        "critical_difference": ranking.critical_difference,
        "known": len(ranking.datasets) > 1 and len(ranking.ranks) > 1,
    }
