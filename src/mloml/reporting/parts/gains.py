"""Gains in words and in tables: how much lower an error became, and whether two tests call it significant."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from mloml.analysis.statistics import Gain
from mloml.reporting.document import MARKS, number

WORDS = {"win": "lower on", "loss": "higher on", "tie": "no clear difference on"}
"""What a mark of a :class:`Gain` says of the error."""


def signed(value: float) -> str:
    """Return a difference with its sign.

    >>> signed(0.0212), signed(-0.0014), signed(0.0)
    ('+.021', '−.001', '.000')
    """
    text = number(value)
    if text in (".000", "-.000"):
        return ".000"
    return text.replace("-", "−") if value < 0 else f"+{text}"


def gain_text(found: Gain) -> str:
    """Return a gain with its interval; a mark in brackets is the paired test's alone.

    >>> gain_text(Gain(0.3, 0.2, 0.1, -0.02, 0.22, 0.01, "win", 0.2, "tie"))
    '+.100 (−.020 to +.220) (•)'
    """
    mark = MARKS.get(found.mark_corrected, "")
    if not mark and found.mark_paired in MARKS:
        mark = f"({MARKS[found.mark_paired]})"
    interval = "" if found.low != found.low else f" ({signed(found.low)} to {signed(found.high)})"
    return f"{signed(found.gain)}{interval} {mark}".rstrip()


def count(marks: Iterable[str], mark: str) -> int:
    """Count one mark."""
    return sum(found == mark for found in marks)


def both_tests(gains: Sequence[Gain], mark: str) -> str:
    """Say how often a mark occurs by the corrected test, and by the paper's plain one.

    >>> both_tests([Gain(0.3, 0.2, 0.1, -0.02, 0.22, 0.01, "win", 0.2, "tie")], "win")
    '0 (1 by the plain test)'
    """
    corrected = count((found.mark_corrected for found in gains), mark)
    return f"{corrected} ({count((found.mark_paired for found in gains), mark)} by the plain test)"


def by_outcome(gains: Mapping[str, Gain]) -> str:
    """List rows by what the corrected test says, with the means where it says something.

    >>> by_outcome({"iris": Gain(0.3, 0.2, 0.1, 0.05, 0.15, 0.01, "win", 0.01, "win")})
    'lower on iris (.300 → .200)'
    """
    parts = []
    for mark, words in WORDS.items():
        names = [
            name if mark == "tie" else f"{name} ({number(found.before)} → {number(found.after)})"
            for name, found in gains.items()
            if found.mark_corrected == mark
        ]
        parts += [f"{words} {', '.join(names)}"] if names else []
    return "; ".join(parts)
