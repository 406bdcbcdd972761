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

# The palette of Okabe and Ito (2008) without its yellow, which is too pale for lines.
BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
BLUE, VERMILION, PURPLE, GREY = "#0072B2", "#D55E00", "#CC79A7", "#767676"
# For data sets, classes and layers; further colours are Tol's (2021).
WINE, OLIVE, INDIGO, TEAL = "#882255", "#999933", "#332288", "#44AA99"
PALETTE = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, BLACK, GREY, WINE, OLIVE, INDIGO, TEAL)


class Style(NamedTuple):
    """How a method is drawn, in every figure."""

    colour: str
    marker: str
    line: str


# A colour per method, of one hue for a family: no panel has a colour twice. Methods that meet in a figure
# have different markers or dashes as well: it can be read without colours.
STYLES = {
    "euclidean": Style(BLACK, "", "--"),
    "lmnn": Style(PURPLE, "", "-."),
    "kissme": Style(WINE, "P", "-"),
    "lmdml": Style("#AA4499", "X", "--"),
    "mlcc": Style(INDIGO, "*", ":"),
    "nca": Style("#5D4037", "X", "-"),
    "lda": Style("#A1786A", "P", "-"),
    "rdml": Style(ORANGE, "D", "-"),
    "rdml_identity": Style(BLACK, "", ":"),
    "rdml_multi": Style("#8F5F00", "D", "-"),
    "lego": Style(SKY, "s", "-"),
    "lego_multi": Style("#1D5F87", "s", "-"),
    "oasis": Style(TEAL, "v", "-"),
    "opml": Style(GREEN, "^", "-"),
    "opml_multi": Style("#00523C", "^", "-"),
    "slmoml": Style(OLIVE, "p", "-"),
    "moml": Style(BLUE, "o", "-"),
    "moml_split": Style(SKY, "s", ":"),
    "moml_frame": Style(SKY, "s", "-"),
    "mloml_r": Style(VERMILION, "v", "-"),
    "mloml_s": Style("#F0905A", "<", "--"),
    "mloml_t": Style("#8C3A00", ">", ":"),
    "mloml_r_untrained": Style(GREY, "x", ":"),
    "mloml_s_untrained": Style("#A6A6A6", "+", ":"),
    "mloml_t_untrained": Style("#4D4D4D", "1", ":"),
    "arf": Style(INDIGO, "*", "-."),
    "last_label": Style(GREY, "x", ":"),
    "fp": Style(VERMILION, "o", "-"),
    "fbp": Style(GREEN, "^", "-"),
    "bp": Style(SKY, "s", "--"),
    "bp_cv": Style(BLUE, "D", "-."),
}


def style_of(algorithm: str) -> Style:
    """Return the style of an algorithm by its config name; a variant has that of what it varies.

    >>> style_of("mloml_r_5") == style_of("mloml_r"), style_of("lmnn_5") == style_of("lmnn")
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
