"""The tables that artefacts have published in a results folder, as data."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from mloml.report.publish import DOCUMENT

Published = Mapping[str, pd.DataFrame | None]
"""Frames by ``artefact/table``; None where there is none."""


def read_published(results: Path, wanted: Iterable[str]) -> Published:
    """Read tables out of each artefact's document, or out of its CSV files where it has none.

    Tables that are too long for a document, and those of benchmarks, are only in CSV files. What is damaged
    counts as missing: whoever asked is told to run the command again.
    """
    documents: dict[str, Mapping[str, Any]] = {}
    frames: dict[str, pd.DataFrame | None] = {}
    for address in wanted:
        artefact, name = address.split("/")
        if artefact not in documents:
            documents[artefact] = _document(results / artefact / DOCUMENT)
        numbers = documents[artefact].get(name)
        frames[address] = _csv(results / artefact / f"{name}.csv") if numbers is None else _frame(numbers)
    return frames


def read_runs(results: Path, artefacts: Iterable[str]) -> pd.DataFrame:
    """Return where the tables of some artefacts come from: protocol, splits, revision; a row per run."""
    rows = []
    for artefact in artefacts:
        for path in sorted((results / artefact).rglob("manifest.json")):
            manifest = _object(path)
            protocol, git = _inside(manifest, "config", "protocol"), _inside(manifest, "git")
            revision = str(git.get("revision") or "")[:12] + (
                " with local changes" if git.get("dirty") else ""
            )
            run = path.parent.relative_to(results).as_posix()
            rows.append((run, protocol.get("name", ""), protocol.get("splits"), revision))
    return pd.DataFrame(rows, columns=["run", "protocol", "splits", "revision"])


def _object(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def _inside(content: Any, *keys: str) -> dict[str, Any]:
    for key in keys:
        content = content.get(key) if isinstance(content, dict) else None
    return content if isinstance(content, dict) else {}


def _document(path: Path) -> dict[str, Any]:
    """Return the numbers of a document's tables and figures by name."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        parts = [*content["tables"], *content["figures"]]
        return {part["name"]: part["numbers"] for part in parts if _is_whole(part["numbers"])}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def _is_whole(numbers: Any) -> bool:
    return isinstance(numbers, dict) and numbers.get("kind") == "Frame" and numbers.get("rows") is not None


def _frame(numbers: Mapping[str, Any]) -> pd.DataFrame:
    return pd.DataFrame(numbers["rows"], columns=numbers["columns"])


def _csv(path: Path) -> pd.DataFrame | None:
    try:
        frame = pd.read_csv(path)
    except (OSError, ValueError):
        return None
    # A gap in a column of words is an empty word, as in a document.
    words = frame.select_dtypes(exclude="number").columns
    return frame.assign(**{name: frame[name].fillna("") for name in words})
