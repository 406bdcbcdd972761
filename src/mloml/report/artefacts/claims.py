"""The claim table: each claim of the paper, what was measured and the verdict, from other artefacts."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from mloml.report.claims import CLAIMS, UNTESTED, VERDICTS
from mloml.report.document import TRIAL_ONLY, Artefact, Table, frame_grid
from mloml.report.recipe import Recipe

# Frames by ``artefact/table``, and :data:`RUNS`; what is missing is left out.
Published = Mapping[str, pd.DataFrame]

RUNS = "claims/runs"
# The protocol for trials; manifests of earlier versions do not say that it is one.
TRIAL = "lite"
CLAIMED, ADDED = "claimed", "added"
COLUMNS = ("claim", "kind", "the paper", "measured", "verdict", "rule", "command", "shows", "numbers")
SHOWN = ["claim", "the paper", "measured", "verdict"]
LATEX_WIDTHS = (0.22, 0.2, 0.4, 0.12)


def read(results: Path) -> Published:
    """Read the tables that the claims ask for out of a results folder."""
    wanted = dict.fromkeys(table for claim in CLAIMS for table in claim.tables)
    found = {table: _read_csv(results / f"{table}.csv") for table in wanted}
    runs = read_runs(results, dict.fromkeys(table.split("/")[0] for table in wanted))
    return {**{table: frame for table, frame in found.items() if frame is not None}, RUNS: runs}


def read_runs(results: Path, artefacts: Iterable[str]) -> pd.DataFrame:
    """Return where the tables of some artefacts come from: protocol, splits, revision; a row per run.

    Runs in folders of their own, with other settings, are listed too, although no claim is judged by them.
    """
    rows = []
    folders = ((name, folder) for name in artefacts for folder in (name, f"{name}-*"))
    found = ((name, path) for name, f in folders for path in sorted(results.glob(f"{f}/**/manifest.json")))
    for name, path in found:
        try:
            manifest: Any = json.loads(path.read_text(encoding="utf-8"))
            protocol, git = manifest["config"]["protocol"], manifest.get("git") or {}
            changed = " with local changes" if git.get("dirty") else ""
            source = protocol["name"], protocol["splits"], str(git.get("revision") or "")[:12] + changed
            trial = protocol.get("trial", protocol["name"] == TRIAL)
            trial = trial or protocol["splits"] < protocol.get("full", 1)
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            source, trial = ("", None, ""), False
        rows.append((path.parent.relative_to(results).as_posix(), *source, name, trial))
    return pd.DataFrame(rows, columns=["run", "protocol", "splits", "revision", "artefact", "trial"])


def trials(runs: pd.DataFrame) -> set[str]:
    """Return the artefacts of which a part is a trial, or which have been run in no other way."""
    found = set()
    for name, mine in runs.groupby("artefact"):
        plain = mine[mine["run"].str.split("/").str[0] == name]
        if (plain if len(plain) else mine)["trial"].any():
            found.add(str(name))
    return found


def _read_csv(path: Path) -> pd.DataFrame | None:
    """Read a table; a damaged one counts as missing, so that the claim names the command that makes it."""
    try:
        frame = pd.read_csv(path)
    except (OSError, ValueError):
        return None
    words = frame.select_dtypes(exclude="number").columns  # where a gap is an empty word
    return frame.assign(**{name: frame[name].fillna("") for name in words})


def claims_frame(published: Published) -> pd.DataFrame:
    """Return a row per claim: the paper's report, what was measured, the verdict, its rule and sources."""
    rows, tried = [], trials(published[RUNS])
    for claim in CLAIMS:
        answer = claim.answer([published.get(table) for table in claim.tables])
        if tried & {table.split("/")[0] for table in claim.tables}:
            answer = f"a trial run; in full: `{claim.command}`", TRIAL_ONLY
        kind, numbers = ADDED if claim.added else CLAIMED, f"{claim.tables[0]}.csv"
        about = (claim.rule, claim.command, claim.shows, numbers)
        rows.append((claim.claim, kind, claim.paper, *answer, *about))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def linked(claims: pd.DataFrame, results: str = "..") -> pd.DataFrame:
    """Return what a person reads, with Markdown links into a results folder in the last column.

    A claim that is not tested has only its command there: its files do not exist yet, or say nothing.

    >>> row = {"claim": "c", "the paper": "p", "measured": "m", "verdict": "false", "command": "make x",
    ...        "shows": "table2/table2.md", "numbers": "table2/tests.csv"}
    >>> linked(pd.DataFrame([row]))["where"][0]
    '[table2.md](../table2/table2.md), [tests.csv](../table2/tests.csv), `make x`'
    """
    where = []
    for row in claims.to_dict("records"):
        files = [] if row["verdict"] in (UNTESTED, TRIAL_ONLY) else [row["shows"], row["numbers"]]
        links = [f"[{Path(path).name}]({results}/{path})" for path in files]
        where.append(", ".join([*links, f"`{row['command']}`"]))
    return claims[SHOWN].assign(where=where)


def headline_counts(claims: pd.DataFrame) -> dict[str, dict[str, int]]:
    """Count the verdicts of the paper's claims and of the further questions."""
    found = {kind: claims.loc[claims["kind"] == kind, "verdict"].tolist() for kind in (CLAIMED, ADDED)}
    return {kind: {word: verdicts.count(word) for word in VERDICTS} for kind, verdicts in found.items()}


def build(published: Published) -> Artefact:
    """Judge every claim by the tables there are."""
    claims, runs = claims_frame(published), published[RUNS]
    latex = frame_grid(claims[SHOWN], "tab:claims", LATEX_WIDTHS)
    values = {"counts": headline_counts(claims), "trials": sorted(trials(runs)), "linked": linked(claims)}
    tables = (
        Table("claims", claims, "The paper's claims, and what was measured", latex),
        Table("runs", runs.drop(columns=["artefact", "trial"]), "The runs that this was read from"),
    )
    return Artefact({**values, "rules": claims[["claim", "rule"]]}, tables)


RECIPE = Recipe(
    "claims",
    "The paper's claims",
    "What the paper claims, what was measured, and what follows.",
    build,
    before=read,
    work="reading",
)
