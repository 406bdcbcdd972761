"""The figure of `streams.py`: who goes on learning, and what it is worth after the change."""

from pathlib import Path
from typing import Any

import numpy as np
from mloml.reporting.style import look, paper_style

CONFIG_NAMES = {"MOML": "moml", "MLOML": "mloml_r", "MLOML-r": "mloml_r", "MLOML-s": "mloml_s"}


def method_look(name: str) -> tuple[str, str, float]:
    """Return colour, line and width: its family's; thick for one layer, which a stack's may cover."""
    family, _, variant = name.partition(", ")
    line = {"shrink": ":", "3 layers": "--"}.get(variant, {"MLOML-s": "-.", "MLOML": "--"}.get(family, "-"))
    width = 1.0 if family.startswith("MLOML") or variant == "3 layers" else 2.0
    return look(CONFIG_NAMES.get(family, family.lower())).colour, line, width


def draw(
    table: list[dict[str, Any]],
    shares: dict[tuple[str, str], np.ndarray],
    call: int,
    change: int,
    folder: Path,
) -> None:
    """Write ``streams.pdf`` and ``streams.png``: one row of panels per scaling."""
    import matplotlib.pyplot as plt

    scalings = list(dict.fromkeys(scaling for scaling, _ in shares))
    with paper_style():
        figure, axes = plt.subplots(
            len(scalings), 2, figsize=(7.2, 2.4 * len(scalings)), squeeze=False, layout="constrained"
        )
        for (steps, gain), scaling in zip(axes, scalings, strict=True):
            names = [name for found, name in shares if found == scaling]
            for name in names:
                share = shares[scaling, name]
                colour, line, width = method_look(name)
                x = np.arange(1, len(share) + 1) * call / 1000
                steps.plot(x, np.maximum(share, 1e-5), line, color=colour, linewidth=width, label=name)
            steps.axvline(change / 1000, color="#999999", linewidth=0.6)
            steps.set(yscale="log", ylim=(8e-6, 2.5), xlabel="rows seen (thousands)")
            steps.set(
                ylabel="steps per row, slowest layer",
                title=f"rows {scaling}" if scaling != "unit rows" else scaling,
            )
            _gains(gain, [row for row in table if row["rows"] == scaling])
        handles, labels = axes[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=5)
        for kind in ("pdf", "png"):
            figure.savefig(folder / f"streams.{kind}", dpi=200)
        plt.close(figure)


def _gains(axis: Any, rows: list[dict[str, Any]]) -> None:
    """Draw the accuracy after the change, and the untrained stack's, relative to plain 5-NN."""
    places = np.arange(len(rows))[::-1]
    colours = [method_look(row["learner"])[0] for row in rows]
    axis.axvline(0.0, color="#000000", linewidth=0.6)
    axis.scatter([row["after - plain 5-NN"] for row in rows], places, c=colours, s=16, zorder=3)
    axis.scatter(
        [row["untrained - plain 5-NN"] for row in rows],
        places,
        marker="|",
        c="#767676",
        s=30,
        label="untrained",
    )
    axis.set_yticks(places, [row["learner"] for row in rows])
    axis.set(xlabel="accuracy after the change, less plain 5-NN's (bar: untrained)")
