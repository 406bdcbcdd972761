"""Figure 5: error of each metric layer of a 5-layer MLOML-r, with Euclidean, MOML and LMNN as lines."""

from __future__ import annotations

from functools import partial

from mloml.report.parts.curve_findings import Comparison, from_first_to_last
from mloml.report.parts.curves import curves_artefact
from mloml.report.recipe import Recipe

TITLE = "Figure 5: error of each layer"
STACK, UNTRAINED = "mloml_r_5", "mloml_r_5_untrained"
COMPARISONS = (
    from_first_to_last(STACK, main=True),
    Comparison(STACK, "moml", main=True),
    Comparison(STACK, "moml_split"),
    Comparison(STACK, UNTRAINED, main=True),
    Comparison(STACK, "euclidean"),
    Comparison(UNTRAINED, "euclidean"),
    Comparison(STACK, "lmnn"),
)

build = partial(
    curves_artefact,
    name="fig5",
    title=TITLE,
    along="layer",
    comparisons=COMPARISONS,
    references=dict.fromkeys((STACK, UNTRAINED), "euclidean"),
)
RECIPE = Recipe("fig5", TITLE, "A stack of five layers, trained and untrained.", build)
