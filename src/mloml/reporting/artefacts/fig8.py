"""Figure 8: layers of RDML-, LEGO- and OPML-multi against their shallow versions."""

from __future__ import annotations

from functools import partial

from mloml.reporting.parts.curves import curves_artefact
from mloml.reporting.recipe import Recipe

TITLE = "Figure 8: other algorithms as layers"
# A stack's first layer is the shallow version from the identity, which RDML by itself is not.
AGAINST = {"rdml_multi": "rdml_identity", "lego_multi": "lego", "opml_multi": "opml"}

build = partial(curves_artefact, name="fig8", title=TITLE, along="layer", against=AGAINST)
RECIPE = Recipe("fig8", TITLE, "RDML, LEGO and OPML in layers against their shallow versions.", build)
