"""Differences from the paper, looked into: one knob per column that disagrees, swept; post hoc throughout."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from mloml.paper.comparison import AGREES, HIGHER, LOWER
from mloml.report.captions import caption
from mloml.report.document import Artefact, Block, Column, Entry, Figure, Grid, Row, Table, Text, number
from mloml.report.figures.sweeps import sweeps_figure
from mloml.report.labels import Labels, labels_of
from mloml.report.parts.knobs import KNOBS, Knob
from mloml.report.parts.paper_comparison import ARROWS
from mloml.report.parts.selections import selections_frame
from mloml.report.parts.sweep_findings import (
    POST_HOC,
    headline,
    knob_sentence,
    left_out_sentences,
    power_sentence,
)
from mloml.report.parts.sweeps import counts_frame, verdicts_frame
from mloml.report.recipe import Recipe
from mloml.report.tables import summarise

if TYPE_CHECKING:
    from mloml.experiments.study import StudyResult

SHOWN = {AGREES: "agree", LOWER: "ours lower", HIGHER: "ours higher"}


def build(result: StudyResult) -> Artefact:
    """Return how many cells agree with the paper at each value of each knob."""
    labels = labels_of(result)
    results = summarise(result.frame, labels, {})
    verdicts = verdicts_frame(KNOBS, results.complete, selections_frame(result.records, labels))
    counts = counts_frame(KNOBS, verdicts)
    short = headline(KNOBS, counts, verdicts)
    sentences = tuple(knob_sentence(knob, counts, verdicts) for knob in KNOBS)
    remarks = (power_sentence(labels.splits), *left_out_sentences(result.study, labels.datasets))
    figures = (_figure(counts, result.finished),) if len(counts) else ()
    page: list[Block] = [Text((POST_HOC,)), Text((short,)), *figures, Text(remarks, listed=True)]
    for knob, sentence in zip(KNOBS, sentences, strict=True):
        page += _knob_blocks(knob, sentence, counts, verdicts, labels)
    tables = (
        Table("differences", RECIPE.title, counts, (*page, labels.notes_text())),
        Table("verdicts", "Post hoc: every value against the paper, cell by cell", verdicts),
    )
    return Artefact(short, (POST_HOC, *sentences, *remarks), tables, figures)


def _figure(counts: pd.DataFrame, finished: bool) -> Figure:
    titles = {knob.name: knob.title for knob in KNOBS}
    return Figure(
        "sweeps",
        "Cells that agree with the paper at each value (post hoc)",
        caption("sweeps"),
        lambda: sweeps_figure(counts, titles),
        ready=finished,
    )


def _knob_blocks(
    knob: Knob, sentence: str, counts: pd.DataFrame, verdicts: pd.DataFrame, labels: Labels
) -> list[Block]:
    """Return what is said of a knob, its counts, and its means beside the paper's."""
    words = Text((knob.about, sentence), heading=f"{knob.title} (post hoc)")
    mine = counts[counts["knob"] == knob.name]
    if mine.empty:
        return [words]
    printed = pd.DataFrame(
        {
            "value": [_marked(value, knob) for value in mine["value"]],
            **{SHOWN[verdict]: mine[verdict] for verdict in SHOWN},
            "cells": mine["cells"],
            "sum of z²": [f"{value:.1f}" for value in mine["sum_of_squares"]],
        }
    )
    return [words, printed, means_grid(knob, verdicts, labels)]


def means_grid(knob: Knob, verdicts: pd.DataFrame, labels: Labels) -> Grid:
    """Lay out the means of all values of a knob beside the paper's; cells that are not counted come below."""
    mine = verdicts[verdicts["knob"] == knob.name]
    titles = [value.title for value in knob.values]
    columns = (Column("paper", "paper"), *(Column(title, _marked(title, knob)) for title in titles))
    several = len(set(mine["algorithm"])) > 1
    above: list[Row] = []
    below: list[Row] = []
    for algorithm in dict.fromkeys(mine["algorithm"]):
        for dataset in labels.datasets:
            cells = mine[(mine["algorithm"] == algorithm) & (mine["dataset"] == dataset)]
            if cells.empty:
                continue
            texts = {
                cell["value"]: number(cell["our_mean"]) + ARROWS.get(cell["verdict"], "")
                for cell in cells.to_dict("records")
            }
            entries = (
                Entry(text=number(cells["paper_mean"].iloc[0])),
                *(Entry(text=texts.get(title, "")) for title in titles),
            )
            title = f"{labels.datasets[dataset]} {algorithm[6:7]}" if several else labels.datasets[dataset]
            row = Row(f"{dataset} {algorithm}" if several else dataset, title, entries)
            (above if cells["counted"].iloc[0] else below).append(row)
    text = f"{knob.title}: means of each value beside the paper's (post hoc)."
    label = f"tab:differences-{knob.name.replace('_', '-')}"
    return Grid(text, label, columns, tuple(above), tuple(below), remarks=(caption("sweep_means"),))


def _marked(value: str, knob: Knob) -> str:
    return f"{value} (default)" if value == knob.default else value


RECIPE = Recipe(
    "differences",
    "Differences from the paper, one knob at a time (post hoc)",
    "What becomes of the agreement when one thing that the paper leaves open is changed.",
    build,
    in_all=False,
)
