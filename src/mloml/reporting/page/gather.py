"""Read what ``results`` holds; whatever is missing or half-written is said, never raised."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd

from mloml.reporting.findings import FINDINGS
from mloml.reporting.page.artefacts import ARTEFACTS, OPTIONAL, Artefact, csv_order, csv_title
from mloml.reporting.page.markdown import Document, Places, read_document
from mloml.reporting.page.pictures import Picture, picture_of
from mloml.reporting.page.tables import Table, anchor_of, any_table, error_table

LONGEST_TABLE = 600
"""Rows of a CSV file that are still put on the page; longer ones are only named."""

NOT_TABLES = {"cells", "failures"}

SPELT_OUT = {"table1": ["note", "missing"]}
"""Columns that the words below a table repeat."""


@dataclass
class Section:
    """Everything found of one artefact."""

    artefact: Artefact
    tables: list[Table] = field(default_factory=list)
    pictures: list[Picture] = field(default_factory=list)
    documents: list[Document] = field(default_factory=list)
    findings: Document | None = None
    failures: list[Table] = field(default_factory=list)
    manifests: list[dict[str, Any]] = field(default_factory=list)
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
        """Say in a word or two how far the artefact is: what its manifests say, if it has any."""
        if not self.present:
            return "not made yet"
        states = [str(manifest.get("state", "made")) for manifest in self.manifests] or ["made"]
        return next((state for state in states if state != "complete"), states[0])


def gather(results: Path) -> list[Section]:
    """Return a section for every artefact, found or not."""
    sections = [_section(results / artefact.name, artefact) for artefact in ARTEFACTS]
    return [s for s in sections if s.present or s.artefact.name not in OPTIONAL]


def _section(folder: Path, artefact: Artefact) -> Section:
    section = Section(artefact)
    if not folder.is_dir():
        return section
    section.manifests = [
        content for path in _own(folder, "manifest.json") if (content := _json(path, section))
    ]
    pictures = {path.stem for path in folder.glob("*.png")}
    tables = _tables(folder, section)
    order = sorted(tables, key=lambda stem: (stem != artefact.main, csv_order(stem)))
    section.tables = [tables[stem] for stem in order if stem not in pictures]
    for stem in sorted(pictures, key=csv_order):
        section.pictures += picture_of(folder, stem, tables.get(stem), section.notes)
    findings = folder / FINDINGS
    section.findings = read_document(findings, prose_only=True) if findings.is_file() else None
    written = pictures | set(tables) | {findings.stem}  # their .md twins stand beside them
    section.documents = [read_document(p) for p in sorted(folder.glob("*.md")) if p.stem not in written]
    for path in _own(folder, "failures.csv"):
        failures = _read(path, section.notes)
        if failures is not None and not failures.empty:
            section.failures.append(any_table(failures, "Failures", str(path.relative_to(folder.parent))))
    return section


def _tables(folder: Path, section: Section) -> dict[str, Table]:
    """Return the CSV files of an artefact by their names, as tables that know each other's places."""
    read = {path.stem: _frame(path, section) for path in sorted(folder.glob("*.csv"))}
    frames = {stem: frame for stem, frame in read.items() if frame is not None}
    places = {f"{stem}.md": (anchor_of(f"{folder.name}/{stem}.csv"), csv_title(stem)) for stem in frames}
    found = {}
    for stem, frame in frames.items():
        try:
            found[stem] = _table(folder / f"{stem}.csv", frame, section, places)
        except (LookupError, TypeError, ValueError) as error:  # damaged, or changed by hand
            section.notes.append(f"{folder.name}/{stem}.csv could not be read: {error}")
    return found


def _own(folder: Path, name: str) -> list[Path]:
    """Return the artefact's file of a name, or those of the runs in folders below it."""
    return [folder / name] if (folder / name).is_file() else sorted(folder.glob(f"*/{name}"))


def _frame(path: Path, section: Section) -> pd.DataFrame | None:
    """Return what a CSV file holds, unless it is not for the page."""
    frame = None if path.stem in NOT_TABLES else _read(path, section.notes)
    if frame is None or frame.empty:
        return None
    if len(frame) > LONGEST_TABLE:
        section.notes.append(f"{path.parent.name}/{path.name} has {len(frame)} rows and is not shown here.")
        return None
    return frame.drop(columns=SPELT_OUT.get(path.stem, []), errors="ignore")


def _table(path: Path, frame: pd.DataFrame, section: Section, places: Places) -> Table:
    source = f"{path.parent.name}/{path.name}"
    titles = algorithm_titles(section.manifests)
    if path.stem == section.artefact.main and (path.parent / "cells.csv").is_file() and "note" in frame:
        errors = cell_errors(path.parent, titles, section.notes)
        table = error_table(frame, section.artefact.title, source, errors)
    else:
        main = path.stem == section.artefact.main
        table = any_table(frame, section.artefact.title if main else csv_title(path.stem), source, titles)
    twin = path.with_suffix(".md")
    if not twin.is_file():
        return table
    return replace(table, about=read_document(twin, prose_only=True, places=places).html)


def _read(path: Path, notes: list[str]) -> pd.DataFrame | None:
    try:
        return pd.read_csv(path, dtype=str, keep_default_na=False)
    except (OSError, ValueError) as error:
        notes.append(f"{path.parent.name}/{path.name} could not be read: {error}")
        return None


def cell_errors(
    folder: Path, titles: Mapping[str, str], notes: list[str]
) -> dict[tuple[str, str], list[float]]:
    """Return the errors of the splits by dataset and printed heading, in the order of the splits."""
    frame = _read(folder / "cells.csv", notes)
    if frame is None or not {"dataset", "algorithm", "split", "error"} <= set(frame.columns):
        return {}
    frame = frame[frame["error"] != ""]
    try:
        frame = frame.assign(split=pd.to_numeric(frame["split"]), error=pd.to_numeric(frame["error"]))
    except ValueError as error:
        notes.append(f"{folder.name}/cells.csv could not be read: {error}")
        return {}
    found: dict[tuple[str, str], list[float]] = {}
    for (dataset, algorithm), part in frame.sort_values("split").groupby(["dataset", "algorithm"]):
        title = titles.get(str(algorithm), str(algorithm))
        for heading in (title, f"{title} FP"):  # Table III names forward propagation, Table II does not
            found[str(dataset), heading] = part["error"].tolist()
    return found


def algorithm_titles(manifests: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return printed titles by config name, from the studies' configs inside their manifests."""
    configs = [manifest.get("config") for manifest in manifests]
    entries = [config.get("algorithms") for config in configs if isinstance(config, dict)]
    return {
        entry["name"]: entry.get("title") or entry["name"]
        for listed in entries
        for entry in listed or []
        if isinstance(entry, dict) and "name" in entry
    }


def _json(path: Path, section: Section) -> dict[str, Any] | None:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        section.notes.append(f"{path.parent.name}/manifest.json could not be read: {error}")
        return None
    return content if isinstance(content, dict) else None
