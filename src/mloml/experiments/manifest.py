"""Where an artefact comes from, and whether it still matches the store and the code."""

from __future__ import annotations

import dataclasses
import json
import os
import platform
import subprocess
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import psutil

from mloml.config import repository
from mloml.config.lookup import is_foreign
from mloml.config.schema import Study
from mloml.datasets.original import file_digest
from mloml.errors import CellFileError, MlomlError
from mloml.experiments.cell import versions
from mloml.experiments.code import HALVES, STREAM, code_hash
from mloml.experiments.key import code_root
from mloml.experiments.store import Store
from mloml.files import is_abandoned, write_atomically

if TYPE_CHECKING:
    from mloml.experiments.study import StudyResult

MANIFEST = "manifest.json"
# Config keys whose values tell of somebody's machine rather than of the results.
PRIVATE = ("dir", "cache", "results", "address", "path", "slurm", "folders")


@dataclass(frozen=True)
class Source:
    """Which data a dataset's cells were computed from."""

    checksum: str
    source: str
    regenerated: bool = False


def write_manifest(result: StudyResult, state: str = "complete", wall_seconds: float | None = None) -> None:
    """Write ``manifest.json`` beside an artefact's files; call it when the last of them is written.

    Parameters
    ----------
    result : StudyResult
        What it rests on. The records of the cells tell with what versions each was made: by this run or
        long ago.
    state : {"running", "complete", "incomplete", "interrupted"}
    wall_seconds : float, optional
        How long the run took; the cells' own seconds are summed from the frame.
    """
    study, frame, folder = result.study, result.frame, result.folder
    root = code_root(study.protocol)
    cell_versions = Counter(tuple(record.get("versions", {}).items()) for record in result.records)
    content = {
        "study": study.name,
        "state": state,
        "written": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": result.command,
        "config": _public(dataclasses.asdict(study)),
        "seeds": {"protocol": study.protocol.seed, "rest": "derived from (seed, dataset, split, purpose)"},
        "versions": versions(),
        "cell_versions": [{"cells": n, "versions": dict(found)} for found, n in cell_versions.most_common()],
        "git": git_revision(),
        "code": {name: code_hash(name, root) for name in sorted({one.learner for one in study.algorithms})},
        "datasets": {name: dataclasses.asdict(source) for name, source in result.sources.items()},
        "machine": machine(),
        "wall_seconds": wall_seconds,
        "cell_seconds": float(frame["seconds"].sum()),
        "cells": {"count": len(frame), "ok": int((frame["status"] == "ok").sum()), "keys": _keys_hash(frame)},
        "files": {path.name: file_digest(path) for path in _artefact_files(folder)},
    }
    write_atomically(folder / MANIFEST, json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def other_settings(folder: Path, study: Study) -> list[str]:
    """Name the settings of a study that the run in a folder does not have; none if there is no run."""
    try:
        before = json.loads((folder / MANIFEST).read_bytes())["config"]
    except (OSError, ValueError, LookupError):
        return []
    now = json.loads(json.dumps(_public(study.settings())))
    return [name for name, value in now.items() if before.get(name, value) != value]


def git_revision() -> dict[str, Any] | None:
    """Return the revision of the checkout this code runs from and whether it has changes; None in a wheel."""
    root = repository()
    if root is None:
        return None

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(root), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=10).stdout.strip()

    try:
        return {"revision": git("rev-parse", "HEAD"), "dirty": bool(git("status", "--porcelain", "-uno"))}
    except (OSError, subprocess.SubprocessError):
        return None


