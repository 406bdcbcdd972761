"""Gains in words and in tables: how much lower an error became, and whether two tests call it significant."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from mloml.paper.statistics import Gain
from mloml.report.document import MARKS, number

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


def interval(found: Gain) -> str:
    """Return the interval of a gain; an end next to zero on the same side as the other is not printed as 0.

    >>> interval(Gain(0.3, 0.2, 0.1, -0.0048, -0.00013, 0.01, "loss", 0.04, "loss"))
    '−.005 to −.0001'
    """
    beside_zero = found.low * found.high > 0
    ends = []
    for end in (found.low, found.high):
        text = signed(end)
        finer = f"{end:+.1g}" if abs(end) >= 1e-4 else f"{end:+.0e}"
        ends.append(finer.replace("0.", ".").replace("-", "−", 1) if text == ".000" and beside_zero else text)
    return " to ".join(ends)


def gain_text(found: Gain) -> str:
    """Return a gain with its interval; a mark in brackets is the paired test's alone.

    >>> gain_text(Gain(0.3, 0.2, 0.1, -0.02, 0.22, 0.01, "win", 0.2, "tie"))
    '+.100 (−.020 to +.220) (•)'
    """
    mark = MARKS.get(found.mark_corrected, "")
    if not mark and found.mark_paired in MARKS:
        mark = f"({MARKS[found.mark_paired]})"
    ends = "" if found.low != found.low else f" ({interval(found)})"
    return f"{signed(found.gain)}{ends} {mark}".rstrip()


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
