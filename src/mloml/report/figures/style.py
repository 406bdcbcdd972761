"""One style for all figures: sizes, colours that colour-blind readers can tell apart, files without dates."""

from contextlib import AbstractContextManager
from pathlib import Path
from typing import NamedTuple

import matplotlib as mpl
import matplotlib.style

# Width in inches of one column of a two-column paper.
COLUMN_WIDTH = 3.5
PAGE_WIDTH = 7.16
# Pixels of a PNG.
DRAWN_PER_INCH = 300

# The palette of Okabe and Ito (2008).
BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
YELLOW, BLUE, VERMILION, PURPLE = "#F0E442", "#0072B2", "#D55E00", "#CC79A7"
GREY = "#767676"


class Style(NamedTuple):
    """How a method is drawn, in every figure."""

    colour: str
    marker: str
    line: str


# One colour per family, one marker per method; more methods than colours, so markers carry the rest.
# Methods that meet in a figure have different markers or dashes: it can be read without colours.
STYLES = {
    "euclidean": Style(BLACK, "", "--"),
    "lmnn": Style(PURPLE, "", "-."),
    "kissme": Style(PURPLE, "P", "-"),
    "lmdml": Style(PURPLE, "X", "--"),
    "mlcc": Style(PURPLE, "*", ":"),
    "nca": Style(BLACK, "X", "-"),
    "lda": Style(BLACK, "P", "-"),
    "rdml": Style(ORANGE, "D", "-"),
    "lego": Style(SKY, "s", "-"),
    "oasis": Style(GREY, "v", "-"),
    "opml": Style(GREEN, "^", "-"),
    "slmoml": Style(YELLOW, "p", "-"),
    "moml": Style(BLUE, "o", "-"),
    "moml_split": Style(BLUE, "s", ":"),
    "mloml_r": Style(VERMILION, "v", "-"),
    "mloml_s": Style(VERMILION, "<", "--"),
    "mloml_t": Style(VERMILION, ">", ":"),
    "mloml_r_untrained": Style(GREY, "x", ":"),
    "mloml_s_untrained": Style(GREY, "+", ":"),
    "mloml_t_untrained": Style(GREY, "1", ":"),
    "fp": Style(VERMILION, "o", "-"),
    "fbp": Style(GREEN, "^", "-"),
    "bp": Style(SKY, "s", "--"),
    "bp_cv": Style(BLUE, "D", "-."),
}


def style_of(algorithm: str) -> Style:
    """Return the style of an algorithm by its config name; a variant has that of what it varies.

    >>> style_of("mloml_r_5") == style_of("mloml_r"), style_of("lego_multi") == style_of("lego")
    (True, True)
    >>> style_of("mloml_r_5_untrained") == style_of("mloml_r_untrained")
    True
    >>> style_of("mine")
    Style(colour='#767676', marker='o', line='-')
    """
    words = algorithm.split("_")
    ending = ["untrained"] if words[-1] == "untrained" else []
    for length in range(len(words), 0, -1):
        found = STYLES.get("_".join([*words[:length], *ending]))
        if found is not None:
            return found
    return Style(GREY, "o", "-")


def paper_style() -> AbstractContextManager[None]:
    """Draw with the settings of all figures, which stand in ``paper.mplstyle``."""
    return mpl.style.context(Path(__file__).with_name("paper.mplstyle"))


# What a file says of its making: no dates and no versions, so that equal pictures are equal files.
METADATA: dict[str, dict[str, str | None]] = {
    "pdf": {"CreationDate": None, "ModDate": None, "Creator": "mloml", "Producer": None},
    "png": {"Software": None},
}
