"""Pictures that are drawn once a study has settled, and links to them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from mloml.reporting.context import settled
from mloml.reporting.style import paper_style, save_figure

if TYPE_CHECKING:
    from mloml.study import StudyResult


def draw_if(ready: bool, figures: Mapping[str, Callable[[], Figure]], folder: Path) -> None:
    """Draw figures by name when the cells are there; otherwise take away those of an earlier run.

    Drawing takes seconds, and tables are refreshed every few: a half-finished picture is not worth that.
    """
    for name, draw in figures.items():
        if ready:
            with paper_style():
                save_figure(draw(), folder, name)
        else:
            for ending in ("pdf", "png"):
                (folder / f"{name}.{ending}").unlink(missing_ok=True)


def picture(alternative: str, name: str, result: StudyResult) -> str:
    """Return Markdown for a picture, or a line that says when there will be one."""
    if settled(result):
        return f"![{alternative}]({name}.png)"
    return f"(The {alternative} is drawn when all cells are computed.)"
