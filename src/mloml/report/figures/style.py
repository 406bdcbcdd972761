"""One style for all figures: sizes, colours that colour-blind readers can tell apart, files without dates."""

from contextlib import AbstractContextManager
from pathlib import Path
from typing import NamedTuple

import matplotlib as mpl
import matplotlib.style
import yaml

# Width in inches of one column of a two-column paper.
COLUMN_WIDTH = 3.5
PAGE_WIDTH = 7.16

# The palette of Okabe and Ito (2008) without its yellow, which is too pale for lines.
BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
BLUE, VERMILION, PURPLE, GREY = "#0072B2", "#D55E00", "#CC79A7", "#767676"
# For data sets, classes and layers; further colours are Tol's (2021).
WINE, OLIVE, INDIGO, TEAL = "#882255", "#999933", "#332288", "#44AA99"
PALETTE = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, BLACK, GREY, WINE, OLIVE, INDIGO, TEAL)


class Style(NamedTuple):
    """How a method is drawn, in every figure: ``styles.yaml`` has them by name."""

    colour: str
    marker: str
    line: str


_TEXT = Path(__file__).with_name("styles.yaml").read_text(encoding="utf-8")
STYLES = {name: Style(*how) for name, how in yaml.safe_load(_TEXT).items()}


def style_of(algorithm: str) -> Style:
    """Return the style of an algorithm by its config name; a variant has that of what it varies.

    >>> style_of("mloml_r_5") == style_of("mloml_r"), style_of("lmnn_5") == style_of("lmnn")
    (True, True)
    >>> style_of("mloml_r_5_untrained") == style_of("mloml_r_untrained")
    True
    >>> style_of("mine")
    Style(colour='#767676', marker='o', line='-')
    """
    words = algorithm.removesuffix("_untrained").split("_")
    ending = algorithm.removeprefix("_".join(words))
    shorter = ("_".join(words[:length]) + ending for length in range(len(words), 0, -1))
    return next((STYLES[name] for name in shorter if name in STYLES), Style(GREY, "o", "-"))


def paper_style() -> AbstractContextManager[None]:
    """Draw with the settings of all figures, which stand in ``paper.mplstyle``."""
    return mpl.style.context(Path(__file__).with_name("paper.mplstyle"))


# What a file says of its making: no dates and no versions, so that equal pictures are equal files.
METADATA: dict[str, dict[str, str | None]] = {
    "pdf": {"CreationDate": None, "ModDate": None, "Creator": "mloml", "Producer": None},
    "png": {"Software": None},
}
