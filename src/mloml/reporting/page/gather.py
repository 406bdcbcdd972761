"""Read what ``results`` holds; whatever is missing or half-written is said, never raised."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd

from mloml.reporting.page.artefacts import ARTEFACTS, OPTIONAL, Artefact, csv_order, csv_title, picture_text
from mloml.reporting.page.markdown import Document, read_document
from mloml.reporting.page.tables import Table, any_table, error_table

LONGEST_TABLE = 600
"""Rows of a CSV file that are still put on the page; longer ones are only named."""

NOT_TABLES = {"cells", "failures"}


@dataclass(frozen=True)
class Picture:
    """A figure with its caption, the image inside the page."""

    title: str
    caption: str
    uri: str
    source: str
    numbers: Table | None = None


@dataclass
class Section:
    """Everything found of one artefact."""

    artefact: Artefact
    tables: list[Table] = field(default_factory=list)
    pictures: list[Picture] = field(default_factory=list)
    documents: list[Document] = field(default_factory=list)
    failures: Table | None = None
    manifest: dict[str, Any] | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def present(self) -> bool:
        """Tell whether there is anything to show."""
        return bool(self.tables or self.pictures or self.documents)

    @property
    def main(self) -> Table | None:
        """The table that the artefact is named after, if it is one."""
        source = f"{self.artefact.name}/{self.artefact.main}.csv"
        return next((table for table in self.tables if table.source == source), None)

    @property
    def state(self) -> str:
        """Say in a word or two how far the artefact is: what its manifest says, if it has one."""
        if not self.present:
            return "not made yet"
        return str((self.manifest or {}).get("state", "made"))


def gather(results: Path) -> list[Section]:
    """Return a section for every artefact, found or not."""
    sections = [_section(results / artefact.name, artefact) for artefact in ARTEFACTS]
    return [s for s in sections if s.present or s.artefact.name not in OPTIONAL]


def _section(folder: Path, artefact: Artefact) -> Section:
    section = Section(artefact)
    if not folder.is_dir():
        return section
    section.manifest = _manifest(folder / "manifest.json", section.notes)
    pictures = {path.stem for path in folder.glob("*.png")}
    tables = {path.stem: _table(path, section) for path in sorted(folder.glob("*.csv"))}
    section.tables = [
        table
        for stem in sorted(tables, key=lambda stem: (stem != artefact.main, csv_order(stem)))
        if (table := tables[stem]) is not None and stem not in pictures
    ]
    section.pictures = [_picture(folder, stem, tables.get(stem)) for stem in sorted(pictures, key=csv_order)]
    written = pictures | set(tables)  # their .md twins stand beside them
    section.documents = [read_document(p) for p in sorted(folder.glob("*.md")) if p.stem not in written]
    section.failures = _failures(folder / "failures.csv", section.notes)
    return section


def _table(path: Path, section: Section) -> Table | None:
    frame = None if path.stem in NOT_TABLES else _read(path, section.notes)
    if frame is None or frame.empty:
        return None
    source = f"{path.parent.name}/{path.name}"
    if len(frame) > LONGEST_TABLE:
        section.notes.append(f"{source} has {len(frame)} rows and is not shown here.")
        return None
    if path.stem == section.artefact.main and (path.parent / "cells.csv").is_file() and "note" in frame:
        errors = cell_errors(path.parent, section.manifest, section.notes)
        table = error_table(frame, section.artefact.title, source, errors)
    else:
        table = any_table(frame, csv_title(path.stem), source)
    twin = path.with_suffix(".md")
    return replace(table, about=read_document(twin, prose_only=True).html) if twin.is_file() else table


def _read(path: Path, notes: list[str]) -> pd.DataFrame | None:
    try:
        return pd.read_csv(path, dtype=str, keep_default_na=False)
    except (OSError, ValueError) as error:
        notes.append(f"{path.parent.name}/{path.name} could not be read: {error}")
        return None


def cell_errors(
    folder: Path, manifest: dict[str, Any] | None, notes: list[str]
) -> dict[tuple[str, str], list[float]]:
    """Return the errors of the splits by dataset and printed heading, in the order of the splits."""
    frame = _read(folder / "cells.csv", notes)
    if frame is None or not {"dataset", "algorithm", "split", "error"} <= set(frame.columns):
        return {}
    titles = algorithm_titles(manifest)
    frame = frame[frame["error"] != ""]
    frame = frame.assign(split=pd.to_numeric(frame["split"]), error=pd.to_numeric(frame["error"]))
    found: dict[tuple[str, str], list[float]] = {}
    for (dataset, algorithm), part in frame.sort_values("split").groupby(["dataset", "algorithm"]):
        title = titles.get(str(algorithm), str(algorithm))
        for heading in (title, f"{title} FP"):  # Table III names forward propagation, Table II does not
            found[str(dataset), heading] = part["error"].tolist()
    return found


def algorithm_titles(manifest: dict[str, Any] | None) -> dict[str, str]:
    """Return printed titles by config name, from the study's config inside its manifest."""
    config = (manifest or {}).get("config")
    entries = config.get("algorithms") if isinstance(config, dict) else None
    return {
        entry["name"]: entry.get("title") or entry["name"]
        for entry in entries or []
        if isinstance(entry, dict) and "name" in entry
    }


def _picture(folder: Path, stem: str, numbers: Table | None) -> Picture:
    data = base64.b64encode((folder / f"{stem}.png").read_bytes()).decode("ascii")
    caption = folder / f"{stem}.md"
    title, text = picture_text(stem)
    if caption.is_file():
        document = read_document(caption)
        title, text = document.title or title, document.lead
    return Picture(title, text, f"data:image/png;base64,{data}", f"{folder.name}/{stem}.png", numbers)


def _manifest(path: Path, notes: list[str]) -> dict[str, Any] | None:
    if not path.is_file():
        return None
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        notes.append(f"{path.parent.name}/manifest.json could not be read: {error}")
        return None
    return content if isinstance(content, dict) else None


def _failures(path: Path, notes: list[str]) -> Table | None:
    frame = _read(path, notes) if path.is_file() else None
    if frame is None or frame.empty:
        return None
    return any_table(frame, "Failures", f"{path.parent.name}/failures.csv")
