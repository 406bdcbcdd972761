"""Figure 7: error against the number of scans of MOML and MLOML-r, with Euclidean as a line."""

from functools import partial

from mloml.report.curves import Comparison, curves_artefact, from_first_to_last
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
THROUGHOUT = [Comparison("mloml_r", "moml"), Comparison("mloml_r", "moml_split")]

build = partial(
    curves_artefact,
    name="fig7",
    along="scan",
    comparisons=COMPARISONS,
    references=REFERENCES,
    throughout=THROUGHOUT,
)
RECIPE = Recipe("fig7", "Figure 7: scans", "Error against the number of scans.", build)
