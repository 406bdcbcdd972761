"""Numbers of a test in words, the same wherever a test is spoken of."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from mloml.reporting.document import number

DIRECTIONS = {"smaller": "smaller errors", "larger": "larger errors", "": "no difference is shown"}


def evidence(row: Mapping[Any, Any]) -> str:
    """Return the median difference, the counts and the corrected p-value of a test over sets.

    >>> counts = {"sets": 22, "wins": 1, "ties": 21, "losses": 0}
    >>> evidence({**counts, "median_difference": -0.0123, "p_holm": 0.031})
    'median difference -.012, 1 win, 21 ties, 0 losses on 22 sets, p = .031'
    """
    if not row["sets"]:
        return "no set has a result of both"
    counts = ", ".join(
        f"{row[word]} {word if row[word] != 1 else single}"
        for single, word in (("win", "wins"), ("tie", "ties"), ("loss", "losses"))
    )
    sets = "1 set" if row["sets"] == 1 else f"{row['sets']} sets"
    median = number(row["median_difference"])
    return f"median difference {median}, {counts} on {sets}, {p_value(row['p_holm'])}"


def compared(row: Mapping[Any, Any]) -> str:
    """Return what a test says, and by which numbers.

    >>> compared({"sets": 0, "verdict": ""})
    'no set has a result of both'
    """
    return f"{DIRECTIONS[row['verdict']]}, {evidence(row)}" if row["sets"] else evidence(row)


def p_value(p: float) -> str:
    """Return a p-value; those next to the level have a fourth digit, so that nobody has to guess.

    >>> p_value(0.0312), p_value(0.0496), p_value(0.00002), p_value(1.0)
    ('p = .031', 'p = .0496', 'p < .001', 'p = 1')
    """
    if p >= 0.9995:
        return "p = 1"
    if p < 0.001:
        return "p < .001"
    digits = 4 if abs(p - 0.05) < 0.001 else 3
    return f"p = {p:.{digits}f}".replace("0.", ".", 1)


def listed(names: Sequence[str], last: str = "and") -> str:
    """Return names as a sentence has them.

    >>> listed(["a"]), listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {last} {names[-1]}"


def duration(seconds: float) -> str:
    """Return seconds per row in a unit that can be read.

    >>> duration(0.00312), duration(0.0000123), duration(2.5)
    ('3.1 ms', '12 µs', '2.5 s')
    """
    if not math.isfinite(seconds):
        return "unknown"
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{_two_digits(seconds / size)} {unit}"
    return f"{_two_digits(seconds / 1e-6)} µs"


def _two_digits(value: float) -> str:
    return f"{value:.1f}" if value < 10 else f"{value:.0f}"
