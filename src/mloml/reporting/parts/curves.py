"""Figures 5, 7 and 8: errors along layers or scans, drawn and in words."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from mloml.reporting.captions import caption
from mloml.reporting.document import Artefact, Figure
from mloml.reporting.figures.curves import curve_frame, curves_figure, plotted_numbers
from mloml.reporting.labels import labels_of
from mloml.reporting.parts.curve_findings import curve_findings

if TYPE_CHECKING:
    from mloml.execution.study import StudyResult

AXES = {"layer": "metric layer", "scan": "scans over the training half"}


def curves_artefact(
    result: StudyResult, name: str, title: str, along: str, against: Mapping[str, str]
) -> Artefact:
    """Return the figure of a study that recorded the errors along its layers or scans.

    Parameters
    ----------
    result : StudyResult
    name, title : str
        Of the figure.
    along : {"layer", "scan"}
    against : mapping
        For a curve, the method with which its end is compared in words.
    """
    labels = labels_of(result)
    datasets = labels.starred(config.name for config in result.study.datasets)
    algorithms = labels.starred(algorithm.name for algorithm in result.study.algorithms)
    frame = curve_frame(result.records, f"{along}_errors", along)
    splits = result.study.protocol.splits
    headline, sentences = curve_findings(frame, along, datasets, algorithms, against, splits)
    figure = Figure(
        name,
        title,
        f"{caption(name)} {_protocol(result)}{labels.footnotes(datasets | algorithms)}",
        partial(curves_figure, frame, along, datasets, algorithms, labels.missing, AXES[along]),
        plotted_numbers(frame, along),
        page=True,
    )
    return Artefact(headline, tuple(sentences), figures=(figure,))


def _protocol(result: StudyResult) -> str:
    done, cells = len(result.records), len(result.frame)
    text = caption("curves", **vars(result.study.protocol))
    return text if done == cells else f"{text} Unfinished: {done} of {cells} cells."
