"""Differences from the paper: one knob per column that disagrees, swept; post hoc throughout."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
from omegaconf import OmegaConf
from scipy import stats

from mloml import paper
from mloml.paper.comparison import AGREES, HIGHER, LOWER
from mloml.report.artefacts.table2 import SELECTIONS, selections_frame
from mloml.report.comparison import ARROWS
from mloml.report.document import TRIAL_ONLY, Artefact, Figure, Table, number
from mloml.report.figures.comparisons import sweeps_figure
from mloml.report.labels import labels_of
from mloml.report.recipe import Recipe
from mloml.report.tables import summarise

if TYPE_CHECKING:
    from mloml.experiments.study import StudyResult

COLUMNS = (
    "knob", "value", "reading", "algorithm", "dataset", "paper_mean", "paper_std", "our_mean", "our_std",
    "our_splits", "difference", "statistic", "p_value", "verdict", "counted",
)  # fmt: skip
COUNTS = ("knob", "value", "reading", "cells", AGREES, LOWER, HIGHER, "sum_of_squares", "gained", "lost")
SUMMARY = (
    "sweep", "cells", "default", "agree", "values tried", "best of them", "agree there", "gained", "lost",
    "p", "agree if picked on other sets",
)  # fmt: skip


@dataclass(frozen=True)
class Knob:
    """One thing that the paper leaves open, and the values it was given (a YAML file beside the artefact).

    Parameters
    ----------
    name, title, about : str
        ``about`` says what it is, or why it was swept.
    default : str
        The value that the main tables have.
    values : dict
        For each value, the algorithm of the study that stands for a method. A title of
        :data:`~mloml.report.artefacts.table2.SELECTIONS` is a way of choosing, read from the same cells.
    table : {"table2", "table3"}
        The paper's table that has the columns.
    """

    name: str
    title: str
    about: str
    default: str
    values: dict[str, dict[str, str]]
    table: str = "table2"


def knobs_beside(module: str) -> tuple[Knob, ...]:
    """Return the knobs of the YAML file beside a module's file."""
    entries: Any = OmegaConf.to_container(OmegaConf.load(Path(module).with_suffix(".yaml")))
    return tuple(Knob(**entry) for entry in entries)


KNOBS = knobs_beside(__file__)


def build(result: StudyResult) -> Artefact:
    """Return how many cells agree with the paper at each value of each knob."""
    labels = labels_of(result)
    complete = summarise(result.frame, labels, {}).complete
    verdicts = verdicts_frame(KNOBS, complete, selections_frame(result.records, labels))
    if labels.trial:
        verdicts = verdicts.assign(verdict=TRIAL_ONLY)
    counts = counts_frame(verdicts)
    summary = summary_frame(counts, verdicts)
    more, lasting = (summary[name] > summary["agree"] for name in ("agree there", SUMMARY[-1]))
    values = {
        "more": int(more.sum()),
        "lasting": int((more & lasting).sum()),
        "summary": summary,
        "knobs": [
            (knob, counts[counts["knob"] == knob.name].drop(columns="knob"), means_frame(knob, verdicts))
            for knob in KNOBS
        ],
        "left_out": [pairs for pairs in result.study.leave_out if {*pairs["datasets"]} & {*labels.datasets}],
        "datasets": list(labels.datasets),
    }
    draw = partial(sweeps_figure, counts, {knob.name: knob.title for knob in KNOBS})
    ready = result.finished and len(counts) > 0 and not labels.trial
    tables = (
        Table("differences", counts, RECIPE.title),
        Table("verdicts", verdicts, "Every value against the paper, cell by cell (post hoc)"),
    )
    figure = Figure("sweeps", draw, "Cells that agree with the paper at each value (post hoc)", ready=ready)
    return Artefact(values, tables, (figure,))


def verdicts_frame(knobs: Sequence[Knob], complete: pd.DataFrame, selections: pd.DataFrame) -> pd.DataFrame:
    """Return a verdict for each value of each knob on each column and dataset that the paper has.

    Parameters
    ----------
    knobs : sequence of Knob
    complete : DataFrame
        Complete cells: dataset, algorithm, mean, std, splits.
    selections : DataFrame
        Means by the way the step size is chosen, see :func:`~.table2.selections_frame`.

    Returns
    -------
    DataFrame
        Columns :data:`COLUMNS`. ``algorithm`` is the paper's column. ``counted``: all values of the knob are
        there, so that their counts are over the same cells.
    """
    no_marks = pd.DataFrame(columns=["dataset", "algorithm", "mark_paired"])
    parts = []
    for knob in knobs:
        published = paper.table3() if knob.table == "table3" else paper.table2()
        for value, algorithms in knob.values.items():
            columns = {name: column for column, name in algorithms.items()}
            cells = _chosen_by(value, selections) if value in SELECTIONS.values() else complete
            mine = cells[cells["algorithm"].isin(list(columns))]
            mine = mine.assign(algorithm=mine["algorithm"].map(columns))
            reading = "default" if value == knob.default else "tried"
            found = paper.compare_means(mine, no_marks, published)
            parts.append(found.assign(knob=knob.name, value=value, reading=reading, of=len(knob.values)))
    table = pd.concat([part for part in parts if len(part)] or parts, ignore_index=True)
    there = table.groupby(["knob", "algorithm", "dataset"])["value"].transform("count")
    return table.assign(counted=there == table["of"])[list(COLUMNS)]


