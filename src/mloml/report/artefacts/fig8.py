"""Figure 8: layers of RDML-, LEGO- and OPML-multi against their shallow versions."""

from __future__ import annotations

from functools import partial

from mloml.report.parts.curve_findings import Comparison, from_first_to_last
from mloml.report.parts.curves import curves_artefact
from mloml.report.recipe import Recipe

TITLE = "Figure 8: other algorithms as layers"
# A stack's first layer starts at the identity, as LEGO and OPML do by themselves and RDML does not.
SHALLOW = {"rdml_multi": "rdml_identity", "lego_multi": "lego", "opml_multi": "opml"}
PAIRS = ("rdml", "rdml_multi", "lego", "lego_multi", "opml", "opml_multi")
UNTRAINED = "mloml_r_5_untrained"

COMPARISONS = (
    *(Comparison(stack, shallow, main=True) for stack, shallow in SHALLOW.items()),
    Comparison("rdml_multi", "rdml"),
    *(Comparison(stack, shallow, at="first") for stack, shallow in SHALLOW.items()),
    *(from_first_to_last(stack) for stack in SHALLOW),
    *(Comparison(stack, UNTRAINED) for stack in SHALLOW),
)

build = partial(
    curves_artefact,
    name="fig8",
    title=TITLE,
    along="layer",
    comparisons=COMPARISONS,
    references=SHALLOW,
    pairs=PAIRS,
)
RECIPE = Recipe("fig8", TITLE, "RDML, LEGO and OPML in layers against their shallow versions.", build)
