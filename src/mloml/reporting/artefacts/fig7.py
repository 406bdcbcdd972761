"""Figure 7: error against the number of scans of MOML and MLOML-r, with Euclidean as a line."""

from __future__ import annotations

from functools import partial

from mloml.reporting.parts.curves import curves_artefact
from mloml.reporting.recipe import Recipe

TITLE = "Figure 7: error against the number of scans"

build = partial(curves_artefact, name="fig7", title=TITLE, along="scan", against={"mloml_r": "moml_split"})
RECIPE = Recipe("fig7", "Figure 7: scans", "Error against the number of scans.", build)
