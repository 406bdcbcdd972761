"""A claim: a sentence of the paper, the tables that answer it, and the rule by which they do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd

REPRODUCED, IN_PART, NOT = "reproduced", "reproduced in part", "not reproduced"
FALSE, UNTESTED = "false", "not tested"
VERDICTS = (REPRODUCED, IN_PART, NOT, FALSE, UNTESTED)
"""The only words a verdict may be: false is for theorems, not tested for what has not been run."""

MOST, HALF = 0.9, 0.5
"""Shares: nearly all (one test in twenty errs by chance), and more than this many."""


@dataclass(frozen=True)
class Answer:
    """What was measured, and the verdict; ``paper`` replaces what the claim says of the paper."""

    ours: str
    verdict: str
    paper: str = ""

    def __post_init__(self) -> None:
        if self.verdict not in VERDICTS:
            raise ValueError(f"{self.verdict!r} is not among {VERDICTS}")


@dataclass(frozen=True)
class Claim:
    """One row of the claim table.

    Parameters
    ----------
    name : str
    claim, paper : str
        What is claimed, and what the paper reports for it.
    tables : tuple of str
        ``artefact/table``: the numbers that ``judge`` gets, in this order; the first is linked.
    judge : callable
        From these frames to the answer. A pure function.
    rule : str
        How the verdict is decided, in words: what ``judge`` does.
    shows : str
        The file that a person looks at: ``artefact/file.md`` or ``.png``.
    command : str
        That makes the artefact.
    added : bool
        A question that the paper does not ask; counted apart from its claims.
    """

    name: str
    claim: str
    paper: str
    tables: tuple[str, ...]
    judge: Callable[..., Answer]
    rule: str
    shows: str
    command: str
    added: bool = False

    def answer(self, frames: list[pd.DataFrame | None]) -> Answer:
        """Judge by the tables there are; what is missing or of an older version says which command to run."""
        found = [frame for frame in frames if frame is not None and len(frame)]
        if len(found) < len(self.tables):
            return Answer(f"not run yet: `{self.command}`", UNTESTED)
        try:
            return self.judge(*found)
        except KeyError as error:
            return Answer(f"the numbers at hand have no {error}; run again: `{self.command}`", UNTESTED)


def by_share(part: int, whole: int) -> str:
    """Return the verdict for "so many of so many": nearly all, more than half, or fewer; of none, no verdict.

    >>> by_share(45, 50), by_share(26, 50), by_share(25, 50), by_share(0, 0)
    ('reproduced', 'reproduced in part', 'not reproduced', 'not tested')
    """
    if not whole:
        return UNTESTED
    if part >= MOST * whole:
        return REPRODUCED
    return IN_PART if part > HALF * whole else NOT


BY_SHARE = "reproduced: at least 90 %; in part: more than half"


def counted(number: int, noun: str) -> str:
    """Return a number with its noun.

    >>> counted(1, "set"), counted(3, "set")
    ('1 set', '3 sets')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
