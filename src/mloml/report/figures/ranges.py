"""A panel's vertical range: it shows the curves well, and names at its edge what lies far from them.

A line is the error of a method without layers or scans; so is, for this purpose, the curve of a control.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from matplotlib.axes import Axes

SMALLEST = 0.01
"""No panel shows less than one per cent of the rows from bottom to top: noise is not blown up."""
WIDEST = 2.5
"""Lines and controls may stretch a panel to so many times the height of its curves."""
NOTE_HEIGHT = 0.13
"""Of a line of text, as a share of the panel."""


Ends = tuple[float, float]
"""Lowest and highest error of a line or control; a line has one error only."""


class Range(NamedTuple):
    """From where to where a panel goes, and which lines do not fit into it, above and below."""

    low: float
    high: float
    above: tuple[str, ...] = ()
    below: tuple[str, ...] = ()


def readable_range(curves: Sequence[float], lines: Mapping[str, Ends]) -> Range:
    """Return a range with all values of the curves and the lines that do not squash them.

    >>> readable_range([0.20, 0.24], {"near": (0.25, 0.25), "far": (0.07, 0.07)})
    Range(low=0.2, high=0.25, above=(), below=('far',))
    """
    values = list(curves) or [value for ends in lines.values() for value in ends]
    low, high = min(values), max(values)
    spare = max(0.0, SMALLEST - (high - low)) / 2
    low, high = max(0.0, low - spare), high + spare
    limit = WIDEST * (high - low)
    outside = []
    for name in sorted(lines, key=lambda name: max(low - lines[name][0], lines[name][1] - high)):
        wider = min(low, lines[name][0]), max(high, lines[name][1])
        if wider[1] - wider[0] <= limit:
            low, high = wider
        else:
            outside.append(name)
    above = tuple(name for name in outside if lines[name][1] > high)
    return Range(low, high, above, tuple(name for name in outside if name not in above))


def show_range(axes: Axes, span: Range, notes: Mapping[str, str], colours: Mapping[str, str]) -> None:
    """Set a panel's range, and write at its edges the notes on the lines that are not in it."""
    margin = 0.06 * (span.high - span.low)
    heads, feet = (NOTE_HEIGHT * len(names) for names in (span.above, span.below))
    height = (span.high - span.low + 2 * margin) / (1 - heads - feet)
    axes.set_ylim(span.low - margin - feet * height, span.high + margin + heads * height)
    places = [(1 - NOTE_HEIGHT * (i + 0.5), "↑", name) for i, name in enumerate(span.above)]
    places += [(NOTE_HEIGHT * (i + 0.5), "↓", name) for i, name in enumerate(span.below)]
    for place, arrow, name in places:
        axes.text(
            0.98, place, f"{arrow} {notes[name]}", color=colours[name],
            transform=axes.transAxes, ha="right", va="center", fontsize=6,
        )  # fmt: skip
