"""The claim table: each claim of the paper, what was measured and the verdict, from other artefacts."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from mloml.report.claims import CLAIMS, VERDICTS, Published, read_published, read_runs
from mloml.report.claims.claim import UNTESTED
from mloml.report.document import Artefact, Block, Grid, Table, Text, frame_grid
from mloml.report.recipe import Recipe

RUNS = "claims/runs"
TRIAL = "lite"
"""A protocol that is for trying things out: nothing follows from its few splits."""
CLAIMED, ADDED = "claimed", "added"
KINDS = {CLAIMED: "claims of the paper", ADDED: "further questions, which the paper does not ask"}
SHOWN = ["claim", "the paper", "measured", "verdict"]
LATEX_WIDTHS = (0.22, 0.2, 0.4, 0.12)
HOW = (
    "Verdicts are one of five words and follow from the numbers by a rule for each claim. Tests are at the "
    "5 % level, each by itself unless a correction is named. The corrected test is Nadeau and Bengio's "
    "resampled t-test: random halves of one data set overlap, which makes the paper's paired t-test find too "
    "much. Cells agree if Welch's test shows no difference between the two means, which does not show that "
    "there is none.",
    "Agreement with the error rates is no independent confirmation: what the paper leaves open was settled "
    "beforehand by comparing test errors with its tables, mostly on these same sets; step sizes were "
    "then chosen "
    "on training halves only.",
)


def read(results: Path) -> Published:
    """Read the tables that the claims ask for out of a results folder."""
    wanted = dict.fromkeys(table for claim in CLAIMS for table in claim.tables)
    runs = read_runs(results, dict.fromkeys(table.split("/")[0] for table in wanted))
    return {**read_published(results, wanted), RUNS: runs}


def build(published: Published) -> Artefact:
    """Judge every claim by the tables there are."""
    claims, runs = claims_frame(published), published.get(RUNS)
    page: tuple[Block, ...] = (Text(HOW[:1]), linked(claims), Text(HOW[1:]), rules())
    table = Table(
        "claims", RECIPE.title, claims, page, latex=_latex(claims), hidden=("rule", "kind"), sentences=True
    )
    said = tuple(
        f"{row['claim']}: {row['verdict']} ({row['measured']})." for row in claims.to_dict("records")
    )
    tables = (table,) if runs is None else (table, Table("runs", "The runs that this was read from", runs))
    return Artefact(headline(claims, runs), said, tables)


def claims_frame(published: Published) -> pd.DataFrame:
    """Return a row per claim: the paper's report, what was measured, the verdict, its rule and sources."""
    rows = []
    for claim in CLAIMS:
        answer = claim.answer([published.get(table) for table in claim.tables])
        rows.append(
            {
                "claim": claim.claim,
                "kind": ADDED if claim.added else CLAIMED,
                "the paper": answer.paper or claim.paper,
                "measured": answer.ours,
                "verdict": answer.verdict,
                "rule": claim.rule,
                "command": claim.command,
                "shows": claim.shows,
                "numbers": f"{claim.tables[0]}.csv",
            }
        )
    return pd.DataFrame(rows)


def linked(claims: pd.DataFrame, results: str = "..") -> pd.DataFrame:
    """Return what a person reads, with Markdown links into a results folder in the last column.

    A claim that is not tested has only its command there: its files do not exist yet.

    >>> row = {"claim": "c", "the paper": "p", "measured": "m", "verdict": "false", "command": "make x",
    ...        "shows": "table2/table2.md", "numbers": "table2/tests.csv"}
    >>> linked(pd.DataFrame([row]))["where"][0]
    '[table2.md](../table2/table2.md), [tests.csv](../table2/tests.csv), `make x`'
    """
    where = []
    for row in claims.to_dict("records"):
        files = [] if row["verdict"] == UNTESTED else [row["shows"], row["numbers"]]
        links = [f"[{Path(path).name}]({results}/{path})" for path in files]
        where.append(", ".join([*links, f"`{row['command']}`"]))
    return claims[SHOWN].assign(where=where)


def headline(claims: pd.DataFrame, runs: pd.DataFrame | None = None) -> str:
    """Count the verdicts; say so if runs that were only a trial are among their sources."""
    counts = []
    for kind, words in KINDS.items():
        found = claims.loc[claims["kind"] == kind, "verdict"].tolist()
        if found:
            each = ", ".join(f"{found.count(word)} {word}" for word in VERDICTS if word in found)
            counts.append(f"Of {len(found)} {words}: {each}.")
    trials = [] if runs is None else list(runs.loc[runs["protocol"] == TRIAL, "run"])
    warning = (
        f" A trial (protocol `{TRIAL}`), from which nothing follows: {', '.join(trials)}." if trials else ""
    )
    return f"{' '.join(counts)}{warning}"


def rules() -> Text:
    """Return how each verdict is decided."""
    return Text(
        tuple(f"{claim.claim}: {claim.rule}." for claim in CLAIMS), "How each verdict is decided", listed=True
    )


def _latex(claims: pd.DataFrame) -> Grid:
    grid = frame_grid(claims[SHOWN], "The paper's claims, and what was measured.", "tab:claims", HOW)
    return Grid(**{**vars(grid), "widths": LATEX_WIDTHS})


RECIPE = Recipe(
    "claims",
    "The paper's claims",
    "What the paper claims, what was measured, and what follows.",
    build,
    before=read,
    work="reading",
)
