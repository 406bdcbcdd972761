"""Numbers of a test in words, the same wherever a test is spoken of."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from mloml.report.document import DASH, number


def evidence(row: Mapping[Any, Any] | None, sets: int) -> str:
    """Return the median difference, wins/ties/losses and the corrected p-value of a test over sets.

    ``sets`` is the number of sets asked for; if fewer could be compared, their number is said.

    >>> test = {"sets": 22, "wins": 1, "ties": 21, "losses": 0, "median_difference": -0.0123, "p_holm": 0.031}
    >>> evidence(test, 22), evidence({**test, "sets": 20}, 22)
    ('-.012, 1/21/0, p = .031', '-.012, 1/21/0, p = .031 (20 of 22 sets)')
    """
    if row is None or not row["sets"]:
        return DASH
    counts = "/".join(str(row[word]) for word in ("wins", "ties", "losses"))
    fewer = f" ({row['sets']} of {sets} sets)" if row["sets"] < sets else ""
    median = number(round(row["median_difference"], 3) + 0.0)  # no -.000
    return f"{median}, {counts}, {p_value(row['p_holm'])}{fewer}"


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


def listed(names: Sequence[str]) -> str:
    """Return names as a sentence has them.

    >>> listed(["a"]), listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def counted(titles: Sequence[str]) -> str:
    """Return data sets with their number.

    >>> counted(["Glass", "Sonar"]), counted([])
    ('2 sets (Glass, Sonar)', 'no set')
    """
    if not titles:
        return "no set"
    return f"{len(titles)} set{'' if len(titles) == 1 else 's'} ({', '.join(titles)})"


def grouped(said: Mapping[str, str]) -> str:
    """Return what is said of several things, those of which the same is said together.

    >>> grouped({"ReLU": "layers help", "tanh": "layers harm", "sigmoid": "layers help"})
    'layers help for ReLU and sigmoid; layers harm for tanh'
    """
    groups: dict[str, list[str]] = {}
    for name, text in said.items():
        groups.setdefault(text, []).append(name)
    return "; ".join(f"{text} for {listed(names)}" for text, names in groups.items())


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
