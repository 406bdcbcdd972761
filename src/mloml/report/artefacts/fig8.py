"""Figure 8: layers of RDML-, LEGO- and OPML-multi against their shallow versions."""

from functools import partial

from mloml.report.curves import Comparison, curves_artefact, from_first_to_last
from mloml.report.recipe import Recipe

# A stack's first layer starts at the identity, as LEGO and OPML do by themselves and RDML does not.
SHALLOW = {"rdml_multi": "rdml_identity", "lego_multi": "lego", "opml_multi": "opml"}
UNTRAINED = "mloml_r_5_untrained"
GROUPS = {
    "RDML": ("rdml", "rdml_multi", "rdml_identity", UNTRAINED),
    "LEGO": ("lego", "lego_multi", UNTRAINED),
    "OPML": ("opml", "opml_multi", UNTRAINED),
}
COMPARISONS = {
    **{stack: Comparison(stack, shallow) for stack, shallow in SHALLOW.items()},
    "rdml_own_start": Comparison("rdml_multi", "rdml"),
    **{f"{stack}_first": Comparison(stack, shallow, at="first") for stack, shallow in SHALLOW.items()},
    **{f"{stack}_own_first": from_first_to_last(stack) for stack in SHALLOW},
    **{f"{stack}_untrained": Comparison(stack, UNTRAINED) for stack in SHALLOW},
}

build = partial(
    curves_artefact, name="fig8", along="layer", comparisons=COMPARISONS, references=SHALLOW, groups=GROUPS
)
RECIPE = Recipe(
    "fig8",
    "Figure 8: other algorithms as layers",
    "RDML, LEGO and OPML in layers against their shallow versions.",
    build,
)
