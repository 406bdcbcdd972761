"""One look for all figures: sizes, colours that colour-blind readers can tell apart, files without dates."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib as mpl
from matplotlib.figure import Figure

from mloml.reporting.files import write_bytes

COLUMN_WIDTH = 3.5
"""Width in inches of one column of a two-column paper."""
PAGE_WIDTH = 7.16
DRAWN_PER_INCH = 300
"""Pixels of a PNG."""

# The palette of Okabe and Ito (2008).
BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
YELLOW, BLUE, VERMILION, PURPLE = "#F0E442", "#0072B2", "#D55E00", "#CC79A7"
GREY = "#767676"


class Look(NamedTuple):
    """How a method is drawn, in every figure."""

    colour: str
    marker: str
    line: str


LOOKS = {
    "euclidean": Look(BLACK, "", "--"),
    "lmnn": Look(PURPLE, "", "-."),
    "kissme": Look(PURPLE, "P", "-"),
    "lmdml": Look(PURPLE, "X", "--"),
    "mlcc": Look(PURPLE, "*", ":"),
    "rdml": Look(ORANGE, "D", "-"),
    "lego": Look(SKY, "s", "-"),
    "oasis": Look(GREY, "v", "-"),
    "opml": Look(GREEN, "^", "-"),
    "slmoml": Look(YELLOW, "p", "-"),
    "moml": Look(BLUE, "o", "-"),
    "moml_split": Look(BLUE, "s", ":"),
    "mloml_r": Look(VERMILION, "o", "-"),
    "mloml_s": Look(VERMILION, "s", "--"),
    "mloml_t": Look(VERMILION, "^", ":"),
}
"""One colour per family, one marker per method; more methods than colours, so markers carry the rest."""


def look(algorithm: str) -> Look:
    """Return the look of an algorithm by its config name; a variant looks like what it varies.

    >>> look("mloml_r_5").colour == look("mloml_r").colour, look("lego_multi").colour == look("lego").colour
    (True, True)
    >>> look("mine")
    Look(colour='#767676', marker='o', line='-')
    """
    words = algorithm.split("_")
    for length in range(len(words), 0, -1):
        found = LOOKS.get("_".join(words[:length]))
        if found is not None:
            return found
    return Look(GREY, "o", "-")


@contextmanager
def paper_style() -> Iterator[None]:
    """Draw with the settings of all figures: small type, thin lines, embedded fonts, no screen."""
    settings: dict[Any, Any] = {
        "font.family": "DejaVu Sans",  # ships with matplotlib: the same picture on every machine
        "font.size": 7,
        "axes.titlesize": 7.5,
        "axes.labelsize": 7,
        "axes.linewidth": 0.6,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "grid.linewidth": 0.3,
        "grid.color": "#dddddd",
        "axes.axisbelow": True,
        "xtick.labelsize": 6.5,
        "ytick.labelsize": 6.5,
        "xtick.major.width": 0.6,
        "ytick.major.width": 0.6,
        "legend.fontsize": 7,
        "legend.frameon": False,
        "lines.linewidth": 1.1,
        "lines.markersize": 3.5,
        "figure.dpi": 100,
        "savefig.dpi": DRAWN_PER_INCH,
        "pdf.fonttype": 42,  # TrueType: text in the PDF can be searched and edited
        "svg.hashsalt": "mloml",
    }
    with mpl.rc_context(settings):
        yield


METADATA: dict[str, dict[str, str | None]] = {
    "pdf": {"CreationDate": None, "ModDate": None, "Creator": "mloml", "Producer": None},
    "png": {"Software": None},
}
"""What a file says of its making: no dates and no versions, so that equal pictures are equal files."""


def save_figure(figure: Figure, folder: Path, name: str) -> None:
    """Write ``name.pdf`` and ``name.png``, each whole or not at all, the same bytes whatever the day."""
    for ending, metadata in METADATA.items():
        drawn = BytesIO()
        figure.savefig(drawn, format=ending, metadata=metadata)
        write_bytes(folder / f"{name}.{ending}", drawn.getvalue())