def machine() -> dict[str, Any]:
    """Return what of this machine can matter for speed and for the last bits; no names of hosts or people."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    models = (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    return {
        "platform": f"{platform.system()} {platform.machine()}",
        "cpu": next(models, platform.processor()),
        "cores": os.cpu_count(),
        "memory_gb": round(psutil.virtual_memory().total / 2**30, 1),
    }


def check(folder: Path, store: Store) -> tuple[list[str], list[str]]:
    """Say in what an artefact differs from the store and the code of today, and what else to know of it."""
    try:
        manifest = json.loads((folder / MANIFEST).read_bytes())
        return _differences(folder, manifest, store), _notes(manifest)
    except FileNotFoundError:
        return ["there is no manifest: the run never began, or its files were made by hand"], []
    except (LookupError, TypeError, ValueError, AttributeError, OSError) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        return [f"its manifest.json or cells.csv is damaged ({reason}); run its command again"], []


def _differences(folder: Path, manifest: Any, store: Store) -> list[str]:
    found, state, cells = [], manifest["state"], manifest["cells"]
    if state != "complete":
        shown = "killed, nobody runs it any more" if state == "running" and is_abandoned(folder) else state
        found.append(f"unfinished ({shown}): {cells['ok']} of {cells['count']} cells")
    for name, expected in manifest["files"].items():
        if not (folder / name).is_file():
            found.append(f"{name} is gone")
        elif file_digest(folder / name) != expected and state != "running":
            found.append(f"{name} was changed after the run")
    if (folder / "cells.csv").is_file():
        found += _check_cells(pd.read_csv(folder / "cells.csv"), cells["keys"], store)
    stream = manifest["config"]["protocol"].get("window") is not None
    code = manifest["code"].items()
    changed = [name for name, before in code if not _is_current(name, before, STREAM if stream else HALVES)]
    if changed:
        found.append(f"the code behind {', '.join(changed)} changed since: the next run computes anew")
    return found


def _check_cells(cells: pd.DataFrame, keys: str, store: Store) -> list[str]:
    found = [] if _keys_hash(cells) == keys else ["cells.csv holds other cells than the manifest says"]
    gone = differing = 0
    done = cells[cells["status"] == "ok"]
    columns = (done[name] for name in ("error", "dataset", "algorithm", "split", "key"))
    for error, *cell in zip(*columns, strict=True):
        try:
            record = store.read_cell(*cell)
        except CellFileError as problem:
            found.append(str(problem))
            continue
        gone += record is None
        differing += record is not None and record["error"] != error
    found += [f"{gone} cells are not in the store any more"] if gone else []
    return found + ([f"{differing} cells have another error in the store"] if differing else [])


def _is_current(learner: str, before: str, root: str) -> bool:
    try:  # a class from elsewhere is imported because its user asks for it, never because a result names it
        return is_foreign(learner) or code_hash(learner, root) == before
    except MlomlError:
        return False


def _notes(manifest: Any) -> list[str]:
    notes, here, groups = [], versions(), manifest.get("cell_versions", [])
    for group in groups:
        then = group["versions"]
        names = [name for name in {**here, **then} if then.get(name) != here.get(name)]
        others = [f"{name} {then.get(name, 'unknown')} (here {here.get(name, 'none')})" for name in names]
        if others:
            total = sum(group["cells"] for group in groups)
            notes.append(
                f"{group['cells']} of {total} cells were made by other versions: {', '.join(others)}"
            )
    foreign = [learner for learner in manifest["code"] if is_foreign(learner)]
    if foreign:
        notes.append(f"not checked, because this imports no class from elsewhere: {', '.join(foreign)}")
    return notes


def _keys_hash(frame: pd.DataFrame) -> str:
    """Return one hash over the keys of all cells of a frame, in any order."""
    return sha256("\n".join(sorted(frame["key"])).encode()).hexdigest()


def _artefact_files(folder: Path) -> list[Path]:
    found = folder.iterdir() if folder.is_dir() else ()
    return sorted(path for path in found if path.is_file() and path.name[0] != "." and path.name != MANIFEST)


def _public(tree: Any) -> Any:
    if isinstance(tree, dict):
        return {name: _public(value) for name, value in tree.items() if name not in PRIVATE}
    return [_public(item) for item in tree] if isinstance(tree, list | tuple) else tree
