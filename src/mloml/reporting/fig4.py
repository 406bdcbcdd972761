"""The files of Figure 4."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from mloml.commands import this_command
from mloml.reporting.artefact import write_figure
from mloml.reporting.figures_time import running_time_figure, time_numbers
from mloml.reporting.files import write_csv
from mloml.reporting.findings import write_findings
from mloml.reporting.style import paper_style


def write_fig4(
    runs: pd.DataFrame, datasets: Mapping[str, str], missing: Mapping[str, str], folder: Path, notes: str = ""
) -> None:
    """Write the figure, its numbers, every run (``runs.csv``) and a caption that answers the claim."""
    write_csv(folder / "runs.csv", runs)
    numbers = time_numbers(runs)
    write_findings(folder, this_command(), " ".join(sentences(numbers, datasets)))
    with paper_style():
        write_figure(
            running_time_figure(numbers, datasets, missing), numbers, folder, "fig4",
            title="Figure 4: running time of OPML and MOML",
            caption=f"{ABOUT} {' '.join(sentences(numbers, datasets))}{notes}",
            command=this_command(),
        )  # fmt: skip


ABOUT = (
    "Time per triplet of the update loops alone: same triplets for all, one thread, bars are medians over "
    "the runs, whiskers the quartiles. “M only” updates the metric and leaves its decomposition out, as the "
    "paper's claim does; “M = L'L” keeps a factor up to date in every step, which is what a layer needs."
)


def sentences(numbers: pd.DataFrame, datasets: Mapping[str, str]) -> list[str]:
    """Say for each dataset how MOML's time compares with OPML's.

    >>> numbers = pd.DataFrame({"dataset": "iris", "method": ["opml", "moml", "moml_frame"],
    ...                         "median": [2.0, 1.0, 3.0], "runs": 9})
    >>> sentences(numbers, {"iris": "iris"})
    ["On iris MOML takes 0.50 times OPML's time without a factor and 1.50 times with one (9 runs)."]
    """
    lines = []
    for name, title in datasets.items():
        part = numbers[numbers["dataset"] == name].set_index("method")
        if {"opml", "moml", "moml_frame"} <= set(part.index):
            plain, factor = (part["median"][m] / part["median"]["opml"] for m in ("moml", "moml_frame"))
            lines.append(
                f"On {title} MOML takes {plain:.2f} times OPML's time without a factor and {factor:.2f} "
                f"times with one ({part['runs'].iloc[0]} runs)."
            )
    return lines
