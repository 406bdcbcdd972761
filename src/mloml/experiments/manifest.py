"""Where an artefact comes from, and whether it still matches the store and the code."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mloml.errors import CellFileError, MlomlError
from mloml.files import write_atomically
from mloml.experiments.cell_versions import cell_versions, version_notes
from mloml.experiments.running import is_abandoned
from mloml.experiments.store import Record, Store
from mloml.experiments.surroundings import git_revision, machine

if TYPE_CHECKING:
    import pandas as pd

    from mloml.config.schema import Study

MANIFEST = "manifest.json"
PRIVATE = ("dir", "cache", "results", "address", "path", "slurm", "folders")
"""Config keys whose values tell of somebody's machine rather than of the results."""


@dataclass(frozen=True)
class Source:
    """Which data a dataset's cells were computed from."""

    checksum: str
    source: str
    regenerated: bool = False


def write_manifest(
    folder: Path,
    study: Study,
    frame: pd.DataFrame,
    sources: Mapping[str, Source],
    *,
    command: str = "",
    state: str = "complete",
    wall_seconds: float | None = None,
    records: Iterable[Record] = (),
) -> Path:
    """Write ``manifest.json`` beside an artefact's files; call it when the last of them is written.

    Parameters
    ----------
    folder : Path
        The artefact's folder.
    study : Study
    frame : DataFrame
        The cells it rests on, as in ``cells.csv``.
    sources : mapping
        The data of each dataset.
    command : str
        That asked for it.
    state : {"running", "complete", "incomplete", "interrupted"}
    wall_seconds : float, optional
        How long the run took; the cells' own seconds are summed from the frame.
    records : iterable of dict
        The records of the cells, which tell with what versions each was made: by this run or long ago.
    """
    from mloml.experiments.cell import versions
    from mloml.experiments.fingerprint import fingerprint

    learners = sorted({algorithm.learner for algorithm in study.algorithms})
    content = {
        "study": study.name,
        "state": state,
        "written": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": command,
        "config": _public(dataclasses.asdict(study)),
        "seeds": {"protocol": study.protocol.seed, "rest": "derived from (seed, dataset, split, purpose)"},
        "versions": versions(),
        "cell_versions": cell_versions(records),
        "git": git_revision(),
        "code": {learner: fingerprint(learner) for learner in learners},
        "datasets": {name: dataclasses.asdict(source) for name, source in sources.items()},
        "machine": machine(),
        "wall_seconds": wall_seconds,
        "cell_seconds": float(frame["seconds"].sum()),
        "cells": {"count": len(frame), "ok": int((frame["status"] == "ok").sum()), "keys": keys_hash(frame)},
        "files": {path.name: _file_hash(path) for path in _artefact_files(folder)},
    }
    write_atomically(folder / MANIFEST, json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    return folder / MANIFEST


def check(folder: Path, store: Store) -> list[str]:
    """Say in what an artefact differs from the store and the code of today; nothing when it matches."""
    try:
        return _differences(folder, store)
    except (LookupError, TypeError, ValueError, AttributeError, OSError) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        return [f"its manifest.json or cells.csv is damaged ({reason}); run its command again"]


def _differences(folder: Path, store: Store) -> list[str]:
    import pandas as pd

    try:
        manifest = json.loads((folder / MANIFEST).read_bytes())
    except FileNotFoundError:
        return ["there is no manifest: the run never began, or its files were made by hand"]
    except ValueError:
        return ["the manifest is damaged"]
    findings = []
    state = manifest["state"]
    if state != "complete":
        shown = "killed, nobody runs it any more" if state == "running" and is_abandoned(folder) else state
        cells = manifest["cells"]
        findings.append(f"unfinished ({shown}): {cells['ok']} of {cells['count']} cells")
    for name, expected in manifest["files"].items():
        path = folder / name
        if not path.is_file():
            findings.append(f"{name} is gone")
        elif _file_hash(path) != expected and state != "running":
            findings.append(f"{name} was changed after the run")
    cells_file = folder / "cells.csv"
    if cells_file.is_file():
        findings += _check_cells(pd.read_csv(cells_file), manifest, store)
    return findings + _check_code(manifest["code"])


def keys_hash(frame: pd.DataFrame) -> str:
    """Return one hash over the keys of all cells of a frame, in any order."""
    return sha256("\n".join(sorted(frame["key"])).encode()).hexdigest()


def _check_cells(cells: pd.DataFrame, manifest: dict[str, Any], store: Store) -> list[str]:
    findings = []
    if keys_hash(cells) != manifest["cells"]["keys"]:
        findings.append("cells.csv holds other cells than the manifest says")
    gone, differing = 0, 0
    done = cells[cells["status"] == "ok"]
    columns = (done[name] for name in ("dataset", "algorithm", "split", "key", "error"))
    for dataset, algorithm, split, key, error in zip(*columns, strict=True):
        try:
            record = store.read(f"{store.folder}/{dataset}/{algorithm}/{split}-{key[:16]}.json")
        except CellFileError as problem:
            findings.append(str(problem))
            continue
        gone += record is None
        differing += record is not None and record["error"] != error
    if gone:
        findings.append(f"{gone} cells are not in the store any more")
    if differing:
        findings.append(f"{differing} cells have another error in the store")
    return findings


def _check_code(recorded: Mapping[str, str]) -> list[str]:
    from mloml.experiments.fingerprint import fingerprint
    from mloml.experiments.lookup import is_foreign

    changed = []
    for learner, before in recorded.items():
        if is_foreign(learner):  # imported because its user asks for it, never because a result names it
            continue
        try:
            now = fingerprint(learner)
        except MlomlError:
            now = None
        if now != before:
            changed.append(learner)
    return (
        [f"the code behind {', '.join(changed)} changed since: the next run computes anew"] if changed else []
    )


def notes(folder: Path) -> list[str]:
    """Say what is worth knowing of an artefact although it is no difference."""
    from mloml.experiments.lookup import is_foreign

    found = version_notes(folder / MANIFEST)
    try:
        learners = json.loads((folder / MANIFEST).read_bytes())["code"]
        foreign = [learner for learner in learners if is_foreign(learner)]
    except (OSError, ValueError, LookupError, TypeError):
        return found  # what is wrong with a manifest is said elsewhere
    if foreign:
        found.append(f"not checked, because this imports no class from elsewhere: {', '.join(foreign)}")
    return found


def _artefact_files(folder: Path) -> list[Path]:
    found = folder.iterdir() if folder.is_dir() else ()
    visible = (path for path in found if path.is_file() and not path.name.startswith("."))
    return sorted(path for path in visible if path.name != MANIFEST)


def _file_hash(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()


def _public(tree: Any) -> Any:
    if isinstance(tree, dict):
        return {name: _public(value) for name, value in tree.items() if name not in PRIVATE}
    return [_public(item) for item in tree] if isinstance(tree, list | tuple) else tree
