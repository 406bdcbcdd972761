"""The claim table: each claim of the paper, what was measured and three answers, from other artefacts."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from mloml.report.claims import CLAIMS, COLUMNS, FALSE, IN_PART, NO, VERDICTS, YES
from mloml.report.document import DASH, Artefact, Table, frame_grid
from mloml.report.recipe import Recipe

# Frames by ``artefact/table``, and :data:`RUNS`; what is missing is left out.
Published = Mapping[str, pd.DataFrame]

RUNS = "claims/runs"
# The protocol for trials; manifests of earlier versions do not say that it is one.
TRIAL = "lite"
CLAIMED, ADDED = "claimed", "added"
RULES = [f"rule: {column}" for column in COLUMNS]
SHOWN = ["claim", "the paper", "measured", *COLUMNS]
LATEX_WIDTHS = (0.17, 0.14, 0.35, 0.08, 0.08, 0.08)


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
    """Return a row per claim: the paper's report, what was measured, the answers, their rules and sources.

    ``numbers`` is the first of its tables that counts: it is there, and of no trial.
    """
    rows, tried = [], trials(published[RUNS])
    for claim in CLAIMS:
        measured, words = claim.answer(published, tried)
        kind = ADDED if claim.added else CLAIMED
        counted = [f"{t}.csv" for t in claim.tables if t in published and t.split("/")[0] not in tried]
        about = {"command": claim.command, "shows": claim.shows, "numbers": (counted or [""])[0]}
        row = {"claim": claim.claim, "kind": kind, "the paper": claim.paper, "measured": measured, **words}
        rows.append(row | dict(zip(RULES, map(claim.rules.__getitem__, COLUMNS), strict=True)) | about)
    return pd.DataFrame(rows)


def linked(claims: pd.DataFrame, results: str = "..") -> pd.DataFrame:
    """Return what a person reads, with Markdown links into a results folder in the last column.

    A claim without numbers has only its command there.

    >>> row = dict.fromkeys(SHOWN, "x") | {"command": "make x", "shows": "fig4/fig4.png"}
    >>> linked(pd.DataFrame([row | {"numbers": "fig4/fig4.csv"}]))["where"][0]
    '[fig4.png](../fig4/fig4.png), [fig4.csv](../fig4/fig4.csv), `make x`'
    """
    where = []
    for row in claims.to_dict("records"):
        files = [row["shows"], row["numbers"]] if row["numbers"] else []
        links = [f"[{Path(path).name}]({results}/{path})" for path in files]
        where.append(", ".join([*links, f"`{row['command']}`"]))
    return claims[SHOWN].assign(where=where)


def headline_counts(claims: pd.DataFrame) -> dict[str, dict[str, int]]:
    """Count the answers to the paper's claims by column; a dash is none."""
    mine = claims[claims["kind"] == CLAIMED]
    words = [word for word in VERDICTS if word != DASH]
    return {column: {word: int((mine[column] == word).sum()) for word in words} for column in COLUMNS}


def build(published: Published) -> Artefact:
    """Judge every claim by the tables there are."""
    claims, runs = claims_frame(published), published[RUNS]
    latex = frame_grid(claims[SHOWN], "tab:claims", LATEX_WIDTHS)
    counts = headline_counts(claims)
    values = {
        "counts": counts,
        "asked": {
            column: sum(words[w] for w in (YES, IN_PART, NO, FALSE)) for column, words in counts.items()
        },
        "trials": sorted(trials(runs)),
        **{kind: linked(claims[claims["kind"] == kind]) for kind in (CLAIMED, ADDED)},
        "rules": claims[["claim", *RULES]].rename(columns=dict(zip(RULES, COLUMNS, strict=True))),
    }
    tables = (
        Table("claims", claims, "The paper's claims, and what was measured", latex),
        Table("runs", runs.drop(columns=["artefact", "trial"]), "The runs that this was read from"),
    )
    return Artefact(values, tables)


RECIPE = Recipe(
    "claims",
    "The paper's claims",
    "What the paper claims, what was measured, and what follows.",
    build,
    before=read,
    work="reading",
)
