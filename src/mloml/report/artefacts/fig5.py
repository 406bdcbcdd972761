"""Figure 5: error of each metric layer of a 5-layer MLOML-r, with Euclidean, MOML and LMNN as lines."""

from functools import partial

from mloml.report.curves import Comparison, curves_artefact, from_first_to_last
from mloml.report.recipe import Recipe

STACK, UNTRAINED = "mloml_r_5", "mloml_r_5_untrained"
COMPARISONS = {
    "first_layer": from_first_to_last(STACK),
    "moml": Comparison(STACK, "moml"),
    "moml_split": Comparison(STACK, "moml_split"),
    "untrained": Comparison(STACK, UNTRAINED),
    "euclidean": Comparison(STACK, "euclidean"),
    "untrained_euclidean": Comparison(UNTRAINED, "euclidean"),
    "lmnn": Comparison(STACK, "lmnn"),
}
REFERENCES = dict.fromkeys((STACK, UNTRAINED), "euclidean")

build = partial(curves_artefact, name="fig5", along="layer", comparisons=COMPARISONS, references=REFERENCES)
RECIPE = Recipe(
    "fig5", "Figure 5: error of each layer", "A stack of five layers, trained and untrained.", build
)
