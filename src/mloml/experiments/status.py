"""`mloml status`: whether artefacts still match the store and the code.

With ``--recompute N`` a sample of their cells is computed again and compared; nothing is stored.
"""

import argparse
import json
import random
import re
from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import pandas as pd

from mloml import learners
from mloml.config.compose import typed
from mloml.config.schema import Algorithm, DatasetConfig, DataSettings, PcaConfig, ProtocolConfig, Study
from mloml.datasets import catalogue
from mloml.errors import MlomlError
from mloml.experiments.backends import in_processes
from mloml.experiments.cell import versions
from mloml.experiments.job import Job, prepare_for, record_of
from mloml.experiments.manifest import MANIFEST, check
from mloml.experiments.store import Store
from mloml.experiments.study import Plan, make_plan


def main(argv: Sequence[str] | None = None) -> int:
    """Tell whether artefacts still match the store and the code; the exit code is 1 when one does not."""
    parser = argparse.ArgumentParser(prog="mloml status", description=main.__doc__)
    parser.add_argument("folder", nargs="*", type=Path, help="artefacts; by default all but reference/*")
    parser.add_argument("--results", type=Path, help="results folder (that of the artefacts, else results)")
    parser.add_argument("--recompute", type=int, metavar="N", help="compute N cells of each again")
    parser.add_argument("--seed", type=int, default=0, help="which cells --recompute takes (0)")
    parser.add_argument("-cd", "--config-dir", action="append", default=[], help="a folder of your configs")
    arguments = parser.parse_args(argv)
    if arguments.recompute is not None and arguments.recompute < 1:
        raise MlomlError(f"--recompute {arguments.recompute}: must be a number of cells, at least 1")
    results = arguments.results or _results_around(arguments.folder)
    store = Store(results / "store")
    # What the repository brings along was made by other code, and its cells are not in this store.
    paths = results.rglob(MANIFEST)
    own = [path.parent for path in paths if path.relative_to(results).parts[0] != "reference"]
    given = arguments.folder
    jobs = [path.parent for folder in given if _is_sweep(folder) for path in folder.glob(f"*/{MANIFEST}")]
    named = [folder for folder in given if not _is_sweep(folder)]
    folders = [*named, *sorted(jobs if given else own, key=_as_counted)]
    if not folders:
        raise MlomlError(f"{results}: no artefact there yet; `mloml reproduce table2` makes one")
    if arguments.recompute:
        return recompute(folders, store, arguments.recompute, arguments.seed, arguments.config_dir)
    differs = False
    sweeps = {folder: folder.parent for folder in {*folders} - {*named} if _is_sweep(folder.parent)}
    for sweep, members in groupby(folders, key=sweeps.get):
        checked = {folder: check(folder, store) for folder in members}
        other = [folder for folder, (found, _) in checked.items() if found]
        differs = differs or bool(other)
        if sweep:
            how = f"{len(other)} of {len(checked)} jobs differ"
            print(f"{sweep}: {how if other else f'{len(checked)} jobs match the store'}")
        for folder in other if sweep else checked:
            print(f"{folder}: {'differs' if folder in other else 'matches the store'}")
            for line in (*checked[folder][0], *checked[folder][1]):
                print(f"  {line}")
    for path, reason in store.damaged.items():
        print(f"damaged: {path} ({reason}); the next run computes it again")
    return int(differs or bool(store.damaged))


def _is_sweep(folder: Path) -> bool:
    return (folder / "sweep.csv").is_file()


def _as_counted(folder: Path) -> list[str | int]:
    """Return a key that puts the jobs of a sweep in their order: 2 before 10."""
    return [int(word) if word.isdecimal() else word for word in re.split(r"(\d+)", str(folder))]


def _results_around(folders: Sequence[Path]) -> Path:
    """Return the results folder that the named artefacts are in, told by its store; else ``results``."""
    usual = Path("results")
    around = {next((p for p in f.absolute().parents if (p / "store").is_dir()), usual): f for f in folders}
    if len(around) > 1:
        first, second = list(around.values())[:2]
        raise MlomlError(f"{first} and {second} are in different results folders; ask for one only")
    return next(iter(around), usual)


# What can come of a cell: equal, different or skipped. Only ``different`` alone is wrong.
OTHER = ", other code or versions"


