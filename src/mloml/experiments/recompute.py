"""`mloml status --recompute N`: compute a sample of an artefact's cells again, compare, store nothing."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import joblib
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from mloml.errors import MlomlError
from mloml.experiments.artefact_cells import ArtefactCells, Entry, SkippedError, read_artefact
from mloml.experiments.job import Job, prepare_for
from mloml.experiments.summary import FILE_WIDTH
from mloml.experiments.store import Store

VERDICTS = (
    "equal",
    "different",
    "equal, other code or versions",
    "different, other code or versions",
    "skipped",
)
"""What can come of a cell; only ``different`` is wrong: the same code and versions gave another result."""


@dataclass(frozen=True)
class Comparison:
    """A stored result beside the one computed now; ``note`` says what is to be said of it."""

    entry: Entry
    verdict: str
    note: str = ""


def recompute(
    folders: Sequence[Path], store: Store, count: int, seed: int, console: Console | None = None
) -> int:
    """Compute a sample of each artefact's cells again, print what came of it, and return the exit code.

    Parameters
    ----------
    folders : sequence of Path
        Artefacts.
    store : Store
        Asked for the versions each cell was made with; nothing is written to it.
    count : int
        How many cells of each artefact.
    seed : int
        Decides which ones.

    Returns
    -------
    int
        1 when a cell came out differently under the same code and versions, else 0.
    """
    console = console or Console(highlight=False)
    found: dict[Path, list[Comparison]] = {}
    for folder in folders:
        try:
            artefact = read_artefact(folder, store)
        except MlomlError as error:
            console.print(f"skipped: {error}", soft_wrap=True, markup=False)
            continue
        chosen = random.Random(seed).sample(artefact.entries, min(count, len(artefact.entries)))
        found[folder] = list(_compare_all(artefact, chosen, console))
    _report(found, console)
    return int(any(one.verdict == "different" for several in found.values() for one in several))


def judge(entry: Entry, same: bool, now: Mapping[str, Any]) -> Comparison:
    """Compare a stored result with one computed now.

    Parameters
    ----------
    entry : Entry
    same : bool
        Whether code and versions are those of then.
    now : mapping
        With ``error`` and ``chosen``; or, when it could not be computed any more, with ``failure``.
    """
    if "failure" in now:
        equal, note = False, f"stored {entry.error}, now {now['failure']}"
    else:
        equal = (entry.error, entry.chosen) == (now["error"], now["chosen"])
        note = "" if equal else f"stored {entry.error} with {entry.chosen}, "
        note += "" if equal else f"now {now['error']} with {now['chosen']}"
    verdict = "equal" if equal else "different"
    return Comparison(entry, verdict if same else f"{verdict}, other code or versions", note)


def _compare_all(artefact: ArtefactCells, entries: Sequence[Entry], console: Console) -> Iterator[Comparison]:
    jobs: list[tuple[int, Job]] = []
    for place, entry in enumerate(entries):
        try:
            jobs.append((place, artefact.job(entry)))
        except SkippedError as error:
            yield Comparison(entry, "skipped", str(error))
    here = {place: artefact.is_of_this_code(entries[place], job.cell) for place, job in jobs}
    workers = max(1, min(len(jobs), joblib.cpu_count()))
    parallel = joblib.Parallel(n_jobs=workers, return_as="generator_unordered")
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(f"computing cells of {artefact.folder} again", total=len(jobs))
        for place, now in parallel(joblib.delayed(_compute)(place, job) for place, job in jobs):
            progress.advance(task)
            yield judge(entries[place], here[place], now)


def _compute(place: int, job: Job) -> tuple[int, dict[str, Any]]:
    """Compute a cell as a run would, and keep the result to ourselves."""
    from mloml.experiments.cell import run_cell

    try:
        record = run_cell(job.cell, prepare_for(job))
    except Exception as error:
        return place, {"failure": f"{type(error).__name__}: {' '.join(str(error).split())}"}
    return place, json.loads(json.dumps({"error": record["error"], "chosen": record["chosen"]}))


def _report(found: Mapping[Path, Sequence[Comparison]], console: Console) -> None:
    if not console.is_terminal:
        console = Console(file=console.file, width=FILE_WIDTH, highlight=False)
    table = Table(title="Cells computed again")
    table.add_column("artefact", overflow="fold")
    for verdict in VERDICTS:
        table.add_column(verdict, justify="right")
    for folder, comparisons in found.items():
        counts = Counter(one.verdict for one in comparisons)
        table.add_row(str(folder), *(str(counts[verdict]) for verdict in VERDICTS))
    console.print(table)
    for comparisons in found.values():
        reasons = Counter(one.note for one in comparisons if one.verdict == "skipped")
        lines = [f"skipped {times}: {reason}" for reason, times in reasons.items()]
        lines += [
            f"{one.verdict}: {one.entry}: {one.note}"
            for one in comparisons
            if one.verdict.startswith("different")
        ]
        for line in lines:
            console.print(line, soft_wrap=True, markup=False)
