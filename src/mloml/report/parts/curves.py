"""Figures 5, 7 and 8: errors along layers or scans, drawn and in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import pandas as pd

from mloml.report.captions import caption
from mloml.report.document import Artefact, Figure, Table
from mloml.report.figures.curves import curve_frame, curves_figure, plotted_numbers
from mloml.report.labels import labels_of
from mloml.report.parts.curve_findings import Comparison, compare_curves, curve_findings

if TYPE_CHECKING:
    from mloml.experiments.study import StudyResult

AXES = {"layer": "metric layer", "scan": "scans over the training half"}


def curves_artefact(
    result: StudyResult,
    name: str,
    title: str,
    along: str,
    comparisons: Sequence[Comparison],
    references: Mapping[str, str],
    pairs: Sequence[str] = (),
) -> Artefact:
    """Return the figure of a study that recorded the errors along its layers or scans.

    Parameters
    ----------
    result : StudyResult
    name, title : str
        Of the figure.
    along : {"layer", "scan"}
    comparisons : sequence
        What is held against what, in words.
    references : mapping
        For a curve, the method to which its band is the paired difference.
    pairs : sequence of str
        Algorithms that come first in the legend, two and two.
    """
    labels = labels_of(result)
    frame = curve_frame(result.records, f"{along}_errors", along)
    there = set(frame["dataset"])
    order = [config.name for config in result.study.datasets]
    datasets = labels.starred(dataset for dataset in order if dataset in there)
    known = [algorithm.name for algorithm in result.study.algorithms]
    algorithms = labels.starred(dict.fromkeys([*(a for a in pairs if a in known), *known]))
    compared = compare_curves(frame, along, list(datasets), comparisons, result.study.protocol.splits)
    headline, sentences = curve_findings(compared, along, datasets, algorithms, comparisons)
    notes = labels.footnotes(datasets | algorithms) + labels.left_out(order, there)
    figure = Figure(
        name,
        title,
        f"{caption(name)} {_protocol(result)}{notes}",
        partial(curves_figure, frame, along, datasets, algorithms, AXES[along], references),
        plotted_numbers(frame, along, references),
        page=True,
        ready=bool(datasets),
    )
    tables = (points_table(frame, along), Table("comparisons", "Both tests of every comparison", compared))
    return Artefact(headline, tuple(sentences), tables, figures=(figure,))


def points_table(frame: pd.DataFrame, along: str) -> Table:
    """Return the error of every cell at every layer or after every scan: ``layer_errors.csv``.

    A method without layers (or scans) has one row per split, whose number is 0.
    """
    where = "at every layer" if along == "layer" else "after every scan"
    return Table(f"{along}_errors", f"Test error of every split {where}", frame)


def _protocol(result: StudyResult) -> str:
    done, cells = len(result.records), len(result.frame)
    protocol = result.study.protocol
    wider = (1 + protocol.splits) ** 0.5
    text = caption("curves", **vars(protocol), wider=f"{wider:.1f}")
    return text if done == cells else f"{text} Unfinished: {done} of {cells} cells."
