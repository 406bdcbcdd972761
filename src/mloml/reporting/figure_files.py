"""From a study's result to the files of figures 5, 7 and 8; safe to call while cells come in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mloml.commands import this_command
from mloml.reporting.artefact import write_figure
from mloml.reporting.context import labels_of, starred
from mloml.reporting.curve_findings import curve_findings
from mloml.reporting.figures import curve_frame, curves_figure, plotted_numbers
from mloml.reporting.findings import write_findings
from mloml.reporting.style import paper_style

if TYPE_CHECKING:
    from mloml.reporting.tables import Labels
    from mloml.study import StudyResult


@dataclass(frozen=True)
class CurveFigure:
    """A figure of errors along layers or scans: its names, and the list of a record it shows.

    ``against`` names, for a curve, the method with which its end is compared in words.
    """

    name: str
    title: str
    about: str
    key: str = "layer_errors"
    along: str = "layer"
    label: str = "metric layer"
    against: Mapping[str, str] = field(default_factory=dict)

    def write(self, result: StudyResult) -> None:
        """Write the figure's PDF, PNG, CSV and caption into the study's folder."""
        labels = labels_of(result)
        order = [config.name for config in result.study.datasets]
        datasets = starred(labels, {name: labels.datasets[name] for name in order})
        algorithms = starred(labels, {a.name: a.title for a in result.study.algorithms})
        frame = curve_frame(result.records, self.key, self.along)
        splits = result.study.protocol.splits
        findings = curve_findings(frame, self.along, datasets, algorithms, self.against, splits)
        write_findings(result.folder, this_command(), *findings)
        with paper_style():
            write_figure(
                curves_figure(frame, self.along, datasets, algorithms, labels.missing, self.label),
                plotted_numbers(frame, self.along),
                result.folder,
                self.name,
                title=self.title,
                caption=f"{self.about} {self._protocol(result)}{footnotes(labels, datasets | algorithms)}",
                command=this_command(),
            )

    def _protocol(self, result: StudyResult) -> str:
        protocol = result.study.protocol
        done, cells = len(result.records), len(result.frame)
        text = (
            f"5-NN test error; lines are means over {protocol.splits} splits, bands one standard error of "
            f"the mean. Step sizes are chosen per split by {protocol.folds}-fold cross-validation of the "
            f"last layer after {protocol.scans} scans and used for all layers and scans. Protocol: "
            f"{protocol.name}."
        )
        return text if done == cells else f"{text} Unfinished: {done} of {cells} cells."


def footnotes(labels: Labels, titles: dict[str, str]) -> str:
    """Spell out what the asterisks in a picture mean, and why a panel is empty.

    >>> from mloml.reporting.tables import Labels
    >>> footnotes(Labels({}, {}, 30, notes={"mlcc": "reconstruction"}), {"mlcc": "ML-CC*", "moml": "MOML"})
    ' ML-CC*: reconstruction.'
    """
    asked: dict[str, list[str]] = {}
    for name, title in titles.items():
        if note := labels.note_of(name):
            asked.setdefault(note.rstrip("."), []).append(title)
    return "".join(f" {', '.join(names)}: {note}." for note, names in asked.items())
