"""Figure 7: error against the number of scans of MOML and MLOML-r, with Euclidean as a line."""

from dataclasses import replace

import pandas as pd

from mloml.experiments.study import StudyResult
from mloml.report.curves import COLUMNS, Comparison, compare_curves, curves_artefact, from_first_to_last
from mloml.report.document import Artefact, Table
from mloml.report.figures.curves import curve_frame
from mloml.report.recipe import Recipe

CURVES = ("moml", "moml_split", "mloml_r")
COMPARISONS = {
    **{name: from_first_to_last(name) for name in CURVES},
    "against_moml": Comparison("mloml_r", "moml"),
    "against_moml_split": Comparison("mloml_r", "moml_split"),
    "against_moml_first": Comparison("mloml_r", "moml", at="first", reference_at="first"),
    "against_euclidean": Comparison("mloml_r", "euclidean"),
}
REFERENCES = dict.fromkeys(CURVES, "euclidean")


def build(result: StudyResult) -> Artefact:
    """Return the figure, and the comparison of MLOML-r with MOML after every scan."""
    artefact = curves_artefact(result, "fig7", "scan", COMPARISONS, REFERENCES)
    frame, splits = curve_frame(result.records, "scan_errors", "scan"), result.study.protocol.splits
    datasets = [config.name for config in result.study.datasets]
    parts = [
        compare_curves(at, "scan", datasets, Comparison("mloml_r", reference), splits)
        for _, at in frame[frame["scan"] > 0].groupby("scan")
        for reference in ("moml", "moml_split")
    ]
    filled = [part for part in parts if len(part)] or [pd.DataFrame(columns=COLUMNS)]
    each = pd.concat(filled, ignore_index=True)
    tables = (*artefact.tables, Table("equal_scans", each, "MLOML-r against MOML after every scan"))
    return replace(artefact, tables=tables)


RECIPE = Recipe("fig7", "Figure 7: scans", "Error against the number of scans.", build)
