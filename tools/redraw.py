"""Write pages, tables and pictures of published results anew, from the cells and numbers published with them.

``python tools/redraw.py table3 fig5`` does it for two folders of ``results/reference``, else for all.
Nothing is computed: errors come from ``cells.csv`` and ``layer_errors.csv`` or ``scan_errors.csv``, what was
measured beside the cells from its own CSV file. It is for a sentence or a drawing that changed after a run of
hours. ``--check`` changes nothing and names the files that would change.
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

from mloml import paper
from mloml.config.compose import compose_study
from mloml.experiments.manifest import MANIFEST, Source, git_revision
from mloml.experiments.study import StudyResult
from mloml.report.artefacts.depth import FIXED
from mloml.report.artefacts.table2 import closeness, selections_grid
from mloml.report.labels import labels_of
from mloml.report.publish import DOCUMENT, context_of, publish
from mloml.report.recipe import Recipe, find_recipe

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT / "results" / "reference"
WHAT = {
    file.parent.name: json.loads(file.read_text(encoding="utf-8"))["name"]
    for file in sorted(REFERENCE.glob(f"*/{DOCUMENT}"))
}
"""The artefact of each published folder: one may be there twice, with other data sets."""
NAMES = [folder for folder, name in WHAT.items() if find_recipe(name).work != "reading"]

KEPT = {
    "table2": ("selections.csv",),  # needs validation errors, which are not published
    "differences": ("differences.csv", "verdicts.csv", "sweeps.png"),  # so does one of its knobs
    "theory": ("theorem2_slopes.csv",),  # needs more digits of a regret than are published
    "fig4": ("fig4.csv",),  # as above, of seconds
    "fig6": ("fig6.csv", "fig6.png"),  # as above, of coordinates
}
"""Files that cannot be made from what is published: they stay as they are."""


def _evidence(folder: Path) -> dict[str, pd.DataFrame]:
    """Return what the theory was tested with; distances are published as means over the splits."""
    names = {"theorem1": "theorem1", "theorem2": "theorem2", "geometry": "proposition1_geometry"}
    found = {name: pd.read_csv(folder / f"{file}.csv", dtype={"phi": float}) for name, file in names.items()}
    by_layer = pd.read_csv(folder / "weights_by_scan.csv")
    run = [name for name in by_layer if not str(name).startswith("w_")]
    weights = by_layer.melt(run, var_name="layer", value_name="weight")
    weights["layer"] = weights["layer"].str.removeprefix("w_").astype(int)
    weights = weights.sort_values("local_loss", ascending=False, kind="stable")  # the default's panels first
    return found | {"geometry": found["geometry"].assign(split=0), "weights": weights}


PLACE = ["dataset", "algorithm", "split"]
MEASURED: dict[str, Callable[[Path], Any]] = {
    "table1": lambda folder: pd.read_csv(folder / "table1.csv", dtype_backend="numpy_nullable").fillna(
        {"note": "", "missing": "", "source": ""}
    ),
    "table3": lambda folder: pd.read_csv(folder / "cost.csv"),
    "fig4": lambda folder: pd.read_csv(folder / "runs.csv"),
    "fig6": lambda folder: (pd.read_csv(folder / "fig6.csv"), pd.read_csv(folder / "spaces.csv")),
    "theory": _evidence,
}
"""What was measured beside the cells, by artefact."""


def redraw(name: str, reference: Path, target: Path) -> None:
    """Write the files of a published folder into another one, from what is in the reference."""
    folder, name = reference / name, WHAT[name]
    recipe = find_recipe(name)
    results = list(_results(recipe, folder))
    measured = [MEASURED[name](folder)] if name in MEASURED else []
    artefact = recipe.build(*results, *measured)
    kept = [Path(file).stem for file in KEPT.get(name, ())]
    tables = tuple(
        replace(table, numbers=pd.read_csv(folder / f"{table.name}.csv")) if table.name in kept else table
        for table in artefact.tables
    )
    values = {**artefact.values, **_values(name, folder, results)}
    publish(replace(artefact, values=values, tables=tables), recipe, context_of(recipe, results), target)
    for path in [*target.glob("*.pdf"), *(target / file for file in KEPT.get(name, ()))]:
        path.unlink(missing_ok=True)  # the reference has no PDFs


def _values(name: str, folder: Path, results: Sequence[StudyResult]) -> dict[str, Any]:
    """Return what a template mentions of the tables that are kept."""
    if name == "theory":
        slopes = pd.read_csv(folder / "theorem2_slopes.csv")
        return {"slopes": slopes.loc[slopes["comparator"] == "best", "slope"]}
    if name == "table2":
        selections = pd.read_csv(folder / "selections.csv")
        grid = selections_grid(selections, labels_of(results[0]))
        return {"selections_grid": grid, "closeness": closeness(selections, paper.table2())}
    return {}


def _results(recipe: Recipe, folder: Path) -> Iterable[StudyResult]:
    for variant in recipe.variants or ("",):
        yield _result(recipe, folder / variant, recipe.variants.get(variant, ()))


def _result(recipe: Recipe, folder: Path, variant: Sequence[str]) -> StudyResult:
    """Return a study's result as it was when its files were written, as far as they tell."""
    manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    asked = shlex.split(manifest["command"])[3:]
    splits = f"protocol.splits={manifest['config']['protocol']['splits']}"
    study = compose_study(recipe.experiment or recipe.name, [*asked, *variant, splits])
    if recipe.work == "data":
        study = replace(study, algorithms=[])
    frame, records = pd.DataFrame({"status": []}), []
    if (folder / "cells.csv").is_file():
        frame = pd.read_csv(folder / "cells.csv", keep_default_na=False)
        records = _records(frame, folder)
        _add_counts(records, folder, study.protocol.window)
        _add_depths(records, frame, folder)
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
            points = pd.read_csv(file).melt(PLACE, var_name=along, value_name="error").dropna()
            points[along] = points[along].astype(int)
            curves = {
                place: part.sort_values(along)["error"].tolist()
                for place, part in points[points[along] > 0].groupby(PLACE)
            }
            for record in records:
                curve = curves.get((record["dataset"], record["algorithm"], record["split"]))
                rows = rows_behind(record["error"], curve) if curve else 1
                record[f"{along}_errors"] = [round(e * rows) / rows for e in curve] if curve else None
    return [{str(key): value for key, value in record.items()} | {"grid": []} for record in records]


