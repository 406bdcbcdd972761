"""Write tables, texts and pictures of published results anew, from the cells and numbers published with them.

``python tools/redraw.py table3 fig5`` does it for two folders of ``results/reference``, without names for all
that can be. Nothing is computed: errors come from ``cells.csv`` and ``layer_errors.csv`` or
``scan_errors.csv``, what was measured beside the cells from its own CSV file. It is for a sentence or a
drawing that changed after a run of hours. ``--check`` changes nothing and names the files that would change.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pandas as pd

from mloml.config.compose import compose_study
from mloml.experiments.result import StudyResult
from mloml.report.publish import DOCUMENT, publish
from mloml.report.recipe import Recipe, find_recipe
from mloml.experiments.manifest import MANIFEST, Source
from mloml.experiments.surroundings import git_revision

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT / "results" / "reference"


def _evidence(folder: Path) -> dict[str, pd.DataFrame]:
    """Return what the theory was tested with; distances are published as means over the splits."""
    names = {"theorem1": "theorem1", "theorem2": "theorem2", "geometry": "proposition1_geometry"}
    found = {name: pd.read_csv(folder / f"{file}.csv", dtype={"phi": float}) for name, file in names.items()}
    wide = pd.read_csv(folder / "weights_by_scan.csv")
    run = [name for name in wide if not str(name).startswith("w_")]
    weights = wide.melt(run, var_name="layer", value_name="weight")
    weights["layer"] = weights["layer"].str.removeprefix("w_").astype(int)
    weights = weights.sort_values("local_loss", ascending=False, kind="stable")  # the default's panels first
    return found | {"geometry": found["geometry"].assign(split=0), "weights": weights}


MEASURED: dict[str, Callable[[Path], Any]] = {
    "table3": lambda folder: pd.read_csv(folder / "cost.csv"),
    "fig4": lambda folder: pd.read_csv(folder / "runs.csv"),
    "theory": _evidence,
}
"""What was measured beside the cells, by artefact."""
NOT_PUBLISHED = {"table2": ("selections",), "theory": ("theorem2_slopes",)}
"""Tables that need validation errors, which are not published, or more digits of a regret: they are kept."""
ROUNDED = {"fig4": ("fig4",)}
"""Figures whose numbers come from seconds with more digits than are published: the numbers are kept."""
NAMES = (
    "table2", "table3", "fig4", "fig5", "fig7", "fig8", "theory", "untrained", "protocols", "seeds", "signs",
    "draws", "beyond",
)  # fmt: skip
"""Not among them: table1 (needs the data), fig6 (rounded coordinates), differences (validation errors)."""


def redraw(name: str, reference: Path, target: Path) -> None:
    """Write an artefact's files into a folder, from what is published in the reference."""
    recipe, folder = find_recipe(name), reference / name
    measured = [MEASURED[name](folder)] if name in MEASURED else []
    artefact = recipe.make(list(_results(recipe, folder)), *measured)
    kept, rounded = NOT_PUBLISHED.get(name, ()), ROUNDED.get(name, ())
    publish(replace(artefact, tables=tuple(t for t in artefact.tables if t.name not in kept)), target)
    for path in target.glob("*.pdf"):
        path.unlink()  # the reference has none
    for figure in rounded:
        (target / f"{figure}.csv").unlink()
    if kept or rounded:
        _put_back(kept, rounded, folder / DOCUMENT, target / DOCUMENT)


def _results(recipe: Recipe, folder: Path) -> Iterable[StudyResult]:
    for variant in recipe.variants or ("",):
        yield _result(recipe, folder / variant, recipe.variants.get(variant, ()))


def _result(recipe: Recipe, folder: Path, variant: Sequence[str]) -> StudyResult:
    """Return a study's result as it was when its files were written, as far as they tell."""
    manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    asked = shlex.split(manifest["command"])[3:]
    splits = f"protocol.splits={manifest['config']['protocol']['splits']}"
    study = compose_study(recipe.experiment or recipe.name, [*asked, *variant, splits])
    frame, records = pd.DataFrame({"status": []}), []
    if (folder / "cells.csv").is_file():
        frame = pd.read_csv(folder / "cells.csv", keep_default_na=False)
        records = _records(frame, folder)
    return StudyResult(
        replace(study, name=recipe.name), folder, frame, records, pd.DataFrame(), {},
        sources={name: Source(**source) for name, source in manifest["datasets"].items()},
        command=manifest["command"],
    )  # fmt: skip


