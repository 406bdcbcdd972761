"""`mloml status`: whether artefacts still match the store and the code, and what their cells cost."""

import argparse
import re
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path

from mloml.errors import MlomlError
from mloml.experiments.manifest import MANIFEST, check
from mloml.experiments.progress import clock
from mloml.experiments.store import Record, Store

CORES = (2, 16, 128)
FULL_SPLITS = 30


def main(argv: Sequence[str] | None = None) -> int:
    """Tell whether artefacts still match the store and the code; the exit code is 1 when one does not."""
    parser = argparse.ArgumentParser(prog="mloml status", description=main.__doc__)
    parser.add_argument("folder", nargs="*", type=Path, help="artefacts; by default all but reference/*")
    parser.add_argument(
        "--results", type=Path, help="results folder (the one that the artefacts are in, else results)"
    )
    parser.add_argument("--cost", action="store_true", help="what the stored cells cost, as Markdown tables")
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
    if arguments.cost:
        print(cost_report(store.records()))
        return 0
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
    found = {
        parent: folder
        for folder in folders
        if (parent := next((p for p in folder.absolute().parents if (p / "store").is_dir()), None))
    }
    if len(found) > 1:
        first, second = list(found.values())[:2]
        raise MlomlError(
            f"{first} and {second} are in different results folders; ask for one after the other"
        )
    return next(iter(found), Path("results"))


def cost_report(records: Iterable[Record]) -> str:
    """Return the measured costs as Markdown: median seconds per cell, and the time on more cores.

    The median, because the first cell of a worker may have to compile.
    """
    import pandas as pd

    rows = [(one["protocol"], one["algorithm"], one["dataset"], one["seconds"]["total"]) for one in records]
    cells = pd.DataFrame(rows, columns=["protocol", "algorithm", "dataset", "seconds"])
    sections = []
    for protocol, group in cells.groupby("protocol"):
        table = group.pivot_table(index="algorithm", columns="dataset", values="seconds", aggfunc="median")
        pairs, longest = int(table.count().sum()), float(group["seconds"].max())
        work = float(table.sum().sum()) * FULL_SPLITS
        table["all, one split"] = table.sum(axis=1)
        lines = [_line("seconds per cell", table.columns), "|---|" + "---:|" * table.shape[1]]
        lines += [
            _line(name, ("" if pd.isna(x) else f"{x:.2f}" for x in row)) for name, row in table.iterrows()
        ]
        walls = [_line(cores, [clock(max(work / cores, longest))]) for cores in CORES]
        sections.append(
            f"### Protocol `{protocol}`\n\n" + "\n".join(lines) + f"\n\n{pairs} pairs measured; "
            f"{pairs * FULL_SPLITS} cells over {FULL_SPLITS} splits are {clock(work)} of one core, "
            f"the longest cell {longest:.1f} s.\n\n"
            + "\n".join([_line("cores", [f"time for {FULL_SPLITS} splits"]), "|---:|---:|", *walls])
        )
    return "\n\n".join(sections) or "no cells yet, so nothing is measured"


def _line(name: object, words: Iterable[object]) -> str:
    return f"| {' | '.join(map(str, [name, *words]))} |"
