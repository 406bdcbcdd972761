"""Write an artefact's files: each whole or not at all, equal for equal content, untouched when equal."""

from __future__ import annotations

import dataclasses
import json
import math
from io import BytesIO
from pathlib import Path
from typing import Any

import pandas as pd

from mloml.report.document import Artefact, Figure, Table, Text
from mloml.report.figures.style import METADATA, paper_style
from mloml.report.files import write_csv, write_file
from mloml.report.latex import grid_to_latex
from mloml.report.markdown import page_to_markdown

DOCUMENT = "artefact.json"
"""Everything that the HTML page shows of an artefact, except for the pictures it names."""
FORMAT = 1
NOT_DATA = ("draw", "latex")
LONGEST_TABLE = 600
"""Rows of a table that are still part of the document; longer ones are only named."""


def publish(artefact: Artefact, folder: Path) -> None:
    """Write CSV, LaTeX, Markdown, PNG and PDF files, and last of all ``artefact.json``."""
    for table in artefact.tables:
        _write_table(table, folder, artefact.command)
    for figure in artefact.figures:
        _write_figure(figure, folder, artefact.command)
    if artefact.notes:
        text = page_to_markdown(artefact.title, artefact.notes, artefact.command)
        write_file(folder / f"{artefact.name}.md", text)
    short = (Text((artefact.headline,)), Text(artefact.findings, listed=True))
    write_file(folder / "findings.md", page_to_markdown("In short", short, artefact.command))
    content = {"format": FORMAT, **as_json(artefact)}
    write_file(folder / DOCUMENT, json.dumps(content, ensure_ascii=False, indent=1) + "\n")


def as_json(part: Any) -> Any:
    """Return a document, or a part of it, as plain data; ``kind`` names the class of each part."""
    if isinstance(part, pd.DataFrame):
        rows = (
            None if len(part) > LONGEST_TABLE else [list(map(_value, row)) for row in part.to_numpy(object)]
        )
        return {"kind": "Frame", "columns": [str(c) for c in part.columns], "length": len(part), "rows": rows}
    if dataclasses.is_dataclass(part):
        kept = (field.name for field in dataclasses.fields(part) if field.name not in NOT_DATA)
        return {"kind": type(part).__name__, **{name: as_json(getattr(part, name)) for name in kept}}
    return [as_json(each) for each in part] if isinstance(part, tuple) else part


def _write_table(table: Table, folder: Path, command: str) -> None:
    write_csv(folder / f"{table.name}.csv", table.frame)
    if table.latex is not None:
        write_file(folder / f"{table.name}.tex", grid_to_latex(table.latex))
    if table.page:
        write_file(folder / f"{table.name}.md", page_to_markdown(table.title, table.page, command))


def _write_figure(figure: Figure, folder: Path, command: str) -> None:
    for ending, data in _drawn(figure).items():
        path = folder / f"{figure.name}.{ending}"
        if data is None:
            path.unlink(missing_ok=True)  # of an earlier run
        else:
            write_file(path, data)
    if figure.numbers is not None:
        write_csv(folder / f"{figure.name}.csv", figure.numbers)
    if figure.page:
        blocks = (Text((figure.caption,)), figure)
        write_file(folder / f"{figure.name}.md", page_to_markdown(figure.title, blocks, command))


def _drawn(figure: Figure) -> dict[str, bytes | None]:
    """Return the picture in each format, the same bytes whatever the day; None when it is not ready."""
    if not figure.ready:
        return dict.fromkeys(METADATA)
    files: dict[str, bytes | None] = {}
    with paper_style():
        drawing = figure.draw()
        for ending, metadata in METADATA.items():
            stream = BytesIO()
            drawing.savefig(stream, format=ending, metadata=metadata)
            files[ending] = stream.getvalue()
    return files


def _value(value: Any) -> str | int | float | None:
    """Return a number with the digits of the CSV file; a gap is None."""
    if pd.isna(value):
        return None
    if isinstance(value, float):
        return float(f"{value:.10g}") if math.isfinite(value) else str(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else str(value)