def _records(cells: pd.DataFrame, folder: Path) -> list[dict[str, Any]]:
    """Return a record per cell, with its errors along layers or scans where they are published."""
    records = cells[["dataset", "algorithm", "split", "error"]].to_dict("records")
    for along in ("layer", "scan"):
        file = folder / f"{along}_errors.csv"
        if file.is_file():
            points = pd.read_csv(file)
            curves = {
                place: part.sort_values(along)["error"].tolist()
                for place, part in points[points[along] > 0].groupby(["dataset", "algorithm", "split"])
            }
            for record in records:
                curve = curves.get((record["dataset"], record["algorithm"], record["split"]))
                rows = _rows(record["error"], curve) if curve else 1
                record[f"{along}_errors"] = [round(e * rows) / rows for e in curve] if curve else None
    return [{str(key): value for key, value in record.items()} | {"grid": []} for record in records]


def _rows(error: float, curve: Sequence[float]) -> int:
    """Return of how many test rows these errors are shares: CSV files have ten digits of them."""
    for rows in range(1, 100_000):
        if all(abs(round(e * rows) - e * rows) < 1e-6 * rows**0.5 for e in (error, *curve)) and all(
            abs(round(e * rows) / rows - e) < 6e-11 for e in (error, *curve)
        ):
            return rows
    raise ValueError(f"{error}: not a share of test rows")


def _put_back(names: Sequence[str], rounded: Sequence[str], old: Path, new: Path) -> None:
    """Put tables and figures' numbers that could not be made anew where they were in the document."""
    before, after = (json.loads(path.read_text(encoding="utf-8")) for path in (old, new))
    made = {table["name"]: table for table in after["tables"]}
    order = [table["name"] for table in before["tables"] if table["name"] in {*made, *names}]
    was = {table["name"]: table for table in before["tables"]}
    after["tables"] = [was[name] if name in names else made[name] for name in order]
    numbers = {figure["name"]: figure["numbers"] for figure in before["figures"]}
    for figure in after["figures"]:
        if figure["name"] in rounded:
            figure["numbers"] = numbers[figure["name"]]
    new.write_text(json.dumps(after, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def _seal(folder: Path, changed: Sequence[str], revision: object) -> None:
    """Say in the manifest which files are of which later revision."""
    file = folder / MANIFEST
    if not file.is_file() or not changed:
        return
    manifest = json.loads(file.read_text(encoding="utf-8"))
    sums = {name: sha256((folder / name).read_bytes()).hexdigest() for name in changed}
    manifest["files"] |= sums
    before = manifest.get("redrawn", {"files": []})["files"]
    manifest["redrawn"] = {"git": revision, "files": sorted({*before, *changed})}
    file.write_text(json.dumps(manifest, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def main() -> int:
    """Write folders of the reference anew, or name the files that would change."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", default=list(NAMES), metavar="NAME")
    parser.add_argument("--check", action="store_true", help="change nothing; exit code 1 if a file would")
    arguments = parser.parse_args()
    for name in arguments.names:
        if name not in NAMES:  # its texts would come out shorter than those of the run
            parser.error(f"{name}: cannot be made from what is published; expected {', '.join(NAMES)}")
    found, revision = 0, git_revision()  # before files of the reference change
    for name in arguments.names:
        with tempfile.TemporaryDirectory() as scratch:
            redraw(name, REFERENCE, Path(scratch))
            folder = REFERENCE / name
            new = {path.name: path.read_bytes() for path in Path(scratch).iterdir()}
            changed = [n for n, data in new.items() if not _equal(folder / n, data)]
            print(f"{name}: {', '.join(sorted(changed)) or 'nothing changes'}")
            found += len(changed)
            if not arguments.check:
                for each in changed:
                    (folder / each).write_bytes(new[each])
                _seal(folder, changed, revision)
    return int(arguments.check and found > 0)


def _equal(path: Path, data: bytes) -> bool:
    return path.is_file() and path.read_bytes() == data


if __name__ == "__main__":
    sys.exit(main())
