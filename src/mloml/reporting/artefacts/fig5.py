"""Figure 5: error of each metric layer of a 5-layer MLOML-r, with Euclidean, MOML and LMNN as lines."""

from __future__ import annotations

from functools import partial

from mloml.reporting.parts.curves import curves_artefact
from mloml.reporting.recipe import Recipe

TITLE = "Figure 5: error of each layer"

build = partial(curves_artefact, name="fig5", title=TITLE, along="layer", against={"mloml_r_5": "moml_split"})
RECIPE = Recipe("fig5", TITLE, "A stack of five layers.", build)
