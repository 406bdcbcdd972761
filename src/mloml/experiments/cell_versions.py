"""With what versions of Python and the libraries the cells behind an artefact were made."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from mloml.experiments.store import Record


def cell_versions(records: Iterable[Record]) -> list[dict[str, Any]]:
    """Return the versions that cells were made with and how many with each, the most common ones first.

    >>> cell_versions([{"versions": {"numpy": version}} for version in ("2.1", "2.2", "2.1")])
    [{'cells': 2, 'versions': {'numpy': '2.1'}}, {'cells': 1, 'versions': {'numpy': '2.2'}}]
    """
    found = Counter(tuple(record.get("versions", {}).items()) for record in records)
    return [{"cells": count, "versions": dict(versions)} for versions, count in found.most_common()]


def version_notes(manifest: Path) -> list[str]:
    """Say which of an artefact's cells were made by other versions than those installed here."""
    from mloml.experiments.cell import versions

    try:
        groups = json.loads(manifest.read_bytes()).get("cell_versions", [])
        total = sum(group["cells"] for group in groups)
        differing = [(group["cells"], _others(group["versions"], versions())) for group in groups]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return []  # what is wrong with a manifest is said elsewhere
    return [
        f"{count} of {total} cells were made by other versions: {', '.join(others)}"
        for count, others in differing
        if others
    ]


def _others(then: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    names = [name for name in {**now, **then} if then.get(name) != now.get(name)]
    return [f"{name} {then.get(name, 'unknown')} (here {now.get(name, 'none')})" for name in names]
