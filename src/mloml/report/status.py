"""`mloml status`: whether artefacts still match the store and the code, and what their cells cost."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from pathlib import Path

from mloml.errors import MlomlError


def _as_counted(folder: Path) -> list[str | int]:
    """Return a key that puts the jobs of a sweep in their order: 2 before 10."""
    return [int(word) if word.isdecimal() else word for word in re.split(r"(\d+)", str(folder))]


def _results_around(folders: Sequence[Path]) -> Path:
    """Return the results folder that the named artefacts are in, told by its store; else ``results``.

    Raises
    ------
    MlomlError
        When they are in different ones.
    """
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


def main(argv: Sequence[str] | None = None) -> int:
    """Tell whether artefacts still match the store and the code; the exit code is 1 when one does not."""
    from mloml.report.cell_cost import cost_report, fill_in
    from mloml.experiments.manifest import MANIFEST, check, notes
    from mloml.experiments.store import Store

    parser = argparse.ArgumentParser(prog="mloml status", description=main.__doc__)
    parser.add_argument("folder", nargs="*", type=Path, help="artefacts; by default all but reference/*")
    parser.add_argument(
        "--results", type=Path, help="results folder (the one that the artefacts are in, else results)"
    )
    parser.add_argument("--cost", action="store_true", help="what the stored cells cost, as Markdown tables")
    parser.add_argument("--into", type=Path, metavar="PAGE", help="write the costs between a page's markers")
    parser.add_argument(
        "--recompute", type=int, metavar="N", help="compute N cells of each again and compare"
    )
    parser.add_argument("--seed", type=int, default=0, help="which cells --recompute takes (0)")
    arguments = parser.parse_args(argv)
    if arguments.recompute is not None and arguments.recompute < 1:
        raise MlomlError(f"--recompute {arguments.recompute}: must be a number of cells, at least 1")
    results = arguments.results or _results_around(arguments.folder)
    store = Store(results / "store")
    if arguments.cost or arguments.into:
        report = cost_report(store)
        fill_in(arguments.into, report) if arguments.into else print(report)
        return 0
    there = sorted((path.parent for path in results.rglob(MANIFEST)), key=_as_counted)
    # What the repository brings along was made by other code, and its cells are not in this store.
    own = [path for path in there if path.relative_to(results).parts[:1] != ("reference",)]
    folders = arguments.folder or own
    if not folders:
        raise MlomlError(
            f"{results}: no artefact there yet; `mloml reproduce table2 protocol=lite` makes one"
        )
    if arguments.recompute:
        from mloml.experiments.recompute import recompute

        return recompute(folders, store, arguments.recompute, arguments.seed)
    findings = {folder: check(folder, store) for folder in folders}
    for folder, found in findings.items():
        print(f"{folder}: {'matches the store' if not found else 'differs'}")
        for line in found + notes(folder):
            print(f"  {line}")
    for path, reason in store.damaged.items():
        print(f"damaged: {path} ({reason}); the next run computes it again")
    return int(any(findings.values()) or bool(store.damaged))
