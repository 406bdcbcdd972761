"""The figure of `high_dimension.py`: accuracy of each method on each set, and what its fit takes."""

from pathlib import Path
from typing import Any

from mloml.report.figures.style import BLUE, GREY, ORANGE, VERMILION, paper_style


def draw(table: list[dict[str, Any]], folder: Path) -> None:
    """Write ``high_dimension.pdf`` and ``high_dimension.png``: one panel per set, best method on top."""
    import matplotlib.pyplot as plt

    sets = list(dict.fromkeys(row["set"] for row in table))
    with paper_style():
        figure, panels = plt.subplots(len(sets), 1, figsize=(4.8, 1.9 * len(sets)), layout="constrained")
        for panel, title in zip(panels, sets, strict=True):
            rows = sorted((row for row in table if row["set"] == title), key=lambda row: row["accuracy"])
            for place, row in enumerate(rows):
                error = row["deviation"] if row["seeds"] > 1 else None
                panel.errorbar(
                    row["accuracy"], place, xerr=error, fmt="o", color=colour(row["method"]), capsize=2
                )
                panel.annotate(
                    f"{row['fit s']:.2g} s",
                    (1.01, place),
                    xycoords=("axes fraction", "data"),
                    va="center",
                    fontsize=7,
                )
            panel.set_yticks(range(len(rows)), [row["method"] for row in rows])
            panel.set_ylim(-0.6, len(rows) - 0.4)
            panel.set_title(
                f"{title} (mean ± deviation over {rows[0]['seeds']} splits)"
                if rows[0]["seeds"] > 1
                else title
            )
            panel.grid(axis="x", alpha=0.3)
        panels[-1].set_xlabel("accuracy of 5-NN; on the right, seconds of the fit")
        for ending in ("pdf", "png"):
            figure.savefig(folder / f"high_dimension.{ending}")
        plt.close(figure)


def colour(method: str) -> str:
    """Grey for no learning, orange for reduction first, blue and vermilion for what is learned on all."""
    if method == "cosine 5-NN":
        return GREY
    if "+ MOML" in method:
        return ORANGE
    return VERMILION if "rank" in method else BLUE
