"""What a figure leaves behind: PDF and PNG, the plotted numbers, and a caption with its command."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from mloml.reporting.files import write_csv, write_text
from mloml.reporting.style import save_figure


def write_figure(
    figure: Figure, numbers: pd.DataFrame, folder: Path, name: str, *, title: str, caption: str, command: str
) -> None:
    """Write ``name.pdf``, ``.png``, ``.csv`` (what is plotted) and ``.md`` (title, caption, command)."""
    save_figure(figure, folder, name)
    write_csv(folder / f"{name}.csv", numbers)
    text = f"# {title}\n\n{caption}\n\n![{title}]({name}.png)\n\nMade by `{command}`.\n"
    write_text(folder / f"{name}.md", text)
