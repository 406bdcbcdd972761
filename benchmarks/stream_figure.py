"""The figure of `streams.py`: who goes on learning, and what it is worth before and after the change."""

from pathlib import Path
from typing import Any

import numpy as np

from mloml.report.figures.style import BLACK, GREY, METADATA, PAGE_WIDTH, paper_style, style_of

FEWEST = 1e-5
"""Steps per row at which a learner is drawn that takes none; an axis of logarithms has no zero."""


def colour_of(name: str) -> str:
    """Return the colour of the method's family: "OPML, 3 layers" is drawn like OPML."""
    return style_of(name.partition(",")[0].lower().replace("-", "_").replace("mloml", "mloml_r")).colour


def draw(table: list[dict[str, Any]], blocks: int, block: int, folder: Path) -> None:
    """Write ``streams.pdf`` and ``streams.png``: a row of panels per scaling, a line per learner."""
    import matplotlib.pyplot as plt

    scalings = list(dict.fromkeys(row["rows"] for row in table))
    height = 0.9 + 0.19 * len(table)
    with paper_style():
        figure, axes = plt.subplots(
            len(scalings), 2, figsize=(PAGE_WIDTH, height), sharey="row", squeeze=False, layout="constrained"
        )
        for (steps, gains), scaling in zip(axes, scalings, strict=True):
            rows = [row for row in table if row["rows"] == scaling]
            places = np.arange(len(rows))[::-1]
            _steps(steps, rows, places, blocks, block)
            _gains(gains, rows, places)
            steps.set_yticks(places, [row["learner"] for row in rows])
            steps.set_title("unit rows" if scaling == "unit rows" else f"rows {scaling}", loc="left")
        handles, labels = axes[0, 1].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower right", ncols=3)
        for kind in ("pdf", "png"):
            figure.savefig(folder / f"streams.{kind}", dpi=200, metadata=METADATA[kind])
        plt.close(figure)


def _steps(axis: Any, rows: list[dict[str, Any]], places: np.ndarray, blocks: int, block: int) -> None:
    """Mark the steps per row of each block, the last one large."""
    for row, place in zip(rows, places, strict=True):
        share = [max(row[f"steps {i + 1}"] / block, FEWEST) for i in range(blocks)]
        axis.plot(share, [place] * blocks, color=colour_of(row["learner"]), linewidth=0.8, alpha=0.5)
        for i, x in enumerate(share):
            last = i == blocks - 1
            axis.plot(
                x, place, "o" if last else ".", color=colour_of(row["learner"]), markersize=5 if last else 3
            )
    axis.set(xscale="log", xlim=(FEWEST / 2, 4.0), ylim=(-0.7, len(rows) - 0.3))
    axis.set(xlabel="steps per row, slowest layer (large: after the change)")


def _gains(axis: Any, rows: list[dict[str, Any]], places: np.ndarray) -> None:
    """Draw accuracies relative to plain 5-NN's: before the change, at the end, and of the untrained stack."""
    colours = [colour_of(row["learner"]) for row in rows]
    axis.axvline(0.0, color=BLACK, linewidth=0.6)
    start = [row["untrained - plain 5-NN"] for row in rows]
    axis.scatter(start, places, marker="|", c=GREY, s=45, label="untrained")
    before = [row["before - plain 5-NN"] for row in rows]
    axis.scatter(before, places, s=16, facecolors="none", edgecolors=colours, label="before the change")
    axis.scatter([row["after - plain 5-NN"] for row in rows], places, s=16, c=colours, label="at the end")
    axis.set(xlabel="accuracy of 5-NN, less plain 5-NN's")