def _chosen_by(title: str, selections: pd.DataFrame) -> pd.DataFrame:
    rule = next(name for name, known in SELECTIONS.items() if known == title)
    return selections.rename(columns={f"{rule}_mean": "mean", f"{rule}_std": "std"})


def counts_frame(verdicts: pd.DataFrame) -> pd.DataFrame:
    """Count the verdicts of each value over the cells that all values of its knob have.

    ``gained`` and ``lost`` are cells that agree at this value and not at the default, and the reverse; if an
    interpretation is the paper's, ``sum_of_squares``, of Welch's statistics, is near the number of cells.
    """
    counted = verdicts[verdicts["counted"].astype(bool)]
    default = counted[counted["reading"] == "default"]
    rows = []
    for (knob, *about), cells in counted.groupby(["knob", "value", "reading"], sort=False):
        agreeing, by_default = agreeing_cells(cells), agreeing_cells(default[default["knob"] == knob])
        numbers = [int((cells["verdict"] == verdict).sum()) for verdict in (AGREES, LOWER, HIGHER)]
        squares = float((cells["statistic"] ** 2).sum())
        change = len(agreeing - by_default), len(by_default - agreeing)
        rows.append((knob, *about, len(cells), *numbers, squares, *change))
    return pd.DataFrame(rows, columns=list(COUNTS))


def agreeing_cells(cells: pd.DataFrame) -> set[tuple[str, str]]:
    """Return column and dataset of the cells that agree with the paper."""
    mine = cells[cells["verdict"] == AGREES]
    return set(zip(mine["algorithm"], mine["dataset"], strict=True))


def summary_frame(counts: pd.DataFrame, verdicts: pd.DataFrame) -> pd.DataFrame:
    """Return how the default and the best other value of each knob agree with the paper, and its worth."""
    titles = {knob.name: knob.title for knob in KNOBS}
    rows = []
    for knob, mine in counts.groupby("knob", sort=False):
        default, tried = (mine[mine["reading"] == reading] for reading in ("default", "tried"))
        best = tried[tried[AGREES] == tried[AGREES].max()]
        top = best.iloc[0]
        rows.append((
            titles.get(str(knob), knob), top["cells"], default["value"].iloc[0], default[AGREES].iloc[0],
            len(tried), "; ".join(best["value"]), top[AGREES], top["gained"], top["lost"],
            sign_test(int(top["gained"]), int(top["lost"]), len(tried)),
            held_out(verdicts[verdicts["knob"] == knob]),
        ))  # fmt: skip
    return pd.DataFrame(rows, columns=list(SUMMARY))


def held_out(verdicts: pd.DataFrame) -> int:
    """Count agreeing cells of a knob when the value for each dataset is that which agrees most on all others.

    What the best value gains by having been picked on the very cells it is counted on goes away. Of values
    that agree equally often the default is taken, else the first.
    """
    counted = verdicts[verdicts["counted"].astype(bool)]
    values = dict.fromkeys([*counted.loc[counted["reading"] == "default", "value"], *counted["value"]])
    agreeing = {v: [row for _, row in agreeing_cells(counted[counted["value"] == v])] for v in values}
    total = 0
    for dataset in set(counted["dataset"]):
        chosen = max(agreeing.values(), key=lambda rows: len(rows) - rows.count(dataset))
        total += chosen.count(dataset)
    return total


def sign_test(gained: int, lost: int, tries: int) -> float:
    """Return the p-value of a change of verdicts, counted as often as values were tried (Bonferroni).

    >>> sign_test(5, 0, 1), sign_test(5, 0, 4), sign_test(1, 1, 4)
    (0.0625, 0.25, 1.0)
    """
    changed = gained + lost
    return min(1.0, tries * float(stats.binomtest(gained, changed).pvalue)) if changed else 1.0


def means_frame(knob: Knob, verdicts: pd.DataFrame) -> pd.DataFrame:
    """Return the means of all values of a knob beside the paper's, with arrows where they differ."""
    mine = verdicts[verdicts["knob"] == knob.name]
    pairs = zip(mine["our_mean"], mine["verdict"], strict=True)
    mine = mine.assign(
        mean=[number(mean) + ARROWS.get(verdict, "") for mean, verdict in pairs],
        paper=[number(mean) for mean in mine["paper_mean"]],
    )
    rows = ["algorithm", "dataset", "counted", "paper"]
    table = mine.pivot_table("mean", rows, "value", aggfunc="first", sort=False)
    return table.reindex(columns=list(knob.values)).reset_index()


RECIPE = Recipe(
    "differences",
    "Differences from the paper, one knob at a time (post hoc)",
    "What becomes of the agreement when one thing that the paper leaves open is changed.",
    build,
    in_all=False,
)
