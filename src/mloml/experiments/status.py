"""`mloml status`: whether artefacts still match the store and the code."""

import argparse
import re
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from mloml.errors import MlomlError
from mloml.experiments.manifest import MANIFEST, check
from mloml.experiments.store import Store


def main(argv: Sequence[str] | None = None) -> int:
    """Tell whether artefacts still match the store and the code; the exit code is 1 when one does not."""
    parser = argparse.ArgumentParser(prog="mloml status", description=main.__doc__)
    parser.add_argument("folder", nargs="*", type=Path, help="artefacts; by default all but reference/*")
    parser.add_argument(
        "--results", type=Path, help="results folder (the one that the artefacts are in, else results)"
    )
    parser.add_argument(
        "--recompute", type=int, metavar="N", help="compute N cells of each again and compare"
    )
    parser.add_argument("--seed", type=int, default=0, help="which cells --recompute takes (0)")
    parser.add_argument("-cd", "--config-dir", action="append", default=[], help="a folder of your configs")
    arguments = parser.parse_args(argv)
    if arguments.recompute is not None and arguments.recompute < 1:
        raise MlomlError(f"--recompute {arguments.recompute}: must be a number of cells, at least 1")
    results = arguments.results or _results_around(arguments.folder)
    store = Store(results / "store")
    # What the repository brings along was made by other code, and its cells are not in this store.
    own = [
        path.parent
        for path in results.rglob(MANIFEST)
        if "reference" not in path.relative_to(results).parts[:1]
    ]
    given = arguments.folder
    jobs = [path.parent for folder in given if _is_sweep(folder) for path in folder.glob(f"*/{MANIFEST}")]
    named = [folder for folder in given if not _is_sweep(folder)]
    folders = [*named, *sorted(jobs if given else own, key=_as_counted)]
    if not folders:
        raise MlomlError(
            f"{results}: no artefact there yet; `mloml reproduce table2 protocol=lite` makes one"
        )
    if arguments.recompute:
        from mloml.experiments.recompute import recompute

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
        raise MlomlError(
            f"{first} and {second} are in different results folders; ask for one after the other"
        )
    return next(iter(around), usual)
