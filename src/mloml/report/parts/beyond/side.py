"""One of the two studies beyond the paper: its errors, its tests, what it costs and what is missing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pandas as pd

from mloml.paper.beyond import EUCLIDEAN, UNTRAINED, Errors, carry_out
from mloml.paper.statistics import Ranking
from mloml.paper.statistics.over_sets import complete_errors
from mloml.report.labels import Labels, labels_of
from mloml.report.parts.beyond.cost import cost_frame
from mloml.report.parts.ranks import ranking_of
from mloml.report.tables import Results, summarise

if TYPE_CHECKING:
    from mloml.config.schema import DatasetConfig
    from mloml.experiments.study import StudyResult

SCALINGS = {"clean": "unit rows", "standardised": "standardised features"}
"""What each protocol does to the rows, in words that follow "on"."""
TestRow = Mapping[Any, Any]
"""A pair's row of a test over sets, see :data:`mloml.paper.statistics.over_sets.OVER_SETS`."""
SEE_RULE = ": see docs/beyond.md"
"""Ends that part of a data set's note which says what of it was taken."""


@dataclass(frozen=True)
class Side:
    """One study.

    Attributes
    ----------
    name, scaling : str
        Of the protocol, and what it does to the rows.
    labels : Labels
    errors : mapping
        Errors of the splits by algorithm and dataset, complete ones only.
    over_sets, on_sets : DataFrame
        See :func:`mloml.paper.beyond.carry_out`.
    ranked : Results
        Of the methods that are ranked: all but the untrained stacks.
    ranking : Ranking
    cost : DataFrame
        See :func:`mloml.report.parts.beyond.cost.cost_frame`.
    reasons : mapping
        Why there is no mean error, by dataset and algorithm.
    finished : bool
    """

    name: str
    scaling: str
    labels: Labels
    errors: Errors
    over_sets: pd.DataFrame
    on_sets: pd.DataFrame
    ranked: Results
    ranking: Ranking
    cost: pd.DataFrame
    reasons: Mapping[tuple[str, str], str]
    finished: bool

    def test(self, test: str, algorithm: str, reference: str = EUCLIDEAN) -> TestRow | None:
        """Return a pair's row of a test over sets; None if the study does not have both methods."""
        table = self.over_sets
        rows = table[
            (table["test"] == test) & (table["algorithm"] == algorithm) & (table["reference"] == reference)
        ]
        return rows.iloc[0].to_dict() if len(rows) else None

    def sets_with(self, test: str, algorithm: str, reference: str, outcome: str) -> list[str]:
        """Return the titles of the sets on which a method wins or loses."""
        table = self.on_sets
        rows = table[
            (table["test"] == test)
            & (table["algorithm"] == algorithm)
            & (table["reference"] == reference)
            & (table["outcome"] == outcome)
        ]
        return [self.labels.datasets[name] for name in rows["dataset"]]

    @property
    def short(self) -> str:
        """The scaling in one word."""
        return self.scaling.split()[0]

    @property
    def n_sets(self) -> int:
        """Number of data sets that could be had."""
        return len(self.labels.datasets) - len(self.labels.missing)

    @property
    def learners(self) -> list[str]:
        """All methods but Euclidean."""
        return [name for name in self.labels.algorithms if name != EUCLIDEAN]


def side_of(result: StudyResult) -> Side:
    """Return a study with all its tests carried out."""
    labels = _labels(result)
    splits = labels.splits
    errors = complete_errors(result.frame, splits)
    # In the order of the table, whatever the order of the cells.
    ordered = {
        name: {d: errors.get(name, {})[d] for d in labels.datasets if d in errors.get(name, {})}
        for name in labels.algorithms
    }
    over_sets, on_sets = carry_out(ordered, list(labels.algorithms))
    without = [name for name in labels.algorithms if name not in UNTRAINED.values()]
    ranked = summarise(
        result.frame,
        replace(labels, algorithms={name: labels.algorithms[name] for name in without}),
        EUCLIDEAN,
    )
    name = result.study.protocol.name
    return Side(
        name=name,
        scaling=SCALINGS.get(name, f"protocol {name}"),
        labels=labels,
        errors=ordered,
        over_sets=over_sets,
        on_sets=on_sets,
        ranked=ranked,
        ranking=ranking_of(ranked),
        cost=cost_frame(
            result.frame, ordered, {config.name: config.rows for config in result.study.datasets}
        ),
        reasons=_reasons(result, labels, ordered),
        finished=result.finished,
    )


def _labels(result: StudyResult) -> Labels:
    """Return the study's labels; every set counts, and those of which a part was taken say so."""
    labels = labels_of(result)
    taken = {config.name: _part_taken(config) for config in result.study.datasets}
    notes = {**labels.notes, **{name: text for name, text in taken.items() if text}}
    return replace(labels, notes=notes, uncounted=frozenset())


def _part_taken(config: DatasetConfig) -> str:
    """Return what the note of a data set says of the rows taken, if only a part of them was."""
    part, found, _ = (config.note or "").partition(SEE_RULE)
    return part if found else ""


def _reasons(result: StudyResult, labels: Labels, errors: Errors) -> dict[tuple[str, str], str]:
    failures = result.failures.to_dict("records")
    reasons = {}
    for dataset in labels.datasets:
        for algorithm in labels.algorithms:
            if dataset in errors[algorithm]:
                continue
            failed = [f for f in failures if (f["dataset"], f["algorithm"]) == (dataset, algorithm)]
            reasons[dataset, algorithm] = labels.missing.get(dataset) or _reason(failed, labels.splits)
    return reasons


def _reason(failed: list[dict[Any, Any]], splits: int) -> str:
    if not failed:
        return f"not all {splits} splits are computed"
    first = failed[0]
    what = " ".join(f"{first['error']}: {first['message']}".split())
    return f"{first['status']} in {len(failed)} of {splits} splits ({what})"