def recompute(
    folders: Sequence[Path], store: Store, count: int, seed: int, configs: Sequence[str] = ()
) -> int:
    """Compute ``count`` cells of each artefact again, which ``seed`` chooses, and print what came of it.

    ``configs`` are the user's own folders of configs, whose datasets are known too.

    Returns
    -------
    int
        The exit code: 1 when a cell came out differently under the same code and versions, or no folder
        had any cells to look at, else 0.
    """
    wrong = looked_at = 0
    for folder in folders:
        try:
            found = compare(folder, store, count, seed, configs)
        except MlomlError as error:
            print(f"skipped: {error}")
            continue
        verdicts, looked_at = Counter(verdict for verdict, _ in found), looked_at + 1
        wrong += verdicts["different"]
        print(f"{folder}: {'; '.join(f'{n} {verdict}' for verdict, n in verdicts.items()) or 'no cells'}")
        for (verdict, words), times in Counter(found).items():
            if not verdict.startswith("equal"):
                print(f"  {verdict}{f' {times}' if verdict == 'skipped' else ''}: {words}")
    return int(wrong > 0 or not looked_at)


def compare(
    folder: Path, store: Store, count: int, seed: int, configs: Sequence[str] = ()
) -> list[tuple[str, str]]:
    """Compute cells of an artefact again; return what came of each, and what is to be said of that."""
    manifest, rows = _read(folder)
    plan = _plan(manifest, configs)
    cells = {(cell.dataset, cell.algorithm.name, cell.split): cell for cell in plan.cells}
    found, jobs = [], dict[str, tuple[dict[str, Any], Job]]()
    for row in random.Random(seed).sample(rows, min(count, len(rows))):
        cell = cells.get((row["dataset"], row["algorithm"], row["split"]))
        if cell is None or cell.checksum != manifest["datasets"].get(row["dataset"], {}).get("checksum"):
            words = f"the data or the learner of {row['dataset']}/{row['algorithm']} are not those of then"
            found.append(("skipped", words))
        else:
            jobs[cell.key] = row, plan.job(cell, Path(), "")
    for key, (error, chosen) in in_processes(_compute, [job for _, job in jobs.values()], 2):
        row, _ = jobs[key]
        place = row["dataset"], row["algorithm"], row["split"]
        equal = (float(row["error"]), json.loads(row["chosen"])) == (error, chosen)
        record = store.read_cell(*place, row["key"]) or {}
        same = key.startswith(row["key"]) and record.get("versions") == versions()
        words = f"stored {row['error']} with {row['chosen']}, now {error} with {json.dumps(chosen)}"
        verdict = ("equal" if equal else "different") + ("" if same else OTHER)
        found.append((verdict, f"{place[0]}/{place[1]}, split {place[2]}: {words}"))
    return found


def _read(folder: Path) -> tuple[dict[str, Any], list[dict[Any, Any]]]:
    """Return an artefact's manifest and its finished cells; errors are texts, exact whatever pandas does."""
    try:
        manifest = json.loads((folder / MANIFEST).read_bytes())
        cells = pd.read_csv(folder / "cells.csv", dtype={"error": str})
        return manifest, cells[cells["status"] == "ok"].to_dict("records")
    except FileNotFoundError as error:
        name = Path(error.filename).name
        raise MlomlError(f"{folder}: there is no {name}, so no cells to compute") from None
    except (OSError, ValueError, KeyError, TypeError):
        raise MlomlError(f"{folder}: manifest.json or cells.csv is damaged") from None


def _plan(manifest: dict[str, Any], configs: Sequence[str]) -> Plan:
    """Return the study of then, as far as its data and its learners are of this package."""
    config, known = manifest["config"], catalogue(configs)
    try:
        then = {one["name"]: typed(DatasetConfig, one, "datasets") for one in config["datasets"]}
        protocol = config["protocol"]
        study = Study(
            manifest["study"],
            [known.get(name, then[name]) for name in manifest["datasets"]],
            # A class of somebody's own is imported because they ask for it, never because a result names it.
            [Algorithm(**one) for one in config["algorithms"] if one["learner"] in learners.__all__],
            ProtocolConfig(**protocol | {"pca": PcaConfig(**protocol.get("pca", {}))}),
            data=DataSettings(source=config.get("data", {}).get("source", "auto")),
            record=tuple(config.get("record", ())),
        )
        return make_plan(study, lambda line: None)
    except (TypeError, KeyError) as error:
        raise MlomlError(f"its config is of another version of mloml: {error}") from None


def _compute(job: Job) -> tuple[str, tuple[Any, Any]]:
    """Compute a cell as a run would, and keep the result to ourselves."""
    try:
        record = record_of(job.cell, prepare_for(job))
    except Exception as error:
        return job.cell.key, (f"{type(error).__name__}: {' '.join(str(error).split())}", None)
    return job.cell.key, (record["error"], json.loads(json.dumps(record["chosen"])))