def _add_counts(records: list[dict[str, Any]], folder: Path, window: int | None) -> None:
    """Add what the cells of a study of streams counted; one with variants has it beside their folders."""
    file = next(
        (path / "counts.csv" for path in (folder, folder.parent) if (path / "counts.csv").is_file()), None
    )
    if file is None or window is None:
        return
    counts = pd.read_csv(file)
    found = {(c["dataset"], c["algorithm"]): c for c in counts[counts["window"] == window].to_dict("records")}
    for record in records:
        counted = found[record["dataset"], record["algorithm"]]
        record |= {name: json.loads(counted[name]) for name in ("hits", "confusion")}
        record |= {name: counted[name] for name in ("rows", "last_label", "majority", "memory")}
        record["seconds"] = {"row": counted["seconds"]}


def _add_depths(records: list[dict[str, Any]], cells: pd.DataFrame, folder: Path) -> None:
    """Add the chosen depths, and the errors with fixed ones, which are beside the variants of their study."""
    file = folder.parent / "fixed_depths.csv"
    if not file.is_file():
        return
    table = pd.read_csv(file).set_index(["study", "dataset", "algorithm"]).loc[folder.name]
    for record, chosen in zip(records, cells["chosen"], strict=True):
        record["chosen"], stack = json.loads(chosen), record["algorithm"].removesuffix("_auto")
        if stack != record["algorithm"]:
            names = {depth: f"{stack}_{depth}" for depth in FIXED}
            errors = table.loc[record["dataset"], str(record["split"])].loc[list(names.values())]
            rows = rows_behind(record["error"], errors.tolist())
            record["grid"] = [
                {"params": {"n_layers": depth, "gamma": 0.0}, "cv_error": 0.0}
                | {"test_error": round(errors[name] * rows) / rows}
                for depth, name in names.items()
            ]


def rows_behind(error: float, curve: Sequence[float]) -> int:
    """Return of how many test rows these errors are shares: CSV files have ten digits of them."""
    for rows in range(1, 100_000):
        if all(abs(round(e * rows) / rows - e) < 6e-11 for e in (error, *curve)):
            return rows
    raise ValueError(f"{error}: not a share of test rows")


def _seal(folder: Path, changed: Sequence[str], revision: object) -> None:
    """Say in the manifest which files are of which later revision."""
    file = folder / MANIFEST
    if not file.is_file() or not changed:
        return
    manifest = json.loads(file.read_text(encoding="utf-8"))
    kept = {name: digest for name, digest in manifest["files"].items() if (folder / name).is_file()}
    sums = {name: sha256((folder / name).read_bytes()).hexdigest() for name in changed}
    before = [name for name in manifest.get("redrawn", {"files": []})["files"] if name in kept]
    manifest["files"] = kept | sums
    manifest["redrawn"] = {"git": revision, "files": sorted({*before, *changed})}
    file.write_text(json.dumps(manifest, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def main() -> int:
    """Write folders of the reference anew, or name the files that would change."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", default=NAMES, metavar="NAME")
    parser.add_argument("--check", action="store_true", help="change nothing; exit code 1 if a file would")
    arguments = parser.parse_args()
    for name in arguments.names:
        if name not in NAMES:
            parser.error(f"{name}: not one of {', '.join(NAMES)}")
    found, revision = 0, git_revision()  # before files of the reference change
    for name in arguments.names:
        with tempfile.TemporaryDirectory() as scratch:
            redraw(name, REFERENCE, Path(scratch))
            folder = REFERENCE / name
            new = {path.name: path.read_bytes() for path in Path(scratch).iterdir()}
            changed = [file for file, data in new.items() if not _equal(folder / file, data)]
            print(f"{name}: {', '.join(sorted(changed)) or 'nothing changes'}")
            found += len(changed)
            if not arguments.check:
                for file in changed:
                    (folder / file).write_bytes(new[file])
                _seal(folder, changed, revision)
    return int(arguments.check and found > 0)


def _equal(path: Path, data: bytes) -> bool:
    return path.is_file() and path.read_bytes() == data


if __name__ == "__main__":
    sys.exit(main())
