"""Figure 7: error against the number of scans of MOML and MLOML-r, with Euclidean as a line."""

from __future__ import annotations

from functools import partial

from mloml.report.parts.curve_findings import Comparison, from_first_to_last
from mloml.report.parts.curves import curves_artefact
from mloml.report.recipe import Recipe

TITLE = "Figure 7: error against the number of scans"
CURVES = ("moml", "moml_split", "mloml_r")
COMPARISONS = (
    *(from_first_to_last(name, main=True) for name in CURVES),
    Comparison("mloml_r", "moml", main=True),
    Comparison("mloml_r", "moml_split"),
    Comparison("mloml_r", "moml", at="first", reference_at="first"),
    Comparison("mloml_r", "euclidean"),
)

build = partial(
    curves_artefact,
    name="fig7",
    title=TITLE,
    along="scan",
    comparisons=COMPARISONS,
    references=dict.fromkeys(CURVES, "euclidean"),
)
RECIPE = Recipe("fig7", "Figure 7: scans", "Error against the number of scans.", build)
